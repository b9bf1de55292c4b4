#!/usr/bin/env python3
"""Write ``docs/refusals.md`` from the rules that the code declares."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from repropack._format.rules import RULES

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "refusals.md"
_HEAD = """\
# Refusals

Why a package is refused, as data. Each fault in a report or an error of `--format json` has:

| member | what it says |
|---|---|
| `code` | the kind of refusal, which leads to the exit status |
| `rule` | the rule that is broken: one of those below. A rule keeps its id |
| `entry` | the path of the entry, or the name of the package itself |
| `expected`, `observed` | what the rule asks for, and what was found, in short |
| `problem` | the same in words, with the place in the entry |

The codes are `package.format`, `package.unsafe-entry`, `package.limit-exceeded`, `package.schema`,
`package.integrity` and `package.another`; they end with status 3. `package.unsupported-version`
ends with 4: the package is one of a later release, and neither intact nor damaged. Errors that are
about no package, such as `usage`, `busy` or `experiment.step`, name no rule; `repropack/errors.py`
lists them.
What the rules mean in full is in [format.md](format.md); this list is made from
`repropack/_format/rules.py` by `python tools/generate_refusals.py`.
"""
_FAMILIES = {
    "zip": "The zip",
    "path": "Paths",
    "directory": "A package as a directory",
    "json": "JSON",
    "document": "Documents",
    "npz": "Arrays: the container",
    "npy": "Arrays: each one",
    "state": "States",
    "checkpoint": "Checkpoints",
    "log": "Fingerprint logs",
    "manifest": "The manifest",
    "digest": "Digests",
    "released": "Released files",
    "page": "The page",
    "plan": "The plan",
    "run": "Runs, against the plan",
    "kept": "Kept arrays",
    "results": "Results",
    "crate": "The crate",
    "citation": "The citation",
    "notebook": "The notebook",
    "lock": "The lock",
    "version": "Later releases (status 4)",
    "write": "Writing",
    "limit": "Limits",
}


def refusals_document() -> str:
    """Return the document: a table of rules for each family, in the order of the code."""
    parts = [_HEAD]
    for family, rules in groupby(RULES, key=lambda rule: rule.partition(".")[0]):
        rows = "\n".join(f"| `{rule}` | {RULES[rule]} |" for rule in rules)
        parts.append(
            f"\n## {_FAMILIES[family]}\n\n| rule | what a package keeps |\n|---|---|\n{rows}\n"
        )
    return "".join(parts)


if __name__ == "__main__":
    DOCUMENT.write_text(refusals_document(), encoding="utf-8")
