"""What a README says: how long it takes, what is expected, which outputs there are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from repropack._format.expressions import advice
from repropack._format.marks import scan_text
from repropack._format.scans import Lines, TooManyMarksError
from repropack._lint.subject import LintedFile, Subject, found
from repropack.models.lint import LintFinding

_NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,9})?"
_TIME = re.compile(
    r"\b(?:(?:milli|micro)?seconds|secs|minutes|mins|hours|days|weeks|overnight)\b"
    rf"|\b(?:an?|one|half an?|{_NUMBER})[ -]?(?:minute|min|hour|day|week|night)\b"
    rf"|\b(?:about|under|within|than|takes?) (?:a|one) second\b|\b{_NUMBER} ?(?:s|sec|h|ms)\b",
    re.IGNORECASE,
)
_EXPECTED = re.compile(
    r"\b(?:expect\w*|should|results?|outputs?|reproduc\w+|produc\w+|prints?|writes?|figures?|"
    r"tables?|plots?|draws?|shows?|finds?|found|claims?)\b",
    re.IGNORECASE,
)
_MIN_STEM = 3


def check_documents(subject: Subject) -> Iterator[LintFinding]:
    """Yield what the README lacks; all READMEs of a subject count as one.

    Args:
        subject: What is looked at.
    """
    readmes = [file for file in subject.files if file.kind == "readme"]
    if not readmes:
        yield found("readme-missing", subject.settings, "expected a README, observed none")
        return
    texts = ((file.read() or b"").decode("utf-8", "replace") for file in readmes)
    text = "\n".join((*texts, subject.metadata.description or ""))
    path = readmes[0].path
    if not _TIME.search(text):
        yield found("readme-time", path, "expected a time such as '5 minutes', observed none")
    if not _EXPECTED.search(text):
        yield found("readme-expected", path, "expected words on what comes out, observed none")
    silent = [pattern for pattern in subject.output_patterns if not _mentions(text, pattern)]
    yield from _unknown_claims(subject, readmes)
    if silent:
        problem = f"does not mention {', '.join(map(repr, dict.fromkeys(silent)))}"
        yield found("outputs-not-mentioned", path, problem)


def _unknown_claims(subject: Subject, readmes: list[LintedFile]) -> Iterator[LintFinding]:
    """Marks of a README in Markdown that no claim of the plan stands behind."""
    known = [claim.id for claim in subject.plan.claims]
    for file in readmes:
        if file.suffix != ".md":
            continue
        text = (file.read() or b"").decode("utf-8", "replace")
        lines = Lines(text)
        try:
            marks = scan_text(text, "markdown").marks
        except TooManyMarksError:  # no README has so many
            continue
        for mark in marks:
            if mark.claim not in known:
                problem = f"expected the id of a claim, observed {mark.claim!r}"
                told = f"{problem}{advice(mark.claim, known)}"
                yield found("claim-unknown", file.path, told, lines.place(mark.at)[0])


def _mentions(text: str, pattern: str) -> bool:
    """Whether a text names an output, or the folder or kind of file of a pattern."""
    low, path = text.lower(), PurePosixPath(pattern.lower())
    words = {str(path), path.name}
    if set(path.name) & set("*?["):
        words |= {part for part in path.parts[:-1] if not set(part) & set("*?[")}
        words |= {path.suffix} if path.suffix else set()
    if len(path.stem) >= _MIN_STEM and not set(path.stem) & set("*?["):
        words.add(path.stem)
    return any(word in low for word in words)
