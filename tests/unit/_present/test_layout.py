"""Lines fit the page, whatever is laid out in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repropack._present.layout import (
    WIDTH,
    cells,
    command_text,
    experiment_text,
    field,
    join_names,
    listing,
    number,
    plural,
    short_number,
    size,
    step_range,
    table,
    wrap,
)
from tests.support import reports

WORDS = st.text(st.sampled_from("ab漢 "), max_size=300)


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("abc", 3), ("漢字", 4), ("e\u0301", 1), ("\uff21\uff22", 4)]
)
def test_cells_are_columns_of_a_terminal(text: str, width: int) -> None:
    """Wide characters take two columns, combining marks none."""
    assert cells(text) == width


@given(WORDS, st.integers(0, 60))
def test_wrapped_lines_fit(text: str, indent: int) -> None:
    """No line is wider than the page, and no character but spaces is lost."""
    lines = wrap(text, first=" " * indent)
    assert all(cells(line) <= WIDTH for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_a_field_hangs_beside_its_label() -> None:
    """Lines after the first begin where the text of the first began."""
    assert field("scope:", "word " * 20) == [
        "scope:            " + " ".join(["word"] * 16),
        "                  " + " ".join(["word"] * 4),
    ]


def test_a_table_aligns_its_columns() -> None:
    """Headings of two lines stand at the bottom; numbers are aligned to the right."""
    assert table(["run", "log\nlines"], [["a", "7"], ["漢字", "100"]], right=(1,)) == [
        "        log",
        "run   lines",
        "a         7",
        "漢字    100",
    ]


def test_a_table_that_does_not_fit_becomes_blocks() -> None:
    """Rows that are wider than the page are written one below the other."""
    assert table(["run", "first\ndivergence"], [["a" * 60, "b" * 60]]) == [
        "a" * 60,
        "  first divergence: " + "b" * 60,
    ]


def test_long_lists_are_counted() -> None:
    """What is not shown is counted, so that nothing is dropped in silence."""
    assert listing(["a", "b", "c"], at_most=2) == ["- a", "- b", "- and 1 more"]
    assert join_names(["a", "b", "c"], at_most=2) == "a, b, 1 more"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0214672945992594, "0.0214672945992594"),
        (7, "7"),
        (True, "True"),
        ({"$float": "nan"}, "nan"),
        ({"$int": "9007199254740993"}, "9007199254740993"),
        ({"real": "1.0", "imaginary": "-2.0"}, "1.0 + -2.0 i"),
        ({"$float": "\x1b[2J"}, "\\x1b[2J"),
    ],
)
def test_numbers_are_shown_in_full(value: object, shown: str) -> None:
    """A number is written as it is stored; an encoded one as what it stands for."""
    assert number(value) == shown


def test_short_numbers_and_counts() -> None:
    """Three digits in a table, and the right form of a noun beside a count."""
    assert short_number(1.1920928955078125e-07) == "1.19e-07"
    assert short_number({"$float": "inf"}) == "inf"
    assert [plural(1, "entry", "entries"), plural(2, "entry", "entries")] == [
        "1 entry",
        "2 entries",
    ]
    assert plural(0, "step") == "0 steps"
    assert [step_range(41, 100), step_range(41, 40)] == ["41..100", "none"]


@pytest.mark.parametrize(
    ("size_bytes", "shown"),
    [
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (565_700, "565.7 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (5 * 10**12, "5.0 TB"),
        (5 * 10**15, "5000.0 TB"),
    ],
)
def test_sizes_have_their_unit(size_bytes: int, shown: str) -> None:
    """Sizes are given in decimal units."""
    assert size(size_bytes) == shown


def test_a_command_is_told_as_the_reference_runs_it() -> None:
    """Seed and configuration filled in; a name that no plan knows stands as it is."""
    words = ("python", "a b.py", "--seed", "{seed}", "--n={config.n}", "{{}}", "{other}")
    experiment = reports.plan().experiment.model_copy(
        update={"entry_point": None, "command": words, "seed": 3, "config": {"n": 400}}
    )
    told = "python 'a b.py' --seed 3 --n=400 '{}' '{other}'"
    assert experiment_text(experiment) == told
    assert command_text(words[:4], experiment) == "python 'a b.py' --seed 3"
