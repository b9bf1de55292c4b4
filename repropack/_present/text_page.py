"""What ``report`` wrote, as text for a terminal."""

from __future__ import annotations

from repropack._present.escape import escape_text
from repropack._present.layout import ended, field, size, wrap
from repropack._present.text import identity_lines
from repropack.models.page import PageReport


def page_text(report: PageReport) -> str:
    """What was written, for people.

    Returns:
        The text; ends in a newline.
    """
    shown = f"{escape_text(report.page)} ({size(report.size_bytes)})"
    lines = wrap(shown, first="written  ")
    lines += ["", *identity_lines(report.package, report.package_digest, report.evidence_digest)]
    if report.verification is not None:
        lines += field("verification", f"{report.verification}, as the report says")
    lines += [
        "",
        *wrap(
            "The package was checked, and nothing of it executed. Open the page in a "
            "browser; it needs no network."
        ),
    ]
    return ended(lines)
