"""Numbers as articles write them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repropack._format.numerals import find_numbers, read_numeral


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.0215", "0.0215"),
        ("0.02150", "0.02150"),
        ("-3", "-3"),
        ("\u22123", "-3"),
        ("&minus;3", "-3"),
        ("+3.0", "3.0"),
        ("1.19e-7", "1.19E-7"),
        ("1.19E-07", "1.19E-7"),
        ("1.19e\u22127", "1.19E-7"),
        (r"1.19 \times 10^{-7}", "1.19E-7"),
        (r"$1.19\times10^{-7}$", "1.19E-7"),
        (r"\(1.19 \cdot 10^{-7}\)", "1.19E-7"),
        ("1.19 \u00d7 10\u207b\u2077", "1.19E-7"),
        ("1.19 \u00b7 10^-7", "1.19E-7"),
        ("1.19&times;10<sup>&minus;7</sup>", "1.19E-7"),
        (r"\num{1.19e-7}", "1.19E-7"),
        (r"\num[round-mode=places]{0.02}", "0.02"),
        (r"\SI{12.5}{\metre}", "12.5"),
        (r"\SI{15}{\percent}", "0.15"),
        (r"\qty{15}{\%}", "0.15"),
        ("**97.5** %", "0.975"),
        (r"$97.5$\,\%", "0.975"),
        ("-$3$", "-3"),
        ("_15_", "15"),
        ("<p><b>15</b></p>", "15"),
        (r"\textbf{\num{15}}", "15"),
        ("1.2 \u00d7 10^-7^", "1.2E-7"),
        (r"\qty{1.50e3}{\kilo\gram}", "1.50E+3"),
        ("10^{-7}", "1E-7"),
        ("12,500", "12500"),
        ("12{,}500", "12500"),
        (r"12\,500", "12500"),
        ("12\u202f500", "12500"),
        ("1,234,567.25", "1234567.25"),
        ("97.5%", "0.975"),
        (r"97.5\,\%", "0.975"),
        ("97.5&nbsp;%", "0.975"),
        ("**0.0215**", "0.0215"),
        ("`0.0215`", "0.0215"),
        ("<b>0.0215</b>", "0.0215"),
        (r"\textbf{0.0215}", "0.0215"),
        ("123456789012345678901234567890123.5", "123456789012345678901234567890123.5"),
    ],
)
def test_one_number_however_it_is_written(text: str, number: str) -> None:
    """Its value, and its last digit."""
    read = read_numeral(text)
    assert read is not None
    assert (read, read.as_tuple().exponent) == (
        Decimal(number),
        Decimal(number).as_tuple().exponent,
    )


@pytest.mark.parametrize(
    "text",
    ["", "gradient", "0,0215", "1.2.3", "v1", "1 250", "12,50", "1,2345", "1_000", "0x10", "3 of 4",
     "1<br>5", "1</td><td>5", "1</p><p>5", "1<sub>5</sub>", "1<s>5</s>", "<b>1</b><b>5</b>", "1*5",
     "1**5", "1`5`", "$1$$5$", r"\num{1}\num{5}", "{1}{5}", "15&lt;20&gt;", "1&lt;b&gt;5",
     "<del>15</del>", "<b><s>15</s></b>", "<strike>15</strike>", "~~15~~", "~15~", "**~~15~~**",
     "15 ~~%~~", "<sup>15</sup>", "<b style='text-decoration: line-through'>15</b>", "15%%",
     r"\qty{15}{\percent}\%", r"\qty{15}{\permille}", "\x0115\x02", "{{15}",
     "{" * 25 + "15" + "}" * 25,
     "1e99999", "--3", "0.1 0.2", "\u0663", "1" * 301],
)  # fmt: skip
def test_what_is_no_number_is_none(text: str) -> None:
    """A comma is no decimal point, and digits of other scripts are none."""
    assert read_numeral(text) is None


def test_numbers_in_running_text() -> None:
    """Not those in words, versions, exponents, references and dates' later parts."""
    text = (
        r"loss 0.0215, \num{0.0216}, $1.19 \times 10^{-7}$ or 1.19&times;10<sup>-7</sup>; 12,500 "
        r"rows in 1.2.3, v2.0, x3, #41, step-40, /52, 97.5\% (0.5) [0.6], -4.10e-3. 2026-11-30"
    )
    assert [(one.text, str(one.number)) for one in find_numbers(text)] == [
        ("0.0215", "0.0215"),
        ("0.0216", "0.0216"),
        (r"1.19 \times 10^{-7}", "1.19E-7"),
        ("1.19&times;10<sup>-7</sup>", "1.19E-7"),
        ("12,500", "12500"),
        (r"97.5\%", "0.975"),
        ("0.5", "0.5"),
        ("0.6", "0.6"),
        ("-4.10e-3", "-0.00410"),
        ("2026", "2026"),
    ]
    assert [one.at for one in find_numbers("a 12 b")] == [2]
    assert next(find_numbers("12 123", 3)).text == "123"


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6))
def test_a_plain_decimal_is_read_back(number: Decimal) -> None:
    """Digit for digit."""
    assert read_numeral(f"{number:f}") == number


@pytest.mark.hostile
@pytest.mark.parametrize(
    "piece", ["1", "1,", "1.1.", "1e", "9 ", "1\\times", "1\\,", "1\u00d710^{", "<sup>", "&times;"]
)
def test_a_pathological_text_ends(piece: str) -> None:
    """Half a megabyte of each in one pass; a scan that went back would not come to an end here."""
    count = sum(1 for _ in find_numbers(piece * (500_000 // len(piece)), 3))
    assert count <= 1
