"""The arguments of ``audit``."""

from __future__ import annotations

import argparse

from repropack._cli.argument_types import read_count, read_steps
from repropack._cli.arguments import add_force


def add_audit_arguments(verb: argparse.ArgumentParser) -> None:
    """Add what ``audit`` takes beside its format.

    Args:
        verb: Its parser.
    """
    verb.add_argument(
        "project", nargs="?", metavar="PROJECT", help="folder with a repropack.toml, or the file"
    )
    verb.add_argument(
        "--at",
        type=read_steps,
        default=(),
        metavar="STEP,STEP",
        help="steps to resume after (default: early, middle, late, and where an epoch ends)",
    )
    verb.add_argument(
        "--max-runs",
        type=read_count,
        metavar="N",
        help="most runs to make; parts of the state that are left out are named (default: 40)",
    )
    verb.add_argument(
        "--figure", metavar="FILE", help="also draw it, as SVG or PNG by the ending of FILE"
    )
    add_force(verb, "a figure of an audit in the same format")
