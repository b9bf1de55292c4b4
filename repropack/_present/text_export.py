"""What ``export`` wrote, or what the author has to say first, as text."""

from __future__ import annotations

from repropack._present.escape import escape_text
from repropack._present.layout import ended, field, listing, plural, size, wrap
from repropack.models.export import ExportReport

_KINDS = {
    "bagit": "a bag, whose payload in data/ is the package",
    "zenodo": "metadata of a deposit at Zenodo",
    "codecheck": "a draft: the codechecker completes it",
    "swhid": "identifiers of Software Heritage",
}


def export_text(report: ExportReport) -> str:
    """What was exported, for people.

    Args:
        report: What ``export`` says.

    Returns:
        The text; ends in a newline.
    """
    if report.lacking:
        return ended(_incomplete(report))
    path = report.path if report.written is None else report.written
    lines = [
        *wrap(escape_text(path), first="exported  " if report.written else "read  "),
        "",
        *field("what", _KINDS[report.to]),
        *field("package digest", report.package_digest),
        *field("source", escape_text(report.source_swhid or "none")),
        *field("whole package", escape_text(report.content_swhid)),
    ]
    if report.written is not None:
        of = " of payload" if report.to == "bagit" else ""
        lines += field("size", f"{size(report.size_bytes)} in {plural(report.files, 'file')}{of}")
    return ended(lines)


def _incomplete(report: ExportReport) -> list[str]:
    what, them = plural(len(report.lacking), "key"), "it" if len(report.lacking) == 1 else "them"
    rows = [
        f"{escape_text(row.key)} in [package], for {escape_text(row.field)}: "
        f"{escape_text(row.problem)}"
        for row in report.lacking
    ]
    return [
        *wrap(
            f"{escape_text(report.path)}: {what} missing for --to {report.to}; nothing was written",
            first="incomplete  ",
        ),
        "",
        *listing(rows),
        "",
        *wrap(f"Add {them} to the project file and build again: a package is never changed."),
    ]
