"""The verb ``export``, from parsed arguments to an answer."""

# ruff: noqa: PLC0415 - a verb imports what it needs and nothing else

from __future__ import annotations

from argparse import Namespace

from repropack._cli.answers import Answer, answer
from repropack._cli.stated import reading_limits
from repropack._cli.status import DIFFERS, IDENTICAL


def export(arguments: Namespace) -> Answer:
    """Write what an archive wants of a package."""
    from repropack._present.text_export import export_text
    from repropack.export import export_package

    report = export_package(
        arguments.package,
        arguments.to,
        arguments.output,
        force=arguments.force,
        verification=arguments.verification,
        limits=reading_limits(arguments),
    )
    return answer(arguments, report, export_text, DIFFERS if report.lacking else IDENTICAL)
