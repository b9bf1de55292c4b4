"""The checker that lies in a package: what it finds, and what only ``repropack check`` finds.

It is run by every Python found here, in every form in which an archivist would run it. Forged
packages are told to both: they agree, apart from the lists below.
"""

from __future__ import annotations

import ast
import json
import os
import random
import shutil
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repropack import checker
from repropack._format.archive_writer import ArchiveWriter
from repropack._format.canonical import encode_canonical
from repropack._format.fingerprints import fingerprint_array
from repropack.check import check_package
from repropack.errors import UnsupportedVersionError
from tests.hostile.test_lies import DAMAGED, OTHER_DIGEST
from tests.support.archives import build_zip
from tests.support.hostile import Forgery, nudge, take_apart

pytestmark = pytest.mark.slow

SOURCE = Path(checker.__file__)
MANIFEST, PLAN, README = "manifest.json", "plan.json", "README.md"
LOG, KEPT = "runs/reference/fingerprints.jsonl", "runs/reference/kept.npz"
INTACT, WRONG_USE, DAMAGE, NO_ANSWER = 0, 2, 3, 4

# What the checker says it does not look at, by the names of the lies in tests/hostile.
RESULTS_NOT_RECOMPUTED = {
    "printed-agreement", "largest-difference", "step-of-largest", "expectation-held",
    "divergence-stage", "no-divergence", "final-metric", "steps-differing", "called-identical",
    "final-chain", "float-for-integer", "result-left-out", "results-reordered",
    "expectation-changed", "header-constants", "header-declarations",
}  # fmt: skip
PLAN_NOT_FOLLOWED = {
    "configuration", "configuration-of-a-comparison", "configuration-not-encoded",
    "configuration-reserved-key", "one-name-twice", "named-reference", "reset-without-resume",
    "keeps-nothing", "keeps-more", "prints-otherwise", "prints-nothing",
    "more-checkpoints", "fewer-checkpoints", "fewer-stages", "fewer-states", "checkpoint-missing",
    "kept-missing", "kept-of-an-identical-run", "stages-forgotten", "state-forgotten",
    "printed-with-chain", "metric-that-prints-otherwise", "header-configuration",
}  # fmt: skip
FORM_NOT_LOOKED_AT = {  # schemas of documents and lines, roles, media types
    "metric-that-is-none", "stage-twice", "header-declares-more", "header-declares-less",
    "declared-of-what-comes-later", "declared-again", "declared-and-absent", "schema",
    "configuration-schema", "environment", "plan-without-a-member", "role", "media-type",
    "location", "unknown-place", "required-schema",
}  # fmt: skip
ONLY_CHECK_SEES = RESULTS_NOT_RECOMPUTED | PLAN_NOT_FOLLOWED | FORM_NOT_LOOKED_AT


@pytest.fixture
def forgery(lab_package: Path) -> Forgery:
    return take_apart(lab_package)


