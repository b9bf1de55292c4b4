"""Paths, roles and texts in the page, by the rules that the library has for them."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from playwright.sync_api import Page

from repropack._format.layout import media_type_of, role_of
from repropack._format.paths import check_entry_path, check_path_set, fold_path
from repropack._format.schemas import PACKAGED_SCHEMAS
from repropack._present.escape import escape_text
from repropack._read.package import REQUIRED_PATHS
from repropack.errors import UnsafeEntryError

pytestmark = pytest.mark.slow

PATHS = [
    "plan.json",
    "source/a b.py",
    "source/données.py",
    "inputs/日本.csv",
    "a b",
    "source/ a",
    "source/a.",
    "source/../x",
    "",
    "/a",
    "a//b",
    "source/CON.txt",
    "source/com¹.x",
    "source/conin$",
    "source/nul .a",
    "source/.git/config",
    "source/.GIT",
    "source/GIT~1/x",
    "source/e\u0301.py",
    "source/\u202ea",
    "source/\u3164",
    "source/a\u034fb",
    "source/\ufe0f",
    "runs/reference/outputs/ü.txt",
    "runs/reference/ü",
    "after/x=1.txt",
    "source/$a",
    "source/a:b",
    "a" * 201,
    "source/" + "ä" * 100,
    "source/" + "ä" * 101,
    "/".join("a" * 32),
    "/".join("a" * 33),
    "x" * 1025,
    "source/a\\b",
    "source/\U00020000",
    "inputs",
    "source",
]
CLASHES = [
    ["A", "a"],
    ["source/straße", "source/STRASSE"],
    ["source/a", "source/a/b"],
    ["a/x", "A/y"],
    ["source/\u017f", "source/S"],
    ["source/\u0131", "source/i"],
    ["source/K", "source/\u212a"],
    ["a/b", "a/c"],
    ["source/Σ", "source/ς"],
    ["source/\u1e9e", "source/ss"],
    ["source/a/b", "source/a"],
]


def test_paths_are_refused_by_the_same_rule(tool: Page) -> None:
    """Each path alone, and paths that meet under case folding."""
    found = tool.evaluate(
        """async ([paths, clashes]) => {
        const rule = async (action) => {
          try { await action(); return null; }
          catch (fault) { return fault.rule ?? String(fault); } };
        const {checkPath, checkPathSet} = repropack.paths;
        return [await Promise.all(paths.map((path) => rule(() => checkPath(path)))),
          await Promise.all(clashes.map((paths) => rule(() => checkPathSet(paths))))]; }""",
        [PATHS, CLASHES],
    )
    assert dict(zip(PATHS, found[0], strict=True)) == {
        path: rule_of_path(lambda path=path: check_entry_path(path)) for path in PATHS
    }
    expected = [rule_of_path(lambda paths=paths: check_path_set(paths)) for paths in CLASHES]
    assert found[1] == expected


def rule_of_path(check: Any) -> str | None:
    try:
        check()
    except UnsafeEntryError as error:
        return error.rule
    return None


def test_roles_and_media_types(tool: Page) -> None:
    """Where an entry may stand, and what it is there."""
    paths = [
        *PATHS,
        "README.md",
        "README.author.txt",
        "LICENSE",
        "source/.json",
        "figures/a.svg",
        "figures/",
        "schemas/x/y.json",
        "wheels/a.whl",
        "wheels/a-1.0-py3-none-any.whl",
        "wheels/a/b-1.0-py3-none-any.whl",
        "runs/a/fingerprints.jsonl",
        "inputs/a.",
        "runs/A/fingerprints.jsonl",
        "runs/a/checkpoints/step-000000001.npz",
        "runs/a/checkpoints/x.npz",
        "runs/a/kept.npz",
        "runs/a/outputs/b.csv",
        "index.html",
        "CITATION.cff",
        "pylock.toml",
        "other",
        "runs/-a/kept.npz",
        "source/a.tar.gz",
        "source/toString",
        "source/a.constructor",
    ]
    found = tool.evaluate(
        """(all) => all.map(
        (one) => [repropack.paths.roleOf(one), repropack.paths.mediaTypeOf(one)])""",
        paths,
    )
    for path, (role, media_type) in zip(paths, found, strict=True):
        assert role == role_of(path), path
        assert media_type == media_type_of(path), path


def test_letters_fold_and_show_as_in_python(tool: Page) -> None:
    """Every character that this Python knows: those that meet under folding, and those escaped."""
    known = {
        code for code in range(0x110000) if unicodedata.category(chr(code)) not in {"Cn", "Cs"}
    }
    letters = [code for code in known if unicodedata.category(chr(code)) in {"Lu", "Ll", "Lt"}]
    folded, hidden = tool.evaluate(
        """(letters) => {
        const shown = (code) => repropack.words.escapeText(`a${String.fromCodePoint(code)}`);
        const hidden = [];
        for (let code = 0, from = -1; code <= 0x110000; code += 1) {
          const escaped = code < 0x110000 && shown(code).length > 3;
          if (escaped && from < 0) from = code;
          if (!escaped && from >= 0) { hidden.push([from, code]); from = -1; }
        }
        const fold = (code) => repropack.paths.fold(String.fromCodePoint(code));
        return [letters.map(fold), hidden]; }""",
        letters,
    )
    found = {code for first, end in hidden for code in range(first, end)} & known
    assert found == {code for code in known if len(escape_text(f"a{chr(code)}")) > 2}
    here: dict[str, list[int]] = {}
    there: dict[str, list[int]] = {}
    for code, key in zip(letters, folded, strict=True):
        there.setdefault(key, []).append(code)
        here.setdefault(fold_path(chr(code)), []).append(code)
    assert sorted(there.values()) == sorted(here.values())


def test_long_and_marked_texts_are_cut_alike(tool: Page) -> None:
    """Escapes count as they are written; a pile of marks does not reach into other lines."""
    texts = [
        "x" * 300,
        "\u202e" * 50,
        "e\u0301\u0301\u0301\u0301",
        "\u0301a",
        "a\x1b[31m",
        "\U000e0001" * 30,
    ]
    found = tool.evaluate("(all) => all.map((one) => repropack.words.escapeText(one))", texts)
    assert found == [escape_text(text) for text in texts]


def test_required_entries_are_those_of_the_library(tool: Page) -> None:
    """And each of them may stand where it is required."""
    required = tool.evaluate("repropack.paths.REQUIRED")
    expected = [*REQUIRED_PATHS, *(f"schemas/{name}.schema.json" for name in PACKAGED_SCHEMAS)]
    assert required == sorted(expected)
    assert all(role_of(path) is not None for path in required)
