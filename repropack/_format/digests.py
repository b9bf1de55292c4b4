"""SHA-256 of bytes and of streams, written ``sha256:<64 hex>``."""

from __future__ import annotations

import hashlib
from typing import BinaryIO

BLOCK_BYTES = 1 << 20


def digest_bytes(data: bytes) -> str:
    """Digest of ``data``.

    Example:
        >>> digest_bytes(b"")[:15]
        'sha256:e3b0c442'
    """
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def digest_stream(stream: BinaryIO) -> tuple[str, int]:
    """Digest and size in bytes of what is left in ``stream``, read in blocks of 1 MiB."""
    hasher = hashlib.sha256()
    size = 0
    while block := stream.read(BLOCK_BYTES):
        hasher.update(block)
        size += len(block)
    return f"sha256:{hasher.hexdigest()}", size
