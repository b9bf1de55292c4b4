"""SHA-256 of bytes and of streams, written ``sha256:<64 hex>``."""

from __future__ import annotations

import hashlib
from typing import BinaryIO

BLOCK_BYTES = 1 << 20
"""How much of a stream is read at once, in bytes."""


def digest_bytes(data: bytes) -> str:
    """Digest of ``data``.

    Args:
        data: Any bytes.

    Returns:
        ``sha256:`` and 64 lower-case hexadecimal digits.

    Example:
        >>> digest_bytes(b"")[:15]
        'sha256:e3b0c442'
    """
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def digest_stream(stream: BinaryIO, max_bytes: int | None = None) -> tuple[str, int]:
    """Digest what is left in ``stream``, block by block; memory is independent of its size.

    Args:
        stream: A blocking stream; read to its end.
        max_bytes: Where it is known how many there should be: not read far beyond them.

    Returns:
        The digest, and the number of bytes read; one above ``max_bytes`` where there are more.

    Example:
        >>> from io import BytesIO
        >>> digest_stream(BytesIO(b"abc")) == (digest_bytes(b"abc"), 3)
        True
    """
    hasher = hashlib.sha256()
    size = 0
    while block := stream.read(BLOCK_BYTES):
        hasher.update(block)
        size += len(block)
        if max_bytes is not None and size > max_bytes:
            return f"sha256:{hasher.hexdigest()}", max_bytes + 1
    return f"sha256:{hasher.hexdigest()}", size
