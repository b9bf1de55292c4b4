"""What a run is confined by, as a value, and the policy that a supervisor is given for it."""

from __future__ import annotations

import base64
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from repropack._format.limits import RunLimits
from repropack._run.confinement.bubblewrap import bubblewrap_command, find_bubblewrap
from repropack._run.confinement.landlock import (
    SIGNALS_SINCE,
    landlock_policy,
    landlock_version,
)
from repropack._run.confinement.seccomp import seccomp_program
from repropack._run.confinement.view import View, machine_view
from repropack.errors import ConfinementUnavailableError
from repropack.models.reports import Guarantee
from repropack.models.zoom import SandboxLevel

_NOT_FOR_THE_SUPERVISOR = "max_run_output_bytes"


@dataclass(frozen=True)
class Sandbox:
    """How the runs of one plan are confined.

    Attributes:
        level: ``none`` for code that is not foreign: supervised all the same.
        limits: Limits on each run; ``None`` for the caller's own code, which has none.
        guarantees: What was found by trying, at this level on this machine.
    """

    level: SandboxLevel = "none"
    limits: RunLimits | None = None
    guarantees: tuple[Guarantee, ...] = ()


UNCONFINED = Sandbox()
"""The caller's own code: a supervisor ends what it leaves behind, and nothing is limited."""


@dataclass(frozen=True)
class Places:
    """What one run has besides the view: its folders, absolute real paths, sockets and time.

    Attributes:
        folder: Its working directory.
        read_only: What it may read.
        writable: What it may change.
        timeout_seconds: Seconds of wall time that its plan gives it; ``None``: any.
        loopback: It may talk to itself over internet sockets, as a notebook's kernel does; only
            where a network namespace is around it.
    """

    folder: Path
    read_only: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    loopback: bool = False
    timeout_seconds: int | None = None


def compose_policy(
    sandbox: Sandbox,
    command: Sequence[str],
    environment: Mapping[str, str],
    places: Places,
    *,
    view: View | None = None,
) -> dict[str, Any]:
    """Everything that a supervisor has to know for one run.

    Args:
        sandbox: The level and its limits.
        command: What is run; its first word is an absolute path.
        environment: All variables of the command.
        places: Folders of the run.
        view: What of the machine is shown; this machine's where it is ``None``.

    Returns:
        A JSON value.

    Raises:
        ConfinementUnavailableError: the level does not exist on this machine.
    """
    policy: dict[str, Any] = {
        "command": list(command),
        "level": sandbox.level,
        "landlock": None,
        "limits": {},
        "rlimits": {},
        "seccomp": None,
        "timeout_seconds": places.timeout_seconds,
        "watched": [str(path) for path in places.writable],
    }
    if sandbox.limits is not None:
        limits = asdict(sandbox.limits)
        del limits[_NOT_FOR_THE_SUPERVISOR]
        policy["limits"] = limits
        policy["rlimits"] = _limits_of_a_process(sandbox.limits)
    if sandbox.level == "none":
        return policy
    shown = machine_view() if view is None else view
    read_only = [str(path) for path in places.read_only]
    writable = [str(path) for path in places.writable]
    beside_landlock = sandbox.level == "landlock"
    program = seccomp_program(
        platform.machine(),
        beside_landlock=beside_landlock,
        loopback=places.loopback,
        signals=not beside_landlock or _version() >= SIGNALS_SINCE,
    )
    if program is None:
        raise ConfinementUnavailableError(
            f"confinement: expected a processor whose system calls are known, observed "
            f"{platform.machine()}"
        )
    policy["seccomp"] = base64.b64encode(program).decode()
    if beside_landlock:
        policy["landlock"] = landlock_policy(_version(), shown, read_only, writable)
    else:
        policy["command"] = bubblewrap_command(
            _bubblewrap(),
            command,
            environment=environment,
            view=shown,
            read_only=read_only,
            writable=writable,
            folder=str(places.folder),
        )
    return policy


def _limits_of_a_process(limits: RunLimits) -> dict[str, int]:
    """What the kernel holds each process to; the supervisor watches them together."""
    return {
        "RLIMIT_AS": 2 * limits.max_run_memory_bytes,
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": limits.max_run_scratch_bytes,
        "RLIMIT_NOFILE": 4096,
    }


def _version() -> int:
    version = landlock_version()
    if version == 0:
        raise ConfinementUnavailableError(
            "landlock: expected a kernel that offers it, observed none",
            hint="Linux 5.13 or later with `landlock` among its security modules "
            "(/sys/kernel/security/lsm)",
        )
    return version


def _bubblewrap() -> str:
    found = find_bubblewrap()
    if found is None:
        raise ConfinementUnavailableError(
            "bubblewrap: expected the program `bwrap`, observed none",
            hint="install the system package `bubblewrap`",
        )
    return os.path.realpath(found)
