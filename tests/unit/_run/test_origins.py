"""Where modules come from, told by a process that imports none of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from repropack._format.canonical import decode_strict, encode_canonical
from repropack._run.origins import Installed, modules_outside

WORKER_MAIN = Path(__file__).parents[3] / "repropack/_run/worker_main.py"


def locate(folder: Path, *names: str) -> dict[str, list[str | None]]:
    """Ask a fresh interpreter that also searches ``folder``."""
    code = (
        f"import runpy, sys; sys.path.append({str(folder)!r}); sys.argv = ['x', 'locate']; "
        f"runpy.run_path({str(WORKER_MAIN)!r}, run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-B", "-c", code],
        input=encode_canonical(list(names)),
        capture_output=True,
        check=True,
    )
    answer = decode_strict(done.stdout, where="answer")
    assert isinstance(answer, dict)
    return answer


def install(folder: Path, name: str, *files: str, record: bool = True) -> None:
    """A distribution as an installer leaves it, with files that end in an error when imported."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", "utf-8")
    rows = []
    for file in files:
        place = folder / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("raise SystemExit('imported')\n", "utf-8")
        rows.append(f"{file},sha256=x,28\n")
    if record:
        (info / "RECORD").write_text("".join(rows), "utf-8")


def test_kinds(tmp_path):
    """Standard library, built in, installed, of nobody, nowhere; nothing is imported."""
    site = tmp_path / "site-packages"
    install(site, "mine", "mine/__init__.py", "mine/sub.py", "alone.py")
    (site / "stray.py").write_text("raise SystemExit('imported')\n", "utf-8")
    found = locate(
        site, *("json.decoder", "sys", "mine.sub", "alone", "stray", "nowhere", "repropack.build")
    )
    assert {name: row[0] for name, row in found.items()} == {
        "json.decoder": "installed",
        "sys": "installed",
        "mine.sub": "installed",
        "alone": "installed",
        "stray": "outside",
        "nowhere": "missing",
        "repropack.build": "installed",
    }
    assert found["stray"][1] == str(site / "stray.py")


def test_an_editable_install_is_outside(tmp_path):
    """A distribution that lists a finder and not the files lends its name to any bytes."""
    install(tmp_path / "site-packages", "mine", "__editable__.mine.pth")
    (tmp_path / "src").mkdir()
    (tmp_path / "src/mine.py").write_text("", "utf-8")
    assert locate(tmp_path / "src", "mine") == {"mine": ["outside", str(tmp_path / "src/mine.py")]}


def test_packages_without_a_file_of_their_own(tmp_path):
    """A namespace is installed where distributions lie, and is outside where they do not."""
    site, other = tmp_path / "site-packages", tmp_path / "other"
    install(site, "one", "spaced/one/__init__.py")
    (other / "loose/inner").mkdir(parents=True)
    assert locate(site, "spaced", "spaced.one") == {
        "spaced": ["installed", None],
        "spaced.one": ["installed", str(site / "spaced/one/__init__.py")],
    }
    assert locate(other, "loose") == {"loose": ["outside", str(other / "loose")]}


@pytest.mark.parametrize(
    ("folder", "expected"), [("dist-packages", "installed"), ("src", "outside")]
)
def test_distributions_that_list_no_files(tmp_path, folder, expected):
    """Those of a system are believed, and no other: a build leaves such folders in projects."""
    install(tmp_path / folder, "mine", "mine.py", record=False)
    assert locate(tmp_path / folder, "mine")["mine"][0] == expected


def test_modules_of_this_process(tmp_path, monkeypatch):
    """What was imported from a file that is nobody's is named; packed, own and known are not."""
    for name in ("packed", "own", "known_one", "stray"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"mod_{name}.py").write_text("", "utf-8")
        monkeypatch.syspath_prepend(str(folder))
        __import__(f"mod_{name}")
        monkeypatch.delitem(sys.modules, f"mod_{name}", raising=False)
        __import__(f"mod_{name}")
    before = frozenset(sys.modules) - {f"mod_{name}" for name in ("packed", "own", "stray")}
    found = modules_outside(tmp_path / "packed", (tmp_path / "own",), before)
    assert found == {"mod_stray": str(tmp_path / "stray/mod_stray.py")}
    for name in ("packed", "own", "known_one", "stray"):
        del sys.modules[f"mod_{name}"]


def test_links_into_a_store(tmp_path, monkeypatch):
    """An installer may link files of a distribution to where it keeps them."""
    site = tmp_path / "site-packages"
    install(site, "mine", "mine.py")
    (site / "mine.py").rename(tmp_path / "stored.py")
    (site / "mine.py").symlink_to(tmp_path / "stored.py")
    monkeypatch.syspath_prepend(str(site))
    assert Installed().holds(str(site / "mine.py"))
    assert not Installed().holds(str(tmp_path / "stored.py"))


def test_distributions_below_the_standard_library(tmp_path):
    """Where distributions lie below it, being there makes no file a part of it."""
    (tmp_path / "site-packages").mkdir()
    files = [tmp_path / name for name in ("mod.py", "site-packages/mod.py")]
    for file in files:
        file.write_text("", "utf-8")
    installed = Installed()
    installed.__dict__["_standard"] = (tmp_path,)
    assert [installed.holds(str(file)) for file in files] == [True, False]
