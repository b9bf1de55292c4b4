"""Families of alike cases, of which ordinary runs take a part: those that cost most time.

``REPROPACK_EVERY_CASE=1`` takes all of each. Which part is taken is the same in every run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

Case = TypeVar("Case")

EVERY_CASE = bool(os.environ.get("REPROPACK_EVERY_CASE"))


def part_of(cases: Iterable[Case], every: int = 2) -> list[Case]:
    """The first of each ``every`` cases, or all of them where all are asked for."""
    return list(cases)[:: 1 if EVERY_CASE else every]
