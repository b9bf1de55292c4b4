"""Try, from inside, everything that a confinement promises to prevent; tell what succeeded.

Run by path with the standard library alone. One JSON job on standard input names canaries that
the judge has put out; one JSON document goes to standard output. It ends by making more processes
than it may have, one of them a daemon: what ends them is part of what is tried.
"""

# ruff: noqa: PTH116, PTH119, PTH208 - paths as they stand

from __future__ import annotations

import contextlib
import ctypes
import json
import mmap
import os
import pathlib
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import Any

_SECONDS = 2
_CLONE_NEWUSER = 0x10000000
_SYSTEM_CALLS = {
    "x86_64": {"unshare": 272, "ptrace": 101, "io_uring_setup": 425, "keyctl": 250, "bpf": 321},
    "aarch64": {"unshare": 97, "ptrace": 117, "io_uring_setup": 425, "keyctl": 219, "bpf": 280},
}
_NAMES = tuple(_SYSTEM_CALLS["x86_64"])
_ARGUMENTS = {"unshare": (_CLONE_NEWUSER,), "keyctl": (0, -3, 1)}
_PTRACE_SEIZE = 0x4206


def main() -> int:
    """Try everything and tell.

    Returns:
        Never, where the limit on processes holds.
    """
    job: dict[str, Any] = json.load(sys.stdin)
    outcome = {name: _succeeds(attempt, job) for name, attempt in _ATTEMPTS}
    sys.stdout.write(json.dumps(outcome) + "\n")  # noqa: TID251 - standard library alone
    sys.stdout.flush()
    _multiply(job["processes"])
    return 0


def _succeeds(attempt: Callable[[dict[str, Any]], bool], job: dict[str, Any]) -> bool:
    try:
        return attempt(job)
    except (OSError, MemoryError, ValueError, OverflowError):
        return False


def _connects(kind: int, address: Any, way: int = socket.SOCK_STREAM) -> bool:
    with socket.socket(kind, way) as tried:
        tried.settimeout(_SECONDS)
        tried.connect(address)
        tried.sendall(b"probe")
    return True


def _reads(path: str) -> bool:
    with pathlib.Path(path).open("rb") as stream:
        stream.read(1)
    return True


def _writes(path: str, mode: str) -> bool:
    with pathlib.Path(path).open(mode) as stream:
        stream.write("probe")
    return True


def _opens_to_write(path: str) -> bool:
    """Open a setting of the whole machine; nothing is written."""
    os.close(os.open(path, os.O_WRONLY))
    return True


def _pairs_of_datagrams(path: str) -> bool:
    """Send to a named socket through one of a pair, which need not be made as others are."""
    for socket_ in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM):
        socket_.sendto(b"probe", path)
    return True


def _holds(path: str, text: str) -> bool:
    with pathlib.Path(path).open("rb") as stream:
        return text.encode() in stream.read()


def _opens_up(path: str) -> bool:
    """Whether the mode changes: the call may be answered as done and not be done."""
    pathlib.Path(path).chmod(0o777)
    return os.stat(path).st_mode & 0o777 == 0o777


def _signals(process: int) -> bool:
    os.kill(process, signal.SIGTERM)
    return True


def _calls(name: str, victim: int) -> bool:
    number = _SYSTEM_CALLS.get(os.uname().machine, {}).get(name)
    if number is None:
        return False
    call = ctypes.CDLL(None, use_errno=True).syscall
    arguments = (_PTRACE_SEIZE, victim) if name == "ptrace" else _ARGUMENTS.get(name, (0,))
    result: int = call(number, *map(ctypes.c_long, arguments), *map(ctypes.c_long, (0, 0)))
    return result >= 0


def _maps(size: int) -> bool:
    mmap.mmap(-1, size).close()
    return True


def _grows(path: str, size: int) -> bool:
    with pathlib.Path(path).open("wb") as stream:
        stream.seek(size)
        stream.write(b"x")
    return True


_ATTEMPTS: tuple[tuple[str, Callable[[dict[str, Any]], bool]], ...] = (
    ("tcp", lambda job: _connects(socket.AF_INET, ("127.0.0.1", job["tcp"]))),
    ("udp", lambda job: _connects(socket.AF_INET, ("127.0.0.1", job["udp"]), socket.SOCK_DGRAM)),
    ("named-socket", lambda job: _connects(socket.AF_UNIX, job["named"])),
    ("abstract-socket", lambda job: _connects(socket.AF_UNIX, "\0" + job["abstract"])),
    ("home-listed", lambda job: os.path.basename(job["home_file"]) in os.listdir(job["home"])),
    ("home-read", lambda job: _reads(job["home_file"])),
    ("home-written", lambda job: _writes(job["home_new"], "x")),
    ("secret-read", lambda job: _reads(job["secret"])),
    ("secret-named", lambda job: os.lstat(job["secret"]) is not None),
    ("secret-changed", lambda job: _writes(job["secret"], "a")),
    ("outside-written", lambda job: _writes(job["outside"], "x")),
    ("datagram", lambda job: _pairs_of_datagrams(job["datagram"])),
    ("kernel-setting", lambda _: _opens_to_write("/proc/sys/kernel/core_pattern")),
    ("view-written", lambda job: _writes(job["read_only"], "a")),
    ("secret-mode", lambda job: _opens_up(job["secret"])),
    ("variable", lambda job: job["variable"] in os.environ),
    ("judge-environment", lambda job: _holds(f"/proc/{job['judge']}/environ", job["variable"])),
    ("command-line", lambda job: _holds(f"/proc/{job['victim']}/cmdline", job["victim_word"])),
    ("signal", lambda job: _signals(job["victim"])),
    *((f"call-{name}", lambda job, name=name: _calls(name, job["victim"])) for name in _NAMES),
    ("memory", lambda job: _maps(job["memory_bytes"])),
    ("file-size", lambda job: _grows(job["large"], job["file_bytes"])),
)  # fmt: skip


def _multiply(count: int) -> None:
    """Leave a daemon, and then more processes than are allowed."""
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        time.sleep(_SECONDS * 30)
        os._exit(0)
    for _ in range(count):
        with contextlib.suppress(OSError):
            if os.fork() == 0:
                time.sleep(_SECONDS * 30)
                os._exit(0)
    time.sleep(_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
