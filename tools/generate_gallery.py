#!/usr/bin/env python3
"""Write ``docs/gallery.md`` from the table of the gallery and the docstrings of its experiments."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":  # the tests are no distribution
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.gallery.cases import FAULTS, INNOCENT, Fault, story_of

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "gallery.md"
_HEAD = """\
# Gallery of faults

Small experiments with one planted fault each, of the kinds that people report, and what `repropack`
says of them. They lie in `tests/gallery/`; each is one short module of NumPy and the standard
library. `tests/gallery/test_gallery.py` looks at them again and compares what is said with this
table, word for word: at every second one in ordinary runs, at all with
`REPROPACK_EVERY_CASE=1`. The patterns are described in [divergences.md](divergences.md).

A finding is where two runs part, and what that is consistent with. It is never a cause.

How each is looked at, and what the last column then holds:

- *resume*, K: `repropack audit PROJECT --at K` resumes it after step K in a fresh process. Named is
  the likely holder that is listed first: an object that changed between steps, is in no component
  and is another after the restore, or the reason in brackets.
- *launch*: `repropack diff` of the logs of two runs with different hash seeds. Named is what the
  first pattern is about.
- *launch*, *threads* or *setting*, *zoomed*: `--zoom` beside it; the runs differ in the hash seed,
  in the number of threads, or in one setting. Named is the kind of difference of the elements.
- *repeated*: `--repeat 1` as well. Named is under what the step varies.

One resume may miss a fault: that of early stopping does not show after step 4. Without `--at` the
audit chooses several steps.

## Faults and findings

| planted fault | looked at | found | consistent with | named |
|---|---|---|---|---|
"""
_LOOKS = {
    "launches": "launch",
    "zoomed launches": "launch, zoomed",
    "threads": "threads, zoomed",
    "configurations": "setting, zoomed",
}
_REPORTS = """
## What people report, and what is wrong

"""
_OPEN = """
## What is not found yet

"""
_INNOCENT = """
## Innocent experiments

Their state is unusual and complete. Nothing is found in them: every resume that the audit chooses
goes on exactly, and a second launch with another hash seed is equal.

| experiment | what is unusual |
|---|---|
"""
_TAIL = """
This page is made by `python tools/generate_gallery.py`.
"""


def gallery_document() -> str:
    """Return the document: a table of faults against findings, and what stands behind each row."""
    parts = [_HEAD, *map(_row, FAULTS), _REPORTS]
    for fault in FAULTS:
        story = story_of("faults", fault.name)
        parts.append(
            f"- **{story.title}** Reported: {story.parts['Reported']} "
            f"Wrong: {story.parts['Wrong']} (`{fault.name}`)\n"
        )
    parts.append(_OPEN)
    still_open = [fault for fault in FAULTS if fault.still_open]
    parts += [
        f"- {story_of('faults', fault.name).title} {fault.still_open}\n" for fault in still_open
    ] or ["Nothing: every row above names what was planted.\n"]
    parts.append(_INNOCENT)
    for name in INNOCENT:
        story = story_of("innocent", name)
        parts.append(f"| {story.title} | {_plain(story.parts['Unusual'])} |\n")
    return "".join([*parts, _TAIL])


def _row(fault: Fault) -> str:
    finding = fault.finding
    look = f"resume, K = {fault.at}" if fault.look == "audit" else _LOOKS[fault.look]
    look += ", repeated" if fault.repeat else ""
    patterns = ", ".join(f"[{name}](divergences.md#{name})" for name in finding.patterns)
    named = "" if finding.named is None else f"`{finding.named}`"
    title = story_of("faults", fault.name).title
    return f"| {title} | {look} | {finding.where} | {patterns} | {named} |\n"


def _plain(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(DOCUMENT.read_text("utf-8") != gallery_document())
    DOCUMENT.write_text(gallery_document(), "utf-8")
