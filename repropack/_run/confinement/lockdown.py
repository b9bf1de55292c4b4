"""In the new process, before the program begins: give up rights, step by step, never to return.

Run beside ``supervisor``, with the standard library alone. Every number here (what may be read,
which calls are refused, how much of what) comes from the judge; this module makes system calls.
"""

# ruff: noqa: PTH116, PTH123, PTH208 - pathlib would take a third of its start

from __future__ import annotations

import binascii
import ctypes
import os
import resource
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_CAPBSET_DROP = 1, 22, 24
_PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION = 0x20080522
_SYS_CREATE_RULESET, _SYS_ADD_RULE, _SYS_RESTRICT_SELF = 444, 445, 446
_RULE_PATH_BENEATH = 1
_SCOPES = 3
"""Abstract sockets and signals."""
_SPARE = 256
"""Threads that the user's other programs may start meanwhile."""
_ORDINARY = (
    signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE, signal.SIGXFSZ,
)  # fmt: skip


def enter(policy: dict[str, Any]) -> None:
    """Become the program that ``policy`` names; returns only by raising.

    Raises:
        OSError: a step failed; the process must end and the program must not begin.
    """
    os.setsid()
    for number in _ORDINARY:
        signal.signal(number, signal.SIG_DFL)
    command: list[str] = policy["command"]
    if sys.platform == "linux":
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if policy["limits"]:
            _go_first()
    for name, allowed in policy["rlimits"].items():
        _limit(name, allowed)
    if policy["limits"] and sys.platform == "linux":
        _limit("RLIMIT_NPROC", _own_threads() + policy["limits"]["max_run_processes"] + _SPARE)
    program = binascii.a2b_base64(policy["seccomp"]) if policy["seccomp"] else b""
    if policy["level"] == "landlock":
        _give_up_capabilities()
        _restrict(policy["landlock"], policy["warden"])
        _load_filter(program)
    elif policy["level"] == "bubblewrap":
        command = _with_filter(command, program)
    os.execv(command[0], command)  # noqa: S606 - this is what it is for


def _go_first() -> None:
    """Where memory ends before the limit does, the kernel is to end this process and no other."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as stream:
            stream.write("1000")
    except OSError:
        return  # not everywhere


def _own_threads() -> int:
    """How many threads this user has; the kernel counts those of a run together with them."""
    count = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat(f"/proc/{name}").st_uid == os.getuid():
                count += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue  # it has ended
    return count


def _limit(name: str, allowed: int) -> None:
    kind: int = getattr(resource, name)
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        allowed = min(allowed, hard)
    resource.setrlimit(kind, (allowed, allowed))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _prctl(option: int, first: int = 0, second: Any = 0) -> None:
    numbers = [ctypes.c_ulong(first)]
    last = second if isinstance(second, ctypes.c_void_p) else ctypes.c_ulong(second)
    zero = ctypes.c_ulong(0)
    _checked(_libc().prctl(option, *numbers, last, zero, zero), f"prctl {option}")


def _give_up_capabilities() -> None:
    """No set-user-id program gains anything from here on, and root is a user like any other."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    capability = 0
    libc, zero = _libc(), ctypes.c_ulong(0)
    while libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(capability), zero, zero, zero) == 0:
        capability += 1  # an ordinary user may not, and has none to lose
    libc.prctl(_PR_CAP_AMBIENT, ctypes.c_ulong(_PR_CAP_AMBIENT_CLEAR_ALL), zero, zero, zero)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    none = (ctypes.c_uint32 * 6)()
    _checked(libc.capset(header, none), "capset")


def _restrict(landlock: dict[str, Any], warden: int) -> None:
    """Enter two domains: one for the warden, and within it one for the program."""
    if landlock["scoped"]:
        outer = _ruleset(0, 0, _SCOPES)
        _checked(_libc().syscall(_SYS_RESTRICT_SELF, outer, 0), "landlock_restrict_self")
        os.close(outer)
        _leave_warden(warden)
    inner = _ruleset(landlock["files"], landlock["net"], landlock["scoped"])
    for path, rights in landlock["rules"]:
        _allow(inner, path, rights)
    _checked(_libc().syscall(_SYS_RESTRICT_SELF, inner, 0), "landlock_restrict_self")
    os.close(inner)


def _ruleset(files: int, net: int, scoped: int) -> int:
    attributes = (ctypes.c_uint64 * 3)(files, net, scoped)
    size = 24 if scoped else 16 if net else 8
    made = _libc().syscall(
        _SYS_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0)
    )
    return _checked(made, "landlock_create_ruleset")


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("parent", ctypes.c_int32))


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return  # gone since the judge looked: nothing is allowed there
    rule = _PathBeneath(rights, parent)
    added = _libc().syscall(
        _SYS_ADD_RULE, ruleset, _RULE_PATH_BENEATH, ctypes.byref(rule), ctypes.c_uint32(0)
    )
    os.close(parent)
    _checked(added, f"landlock_add_rule {path}")


def _leave_warden(pipe: int) -> None:
    """Leave a process in the outer domain, as nobody's child but the supervisor's."""
    supervisor = os.getppid()
    between = os.fork()
    if between == 0:
        if os.fork() == 0:
            _guard(supervisor, pipe)
        os._exit(0)
    os.waitpid(between, 0)


def _guard(supervisor: int, read: int) -> None:
    """Wait until the supervisor says so or is gone, then end every process of the domain at once.

    A signal to all processes cannot be outrun by a program that forks quickly. It reaches the
    domain alone: that is tried on the supervisor first, and where the kernel does not keep
    signals in, none is ever sent.
    """
    try:
        if not _reaches(supervisor):
            os.closerange(0, read)
            os.closerange(read + 1, 256)
            while os.read(read, 1):
                pass
            os.kill(-1, signal.SIGKILL)
    finally:
        os._exit(0)


def _reaches(process: int) -> bool:
    """Whether this process could send a signal to one of its own user."""
    try:
        os.kill(process, 0)
    except PermissionError:
        return False
    return True


def _load_filter(program: bytes) -> None:
    if not program:
        return
    instructions = ctypes.create_string_buffer(program, len(program))

    class _Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))

    whole = _Program(len(program) // 8, ctypes.addressof(instructions))
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.c_void_p(ctypes.addressof(whole)))


def _with_filter(command: list[str], program: bytes) -> list[str]:
    """Hand the filter to bubblewrap, which loads it last of all."""
    if not program:
        return command
    holder = os.memfd_create("seccomp", 0)
    os.write(holder, program)
    os.lseek(holder, 0, os.SEEK_SET)
    return [command[0], "--seccomp", str(holder), *command[1:]]
