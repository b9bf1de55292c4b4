"""The one clock can be stopped."""

from __future__ import annotations

import re

import pytest

from repropack._run.clock import present_moment
from repropack.errors import UsageError


@pytest.mark.parametrize(
    ("stated", "moment"),
    [
        ("0", "1970-01-01T00:00:00Z"),
        ("1796000000", "2026-11-30T00:53:20Z"),
        ("999999999999", "9999-12-31T23:59:59Z"),
    ],
)
def test_a_stated_moment_is_used(monkeypatch: pytest.MonkeyPatch, stated: str, moment: str) -> None:
    """So that a record can come out the same again."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", stated)
    assert present_moment() == moment


@pytest.mark.parametrize("stated", ["", "-1", "1.5", "now", "1" * 13])
def test_a_moment_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, stated: str) -> None:
    """Instead of another one."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", stated)
    with pytest.raises(UsageError, match="SOURCE_DATE_EPOCH: expected whole seconds"):
        present_moment()


def test_the_clock_is_used_where_nothing_is_stated() -> None:
    """To the second, in UTC."""
    assert re.fullmatch(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z", present_moment())