def judge(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Run the checker in this process."""
    status = checker.main([str(path)])
    return status, capsys.readouterr().out


def faults_of(path: Path) -> list[tuple[str, ...]]:
    package = checker.Package(path)
    package.check()
    return package.faults


def seal_with_checker(forgery: Forgery) -> Forgery:
    """The package as it will be built: the checker is an entry of it."""
    forgery.files["__main__.py"] = SOURCE.read_bytes()
    forgery.rows["__main__.py"] = {"role": "checker"}
    return forgery


# ---------------------------------------------------------------- every Python

MINORS = range(9, 15)
PYENV = Path(os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv"))) / "versions"


@cache
def find_python(minor: int) -> str | None:
    """An interpreter of this minor version that starts, wherever it is installed."""
    names = [sys.executable, shutil.which(f"python3.{minor}")]
    names += [str(path) for path in sorted(PYENV.glob(f"3.{minor}.*/bin/python"))]
    for name in names:
        if name is not None and version_of(name) == (3, minor):
            return name
    return None


def version_of(python: str) -> tuple[int, int] | None:
    command = [python, "-c", "import sys; print(*sys.version_info[:2])"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    words = done.stdout.split()
    return (int(words[0]), int(words[1])) if done.returncode == 0 else None


def run(python: str, *arguments: str | Path, cwd: Path | None = None) -> tuple[int, str, str]:
    command = [python, "-W", "error", *map(str, arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, env={"LC_ALL": "C"}, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("minor", MINORS, ids=lambda minor: f"python3.{minor}")
def test_every_python_calls_the_lab_intact_in_every_form(
    minor: int, forgery: Forgery, lab_package: Path, tmp_path: Path
) -> None:
    """As a zip, as a directory, inside of one, and by name, with nothing installed."""
    python = find_python(minor)
    if python is None:
        pytest.skip(f"Python 3.{minor} is not installed here")
    seal_with_checker(forgery)
    package = forgery.write_zip(tmp_path / "package.zip")
    folder = forgery.write_directory(tmp_path / "package")
    alone = shutil.copy(SOURCE, tmp_path / "alone.py")
    before = sorted(folder.rglob("*"))
    for arguments, cwd in (
        ((package,), None),
        ((folder / "__main__.py",), None),
        (("__main__.py",), folder),
        (("-B", folder), None),
        ((alone, package), None),
        ((alone, folder), None),
        ((package, lab_package), None),
    ):
        status, out, err = run(python, *arguments, cwd=cwd)
        assert (status, err) == (INTACT, ""), (arguments, out)
        assert out.startswith("intact  ")
        assert "480 steps of fingerprint logs and 380 arrays are what the package says" in out
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("minor", MINORS, ids=lambda minor: f"python3.{minor}")
def test_every_python_finds_damage_and_a_newer_version(
    minor: int, forgery: Forgery, tmp_path: Path
) -> None:
    """The same faults in the same words, whatever runs the checker."""
    python = find_python(minor)
    if python is None:
        pytest.skip(f"Python 3.{minor} is not installed here")
    whole = seal_with_checker(forgery).seal()
    newer = json.loads(whole) | {"format_version": 2}
    path = forgery.write_zip(tmp_path / "newer.zip", encode_canonical(newer))
    status, out, err = run(python, path)
    assert (status, out.splitlines()[0], err) == (NO_ANSWER, f"could-not-run  {path}", "")
    assert "format version 2: this checker knows 1" in out
    forgery.edit_kept("reference", lambda arrays: nudge(arrays["weights"], 49, 0))
    path = forgery.write_zip(tmp_path / "forged.zip")
    status, out, err = run(python, path)
    assert (status, out.splitlines()[0], err) == (DAMAGE, f"damaged  {path}", "")
    assert f"- {KEPT}: array 'weights': row of step 50 is not the log's" in out


def test_python_adds_a_file_to_a_directory_that_it_runs(forgery: Forgery, tmp_path: Path) -> None:
    """``python unpacked/`` compiles into it: the checker says what that file is."""
    folder = seal_with_checker(forgery).write_directory(tmp_path / "unpacked")
    status, out, err = run(sys.executable, folder)
    assert (status, err) == (DAMAGE, "")
    assert "unexpected: not in the manifest (put there by Python: remove it)" in out
    shutil.rmtree(folder / "__pycache__")
    assert faults_of(folder) == []


def test_an_older_python_is_told_so_in_one_sentence() -> None:
    """The version is looked at before anything that an older one would stumble over."""
    olds = [path for minor in (7, 8) for path in PYENV.glob(f"3.{minor}.*/bin/python")]
    if not olds:
        pytest.skip("no Python older than 3.9 is installed here")
    for old in olds:
        status, out, err = run(str(old), SOURCE, "nothing.zip")
        assert (status, out) == (NO_ANSWER, "")
        assert err == "This checker needs Python 3.9 or later.\n"


def test_it_imports_nothing_but_the_standard_library() -> None:
    """The file still works when this project is forgotten."""
    nodes = list(ast.walk(ast.parse(SOURCE.read_bytes())))
    names = {one.name for node in nodes if isinstance(node, ast.Import) for one in node.names}
    names |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names
    assert not names & {"subprocess", "importlib", "runpy", "pickle", "marshal", "socket"}


# ---------------------------------------------------------------- what it says


def test_the_verdict_comes_first_and_the_digests_are_those_of_check(
    lab_package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One screen: verdict, counts, identity, and what was not looked at."""
    status, out = judge(lab_package, capsys)
    report = check_package(lab_package)
    assert status == INTACT
    lines = out.splitlines()
    assert lines[0] == f"intact  {lab_package}"
    counts = (report.entries_checked, report.steps_checked, report.arrays_checked)
    assert lines[1].startswith(
        "{} entries, {} steps of fingerprint logs and {} arrays".format(*counts)
    )
    assert f"package digest    {report.package_digest}" in lines
    assert f"evidence digest   {report.evidence_digest}" in lines
    assert "Not looked at: schemas, roles and media types" in out
    assert "Nothing of the package was executed." in out
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100


def test_of_a_damaged_package_only_its_manifest_is_told(
    forgery: Forgery, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The digests stand below the words that nothing confirms them."""
    path = forgery.write_directory(tmp_path / "forged")
    (path / "plan.json").write_bytes(b"{}")
    out = judge(path, capsys)[1]
    assert out.startswith("damaged  ")
    heading = out.index("Its manifest says, and nothing here confirms:\n")
    assert heading < out.index("package digest    sha256:")


def test_help_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """``--help`` is the file's own docstring."""
    assert checker.main(["--help"]) == INTACT
    assert capsys.readouterr().out == checker.__doc__


@pytest.mark.parametrize("arguments", [[], ["a", "b"], ["--fast"], ["no-such.zip"]], ids=str)
def test_wrong_use_is_told_on_the_error_stream(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither intact nor damaged: status 2, and how it is used."""
    assert checker.main(arguments) == WRONG_USE
    out, err = capsys.readouterr()
    assert out == ""
    assert "python checker.py PACKAGE" in err


def test_a_fifo_is_no_package(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is opened that is neither a file nor a directory."""
    os.mkfifo(tmp_path / "fifo")
    assert checker.main([str(tmp_path / "fifo")]) == WRONG_USE


def test_text_of_a_package_reaches_the_terminal_as_ascii(
    forgery: Forgery, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A title cannot move a cursor or reverse a line, and neither can a path."""
    forgery.manifest["package"]["title"] = "red \x1b[31m \u202e \u00e9 " + "x" * 400
    path = forgery.write_directory(tmp_path / "forged")
    (path / "source" / "evil \x1b[2J.py").write_bytes(b"")
    out = judge(path, capsys)[1]
    assert out.replace("\n", "").isascii()
    assert out.replace("\n", "").isprintable()
    (path / "source" / "evil \x1b[2J.py").unlink()
    status, out = judge(path, capsys)
    assert status == INTACT
    assert "red \\x1b[31m \\u202e \\xe9 xxx" in out
    assert max(map(len, out.splitlines())) < 300


def test_many_faults_are_counted(
    forgery: Forgery, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Twenty of them fit a screen; of the others there is a number."""
    path = forgery.write_directory(tmp_path / "forged")
    for number in range(50):
        (path / "inputs").mkdir(exist_ok=True)
        (path / "inputs" / f"{number}.txt").write_bytes(b"")
    status, out = judge(path, capsys)
    assert status == DAMAGE
    assert "Nothing of the package was executed. Faults: 50" in out
    assert "- and 30 more" in out


def test_what_may_not_be_read_is_no_answer(
    lab_package: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lack of a right or of memory is not damage."""
    for error in (PermissionError(13, "Permission denied"), MemoryError()):

        def refuse(*_: Any, error: BaseException = error) -> None:
            raise error

        monkeypatch.setattr(checker, "check_zip", refuse)
        status, out = judge(lab_package, capsys)
        assert status == NO_ANSWER
        assert type(error).__name__ in out


# ---------------------------------------------------------------- flipped bytes and lost files


def content_offsets(path: Path) -> dict[str, tuple[int, int]]:
    """Where each entry's content begins, and its size."""
    with zipfile.ZipFile(path) as archive:
        return {
            info.filename: (
                info.header_offset + 30 + len(info.filename.encode()),
                info.file_size,
            )
            for info in archive.infolist()
        }


def test_one_flipped_byte_in_any_entry_is_found_and_named(
    lab_package: Path, tmp_path: Path
) -> None:
    """First, middle and last byte of each entry, in a zip and in a directory."""
    data, path = lab_package.read_bytes(), tmp_path / "flipped.zip"
    folder = take_apart(lab_package).write_directory(tmp_path / "folder")
    for name, (offset, size) in content_offsets(lab_package).items():
        for at in {0, size // 2, size - 1}:
            flipped = bytearray(data)
            flipped[offset + at] ^= 0x10
            path.write_bytes(flipped)
            found = faults_of(path)
            assert len(found) == 1, (name, at, found)
            assert name in " ".join(found[0]), (name, at, found)
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        assert faults_of(folder)[0][0] == name
        (folder / name).write_bytes(whole)
    assert faults_of(folder) == []


def test_no_byte_of_a_zip_is_free(lab_package: Path, tmp_path: Path) -> None:
    """Headers, directory and end records as much as contents, and nothing may be appended."""
    data, path = lab_package.read_bytes(), tmp_path / "flipped.zip"
    offsets = content_offsets(lab_package)
    with zipfile.ZipFile(lab_package) as archive:
        directory = archive.start_dir
    places = [
        *range(60),
        *range(offsets[PLAN][0] - 39, offsets[PLAN][0]),
        *range(directory, directory + 60),
        *range(len(data) - 22, len(data)),
        *random.Random(7).sample(range(len(data)), 100),
    ]
    for place in places:
        flipped = bytearray(data)
        flipped[place] ^= 0x01
        path.write_bytes(flipped)
        assert faults_of(path), place
    for other in (b"x" + data, data + b"x", data + b"\0" * 22, data[:-1], data[:1000], b"", b"PK"):
        path.write_bytes(other)
        assert faults_of(path), other[:10]


@pytest.mark.parametrize("name", [README, PLAN, LOG, KEPT, MANIFEST, "source/replay_lab.py"])
def test_a_missing_file_is_named(name: str, forgery: Forgery, tmp_path: Path) -> None:
    """What the manifest lists must be there, and so must the manifest."""
    path = forgery.write_directory(tmp_path / "forged")
    (path / name).unlink()
    assert (name, "missing", "package.integrity") in faults_of(path)


@pytest.mark.parametrize("name", ["notes.txt", "source/extra.py", "runs/reference/x", "page.html"])
def test_a_file_that_is_not_listed_is_named(name: str, forgery: Forgery, tmp_path: Path) -> None:
    """Nothing may lie beside the entries, in either form."""
    path = forgery.write_directory(tmp_path / "forged")
    (path / name).write_bytes(b"")
    expected = (name, "unexpected: not in the manifest", "package.integrity")
    assert faults_of(path) == [expected]
    manifest = forgery.seal()
    forgery.files[name] = b""
    assert faults_of(forgery.write_zip(tmp_path / "forged.zip", manifest)) == [expected]


def test_links_and_devices_are_refused(forgery: Forgery, tmp_path: Path) -> None:
    """A link is never followed, not to a file and not to a folder."""
    for number, make in enumerate(
        (
            lambda place: place.symlink_to(tmp_path),
            lambda place: place.symlink_to(SOURCE),
            lambda place: place.symlink_to("nowhere"),
            os.mkfifo,
        )
    ):
        path = forgery.write_directory(tmp_path / f"forged-{number}")
        make(path / "source" / "link.py")
        assert faults_of(path) == [("source/link.py", "no file or folder", "package.unsafe-entry")]
    (tmp_path / "by-link").symlink_to(forgery.write_directory(tmp_path / "whole"))
    assert faults_of(tmp_path / "by-link") == []


UNSAFE = (
    "../x", "/x", "source/../x", "source/./x", "source//x", "source/ x", "source/x.", "source/x ",
    "source/CON", "source/com1.txt", "source/.git/x", "source/GIT~1", "source/a:b", "source/a\\b",
    "source/a\nb", "source/e\u0301", "source/\u202ex", "sourc\u00e9", "a b", "source/" + "x" * 201,
    "source/" + "x/" * 32 + "x",
)  # fmt: skip


@pytest.mark.parametrize("name", UNSAFE, ids=ascii)
def test_an_unsafe_path_is_refused(name: str, forgery: Forgery, tmp_path: Path) -> None:
    """Listed and stored with its right digest, and refused all the same."""
    forgery.files[name] = b""
    path = tmp_path / "forged.zip"
    with path.open("wb") as stream:
        writer = ArchiveWriter(stream)
        for entry in [MANIFEST, *sorted(forgery.files, key=str.encode)]:
            writer.add(entry, forgery.seal() if entry == MANIFEST else forgery.files[entry])
        writer.finish()
    assert [fault[2] for fault in faults_of(path)] == ["package.unsafe-entry"]
    assert check_package(path).verdict == "damaged"


@pytest.mark.parametrize(
    "name",
    ["source/donn\u00e9es brutes.py", "source/\u65e5\u672c/a=b,(c).txt", "inputs/x#1!~&%.csv"],
)
def test_names_of_authors_are_accepted(name: str, forgery: Forgery, tmp_path: Path) -> None:
    """Letters of every script and usual punctuation, where the names are the author's."""
    forgery.files[name] = b""
    for path in (forgery.write_zip(tmp_path / "x.zip"), forgery.write_directory(tmp_path / "x")):
        assert faults_of(path) == []
        assert check_package(path).verdict == "intact"


# ---------------------------------------------------------------- zips that zipfile would accept


def rezip(forgery: Forgery, path: Path, change: Callable[[zipfile.ZipInfo], None]) -> Path:
    """The package as other tools would write it."""
    files = {MANIFEST: forgery.seal(), **dict(sorted(forgery.files.items()))}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o100644 << 16
            change(info)
            archive.writestr(info, data)
    return path


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda info: None, id="flags"),
        pytest.param(lambda info: setattr(info, "date_time", (2020, 1, 1, 0, 0, 0)), id="date"),
        pytest.param(lambda info: setattr(info, "comment", b"hidden"), id="comment"),
        pytest.param(lambda info: setattr(info, "extra", b"\xfe\xca\0\0"), id="extra"),
        pytest.param(lambda info: setattr(info, "compress_type", zipfile.ZIP_BZIP2), id="bzip2"),
        pytest.param(lambda info: setattr(info, "external_attr", 0o120777 << 16), id="link"),
    ],
)
def test_a_zip_of_another_tool_is_refused(
    change: Callable[[zipfile.ZipInfo], None], forgery: Forgery, tmp_path: Path
) -> None:
    """The same contents in headers that hold more than the format lets them."""
    path = rezip(forgery, tmp_path / "other.zip", change)
    assert "package.format" in {fault[2] for fault in faults_of(path)}
    assert check_package(path).verdict == "damaged"


def test_two_entries_of_one_name_are_refused(forgery: Forgery, tmp_path: Path) -> None:
    """``zipfile`` would show the last of them."""
    path = tmp_path / "twice.zip"
    names = [MANIFEST, README, *sorted(forgery.files, key=str.encode)]
    with zipfile.ZipFile(path, "w") as archive, warnings.catch_warnings(action="ignore"):
        for name in names:
            archive.writestr(name, forgery.files.get(name, forgery.seal()))
    assert "package.unsafe-entry" in [fault[2] for fault in faults_of(path)]


def test_a_deflated_package_is_the_same_package(forgery: Forgery, tmp_path: Path) -> None:
    """Digests are of contents; a flipped byte of what was deflated is found too."""
    path = tmp_path / "deflated.zip"
    with path.open("wb") as stream:
        writer = ArchiveWriter(stream)
        writer.add(MANIFEST, forgery.seal(), deflate=True)
        for name in sorted(forgery.files, key=str.encode):
            writer.add(name, forgery.files[name], deflate=True)
        writer.finish()
    assert faults_of(path) == []
    assert check_package(path).verdict == "intact"
    data = path.read_bytes()
    for place in random.Random(11).sample(range(len(data)), 60):
        flipped = bytearray(data)
        flipped[place] ^= 0x04
        path.write_bytes(flipped)
        assert faults_of(path), place


def test_a_bomb_is_not_read(forgery: Forgery, tmp_path: Path) -> None:
    """A mebibyte may deflate to a 200th and no further."""
    forgery.files["inputs/zeros.bin"] = bytes(4 << 20)
    files = [(MANIFEST, forgery.seal()), *sorted(forgery.files.items())]
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(name, data)
    assert faults_of(path)


# ---------------------------------------------------------------- documents


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda data: data.replace(b"{", b'{"schema":"x",', 1), id="member-twice"),
        pytest.param(lambda data: data.replace(b'"seed":7', b'"seed":NaN'), id="nan"),
        pytest.param(lambda data: data.replace(b'"seed":7', b'"seed":Infinity'), id="infinity"),
        pytest.param(lambda data: data.replace(b'"seed":7', b'"seed":-0'), id="minus-zero"),
        pytest.param(lambda data: data.replace(b'"seed":7', b'"seed":1e999'), id="too-large"),
        pytest.param(
            lambda data: data.replace(b'"seed":7', b'"seed":9007199254740992'), id="past-2**53"
        ),
        pytest.param(lambda data: data.replace(b'"seed":7', b'"seed":' + b"9" * 9999), id="long"),
        pytest.param(lambda data: data.replace(b'"seed":7', b'"seed":"\\ud800"'), id="surrogate"),
        pytest.param(lambda data: b"\xef\xbb\xbf" + data, id="byte-order-mark"),
        pytest.param(lambda data: data.decode().encode("utf-16"), id="utf-16"),
        pytest.param(lambda data: data + b" ", id="blank"),
        pytest.param(lambda data: data[:-1], id="no-newline"),
        pytest.param(lambda data: b"[" * 100_000 + b"]" * 100_000 + b"\n", id="deep"),
        pytest.param(lambda data: b"[]\n", id="list"),
        pytest.param(lambda data: b'{"comparisons":[7]}\n', id="other-shape"),
        pytest.param(lambda data: b"", id="empty"),
    ],
)
def test_a_document_that_could_be_read_differently_is_refused(
    change: Callable[[bytes], bytes], forgery: Forgery, tmp_path: Path
) -> None:
    """Its digest is right; its spelling is not the only one. The same holds for the manifest."""
    manifest = forgery.seal()
    forgery.files[PLAN] = change(forgery.files[PLAN])
    path = forgery.write_zip(tmp_path / "forged.zip")
    assert faults_of(path)[0][2] == "package.format"
    assert check_package(path).verdict == "damaged"
    other = change(manifest.replace(b'"format_version":1', b'"format_version":1,"seed":7'))
    path = forgery.write_directory(tmp_path / "forged", other)
    assert faults_of(path)
    assert check_package(path).verdict == "damaged"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"format": "repropack"}, "of another format: 'repropack'", id="other-tool"),
        pytest.param({"format": 1}, "of another format: 1", id="format"),
        pytest.param({"format_version": 0}, "no format version", id="version-0"),
        pytest.param({"format_version": True}, "no format version", id="version-true"),
        pytest.param({"format_version": "2"}, "malformed: TypeError", id="version-text"),
        pytest.param({"entries": None}, "malformed: TypeError", id="no-entries"),
        pytest.param({"entries": [1]}, "malformed: TypeError", id="row-of-no-shape"),
        pytest.param({"package": {}}, "malformed: KeyError", id="no-title"),
    ],
)
def test_a_manifest_of_another_form_is_damage(
    change: dict[str, Any], words: str, forgery: Forgery, tmp_path: Path
) -> None:
    """Whatever a manifest holds, it ends in a fault and not in a traceback."""
    manifest = encode_canonical(json.loads(forgery.seal()) | change)
    path = forgery.write_zip(tmp_path / "forged.zip", manifest)
    assert any(words in fault[1] for fault in faults_of(path)), faults_of(path)


