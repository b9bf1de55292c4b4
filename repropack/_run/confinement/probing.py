"""Choose a level of confinement by really running a program under it that tries to break out."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from repropack._format.canonical import decode_strict, encode_canonical
from repropack._format.limits import MEBIBYTE, RunLimits
from repropack._run.confinement.sandbox import Places, Sandbox, compose_policy
from repropack._run.confinement.supervised import Supervised
from repropack._run.folders import new_socket_folder, remove_tree
from repropack._run.variables import worker_environment
from repropack.errors import ConfinementUnavailableError, PackageFormatError
from repropack.models.reports import Guarantee
from repropack.models.zoom import SandboxLevel

_MAIN = Path(__file__).with_name("probe_main.py")
LEVELS: tuple[SandboxLevel, ...] = ("bubblewrap", "landlock")
"""The levels there are, the best first."""
_LIMITS = RunLimits(
    max_run_seconds=20,
    max_run_memory_bytes=256 * MEBIBYTE,
    max_run_processes=24,
    max_run_scratch_bytes=16 * MEBIBYTE,
)
_VARIABLE = "REPROPACK_PROBE_CANARY"
_VICTIM = "import os; os.read(0, 1)"
"""Waits for the judge, and ends with it even where that is killed: its pipe then closes."""
_MAX_ANSWER_BYTES = 1 << 16

GUARANTEES: dict[str, tuple[str, ...]] = {
    "network": ("tcp", "udp"),
    "local-sockets": ("named-socket", "abstract-socket", "datagram"),
    "home-files": ("home-listed", "home-read", "home-written"),
    "other-files": ("secret-read",),
    "file-names": ("secret-named",),
    "writes": (
        *("secret-changed", "secret-mode", "outside-written", "view-written"),
        "kernel-setting",
    ),
    "environment": ("variable", "judge-environment"),
    "process-names": ("command-line",),
    "signals": ("signal",),
    "system-calls": (
        "call-unshare",
        "call-ptrace",
        "call-io_uring_setup",
        "call-keyctl",
        "call-bpf",
    ),
    "memory-limit": ("memory",),
    "file-size-limit": ("file-size",),
    "process-limit": ("too-many-processes",),
    "process-end": ("left-running",),
}
"""Each guarantee with the attempts that must all fail for it to be held."""
_ONLY_SEEN = ("home-written", "outside-written", "secret-changed", "secret-mode")
"""Judged by the canaries alone: a write may succeed in a temporary folder of the program's own."""
_MAY_FAIL = frozenset({"file-names", "process-names", "signals"})
"""What a level may lack and still be used, and said so; a lack of any other makes it unfit."""


def choose_sandbox(wanted: SandboxLevel | None, limits: RunLimits) -> Sandbox:
    """The confinement for foreign code on this machine.

    Args:
        wanted: The level asked for; ``None`` for the best there is.
        limits: Limits on each run.

    Returns:
        A sandbox with what was found to hold.

    Raises:
        ConfinementUnavailableError: the level asked for, or every one, does not work here; says
            why, and what to install.
    """
    reasons = []
    for level in LEVELS if wanted is None else (wanted,):
        probed = probe_level(level)
        if isinstance(probed, tuple):
            return Sandbox(level, limits, probed)
        if wanted is not None:
            raise ConfinementUnavailableError(probed.message, hint=probed.hint)
        reasons.append(probed)
    raise ConfinementUnavailableError(
        "confinement: expected a way to confine foreign code, observed none: "
        + "; ".join(reason.message for reason in reasons),
        hint=f"{'; or '.join(reason.hint for reason in reasons if reason.hint)}; `repropack check` "
        "looks at everything without running it, and --no-sandbox --trust PACKAGE-DIGEST runs "
        "this very package unconfined",
    )


