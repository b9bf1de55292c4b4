"""One function a verb: from parsed arguments to an answer. Use cases are imported when called."""

# ruff: noqa: PLC0415 - a verb imports what it needs and nothing else

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from repropack._cli.progress import progress
from repropack._cli.status import DIFFERS, IDENTICAL, STATUS_BY_VERDICT
from repropack.errors import UsageError

if TYPE_CHECKING:
    from repropack.models.base import Document

_Report = TypeVar("_Report", bound="Document")


@dataclass(frozen=True)
class Answer:
    """What a verb ends with: text for people, or bytes that go out as they are."""

    output: str | bytes
    status: int


def build(arguments: Namespace) -> Answer:
    """Run a project and write its package."""
    from repropack._present.text import build_text
    from repropack.build import build_package

    if arguments.project is None and Path("repropack.toml").is_file():
        raise UsageError(
            "repropack.toml is here: expected PROJECT to be named, observed none, which means the "
            "replay lab",
            hint="give . to build this project, or call it elsewhere for the replay lab",
        )
    with progress() as on_step:
        report = build_package(
            arguments.project,
            arguments.output,
            force=arguments.force,
            directory=arguments.directory,
            compress=arguments.compress,
            unexecuted_notebook=arguments.unexecuted_notebook,
            on_step=on_step,
        )
    status = IDENTICAL if report.expectations_held else DIFFERS
    return _answer(arguments, report, build_text, status)


def check(arguments: Namespace) -> Answer:
    """Look at a package and run nothing."""
    from repropack._present.text import check_text
    from repropack.check import check_package

    report = check_package(
        arguments.package, fast=arguments.fast, expect_digest=arguments.expect_digest
    )
    return _answer(arguments, report, check_text, STATUS_BY_VERDICT[report.verdict])


def verify(arguments: Namespace) -> Answer:
    """Run a package's experiment again and compare."""
    from repropack._cli.report_file import ReportFile
    from repropack._present.text_verify import verify_text
    from repropack.verify import verify_package

    kept = ReportFile(arguments.report, arguments.package) if arguments.report else None
    with progress() as on_step:
        report = verify_package(
            arguments.package,
            runs=arguments.runs,
            notebook=arguments.notebook,
            expect_digest=arguments.expect_digest,
            on_step=on_step,
        )
    if kept is not None:
        kept.write(encode_document(report))
    return _answer(arguments, report, verify_text, STATUS_BY_VERDICT[report.verdict])


def inspect(arguments: Namespace) -> Answer:
    """Show what a package holds."""
    from repropack._present.text_inspect import inspect_text
    from repropack.inspect import inspect_package

    return _answer(arguments, inspect_package(arguments.package), inspect_text, IDENTICAL)


def unpack(arguments: Namespace) -> Answer:
    """Write a package's entries as plain files."""
    from repropack._present.text import unpack_text
    from repropack.unpack import unpack_package

    report = unpack_package(
        arguments.package, arguments.directory, arguments.entries, force=arguments.force
    )
    return _answer(arguments, report, unpack_text, IDENTICAL)


def schema(arguments: Namespace) -> Answer:
    """Print one schema, or the names of all."""
    from repropack._format.schemas import schema_bytes, schema_names

    if arguments.name is None:
        return Answer("".join(f"{name}\n" for name in schema_names()), IDENTICAL)
    return Answer(schema_bytes(arguments.name), IDENTICAL)


COMMANDS: dict[str, Callable[[Namespace], Answer]] = {
    "build": build,
    "check": check,
    "verify": verify,
    "inspect": inspect,
    "unpack": unpack,
    "schema": schema,
}


def encode_document(document: Document) -> bytes:
    """A report as canonical JSON."""
    from repropack._format.canonical import encode_canonical

    return encode_canonical(document.model_dump(mode="json"))


def _answer(
    arguments: Namespace, report: _Report, text: Callable[[_Report], str], status: int
) -> Answer:
    if arguments.format == "json":
        return Answer(encode_document(report), status)
    return Answer(text(report), status)
