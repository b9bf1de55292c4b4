"""One function a verb: from parsed arguments to an answer. Use cases are imported when called."""

# ruff: noqa: PLC0415 - a verb imports what it needs and nothing else

from __future__ import annotations

import importlib
import signal
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from repropack._cli.answers import Answer, answer, encode_document, keep
from repropack._cli.claims_commands import proofread, values
from repropack._cli.export_commands import export
from repropack._cli.page_commands import report
from repropack._cli.progress import progress
from repropack._cli.stated import reading_limits, stated_consent, stated_limits
from repropack._cli.status import DIFFERS, IDENTICAL, STATUS_BY_VERDICT
from repropack._cli.streams import write_message
from repropack._cli.trust_commands import certify, publish, sign
from repropack.errors import UsageError

if TYPE_CHECKING:
    from repropack.models.lint import LintFinding


def init(arguments: Namespace) -> Answer:
    """Begin a project, asking for what is missing where there is somebody to ask."""
    from repropack._cli.asking import complete
    from repropack._present.text_init import init_text
    from repropack.init import init_project

    if arguments.script is None and (arguments.input or arguments.output):
        raise UsageError("--input and --output: expected --script beside them, observed none")
    complete(arguments)
    report = init_project(
        arguments.directory,
        author=arguments.author,
        license=arguments.license,
        name=arguments.name,
        title=arguments.title,
        script=arguments.script,
        inputs=arguments.input,
        outputs=arguments.output,
    )
    return answer(arguments, report, init_text, IDENTICAL)


def build(arguments: Namespace) -> Answer:
    """Run a project and write its package."""
    from repropack._present.text import build_text
    from repropack.build import build_package

    _require_named(arguments)
    with progress() as on_step:
        report = build_package(
            arguments.project,
            arguments.output,
            force=arguments.force,
            directory=arguments.directory,
            compress=arguments.compress,
            unexecuted_notebook=arguments.unexecuted_notebook,
            lock=arguments.lock,
            with_wheels=arguments.with_wheels,
            left_over=arguments.left_over,
            on_step=on_step,
            on_findings=partial(_tell_findings, arguments.project),
        )
    status = IDENTICAL if report.expectations_held else DIFFERS
    return answer(arguments, report, build_text, status)


def check(arguments: Namespace) -> Answer:
    """Look at a package and run nothing."""
    if arguments.show_limits:
        return _show_limits(arguments)
    from repropack._present.text import check_text
    from repropack.check import check_package

    report = check_package(
        arguments.package,
        fast=arguments.fast,
        expect_digest=arguments.expect_digest,
        signers=arguments.signers,
        revoked=arguments.revoked,
        require_signers=arguments.require_signers,
        limits=reading_limits(arguments),
    )
    status = STATUS_BY_VERDICT[report.verdict]
    if status == IDENTICAL and report.signatures is not None and report.signatures.missing:
        status = DIFFERS
    return answer(arguments, report, check_text, status)


def verify(arguments: Namespace) -> Answer:
    """Run a package's experiment again and compare."""
    from repropack._cli.report_file import ReportFile
    from repropack._cli.trust_commands import record_bytes, record_file
    from repropack._present.text_verify import verify_text
    from repropack.verify import verify_package

    limits, run_limits = stated_limits(arguments)
    consent = stated_consent(arguments, run_limits)
    record, kept = record_file(arguments), None
    if arguments.report is not None:
        kept = ReportFile(arguments.report, arguments.package, force=arguments.force)
    with progress() as on_step:
        report = verify_package(
            arguments.package,
            runs=arguments.runs,
            notebook=arguments.notebook,
            recreate_environment=arguments.recreate_env,
            inputs=dict(arguments.input),
            expect_digest=arguments.expect_digest,
            zoom=arguments.zoom,
            consent=consent,
            limits=limits,
            on_step=on_step,
        )
    status = STATUS_BY_VERDICT[report.verdict]
    if status == IDENTICAL and (report.expectations_failed or report.claims_failed):
        status = DIFFERS  # reproduced, with what fails in it
    told = answer(arguments, report, verify_text, status)
    told = keep(told, kept, lambda: encode_document(report))
    return keep(told, record, lambda: record_bytes(report, arguments.package, limits))


