"""Where a report may lie is settled before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from repropack._cli.report_file import ReportFile
from repropack.errors import CouldNotRunError, UsageError

OLD = b'{"schema":"repropack/verification-report/v1"}\n'


def test_a_report_replaces_a_file_and_leaves_nothing_aside(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_bytes(OLD)
    kept = ReportFile(str(tmp_path / "report.json"), str(tmp_path / "lab.zip"), force=True)
    assert (tmp_path / "report.json").read_bytes() == OLD
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


@pytest.mark.parametrize("force", [True, False])
def test_what_came_meanwhile_is_not_replaced(tmp_path: Path, *, force: bool) -> None:
    """The answer is told all the same, so that it is no wrong use."""
    kept = ReportFile(str(tmp_path / "report.json"), force=force)
    (tmp_path / "report.json").write_bytes(b"mine")
    with pytest.raises(CouldNotRunError, match=r"the report was not kept: report\.json: expected"):
        kept.write(b"new")
    assert [place.read_bytes() for place in tmp_path.iterdir()] == [b"mine"]
