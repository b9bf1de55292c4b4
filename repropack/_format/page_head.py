"""The first lines of a package's page, by which a reader knows which version made it."""

from __future__ import annotations

import re
from typing import Final

_BEFORE: Final = (
    b'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    b'<meta name="generator" content="repropack '
)
_AFTER: Final = b'">\n'
_HEAD: Final = re.compile(
    re.escape(_BEFORE) + rb"([A-Za-z0-9][A-Za-z0-9.+-]{0,63})" + re.escape(_AFTER)
)
MAX_HEAD_BYTES: Final = len(_BEFORE) + 64 + len(_AFTER)
"""How much of a page has to be read to know its version."""


def page_head(version: str) -> bytes:
    """The first lines of a page.

    Args:
        version: The version of repropack that makes it.

    Returns:
        What every page of this format begins with (docs/format.md, 1.11).
    """
    return _BEFORE + version.encode("ascii") + _AFTER


def page_version(begin: bytes) -> str | None:
    """The version of repropack that a page says it was made by.

    Args:
        begin: The page, or its first ``MAX_HEAD_BYTES``.

    Returns:
        The version, ``None`` where it does not begin as a page must.

    Example:
        >>> page_version(page_head("0.1.0") + b"...")
        '0.1.0'
    """
    found = _HEAD.match(begin)
    return found[1].decode("ascii") if found is not None else None
