"""Names in a figure are whole where they can be, fit where they cannot, and stay text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repropack._compare.series import RunSeries
from repropack._present.figure_words import heading_of, shown, wrapped


@pytest.mark.parametrize(
    ("text", "at_most", "expected"),
    [
        ("weights", 8, "weights"),
        ("reversed-reduction", 12, "reve...tion"),
        ("$x$", 9, "$x$"),
        ("中\u202e", 20, "\\u4e2d\\u202e"),
        ("a\nb", 9, "a\\x0ab"),
        ("WWWWWWWW", 9, "W...W"),
    ],
)
def test_names_are_text_of_a_width(text: str, at_most: int, expected: str) -> None:
    assert shown(text, at_most) == expected


@given(st.text(max_size=500), st.integers(8, 80))
def test_whatever_is_shown_is_printable_and_fits(text: str, at_most: int) -> None:
    result = shown(text, at_most)
    assert len(result) <= at_most
    assert result.isascii()
    assert result == "" or result.isprintable()


def test_a_long_name_is_shown_whole_in_the_heading() -> None:
    """As long as a run's name may be."""
    name = "-".join(["comparison"] * 6)[:64]
    lines = heading_of(12, RunSeries(name, 5, 4, "weights", (), (), ()))
    assert len(lines) == 2
    assert "".join(lines).replace(" ", "") == f"12{name},resumedafterstep4"


def test_text_breaks_at_spaces() -> None:
    assert wrapped("", 20) == ("",)
    assert wrapped("one two three four", 10) == ("one two", "three four")
