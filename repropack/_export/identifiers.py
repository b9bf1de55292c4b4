"""The identifiers of a package as a text file, laid out as ``sha256sum`` lists digests."""

from __future__ import annotations

import re

_LINES = re.compile(rb"(swh:1:dir:[0-9a-f]{40}  source/\n)?swh:1:dir:[0-9a-f]{40}  \./\n")


def identifiers_bytes(source_swhid: str | None, content_swhid: str) -> bytes:
    r"""List the identifiers of source and whole tree, a line each with what it names.

    Args:
        source_swhid: That of ``source/``; left out where a package has none.
        content_swhid: That of the whole tree.

    Returns:
        ASCII; each line ends with a newline.

    Example:
        >>> identifiers_bytes(None, "swh:1:dir:4b825dc642cb6eb9a060e54bf8d69288fbee4904")
        b'swh:1:dir:4b825dc642cb6eb9a060e54bf8d69288fbee4904  ./\n'
    """
    source = "" if source_swhid is None else f"{source_swhid}  source/\n"
    return f"{source}{content_swhid}  ./\n".encode("ascii")


def are_identifiers(data: bytes) -> bool:
    """Whether a file is such a list and nothing more.

    Args:
        data: The file.

    Returns:
        True where it has the lines that are written, in their order.
    """
    return _LINES.fullmatch(data) is not None
