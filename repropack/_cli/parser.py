"""The arguments and the help. Imports nothing but argparse, so that ``--help`` is instant."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from repropack import __version__
from repropack._cli.status import MEANINGS
from repropack.errors import UsageError

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")

_DESCRIPTION = """\
Build and verify reproducibility packages: one file that holds an experiment, what it
recorded, and what is needed to run it again and compare every step byte for byte.
"""
_EXAMPLE = """\
example:
  repropack build -o lab.zip      run the built-in replay lab and pack what it recorded
  repropack check lab.zip         is it intact? runs nothing
  repropack verify lab.zip        run it again here: identical, or where did it part?
"""

_BUILD = """\
Run a project's plan, record a fingerprint of every step, hold each comparison against
the reference, and write the package. Without PROJECT it runs the built-in replay lab.

A package is written whole or not at all, and built twice in one environment it is the
same file. A failed expectation ends with status 1; the package is written all the same.
A build that is interrupted keeps what it recorded up to the last checkpoint, beside FILE:
--resume continues it, and the package is the same file as that of an uninterrupted build.
"""
_BUILD_EXAMPLES = """\
examples:
  repropack build                           the replay lab, as replay-lab-1.0.0.zip
  repropack build examples/replay-lab -o lab.zip --force
  repropack build examples/replay-lab -o lab.zip --resume    after an interruption
"""
_CHECK = """\
Look at everything in a package without running anything of it: the form of the
container, schemas, digests, log chains, array fingerprints, and whether the stored
results follow from the stored logs. Hostile files are read under stated limits.
"""
_CHECK_EXAMPLES = """\
examples:
  repropack check lab.zip
  repropack check lab.zip --expect-digest sha256:DIGEST     is it the one that was published?
  repropack check lab.zip --fast                            digests of the entries only
"""
_VERIFY = """\
Check a package, then run its experiment again and compare with what it recorded: the
reference from its beginning, resumes from their checkpoints, comparisons under their
interventions. The verdict comes first, then the evidence: identical, differs, damaged or
could-not-run. The package itself is only read.

Code that repropack does not ship is foreign: it runs without network, without your files,
under limits, or it does not run (status 4).
"""
_VERIFY_EXAMPLES = """\
examples:
  repropack verify lab.zip
  repropack verify lab.zip --runs reference,full-checkpoint
  repropack verify lab.zip --report verification.json
"""
_INSPECT = """\
Show what a package holds: who made it, its digests, the experiment, its runs and what
was found. It reads and runs nothing; `repropack check` tells whether it is intact.
"""
_INSPECT_EXAMPLES = """\
example:
  repropack inspect lab.zip
"""
_UNPACK = """\
Write a package, or some of its entries, as plain files into a new folder. Every digest
is checked before anything is written.
"""
_UNPACK_EXAMPLES = """\
examples:
  repropack unpack lab.zip lab
  repropack unpack lab.zip source source/replay_lab.py
"""
_SCHEMA = """\
Print the JSON Schema of a document, or the names of all schemas without NAME.
"""
_SCHEMA_EXAMPLES = """\
examples:
  repropack schema
  repropack schema verification-report
"""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps our line breaks, and writes options alike in every version of Python."""

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        metavar = self._format_args(action, str(action.metavar or action.dest.upper()))
        return f"{', '.join(action.option_strings)} {metavar}"


class _Parser(argparse.ArgumentParser):
    """Raises wrong use as an error like any other, so that it can be reported like any other."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Formatter, allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=f"see `{self.prog} --help`")


def build_parser() -> argparse.ArgumentParser:
    """Make the parser of the whole command line.

    Returns:
        A parser that raises ``UsageError`` for wrong use.
    """
    statuses = "\n".join(f"  {status:<4} {text}" for status, text in MEANINGS.items())
    parser = _Parser(
        prog="repropack",
        description=_DESCRIPTION,
        epilog=f"exit status:\n{statuses}\n\n{_EXAMPLE}\n`repropack VERB --help` tells more.",
    )
    parser.add_argument("--version", action="version", version=f"repropack {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs", required=True)
    for add in (_add_build, _add_check, _add_verify, _add_inspect, _add_unpack, _add_schema):
        add(verbs)
    return parser


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse one command line.

    Args:
        arguments: The arguments without the program's name.

    Returns:
        The verb in ``verb``, its options under their own names.

    Raises:
        UsageError: wrong use.
    """
    parsed, others = build_parser().parse_known_args(arguments)
    if parsed.verb == "unpack" and not any(other.startswith("-") for other in others):
        parsed.entries += others  # argparse gives up on ENTRY where an option stands before it
        others = []
    problem = f"unrecognized arguments: {' '.join(others)}" if others else _check_problem(parsed)
    if problem is not None:
        raise UsageError(problem, hint=f"see `repropack {parsed.verb} --help`")
    return parsed


