"""Two versions of a text: the lines of a unified diff, in bounded work."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repropack._compare.texts import MAX_TEXT_BYTES, TextBudget


def compared(old: str, new: str, budget: TextBudget | None = None) -> tuple[str, ...]:
    change = (budget or TextBudget()).compare(old.encode(), new.encode())
    assert change is not None
    return change.lines


def numbered(*numbers: int) -> str:
    return "".join(f"line {number}\n" for number in numbers)


def test_a_changed_line_stands_between_three_lines_on_each_side() -> None:
    """Line numbers are those of the whole files, although their equal ends are not searched."""
    old, new = numbered(*range(1, 21)), numbered(*range(1, 21)).replace("line 10\n", "other\n")
    change = TextBudget().compare(old.encode(), new.encode())
    assert change is not None
    assert change.lines == (
        "@@ -7,7 +7,7 @@",
        " line 7",
        " line 8",
        " line 9",
        "-line 10",
        "+other",
        " line 11",
        " line 12",
        " line 13",
    )
    assert (change.added, change.removed, change.left_out) == (1, 1, 0)


def test_a_missing_last_line_end_shows() -> None:
    """The text after the last line end is a line of its own, if an empty one."""
    assert compared("a\n", "a") == ("@@ -1,2 +1,1 @@", " a", "-")


def patched(old: list[str], change: tuple[str, ...]) -> list[str]:
    """Apply a unified diff by its line numbers, holding each line of context against the text."""
    new: list[str] = []
    place = 0
    for line in change:
        if line.startswith("@@"):
            start, count = map(int, line.split()[1].removeprefix("-").split(","))
            first = start - 1 if count else start
            new += old[place:first]
            place = first
        elif line.startswith("+"):
            new.append(line[1:])
        else:
            assert old[place] == line[1:]
            new += [line[1:]] if line.startswith(" ") else []
            place += 1
    return new + old[place:]


TEXTS = st.lists(st.sampled_from("abc"), min_size=1, max_size=40).map("\n".join)


@given(TEXTS, TEXTS)
def test_the_lines_turn_one_text_into_the_other(old: str, new: str) -> None:
    """A unified diff is a patch: applied to the old text it gives the new one."""
    change = TextBudget(shown_each=1000).compare(old.encode(), new.encode())
    assert change is not None
    assert "\n".join(patched(old.split("\n"), change.lines)) == new


def test_each_diff_and_all_together_have_room_for_so_many_lines() -> None:
    """What finds no room is counted; added and removed lines count all."""
    budget = TextBudget(shown=5, shown_each=4)
    old, new = numbered(*range(8)).encode(), numbered(*range(100, 108)).encode()
    first, second, third = (budget.compare(old, new) for _ in range(3))
    assert first is not None
    assert second is not None
    assert third is not None
    assert [len(change.lines) for change in (first, second, third)] == [4, 1, 0]
    assert [change.left_out for change in (first, second, third)] == [14, 17, 18]
    assert [(change.added, change.removed) for change in (first, third)] == [(8, 8), (8, 8)]


def test_a_long_line_is_cut() -> None:
    """A line is shown to its 500th character, the sign before it included."""
    assert [len(line) for line in compared("a" * 900, "b" * 900)] == [15, 500, 500]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"\xff", b"text"),
        (b"text", b"\x00"),
        (b"a" * (MAX_TEXT_BYTES + 1), b"a"),
        (b"a\n" * 1001, b"b\n" * 1001),
    ],
    ids=["not-utf-8", "nul", "too-long", "too-many-lines"],
)
def test_some_files_are_not_compared_by_lines(old: bytes, new: bytes) -> None:
    """They are no text, or it would take too long."""
    assert TextBudget().compare(old, new) is None


def test_many_texts_share_one_budget() -> None:
    """What was searched of one text is gone for the next; equal ends cost nothing."""
    budget = TextBudget(searched=3)
    same = numbered(*range(5000))
    assert compared(f"{same}a\nb", f"{same}c\nd", budget)[0] == "@@ -4998,5 +4998,5 @@"
    assert budget.searched == 1
    assert budget.compare(b"a\nb", b"c\nd") is None
    assert compared("a", "b", budget) == ("@@ -1,1 +1,1 @@", "-a", "+b")
