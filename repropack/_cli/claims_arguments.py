"""The arguments of the verbs about claims."""

from __future__ import annotations

from typing import Any

from repropack._cli import claims_help
from repropack._cli.arguments import add_force, add_format, add_limit, add_package, add_verb


def add_values(verbs: Any) -> None:
    """Add the verb ``values``."""
    verb = add_verb(
        verbs,
        "values",
        "print the values of its claims, for a write-up",
        claims_help.VALUES,
        claims_help.VALUES_EXAMPLES,
    )
    add_package(verb)
    verb.add_argument(
        "--format",
        choices=("md", "tex", "csv", "json"),
        default="md",
        help="a table in Markdown, LaTeX macros, CSV, or one JSON document (default: md)",
    )
    verb.add_argument("-o", "--output", metavar="FILE", help="write them to FILE instead")
    add_force(verb, "values in the same format that are there")
    add_limit(verb)


def add_proofread(verbs: Any) -> None:
    """Add the verb ``proofread``."""
    verb = add_verb(
        verbs,
        "proofread",
        "hold the numbers of an article against its claims",
        claims_help.PROOFREAD,
        claims_help.PROOFREAD_EXAMPLES,
    )
    add_package(verb)
    verb.add_argument(
        "article", metavar="ARTICLE", help="a .md, .html, .tex or .ipynb file with marked numbers"
    )
    add_limit(verb)
    add_format(verb)