@pytest.mark.parametrize(
    "tell",
    [
        pytest.param(
            lambda f: f.edit(
                "runs/reference/checkpoints/step-000000060.json",
                lambda document: document["arrays"]["weights"].update(logical_type="bfloat16"),
            ),
            id="logical-type",
        ),
    ],
)
def test_a_reserved_member_in_use_is_no_answer(
    tell: Callable[[Forgery], None],
    forgery: Forgery,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """1.7: not damage, and not intact; ``check`` raises."""
    tell(forgery)
    path = forgery.write_zip(tmp_path / "newer.zip")
    assert judge(path, capsys)[0] == NO_ANSWER
    with pytest.raises(UnsupportedVersionError):
        check_package(path)


# ---------------------------------------------------------------- what used to pass


@pytest.mark.hostile
@pytest.mark.parametrize("many", [b"[]," * 100_001, b"1," * 1_000_001], ids=["lists", "members"])
def test_a_document_of_too_much_is_not_parsed(
    many: bytes, forgery: Forgery, tmp_path: Path
) -> None:
    """What would cost gibibytes of memory is refused by its count."""
    forgery.files["results.json"] = b'{"a":[' + many + b"1]}\n"
    (fault,) = faults_of(forgery.write_zip(tmp_path / "x.zip"))
    assert (fault[0], fault[2]) == ("results.json", "package.limit-exceeded")


@pytest.mark.hostile
def test_a_reserved_role_is_no_answer(forgery: Forgery, tmp_path: Path) -> None:
    """An entry of a later release is not damage."""
    forgery.rows["LICENSE"] = {"role": "scope"}
    (fault,) = faults_of(forgery.write_zip(tmp_path / "x.zip"))
    assert fault[2] == "package.unsupported-version"


@pytest.mark.hostile
def test_the_zip_is_looked_at_before_anything_in_it(forgery: Forgery, tmp_path: Path) -> None:
    """A manifest in a zip of another form is not read."""
    path = forgery.write_zip(tmp_path / "x.zip", b"[" * 1000)
    path.write_bytes(path.read_bytes() + b"more")
    (fault,) = faults_of(path)
    assert (fault[0], fault[2]) == (str(path), "package.format")


@pytest.mark.hostile
def test_a_bool_is_0_or_1() -> None:
    """Every block of an array of bools is looked at."""
    assert checker.fingerprint("|b1", [3], BytesIO(b"\1\0\1")) == fingerprint_array(
        "b", np.array([True, False, True])
    )
    with pytest.raises(checker.DamageError):
        checker.fingerprint("|b1", [3], BytesIO(b"\1\2\1"))


@pytest.mark.parametrize(
    ("redirect", "status"), [(">&-", 0), (">/dev/full", 4), ("| true", 0)], ids=str
)
def test_a_closed_output_is_no_damage(redirect: str, status: int, lab_package: Path) -> None:
    """Nobody there to read is no error; an answer that could not be written is none."""
    code = (
        f'{sys.executable} {checker.__file__} "{lab_package}" {redirect}; exit ${{PIPESTATUS[0]}}'
    )
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (status, "")


def test_without_docstrings_it_says_how_it_is_used() -> None:
    """Optimised Python keeps no docstrings."""
    assert run(sys.executable, "-OO", checker.__file__) == (2, "", "usage: checker.py PACKAGE\n")


# ---------------------------------------------------------------- agreement with check


@pytest.mark.hostile
@pytest.mark.parametrize("lie", DAMAGED, ids=lambda lie: lie.name)
def test_checker_and_check_agree_on_a_lie(lie: Any, forgery: Forgery, tmp_path: Path) -> None:
    """Every digest is right. What ``check`` finds the checker finds, apart from the list above."""
    lie.tell(forgery)
    path = forgery.write_zip(tmp_path / "forged.zip")
    assert check_package(path).verdict == "damaged"
    found = faults_of(path)
    assert bool(found) == (lie.name not in ONLY_CHECK_SEES), found
    assert [fault[1:] for fault in faults_of(forgery.write_directory(tmp_path / "forged"))] == [
        fault[1:] for fault in found
    ]


def test_the_list_of_what_only_check_sees_is_not_longer_than_it_must_be() -> None:
    """Each name on it is a lie that is told above."""
    assert {lie.name for lie in DAMAGED} >= ONLY_CHECK_SEES
    assert len(DAMAGED) - len(ONLY_CHECK_SEES) >= 40


def sort_backwards(manifest: Any) -> None:
    manifest["entries"].reverse()


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(sort_backwards, id="order"),
        pytest.param(lambda m: m["entries"].insert(0, m["entries"][0]), id="twice"),
        pytest.param(lambda m: m["entries"].pop(1), id="unlisted"),
        pytest.param(lambda m: m["entries"][1].update(size=1), id="size"),
        pytest.param(lambda m: m["entries"][1].update(digest=OTHER_DIGEST), id="digest"),
        pytest.param(lambda m: m["entries"][1].update(executable=True), id="executable"),
        pytest.param(lambda m: m["entries"][1].update(path="source/../x"), id="unsafe"),
    ],
)
def test_checker_and_check_agree_on_a_manifest(
    change: Callable[[Any], None], forgery: Forgery, tmp_path: Path
) -> None:
    """A manifest that was changed after everything was sealed."""
    manifest = json.loads(forgery.seal())
    change(manifest)
    path = forgery.write_directory(tmp_path / "forged", encode_canonical(manifest))
    assert check_package(path).verdict == "damaged"
    assert faults_of(path)


