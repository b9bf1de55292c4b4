#!/usr/bin/env python3
"""Write ``docs/lint.md`` from the rules that the code declares."""

from __future__ import annotations

from pathlib import Path

from repropack._format.lint_rules import LINT_RULES

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "lint.md"
_HEAD = """\
# Lint

`repropack lint PROJECT` and `repropack lint PACKAGE` look for what reviewers and badge committees
ask for, and for what must not be published. They read and run nothing. `repropack build PROJECT`
does the same before it runs anything, prints what it found on standard error, and stops where there
is an error.

| severity | what it means | exit status |
|---|---|---|
| error | it does harm, or will not run elsewhere; a build stops | 1 |
| warning | a reader will miss it | 0 |
| note | a thing to consider; `build` does not print it | 0 |

An author lets findings of a rule pass by its id, in the project file; the package records the ids:

```toml parses
[lint]
allow = ["pickle"]
```

Such findings are still shown, as allowed. In JSON each finding has `rule`, `severity`, `path`,
`line`, `problem`, `cure` and `allowed` (`repropack schema lint-report`). A rule keeps its id.

What is looked at: of a project, the files that will be packed (source, inputs, licence), the README
at its top, and the values of the project file; of a package, every entry but the schemas and the
checker, which are repropack's own. Files of any size are read as a stream. Names and paths are
found in plain files (UTF-8, and ASCII in UTF-16 and UTF-32), in members of npz and other zips, in
arrays of text, in gzip, in text chunks of PNG, and in the texts and PNG images of notebooks. They
are not found in pixels, in numbers, or behind base64 elsewhere. Python source is parsed, never
imported; other languages are read as text. Words are looked for in English. A machine whose account
or host has a common name, such as `user`, has no name to look for.
"""
_TAIL = """
This list is made from `repropack/_format/lint_rules.py` by `python tools/generate_lint.py`.
"""


def lint_document() -> str:
    """Return the document: one section for each severity, one entry for each rule."""
    parts = [_HEAD]
    for severity, title in (("error", "Errors"), ("warning", "Warnings"), ("note", "Notes")):
        parts.append(f"\n## {title}\n")
        for name, rule in LINT_RULES.items():
            if rule.severity == severity:
                parts.append(
                    f"\n### `{name}`\n\n{rule.finds}\n\n"
                    f"- Reason: {rule.reason}\n- Cure: {rule.cure}.\n"
                )
    return "".join([*parts, _TAIL])


if __name__ == "__main__":
    DOCUMENT.write_text(lint_document(), encoding="utf-8")
