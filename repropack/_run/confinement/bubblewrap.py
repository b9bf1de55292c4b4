"""The command line for bubblewrap: namespaces of a run's own, and a root made of the view.

The new ``/proc`` is read-only as a whole: where root verifies, the program is root to the files
of ``/proc/sys``, without any capability, and what it wrote there would hold for the machine.
"""

# ruff: noqa: PTH100 - paths as they stand

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from repropack._run.confinement.view import View

TEMPORARY_BYTES = 256 << 20
"""Size of the folders that live in memory: ``/tmp``, and ``/dev/shm``."""
_NAMESPACES = (
    "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
    "--unshare-cgroup-try",
)  # fmt: skip
_USER = "1000"


def find_bubblewrap() -> str | None:
    """The program ``bwrap`` on this process's search path, by its absolute path."""
    found = shutil.which("bwrap")
    return None if found is None else os.path.abspath(found)


def bubblewrap_command(
    program: str,
    command: Iterable[str],
    *,
    environment: Mapping[str, str],
    view: View,
    read_only: Iterable[str],
    writable: Iterable[str],
    folder: str,
) -> list[str]:
    """Wrap a command.

    Args:
        program: Path of bubblewrap.
        command: What is run inside.
        environment: All of its variables.
        view: What of the machine is shown.
        read_only: Paths of the run's own that it may read.
        writable: Paths of the run's own that it may change.
        folder: Its working directory, one of ``writable`` or below.

    Returns:
        The whole command; the filter on system calls is added by whoever holds it in a descriptor.
    """
    size = str(TEMPORARY_BYTES)
    wrapped = [
        program, *_NAMESPACES, "--uid", _USER, "--gid", _USER, "--hostname", "confined",
        "--cap-drop", "ALL", "--die-with-parent", "--new-session", "--clearenv",
        "--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev",
        "--size", size, "--tmpfs", "/dev/shm",  # noqa: S108 - its own
        "--remount-ro", "/dev", "--size", size, "--tmpfs", "/tmp",  # noqa: S108 - its own
    ]  # fmt: skip
    for name, value in environment.items():
        wrapped += ["--setenv", name, value]
    for path in view.listed:
        wrapped += ["--dir", path]
    for link, target in view.links:
        wrapped += ["--symlink", target, link]
    for path in (*view.shown, *map(_real, read_only)):
        wrapped += ["--ro-bind-try", path, path]
    for path in map(_real, writable):
        wrapped += ["--bind", path, path]
    return [*wrapped, "--remount-ro", "/", "--chdir", folder, "--", *command]


def _real(path: str) -> str:
    return str(Path(path).resolve())
