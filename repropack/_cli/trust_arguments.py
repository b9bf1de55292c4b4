"""The arguments of ``sign``, ``certify`` and ``publish``, and those on signers and records."""

from __future__ import annotations

import argparse
from typing import Any

from repropack._cli import trust_help
from repropack._cli.arguments import add_force, add_format, add_limit, add_package, add_verb


def add_sign(verbs: Any) -> None:
    """Add ``sign``."""
    verb = add_verb(
        verbs,
        "sign",
        "sign a package or a verification record",
        trust_help.SIGN,
        trust_help.SIGN_EXAMPLES,
    )
    verb.add_argument("file", metavar="FILE", help="the package, or a record of `verify --record`")
    verb.add_argument(
        "--key",
        metavar="KEY",
        help="a private key, or the public one of a key that an agent holds (default: write the "
        "statement alone)",
    )
    verb.add_argument(
        "-o",
        "--output",
        metavar="STATEMENT",
        help="where a package's statement goes (default: FILE.intoto.json)",
    )
    add_force(verb, "the statement of another package, whose signatures are taken away")
    add_limit(verb)
    add_format(verb)


def add_certify(verbs: Any) -> None:
    """Add ``certify``."""
    verb = add_verb(
        verbs,
        "certify",
        "count what several verifications found",
        trust_help.CERTIFY,
        trust_help.CERTIFY_EXAMPLES,
    )
    add_package(verb)
    verb.add_argument(
        "records", nargs="+", metavar="RECORD", help="files that `verify --record` wrote"
    )
    add_signers(verb)
    verb.add_argument(
        "--page", metavar="PAGE", help="also write it as one self-contained HTML page"
    )
    add_force(verb, "a page that is there")
    add_limit(verb)
    add_format(verb)


def add_publish(verbs: Any) -> None:
    """Add ``publish``."""
    verb = add_verb(
        verbs,
        "publish",
        "lay out what a site shows beside an article",
        trust_help.PUBLISH,
        trust_help.PUBLISH_EXAMPLES,
    )
    add_package(verb)
    verb.add_argument("directory", metavar="DIR", help="the folder to make")
    add_force(verb, "a folder that was published before")
    add_limit(verb)
    add_format(verb)


def add_signers(verb: argparse.ArgumentParser) -> None:
    """Add the list of signers.

    Args:
        verb: The parser of a verb.
    """
    verb.add_argument(
        "--signers",
        metavar="LIST",
        help="keys that you trust, as ssh-keygen(1) has it under ALLOWED SIGNERS",
    )
    verb.add_argument(
        "--revoked", metavar="LIST", help="keys that are revoked, one a line, or a KRL"
    )


def add_required_signers(verb: argparse.ArgumentParser) -> None:
    """Add the signers that there must be.

    Args:
        verb: The parser of ``check``.
    """
    verb.add_argument(
        "--require-signer",
        dest="require_signers",
        action="append",
        default=[],
        metavar="NAME",
        help="a name of that list that must have signed, else status 1; may be given again",
    )


def add_record(verb: argparse.ArgumentParser) -> None:
    """Add the record of a verification.

    Args:
        verb: The parser of ``verify``.
    """
    verb.add_argument(
        "--record",
        metavar="RECORD",
        help="also keep what was found as a statement for `sign` and `certify`",
    )
    add_force(verb, "a report or record that is there")
