"""Which paths an entry may have."""

from __future__ import annotations

import pytest

from repropack._format.paths import check_entry_path, check_path_set, fold_path, package_order
from repropack.errors import UnsafeEntryError

ACCEPTED = (
    "manifest.json",
    "__main__.py",
    "runs/reference/checkpoints/step-000000040.npz",
    "wheels/numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.whl",
    "a/" * 31 + "a",
    "x" * 200,
    "source/replay_lab.py",
    "source/données brutes.py",
    "inputs/数据/测量 (1).csv",
    "inputs/हिन्दी.txt",
    "inputs/100% [a]{b}=c,d@e#f!~&+-.txt",
    "source/.gitignore",
    "source/console.py",
    "source/com10.py",
    "figures/source.svg",
)

REFUSED = {
    "": "component: expected a name, observed ''",
    "/etc/passwd": "root: expected a relative path, observed a leading '/'",
    "a//b": "component: expected a name, observed ''",
    "a/": "component: expected a name, observed ''",
    ".": "component: expected a name, observed '.'",
    "source/../x": "component: expected a name, observed '..'",
    "a.": "component: expected no blank at an end and no final dot, observed 'a.'",
    "source/a ": "component: expected no blank at an end and no final dot, observed 'a '",
    "source/ a": "component: expected no blank at an end and no final dot, observed ' a'",
    "source/...": "component: expected no blank at an end and no final dot, observed '...'",
    "nul": "component: expected no Windows device name, observed 'nul'",
    "source/Con.tar.gz": "component: expected no Windows device name, observed 'Con.tar.gz'",
    "aux/x": "component: expected no Windows device name, observed 'aux'",
    "COM1": "component: expected no Windows device name, observed 'COM1'",
    "lpt9.txt": "component: expected no Windows device name, observed 'lpt9.txt'",
    "source/COM\xb9.txt": "component: expected no Windows device name, observed 'COM¹.txt'",
    "source/lpt\xb3": "component: expected no Windows device name, observed 'lpt³'",
    "source/conin$": "component: expected no Windows device name, observed 'conin$'",
    "source/CONOUT$.x": "component: expected no Windows device name, observed 'CONOUT$.x'",
    "source/nul .txt": "component: expected no Windows device name, observed 'nul .txt'",
    "source/.git/config": "component: expected no folder of git's, observed '.git'",
    ".GIT": "component: expected no folder of git's, observed '.GIT'",
    "source/GIT~1/config": "component: expected no folder of git's, observed 'GIT~1'",
    "x" * 201: "component: expected at most 200 bytes, observed 201",
    "source/" + "é" * 101: "component: expected at most 200 bytes, observed 202",
    "a/" * 32 + "a": "depth: expected at most 32 components, observed 33",
    "/".join(["x" * 199] * 6): "length: expected at most 1024 bytes, observed 1199",
    "runs/a b": "character: expected ASCII letters, digits and ._+-, observed U+0020",
    "figures/é.svg": "character: expected ASCII letters, digits and ._+-, observed U+00E9",
    "sourcé/x": "character: expected ASCII letters, digits and ._+-, observed U+00E9",
    "a\\b": "character: expected ASCII letters, digits and ._+-, observed U+005C",
    "a\x00b": "character: expected ASCII letters, digits and ._+-, observed U+0000",
    "a\n": "character: expected ASCII letters, digits and ._+-, observed U+000A",
    "runs/gradient#2": "character: expected ASCII letters, digits and ._+-, observed U+0023",
    "source/\ud800": "encoding: expected text that UTF-8 can hold, observed U+D800",
    "source/e\u0301": "Unicode form: expected NFC 'source/\\xe9', observed 'source/e\\u0301'",
}

WIDE = "character: expected letters, digits, inner blanks and usual punctuation, observed "
NEVER = (
    *"'\"`\\:<>|?*$;^",
    *"\x00\x07\n\t\x7f\x85",
    "\xa0",  # another blank
    "\u200b",  # zero width space
    "\u202e",  # right-to-left override
    "\u2066",  # bidirectional isolate
    "\ufeff",  # byte order mark
    "\u3164",  # Hangul filler, a letter that nobody sees
    "\ufe0f",  # variation selector, a mark that nobody sees
    "\U000e0061",  # tag
    "\ue000",  # private use
    "\u0378",  # unassigned
    "\xb2",  # superscript digit
    "\u2044",  # fraction slash
    "\uff0f",  # full-width slash
    "\u2028",  # line separator
)


@pytest.mark.parametrize("path", ACCEPTED)
def test_accepts(path: str) -> None:
    """A path that is the same on every system passes."""
    check_entry_path(path)


@pytest.mark.parametrize(("path", "rule"), REFUSED.items())
def test_refuses(path: str, rule: str) -> None:
    """A path that breaks a rule is refused, and the error says which rule."""
    with pytest.raises(UnsafeEntryError) as caught:
        check_entry_path(path)
    assert caught.value.refusals[0].problem == rule
    assert caught.value.entry == path
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("character", NEVER, ids=[f"U+{ord(c):04X}" for c in NEVER])
def test_refuses_characters_in_authors_names(character: str) -> None:
    """Characters that quote, hide, turn or separate text are refused under source and inputs."""
    for folder in ("source", "inputs"):
        with pytest.raises(UnsafeEntryError) as caught:
            check_entry_path(f"{folder}/a{character}b")
        assert caught.value.refusals[0].problem == f"{WIDE}U+{ord(character):04X}"


def test_set_accepts_a_package() -> None:
    """Different files in folders that are spelled alike pass."""
    check_path_set(["manifest.json", "source/a.py", "source/b/a.py", "source/b/c.py", "source/bc"])


@pytest.mark.parametrize(
    ("paths", "rule"),
    [
        (["a", "a"], "expected a path unique under case folding, observed 'a'"),
        (["source/README", "source/readme"],
         "expected a path unique under case folding, observed 'source/README'"),
        (["source/straße", "source/STRASSE"],
         "expected a path unique under case folding, observed 'source/straße'"),
        (["source/ǰ", "source/J̌"],
         "expected a path unique under case folding, observed 'source/ǰ'"),
        (["a", "a/b"], "expected a file or a folder, observed both: 'a'"),
        (["a/b/c", "A"], "expected a file or a folder, observed both: 'a/b/c'"),
        (["source/X/a", "source/x/b"],
         "folder: expected one spelling of 'source/x', observed 'source/X/a'"),
    ],
    ids=["same", "case", "sharp-s", "normal-form", "file-folder", "folder-file", "folder-case"],
)  # fmt: skip
def test_set_refuses(paths: list[str], rule: str) -> None:
    """Paths that meet on some system are refused, and both are named."""
    with pytest.raises(UnsafeEntryError) as caught:
        check_path_set(paths)
    assert (caught.value.entry, caught.value.refusals[0].problem) == (paths[-1], rule)


def test_fold_path() -> None:
    """The key of a path is case folded and in NFC."""
    assert fold_path("Source/É") == "source/é"


def test_package_order() -> None:
    """The manifest comes first, then bytes decide and not letters or folders."""
    assert package_order(["source/é", "a", "source/z", "manifest.json", "source.txt", "B"]) == (
        "manifest.json",
        "B",
        "a",
        "source.txt",
        "source/z",
        "source/é",
    )
