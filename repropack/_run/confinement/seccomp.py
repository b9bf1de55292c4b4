"""The filter on system calls, as the program that the kernel runs before each of them.

It is computed by the judge and only loaded beside the worker. A number is looked up after the
architecture was checked, so that a second table of numbers (32-bit calls, x32) is no way around it.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from repropack._run.confinement.syscalls import LAST_KNOWN, NUMBERS

ARCHITECTURES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
)
"""The audit architecture of a machine's name, and its column in ``NUMBERS``."""

_LOAD, _JUMP_EQUAL, _JUMP_GREATER, _JUMP_SET, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
_AND = 0x54
_NUMBER, _ARCHITECTURE = 0, 4
KILL, ALLOW, _ERROR = 0x80000000, 0x7FFF0000, 0x00050000
_X32_BIT = 0x40000000

_NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""
_LOCAL, _LOOPBACK = (1,), (1, 2, 10, 16)
"""Families of sockets: local ones; with them those of the internet protocols and, to find the
addresses of one's own, the one that asks the kernel."""
_STREAM, _PACKETS, _KIND_OF_SOCKET = 1, 5, 0xF
_TIOCSTI, _TIOCLINUX, _TIOCSETD = 0x5412, 0x541C, 0x5423
_TCGETS, _TIOCGWINSZ, _FIONREAD, _FIONBIO, _FIONCLEX, _FIOCLEX = (
    *(0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451),
)
_HARMLESS = (_TCGETS, _TIOCGWINSZ, _FIONREAD, _FIONBIO, _FIONCLEX, _FIOCLEX)
"""What may be asked of an open file beside Landlock. A file that may only be read can be given
flags, made unchangeable for ever, or copied to another place by others."""
_F_SETOWN, _F_SETOWN_EX = 8, 15
_PR_SET_DUMPABLE, _PR_SET_MM = 4, 35
_QUERY_PERSONALITY = 0xFFFFFFFF

_REFUSED = (
    # other processes
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease"),
    *("kcmp", "pidfd_getfd", "perf_event_open"),
    # the kernel's own tables: keys, programs, modules, clocks, names, accounts
    *("bpf", "add_key", "request_key", "keyctl", "kexec_load", "kexec_file_load", "init_module"),
    *("finit_module", "delete_module", "settimeofday", "clock_settime", "clock_adjtime"),
    *("adjtimex", "sethostname", "setdomainname", "acct", "quotactl", "quotactl_fd", "syslog"),
    *("reboot", "swapon", "swapoff", "iopl", "ioperm", "modify_ldt", "vhangup", "nfsservctl"),
    *("lookup_dcookie", "userfaultfd"),
    # mounts and namespaces
    *("mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen"),
    *("fsconfig", "fsmount", "fspick", "mount_setattr", "unshare", "setns"),
    *("open_by_handle_at", "name_to_handle_at", "fanotify_init", "fanotify_mark"),
    # memory that outlives a process, or that no process is seen to hold
    *("shmget", "shmat", "shmctl", "semget", "semop", "semctl", "semtimedop"),
    *("msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink"),
)
_UNKNOWN = (
    *("clone3", "io_uring_setup", "io_uring_enter", "io_uring_register", "io_setup"),
    *("memfd_create", "memfd_secret", "fchmodat2"),
)
"""Answered as a call that this kernel does not have: libraries then use another one."""
_PRETENDED = ("chmod", "fchmod", "fchmodat")
"""Answered as done and not done, for who copies a file sets its mode. (Times are refused instead:
who finds that they can be set takes it that the file is there.)"""
_REFUSED_BESIDE_LANDLOCK = (
    *("chown", "fchown", "lchown", "fchownat", "setxattr", "lsetxattr", "fsetxattr"),
    *("removexattr", "lremovexattr", "fremovexattr"),
    *("utime", "utimes", "utimensat", "futimesat"),
    *("inotify_init", "inotify_init1", "inotify_add_watch", "truncate"),
    *("socket", "bind", "listen", "connect"),
    *("migrate_pages", "move_pages", "setpriority", "ioprio_set"),
    *("sched_setscheduler", "sched_setparam", "sched_setattr"),
)
"""Landlock does not see these, on files outside the view, on other processes, or on names of
sockets that the machine's other programs would use."""
_UNSUPPORTED_BESIDE_LANDLOCK = (
    *("getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr"),
)
"""Nor these: attributes are text that somebody wrote. Who copies a file takes this answer."""
_SIGNALLING = (
    *("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal"),
)
"""Refused where Landlock does not keep signals in: one to the supervisor would end all watching."""


