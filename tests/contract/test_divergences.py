"""The patterns: each has an entry in the document, and each entry the same five headings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from repropack._compare.evidence import LAST_BITS_ULP
from repropack._compare.positions import MAX_SFC_WORDS, MAX_TWISTER_WORDS
from repropack.models.patterns import MAX_DRAWS, PatternId

DOCUMENT = (Path(__file__).parents[2] / "docs" / "divergences.md").read_text("utf-8")
IDS = list(get_args(PatternId))
HEADINGS = [
    "What it means",
    "Why it happens",
    "An example",
    "How to find it",
    "How to cure it",
]


def prose() -> str:
    """The document without its blocks: a comment of Python looks like a heading."""
    return re.sub(r"^```.*?^```$", "", DOCUMENT, flags=re.MULTILINE | re.DOTALL)


def entries() -> dict[str, str]:
    parts = re.split(r"^## (.+)$", prose(), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_ids_are_the_headings() -> None:
    """In one order, in the table and below it."""
    assert list(entries()) == IDS
    assert re.findall(r"^\| \[([a-z-]+)\]\(#\1\)", DOCUMENT, flags=re.MULTILINE) == IDS
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)+", name) for name in IDS)


def test_every_entry_has_the_same_five_headings() -> None:
    """And says what evidence it needs."""
    for name, text in entries().items():
        assert re.findall(r"^### (.+)$", text, flags=re.MULTILINE) == HEADINGS, name
        assert "Needed: " in text, name


def test_every_example_runs_and_shows_its_pattern() -> None:
    """The id stands in output that the document's own test compares."""
    for name in IDS:
        entry = DOCUMENT.split(f"\n## {name}\n")[1].split("\n## ")[0]
        blocks = re.findall(r"^```console runs\n(.*?)^```$", entry, re.MULTILINE | re.DOTALL)
        assert any(f"[{name}]" in block for block in blocks), name


def test_bounds_are_those_of_the_code() -> None:
    """Numbers in prose are the code's own."""
    text = " ".join(prose().split())
    assert f"at most {LAST_BITS_ULP} units in the last place" in text
    assert f"up to {MAX_SFC_WORDS:,} words apart" in text
    assert f"up to {MAX_TWISTER_WORDS:,}" in text
    assert MAX_DRAWS == 2**53 - 1
