"""What git is asked, and what becomes of a checkout that is not as usual."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from repropack._run.checkout import author_name, observe_origin, tracked_files
from repropack.errors import CouldNotRunError
from repropack.models.manifest import Origin

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
IDENTITY = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *IDENTITY, "-c", "protocol.file.allow=always", *words],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")


def commit(folder: Path, files: Mapping[str, str], *options: str) -> str:
    """A repository with one commit of these files; returns the commit."""
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q", *options)
    write(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "one")
    return git(folder, "rev-parse", "HEAD")


def origin(folder: Path, *names: str) -> Origin | None:
    """The origin of a package that holds these files of the folder."""
    return observe_origin(folder, {name: folder / name for name in names}, lambda path: True)


def no_git(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str | None = None) -> None:
    """Let no git be found, or another program of that name."""
    programs = folder / "programs"
    programs.mkdir()
    if script is not None:
        (programs / "git").write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))


# ---------------------------------------------------------------- tracked files


@needs_git
def test_tracked_files_are_those_of_the_index(tmp_path):
    """Committed or only added: tracked. Neither ignored nor untracked files are."""
    commit(tmp_path, {"lab.py": "1", "sub/a b.txt": "2", ".gitignore": "*.log\n", "x.log": "3"})
    write(tmp_path, {"added.py": "4", "untracked.py": "5"})
    git(tmp_path, "add", "added.py")
    assert tracked_files(tmp_path) == (".gitignore", "added.py", "lab.py", "sub/a b.txt")


@needs_git
def test_a_project_in_a_folder_of_the_checkout(tmp_path):
    """Paths are relative to the project folder, and what lies beside it is not listed."""
    commit(tmp_path, {"one/lab.py": "1", "two/b.py": "2"})
    assert tracked_files(tmp_path / "one") == ("lab.py",)


def test_no_checkout(tmp_path):
    """Where there is no git there is nothing to ask."""
    assert tracked_files(tmp_path) == ()
    assert origin(tmp_path) is None


@needs_git
def test_an_empty_dot_git_is_no_checkout(tmp_path):
    """A folder that is only called ``.git`` tracks nothing."""
    (tmp_path / ".git").mkdir()
    assert tracked_files(tmp_path) == ()
    assert origin(tmp_path, "lab.py") is None


@needs_git
@pytest.mark.parametrize("harm", ["head", "objects", "worktree"])
def test_a_repository_that_git_does_not_know_any_more(tmp_path, harm):
    """What it tracked cannot be told, so that nothing else is packed in its place."""
    commit(tmp_path, {"lab.py": "1"})
    if harm == "head":
        (tmp_path / ".git/HEAD").write_text("nothing\n", "utf-8")
    elif harm == "objects":
        shutil.rmtree(tmp_path / ".git/objects")
    else:
        shutil.rmtree(tmp_path / ".git")
        (tmp_path / ".git").write_text("gitdir: /nowhere/worktrees/lab\n", "utf-8")
    with pytest.raises(CouldNotRunError, match="git refuses the project's checkout: fatal: not a"):
        tracked_files(tmp_path)
    assert origin(tmp_path, "lab.py") is None


@needs_git
def test_names_of_any_bytes(tmp_path):
    """A name that is no UTF-8 arrives as Python spells it; a newline is part of a name."""
    odd = os.fsdecode(b"caf\xe9.py")
    commit(tmp_path, {odd: "1", "a\nb.py": "2"})
    assert tracked_files(tmp_path) == ("a\nb.py", odd)


@needs_git
def test_links_are_listed_and_submodules_are_not(tmp_path):
    """A link is the project's to explain; a submodule is another repository."""
    commit(tmp_path / "other", {"deep.py": "1"})
    commit(tmp_path / "own", {"lab.py": "1"})
    git(tmp_path / "own", "submodule", "--quiet", "add", "../other", "sub")
    (tmp_path / "own/link.py").symlink_to("lab.py")
    git(tmp_path / "own", "add", "-A")
    assert tracked_files(tmp_path / "own") == (".gitmodules", "lab.py", "link.py")


@needs_git
def test_conflicts_list_a_file_once(tmp_path):
    """A file with three stages in the index is one file."""
    commit(tmp_path, {"lab.py": "1"}, "-b", "main")
    git(tmp_path, "checkout", "-q", "-b", "other")
    write(tmp_path, {"lab.py": "2"})
    git(tmp_path, "commit", "-q", "-a", "-m", "two")
    git(tmp_path, "checkout", "-q", "main")
    write(tmp_path, {"lab.py": "3"})
    git(tmp_path, "commit", "-q", "-a", "-m", "three")
    with pytest.raises(subprocess.CalledProcessError):
        git(tmp_path, "merge", "other")
    assert tracked_files(tmp_path) == ("lab.py",)


@needs_git
def test_nothing_of_the_repository_is_started(tmp_path):
    """Neither hooks nor a monitor of files nor filters run, whatever the configuration says."""
    commit(tmp_path, {"lab.py": "1", ".gitattributes": "* filter=x\n"})
    mark = tmp_path / "started"
    for key in ("core.fsmonitor", "filter.x.clean", "filter.x.smudge", "filter.x.process"):
        git(tmp_path, "config", key, f"touch {mark}")
    assert tracked_files(tmp_path) == (".gitattributes", "lab.py")
    assert origin(tmp_path, "lab.py", ".gitattributes") == Origin(
        commit=git(tmp_path, "rev-parse", "HEAD"), clean=True
    )
    assert not mark.exists()