def inspect(arguments: Namespace) -> Answer:
    """Show what a package holds."""
    from repropack._present.text_inspect import inspect_text
    from repropack.inspect import inspect_package

    report = inspect_package(arguments.package, limits=reading_limits(arguments))
    return answer(arguments, report, inspect_text, IDENTICAL)


def lint(arguments: Namespace) -> Answer:
    """Say what a project or package lacks and what it must not hold."""
    from repropack._present.text_lint import lint_text
    from repropack.lint import lint_path

    report = lint_path(arguments.subject, limits=reading_limits(arguments))
    return answer(arguments, report, lint_text, STATUS_BY_VERDICT[report.verdict])


def diff(arguments: Namespace) -> Answer:
    """Say what changed from one package to another, or where one run parts from another."""
    from repropack._cli.zooming import check_options, zoom
    from repropack._present.text_diff import diff_text
    from repropack._present.text_run_difference import run_difference_text
    from repropack._read.sides import read_side
    from repropack.diff import diff_packages
    from repropack.diff_of_runs import diff_runs

    check_options(arguments)
    limits, run_limits = (
        stated_limits(arguments) if arguments.zoom else (reading_limits(arguments), None)
    )
    sides = arguments.left, arguments.right
    kinds = {read_side(side).kind for side in sides}
    if kinds == {"arrays"}:
        return _diff_arrays(arguments)
    if kinds != {"package"}:
        runs = diff_runs(*sides, believe_chains=arguments.fast, limits=limits)
        if run_limits is not None:
            runs = zoom(arguments, runs, stated_consent(arguments, run_limits), limits)
        return answer(arguments, runs, run_difference_text, STATUS_BY_VERDICT[runs.verdict])
    if arguments.fast:
        raise UsageError(
            "--fast: expected two runs or logs, observed two packages",
            hint="name the runs that are meant, such as PACKAGE::reference",
        )
    packages = diff_packages(*sides, limits=limits)
    if run_limits is not None:
        packages = zoom(arguments, packages, stated_consent(arguments, run_limits), limits)
    return answer(arguments, packages, diff_text, STATUS_BY_VERDICT[packages.verdict])


def audit(arguments: Namespace) -> Answer:
    """Say which state determines the next step, and what is missing from it."""
    from repropack._cli.report_file import ReportFile
    from repropack._present.audit_figure import figure_bytes, figure_format
    from repropack._present.text_audit import audit_text, plan_line
    from repropack._run.documents import FIGURES
    from repropack.audit import DEFAULT_MAX_RUNS, audit_project

    _require_named(arguments)
    kept = None
    if arguments.figure is not None:
        kind = FIGURES[f".{figure_format(arguments.figure)}"]
        kept = ReportFile(arguments.figure, kind=kind, option="--figure", force=arguments.force)
    with progress() as on_step:
        report = audit_project(
            arguments.project,
            resume_at=arguments.at,
            max_runs=arguments.max_runs or DEFAULT_MAX_RUNS,
            on_plan=lambda runs, steps: write_message(plan_line(runs, steps)),
            on_step=on_step,
        )
    told = answer(arguments, report, audit_text, STATUS_BY_VERDICT[report.verdict])
    return keep(told, kept, lambda: figure_bytes(report, arguments.figure))


def _diff_arrays(arguments: Namespace) -> Answer:
    from repropack._present.text_diff_arrays import arrays_text
    from repropack.diff_of_arrays import diff_arrays

    given = [name for name in ("fast", "zoom") if getattr(arguments, name)]
    if given:
        raise UsageError(f"--{given[0]}: expected runs, observed two files of arrays")
    report = diff_arrays(arguments.left, arguments.right)
    return answer(arguments, report, arrays_text, STATUS_BY_VERDICT[report.verdict])