@cache
def probe_level(level: SandboxLevel) -> tuple[Guarantee, ...] | ConfinementUnavailableError:
    """Run the probe under a level, once a process.

    Args:
        level: ``bubblewrap`` or ``landlock``.

    Returns:
        What is held, not held, or was not checked; or why the level cannot be used.
    """
    try:
        with _put_out_canaries() as canaries:
            outcome = _try(level, canaries)
    except ConfinementUnavailableError as error:
        return error
    except OSError as error:
        return ConfinementUnavailableError(f"{level}: the probe could not be run: {error}")
    guarantees = tuple(
        Guarantee(name=name, status=_status([outcome.get(attempt) for attempt in attempts]))
        for name, attempts in GUARANTEES.items()
    )
    failed = [g.name for g in guarantees if g.status == "not-held" and g.name not in _MAY_FAIL]
    if failed:
        return ConfinementUnavailableError(
            f"{level}: expected its probe to be confined, observed no hold on {', '.join(failed)}"
        )
    return guarantees


def _status(succeeded: list[bool | None]) -> Any:
    if any(succeeded):
        return "not-held"
    return "not-checked" if None in succeeded else "held"


@dataclass
class _Canaries:
    """What the judge has put out, to be read, changed, reached or stopped."""

    folder: Path
    job: dict[str, Any]
    listeners: dict[str, socket.socket] = field(default_factory=dict)
    victim: subprocess.Popen[bytes] | None = None

    def seen(self) -> dict[str, bool]:
        """What reached a canary, whatever the probe says."""
        found = {name: _was_reached(listener) for name, listener in self.listeners.items()}
        found["signal"] = self.victim is None or self.victim.poll() is not None
        secret = self.folder / "secret"
        whole = secret.is_file() and secret.read_bytes() == b"secret"
        found["secret-changed"] = not whole
        found["secret-mode"] = secret.stat().st_mode & 0o777 != 0o600
        found["outside-written"] = Path(self.job["outside"]).exists()
        found["home-written"] = os.path.lexists(self.job["home_new"])
        return found


def _was_reached(listener: socket.socket) -> bool:
    try:
        if listener.type == socket.SOCK_DGRAM:
            listener.recv(16)
        else:
            listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def _put_out_canaries() -> Iterator[_Canaries]:
    folder = new_socket_folder("repropack-probe-")
    word = secrets.token_hex(8)
    home = Path(os.environ.get("HOME") or "/").resolve()
    with contextlib.ExitStack() as stack:
        stack.callback(remove_tree, folder)
        canaries = _Canaries(folder, {})
        for name in ("scratch", "source"):
            (folder / name).mkdir()
        for name, text in (("secret", "secret"), ("source/text", "text")):
            (folder / name).write_text(text, "utf-8")
            (folder / name).chmod(0o600)
        canaries.listeners = _listen(stack, folder, word)
        canaries.victim = subprocess.Popen(  # noqa: S603 - our own interpreter
            [sys.executable, "-I", "-S", "-c", _VICTIM, word],
            stdin=subprocess.PIPE,
            env={_VARIABLE: "1"},
        )
        stack.callback(_end_victim, canaries.victim)
        canaries.job = {
            "tcp": canaries.listeners["tcp"].getsockname()[1],
            "udp": canaries.listeners["udp"].getsockname()[1],
            "named": str(folder / "named"),
            "abstract": word,
            "datagram": str(folder / "datagram"),
            "secret": str(folder / "secret"),
            "outside": str(folder / "new"),
            "read_only": str(folder / "source" / "text"),
            "large": str(folder / "scratch" / "large"),
            "home": str(home),
            "home_file": _some_file(home),
            "home_new": str(home / f".repropack-{word}"),
            "variable": _VARIABLE,
            "judge": canaries.victim.pid,
            "victim": canaries.victim.pid,
            "victim_word": word,
            "memory_bytes": 3 * _LIMITS.max_run_memory_bytes,
            "file_bytes": 2 * _LIMITS.max_run_scratch_bytes,
            "processes": 3 * _LIMITS.max_run_processes,
        }
        stack.callback(Path(canaries.job["home_new"]).unlink, missing_ok=True)
        yield canaries