@needs_git
def test_variables_of_git_do_not_lead_elsewhere(tmp_path, monkeypatch):
    """A hook that builds has variables that point at another repository."""
    commit(tmp_path / "a", {"lab.py": "1"})
    commit(tmp_path / "b", {"other.py": "1"})
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "b/.git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "b"))
    assert tracked_files(tmp_path / "a") == ("lab.py",)


# ---------------------------------------------------------------- git that does not answer


def test_git_is_not_installed(tmp_path, monkeypatch):
    """What is packed must not depend unseen on a program that is missing."""
    (tmp_path / ".git").mkdir()
    no_git(monkeypatch, tmp_path)
    with pytest.raises(CouldNotRunError) as caught:
        tracked_files(tmp_path)
    assert caught.value.message == (
        "the project lies in a checkout of git: expected git to be installed, observed none"
    )
    assert caught.value.hint == (
        "install git, or list the files to pack under source, which asks git for nothing"
    )
    assert origin(tmp_path) is None
    assert author_name(tmp_path) is None


def test_dubious_ownership(tmp_path, monkeypatch):
    """A checkout of somebody else is git's to refuse; the hint says what to do."""
    (tmp_path / ".git").mkdir()
    refusal = "fatal: detected dubious ownership in repository at x"
    no_git(monkeypatch, tmp_path, f"echo '{refusal}' >&2; exit 128")
    with pytest.raises(CouldNotRunError) as caught:
        tracked_files(tmp_path)
    assert caught.value.message == f"git refuses the project's checkout: {refusal}"
    assert caught.value.hint == (
        "`git config --global --add safe.directory FOLDER` if you trust it, or list the files to "
        "pack under source, which asks git for nothing"
    )
    assert origin(tmp_path) is None


# ---------------------------------------------------------------- origin


@needs_git
def test_clean(tmp_path):
    """Every packed file is the commit's: clean. The commit is named in full."""
    head = commit(tmp_path, {"lab.py": "1\n", "run.sh": "2"})
    (tmp_path / "run.sh").chmod(0o755)
    assert origin(tmp_path, "lab.py", "run.sh") == Origin(commit=head, clean=True)


@needs_git
@pytest.mark.parametrize("change", ["edited", "added", "untracked", "deleted", "assumed"])
def test_not_clean(tmp_path, change):
    """A packed file that is not the commit's, or one of the commit's that is not packed."""
    head = commit(tmp_path, {"lab.py": "1", "b.py": "2"})
    names = ["lab.py", "b.py"]
    if change in {"edited", "assumed"}:
        if change == "assumed":
            git(tmp_path, "update-index", "--assume-unchanged", "b.py")
        write(tmp_path, {"b.py": "3"})
    elif change == "deleted":
        names.remove("b.py")
    else:
        write(tmp_path, {"new.py": "3"})
        names.append("new.py")
        if change == "added":
            git(tmp_path, "add", "new.py")
    assert origin(tmp_path, *names) == Origin(commit=head, clean=False)


@needs_git
def test_clean_concerns_the_packed_files_alone(tmp_path):
    """A file that would not be packed may be changed or missing."""
    head = commit(tmp_path, {"lab.py": "1", "notes.txt": "2"})
    write(tmp_path, {"notes.txt": "3"})
    found = observe_origin(tmp_path, {"lab.py": tmp_path / "lab.py"}, lambda path: path == "lab.py")
    assert found == Origin(commit=head, clean=True)


@needs_git
def test_origin_in_a_folder_of_the_checkout(tmp_path):
    """The commit is the repository's, the files are the project's."""
    head = commit(tmp_path, {"one/lab.py": "1", "two/b.py": "2"})
    write(tmp_path, {"two/b.py": "3"})
    assert origin(tmp_path / "one", "lab.py") == Origin(commit=head, clean=True)


@needs_git
def test_a_repository_that_knows_nothing_of_the_folder(tmp_path):
    """The commit of a home folder says nothing of a project that it does not hold."""
    commit(tmp_path, {"dotfile": "1"})
    write(tmp_path, {"project/lab.py": "1"})
    assert tracked_files(tmp_path / "project") == ()
    assert origin(tmp_path / "project", "lab.py") is None


@needs_git
def test_no_commit_yet(tmp_path):
    """Files that were added and never committed have no origin."""
    git(tmp_path, "init", "-q")
    write(tmp_path, {"lab.py": "1"})
    git(tmp_path, "add", "lab.py")
    assert tracked_files(tmp_path) == ("lab.py",)
    assert origin(tmp_path, "lab.py") is None


@needs_git
def test_a_repository_of_sha256(tmp_path):
    """Git's other kind of name is 64 digits long."""
    head = commit(tmp_path, {"lab.py": "1"}, "--object-format=sha256")
    assert len(head) == 64
    assert origin(tmp_path, "lab.py") == Origin(commit=head, clean=True)


@needs_git
def test_name_of_the_author(tmp_path):
    """``user.name`` as git has it; none where it has none."""
    git(tmp_path, "init", "-q")
    assert author_name(tmp_path) is None
    git(tmp_path, "config", "user.name", "Ada L.")
    assert author_name(tmp_path) == "Ada L."
