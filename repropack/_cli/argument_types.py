"""What options accept beside plain text, read as argparse wants it."""

from __future__ import annotations

import argparse
import re

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def read_limit(text: str) -> tuple[str, int]:
    """Read ``NAME=VALUE`` of ``--limit``.

    Args:
        text: What was given.

    Returns:
        Name and value.

    Raises:
        argparse.ArgumentTypeError: it has another form.
    """
    name, _, value = text.partition("=")
    if not re.fullmatch(r"[1-9][0-9]{0,17}", value, re.ASCII):
        raise argparse.ArgumentTypeError(
            f"expected NAME=VALUE with a whole number from 1 on, observed {text!r}"
        )
    return name, int(value)


def read_names(text: str) -> tuple[str, ...]:
    """Read names separated by commas.

    Args:
        text: What was given.

    Returns:
        The names, each without spaces around it.

    Raises:
        argparse.ArgumentTypeError: it has another form.
    """
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise argparse.ArgumentTypeError(
            "expected names separated by commas, observed an empty one"
        )
    return names


def read_input(text: str) -> tuple[str, str]:
    """Read ``NAME=PATH`` of ``--input``.

    Args:
        text: What was given.

    Returns:
        Name and path.

    Raises:
        argparse.ArgumentTypeError: it has another form.
    """
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise argparse.ArgumentTypeError(f"expected NAME=PATH, observed {text!r}")
    return name, path


def read_digest(text: str) -> str:
    """Read a digest as it is printed.

    Args:
        text: What was given.

    Returns:
        The text.

    Raises:
        argparse.ArgumentTypeError: it has another form.
    """
    if not _DIGEST.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"expected `sha256:` and 64 lower-case hexadecimal digits, observed {text!r}"
        )
    return text
