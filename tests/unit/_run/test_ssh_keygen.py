"""How ``ssh-keygen`` is found, and what is said where it is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from repropack._run import ssh_keygen
from repropack._run.ssh_keygen import Starts, find_ssh_keygen, fingerprint_of, sign_file
from repropack.errors import CouldNotRunError, UsageError


def script(folder: Path, text: str) -> Path:
    place = folder / "ssh-keygen"
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(0o755)
    return place


def test_it_is_found_in_absolute_folders_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that lies in the working directory is not started."""
    place = script(tmp_path, "exit 0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_ssh_keygen() == str(place)
    for path in (".", "", f"{tmp_path}/none", ":"):
        monkeypatch.setenv("PATH", path)
        with pytest.raises(CouldNotRunError, match="expected on PATH") as caught:
            find_ssh_keygen()
        assert "openssh-client" in str(caught.value.hint)


def test_a_key_that_is_none_is_wrong_use(tmp_path: Path) -> None:
    """Before anything is started."""
    with pytest.raises(UsageError, match="none: expected a key, observed no such file"):
        sign_file(tmp_path / "f", tmp_path / "none", "n")


def test_what_does_not_sign_is_told_with_its_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it says that it did, and wrote nothing."""
    key = tmp_path / "key"
    key.touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    for status in (0, 255):
        script(tmp_path, f"exit {status}")
        with pytest.raises(CouldNotRunError, match=f"did not sign: status {status};"):
            sign_file(tmp_path / "f", key, "n")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("echo 'Good \"n\" signature with X key SHA256:'%s", None),
        (f"echo 'Good \"n\" signature with X key SHA256:{'a' * 43}'", f"SHA256:{'a' * 43}"),
        (f"echo 'x key SHA256:{'a' * 43} and more'", None),
        (f"echo 'Good key SHA256:{'a' * 43}'; exit 255", None),
    ],
)
def test_a_fingerprint_is_taken_only_from_a_good_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, found: str | None
) -> None:
    """Status 0 and the fingerprint at its end."""
    script(tmp_path, text)
    (tmp_path / "f").touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert fingerprint_of(tmp_path / "f", tmp_path / "s", "n") == found


def test_what_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Judging and signing, each after its own time; it says what it may wait for."""
    script(tmp_path, "exec /bin/sleep 60")
    (tmp_path / "f").touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(ssh_keygen, "MAX_SECONDS", 0.1)
    monkeypatch.setattr(ssh_keygen, "MAX_SIGNING_SECONDS", 0.1)
    with pytest.raises(CouldNotRunError, match=r"an answer within 0\.1 seconds, observed none"):
        fingerprint_of(tmp_path / "f", tmp_path / "s", "n")
    with pytest.raises(CouldNotRunError, match=r"a signature within 0\.1 seconds") as caught:
        sign_file(tmp_path / "f", tmp_path / "f", "n")
    assert "a touch" in str(caught.value.hint)


def test_signing_is_interrupted_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the process that waits for a touch is gone."""
    script(
        tmp_path, f"echo $$ > {tmp_path}/pid; /bin/sleep 0.2; kill -INT $PPID; exec /bin/sleep 60"
    )
    (tmp_path / "f").touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        sign_file(tmp_path / "f", tmp_path / "f", "n")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_no_more_starts_than_there_may_be() -> None:
    """The next one is refused."""
    starts = Starts(2)
    starts.take()
    starts.take()
    with pytest.raises(CouldNotRunError, match="expected at most 10000 starts for one answer"):
        starts.take()
