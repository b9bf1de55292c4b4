"""Questions on a terminal for what ``init`` was not told; elsewhere the missing flag is named."""

# ruff: noqa: PLC0415 - only init asks, and only where something is missing

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from repropack._cli.streams import is_terminal, standard_stream, write_message
from repropack.errors import UsageError

_DEFAULT_LICENSE = "CC0-1.0"


def complete(arguments: Namespace) -> None:
    """Fill in the author, the licence and, where somebody can be asked, name and title.

    Args:
        arguments: Those of ``init``; what is given is left as it is.

    Raises:
        UsageError: a flag is missing and nobody can be asked, or the input ends.
    """
    missing = [f"--{flag}" for flag in ("author", "license") if getattr(arguments, flag) is None]
    if not missing:
        return
    if not _can_ask():
        raise UsageError(
            f"the following arguments are required: {', '.join(missing)}",
            hint="on a terminal they would be asked for; see `repropack init --help`",
        )
    from repropack._run.checkout import author_name
    from repropack.init import default_title, folder_name

    if arguments.name is None:
        arguments.name = _ask("name of the package", folder_name(arguments.directory))
    if arguments.title is None:
        arguments.title = _ask("title", default_title(arguments.name))
    if arguments.author is None:
        arguments.author = _ask("author", author_name(_existing(Path(arguments.directory))))
    if arguments.license is None:
        arguments.license = _ask("licence (SPDX)", _DEFAULT_LICENSE)


def _existing(folder: Path) -> Path:
    """The nearest folder that is there, to ask git in."""
    place = folder.absolute()
    while not place.is_dir():
        place = place.parent
    return place


def _can_ask() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and is_terminal(standard_stream("stderr"))


def _ask(what: str, default: str | None) -> str:
    """Ask until there is an answer; an empty one takes the default."""
    while True:
        write_message(f"{what} [{default}]:" if default else f"{what}:")
        line = sys.stdin.readline()
        if not line:
            raise UsageError(f"{what}: expected an answer, observed the end of the input")
        answer = line.strip() or default
        if answer:
            return answer
