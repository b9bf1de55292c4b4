"""Two files of arrays: which arrays differ, how, and what is said of files that cannot be read."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repropack._present.text_diff_arrays import arrays_text
from repropack.diff_of_arrays import diff_arrays
from repropack.errors import UsageError
from repropack.models.arrays_difference import ArraysDifference


def npz(path: Path, **arrays: Any) -> Path:
    """A file as NumPy writes it."""
    np.savez_compressed(path, **arrays)
    return path


def words(report: ArraysDifference) -> str:
    """The text without its line breaks."""
    return " ".join(arrays_text(report).split())


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """Two files: one array equal, two that differ, and one on each side alone."""
    weights = np.ones((4, 3), "<f4")
    other = weights.copy()
    other[2] = 1.5
    zeros = np.zeros(3)
    left = npz(tmp_path / "left.npz", same=weights, w=weights, z=zeros, only_left=zeros)
    right = npz(tmp_path / "right.npz", same=weights.T.copy().T, w=other, z=-zeros, new=zeros)
    return left, right


def test_arrays_are_compared_by_name(pair: tuple[Path, Path]) -> None:
    """Layout and compression are no difference; names on one side alone are."""
    report = diff_arrays(*pair)
    assert (report.verdict, report.arrays_equal, report.arrays_differing) == ("differs", 1, 2)
    assert (report.missing, report.unexpected) == (("only_left",), ("new",))
    assert [(one.array, one.kind, one.rows) for one in report.arrays] == [
        ("w", "rows", (2, 2)),
        ("z", "sign-of-zero", (0, 2)),
    ]
    assert report.arrays[0].first[0].expected_bits == "0x3f800000"


def test_the_text_names_them(pair: tuple[Path, Path]) -> None:
    """The verdict first, then each array with its first elements."""
    report = diff_arrays(*pair)
    named = report.model_copy(
        update={
            "left": report.left.model_copy(update={"path": "left.npz"}),
            "right": report.right.model_copy(update={"path": "right.npz"}),
        }
    )
    assert arrays_text(named) == (
        "differs  left.npz and right.npz\n"
        "3 arrays in both: 1 equal, 2 not.\n"
        "\n"
        "array:            w: 3 of 12 elements, in row 2 alone, at most 4194304 ulp, at most 0.5\n"
        "                  w[2, 0]  expected 1.0 (0x3f800000)  observed 1.5 (0x3fc00000)\n"
        "                  w[2, 1]  expected 1.0 (0x3f800000)  observed 1.5 (0x3fc00000)\n"
        "                  w[2, 2]  expected 1.0 (0x3f800000)  observed 1.5 (0x3fc00000)\n"
        "\n"
        "array:            z: 3 of 3 elements, in the sign of zero alone\n"
        "                  z[0]  expected 0.0 (0x0000000000000000)  observed -0.0 "
        "(0x8000000000000000)\n"
        "                  z[1]  expected 0.0 (0x0000000000000000)  observed -0.0 "
        "(0x8000000000000000)\n"
        "                  z[2]  expected 0.0 (0x0000000000000000)  observed -0.0 "
        "(0x8000000000000000)\n"
        "\n"
        "only left:        only_left\n"
        "\n"
        "only right:       new\n"
    )


def test_equal_arrays_in_other_containers_are_identical(tmp_path: Path) -> None:
    """One is deflated, the other is not."""
    left = npz(tmp_path / "left.npz", a=np.arange(3.0))
    right = tmp_path / "right.npz"
    np.savez(right, a=np.arange(3.0))
    report = diff_arrays(left, right)
    assert (report.verdict, report.arrays_equal) == ("identical", 1)
    assert "1 array compared: equal in name, type, shape and every bit." in words(report)


def test_two_npy_files(tmp_path: Path) -> None:
    """The array of an npy has no name."""
    for name, value in (("a", 1.0), ("b", 2.0)):
        np.save(tmp_path / f"{name}.npy", np.full(2, value))
    report = diff_arrays(tmp_path / "a.npy", tmp_path / "b.npy")
    assert (report.verdict, report.arrays[0].array, report.arrays[0].kind) == (
        "differs", "", "everything",
    )  # fmt: skip
    assert "array: all 2 elements, at most" in words(report)


def test_a_file_that_holds_pickles_is_not_read(tmp_path: Path) -> None:
    """An array of objects is named, and nothing is unpickled."""
    left = npz(tmp_path / "left.npz", a=np.zeros(2))
    right = npz(tmp_path / "right.npz", a=np.array([{}, None], object))
    report = diff_arrays(left, right)
    assert (report.verdict, report.left.problem) == ("damaged", None)
    assert report.right.problem == (
        "its array 'a' is of a type that is not compared by its elements"
    )
    assert "right.npz cannot be read: its array 'a' is of a type" in words(report)


def test_a_damaged_side_is_named(tmp_path: Path) -> None:
    """Elements that are not those that were written are found where they are read."""
    left, right = (tmp_path / f"{side}.npz" for side in ("left", "right"))
    for path in (left, right):
        np.savez(path, a=np.arange(100.0))
    with zipfile.ZipFile(right) as archive:
        place = archive.infolist()[0].header_offset + 400
    data = bytearray(right.read_bytes())
    data[place] ^= 1
    right.write_bytes(data)
    report = diff_arrays(left, right)
    assert (report.verdict, report.left.problem) == ("damaged", None)
    assert report.right.problem == "its array 'a' is damaged"


@pytest.mark.parametrize("names", [("a.npz", "b.npy"), ("a.npz", "b.txt"), ("a.zip", "b.zip")])
def test_two_files_of_one_kind_are_expected(tmp_path: Path, names: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match="expected two npz or two npy files"):
        diff_arrays(*(tmp_path / name for name in names))


def test_a_file_that_is_not_there_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"a\.npz: cannot be read: No such file"):
        diff_arrays(tmp_path / "a.npz", tmp_path / "a.npz")


def test_the_first_arrays_are_described_and_all_are_counted(tmp_path: Path) -> None:
    left = npz(tmp_path / "left.npz", **{f"a{k:03}": np.zeros(1) for k in range(120)})
    right = npz(tmp_path / "right.npz", **{f"a{k:03}": np.ones(1) for k in range(120)})
    report = diff_arrays(left, right)
    assert report.arrays_differing == 120
    assert len(report.arrays) == 100
    assert "and 100 more arrays" in words(report)
    assert ArraysDifference.model_validate_json(report.model_dump_json()) == report
