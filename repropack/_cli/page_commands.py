"""The verb ``report``: a page of a package, written beside it."""

# ruff: noqa: PLC0415 - a verb imports what it needs and nothing else

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from repropack._cli.answers import Answer, answer
from repropack._cli.stated import reading_limits
from repropack._cli.status import IDENTICAL
from repropack.errors import UsageError


def report(arguments: Namespace) -> Answer:
    """Write a page of a package, with a verification where one is given."""
    from repropack._cli.report_file import ReportFile
    from repropack._present.text_page import page_text
    from repropack.report import report_package

    if arguments.output is not None:
        _check_place(Path(arguments.output), force=arguments.force)
    made = report_package(
        arguments.package, verification=arguments.verification, limits=reading_limits(arguments)
    )
    default = f"{made.package.name}-{made.package.version}.html"
    target = arguments.output or default
    _check_place(Path(target), force=arguments.force)
    ReportFile(target, arguments.package, option="-o").write(made.content)
    return answer(arguments, made.report(arguments.package, target), page_text, IDENTICAL)


def _check_place(target: Path, *, force: bool) -> None:
    """See to it that nothing is lost: a page replaces a page, anything else with ``--force``."""
    from repropack._format.page_head import MAX_HEAD_BYTES, page_version

    if force or not target.is_file():
        return
    with target.open("rb") as stream:
        if page_version(stream.read(MAX_HEAD_BYTES)) is None:
            raise UsageError(
                f"{target}: expected a page to replace, observed another file",
                hint="give another path with -o, or --force to replace it",
            )
