"""What ``publish`` laid out, as text for a terminal."""

from __future__ import annotations

from repropack._present.claims import held_line
from repropack._present.escape import escape_text
from repropack._present.front_page import left_out_rows
from repropack._present.layout import ended, field, listing, plural, size, wrap
from repropack._present.text_signatures import finding_text
from repropack.models.published import PublishReport

_MAX_LEFT_OUT = 20


def publish_text(report: PublishReport) -> str:
    """What ``publish`` laid out, for people.

    Returns:
        The text; ends in a newline.
    """
    total = sum(file.size for file in report.files)
    lines = wrap(escape_text(report.directory), first="published  ")
    lines += wrap(
        f"{plural(len(report.files), 'file')} of {size(total)}, their digests in SHA256SUMS; "
        "index.html leads to each of them"
    )
    lines += held_line(report.claims)
    lines += [
        "",
        *field("package", escape_text(report.package_file)),
        *field("package digest", report.package_digest),
    ]
    signatures = ", ".join(map(escape_text, report.signatures))
    others = report.signatures_left_out
    none = "none that holds" if others else "none lay beside the package"
    lines += field("signatures", signatures or none)
    if others:
        lines += ["", "signature files beside the package that are not laid out:"]
        lines += listing(list(map(finding_text, others)))
    if report.left_out:
        lines += ["", "in the package alone:"]
        rows = [escape_text(row, 600) for row in left_out_rows(report)]
        lines += listing(rows, at_most=_MAX_LEFT_OUT)
    lines += [
        "",
        *wrap(
            "Put the folder where you like; all links are relative. Publish the package digest in "
            "the article itself: it is what readers hold the package against."
        ),
    ]
    return ended(lines)
