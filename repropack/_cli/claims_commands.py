"""The verbs about claims: from parsed arguments to an answer."""

# ruff: noqa: PLC0415 - a verb imports what it needs and nothing else

from __future__ import annotations

from argparse import Namespace
from functools import partial
from typing import TYPE_CHECKING

from repropack._cli.answers import Answer, answer, ascii_document, encode_document, keep
from repropack._cli.stated import reading_limits
from repropack._cli.status import IDENTICAL, STATUS_BY_VERDICT

if TYPE_CHECKING:
    from repropack._run.documents import DocumentKind
    from repropack.models.proofreading import Values


def values(arguments: Namespace) -> Answer:
    """Print the values of a package's claims, or write them to a file."""
    from repropack._cli.report_file import ReportFile
    from repropack._present.claim_values import WRITERS
    from repropack.values import package_values

    output, kept = arguments.output, None
    if output:
        kind = _kind(arguments.format)
        kept = ReportFile(
            output, arguments.package, kind=kind, option="--output", force=arguments.force
        )
    found = package_values(arguments.package, limits=reading_limits(arguments))
    if arguments.format == "json":
        content = encode_document(found) if output else ascii_document(found)
    else:
        content = WRITERS[arguments.format](found)
    told = Answer(b"" if output else content, IDENTICAL, warning=_failing(found))
    return keep(told, kept, lambda: content)


def _kind(form: str) -> DocumentKind:
    """The kind of file that holds values in a format."""
    from repropack._present.claim_values import are_values
    from repropack._run.documents import head_kind, json_kind

    if form == "json":
        return json_kind("values in json", "schema", "repropack/values/")
    return head_kind(f"values in {form}", partial(are_values, form=form))


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
