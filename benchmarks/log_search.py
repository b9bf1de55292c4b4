#!/usr/bin/env python3
"""How long the first divergence of two logs takes to find, and what is read for it.

    python benchmarks/log_search.py
    python benchmarks/log_search.py --file-steps 1000000 --folder /dev/shm

A log of ten million steps takes 8 GB, so that the long ones are made line by line where they are
read (``MadeLog``); time to make them counts. A shorter one is a file, searched and read whole by
processes of their own, for time and peak memory.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repropack._format.canonical import encode_canonical
from repropack._format.log import CHAIN_START, LogReader, chain_step
from repropack._format.log_search import BLOCK_BYTES, LogIndex, first_unequal

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_STAGES = ("batch", "forward", "gradient", "update", "weights")
_PERIOD = 7
_PROCESS = "import sys; from repropack._cli.main import main; sys.exit(main(sys.argv[1:]))"


def _digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _head() -> bytes:
    header = {
        "schema": "repropack/fingerprint-log/v1",
        "run": "reference",
        "config": _digest("config"),
        "constants": [],
        "first_step": 1,
        "stages": [[name, None] for name in _STAGES],
    }
    start = {"chain": CHAIN_START, "state": [["model", _digest("m0")], ["sampler", _digest("s0")]]}
    return encode_canonical(header) + encode_canonical(start)


def _record(step: int, tag: str) -> dict[str, Any]:
    """One step; the printed text makes lines of uneven length, in periods of ``_PERIOD``."""
    return {
        "step": step,
        "stages": [[name, _digest(f"{name}{step}{tag}")] for name in _STAGES],
        "state": [[name, _digest(f"{name}{step}{tag}")] for name in ("model", "sampler")],
        "metrics": {"loss": 0.5},
        "printed": {"loss": "0" * (1 + step * 3 % _PERIOD)},
    }


class MadeLog(io.RawIOBase):
    """A log whose lines are made when they are read; from ``parts_at`` on it is another one.

    Its chains tell the two histories apart. They follow from the line before at ``parts_at`` alone,
    which is where a reader goes on after a search.
    """

    def __init__(self, steps: int, parts_at: int, tag: str) -> None:
        self.steps, self.parts_at, self.tag = steps, parts_at, tag
        self.head = _head()
        self.bytes_read = self._position = 0
        self._fixed = len(self._line(1)) - 1 - len("0" * (1 + 3 % _PERIOD))
        self._size = self._offset(steps + 1)

    def readable(self) -> bool:
        """As a file."""
        return True

    def seekable(self) -> bool:
        """As a file."""
        return True

    def tell(self) -> int:
        """As a file."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """As a file."""
        self._position = (0, self._position, self._size)[whence] + offset
        return self._position

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Make the lines that lie in the place that is read."""
        view = memoryview(buffer).cast("B")
        count = max(0, min(len(view), self._size - self._position))
        data, begin = b"", self._position
        if begin < len(self.head):
            data = self.head[begin:]
            begin = len(self.head)
        step = self._step_at(begin)
        skipped = begin - self._offset(step) if not data else 0
        while len(data) < count + skipped:
            data += self._line(step)
            step += 1
        view[:count] = data[skipped : skipped + count]
        self._position += count
        self.bytes_read += count
        return count

    def _line(self, step: int) -> bytes:
        tag = self.tag if step >= self.parts_at else ""
        if step == self.parts_at:
            return chain_step(_digest(f"chain{step - 1}"), _record(step, tag))[0]
        body = encode_canonical(_record(step, tag))[1:]
        return b'{"chain":"%s",%s' % (_digest(f"chain{step}{tag}").encode(), body)

    def _offset(self, step: int) -> int:
        """Where a step's line begins."""
        before = step - 1
        digits: int = sum(before - 10**power + 1 for power in range(10) if before >= 10**power)
        rest = sum(1 + k * 3 % _PERIOD for k in range(1, before % _PERIOD + 1))
        printed = before // _PERIOD * sum(range(1, _PERIOD + 1)) + rest
        return len(self.head) + before * self._fixed + digits + printed

    def _step_at(self, offset: int) -> int:
        low, high = 1, self.steps + 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._offset(middle) <= offset else (low, middle - 1)
        return low


def _search(steps: int, parts_at: int) -> tuple[float, int]:
    """Processor seconds and bytes of finding where two logs part, up to the lines themselves."""
    logs = [MadeLog(steps, parts_at, tag) for tag in ("left", "right")]
    begin = time.process_time()
    buffered = [io.BufferedReader(log, BLOCK_BYTES) for log in logs]
    left, right = (LogIndex(stream, where="made") for stream in buffered)
    found = first_unequal(left, right)
    for stream, index in zip(buffered, (left, right), strict=True):
        reader = LogReader(stream, where="made", after=index.mark(found))
        next(reader.steps())
    seconds = time.process_time() - begin
    assert found == parts_at  # noqa: S101 - a measurement of something wrong is none
    return seconds, sum(log.bytes_read for log in logs)


def _written(folder: Path, steps: int) -> tuple[Path, Path]:
    paths = folder / "left.jsonl", folder / "right.jsonl"
    for path, tag in zip(paths, ("left", "right"), strict=True):
        chain = CHAIN_START
        with path.open("wb") as stream:
            stream.write(_head())
            for step in range(1, steps + 1):
                line, chain = chain_step(chain, _record(step, tag if step > steps * 0.7 else ""))
                stream.write(line)
    return paths


def _process(*arguments: str) -> tuple[float, float]:
    """Processor seconds and peak mebibytes of one command line."""
    command = [sys.executable, "-c", _PROCESS, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603 - our own
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--file-steps", type=int, default=50_000)
    parser.add_argument("--folder", type=Path, help="where the files are written")
    options = parser.parse_args()
    for steps in (1_000_000, 10_000_000):
        for parts_at in (2, steps // 3, steps):
            found = [_search(steps, parts_at) for _ in range(options.runs)]
            seconds = statistics.median(one[0] for one in found)
            sys.stdout.write(
                f"{steps:>10} steps, parting at {parts_at:>8}: search "
                f"{seconds * 1000:5.1f} ms of a processor, {found[0][1] / 1000:.0f} kB read\n"
            )
    nothing, _ = _process("--version")
    for steps in (options.file_steps // 10, options.file_steps):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            paths = [str(path) for path in _written(Path(folder), steps)]
            for how in (["--fast"], []):
                seconds, peak = _process("diff", *paths, *how)
                sys.stdout.write(
                    f"{steps:>10} steps in files, {how[0] if how else 'read whole':10}: "
                    f"{seconds:6.2f} s of a processor ({nothing:.2f} s of it to start), "
                    f"{peak:.0f} MiB at most\n"
                )


if __name__ == "__main__":
    main()
