"""One row of a manifest against its entry: what is held elsewhere, and what is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from repropack._read.entries import check_entry, check_reference
from repropack._read.package import open_package
from repropack.errors import IntegrityError
from repropack.models.manifest import Entry
from tests.support.hostile import Forgery

DIGEST = "sha256:" + "1" * 64


def row(path: str = "inputs/data.csv", **members: Any) -> Entry:
    """A row of an input that is held by reference."""
    fields: dict[str, Any] = {
        "role": "input",
        "media_type": "text/csv",
        "included": False,
        "location": "ask",
    }
    return Entry(path=path, size=3, digest=DIGEST, **(fields | members))


def problems(check: Any, *arguments: Any) -> list[tuple[str | None, str, str]]:
    with pytest.raises(IntegrityError) as caught:
        check(*arguments)
    return [(one.rule, one.entry, one.problem) for one in caught.value.refusals]


def test_an_input_with_a_place_is_held_elsewhere():
    """Executable or not; nothing is opened."""
    check_reference(row())
    check_reference(row(executable=True))


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            row(location=None),
            [("manifest.reference", "expected an input with a location, observed input, None")],
        ),
        (
            row("source/a.csv", role="source"),
            [("manifest.reference", "expected an input with a location, observed source, 'ask'")],
        ),
        (
            row("source/a.csv"),
            [("manifest.role", "expected source and text/csv, observed input and text/csv")],
        ),
        (
            row(media_type="text/plain"),
            [("manifest.role", "expected input and text/csv, observed input and text/plain")],
        ),
        (
            row("data.csv"),
            [("manifest.path", "expected one that entries may have, observed another")],
        ),
    ],
    ids=["no-place", "source", "role", "type", "path"],
)
def test_nothing_else_is_held_elsewhere(entry: Entry, expected: list[tuple[str, str]]):
    """By the rule that it breaks."""
    found = problems(check_reference, entry)
    assert [(rule, problem.partition(": ")[2]) for rule, _, problem in found] == expected
    assert {path for _, path, _ in found} == {entry.path}


def test_every_difference_of_an_entry_is_told(tmp_path: Path):
    """Role, place, mode and digest together."""
    forgery = Forgery({"inputs/a.sh": b"123"}, {})
    manifest_of = tmp_path / "package"
    package_row = row("inputs/a.sh", role="source", included=True, executable=True)
    forgery.write_directory(manifest_of, manifest=b"{}\n")

    class Stub:
        """As much of a package as is asked."""

    from repropack._read.container import open_container

    with open_container(manifest_of) as container:
        stub = Stub()
        stub.container = container  # type: ignore[attr-defined]
        found = problems(check_entry, stub, package_row)
    assert [rule for rule, _, _ in found] == [
        "manifest.role",
        "manifest.location",
        "manifest.mode",
        "digest.entry",
    ]
    assert found[1][2] == "location: expected none beside the bytes, observed 'ask'"


def test_an_honest_package_passes(lab_package: Path):
    """Every row of the lab."""
    with open_package(lab_package) as package:
        for entry in package.manifest.entries:
            check_entry(package, entry)
        assert len(package.manifest.entries) > 50
