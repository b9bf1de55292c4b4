"""The verbs about claims: from parsed arguments to an answer."""

# ruff: noqa: PLC0415 - a verb imports what it needs and nothing else

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from repropack._cli.answers import Answer, answer, ascii_document, encode_document, keep
from repropack._cli.stated import reading_limits
from repropack._cli.status import IDENTICAL, STATUS_BY_VERDICT

if TYPE_CHECKING:
    from repropack.models.proofreading import Values


def values(arguments: Namespace) -> Answer:
    """Print the values of a package's claims, or write them to a file."""
    from repropack._cli.report_file import ReportFile
    from repropack._present.claim_values import WRITERS
    from repropack.values import package_values

    output = arguments.output
    kept = ReportFile(output, arguments.package, option="--output") if output else None
    found = package_values(arguments.package, limits=reading_limits(arguments))
    if arguments.format == "json":
        content = encode_document(found) if output else ascii_document(found)
    else:
        content = WRITERS[arguments.format](found)
    told = Answer(b"" if output else content, IDENTICAL, warning=_failing(found))
    return keep(told, kept, lambda: content)


def _failing(found: Values) -> str | None:
    """The claims that do not hold, on one line: whoever takes in values seldom reads the file."""
    from repropack._present.claims import held_sentence
    from repropack.models.claims import RecordedClaim

    rows = [RecordedClaim(id=row.id, held=row.held) for row in found.values]
    return None if all(row.held for row in rows) else held_sentence(rows).removesuffix(".")


def proofread(arguments: Namespace) -> Answer:
    """Hold an article against the claims of a package."""
    from repropack._present.text_proofread import proofread_text
    from repropack.proofread import proofread_article

    report = proofread_article(
        arguments.package, arguments.article, limits=reading_limits(arguments)
    )
    return answer(arguments, report, proofread_text, STATUS_BY_VERDICT[report.verdict])
