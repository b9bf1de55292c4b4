"""Where a report may lie is settled before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from repropack._cli.report_file import ReportFile
from repropack.errors import UsageError


def test_a_report_replaces_a_file_and_leaves_nothing_aside(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_bytes(b"old")
    kept = ReportFile(str(tmp_path / "report.json"), str(tmp_path / "lab.zip"))
    assert (tmp_path / "report.json").read_bytes() == b"old"
    kept.write(b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [
        ("report.json", b"new")
    ]


@pytest.mark.parametrize("name", ["x" * 250, "x" * 300])
def test_a_report_that_cannot_be_written_is_refused_at_once(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="File name too long"):
        ReportFile(str(tmp_path / name), str(tmp_path / "lab.zip"))
    assert list(tmp_path.iterdir()) == []


def test_a_package_is_known_by_each_of_its_names(tmp_path: Path) -> None:
    """A file system may know one file by several, such as in another case."""
    (tmp_path / "lab.zip").write_bytes(b"package")
    (tmp_path / "LAB.ZIP").hardlink_to(tmp_path / "lab.zip")
    with pytest.raises(UsageError, match="outside the package"):
        ReportFile(str(tmp_path / "LAB.ZIP"), str(tmp_path / "lab.zip"))
