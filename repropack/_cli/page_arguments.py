"""The arguments of ``report``."""

from __future__ import annotations

from typing import Any

from repropack._cli import page_help
from repropack._cli.arguments import add_force, add_format, add_limit, add_package, add_verb


def add_report(verbs: Any) -> None:
    """Add the verb ``report``.

    Args:
        verbs: Where verbs are added.
    """
    verb = add_verb(
        verbs,
        "report",
        "write a page of a package, with what verify found",
        page_help.REPORT,
        page_help.REPORT_EXAMPLES,
    )
    add_package(verb)
    verb.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the page to write (default: NAME-VERSION.html here)",
    )
    verb.add_argument(
        "--verification",
        metavar="FILE",
        help="a report that `verify --report` kept of this very package, to show as well",
    )
    add_force(verb, "a page that is there")
    add_limit(verb)
    add_format(verb)
