"""Patterns in words: what evidence is consistent with, and what it excludes."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from repropack._present.layout import WIDTH, cells
from repropack._present.patterns import PATTERN_WORDS, pattern_lines, pattern_text
from repropack.models.patterns import Pattern, PatternId


def pattern(name: Any, *, consistent: bool = True, **changes: Any) -> Pattern:
    return Pattern(id=name, consistent=consistent, **({"because": ("it is so",)} | changes))


ORDER = pattern("other-order", names=("gradient",), because=("inputs are equal", "so it is"))
BEGINNING = pattern("other-beginning", consistent=False)


def test_every_pattern_has_words() -> None:
    """One for each id, in their order."""
    assert tuple(PATTERN_WORDS) == get_args(PatternId)


def test_a_pattern_is_followed_by_its_names_its_id_and_the_evidence() -> None:
    """Evidence stands behind the colon, and never makes a sentence with the pattern."""
    assert pattern_text(ORDER) == (
        "another order or rounding of an operation (gradient) [other-order]: inputs are equal; "
        "so it is"
    )


def test_an_output_is_named_as_people_know_it() -> None:
    """A command's stages are its outputs."""
    found = pattern("other-order", names=("output:out/a%20b.npz:loss",))
    assert "(output out/a b.npz · loss) [other-order]" in pattern_text(found)


def test_what_is_consistent_comes_before_what_is_not() -> None:
    """One field a pattern; the label stands before the first."""
    assert pattern_lines([ORDER, pattern("other-form"), BEGINNING]) == [
        (
            "consistent with:  another order or rounding of an operation (gradient) [other-order]: "
            "inputs are"
        ),
        "                  equal; so it is",
        "                  another type or shape [other-form]: it is so",
        (
            "not with:         another beginning: other constants, first state or batch "
            "[other-beginning]: it is"
        ),
        "                  so",
    ]


def test_another_environment_comes_first() -> None:
    """Before an operation is suspected, the environment is; of nothing it is not said."""
    lines = pattern_lines([ORDER], environment_differs=True)
    assert lines[0] == "consistent with:  the other environment (above)"
    assert pattern_lines([BEGINNING], environment_differs=True)[0].startswith("not with:")
    assert pattern_lines([], environment_differs=True) == []


@pytest.mark.parametrize(
    "name", ["signed-zero-or-nan", "other-form", "equal-when-printed", "extra-draws"]
)
def test_what_elements_show_is_not_excluded_again(name: str) -> None:
    """The JSON form has them all; nor are generators told that are all equal."""
    assert pattern_lines([pattern(name, consistent=False)]) == []


def test_a_generator_that_was_put_back_is_told() -> None:
    """Which generator, and how far behind."""
    found = pattern("extra-draws", consistent=False, names=("sampler",), because=("4 behind",))
    assert pattern_lines([found]) == [
        "not with:         extra draws from a generator (sampler) [extra-draws]: 4 behind"
    ]


def test_hostile_names_are_escaped_and_lines_stay_short() -> None:
    """Evidence may quote what a package says."""
    found = pattern("other-stages", because=("\x1b[31m" + "x" * 400,), names=("\u202ename",) * 9)
    lines = pattern_lines([found])
    assert all(cells(line) <= WIDTH for line in lines)
    assert not any("\x1b" in line or "\u202e" in line for line in lines)
    assert "5 more" in lines[0] + lines[1]
