"""What a confined program sees: what it needs to start, and nothing of the user's."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import repropack
from repropack._run.confinement import view as module
from repropack._run.confinement.view import (
    View,
    compute_view,
    follow,
    foreign_view,
    machine_view,
    private_folders,
)
from repropack.errors import CouldNotRunError


def fill(folder: Path, *names: str) -> None:
    """Files, each with its folders."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def seen_from(folder: Path, **told: Any) -> View:
    """The view of an interpreter that lies below ``folder``, which is a home folder."""
    given = {"path": [], "prefixes": [], "executable": sys.executable, "found": []} | told
    private = frozenset({str(folder), *map(str, folder.parents)})
    return compute_view(given, libraries=(), private=private)


def below(folder: Path, paths: tuple[str, ...]) -> list[str]:
    """Of ``paths`` those below ``folder``, as they lie there."""
    return [
        str(Path(path).relative_to(folder)) for path in paths if Path(path).is_relative_to(folder)
    ]


def test_an_interpreter_in_a_home_folder_is_shown_and_the_home_is_not(tmp_path: Path) -> None:
    """Of a prefix: programs, libraries, and the file that makes it a virtual environment."""
    fill(tmp_path, ".ssh/id", "env/pyvenv.cfg", "env/bin/python", "env/secret.txt", "notes.txt")
    fill(tmp_path, "env/lib/python3.11/site-packages/numpy/__init__.py")
    view = seen_from(
        tmp_path,
        prefixes=[str(tmp_path / "env")],
        path=[str(tmp_path / "env/lib/python3.11/site-packages")],
        executable=str(tmp_path / "env/bin/python"),
    )
    assert below(tmp_path, view.shown) == ["env/bin", "env/lib", "env/pyvenv.cfg"]
    assert below(tmp_path, view.listed) == []


def test_the_users_own_site_is_shown_alone(tmp_path: Path) -> None:
    """Installed with --user: the folder of distributions, and nothing above it."""
    fill(tmp_path, ".local/lib/python3.11/site-packages/lab/__init__.py", ".local/share/secret")
    view = seen_from(tmp_path, path=[str(tmp_path / ".local/lib/python3.11/site-packages")])
    assert below(tmp_path, view.shown) == [".local/lib/python3.11/site-packages"]


def test_of_an_editable_folder_what_can_be_imported_is_shown(tmp_path: Path) -> None:
    """Packages, modules and metadata; no hidden file, no data, no results."""
    fill(
        tmp_path / "project",
        "lab/__init__.py", "lab/core.py", "lab/data.csv", "tool.py", "fast.cpython-311.so",
        "lab.egg-info/PKG-INFO", ".git/config", ".env", "results/run.json", "notes/secret.py",
        "README.md", "package.zip",
    )  # fmt: skip
    view = seen_from(tmp_path, path=[str(tmp_path / "project")])
    assert below(tmp_path / "project", view.shown) == [
        "fast.cpython-311.so", "lab", "lab.egg-info", "tool.py",
    ]  # fmt: skip
    assert below(tmp_path, view.listed) == ["project"]


def test_hidden_files_within_a_package_are_not_shown(tmp_path: Path) -> None:
    """Then what lies beside them is shown by itself, and links are left out."""
    fill(tmp_path / "p", "lab/__init__.py", "lab/sub/a.py", "lab/sub/.key", "lab/other/b.py")
    (tmp_path / "p/lab/link").symlink_to(tmp_path)
    view = seen_from(tmp_path, path=[str(tmp_path / "p")])
    assert below(tmp_path / "p", view.shown) == ["lab/__init__.py", "lab/other", "lab/sub/a.py"]
    assert below(tmp_path / "p", view.listed) == [".", "lab", "lab/sub"]


def test_a_home_on_the_search_path_is_not_listed(tmp_path: Path) -> None:
    """A module in it is shown; the names of all the rest stay hidden."""
    fill(tmp_path, "lab.py", "diary.txt")
    view = seen_from(tmp_path, path=[str(tmp_path)])
    assert below(tmp_path, view.shown) == ["lab.py"]
    assert below(tmp_path, view.listed) == []


def test_what_a_finder_leads_to_is_shown(tmp_path: Path) -> None:
    """A folder, a file, or a module that is named without its suffix."""
    fill(tmp_path / "src", "lab/__init__.py", "tool.py", "tools.py", "secret.txt")
    found = [str(tmp_path / "src/lab"), str(tmp_path / "src/tool"), str(tmp_path / "src/absent")]
    assert below(tmp_path / "src", seen_from(tmp_path, found=found).shown) == ["lab", "tool.py"]


