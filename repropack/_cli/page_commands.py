"""The verb ``report``: a page of a package, written beside it."""

# ruff: noqa: PLC0415 - a verb imports what it needs and nothing else

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from repropack._cli.answers import Answer, answer
from repropack._cli.stated import reading_limits
from repropack._cli.status import IDENTICAL

if TYPE_CHECKING:
    from repropack._cli.report_file import ReportFile


def report(arguments: Namespace) -> Answer:
    """Write a page of a package, with a verification where one is given."""
    from repropack._present.text_page import page_text
    from repropack.report import report_package

    if arguments.output is not None:
        _target(arguments, arguments.output)
    made = report_package(
        arguments.package, verification=arguments.verification, limits=reading_limits(arguments)
    )
    target = arguments.output or f"{made.package.name}-{made.package.version}.html"
    _target(arguments, target).write(made.content)
    return answer(arguments, made.report(arguments.package, target), page_text, IDENTICAL)


def _target(arguments: Namespace, target: str) -> ReportFile:
    from repropack._cli.report_file import ReportFile
    from repropack._run.documents import PAGE

    return ReportFile(target, arguments.package, kind=PAGE, option="-o", force=arguments.force)
