"""Bad input through the command line: one line that says what, where, expected and observed."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from repropack._cli.main import main
from tests.hostile.test_lies import forge_checkpoint
from tests.support.hostile import Forgery, take_apart

pytestmark = pytest.mark.slow

LOG = "runs/adam-reset/fingerprints.jsonl"


@pytest.fixture
def forgery(lab_package: Path) -> Forgery:
    return take_apart(lab_package)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Status, standard output and standard error of a command; never a traceback."""
    status = main(list(arguments))
    shown = capsys.readouterr()
    assert "Traceback" not in shown.out + shown.err
    return status, shown.out, shown.err


@pytest.mark.parametrize("verb", ["check", "verify", "inspect"])
def test_a_path_that_does_not_exist(verb: str, capsys, tmp_path: Path) -> None:
    """Wrong use: one line on standard error, nothing on standard output."""
    missing = str(tmp_path / "none.zip")
    status, out, err = run(capsys, verb, missing)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert "none.zip: no such file or directory: expected a package" in err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(b"", "an empty file", id="empty"),
        pytest.param(b"hello, world\n", "not a zip archive", id="text"),
        pytest.param(b"PK\x05\x06" + bytes(18), "manifest.json", id="zip-without-entries"),
    ],
)
def test_a_file_that_is_no_package(content: bytes, words: str, capsys, tmp_path: Path) -> None:
    """Damaged: what was expected of the first bytes, and what is there."""
    path = tmp_path / "file.zip"
    path.write_bytes(content)
    status, out, err = run(capsys, "check", str(path))
    assert status == 3
    assert words in " ".join((out + err).split())


def test_a_zip_of_something_else(capsys, tmp_path: Path) -> None:
    """A zip that another tool wrote is in another form; a hint says what may have happened."""
    path = tmp_path / "other.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("hello.txt", "hello")
    status, out, err = run(capsys, "check", str(path))
    assert status == 3
    assert "hello.txt" in out + err


def test_a_zip_of_the_other_tool_of_this_name(capsys, tmp_path: Path) -> None:
    """An unrelated format has the same name: the reader says so."""
    path = tmp_path / "other.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps({"format": "repropack"}))
    status, out, err = run(capsys, "check", str(path))
    assert status == 3
    assert "another tool that is also called ReproPack" in " ".join((out + err).split())


def test_one_flipped_byte_in_any_entry(lab_package: Path, capsys, tmp_path: Path) -> None:
    """Wherever it lies, ``check`` names the entry."""
    data = bytearray(lab_package.read_bytes())
    with zipfile.ZipFile(lab_package) as archive:
        members = [info for info in archive.infolist() if info.file_size]
    for info in members:
        place = info.header_offset + 30 + len(info.filename.encode()) + info.file_size // 2
        data[place] ^= 0x10
        path = tmp_path / "flipped.zip"
        path.write_bytes(data)
        status, out, err = run(capsys, "check", "--fast", str(path))
        data[place] ^= 0x10
        assert status == 3
        assert info.filename in out + err


def test_a_missing_and_an_extra_entry(forgery: Forgery, capsys, tmp_path: Path) -> None:
    """Both are named, in one report."""
    manifest = forgery.seal()
    data = forgery.files.pop("results.json")
    forgery.files["source/sitecustomize.py"] = data
    path = forgery.write_directory(tmp_path / "package", manifest)
    status, out, _ = run(capsys, "check", str(path))
    assert status == 3
    assert "results.json: missing: expected what the manifest lists" in out
    assert "source/sitecustomize.py: unexpected: expected nothing that the manifest does not" in out


def test_a_newer_format_version(forgery: Forgery, capsys, tmp_path: Path) -> None:
    """Not damaged: this release cannot tell, and says what would."""
    manifest = json.loads(forgery.seal())
    manifest["format_version"] = 2
    path = forgery.write_zip(tmp_path / "newer.zip", json.dumps(manifest).encode())
    status, out, err = run(capsys, "check", str(path))
    assert status == 4
    assert "format version: expected 1 to 1, observed 2" in out + err


