"""The arguments of ``export``."""

from __future__ import annotations

import argparse

from repropack._cli.arguments import add_force


def add_export_arguments(verb: argparse.ArgumentParser) -> None:
    """Add what ``export`` takes beside its package, limits and format.

    Args:
        verb: Its parser.
    """
    verb.add_argument(
        "--to",
        required=True,
        choices=("bagit", "zenodo", "codecheck", "swhid"),
        help="for which archive: a bag, a .zenodo.json, a draft of a codecheck.yml, identifiers",
    )
    verb.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help="what to write; a bag is a zip where PATH ends in .zip, else a folder",
    )
    add_force(verb, "an earlier export of the same kind")
    verb.add_argument(
        "--verification",
        metavar="REPORT.json",
        help="with --to codecheck: the report that `verify --report` kept of this package",
    )
