"""What a package holds of a command's outputs, against its patterns and against another folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from repropack._read.container import open_container
from repropack._read.outputs import check_matches, compare_stored, stored_paths
from tests.support.commands import write_files

Reported = list[tuple[str, str, str, object, object]]


def reported(patterns: tuple[str, ...], stored: tuple[str, ...]) -> Reported:
    found: Reported = []
    check_matches(patterns, stored, "after", lambda *one: found.append(one))
    return found


@pytest.mark.parametrize(
    ("patterns", "stored"),
    [
        ((), ()),
        (("a",), ("a",)),
        (("*.csv", "a.*"), ("a.csv",)),
        (("**",), ("a", "b/c")),
        (("a/**", "**/c"), ("a/b", "a/c", "c")),
    ],
)
def test_files_and_patterns_that_fit(patterns: tuple[str, ...], stored: tuple[str, ...]):
    """Each file has a pattern and each pattern a file; one may do for two."""
    assert reported(patterns, stored) == []


def test_whatever_is_too_much_or_lacking_is_told():
    """Files first, in their order, then patterns."""
    assert reported(("a", "b/*", "c"), ("a", "b", "d")) == [
        ("run.outputs", "after/b", "", "outputs that the plan names", "another"),
        ("run.outputs", "after/d", "", "outputs that the plan names", "another"),
        ("run.outputs", "plan.json", "outputs 'b/*' in after", "at least one file", "none"),
        ("run.outputs", "plan.json", "outputs 'c' in after", "at least one file", "none"),
    ]


def test_paths_are_sorted_by_their_bytes(tmp_path: Path):
    """Of the folder alone, and not of one whose name begins like it."""
    paths = ["after/b/x", "after/b-x", "after/a", "after2/c", "runs/a/after/d"]
    with open_container(write_files(tmp_path / "p", dict.fromkeys(paths, ""))) as container:
        assert stored_paths(container, "after") == ("a", "b-x", "b/x")
        assert stored_paths(container, "none") == ()


def test_two_folders_are_compared_by_content(tmp_path: Path):
    """Paths of one side alone are told, equal content in other bytes is no difference."""
    left = {"a.json": '{"x":1,"y":2}', "b.csv": "1,2\n", "c.txt": "c", "same": "s"}
    right = {"a.json": '{"y": 2, "x": 1}', "b.csv": "1,3\n", "d.txt": "d", "same": "s"}
    one = write_files(tmp_path / "one", {f"after/{path}": text for path, text in left.items()})
    two = write_files(tmp_path / "two", {f"new/{path}": text for path, text in right.items()})
    with open_container(one) as expected, open_container(two) as observed:
        found = compare_stored(expected, "after", observed, "new")
        assert compare_stored(expected, "after", expected, "after").differences == ()
    assert (found.compared, found.missing, found.unexpected) == (3, ("c.txt",), ("d.txt",))
    assert [(row.path, row.content_equal) for row in found.differences] == [
        ("a.json", True),
        ("b.csv", False),
    ]
    assert not found.equal
    table = found.differences[1].table
    assert table is not None
    assert table.first is not None
    assert (table.first.row, table.first.column) == (1, 2)
    assert (table.first.expected, table.first.observed) == ("2", "3")


def test_equal_content_alone_is_equal(tmp_path: Path):
    """But not where a file is there on one side only."""
    one = write_files(tmp_path / "one", {"a/x.json": "[1]"})
    two = write_files(tmp_path / "two", {"a/x.json": "[ 1 ]"})
    more = write_files(tmp_path / "more", {"a/x.json": "[1]", "a/y": ""})
    with open_container(one) as left, open_container(two) as right, open_container(more) as third:
        assert compare_stored(left, "a", right, "a").equal
        assert not compare_stored(left, "a", third, "a").equal
        assert not compare_stored(third, "a", left, "a").equal
