"""Text from a package reaches a terminal as printable characters of one line, or not at all."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repropack._present.escape import MAX_CHARACTERS, escape_text
from repropack._present.markdown import code_span, escape_markdown

ANY_TEXT = st.text(st.characters(), max_size=400)
HOSTILE_TEXT = st.text(
    st.sampled_from("ab \\\n\r\t\x1b\x00\x7f\x9b\u202e\u2066\u200b\ufeff\ud800é漢́")
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, 100 % of it", "plain text, 100 % of it"),
        ("Identische Verlüste 漢字", "Identische Verlüste 漢字"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x9b31m", "\\x9b31m"),
        ("two\nlines\r\n", "two\\x0alines\\x0d\\x0a"),
        ("a\u202eb\u2066c", "a\\u202eb\\u2066c"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("line\u2028end", "line\\u2028end"),
        ("no\u00a0break", "no\\xa0break"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("lone \ud800", "lone \\ud800"),
        ("filler\u3164", "filler\\u3164"),
        ("a path\\of a file", "a path\\of a file"),
    ],
)
def test_what_is_not_printable_becomes_visible(text: str, shown: str) -> None:
    """Each kind of character that can deceive is written as an escape; the others stay."""
    assert escape_text(text) == shown


def test_a_pile_of_marks_cannot_reach_other_lines() -> None:
    """Two combining marks may follow a character; none may open a text."""
    assert escape_text("e\u0301\u0301\u0301x") == "e\u0301\u0301\\u0301x"
    assert escape_text("\u0301e") == "\\u0301e"


def test_a_long_text_is_cut_and_says_so() -> None:
    """What is cut off is counted; an escape is never cut in two."""
    assert escape_text("x" * MAX_CHARACTERS) == "x" * MAX_CHARACTERS
    assert escape_text("x" * 300, 10) == "xxxxxxxxxx... (290 more characters)"
    assert escape_text("\x1b" * 3, 9) == "\\x1b\\x1b... (1 more characters)"


@given(ANY_TEXT | HOSTILE_TEXT, st.integers(1, 300))
def test_escaped_text_is_always_printable(text: str, max_characters: int) -> None:
    """Whatever comes in, one bounded line of printable characters goes out."""
    shown = escape_text(text, max_characters)
    assert shown.isprintable()
    assert len(shown) <= max_characters + len("... (400 more characters)")
    assert not any(
        unicodedata.category(character) in {"Cc", "Cf", "Zl", "Zp"} for character in shown
    )


@given(ANY_TEXT | HOSTILE_TEXT)
def test_escaping_twice_changes_nothing(text: str) -> None:
    """An escaped text is a plain text."""
    shown = escape_text(text, 4000)
    assert escape_text(shown, 4000) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("learning_rate", "learning_rate"),
        ("_emphasis_ and *strong*", "\\_emphasis\\_ and \\*strong\\*"),
        ("<script>&amp;", "\\<script\\>\\&amp;"),
        ("[text](https://example.org)", "\\[text\\](https://example.org)"),
        ("# no heading", "\\# no heading"),
        ("- no item", "\\- no item"),
        ("1. no item", "1\\. no item"),
        ("10) no item", "10\\) no item"),
        ("1 is a number", "1 is a number"),
        ("4.567", "4.567"),
        ("-1.5e-07", "-1.5e-07"),
        ("+3", "+3"),
        ("4.", "4\\."),
        ("-", "\\-"),
        ("---", "\\---"),
        ("- - -", "\\- - -"),
        ("===", "\\==="),
        ("+ no item", "\\+ no item"),
        ("gradient#2 of R&D", "gradient#2 of R&D"),
        ("&lt;b&#62; &amp", "\\&lt;b\\&#62; &amp"),
        ("`code` \\ ~~cut~~", "\\`code\\` \\\\ \\~\\~cut\\~\\~"),
        ("two\nlines", "two\\\\x0alines"),
    ],
)
def test_markdown_is_shown_and_not_read(text: str, shown: str) -> None:
    """Authors' text is never markup."""
    assert escape_markdown(text) == shown


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("plain", "`plain`"),
        ("a`b", "``a`b``"),
        ("``", "``` `` ```"),
        ("", "`  `"),
        ("a\nb", "`a\\x0ab`"),
    ],
)
def test_a_code_span_holds_any_text(text: str, span: str) -> None:
    """A span cannot be closed from inside."""
    assert code_span(text) == span


@given(ANY_TEXT | HOSTILE_TEXT)
def test_markdown_is_always_one_printable_line(text: str) -> None:
    """Neither form of escaping lets a line end or a control character through."""
    assert escape_markdown(text).isprintable()
    assert code_span(text).isprintable()
