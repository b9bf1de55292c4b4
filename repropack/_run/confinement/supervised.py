"""A command under a supervisor, as the judge holds it: talk to it, hear how it ended, end it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from repropack._format.canonical import decode_strict, encode_canonical
from repropack._format.limits import DEFAULT_RUN_LIMITS
from repropack.errors import PackageFormatError

_MAIN = Path(__file__).with_name("supervisor.py")
_READ_BYTES = 1 << 16
_MAX_REPORT_BYTES = 1 << 16
END_SECONDS = 60
"""How long the supervisor may take to end a tree; it takes milliseconds."""


class Supervised:
    """One running command; a context manager that leaves no process behind.

    Attributes:
        stdin: The command's standard input.
        stdout: Its standard output, to be read by the caller; ``None`` where it holds prints.
    """

    def __init__(
        self,
        policy: Mapping[str, Any],
        *,
        folder: Path,
        environment: Mapping[str, str],
        umask: int = 0o022,
        output_bytes: int = DEFAULT_RUN_LIMITS.max_run_output_bytes,
        prints: bool = False,
    ) -> None:
        """Start it.

        Args:
            policy: What ``compose_policy`` gave.
            folder: Working directory.
            environment: All of its variables.
            umask: Mask of new files' modes.
            output_bytes: Bytes of standard error that are kept.
            prints: Standard output holds prints like standard error, and is not read by the caller.

        Raises:
            OSError: nothing could be started.
        """
        policy_from, policy_to = os.pipe()
        report_from, report_to = os.pipe()
        watched, self._life = os.pipe()
        passed = (policy_from, report_to, watched)
        self._report_from: int | None = report_from
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and script
                [sys.executable, "-I", "-S", "-B", str(_MAIN), *map(str, passed)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if prints else subprocess.PIPE,
                cwd=folder,
                env=environment,
                umask=umask,
                pass_fds=passed,
                start_new_session=True,
            )
        except OSError:
            for descriptor in (policy_to, report_from, self._life):
                os.close(descriptor)
            raise
        finally:
            for descriptor in passed:
                os.close(descriptor)
        printed: Any = self._process.stdout if prints else self._process.stderr
        self.stdin: Any = self._process.stdin
        self.stdout: Any = None if prints else self._process.stdout
        self._printed = _Tail(printed, output_bytes)
        self._report: dict[str, Any] | None = None
        with contextlib.suppress(BrokenPipeError), os.fdopen(policy_to, "wb") as stream:
            stream.write(encode_canonical(dict(policy)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def wait(self, seconds: float | None) -> dict[str, Any] | None:
        """Wait for the command's end.

        Args:
            seconds: At most so long; ``None`` for ever.

        Returns:
            The supervisor's report: ``status`` (negative for a signal), or ``limit`` with
            ``allowed`` and ``observed``, or ``problem`` where it could not begin; ``None`` where
            it has not ended.
        """
        if self._report is None and self._report_from is not None:
            waiting = select.poll()
            waiting.register(self._report_from, select.POLLIN)
            if waiting.poll(None if seconds is None else seconds * 1000):
                self._report = self._read_report(self._report_from)
        return self._report

    def _read_report(self, descriptor: int) -> dict[str, Any]:
        data = b""
        while (more := os.read(descriptor, _READ_BYTES)) and len(data) <= _MAX_REPORT_BYTES:
            data += more
        try:
            report: dict[str, Any] = decode_strict(data, where="the supervisor's report")
        except PackageFormatError:
            return {"problem": "the supervisor was ended"}
        return report

    def printed(self) -> bytes:
        """The last of what the command wrote to standard error; complete once it has ended."""
        return self._printed.tail()

    def end(self) -> dict[str, Any]:
        """End the command and everything that came of it.

        Returns:
            The report; ``stopped`` where it was this call that ended it.
        """
        with contextlib.suppress(OSError):
            self.stdin.close()
        if self._life >= 0:
            os.close(self._life)
            self._life = -1
        if self.stdout is not None:
            self.stdout.close()
        report = self.wait(END_SECONDS) or {"problem": "the supervisor did not end"}
        if self._report is None:
            self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        self._printed.finish()
        if self._report_from is not None:
            os.close(self._report_from)
            self._report_from = None
        self._report = report
        return report


class _Tail:
    """Reads a stream as long as there is one, and keeps the last of it."""

    def __init__(self, stream: BinaryIO, kept_bytes: int) -> None:
        self._stream = stream
        self._kept = b""
        self._kept_bytes = kept_bytes
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        descriptor = self._stream.fileno()
        while data := os.read(descriptor, _READ_BYTES):
            self._kept = (self._kept + data)[-self._kept_bytes :] if self._kept_bytes else b""

    def tail(self) -> bytes:
        return self._kept

    def finish(self) -> None:
        self._thread.join(END_SECONDS)
        if not self._thread.is_alive():
            self._stream.close()
