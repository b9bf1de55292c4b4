"""The rules of lint: declared once, all of them used, written down, and known to project files."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from repropack._format.lint_rules import LINT_RULES
from tools.generate_lint import DOCUMENT, lint_document

FOLDER = Path(__file__).parents[2] / "repropack" / "_lint"


def used_rules() -> set[str]:
    """Every literal of the modules that is a rule's id."""
    found = set()
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return found & set(LINT_RULES)


def test_every_rule_is_used() -> None:
    """A rule that nothing can break is a promise that nobody keeps."""
    assert used_rules() == set(LINT_RULES)


def test_rules_are_ids_and_sentences() -> None:
    """An id in kebab-case; what is found and why are sentences, the cure is what to do."""
    for name, rule in LINT_RULES.items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name)
        for sentence in (rule.finds, rule.reason):
            assert sentence[0].isupper(), name
            assert sentence.endswith("."), name
        assert rule.cure[0].islower(), name
        assert not rule.cure.endswith("."), name


def test_what_does_harm_is_an_error_and_nothing_else() -> None:
    """What most honest first projects lack does not stop a build."""
    errors = {name for name, rule in LINT_RULES.items() if rule.severity == "error"}
    assert errors == {"input-missing", "secret", "personal-path", "pickle"}


def test_the_document_lists_the_rules() -> None:
    """docs/lint.md is what the code declares."""
    assert DOCUMENT.read_text("utf-8") == lint_document()
