"""The rules that packages are refused by: declared once, all of them used, and written down."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from repropack._format.limits import Limits
from repropack._format.rules import RULES
from tools.generate_refusals import DOCUMENT, refusals_document

PACKAGE = Path(__file__).parents[2] / "repropack"
FAMILIES = {rule.partition(".")[0] for rule in RULES}
SHAPE = re.compile(r"[a-z]+\.[a-z]+(-[a-z]+)*")
FILES = {"manifest.json", "plan.json", "results.json", "notebook.ipynb", "kept.npz"}
DECLARED_IN = ("rules.py",)


def texts(path: Path) -> Iterator[str]:
    """Every literal text of a module but its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def used_rules() -> set[str]:
    """Every literal that looks like a rule, in the modules that refuse."""
    modules = [
        path
        for folder in ("_format", "_read", "_compare")
        for path in (PACKAGE / folder).glob("*.py")
        if path.name not in DECLARED_IN
    ]
    modules.append(PACKAGE / "_checking.py")
    found = {text for path in modules for text in texts(path) if SHAPE.fullmatch(text)}
    return {text for text in found if text.partition(".")[0] in FAMILIES} - FILES


def test_every_rule_that_is_used_is_declared() -> None:
    """A rule that is not in the list cannot be looked up."""
    assert used_rules() - set(RULES) == set()


def test_every_rule_that_is_declared_is_used() -> None:
    """Some rules are composed: of a kind of header, of a limit's name; one is an error's own."""
    composed = {"zip.local-header", "zip.directory-header", "document.schema"}
    limits = {f"limit.{limit.name}" for limit in fields(Limits)}
    assert set(RULES) - used_rules() == composed | limits


def test_rules_are_ids_and_sentences() -> None:
    """An id is a family and a name; a sentence says what a package keeps."""
    for rule, sentence in RULES.items():
        assert SHAPE.fullmatch(rule) or re.fullmatch(r"limit\.max_[a-z_]+", rule), rule
        assert sentence.endswith("."), rule
        assert len(sentence) <= 100, rule


def test_the_document_lists_the_rules() -> None:
    """docs/refusals.md is what the code declares."""
    assert DOCUMENT.read_text(encoding="utf-8") == refusals_document()
