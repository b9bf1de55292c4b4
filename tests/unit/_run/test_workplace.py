"""One process at a target at a time, and nothing of it left behind that is worth nothing."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from repropack._run.folders import MOVED_UP
from repropack._run.workplace import work_alone, work_folder
from repropack.errors import BusyError, CouldNotRunError, UsageError


def drop(work: Path) -> bool:
    return False


def keep(work: Path) -> bool:
    return True


def test_the_folder_lies_beside_the_target_and_goes_with_the_work(tmp_path: Path):
    """Made for the user alone, with missing parents; removed with all that is in it."""
    target = tmp_path / "a/b/lab.zip"
    with work_alone(target, drop) as work:
        assert work == tmp_path / "a/b/.lab.zip.work"
        assert work.stat().st_mode & 0o777 == 0o700
        (work / "scratch").mkdir()
        (work / "scratch/file").write_bytes(b"x")
    assert list((tmp_path / "a/b").iterdir()) == []


def test_what_is_worth_keeping_is_kept(tmp_path: Path):
    """The folder stays as it is, and can be held again."""
    with work_alone(tmp_path / "lab.zip", keep) as work:
        (work / "build.json").write_bytes(b"x")
    with work_alone(tmp_path / "lab.zip", drop) as work:
        assert [path.name for path in work.iterdir()] == ["build.json"]
    assert list(tmp_path.iterdir()) == []


def test_a_second_one_is_told_that_it_is_busy(tmp_path: Path):
    """At once, by the target's name; the first is not disturbed."""
    with work_alone(tmp_path / "lab.zip", drop) as work:
        with pytest.raises(BusyError) as caught, work_alone(tmp_path / "lab.zip", drop):
            pytest.fail("two at one target")
        assert work.is_dir()
    assert caught.value.code == "busy"
    assert caught.value.message == (
        "lab.zip: expected to be alone at it, observed another build or unpack under way"
    )


def test_another_target_is_not_busy(tmp_path: Path):
    """The lock is on one target."""
    with work_alone(tmp_path / "a.zip", drop), work_alone(tmp_path / "b.zip", drop) as work:
        assert work.name == ".b.zip.work"


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path):
    """The kernel frees it, whatever the process could still do."""
    program = (
        "import sys, time; from pathlib import Path\n"
        "from repropack._run.workplace import work_alone\n"
        "with work_alone(Path(sys.argv[1]), lambda _: True) as work:\n"
        "    (work / 'build.json').write_text('x'); print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "lab.zip")], stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(BusyError), work_alone(tmp_path / "lab.zip", drop):
        pytest.fail("two at one target")
    holder.kill()
    holder.communicate()
    with work_alone(tmp_path / "lab.zip", drop) as work:
        assert (work / "build.json").is_file()


def test_a_folder_that_was_removed_while_it_was_waited_for_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """What is held is always what the path names."""
    calls: list[int] = []
    folder, flock = work_folder(tmp_path / "lab.zip"), fcntl.flock

    def slow(descriptor: int, operation: int) -> None:
        if not calls:
            folder.rmdir()  # the one before is done with it
        calls.append(descriptor)
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", slow)
    with work_alone(tmp_path / "lab.zip", drop) as work:
        assert os.fstat(calls[-1]).st_ino == work.stat().st_ino
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("number", "error", "message"),
    [
        (errno.ENOSPC, CouldNotRunError, ".lab.zip.work: No space left on device"),
        (errno.EDQUOT, CouldNotRunError, ".lab.zip.work: Disk quota exceeded"),
        (errno.EIO, CouldNotRunError, ".lab.zip.work: Input/output error"),
        (errno.EROFS, UsageError, "lab.zip: cannot be written there: Read-only file system"),
        (errno.EACCES, UsageError, "lab.zip: cannot be written there: Permission denied"),
        (errno.ENAMETOOLONG, UsageError, "lab.zip: cannot be written there: File name too long"),
    ],
    ids=["full", "quota", "fault", "read-only", "permission", "long"],
)
def test_a_folder_that_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, error: type, message: str
):
    """A place that never can be written is wrong use; a disk that is full or fails is not."""
    mkdir = Path.mkdir

    def failing(self: Path, **options: Any) -> None:
        if self.name == ".lab.zip.work":
            raise OSError(number, os.strerror(number), self.name)
        mkdir(self, **options)

    monkeypatch.setattr(Path, "mkdir", failing)
    with pytest.raises(error) as caught, work_alone(tmp_path / "lab.zip", drop):
        pytest.fail("held nothing")
    assert type(caught.value) is error
    assert str(caught.value) == message


