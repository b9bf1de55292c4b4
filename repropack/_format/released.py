"""The checker that every package carries, as released: its bytes, and the digests accepted.

``checker.py`` is packed as ``__main__.py`` and is the one thing in a package that runs when a
person runs the package. So ``check`` accepts no other.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from repropack._format.digests import digest_bytes

FORMER_CHECKERS: frozenset[str] = frozenset()
"""Digests of the checkers of earlier releases, every one ever released."""


@cache
def checker_bytes() -> bytes:
    """Return the checker that this release packs."""
    return Path(__file__).resolve().parents[1].joinpath("checker.py").read_bytes()


def is_released_checker(digest: str) -> bool:
    """Return whether ``digest`` is that of a checker that repropack ships or shipped."""
    return digest == digest_bytes(checker_bytes()) or digest in FORMER_CHECKERS
