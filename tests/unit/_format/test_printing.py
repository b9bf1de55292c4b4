"""How values of claims are printed, and what a statement of one has to look like."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repropack._format.macros import macro_name
from repropack._format.printing import (
    RoundingError,
    print_number,
    print_value,
    printable_form,
    whole_number,
)

LOSS = 0.0214672945992594


@pytest.mark.parametrize(
    ("value", "rule", "text"),
    [
        (LOSS, "exact", "0.0214672945992594"),
        (LOSS, ".4f", "0.0215"),
        (LOSS, ".2e", "2.15e-02"),
        (LOSS, "10.4f", "0.0215"),
        (0.125, ".2f", "0.12"),
        (0.375, ".2f", "0.38"),
        (2.675, ".2f", "2.67"),
        (0.975, ".1%", "97.5%"),
        (-0.0, "exact", "-0.0"),
        (100, "exact", "100"),
        (100.0, "d", "100"),
        (12500, ",d", "12,500"),
        (2**80, "exact", "1208925819614629174706176"),
        (True, "exact", "true"),
        ("gradient", "exact", "gradient"),
        (math.nan, ".4f", "nan"),
        (math.inf, "exact", "inf"),
        (10**400, ".1f", "inf"),
    ],
)
def test_a_value_prints_by_its_rule(value: bool | float | str, rule: str, text: str) -> None:
    """Python's rounding of the exact binary value, half to even, and once."""
    assert print_value(value, rule) == text


@pytest.mark.parametrize(
    ("value", "rule", "problem"),
    [
        (0.5, "d", "expected a whole number, observed 0.5"),
        (math.inf, ",d", "expected a whole number, observed inf"),
        (True, ".4f", "expected a number for the rounding '.4f', observed true or false"),
        ("x", "d", "expected a number for the rounding 'd', observed a text"),
        (10**600, "exact", "expected at most 500 printed characters, observed 601"),
    ],
)
def test_what_a_rule_cannot_print_is_refused(
    value: bool | float | str, rule: str, problem: str
) -> None:
    """With what was expected and what is there."""
    with pytest.raises(RoundingError) as caught:
        print_value(value, rule)
    assert str(caught.value) == problem


@given(st.floats(allow_nan=False))
def test_exact_gives_the_bits_back(value: float) -> None:
    """The shortest decimal that does."""
    assert math.copysign(1, float(print_value(value, "exact"))) == math.copysign(1, value)
    assert float(print_value(value, "exact")) == value


@pytest.mark.parametrize(
    ("stated", "rule", "form"),
    [
        ("0.0215", ".4f", "0.0215"),
        ("2.15e-2", ".4f", "0.0215"),
        ("0.02150", ".4f", "0.0215"),
        ("1.19e-7", ".2e", "1.19e-07"),
        ("97.5%", ".1%", "97.5%"),
        ("12500", ",d", "12,500"),
        ("0.5", "d", None),
        ("gradient", "exact", "gradient"),
        ("about 2", ".1f", None),
        ("1e999999999", "d", None),
    ],
)
def test_a_statement_has_the_form_that_its_rule_prints(
    stated: str, rule: str, form: str | None
) -> None:
    """So that a statement that can never come out is told before anything runs."""
    assert printable_form(stated, rule) == form


def test_whole_numbers_are_whole() -> None:
    """As an int, also from a float."""
    assert whole_number(3.0) == 3
    assert isinstance(whole_number(3.0), int)
    assert print_number(1.5, ".0f") == "2"


@pytest.mark.parametrize(
    ("claim", "name"),
    [
        ("loss", "Loss"),
        ("final-loss", "FinalLoss"),
        ("step-40-loss", "StepFourZeroLoss"),
        ("a1b-2c", "AOnebTwoc"),
    ],
)
def test_a_macro_has_letters_alone(claim: str, name: str) -> None:
    """Each part begins with a capital, each digit is spelled."""
    assert macro_name(claim) == name