def test_links_on_the_way_are_told(tmp_path: Path) -> None:
    """The real place is shown; the links that lead to it can be made again."""
    fill(tmp_path, "versions/3.11.7/bin/python3.11", "versions/3.11.7/lib/os.py")
    (tmp_path / "versions/3.11").symlink_to("3.11.7")
    (tmp_path / "python").symlink_to("versions/3.11/bin/python3.11")
    view = seen_from(
        tmp_path,
        prefixes=[str(tmp_path / "versions/3.11")],
        executable=str(tmp_path / "python"),
    )
    assert below(tmp_path, view.shown) == ["versions/3.11.7/bin", "versions/3.11.7/lib"]
    assert dict(view.links).items() >= {
        (str(tmp_path / "python"), "versions/3.11/bin/python3.11"),
        (str(tmp_path / "versions/3.11"), "3.11.7"),
    }


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    real, links = follow(str(tmp_path / "a" / "c"))
    assert real in {str(tmp_path / "a"), str(tmp_path / "b")}
    assert links == {str(tmp_path / "a"): "b", str(tmp_path / "b"): "a"}


@pytest.mark.parametrize(
    ("path", "real"),
    [
        ("way/../kept/./x", "kept/x"),
        ("up", ""),
        ("absolute/x", "kept/x"),
        ("kept/no/x", "kept/no/x"),
    ],
)
def test_paths_are_followed_as_the_kernel_does(tmp_path: Path, path: str, real: str) -> None:
    fill(tmp_path, "kept/x", "way/y")
    (tmp_path / "up").symlink_to("kept/..")
    (tmp_path / "absolute").symlink_to(tmp_path / "kept")
    assert follow(f"{tmp_path}/{path}")[0] == str(tmp_path / real)


def test_a_package_with_too_many_files_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is shown that was not looked through."""
    fill(tmp_path, "lab/__init__.py", *(f"lab/{k}.py" for k in range(20)))
    monkeypatch.setattr(module, "_MAX_ENTRIES", 20)
    with pytest.raises(CouldNotRunError, match="expected at most 20 files in a package"):
        seen_from(tmp_path, path=[str(tmp_path)])


def test_this_machines_view_holds_what_a_worker_needs() -> None:
    """This interpreter, NumPy and this copy of repropack; no home, no temporary folder."""
    view = machine_view()
    for needed in (sys.executable, Path(repropack.__file__), np.__file__):
        real = Path(str(needed)).resolve()
        assert any(real == Path(p) or Path(p) in real.parents for p in view.shown), needed
    assert not set(view.shown) & private_folders()
    assert not set(view.listed) & private_folders()
    checkout = Path(repropack.__file__).parents[1]
    assert str(checkout) not in view.shown
    assert not any(Path(path).is_relative_to(checkout / ".git") for path in view.shown)


def test_private_folders_are_homes_temporary_folders_and_all_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert private_folders() >= {str(tmp_path), str(tmp_path.parent), "/", "/tmp", "/run", "/home"}


def test_a_user_without_a_name_has_private_folders_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that is started with a number."""

    def unknown(number: int) -> None:
        raise KeyError(number)

    monkeypatch.setattr("pwd.getpwuid", unknown)
    monkeypatch.delenv("HOME")
    assert private_folders() >= {"/", "/tmp", "/run", "/home", "/root"}


def test_two_views_are_joined() -> None:
    """What lies in something else that is shown is not named again."""
    left = View(("/a/lib", "/b"), ("/c",), (("/l", "a"),))
    right = View(("/a", "/d"), ("/b/e",), (("/l", "a"), ("/m", "d")))
    assert left.joined(right) == View(("/a", "/b", "/d"), ("/c",), (("/l", "a"), ("/m", "d")))


def test_the_view_of_an_environment_is_made_without_starting_it(tmp_path: Path) -> None:
    """Its interpreter is a program that would leave a trace; its distributions are shown."""
    home, trace = tmp_path / "env", tmp_path / "trace"
    fill(home, "bin/python", "pyvenv.cfg", "lib/python3.11/site-packages/zz.pth", "notes.txt")
    (home / "bin/python").write_text(f"#!/bin/sh\ntouch {trace}\n")
    (home / "bin/python").chmod(0o755)
    view = foreign_view(sys.executable, home)
    assert not trace.exists()
    assert below(tmp_path, view.shown) == ["env/bin", "env/lib", "env/pyvenv.cfg"]
    shown = [path for path in sys.path if path.endswith("site-packages")]
    base = Path(sys.base_prefix) / "lib"
    assert all(
        str(Path(path).resolve()) not in view.shown
        for path in shown
        if not Path(path).resolve().is_relative_to(base.resolve())
    )


def test_an_interpreter_that_does_not_begin_has_no_view(tmp_path: Path) -> None:
    """There is no answer then."""
    with pytest.raises(CouldNotRunError, match="cannot be asked what it imports"):
        foreign_view(str(tmp_path / "none"), tmp_path)
