"""What is said of the reference's metrics and state, by what was built and by what is inspected."""

from __future__ import annotations

from collections.abc import Iterator

from repropack._present.escape import escape_text
from repropack._present.layout import field, join_names
from repropack.models.results import ReferenceOutcome


def first_nans(reference: ReferenceOutcome) -> Iterator[str]:
    """Which metrics of the reference are not a number, and since when.

    Yields:
        One sentence a metric.
    """
    for metric, step in sorted(reference.first_nan.items(), key=lambda row: (row[1], row[0])):
        yield f"The metric {escape_text(metric, 80)} is not a number (NaN) first at step {step}."


def unchanged_lines(reference: ReferenceOutcome, *, loop: bool) -> list[str]:
    """The components that no step of the reference changed, where there are any.

    Args:
        reference: How the reference ended.
        loop: Whether a script was run that owns its loop, and may have lost hold of its state.

    Returns:
        Lines of at most 100 columns.
    """
    names, several = reference.unchanged, len(reference.unchanged) > 1
    if not names:
        return []
    text = f"{join_names(names)}: no step changed {'them' if several else 'it'}"
    lost = "another object in its place: change it in place"
    if several:
        lost = "other objects in their place: change them in place"
    return field("unchanged", f"{text}; the script may have put {lost}" if loop else text)