def another_seed(forgery: Forgery) -> None:
    """A seed that no log tells; a claim about it follows."""
    forgery.edit(PLAN, lambda plan: plan["experiment"].update(seed=8))
    forgery.recompute_results()


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda f: None, id="nothing"),
        pytest.param(lambda f: f.files.update({README: b"# All losses are zero\n"}), id="readme"),
        pytest.param(lambda f: f.files.update({"inputs/x.bin": bytes(100)}), id="input"),
        pytest.param(lambda f: f.executables.add("source/replay_lab.py"), id="executable"),
        pytest.param(
            lambda f: f.edit("environment.json", lambda e: e["numpy"].update(version="0.0.1")),
            id="environment",
        ),
        pytest.param(another_seed, id="seed"),
    ],
)
def test_checker_and_check_agree_on_what_is_consistent(
    change: Callable[[Forgery], None], forgery: Forgery, tmp_path: Path
) -> None:
    """What only running it again could find is intact to both."""
    change(forgery)
    path = forgery.write_zip(tmp_path / "forged.zip")
    assert check_package(path).verdict == "intact"
    assert faults_of(path) == []


# ---------------------------------------------------------------- arrays

OTHER_NPZ = (
    pytest.param(lambda data: data[:-1], id="cut"),
    pytest.param(lambda data: data + b"\0", id="longer"),
    pytest.param(lambda data: b"", id="empty"),
    pytest.param(lambda data: data.replace(b"'<f4'", b"'>f4'"), id="big-endian"),
    pytest.param(lambda data: data.replace(b"'<f4'", b"'|O4'"), id="objects"),
    pytest.param(lambda data: data.replace(b"False", b" True"), id="fortran"),
    pytest.param(lambda data: data.replace(b"(24,)", b"(25,)"), id="shape"),
    pytest.param(lambda data: data.replace(b"(24,)", b"(24 )"), id="spelling"),
    pytest.param(lambda data: data.replace(b"NUMPY\x01", b"NUMPY\x02"), id="version"),
    pytest.param(lambda data: data.replace(b"weights.npy", b"weights.npz"), id="name"),
)


