"""Where in a document an issue lies, and what it is, in a line."""

from __future__ import annotations

from collections.abc import Iterable

_MAX_CHARACTERS = 200


def pointer(path: Iterable[object]) -> str:
    """Return the JSON Pointer (RFC 6901) of a place.

    Args:
        path: Keys and indices from the document's root.

    Returns:
        The pointer; empty for the document itself.

    Example:
        >>> pointer(["a/b", 0])
        '/a~1b/0'
    """
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


def shortened(text: str) -> str:
    """Return a text as one line of at most 200 characters and an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= _MAX_CHARACTERS else f"{line[:_MAX_CHARACTERS]}..."
