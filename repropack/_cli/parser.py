"""The arguments and the help. Imports nothing but argparse, so that ``--help`` is instant."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any

from repropack import __version__
from repropack._cli import help_texts
from repropack._cli.argument_types import read_names
from repropack._cli.arguments import (
    Parser,
    add_expect_digest,
    add_format,
    add_limit,
    add_package,
    add_verb,
)
from repropack._cli.audit_arguments import add_audit_arguments
from repropack._cli.claims_arguments import add_proofread, add_values
from repropack._cli.export_arguments import add_export_arguments
from repropack._cli.export_help import EXPORT, EXPORT_EXAMPLES
from repropack._cli.page_arguments import add_report
from repropack._cli.run_options import add_confinement, add_zoom
from repropack._cli.status import MEANINGS
from repropack._cli.trust_arguments import (
    add_certify,
    add_publish,
    add_record,
    add_required_signers,
    add_sign,
    add_signers,
)
from repropack.errors import UsageError

_DASHES_GIVEN = re.compile(r"(?P<option>--[a-z][a-z-]*(?==)|-[a-z])=?--")


def build_parser() -> argparse.ArgumentParser:
    """Make the parser of the whole command line.

    Returns:
        A parser that raises ``UsageError`` for wrong use.
    """
    statuses = "\n".join(f"  {status:<4} {text}" for status, text in MEANINGS.items())
    parser = Parser(
        prog="repropack",
        description=help_texts.DESCRIPTION,
        epilog=f"exit status:\n{statuses}\n\n{help_texts.EXAMPLE}",
    )
    parser.add_argument("--version", action="version", version=f"repropack {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", title="verbs", required=True)
    for add in (
        _add_init,
        _add_build,
        _add_check,
        _add_verify,
        _add_inspect,
        _add_lint,
        _add_diff,
        _add_audit,
        add_values,
        add_proofread,
        _add_unpack,
        add_report,
        add_sign,
        add_certify,
        add_publish,
        _add_export,
        _add_schema,
    ):
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
    _refuse_bare_dashes(arguments)
    parsed, others = build_parser().parse_known_args(arguments)
    if parsed.verb == "unpack" and not any(other.startswith("-") for other in others):
        parsed.entries += others  # argparse gives up on ENTRY where an option stands before it
        others = []
    problem = f"unrecognized arguments: {' '.join(others)}" if others else _check_problem(parsed)
    if problem is not None:
        raise UsageError(problem, hint=f"see `repropack {parsed.verb} --help`")
    return parsed


def _refuse_bare_dashes(arguments: Sequence[str]) -> None:
    """``--option=--`` names no value: some versions of argparse make an empty list of it."""
    for argument in arguments:
        if argument == "--":
            return
        given = _DASHES_GIVEN.fullmatch(argument)
        if given is not None:
            option = given["option"]
            raise UsageError(
                f"argument {option}: expected a value, observed '--'",
                hint="a file of this name is `./--`",
            )


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


def _add_init(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "init",
        "begin a project, or one around a script",
        help_texts.INIT,
        help_texts.INIT_EXAMPLES,
    )
    verb.add_argument("directory", metavar="DIR", help="the project folder; made if need be")
    verb.add_argument("--script", metavar="FILE", help="a Python or shell script to make it around")
    verb.add_argument("--author", metavar="NAME", help="name of the author")
    verb.add_argument(
        "--license", metavar="SPDX", help="such as MIT, BSD-3-Clause, Apache-2.0 or CC0-1.0"
    )
    verb.add_argument("--name", help="name of the package (default: that of the folder)")
    verb.add_argument("--title", help="its title (default: made of the name)")
    for option, what in (("--input", "reads"), ("--output", "writes")):
        verb.add_argument(
            option,
            action="append",
            default=[],
            metavar="PATTERN",
            help=f"files that the script {what}; may be given again (default: as found)",
        )
    add_format(verb)


def _add_build(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "build",
        "run a project, record it and write a package",
        help_texts.BUILD,
        help_texts.BUILD_EXAMPLES,
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
    verb.add_argument(
        "--force",
        action="store_true",
        help="replace an existing package; not by other evidence under its version",
    )
    verb.add_argument("--directory", action="store_true", help="write a directory instead of a zip")
    verb.add_argument(
        "--compress",
        action="store_true",
        help="deflate the zip's entries; its bytes then depend on the zlib in use",
    )
    verb.add_argument(
        "--lock",
        action="store_true",
        help="lock the distributions of this environment, with digests of their files",
    )
    verb.add_argument(
        "--with-wheels",
        action="store_true",
        help="pack their wheels as well, to install from without an index; implies --lock",
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
    add_format(verb)


def _add_check(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "check",
        "look at everything, run nothing",
        help_texts.CHECK,
        help_texts.CHECK_EXAMPLES,
    )
    verb.add_argument(
        "package", metavar="PACKAGE", nargs="?", help="the package: a zip or a directory"
    )
    verb.add_argument(
        "--show-limits", action="store_true", help="print the limits and their meaning; no PACKAGE"
    )
    verb.add_argument("--fast", action="store_true", help="compare the entries' digests only")
    add_expect_digest(verb)
    add_signers(verb)
    add_required_signers(verb)
    add_limit(verb)
    add_format(verb)


def _add_verify(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "verify",
        "check, run again, compare byte for byte",
        help_texts.VERIFY,
        help_texts.VERIFY_EXAMPLES,
    )
    add_package(verb)
    verb.add_argument(
        "--runs",
        type=read_names,
        metavar="NAME,NAME",
        help="runs to execute, `reference` or a comparison's name (default: all)",
    )
    verb.add_argument(
        "--notebook", action="store_true", help="execute the notebook again as well, and compare it"
    )
    verb.add_argument(
        "--recreate-env",
        action="store_true",
        help="install what its lock names, and run there instead of in the present environment",
    )
    verb.add_argument(
        "--no-zoom",
        dest="zoom",
        action="store_false",
        help="do not look at the elements of the step at which a run parts",
    )
    add_confinement(verb, "the package digest of the one package that may run unconfined")
    verb.add_argument(
        "--report", metavar="FILE", help="also keep the report as JSON, whatever the verdict"
    )
    add_record(verb)
    add_expect_digest(verb)
    add_limit(verb)
    add_format(verb)


def _add_inspect(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "inspect",
        "show what a package holds",
        help_texts.INSPECT,
        help_texts.INSPECT_EXAMPLES,
    )
    add_package(verb)
    add_limit(verb)
    add_format(verb)


def _add_lint(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "lint",
        "say what reviewers will miss, run nothing",
        help_texts.LINT,
        help_texts.LINT_EXAMPLES,
    )
    verb.add_argument(
        "subject",
        metavar="PROJECT|PACKAGE",
        help="folder with a repropack.toml, that file, or a package",
    )
    add_limit(verb)
    add_format(verb)


def _add_diff(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "diff",
        "say where one run parts from another, or what changed",
        help_texts.DIFF,
        help_texts.DIFF_EXAMPLES,
    )
    side = "a package, a run in one (PACKAGE::RUN), a fingerprint log, or an npz or npy file"
    verb.add_argument("left", metavar="LEFT", help=f"what is expected: {side}")
    verb.add_argument("right", metavar="RIGHT", help=f"what is held against it: {side}")
    verb.add_argument(
        "--fast",
        action="store_true",
        help="of runs and logs: believe the recorded chains, and find the first divergence alone",
    )
    add_zoom(verb)
    add_limit(verb)
    add_format(verb)


def _add_audit(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "audit",
        "say which state determines the next step",
        help_texts.AUDIT,
        help_texts.AUDIT_EXAMPLES,
    )
    add_audit_arguments(verb)
    add_format(verb)


def _add_unpack(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "unpack",
        "write its entries as plain files",
        help_texts.UNPACK,
        help_texts.UNPACK_EXAMPLES,
    )
    add_package(verb)
    verb.add_argument("directory", metavar="DIR", help="the folder to make")
    verb.add_argument("entries", nargs="*", metavar="ENTRY", help="entries to write (default: all)")
    verb.add_argument(
        "--force", action="store_true", help="replace a package there, if nobody edited it"
    )
    add_limit(verb)
    add_format(verb)


def _add_export(verbs: Any) -> None:
    summary = "write what an archive wants of it"
    verb = add_verb(verbs, "export", summary, EXPORT, EXPORT_EXAMPLES)
    add_package(verb)
    add_export_arguments(verb)
    add_limit(verb)
    add_format(verb)


def _add_schema(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "schema",
        "print a JSON Schema, or their names",
        help_texts.SCHEMA,
        help_texts.SCHEMA_EXAMPLES,
    )
    verb.add_argument("name", nargs="?", metavar="NAME", help="such as `manifest`")