def test_a_file_system_without_locks_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """No lock is no reason to go on without."""

    def lacking(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", lacking)
    with pytest.raises(CouldNotRunError) as caught, work_alone(tmp_path / "lab.zip", drop):
        pytest.fail("held nothing")
    assert caught.value.code == "could-not-run"
    assert caught.value.message == ("lab.zip: cannot be locked against others: No locks available")


def test_a_link_in_its_place_is_not_followed(tmp_path: Path):
    """Nothing is made, or removed, where a link leads."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    work_folder(tmp_path / "lab.zip").symlink_to(elsewhere)
    with pytest.raises(UsageError) as caught, work_alone(tmp_path / "lab.zip", drop):
        pytest.fail("held a link")
    assert caught.value.message.startswith("lab.zip: cannot be written there: ")
    assert elsewhere.is_dir()


def test_somebody_elses_folder_is_not_touched(tmp_path: Path):
    """A folder of that name with anything else in it is refused, and stays."""
    folder = work_folder(tmp_path / "lab.zip")
    folder.mkdir()
    (folder / "thesis.tex").write_bytes(b"mine")
    with pytest.raises(UsageError) as caught, work_alone(tmp_path / "lab.zip", drop):
        pytest.fail("held somebody else's folder")
    assert caught.value.message == (
        ".lab.zip.work: expected a work folder of repropack, observed 'thesis.tex' in it"
    )
    assert (folder / "thesis.tex").read_bytes() == b"mine"


def test_the_identity_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A removal that is interrupted leaves a folder that nobody takes for something."""
    monkeypatch.setattr("repropack._run.workplace.remove_tree", lambda _: False)
    with work_alone(tmp_path / "lab.zip", drop) as work:
        (work / "build.json").write_bytes(b"x")
        (work / "recorded").mkdir()
    assert [path.name for path in work.iterdir()] == ["recorded"]


def test_a_removal_that_was_ended_halfway_keeps_nobody_out(tmp_path: Path) -> None:
    """What it had moved up by then is removed by whoever comes next."""
    left = work_folder(tmp_path / "lab.zip") / f"{MOVED_UP}1" / "runs"
    left.mkdir(parents=True)
    with work_alone(tmp_path / "lab.zip", drop) as work:
        assert work.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_another_user_made_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A link in it would lead our writes anywhere, and what it says was recorded is not ours."""
    folder = tmp_path / ".lab.zip.work"
    folder.mkdir()
    (folder / "build.json").write_bytes(b"theirs")
    fstat, ours = os.fstat, os.geteuid()

    def of_another(descriptor: int) -> os.stat_result:
        found = list(fstat(descriptor))
        found[stat.ST_UID] = ours + 1
        return os.stat_result(found)

    monkeypatch.setattr(os, "fstat", of_another)
    with (
        pytest.raises(UsageError, match="another user made"),
        work_alone(tmp_path / "lab.zip", drop),
    ):
        pytest.fail("worked in it")
    assert (folder / "build.json").read_bytes() == b"theirs"
    assert list(tmp_path.iterdir()) == [folder]


def test_a_file_system_that_gives_all_folders_one_owner_can_be_worked_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """There a folder of our own has another owner too."""
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    for keeps in (keep, drop):
        with work_alone(tmp_path / "lab.zip", keeps) as work:
            assert work.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_while_the_folder_is_removed_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the last moment leaves no work folder beside what was made."""
    asked: list[Path] = []

    def interrupted(work: Path) -> bool:
        asked.append(work)
        if len(asked) == 1:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt), work_alone(tmp_path / "lab.zip", interrupted) as work:
        (work / "recorded").mkdir()
    assert list(tmp_path.iterdir()) == []