def unpack(arguments: Namespace) -> Answer:
    """Write a package's entries as plain files."""
    from repropack._present.text import unpack_text
    from repropack.unpack import unpack_package

    report = unpack_package(
        arguments.package,
        arguments.directory,
        arguments.entries,
        force=arguments.force,
        limits=reading_limits(arguments),
    )
    return answer(arguments, report, unpack_text, IDENTICAL)


def schema(arguments: Namespace) -> Answer:
    """Print one schema, or the names of all."""
    from repropack._format.schemas import schema_bytes, schema_names

    if arguments.name is None:
        return Answer("".join(f"{name}\n" for name in schema_names()), IDENTICAL)
    return Answer(schema_bytes(arguments.name), IDENTICAL)


COMMANDS: dict[str, Callable[[Namespace], Answer]] = {
    "init": init,
    "build": build,
    "check": check,
    "verify": verify,
    "inspect": inspect,
    "lint": lint,
    "diff": diff,
    "audit": audit,
    "values": values,
    "proofread": proofread,
    "unpack": unpack,
    "report": report,
    "sign": sign,
    "certify": certify,
    "publish": publish,
    "export": export,
    "schema": schema,
}


_MODULES = {
    "init": ("repropack.init", "repropack._present.text_init"),
    "build": ("repropack.build", "repropack._present.text", "repropack._present.text_lint"),
    "check": ("repropack.check", "repropack._present.text"),
    "verify": ("repropack.verify", "repropack._present.text_verify"),
    "inspect": ("repropack.inspect", "repropack._present.text_inspect"),
    "lint": ("repropack.lint", "repropack._present.text_lint"),
    "diff": (
        "repropack.diff",
        "repropack.diff_of_runs",
        "repropack._present.text_diff",
        "repropack._present.text_run_difference",
    ),
    "audit": ("repropack.audit", "repropack._present.text_audit"),
    "values": ("repropack.values", "repropack._present.claim_values"),
    "proofread": ("repropack.proofread", "repropack._present.text_proofread"),
    "unpack": ("repropack.unpack", "repropack._present.text"),
    "report": ("repropack.report", "repropack._present.text_page"),
    "sign": ("repropack.sign", "repropack._present.text_signatures"),
    "certify": ("repropack.certify", "repropack._present.text_certify"),
    "publish": ("repropack.publish", "repropack._present.text_publish"),
    "export": ("repropack.export", "repropack._present.text_export"),
    "schema": ("repropack._format.schemas",),
}
_INTERRUPTS = ("SIGINT", "SIGTERM", "SIGHUP")


def load(verb: str) -> None:
    """Import what a verb needs; an interrupt waits until that is done.

    Compiled modules that are interrupted while they are made take it for a fault of another kind,
    or forget it and are wrong from then on.

    Args:
        verb: A key of ``COMMANDS``.
    """
    if not hasattr(signal, "pthread_sigmask"):
        return
    numbers = {getattr(signal, name) for name in _INTERRUPTS}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        for name in _MODULES[verb]:
            importlib.import_module(name)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _require_named(arguments: Namespace) -> None:
    """See to it that a project that is here is named: without a name the replay lab is meant."""
    if arguments.project is None and Path("repropack.toml").is_file():
        raise UsageError(
            "repropack.toml is here: expected PROJECT to be named, observed none, which means the "
            "replay lab",
            hint=f"give . to {arguments.verb} this project, or call it elsewhere for the replay "
            "lab",
        )


def _tell_findings(project: str, findings: tuple[LintFinding, ...]) -> None:
    """Say on standard error what lint found, before a build that may take long."""
    from repropack._present.text_lint import findings_lines

    for line in findings_lines(findings, project):
        write_message(line)


def _show_limits(arguments: Namespace) -> Answer:
    from repropack._cli.limits import list_limits
    from repropack._present.text import limits_text

    return answer(arguments, list_limits(*stated_limits(arguments)), limits_text, IDENTICAL)
