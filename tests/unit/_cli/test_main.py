"""``main``: output, streams and one exit status, whatever happens."""

from __future__ import annotations

import errno
import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repropack._cli import commands, streams
from repropack._cli.answers import Answer
from repropack._cli.commands import COMMANDS
from repropack._cli.main import main
from repropack._format.canonical import decode_strict, encode_canonical
from repropack._format.limits import DEFAULT_LIMITS, Limits, RunLimits
from repropack._format.schemas import read_document, schema_bytes, schema_names
from repropack._present.text import build_text, check_text, unpack_text
from repropack._present.text_diff import diff_text
from repropack._present.text_inspect import inspect_text
from repropack._present.text_lint import lint_text
from repropack._present.text_run_difference import run_difference_text
from repropack._present.text_verify import verify_text
from repropack._run.confinement.consent import Consent
from repropack.errors import ExperimentLoadError, IntegrityError, RepropackError, UsageError
from repropack.models.base import Document
from repropack.models.reports import ErrorReport, Problem, fault_of
from repropack.refusals import refusal
from tests.support import differences, reports, run_differences

Calls = list[tuple[tuple[Any, ...], dict[str, Any]]]


def replace(monkeypatch: pytest.MonkeyPatch, target: str, result: Any) -> Calls:
    """Put a function in place of a use case; it returns or raises ``result``."""
    calls: Calls = []

    def use_case(*arguments: Any, **options: Any) -> Any:
        calls.append((arguments, options))
        if isinstance(result, BaseException):
            raise result
        return result

    monkeypatch.setattr(target, use_case)
    return calls


BUILD, CHECK = "repropack.build.build_package", "repropack.check.check_package"
VERIFY, INSPECT = "repropack.verify.verify_package", "repropack.inspect.inspect_package"
LINT = "repropack.lint.lint_path"
UNPACK, DIFF = "repropack.unpack.unpack_package", "repropack.diff.diff_packages"
DIFF_RUNS = "repropack.diff_of_runs.diff_runs"

DIFFERS = reports.verification(verdict="differs", runs=(reports.differing_run(),))
UNANSWERED = reports.verification(
    verdict="could-not-run", runs=(), problem=Problem(code="could-not-run", message="no answer")
)
DAMAGED = reports.verification(verdict="damaged", runs=(), faults=reports.damaged_check().faults)
UNEXPECTED = reports.build_report(expectations_held=False)

ANSWERS: list[tuple[str, str, Document, Callable[[Any], str], int]] = [
    ("build", BUILD, reports.build_report(), build_text, 0),
    ("build", BUILD, UNEXPECTED, build_text, 1),
    ("check lab.zip", CHECK, reports.check_report(), check_text, 0),
    ("check lab.zip", CHECK, reports.damaged_check(), check_text, 3),
    ("verify lab.zip", VERIFY, reports.verification(), verify_text, 0),
    ("verify lab.zip", VERIFY, DIFFERS, verify_text, 1),
    ("verify lab.zip", VERIFY, DAMAGED, verify_text, 3),
    ("verify lab.zip", VERIFY, UNANSWERED, verify_text, 4),
    ("inspect lab.zip", INSPECT, reports.inspection(), inspect_text, 0),
    ("lint lab", LINT, reports.lint_report(), lint_text, 0),
    ("lint lab", LINT, reports.lint_report(verdict="errors"), lint_text, 1),
    ("diff old.zip new.zip", DIFF, differences.identical(), diff_text, 0),
    ("diff old.zip new.zip", DIFF, differences.difference(), diff_text, 1),
    ("diff old.zip new.zip", DIFF, differences.damaged(), diff_text, 3),
    ("diff a.jsonl b.jsonl", DIFF_RUNS, run_differences.identical(), run_difference_text, 0),
    ("diff old.zip b.jsonl", DIFF_RUNS, run_differences.difference(), run_difference_text, 1),
    ("diff old.zip::x new.zip", DIFF_RUNS, run_differences.damaged(), run_difference_text, 3),
    ("unpack lab.zip lab", UNPACK, reports.unpack_report(), unpack_text, 0),
]
IDS = [f"{target.rpartition('.')[2]}-{status}" for _, target, *_, status in ANSWERS]