def with_right_checksums(data: bytes) -> bytes:
    """An npz written anew in the pinned form, if it is one."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            infos = archive.infolist()
            parts = [
                (info.filename, data[start : start + info.file_size])
                for info in infos
                for start in [info.header_offset + 30 + len(info.filename)]
            ]
    except zipfile.BadZipFile:
        return data
    return build_zip(*parts) if len(data) == len(build_zip(*parts)) else data


@pytest.mark.parametrize("change", OTHER_NPZ)
def test_an_npz_of_another_form_is_refused(
    change: Callable[[bytes], bytes], forgery: Forgery, tmp_path: Path
) -> None:
    """Headers are compared with the one that 4.4 has; nothing is unpickled."""
    name = "runs/reference/checkpoints/step-000000060.npz"
    forgery.files[name] = with_right_checksums(change(forgery.files[name]))
    path = forgery.write_zip(tmp_path / "forged.zip")
    assert faults_of(path), name
    assert check_package(path).verdict == "damaged"


def test_arrays_of_every_rank_and_type_are_read() -> None:
    """The header that is demanded is the one that NumPy's own writer gives; so is the size."""

    from repropack._format.npz import write_npz

    made: dict[str, Any] = {
        "scalar": np.float32(2.0),
        "empty": np.zeros((0, 3), "<f8"),
        "bits": np.array([True, False]),
        "deep": np.ones((1,) * 32, "<i2"),
        "complex": np.ones((2, 3), "<c16"),
        "of#2": np.arange(7, dtype="|u1"),
        "large": np.arange(3 << 17, dtype="<i8").reshape(3, -1),
    }
    stream = BytesIO()
    write_npz(stream, made)
    found = {
        name: (dtype, shape, checker.fingerprint(dtype, shape, content))
        for name, dtype, shape, content in checker.arrays(stream, "x.npz")
    }
    assert found == {
        name: (array.dtype.str, list(array.shape), fingerprint_array(name, array))
        for name, array in made.items()
    }


def test_a_value_may_hold_arrays() -> None:
    """5.4 to 5.6: the components are those that repropack computes, nested arrays included."""

    from repropack._format.checkpoints import describe_state
    from repropack._format.state import encode_state

    state = {
        "loader.state": {"b": [np.arange(3), 1, '{"$array":"x'], "a": np.float64(1.5)},
        "loader": float("nan"),
        "model.w": np.zeros((2, 2)),
        "model": None,
        "\u0065pochs": 2**80,
    }
    stored = describe_state(encode_state(state)).model_dump(mode="json")
    prints = {name: row["fingerprint"] for name, row in stored["arrays"].items()}
    found = checker.components(stored["values"], prints, "x")
    assert found == [list(row) for row in stored["components"]]
    for lost in ("loader.state#1", "model.w"):
        fewer = {name: value for name, value in prints.items() if name != lost}
        if "#" in lost:
            with pytest.raises(checker.DamageError, match="not named once"):
                checker.components(stored["values"], fewer, "x")
        else:
            assert checker.components(stored["values"], fewer, "x") != found
    with pytest.raises(checker.DamageError, match="not named once"):
        checker.components({**stored["values"], "model.w": 1}, prints, "x")
