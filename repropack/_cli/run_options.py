"""Options of the verbs that run a package's code: how it may run, and what is looked at."""

from __future__ import annotations

import argparse
from typing import Any

from repropack._cli.argument_types import read_count, read_digest, read_input
from repropack._cli.arguments import add_force


def add_confinement(verb: argparse.ArgumentParser, trust: str, **more: Any) -> None:
    """Add what is needed to run a package's code, and how it may run.

    Args:
        verb: The verb's parser.
        trust: Help of ``--trust``.
        more: Options of ``--trust`` beside its type and help.
    """
    verb.add_argument(
        "--input",
        type=read_input,
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="where an input lies that the package holds by reference",
    )
    verb.add_argument(
        "--sandbox",
        choices=("auto", "bubblewrap", "landlock"),
        default="auto",
        help="how foreign code is confined (default: auto, the best that holds here)",
    )
    verb.add_argument(
        "--no-sandbox", action="store_true", help="run its code unconfined; takes --trust as well"
    )
    verb.add_argument("--trust", type=read_digest, metavar="sha256:DIGEST", help=trust, **more)


def add_zoom(verb: argparse.ArgumentParser) -> None:
    """Add how the step is looked at at which two runs part.

    Args:
        verb: The verb's parser.
    """
    verb.add_argument(
        "--zoom",
        action="store_true",
        help="show the elements of the step at which they part; runs what is not stored again",
    )
    verb.add_argument(
        "--save",
        metavar="FILE",
        help="with --zoom: keep the arrays of both sides, and what they are made of, as npz",
    )
    add_force(verb, "arrays that --save kept there")
    verb.add_argument(
        "--repeat",
        type=read_count,
        metavar="K",
        help="with --zoom: make the step K times in one process, in fresh ones, and varied",
    )
    trust = "the package digest of one of the two, which may run unconfined; may be given again"
    add_confinement(verb, trust, action="append")
