"""Equality of files, told in a line where it fails: pytest would print both files whole."""

from __future__ import annotations

import hashlib
from pathlib import Path


def assert_same_bytes(observed: Path | bytes, expected: Path | bytes, told: str = "") -> None:
    """Hold two files, or what they should hold, against each other byte for byte."""
    left, right = (it if isinstance(it, bytes) else it.read_bytes() for it in (observed, expected))
    if left == right:
        return
    first = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), None)
    place = min(len(left), len(right)) if first is None else first
    sizes = f"{len(left)} bytes ({digest(left)}) and {len(right)} ({digest(right)})"
    raise AssertionError(f"{told or 'files'} differ from byte {place} on: {sizes}")


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]
