"""The mark by which a figure that we wrote beside a package is known again, unchanged since.

A seal names the digest of all other bytes of the figure. So no figure of anybody else has one, and
one that was edited has it no longer. Figures in packages have none: the manifest lists their
digests.
"""

from __future__ import annotations

import struct
import zlib

from repropack._format.digests import digest_bytes

_PNG_HEAD_BYTES = 33
"""Signature and the chunk ``IHDR``, which is always the first."""
_SEAL_BYTES = len("repropack ") + len(digest_bytes(b""))


def seal_png(figure: bytes) -> bytes:
    """Add the seal as a text chunk, ``Software``, behind ``IHDR`` (PNG, third edition, 11.3.3).

    Args:
        figure: A PNG without a seal.

    Returns:
        The PNG with it; the picture is the same.
    """
    content = b"tEXt" + b"Software\x00" + _seal(figure)
    chunk = struct.pack(">I", len(content) - 4) + content + struct.pack(">I", zlib.crc32(content))
    return figure[:_PNG_HEAD_BYTES] + chunk + figure[_PNG_HEAD_BYTES:]


def is_sealed_png(figure: bytes) -> bool:
    """Whether bytes are a PNG that was sealed and not changed since."""
    end = _PNG_HEAD_BYTES + 12 + len("Software\x00") + _SEAL_BYTES
    bare = figure[:_PNG_HEAD_BYTES] + figure[end:]
    return figure.startswith(b"\x89PNG\r\n\x1a\n") and figure == seal_png(bare)


def seal_svg(figure: bytes) -> bytes:
    """Add the seal as a comment at the end.

    Args:
        figure: An SVG without a seal.

    Returns:
        The SVG with it; the picture is the same.
    """
    return figure + b"<!-- " + _seal(figure) + b" -->\n"


def is_sealed_svg(figure: bytes) -> bool:
    """Whether bytes are an SVG that was sealed and not changed since."""
    comment = len("<!--  -->\n") + _SEAL_BYTES
    return figure.startswith(b"<?xml ") and figure == seal_svg(figure[:-comment])


def _seal(figure: bytes) -> bytes:
    return f"repropack {digest_bytes(figure)}".encode("ascii")
