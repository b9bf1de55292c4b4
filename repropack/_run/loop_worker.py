"""The worker's end of a loop: start the script, pass on what it says, and tell how it ended.

The script's own process speaks the worker's protocol, through a named pipe in the worker's folder.
Messages are passed on as they come; only the last word waits until the script has ended well.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import subprocess
from pathlib import Path
from typing import BinaryIO

from repropack._format.canonical import decode_strict, encode_canonical
from repropack._run.command import check_status, start_command
from repropack.errors import CommandError, PackageFormatError
from repropack.models.worker import Job, LoopJob

FOLDER = "loop"
"""In the worker's folder: the job file, the pipe, and a folder to import repropack from."""

_PACKAGE = Path(__file__).resolve().parents[1]
_WAIT_MS = 50
_LAST_SECONDS = 5
_READ_BYTES = 1 << 16
_LAST_WORD = re.compile(rb'"kind":"(finished|failed)"')
_STEP = re.compile(rb'"step":([0-9]{1,16})\}\n\Z')


def run_loop(job: Job, protocol: BinaryIO) -> bool:
    """Run a script that attaches, to its end.

    Args:
        job: What is run; it has a clean copy, in which the script works.
        protocol: Where messages go.

    Returns:
        Whether the script's last word was that it has finished; where it was that it failed, that
        is told already.

    Raises:
        CommandError: it cannot be started, never attached, or ended without a last word or with
            another status than 0.
    """
    copy = Path(job.copy_folder or job.source)
    folder = Path.cwd() / FOLDER
    variables = _lay_out(job, copy, folder)
    # opened before there is a writer, so that the script never waits for a reader
    reader = os.open(folder / "messages", os.O_RDONLY | os.O_NONBLOCK)
    relay = _Relay(protocol, reader)
    process = start_command(job.run, job.experiment, copy, variables)
    try:
        while process.poll() is None:
            relay.wait()
            if job.trial and relay.last_word is not None:
                _let_it_end(process)
                return relay.tell_last_word()
        relay.drain()
    finally:
        os.close(reader)
        process.kill()
        process.wait()
    if relay.last_word != "failed":
        _check_end(job, relay, process, folder)
    return relay.tell_last_word()


def _let_it_end(process: subprocess.Popen[bytes]) -> None:
    """Leave a script the time to print what it raised."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_LAST_SECONDS)


def _lay_out(job: Job, copy: Path, folder: Path) -> dict[str, str]:
    """Make what the script's process needs to attach; returns its variables."""
    folder.mkdir()
    os.mkfifo(folder / "messages", 0o600)
    loop = LoopJob(job=job, messages=str(folder / "messages"), folder=str(copy))
    (folder / "job.json").write_bytes(encode_canonical(loop.model_dump(mode="json")))
    # this very copy of repropack, whatever else of that name the script could import
    modules = folder / "modules"
    modules.mkdir()
    (modules / "repropack").symlink_to(_PACKAGE)
    return {
        "PYTHONPATH": str(modules),
        "REPROPACK_JOB": str(folder / "job.json"),
    }


def _check_end(job: Job, relay: _Relay, process: subprocess.Popen[bytes], folder: Path) -> None:
    """A script ends with status 0, having attached and finished."""
    try:
        check_status(job.run, process.returncode)
    except CommandError as error:
        if relay.step is not None:
            error.hint = f"step {relay.step} is the last that it has made"
        raise
    if relay.last_word is not None:
        return
    if (folder / "job.json").exists():
        raise CommandError(
            job.run,
            "expected the script to call repropack.attach, observed its end without that",
            hint="take `steps` out of the project file where the command is to be run as a whole",
        )
    made = "no step" if relay.step is None else f"step {relay.step}"
    raise CommandError(
        job.run, f"expected {job.experiment.steps} steps, observed an end after {made}"
    )


class _Relay:
    """Passes messages on line by line, and keeps back the last word.

    Attributes:
        last_word: ``finished`` or ``failed`` where that was the last message.
        step: The step that was told last.
    """

    def __init__(self, protocol: BinaryIO, reader: int) -> None:
        self._protocol = protocol
        self._reader = reader
        self._poll = select.poll()
        self._poll.register(reader, select.POLLIN)
        self._rest = bytearray()
        self._kept = b""
        self.last_word: str | None = None
        self.step: int | None = None

    def wait(self) -> None:
        """Pass on what comes, or wait a moment where nothing does."""
        ready = self._poll.poll(_WAIT_MS)
        if ready and not self._read():
            select.poll().poll(_WAIT_MS)  # the other end is closed, which is ready at once

    def drain(self) -> None:
        """Pass on all that is there."""
        while self._read():
            continue

    def tell_last_word(self) -> bool:
        """Pass on the last word; returns whether it was ``finished``."""
        self._protocol.write(self._kept)
        self._protocol.flush()
        return self.last_word == "finished"

    def _read(self) -> bool:
        """Read what is there; returns whether there was anything."""
        try:
            data = os.read(self._reader, _READ_BYTES)
        except BlockingIOError:
            return False
        begun = len(self._rest)
        self._rest += data
        end = self._rest.rfind(b"\n", begun) + 1
        if end:
            for line in bytes(self._rest[:end]).splitlines(keepends=True):
                self._pass_on(line)
            self._protocol.flush()
            del self._rest[:end]
        return bool(data)

    def _pass_on(self, line: bytes) -> None:
        self.last_word = _last_word_of(line)
        if self.last_word is not None:  # another one replaces it: the last is what counts
            self._kept = line
            return
        self._kept = b""
        self._protocol.write(line)
        found = _STEP.search(line)
        if found is not None and int(found[1]):
            self.step = int(found[1])


def _last_word_of(line: bytes) -> str | None:
    if _LAST_WORD.search(line) is None:
        return None
    try:
        kind = decode_strict(line, where="a message")["kind"]
    except (PackageFormatError, KeyError, TypeError):  # the judge says what is wrong with it
        return None
    return kind if kind in {"finished", "failed"} else None