def seccomp_program(
    machine: str, *, beside_landlock: bool, loopback: bool = False, signals: bool = True
) -> bytes | None:
    """Assemble the filter.

    Args:
        machine: As ``platform.machine()`` names it.
        beside_landlock: The program keeps the host's view of files and sockets: no socket at all,
            and none of the calls on files that Landlock does not see. Else local sockets are
            allowed, for there is a network namespace around them.
        loopback: Internet sockets are allowed as well where local ones are: in that namespace they
            lead to the program itself.
        signals: Signals are kept in by something else, and so allowed.

    Returns:
        Instructions of eight bytes each, in the machine's order; ``None`` for an architecture
        whose numbers are not known here.
    """
    known = ARCHITECTURES.get(machine)
    if known is None:
        return None
    architecture, column = known
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_JUMP_GREATER, 0, 1, _X32_BIT - 1),
        (_RETURN, 0, 0, KILL),
        (_JUMP_GREATER, 0, 1, LAST_KNOWN),
        (_RETURN, 0, 0, _ERROR | errno.ENOSYS),
    ]
    program += _answer(_REFUSED, column, errno.EPERM)
    program += _answer(_UNKNOWN, column, errno.ENOSYS)
    if beside_landlock:
        program += _beside_landlock(column)
    else:
        program += _unless("socket", column, 0, _LOOPBACK if loopback else _LOCAL)
        program += _where("ioctl", column, 1, (_TIOCSTI, _TIOCLINUX, _TIOCSETD))
    if not signals:
        program += _answer(_SIGNALLING, column, errno.EPERM)
        program += _where("fcntl", column, 1, (_F_SETOWN, _F_SETOWN_EX))
    program += _pairs_of_streams(column)
    program += _unless("personality", column, 0, (_QUERY_PERSONALITY, 0))
    program += _unless("prlimit64", column, 0, (0,))
    program += _where("prctl", column, 0, (_PR_SET_DUMPABLE, _PR_SET_MM))
    program += [
        (_JUMP_EQUAL, 0, 3, _number("clone", column)),
        (_LOAD, 0, 0, _argument(0)),
        (_JUMP_SET, 0, 1, _NEW_NAMESPACES),
        (_RETURN, 0, 0, _ERROR | errno.EPERM),
        (_RETURN, 0, 0, ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


_Instructions = list[tuple[int, int, int, int]]


def _number(name: str, column: int) -> int:
    number = NUMBERS[name][column]
    if number is None:
        raise LookupError(f"system call {name}: no number on this architecture")
    return number


def _argument(index: int) -> int:
    """Where the lower half of an argument lies; the kernel itself ignores the upper one here."""
    return 16 + 8 * index


def _answer(names: Iterable[str], column: int, error: int) -> _Instructions:
    program: _Instructions = []
    for name in names:
        number = NUMBERS[name][column]
        if number is not None:
            program += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERROR | error)]
    return program


def _beside_landlock(column: int) -> _Instructions:
    """Answers for what Landlock lets through; other processes' processors are set in pretence."""
    return [
        *_answer(_PRETENDED, column, 0),
        *_answer(_REFUSED_BESIDE_LANDLOCK, column, errno.EPERM),
        *_answer(_UNSUPPORTED_BESIDE_LANDLOCK, column, errno.ENOTSUP),
        *_unless("sched_setaffinity", column, 0, (0,), 0),
        *_unless("ioctl", column, 1, _HARMLESS, errno.ENOTTY),
    ]


def _pairs_of_streams(column: int) -> _Instructions:
    """A pair of sockets leads to itself, but one of datagrams, which sends to any name as well."""
    tests: _Instructions = [
        (_JUMP_EQUAL, 1, 0, _LOCAL[0]),
        (_RETURN, 0, 0, _ERROR | errno.EPERM),
        (_LOAD, 0, 0, _argument(1)),
        (_AND, 0, 0, _KIND_OF_SOCKET),
        (_JUMP_EQUAL, 2, 0, _STREAM),
        (_JUMP_EQUAL, 1, 0, _PACKETS),
        (_RETURN, 0, 0, _ERROR | errno.EPERM),
        (_RETURN, 0, 0, ALLOW),
    ]
    return _about("socketpair", column, 0, tests)


def _where(name: str, column: int, index: int, values: tuple[int, ...]) -> _Instructions:
    """Refuse a call where an argument has one of ``values``."""
    tests: _Instructions = []
    for value in values:
        tests += [(_JUMP_EQUAL, 0, 1, value), (_RETURN, 0, 0, _ERROR | errno.EPERM)]
    return _about(name, column, index, [*tests, (_RETURN, 0, 0, ALLOW)])


def _unless(
    name: str, column: int, index: int, values: tuple[int, ...], error: int = errno.EPERM
) -> _Instructions:
    """Answer a call with ``error`` unless an argument has one of ``values``."""
    tests: _Instructions = []
    for value in values:
        tests += [(_JUMP_EQUAL, 0, 1, value), (_RETURN, 0, 0, ALLOW)]
    return _about(name, column, index, [*tests, (_RETURN, 0, 0, _ERROR | error)])


def _about(name: str, column: int, index: int, tests: _Instructions) -> _Instructions:
    head: _Instructions = [
        (_JUMP_EQUAL, 0, 1 + len(tests), _number(name, column)),
        (_LOAD, 0, 0, _argument(index)),
    ]
    return [*head, *tests]
