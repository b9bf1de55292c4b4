"""``sign``, ``certify`` and ``publish``: from parsed arguments to an answer."""

# ruff: noqa: PLC0415 - a verb imports what it needs and nothing else

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from repropack._cli.answers import Answer, answer, keep
from repropack._cli.stated import reading_limits
from repropack._cli.status import IDENTICAL, STATUS_BY_VERDICT
from repropack.errors import UsageError

if TYPE_CHECKING:
    from repropack._cli.report_file import ReportFile
    from repropack._format.limits import Limits
    from repropack.models.reports import VerificationReport


def sign(arguments: Namespace) -> Answer:
    """Sign a package or a record."""
    from repropack._present.text_signatures import sign_text
    from repropack.sign import sign_package

    report = sign_package(
        arguments.file,
        key=arguments.key,
        output=arguments.output,
        force=arguments.force,
        limits=reading_limits(arguments),
    )
    return answer(arguments, report, sign_text, IDENTICAL)


def certify(arguments: Namespace) -> Answer:
    """Count what several verifications found."""
    from repropack._cli.report_file import ReportFile
    from repropack._present.certificate_page import certificate_page
    from repropack._present.text_certify import certificate_text
    from repropack._run.documents import PAGE
    from repropack.certify import certify_package

    kept = None
    if arguments.page is not None:
        read = (arguments.package, *arguments.records)
        kept = ReportFile(arguments.page, *read, kind=PAGE, option="--page", force=arguments.force)
    certificate = certify_package(
        arguments.package,
        arguments.records,
        signers=arguments.signers,
        revoked=arguments.revoked,
        limits=reading_limits(arguments),
    )
    told = answer(arguments, certificate, certificate_text, STATUS_BY_VERDICT[certificate.verdict])
    return keep(told, kept, lambda: certificate_page(certificate))


def publish(arguments: Namespace) -> Answer:
    """Lay out what a site shows."""
    from repropack._present.text_publish import publish_text
    from repropack.publish import publish_package

    report = publish_package(
        arguments.package,
        arguments.directory,
        force=arguments.force,
        limits=reading_limits(arguments),
    )
    return answer(arguments, report, publish_text, IDENTICAL)


def record_file(arguments: Namespace) -> ReportFile | None:
    """Where ``verify`` keeps its record; settled, like the time, before anything runs."""
    from repropack._cli.report_file import ReportFile
    from repropack._run.clock import present_moment
    from repropack._run.documents import RECORD

    if arguments.record is None:
        return None
    if (
        arguments.report is not None
        and Path(arguments.record).resolve() == Path(arguments.report).resolve()
    ):
        raise UsageError(
            "expected --record and --report to name two files, observed one",
            hint="the record is a statement to be signed, the report the whole evidence",
        )
    present_moment()
    return ReportFile(
        arguments.record, arguments.package, kind=RECORD, option="--record", force=arguments.force
    )


def record_bytes(report: VerificationReport, package: str, limits: Limits) -> bytes:
    """The record of a verification."""
    from repropack.record import record_verification

    return record_verification(report, package, limits=limits)
