"""What verbs share of their arguments. Imports nothing but argparse and what is as light."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from repropack._cli.argument_types import read_digest, read_limit
from repropack.errors import UsageError


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps our line breaks, and writes options alike in every version of Python."""

    def add_argument(self, action: argparse.Action) -> None:
        """Leave room for the names of verbs, which stand further in than argparse reckons."""
        super().add_argument(action)
        for verb in getattr(action, "_choices_actions", ()):
            indent = self._current_indent + self._indent_increment
            self._action_max_length = max(self._action_max_length, len(verb.dest) + indent)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        metavar = self._format_args(action, str(action.metavar or action.dest.upper()))
        return f"{', '.join(action.option_strings)} {metavar}"


class Parser(argparse.ArgumentParser):
    """Raises wrong use as an error like any other, so that it can be reported like any other."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Formatter, allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=f"see `{self.prog} --help`")


def add_verb(verbs: Any, name: str, summary: str, description: str, epilog: str) -> Parser:
    verb: Parser = verbs.add_parser(name, help=summary, description=description, epilog=epilog)
    return verb


def add_package(verb: Parser) -> None:
    verb.add_argument("package", metavar="PACKAGE", help="the package: a zip or a directory")


def add_expect_digest(verb: Parser) -> None:
    verb.add_argument(
        "--expect-digest",
        type=read_digest,
        metavar="sha256:DIGEST",
        help="the package digest that it must have",
    )


def add_force(verb: argparse.ArgumentParser, what: str) -> None:
    verb.add_argument("--force", action="store_true", help=f"replace {what}")


def add_limit(verb: Parser) -> None:
    verb.add_argument(
        "--limit",
        type=read_limit,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="another value for a limit; `check --show-limits` lists them",
    )


def add_format(verb: Parser) -> None:
    verb.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="text for people, or one JSON document that names its schema (default: text)",
    )
