"""The language of claims: what it reads, where it stops, and how far it goes."""

# ruff: noqa: E501 - one line a case

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repropack._format.expressions import (
    MAX_DEPTH,
    MAX_PARTS,
    Binary,
    Call,
    Constant,
    ExpressionError,
    Negated,
    Node,
    Part,
    Pointer,
    is_comparison,
    parse_expression,
    pointers_in,
)

SEED = Pointer("plan", (Part("experiment", False, 5), Part("seed", False, 16)), 0)


def shape(node: Node) -> str:
    """A tree with every operation in parentheses."""
    if isinstance(node, Constant):
        return repr(node.value)
    if isinstance(node, Pointer):
        parts = (f"[{part.name}]" if part.row else f".{part.name}" for part in node.parts)
        return node.root + "".join(parts)
    if isinstance(node, Call):
        return f"{node.function}({', '.join(map(shape, node.arguments))})"
    if isinstance(node, Negated):
        return f"(-{shape(node.operand)})"
    return f"({shape(node.left)} {node.operator} {shape(node.right)})"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("1 + 2 * 3", "(1 + (2 * 3))"),
        ("1 - 2 - 3", "((1 - 2) - 3)"),
        ("8 / 4 / 2", "((8 / 4) / 2)"),
        ("(1 - 2) * -3", "((1 - 2) * (-3))"),
        ("- - 2", "(-(-2))"),
        ("1 + 1 <= 2 * 1.5e-3", "((1 + 1) <= (2 * 0.0015))"),
        ("plan.experiment.seed == 'a b'", "(plan.experiment.seed == 'a b')"),
        ('true != "x\'"', "(True != \"x'\")"),
        ("max_abs(kept[a-b][x.y#2])", "max_abs(kept[a-b][x.y#2])"),
        ("first(metric[a][l][41..50])/2", "(first(metric[a][l][41..50]) / 2)"),
        ("count(results.comparisons[ r ].stages)", "count(results.comparisons[r].stages)"),
        ("results.comparisons[r].divergence.inputs[state:adam].equal",
         "results.comparisons[r].divergence.inputs[state:adam].equal"),
        ("max_abs_difference(final[a][w],checkpoint[a][40][w])",
         "max_abs_difference(final[a][w], checkpoint[a][40][w])"),
    ],
)  # fmt: skip
def test_it_is_read_as_the_grammar_says(text: str, read: str) -> None:
    """Multiplication before addition, both from the left; a comparison outermost."""
    assert shape(parse_expression(text)) == read


def test_places_in_the_text_are_kept() -> None:
    """Each part knows where it stands."""
    assert parse_expression("plan.experiment.seed") == SEED


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "character 1: expected a number, a text, a pointer or a function, observed the end"),
        ("1 +", "character 4: expected a number, a text, a pointer or a function, observed the end"),
        ("1 2", "character 3: expected an operator or the end, observed '2'"),
        ("1 < 2 < 3", "character 7: expected an operator or the end, observed '<'"),
        ("(1 < 2)", "character 4: expected ')', observed '<'"),
        ("a = 1", "character 3: expected ==, observed ="),
        ("1 & 2", "character 3: expected a name, a number, a text or an operator, observed '&'"),
        ("'a", "character 1: expected a closing ', observed none"),
        ("results[a", "character 8: expected a name and a closing ], observed none"),
        ("results.comparisons[]", "character 20: expected a name in brackets, observed none"),
        ("results.", "character 9: expected the name of a member, observed the end"),
        ("results", "character 1: expected results and a member, observed it"),
        ("result.x", "character 1: expected one of results, plan, kept, metric, final, checkpoint, observed 'result'; did you mean 'results'?"),
        ("kept[a][b]", "character 1: expected kept within a function such as max_abs, observed it alone"),
        ("max_abs(kept[a])", "character 9: expected kept[RUN][STAGE] or kept[RUN][STAGE][FIRST..LAST], observed another form"),
        ("max_abs(final.a.b)", "character 9: expected final[RUN][ARRAY], observed another form"),
        ("max_ab(kept[a][b])", "character 1: expected a function, observed 'max_ab'; did you mean 'max_abs'?"),
        ("max_abs(kept[a][b], kept[c][b])", "character 1: expected one argument of max_abs, observed 2"),
        ("count_different(kept[a][b])", "character 1: expected two arguments of count_different, observed 1"),
        ("max(plan.record.keep)", "character 5: expected kept, metric, final or checkpoint in max, observed 'plan'"),
        ("max(1)", "character 5: expected kept, metric, final, checkpoint, or a list of results or plan, observed '1'"),
        ("1e999", "character 1: expected a number within float64, observed a larger one"),
    ],
)  # fmt: skip
def test_a_fault_is_told_at_its_character(text: str, problem: str) -> None:
    """With what is expected and what is there, and a name that is close."""
    with pytest.raises(ExpressionError) as caught:
        parse_expression(text)
    assert str(caught.value) == problem


@pytest.mark.parametrize("opening", ["(", "-", "-("])
def test_depth_is_bounded(opening: str) -> None:
    """As many levels as are allowed, and not one more."""
    deep = MAX_DEPTH // len(opening)
    closing = ")" * opening.count("(")
    assert shape(parse_expression(opening * deep + "1" + closing * deep)).count("1") == 1
    with pytest.raises(ExpressionError, match="depth of at most 16"):
        parse_expression(opening * (deep + 1) + "1" + closing * (deep + 1))


def test_parts_are_bounded() -> None:
    """Operands and operations together; the tree of what is allowed can be walked."""
    most = "+".join("1" * ((MAX_PARTS + 1) // 2))
    assert len(list(pointers_in(parse_expression(most)))) == 0
    with pytest.raises(ExpressionError, match="at most 100 parts"):
        parse_expression(f"{most}+1+1")


def test_pointers_are_found_in_order() -> None:
    """Also those within functions, signs and comparisons."""
    node = parse_expression("-plan.a < max_abs_difference(kept[a][b], kept[c][b]) + results.d")
    assert [shape(one) for one in pointers_in(node)] == [
        "plan.a", "kept[a][b]", "kept[c][b]", "results.d",
    ]  # fmt: skip
    assert is_comparison(node)
    assert not is_comparison(parse_expression("1 + 1"))


@given(st.text(alphabet="0123456789.eE+-*/()[]<>=!,'\"abkmnopt ", max_size=80))
def test_no_text_does_anything_else_than_parse_or_refuse(text: str) -> None:
    """Whatever stands there: a tree, or an error with a place in the text."""
    at, node = 0, None
    try:
        node = parse_expression(text)
    except ExpressionError as error:
        at = error.at
    assert 0 <= at <= len(text)
    assert node is None or isinstance(node, Binary | Call | Constant | Negated | Pointer)
