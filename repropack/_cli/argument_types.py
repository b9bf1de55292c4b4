"""What options accept beside plain text, read as argparse wants it."""

from __future__ import annotations

import argparse
import re

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")

MAX_COUNT = 1000


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


def read_count(text: str) -> int:
    """Read how often something is to be done.

    Args:
        text: What was given.

    Returns:
        The number.

    Raises:
        argparse.ArgumentTypeError: it is none from 1 to 1000.
    """
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:5]) <= MAX_COUNT:
        raise argparse.ArgumentTypeError(f"expected 1 to {MAX_COUNT}, observed {text!r:.40}")
    return int(text)


def read_steps(text: str) -> tuple[int, ...]:
    """Read steps separated by commas.

    Args:
        text: What was given.

    Returns:
        Their numbers, as given.

    Raises:
        argparse.ArgumentTypeError: it has another form.
    """
    words = [word.strip() for word in text.split(",")]
    if not all(re.fullmatch(r"[0-9]{1,9}", word, re.ASCII) for word in words):
        raise argparse.ArgumentTypeError(
            f"expected numbers of steps separated by commas, observed {text!r}"
        )
    return tuple(map(int, words))
