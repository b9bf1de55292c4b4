"""What is given to ``diff`` is told apart by what lies there, and refused where it is nothing."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from repropack._read.sides import Side, check_listed, open_log, read_side
from repropack.errors import IntegrityError, PackageFormatError, UsageError
from tests.support.handmade_logs import log_bytes, step
from tests.support.hostile import take_apart

LOG = log_bytes([step(1)])


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("fingerprints.jsonl", LOG, "log"),
        ("empty.jsonl", b"", "log"),
        ("renamed.txt", LOG, "log"),
        ("marked.txt", b"\xef\xbb\xbf" + LOG, "log"),
        ("lab.zip", b"PK\x03\x04", "package"),
        ("none.zip", b"no zip", "package"),
        ("empty", b"", "package"),
        ("a.npz", b"PK\x03\x04", "arrays"),
        ("a.npy", b"", "arrays"),
        ("a.NPZ", b"PK\x03\x04", "arrays"),
        ("array.bin", b"\x93NUMPY\x01\x00", "arrays"),
    ],
)
def test_a_file_is_told_by_its_suffix_or_its_first_bytes(
    tmp_path: Path, name: str, content: bytes, kind: str
) -> None:
    """Nothing is tried out; what is no zip and no log is refused as a package."""
    path = tmp_path / name
    path.write_bytes(content)
    assert read_side(path) == Side(str(path), kind, path)  # type: ignore[arg-type]


def test_a_folder_is_a_package_or_the_folder_of_a_run(tmp_path: Path) -> None:
    """A manifest decides; a fingerprint log without one stands for itself."""
    assert read_side(tmp_path).kind == "package"
    (tmp_path / "fingerprints.jsonl").write_bytes(LOG)
    assert read_side(tmp_path) == Side(str(tmp_path), "log", tmp_path / "fingerprints.jsonl")
    (tmp_path / "manifest.json").write_bytes(b"{}")
    assert read_side(tmp_path).kind == "package"


def test_a_run_is_named_behind_two_colons(tmp_path: Path) -> None:
    """With or without its folder; a file whose name has two colons is meant as it stands."""
    package = tmp_path / "lab.zip"
    package.write_bytes(b"PK\x03\x04")
    for name in ("adam-reset", "runs/adam-reset", "runs/adam-reset/"):
        given = f"{package}::{name}"
        assert read_side(given) == Side(given, "run", package, "adam-reset")
    named = tmp_path / "lab.zip::reference"
    named.write_bytes(LOG)
    assert read_side(named) == Side(str(named), "log", named)
    odd = tmp_path / "a::b.zip"
    odd.write_bytes(b"PK\x03\x04")
    assert read_side(f"{odd}::reference").path == odd


@pytest.mark.hostile
@pytest.mark.parametrize("name", ["", "../x", "Reference", "a/b", "\x1b[31m", "runs/x/y", "a b"])
def test_what_is_no_name_of_a_run_is_wrong_use(tmp_path: Path, name: str) -> None:
    """Behind the colons stands a run's name and no path."""
    (tmp_path / "lab.zip").write_bytes(b"PK\x03\x04")
    with pytest.raises(UsageError, match="expected PACKAGE::RUN"):
        read_side(f"{tmp_path / 'lab.zip'}::{name}")


@pytest.mark.hostile
def test_what_is_neither_file_nor_folder_is_wrong_use(tmp_path: Path) -> None:
    """Nothing there, a name that no system has, a fifo, which would never end; no run of a log."""
    with pytest.raises(UsageError, match=r"nowhere\.jsonl: no such file or directory"):
        read_side(tmp_path / "nowhere.jsonl")
    with pytest.raises(UsageError, match="no such file"):
        read_side("a\0b")
    with pytest.raises(UsageError, match="observed 'File name too long'"):
        read_side("x" * 5000)
    os.mkfifo(tmp_path / "fifo.jsonl")
    with pytest.raises(UsageError, match=r"expected a package.*observed a fifo"):
        read_side(tmp_path / "fifo.jsonl")
    (tmp_path / "a.jsonl").write_bytes(LOG)
    with pytest.raises(UsageError, match=r"a\.jsonl: expected a package before '::'"):
        read_side(f"{tmp_path / 'a.jsonl'}::reference")


@pytest.mark.hostile
def test_a_log_that_became_a_fifo_is_not_waited_for(tmp_path: Path) -> None:
    """What lay there a moment ago does not count."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(LOG)
    side = read_side(path)
    path.unlink()
    with ExitStack() as stack, pytest.raises(UsageError, match="observed 'No such file"):
        open_log(side, stack)
    os.mkfifo(path)
    with ExitStack() as stack, pytest.raises(UsageError, match="expected a file"):
        open_log(side, stack)


def test_a_package_stands_for_its_reference(lab_package: Path) -> None:
    """Its log is one of the package's entries; a run that is not there is wrong use."""
    with ExitStack() as stack:
        log = open_log(read_side(lab_package), stack)
        assert (log.where, log.run, log.random_access) == (
            "runs/reference/fingerprints.jsonl",
            "reference",
            True,
        )
        assert (log.stream.read(10) or b"") == b'{"config":'
        check_listed(log)
        with pytest.raises(UsageError, match=r"expected one of its runs \(reference, .*'no-run'"):
            open_log(read_side(f"{lab_package}::no-run"), stack)


def test_a_log_is_held_against_the_manifest(lab_package: Path, tmp_path: Path) -> None:
    """Another digest than listed, and an entry that is not listed at all."""
    forgery = take_apart(lab_package)
    manifest, entry = forgery.seal(), "runs/reference/fingerprints.jsonl"
    forgery.files[entry] += b" "
    bent = forgery.write_zip(tmp_path / "bent.zip", manifest)
    unlisted = forgery.write_zip(
        tmp_path / "unlisted.zip",
        manifest.replace(entry.encode(), entry.replace("f", "g").encode()),
    )
    for package, problem in ((bent, "digest differs"), (unlisted, "unexpected")):
        with ExitStack() as stack:
            log = open_log(read_side(package), stack)
            with pytest.raises(IntegrityError, match=f"{entry}.*: {problem}"):
                check_listed(log)
    (tmp_path / "no.zip").write_bytes(b"no zip")
    with ExitStack() as stack, pytest.raises(PackageFormatError):
        open_log(read_side(tmp_path / "no.zip"), stack)