def cut(lines: list[bytes]) -> None:
    del lines[7]


def edit(lines: list[bytes]) -> None:
    lines[7] = lines[7].replace(b'"loss":"0', b'"loss":"1')


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(cut, "expected step 46, observed step 47", id="cut"),
        pytest.param(edit, "the chain is broken here", id="edited"),
    ],
)
def test_a_log_with_a_line_cut_out_or_edited(
    change: Callable[[list[bytes]], None], words: str, forgery: Forgery, capsys, tmp_path: Path
) -> None:
    """The digests are right again; the chain is not, and the line is named."""
    lines = forgery.files[LOG].splitlines(keepends=True)
    change(lines)
    forgery.files[LOG] = b"".join(lines)
    status, out, _ = run(capsys, "check", str(forgery.write_zip(tmp_path / "log.zip")))
    assert status == 3
    shown = " ".join(out.split())
    assert f"{LOG}: line 8" in shown
    assert words in shown


def test_a_checkpoint_changed_with_all_digests_recomputed(
    forgery: Forgery, capsys, tmp_path: Path
) -> None:
    """``check`` finds a whole package; ``verify`` runs it, and says where it differs."""
    forge_checkpoint(forgery)
    path = str(forgery.write_zip(tmp_path / "forged.zip"))
    assert run(capsys, "check", path)[0] == 0
    status, out, _ = run(capsys, "verify", "--runs", "reference", path)
    assert status == 1
    assert out.startswith("differs")
    assert "first divergence: step 60" in out
    assert "adam.first_moment[3]" in out


def test_a_checkpoint_that_only_its_companion_believes(
    forgery: Forgery, capsys, tmp_path: Path
) -> None:
    """Arrays, companion and manifest agree; the log does not: damaged, and nothing is run."""

    def change(arrays: dict[str, object], _: object) -> None:
        arrays["weights"] = np.zeros(24, "<f4")

    forgery.edit_checkpoint("reference", 60, change)
    path = str(forgery.write_zip(tmp_path / "forged.zip"))
    for verb in ("check", "verify"):
        status, out, _ = run(capsys, verb, path)
        assert status == 3
        assert "component 'weights' after step 60" in " ".join(out.split())


def test_a_figure_that_shows_something_else(forgery: Forgery, capsys, tmp_path: Path) -> None:
    """A picture with a right digest is drawn again from the runs and does not match."""
    forgery.files["figures/agreement.png"] = forgery.files["figures/printed.png"]
    status, out, _ = run(capsys, "verify", str(forgery.write_zip(tmp_path / "forged.zip")))
    assert status == 1
    shown = " ".join(out.split())
    assert "figures/agreement.png" in shown
    assert "what is drawn from them in the package was not" in shown


def test_an_unpacked_package_is_a_package(lab_package: Path, capsys, tmp_path: Path) -> None:
    """Checked, and damaged once a file in it is touched."""
    folder = tmp_path / "unpacked"
    assert run(capsys, "unpack", str(lab_package), str(folder))[0] == 0
    assert run(capsys, "check", str(folder))[0] == 0
    shutil.copyfile(folder / "plan.json", folder / "LICENSE")
    status, out, _ = run(capsys, "check", str(folder))
    assert status == 3
    assert "LICENSE: digest differs" in " ".join(out.split())


def test_nothing_is_unpacked_into_the_package_itself(lab_package: Path, capsys, tmp_path: Path):
    """It would be damaged by it; a link to it is no way around."""
    whole = tmp_path / "whole"
    assert main(["unpack", str(lab_package), str(whole)]) == 0
    (tmp_path / "link").symlink_to(whole)
    before = sorted(whole.rglob("*"))
    for target in (whole / "out", tmp_path / "link/runs/out"):
        capsys.readouterr()
        assert main(["unpack", str(whole), str(target)]) == 2
        assert "outside the package" in capsys.readouterr().err
    assert sorted(whole.rglob("*")) == before
