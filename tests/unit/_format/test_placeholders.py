"""What the words of a command stand for: names in braces, and no language behind them."""

from __future__ import annotations

from typing import Any

import pytest

from repropack._format.placeholders import fill_placeholders, unknown_placeholders

KNOWN = "expected {seed} or {config.NAME}"
CONFIG: dict[str, Any] = {
    "rate": 0.5,
    "name": "a b",
    "layers": [8, 8],
    "deep": {"b": 1, "a": None},
    "big": {"$int": "9007199254740993"},
    "none": {"$float": "nan"},
    "ends": [{"$float": "-inf"}, {"$float": "inf"}, -0.0, {"a": {"$int": "9007199254740993"}}],
    "on": True,
    "two words": 1,
    "empty": "",
}


@pytest.mark.parametrize(
    ("word", "filled"),
    [
        ("train.py", "train.py"),
        ("", ""),
        ("{seed}", "7"),
        ("--seed={seed}", "--seed=7"),
        ("{seed}{seed}", "77"),
        ("{config.rate}", "0.5"),
        ("{config.name}", "a b"),
        ("{config.layers}", "[8,8]"),
        ("{config.deep}", '{"a":null,"b":1}'),
        ("{config.big}", "9007199254740993"),
        ("{config.none}", "NaN"),
        ("{config.ends}", '[-Infinity,Infinity,-0.0,{"a":9007199254740993}]'),
        ("{config.on}", "true"),
        ("{config.two words}", "1"),
        ("<{config.empty}>", "<>"),
        ("{{seed}}", "{seed}"),
        ("{{{seed}}}", "{7}"),
        ("{{}}", "{}"),
        ("$seed %s \\{seed}", "$seed %s \\7"),
    ],
)
def test_names_are_replaced(word: str, filled: str):
    """Texts stand as they are, everything else as canonical JSON; doubled braces are braces."""
    assert list(unknown_placeholders(word, CONFIG)) == []
    assert fill_placeholders(word, 7, CONFIG) == filled


def test_what_is_filled_in_is_not_read_again():
    """A value with braces in it is text, whatever it looks like."""
    config = {"a": "{seed}", "b": "{{", "c": "}"}
    assert fill_placeholders("{config.a}{config.b}{config.c}", 7, config) == "{seed}{{}"


@pytest.mark.parametrize(
    ("word", "problems"),
    [
        ("{sed}", [f"{KNOWN}, observed '{{sed}}'; did you mean '{{seed}}'?"]),
        (
            "{config.rat}",
            [f"{KNOWN}, observed '{{config.rat}}'; did you mean '{{config.rate}}'?"],
        ),
        ("{rate}", [f"{KNOWN}, observed '{{rate}}'"]),
        ("{}", [f"{KNOWN}, observed '{{}}'"]),
        ("{0}", [f"{KNOWN}, observed '{{0}}'"]),
        ("{seed!r}", [f"{KNOWN}, observed '{{seed!r}}'"]),
        ("{seed:>9}", [f"{KNOWN}, observed '{{seed:>9}}'"]),
        ("{config.rate.real}", [f"{KNOWN}, observed '{{config.rate.real}}'"]),
        ("{config}", [f"{KNOWN}, observed '{{config}}'"]),
        ("{", ["expected {{ or }} for a brace, observed '{' alone"]),
        ("}", ["expected {{ or }} for a brace, observed '}' alone"]),
        ("{{}", ["expected {{ or }} for a brace, observed '}' alone"]),
        (
            "a{b}c{",
            [
                f"{KNOWN}, observed '{{b}}'",
                "expected {{ or }} for a brace, observed '{' alone",
            ],
        ),
    ],
)
def test_every_unknown_name_is_told(word: str, problems: list[str]):
    """All of a word at once; nothing of Python's format language is known."""
    found = [problem.partition("; did you mean")[0] for problem in problems]
    told = list(unknown_placeholders(word, CONFIG))
    assert [problem.partition("; did you mean")[0] for problem in told] == found
    if "did you mean" in problems[0]:
        assert told == problems


@pytest.mark.hostile
@pytest.mark.parametrize("word", ["{sed}", "{config.__class__}", "{config.rat}"])
def test_an_unknown_name_is_never_left_in_a_word(word: str):
    """Of a plan that nobody checked, filling in fails."""
    with pytest.raises(KeyError):
        fill_placeholders(word, 7, CONFIG)


@pytest.mark.hostile
def test_a_lone_brace_of_an_unchecked_word_is_a_brace():
    """Whatever a package's plan says: no exception that nobody expects."""
    assert fill_placeholders("{", 7, CONFIG) == "{"
    assert fill_placeholders("a}b{{c", 7, CONFIG) == "a}b{c"