def _check_problem(parsed: argparse.Namespace) -> str | None:
    """``check`` needs a package, unless it only shows the limits."""
    if parsed.verb != "check" or (parsed.package is None) == parsed.show_limits:
        return None
    if parsed.package is None:
        return "the following arguments are required: PACKAGE"
    return "--show-limits: expected no PACKAGE"


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether ``--format json`` is among arguments that could not be parsed."""
    chosen = ""
    for position, argument in enumerate(arguments):
        if argument == "--":
            break
        if argument == "--format" and position + 1 < len(arguments):
            chosen = arguments[position + 1]
        elif argument.startswith("--format="):
            chosen = argument.removeprefix("--format=")
    return chosen == "json"


def _add_build(verbs: Any) -> None:
    verb = _add(
        verbs, "build", "run a project, record it and write a package", _BUILD, _BUILD_EXAMPLES
    )
    verb.add_argument(
        "project", nargs="?", metavar="PROJECT", help="folder with a repropack.toml, or the file"
    )
    verb.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the package to write (default: NAME-VERSION.zip here)",
    )
    verb.add_argument("--force", action="store_true", help="replace an existing package")
    verb.add_argument("--directory", action="store_true", help="write a directory instead of a zip")
    verb.add_argument(
        "--compress",
        action="store_true",
        help="deflate the zip's entries; its bytes then depend on the zlib in use",
    )
    verb.add_argument(
        "--unexecuted-notebook",
        action="store_true",
        help="pack the notebook without running it, which repeats every run",
    )
    left_over = verb.add_mutually_exclusive_group()
    left_over.add_argument(
        "--resume",
        dest="left_over",
        action="store_const",
        const="resume",
        default="refuse",
        help="continue an interrupted build of FILE from its last checkpoint",
    )
    left_over.add_argument(
        "--discard",
        dest="left_over",
        action="store_const",
        const="discard",
        default="refuse",
        help="remove what an interrupted build of FILE left, and begin again",
    )
    _add_format(verb)


def _add_check(verbs: Any) -> None:
    verb = _add(verbs, "check", "look at everything, run nothing", _CHECK, _CHECK_EXAMPLES)
    verb.add_argument(
        "package", metavar="PACKAGE", nargs="?", help="the package: a zip or a directory"
    )
    verb.add_argument(
        "--show-limits", action="store_true", help="print the limits and their meaning; no PACKAGE"
    )
    verb.add_argument("--fast", action="store_true", help="compare the entries' digests only")
    _add_expect_digest(verb)
    _add_limit(verb)
    _add_format(verb)


def _add_verify(verbs: Any) -> None:
    verb = _add(
        verbs, "verify", "check, run again, compare byte for byte", _VERIFY, _VERIFY_EXAMPLES
    )
    _add_package(verb)
    verb.add_argument(
        "--runs",
        type=_names,
        metavar="NAME,NAME",
        help="runs to execute, `reference` or a comparison's name (default: all)",
    )
    verb.add_argument(
        "--notebook", action="store_true", help="execute the notebook again as well, and compare it"
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
    verb.add_argument(
        "--trust",
        type=_digest,
        metavar="sha256:DIGEST",
        help="the package digest of the one package that may run unconfined",
    )
    verb.add_argument(
        "--report", metavar="FILE", help="also keep the report as JSON, whatever the verdict"
    )
    _add_expect_digest(verb)
    _add_limit(verb)
    _add_format(verb)


def _add_inspect(verbs: Any) -> None:
    verb = _add(verbs, "inspect", "show what a package holds", _INSPECT, _INSPECT_EXAMPLES)
    _add_package(verb)
    _add_limit(verb)
    _add_format(verb)


def _add_unpack(verbs: Any) -> None:
    verb = _add(verbs, "unpack", "write its entries as plain files", _UNPACK, _UNPACK_EXAMPLES)
    _add_package(verb)
    verb.add_argument("directory", metavar="DIR", help="the folder to make")
    verb.add_argument("entries", nargs="*", metavar="ENTRY", help="entries to write (default: all)")
    verb.add_argument("--force", action="store_true", help="replace an existing folder")
    _add_limit(verb)
    _add_format(verb)


def _add_schema(verbs: Any) -> None:
    verb = _add(verbs, "schema", "print a JSON Schema, or their names", _SCHEMA, _SCHEMA_EXAMPLES)
    verb.add_argument("name", nargs="?", metavar="NAME", help="such as `manifest`")


def _add(verbs: Any, name: str, summary: str, description: str, epilog: str) -> _Parser:
    verb: _Parser = verbs.add_parser(name, help=summary, description=description, epilog=epilog)
    return verb


def _add_package(verb: _Parser) -> None:
    verb.add_argument("package", metavar="PACKAGE", help="the package: a zip or a directory")


def _add_expect_digest(verb: _Parser) -> None:
    verb.add_argument(
        "--expect-digest",
        type=_digest,
        metavar="sha256:DIGEST",
        help="the package digest that it must have",
    )


def _add_limit(verb: _Parser) -> None:
    verb.add_argument(
        "--limit",
        type=_limit,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="another value for a limit; `check --show-limits` lists them",
    )


def _limit(text: str) -> tuple[str, int]:
    name, _, value = text.partition("=")
    if not re.fullmatch(r"[1-9][0-9]{0,17}", value, re.ASCII):
        raise argparse.ArgumentTypeError(
            f"expected NAME=VALUE with a whole number from 1 on, observed {text!r}"
        )
    return name, int(value)


def _add_format(verb: _Parser) -> None:
    verb.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="text for people, or one JSON document that names its schema (default: text)",
    )


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise argparse.ArgumentTypeError(
            "expected names separated by commas, observed an empty one"
        )
    return names


def _digest(text: str) -> str:
    if not _DIGEST.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"expected `sha256:` and 64 lower-case hexadecimal digits, observed {text!r}"
        )
    return text
