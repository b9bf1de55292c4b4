"""Identifiers of Software Heritage, against git and against values that were published."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repropack._format.swhid import HashedFile, content_id, directory_id, swhid_of

PATHS = st.lists(
    st.text("ab.-_é0 ", min_size=1, max_size=4).filter(lambda name: name.strip(" .") == name),
    min_size=1,
    max_size=3,
).map("/".join)


def identify(files: dict[str, tuple[bytes, bool]]) -> str:
    hashed = {
        path: HashedFile(content_id(len(data), [data]), executable)
        for path, (data, executable) in files.items()
    }
    return swhid_of("dir", directory_id(hashed))


def test_known_contents() -> None:
    """The empty blob and the empty tree of git, and a blob in two blocks."""
    assert content_id(0, []).hex() == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert content_id(6, [b"hel", b"lo\n"]).hex() == "ce013625030ba8dba906f756967f9e9ca394464a"
    assert identify({}) == "swh:1:dir:4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def test_a_content_of_another_length() -> None:
    """It would be the identifier of nothing."""
    with pytest.raises(ValueError, match="expected a content of 3 bytes, observed 2"):
        content_id(3, [b"ab"])


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_tree_has_the_id_that_git_gives(tmp_path: Path) -> None:
    """A folder sorts as if its name ended in a slash; an executable bit counts; names are bytes."""
    files = {
        "a.b": (b"1", False),
        "a/b": (b"2", False),
        "a-b": (b"3", False),
        "a0": (b"4", True),
        "\u00e9/\u00fc x.py": (b"5\n", True),
        "deep/deeper/deepest/f": (b"", False),
    }
    for path, (data, executable) in files.items():
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        place.chmod(0o755 if executable else 0o644)
    (tmp_path / "empty").mkdir()
    for command in (["init", "-q"], ["add", "-f", "-A"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    told = subprocess.run(
        ["git", "write-tree"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert identify(files) == f"swh:1:dir:{told.stdout.strip()}"


@given(st.dictionaries(PATHS, st.tuples(st.binary(max_size=3), st.booleans()), max_size=4))
def test_what_an_identifier_depends_on(files: dict[str, tuple[bytes, bool]]) -> None:
    """Not on the order of the files; on each content, mode and name."""
    whole = identify(files)
    assert identify(dict(reversed(files.items()))) == whole
    for path, (data, executable) in files.items():
        assert identify({**files, path: (data + b"!", executable)}) != whole
        assert identify({**files, path: (data, not executable)}) != whole
        rest = {name: files[name] for name in files if name != path}
        assert identify(rest) != whole