@pytest.mark.parametrize(("line", "target", "report", "text", "status"), ANSWERS, ids=IDS)
def test_an_answer_goes_to_standard_output(
    line: str,
    target: str,
    report: Document,
    text: Callable[[Any], str],
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """As text for people or as one document, with the same status, and nothing on stderr."""
    monkeypatch.chdir(tmp_path)
    for name in ("old.zip", "new.zip", "a.jsonl", "b.jsonl"):  # `diff` looks at what lies there
        (tmp_path / name).write_bytes(b"")
    replace(monkeypatch, target, report)
    assert main(line.split()) == status
    assert capsys.readouterr() == (text(report), "")
    assert main([*line.split(), "--format", "json"]) == status
    output, other = capsys.readouterr()
    assert output.encode() == encode_canonical(report.model_dump(mode="json"))
    assert read_document(type(report), output.encode(), where="output") == report
    assert other == ""


def test_arguments_of_diff_reach_its_use_cases(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two packages are one comparison, a run or a log on either side another."""
    monkeypatch.chdir(tmp_path)
    for name in ("old.zip", "new.zip", "a.jsonl"):
        (tmp_path / name).write_bytes(b"")
    packages = replace(monkeypatch, DIFF, differences.identical())
    runs = replace(monkeypatch, DIFF_RUNS, run_differences.identical())
    limit = {"limits": Limits(max_entries=7)}
    main(["diff", "old.zip", "new.zip", "--limit", "max_entries=7"])
    main(["diff", "old.zip::reference", "a.jsonl", "--limit", "max_entries=7"])
    main(["diff", "a.jsonl", "new.zip", "--fast"])
    assert packages == [(("old.zip", "new.zip"), limit)]
    assert runs == [
        (("old.zip::reference", "a.jsonl"), {"believe_chains": False, **limit}),
        (("a.jsonl", "new.zip"), {"believe_chains": True, "limits": Limits()}),
    ]
    capsys.readouterr()
    assert main(["diff", "old.zip", "new.zip", "--fast"]) == 2
    assert capsys.readouterr().err == (
        "repropack: error: --fast: expected two runs or logs, observed two packages\n"
        "hint: name the runs that are meant, such as PACKAGE::reference\n"
    )


def test_arguments_reach_the_use_cases(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing that a person asks for is lost on the way."""
    digest = reports.PACKAGE_DIGEST
    built = replace(monkeypatch, BUILD, reports.build_report())
    checked = replace(monkeypatch, CHECK, reports.check_report())
    verified = replace(monkeypatch, VERIFY, reports.verification())
    unpacked = replace(monkeypatch, UNPACK, reports.unpack_report())
    flags = ["--force", "--directory", "--compress", "--unexecuted-notebook", "--resume"]
    main(["build", "lab", "-o", "x.zip", *flags, "--lock", "--with-wheels"])
    main(["check", "x.zip", "--fast", "--expect-digest", digest])
    consent = ["--no-sandbox", "--trust", digest]
    main(["verify", "x.zip", "--runs", "reference", "--notebook", "--expect-digest", digest])
    main(["verify", "x.zip", *consent])
    main(["verify", "x.zip", "--sandbox", "landlock"])
    limits = ["--limit", "max_run_seconds=5", "--limit", "max_entries=7"]
    main(["verify", "x.zip", *limits])
    main(["verify", "x.zip", "--input", "a.npz=/b.npz", "--input", "c=d=e", "--recreate-env"])
    main(["unpack", "x.zip", "x", "plan.json", "--force"])
    linted = replace(monkeypatch, LINT, reports.lint_report())
    main(["lint", "lab", "--limit", "max_entries=7"])
    assert linted == [(("lab",), {"limits": Limits(max_entries=7)})]
    given = {"force": True, "directory": True, "compress": True, "unexecuted_notebook": True}
    given |= {"lock": True, "with_wheels": True}
    (build_call,) = built
    telling = build_call[1].pop("on_findings")
    assert (telling.func, telling.args) == (commands._tell_findings, ("lab",))
    told: dict[str, Any] = {}
    assert built == [(("lab", "x.zip"), given | {"left_over": "resume", "on_step": None, **told})]
    usual = {"limits": DEFAULT_LIMITS}
    nobody: dict[str, Any] = {"signers": None, "revoked": None, "require_signers": []}
    assert checked == [(("x.zip",), {"fast": True, "expect_digest": digest} | nobody | usual)]
    asked = {"runs": ("reference",), "notebook": True, "zoom": True, "expect_digest": digest}
    nothing = {"runs": None, "notebook": False, "zoom": True, "expect_digest": None}
    usually = nothing | {"inputs": {}, "recreate_environment": False, "consent": Consent()}
    assert verified == [
        (("x.zip",), usually | usual | given | {"on_step": None})
        for given in (
            asked,
            {"consent": Consent(trust=digest)},
            {"consent": Consent(sandbox="landlock")},
            {
                "consent": Consent(run_limits=RunLimits(max_run_seconds=5)),
                "limits": Limits(max_entries=7),
            },
            {"inputs": {"a.npz": "/b.npz", "c": "d=e"}, "recreate_environment": True},
        )
    ]
    assert unpacked == [(("x.zip", "x", ["plan.json"]), {"force": True} | usual)]
    capsys.readouterr()


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UsageError("no such path", hint="look again"), 2),
        (IntegrityError(refusal("digest.entry", "plan.json", "digest differs", "a", "b")), 3),
        (ExperimentLoadError("no such module"), 4),
    ],
)
def test_an_error_is_one_line_and_a_hint(
    error: RepropackError,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """People read it on stderr; programs get a document on stdout; never a traceback."""
    replace(monkeypatch, CHECK, error)
    hint = "" if error.hint is None else f"hint: {error.hint}\n"
    lines = f"repropack: error: {error.message}\n{hint}"
    assert main(["check", "lab.zip"]) == status
    assert capsys.readouterr() == ("", lines)
    assert main(["check", "lab.zip", "--format", "json"]) == status
    output, shown = capsys.readouterr()
    assert shown == lines
    refusals = error.refusals if isinstance(error, IntegrityError) else ()
    assert read_document(ErrorReport, output.encode(), where="output") == ErrorReport(
        code=error.code,
        message=error.message,
        hint=error.hint,
        status=status,
        faults=tuple(fault_of("package.integrity", one) for one in refusals),
    )


def test_what_a_failed_run_printed_is_shown_before_its_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Escaped, each line cut; the document for programs holds none of it."""
    error = ExperimentLoadError("no such module")
    error.printed = ("epoch 1", "", "\x1b[31mred", "x" * 500)
    replace(monkeypatch, CHECK, error)
    assert main(["check", "lab.zip", "--format", "json"]) == 4
    output, shown = capsys.readouterr()
    cut = f"{'x' * 400}... (100 more characters)"
    assert shown == (
        f"the run printed last:\n  epoch 1\n\n  \\x1b[31mred\n  {cut}\n"
        "repropack: error: no such module\n"
    )
    assert "epoch" not in output


def test_a_project_file_with_several_faults_has_a_line_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A comparison is named; the document for programs says all in one text, as ever."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    text = """\
[package]
name = "lr"
version = "1.0.0"
title = "A test"
license = "CC0-1.0"
authors = [{ name = "N. N." }]

[experiment]
entry-point = "lab:Lab"
seed = 1
steps = 4

[record]
checkpoint-every = 2

[[comparisons]]
name = "again"

[[comparisons]]
name = "resume"
resume-at = 9
"""
    for name, written in (("one", text), ("two", text.replace("seed = 1", 'seed = "x"'))):
        Path(name).mkdir()
        Path(name, "repropack.toml").write_text(written, encoding="utf-8")
    one = "comparisons[1] ('resume').resume-at: expected 0 to 3, for there are 4 steps, observed 9"
    assert main(["build", "one"]) == 2
    assert capsys.readouterr() == ("", f"repropack: error: one/repropack.toml: {one}\n")
    assert main(["build", "two", "--format", "json"]) == 2
    output, shown = capsys.readouterr()
    seed = "experiment.seed: expected a whole number, observed 'x'"
    assert shown == f"repropack: error: two/repropack.toml: 2 faults\n  - {seed}\n  - {one}\n"
    document = decode_strict(output.encode(), where="output")
    assert document["message"] == f"two/repropack.toml: {seed}; {one}"


def test_wrong_arguments_are_an_error_like_any_other(capsys: pytest.CaptureFixture[str]) -> None:
    """argparse's own errors have status 2, a hint, and a document where one is asked for."""
    assert main(["check", "--format", "json"]) == 2
    output, shown = capsys.readouterr()
    assert decode_strict(output.encode(), where="output") == {
        "code": "usage",
        "faults": [],
        "hint": "see `repropack check --help`",
        "message": "the following arguments are required: PACKAGE",
        "schema": "repropack/error/v1",
        "status": 2,
    }
    assert shown == (
        "repropack: error: the following arguments are required: PACKAGE\n"
        "hint: see `repropack check --help`\n"
    )


def test_hostile_messages_stay_on_their_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names from a package are escaped in errors too; the document keeps them as they are."""
    replace(
        monkeypatch,
        CHECK,
        IntegrityError(refusal("run.kept", "a\x1b[2J\nidentical", "\u202ebad", "x", "y")),
    )
    assert main(["check", "lab.zip"]) == 3
    assert capsys.readouterr().err == (
        "repropack: error: entry 'a\\x1b[2J\\nidentical': \\u202ebad: expected x, observed y\n"
    )


def test_arguments_that_are_not_unicode_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    """A path that is not UTF-8 is a path like any other, and shown with escapes."""
    assert main(["check", "a\udcff.zip", "--format", "json"]) == 2
    output, shown = capsys.readouterr()
    assert shown.startswith("repropack: error: a\\udcff.zip: no such file or directory")
    assert decode_strict(output.encode(), where="output")["status"] == 2


def test_a_lone_surrogate_in_a_message_can_be_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A message that JSON cannot hold is written as an escape."""
    replace(monkeypatch, CHECK, UsageError("bad \udcff", hint="not \udcff"))
    assert main(["check", "x", "--format", "json"]) == 2
    assert "bad \\\\udcff" in capsys.readouterr().out


def test_an_interrupt_has_its_own_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C is no error and no answer."""
    replace(monkeypatch, BUILD, KeyboardInterrupt())
    assert main(["build"]) == 130
    assert capsys.readouterr() == ("", "repropack: interrupted\n")
    assert main(["build", "--format", "json"]) == 130
    assert decode_strict(capsys.readouterr().out.encode(), where="output")["code"] == "interrupted"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "a\nb"), "a\\x0ab: Permission denied"),
        (OSError("odd"), "odd"),
        (MemoryError(), "not enough memory"),
    ],
)
def test_what_the_machine_refuses_is_no_bug(
    error: BaseException,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A full disk or a missing right is one line, and no answer."""
    replace(monkeypatch, BUILD, error)
    assert main(["build"]) == 4
    assert capsys.readouterr() == ("", f"repropack: error: {message}\n")


def test_a_bug_says_that_it_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unexpected exception shows its traceback, and can never pass for an answer."""
    replace(monkeypatch, CHECK, ZeroDivisionError("oops\x1b[2J"))
    assert main(["check", "x", "--format", "json"]) == 4
    output, shown = capsys.readouterr()
    assert shown.startswith("Traceback (most recent call last):\n")
    assert shown.endswith(
        "ZeroDivisionError: oops\\x1b[2J\n"
        "repropack: error: this is a bug in repropack, not an answer about the package "
        "(ZeroDivisionError)\n"
        "hint: please report it together with the lines above\n"
    )
    document = decode_strict(output.encode(), where="output")
    assert (document["code"], document["status"]) == ("internal", 4)


# ---------------------------------------------------------------- the report file


@pytest.mark.parametrize("report", [reports.verification(), DIFFERS, DAMAGED, UNANSWERED])
def test_a_report_is_kept_whatever_the_verdict(
    report: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The file holds the document, replaces an older one, and nothing is left beside it."""
    replace(monkeypatch, VERIFY, report)
    file = tmp_path / "report.json"
    file.write_text('{"schema":"repropack/verification-report/v1"}\n')
    main(["verify", "lab.zip", "--report", str(file), "--force"])
    assert read_document(type(report), file.read_bytes(), where="report") == report
    assert file.stat().st_mode & 0o777 == 0o644
    assert list(tmp_path.iterdir()) == [file]
    assert capsys.readouterr().out == verify_text(report)


@pytest.mark.parametrize(
    ("file", "observed"),
    [
        ("package/report.json", "outside the package, observed one inside"),
        ("package/runs/../report.json", "outside the package, observed one inside"),
        ("link/report.json", "outside the package, observed one inside"),
        ("package", "outside the package, observed one inside"),
        ("nowhere/report.json", "expected an existing folder, observed none"),
        ("folder", "expected a file, observed a folder"),
        (os.devnull, "expected a file, observed a device"),
    ],
)
def test_where_a_report_may_not_lie_is_settled_first(
    file: str,
    observed: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A package is never written to, and nothing runs before the report has a place."""
    calls = replace(monkeypatch, VERIFY, reports.verification())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "package" / "runs").mkdir(parents=True)
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("package")
    assert main(["verify", "package", "--report", file]) == 2
    assert observed in capsys.readouterr().err
    assert calls == []
    assert list((tmp_path / "package").iterdir()) == [tmp_path / "package" / "runs"]


def test_a_report_does_not_replace_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The zip itself is no place for a report."""
    replace(monkeypatch, VERIFY, reports.verification())
    package = tmp_path / "lab.zip"
    package.write_bytes(b"zip")
    assert main(["verify", str(package), "--report", str(package)]) == 2
    assert package.read_bytes() == b"zip"
    capsys.readouterr()


# ---------------------------------------------------------------- streams


class Terminal(io.TextIOWrapper):
    """A terminal that remembers what was written to it."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding, write_through=True)

    def isatty(self) -> bool:
        return True

    def text(self) -> str:
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode(self.encoding)


@pytest.mark.parametrize(
    ("variables", "first"),
    [
        ({"TERM": "xterm"}, "\x1b[1;32mintact\x1b[0m  lab.zip"),
        ({"TERM": "xterm", "NO_COLOR": ""}, "\x1b[1;32mintact\x1b[0m  lab.zip"),
        ({"TERM": "xterm", "NO_COLOR": "1"}, "intact  lab.zip"),
        ({"TERM": "dumb"}, "intact  lab.zip"),
    ],
)
def test_only_the_verdict_is_coloured(
    variables: dict[str, str], first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Colour on a terminal that wants it, on one word, whose text says the same."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    replace(monkeypatch, CHECK, reports.check_report())
    assert main(["check", "lab.zip"]) == 0
    shown, _, rest = terminal.text().partition("\n")
    assert shown == first
    assert rest == check_text(reports.check_report()).partition("\n")[2]


def test_a_text_without_a_verdict_is_not_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of schemas are names."""
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    assert main(["schema"]) == 0
    assert terminal.text().split("\n")[:-1] == list(schema_names())
    assert main(["inspect", "lab.zip"]) != 0


def test_a_stream_that_cannot_hold_a_character_shows_its_escape(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An ASCII terminal gets an escape, not a crash."""
    terminal = Terminal("ascii")
    monkeypatch.setattr(sys, "stdout", terminal)
    replace(monkeypatch, BUILD, reports.build_report())
    assert main(["build"]) == 0
    assert "step 1 \\xb7 gradient" in terminal.text()


class Broken(io.StringIO):
    """A stream that cannot be written."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def write(self, text: str) -> int:
        raise self.error


def test_a_reader_that_leaves_early_does_not_change_the_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``repropack check ... | head -1`` keeps its status and says nothing."""
    replace(monkeypatch, CHECK, reports.damaged_check())
    monkeypatch.setattr(sys, "stdout", Broken(BrokenPipeError(errno.EPIPE, "Broken pipe")))
    assert main(["check", "lab.zip"]) == 3
    assert capsys.readouterr().err == ""


def test_an_answer_that_cannot_be_written_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A full disk behind standard output must not end with status 0."""
    replace(monkeypatch, CHECK, reports.check_report())
    monkeypatch.setattr(sys, "stdout", Broken(OSError(errno.ENOSPC, "No space left on device")))
    assert main(["check", "lab.zip"]) == 4
    assert capsys.readouterr().err == (
        "repropack: error: standard output: No space left on device\n"
    )


def test_missing_and_broken_streams_are_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process without standard streams still has a status."""
    replace(monkeypatch, CHECK, reports.damaged_check())
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["check", "lab.zip"]) == 3
    assert main(["check"]) == 2
    monkeypatch.setattr(sys, "stderr", Broken(OSError(errno.EIO, "Input/output error")))
    assert main(["check"]) == 2


@pytest.mark.parametrize("line", ["--help", "schema manifest", "schema"])
def test_a_broken_pipe_is_quiet_to_the_end(line: str, tmp_path: Path) -> None:
    """Nothing is printed at exit either, where Python flushes what is left."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "repropack", *line.split()],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


# ---------------------------------------------------------------- progress


def test_progress_is_shown_on_a_terminal_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Runs and their steps on stderr; stdout holds the report alone."""
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)

    def build_package(*_: Any, on_step: Any, **__: Any) -> Any:
        for step in range(1, 4):
            on_step("reference", step, 3)
        on_step("[bold]reset", 2, 3)
        return reports.build_report()

    monkeypatch.setattr(BUILD, build_package)
    assert main(["build"]) == 0
    assert capsys.readouterr().out == build_text(reports.build_report())
    shown = terminal.text()
    assert "reference" in shown
    assert "[bold]reset" in shown
    assert "3/3" in shown
    assert "2/3" in shown


def test_no_progress_on_a_dumb_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where lines cannot be drawn over, none are drawn."""
    monkeypatch.setenv("TERM", "dumb")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    calls = replace(monkeypatch, BUILD, reports.build_report())
    assert main(["build", "--format", "json"]) == 0
    assert calls[0][1]["on_step"] is None
    assert terminal.text() == ""
    assert not streams.is_terminal(None)


# ---------------------------------------------------------------- schemas


def test_schemas_are_listed_and_printed(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Without a name all names, with one the schema's bytes as published."""
    assert main(["schema", "error"]) == 0
    assert capfdbinary.readouterr().out == schema_bytes("error")
    assert main(["schema", "nothing"]) == 2
    assert b"no schema named 'nothing'" in capfdbinary.readouterr().err


def test_main_reads_the_arguments_of_the_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without arguments of its own, ``main`` takes those of the process."""
    monkeypatch.setattr(sys, "argv", ["repropack", "schema"])
    assert main() == 0
    assert "manifest\n" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("repropack ")


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP")
def test_a_request_to_end_interrupts_unless_it_is_ignored() -> None:
    """``nohup repropack ...`` goes on when the terminal closes."""
    program = (
        "import signal, sys, repropack.__main__ as entry\n"
        "if sys.argv[1:] == ['nohup']: signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "entry.main = lambda: signal.raise_signal(signal.SIGHUP) or 7\n"
        "entry.console()\n"
    )
    for arguments, status in ((["nohup"], 7), ([], -signal.SIGINT)):
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments], stderr=subprocess.PIPE, check=False
        )
        assert done.returncode == status, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors of another kind")
def test_standard_descriptors_that_were_closed_are_opened() -> None:
    """Else a pipe to a worker has the number of its standard error, and the worker cannot start."""
    program = (
        "import os\n"
        "from repropack._cli.streams import fill_standard_descriptors\n"
        "os.closerange(0, 3)\n"
        "fill_standard_descriptors()\n"
        "os._exit(os.open(os.devnull, os.O_RDONLY))\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 3


def test_what_is_made_can_be_read_whatever_the_umask(monkeypatch: pytest.MonkeyPatch) -> None:
    """A umask that takes our own rights would lock us out of our work folder."""
    seen: list[int] = []

    def look(arguments: object) -> Answer:
        seen.append(os.umask(0o077))
        return Answer("", 0)

    monkeypatch.setitem(COMMANDS, "schema", look)
    before = os.umask(0o727)
    try:
        assert main(["schema"]) == 0
    finally:
        os.umask(before)
    assert seen == [0o027]


def test_an_interrupt_in_the_middle_of_an_import_is_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python before 3.12 makes another error of it where a class is being made."""

    def interrupted(arguments: object) -> Answer:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setitem(COMMANDS, "schema", interrupted)
    assert main(["schema"]) == 130
    assert capsys.readouterr().err == "repropack: interrupted\n"


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be held here")
def test_an_interrupt_waits_until_everything_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A compiled module that is interrupted while it is made may be wrong from then on."""
    (tmp_path / "interrupted_lab.py").write_text(
        "import signal, threading, time\n"
        "signal.pthread_kill(threading.get_ident(), signal.SIGINT)\n"
        "time.sleep(0.1)\n"
        "whole = True\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(commands._MODULES, "schema", ("interrupted_lab",))
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main(["schema"]) == 130
    finally:
        signal.signal(signal.SIGINT, handler)
    assert sys.modules.pop("interrupted_lab").whole is True
    assert capsys.readouterr().err == "repropack: interrupted\n"
    assert set(commands._MODULES) == set(COMMANDS)
