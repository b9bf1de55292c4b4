"""What Landlock is told: which rights the running kernel knows, and where a program has them."""

# ruff: noqa: PTH116 - paths as they stand

from __future__ import annotations

import ctypes
import os
import stat
import sys
from collections.abc import Iterable
from typing import Any

from repropack._run.confinement.view import View

_SYS_CREATE_RULESET, _ASK_VERSION = 444, 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
MAKE_CHAR, MAKE_SOCK, MAKE_BLOCK = 1 << 6, 1 << 9, 1 << 11
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
_OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
_FILES_BY_VERSION = ((5, 16), (3, 15), (2, 14), (1, 13))
"""From which version on how many rights on files are known, the newest first."""
_NET, _SCOPES = 3, 3

DEVICES = ("/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero")
_OF_PROC = (
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/vm/overcommit_memory",
    "/proc/version",
    *(  # resolved in the new process: they are its own and no other's
        f"/proc/self/{name}"
        for name in (
            *(
                "auxv",
                "cgroup",
                "cmdline",
                "comm",
                "environ",
                "fd",
                "fdinfo",
                "io",
                "limits",
                "maps",
            ),
            *("mountinfo", "mounts", "smaps", "smaps_rollup", "stat", "statm", "status"),
        )
    ),
)
"""What is shown of processes and kernel: numbers that libraries steer by. Not the whole of
``/proc/self``: in it, and in each of its threads, lies ``net``, which is the machine's."""
SIGNALS_SINCE = 6
"""The first version that keeps signals, and connections to abstract sockets, inside."""


def landlock_version() -> int:
    """Which version of Landlock the running kernel offers.

    Returns:
        The version, from 1; 0 where there is none, or it is switched off.
    """
    if sys.platform != "linux":
        return 0
    call = ctypes.CDLL(None, use_errno=True).syscall
    found: int = call(_SYS_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION))
    return max(found, 0)


def landlock_policy(
    version: int, view: View, read_only: Iterable[str], writable: Iterable[str]
) -> dict[str, Any]:
    """Rules for one run, as the supervisor's policy holds them.

    Args:
        version: What ``landlock_version()`` gave, at least 1.
        view: What of the machine is shown.
        read_only: Real paths of the run's own that it may read.
        writable: Real paths of folders in which it may do everything but make devices and sockets.

    Returns:
        The rights that are asked for (``files``, ``net``, ``scoped``) and ``rules``, each a path
        with its rights; whatever no rule allows is refused.
    """
    count = next(count for first, count in _FILES_BY_VERSION if version >= first)
    known = (1 << count) - 1
    rules = [(path, _read_rights(path)) for path in (*view.shown, *_OF_PROC, *read_only)]
    rules += [(path, READ_DIR) for path in view.listed]
    rules += [(path, READ_FILE | WRITE_FILE | TRUNCATE) for path in DEVICES]
    everything = known & ~(MAKE_CHAR | MAKE_BLOCK | MAKE_SOCK | IOCTL_DEV)
    rules += [(path, everything) for path in writable]
    return {
        "files": known,
        "net": _NET if version >= 4 else 0,
        "scoped": _SCOPES if version >= SIGNALS_SINCE else 0,
        "rules": [[path, rights & known] for path, rights in rules],
    }


def _read_rights(path: str) -> int:
    rights = READ_FILE | EXECUTE | READ_DIR
    try:
        folder = stat.S_ISDIR(os.stat(path).st_mode)
    except OSError:
        folder = True
    return rights if folder else rights & _OF_A_FILE