def _some_file(home: Path) -> str:
    """A file of the home folder; nothing is written there to find out."""
    with contextlib.suppress(OSError):
        for path in sorted(home.iterdir()):
            if path.is_file() and os.access(path, os.R_OK):
                return str(path)
    return str(home / "none")


def _listen(stack: contextlib.ExitStack, folder: Path, word: str) -> dict[str, socket.socket]:
    kinds: dict[str, tuple[int, int, Any]] = {
        "tcp": (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
        "udp": (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
        "named-socket": (socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "named")),
        "abstract-socket": (socket.AF_UNIX, socket.SOCK_STREAM, "\0" + word),
        "datagram": (socket.AF_UNIX, socket.SOCK_DGRAM, str(folder / "datagram")),
    }
    listeners = {}
    for name, (family, way, address) in kinds.items():
        listener = stack.enter_context(socket.socket(family, way))
        listener.bind(address)
        if way == socket.SOCK_STREAM:
            listener.listen()
        listener.settimeout(0)
        listeners[name] = listener
    return listeners


def _end_victim(victim: subprocess.Popen[bytes]) -> None:
    victim.kill()
    victim.communicate()


def _try(level: SandboxLevel, canaries: _Canaries) -> dict[str, bool]:
    """Run the probe; what succeeded, by what it says and by what the canaries saw."""
    scratch = canaries.folder / "scratch"
    environment = worker_environment(dict(os.environ))
    environment["TMPDIR"] = str(scratch)
    places = Places(scratch, (canaries.folder / "source", _MAIN), (scratch,))
    command = [sys.executable, "-I", "-S", "-B", str(_MAIN)]
    policy = compose_policy(Sandbox(level, _LIMITS), command, environment, places)
    with Supervised(policy, folder=scratch, environment=environment) as probe:
        with contextlib.suppress(BrokenPipeError):
            probe.stdin.write(encode_canonical(canaries.job))
            probe.stdin.close()
        answer = probe.stdout.readline(_MAX_ANSWER_BYTES)
        rest = probe.stdout.read(1)  # its end is the end of every process that could write there
        report = probe.wait(_LIMITS.max_run_seconds) or {}
    try:
        said: dict[str, bool] = decode_strict(answer, where="the probe's answer")
    except PackageFormatError:
        raise _why_it_failed(level, report, probe.printed()) from None
    seen = canaries.seen()
    outcome = {name: succeeded or seen.get(name, False) for name, succeeded in said.items()}
    outcome |= {name: seen[name] for name in _ONLY_SEEN}
    outcome["too-many-processes"] = report.get("limit") != "max_run_processes"
    outcome["left-running"] = bool(rest) or report.get("left") != 0
    return outcome


def _why_it_failed(
    level: SandboxLevel, report: dict[str, Any], printed: bytes
) -> ConfinementUnavailableError:
    lines = printed.decode("utf-8", "replace").strip().splitlines()
    how = lines[-1] if lines else report.get("problem") or f"status {report.get('status')}"
    return ConfinementUnavailableError(
        f"{level}: expected its probe to run, observed: {ascii(str(how))[1:-1]:.300}",
        hint=_remedy(level),
    )


_SWITCHES = (
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        (
            "this system's AppArmor forbids user namespaces to programs without a profile: install "
            "one for bwrap (Debian and Ubuntu: package `apparmor-profiles`, file "
            "bwrap-userns-restrict), or `sysctl kernel.apparmor_restrict_unprivileged_userns=0`"
        ),
    ),
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "this system forbids user namespaces: `sysctl kernel.unprivileged_userns_clone=1`",
    ),
    (
        "/proc/sys/user/max_user_namespaces",
        "0",
        "this system allows no user namespaces: `sysctl user.max_user_namespaces=10000`",
    ),
)


def _remedy(level: SandboxLevel) -> str:
    if level == "landlock":
        return "use a kernel with Landlock and seccomp, Linux 5.13 or later"
    for place, bad, remedy in _SWITCHES:
        with contextlib.suppress(OSError):
            if Path(place).read_text("utf-8").strip() == bad:
                return remedy
    return "a container may forbid namespaces or another /proc: run repropack outside of it"
