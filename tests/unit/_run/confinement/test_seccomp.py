"""The filter on system calls, run here by an interpreter of its few instructions."""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path

import pytest

from repropack._run.confinement.seccomp import ARCHITECTURES, seccomp_program
from repropack._run.confinement.syscalls import LAST_KNOWN, NUMBERS

ENOTSUP, ENOTTY = f"errno {errno.ENOTSUP}", f"errno {errno.ENOTTY}"
EPERM, ENOSYS = f"errno {errno.EPERM}", f"errno {errno.ENOSYS}"
MACHINES = ("x86_64", "aarch64")


def run(program: bytes, architecture: int, number: int, *arguments: int) -> str:
    """What the kernel would answer to one call: ``allow``, ``kill``, or ``errno N``."""
    words = [number, architecture, 0, 0]
    for argument in (*arguments, 0, 0, 0, 0, 0, 0)[:6]:
        words += [argument & 0xFFFFFFFF, argument >> 32 & 0xFFFFFFFF]
    accumulator = place = 0
    for _ in range(4096):
        code, yes, no, value = struct.unpack_from("=HBBI", program, 8 * place)
        place += 1
        if code == 0x20:
            accumulator = words[value // 4]
        elif code == 0x54:
            accumulator &= value
        elif code == 0x06:
            return {0x7FFF0000: "allow", 0x80000000: "kill"}.get(value, f"errno {value & 0xFFFF}")
        else:
            test = {
                0x15: accumulator == value,
                0x25: accumulator > value,
                0x45: accumulator & value != 0,
            }[code]
            place += yes if test else no
    raise AssertionError("the program does not end")


def answer(machine: str, name: str, *arguments: int, **options: bool) -> str:
    program = seccomp_program(machine, **{"beside_landlock": False, **options})
    assert program is not None
    architecture, column = ARCHITECTURES[machine]
    number = NUMBERS[name][column]
    assert number is not None
    return run(program, architecture, number, *arguments)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("beside_landlock", [True, False])
@pytest.mark.parametrize(
    "name",
    [
        "ptrace", "process_vm_readv", "process_vm_writev", "bpf", "add_key", "keyctl", "mount",
        "umount2", "pivot_root", "open_tree", "unshare", "setns", "kexec_load", "init_module",
        "perf_event_open", "userfaultfd", "open_by_handle_at", "shmget", "mq_open", "chroot",
        "pidfd_getfd", "clock_settime", "reboot", "swapon",
    ],
)  # fmt: skip
def test_calls_that_reach_beyond_a_process_are_refused(
    machine: str, name: str, beside_landlock: bool
) -> None:
    """On both architectures, at both levels."""
    assert answer(machine, name, beside_landlock=beside_landlock) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", ["clone3", "io_uring_setup", "io_uring_enter", "memfd_create"])
def test_calls_that_have_a_substitute_are_unknown(machine: str, name: str) -> None:
    """A library that gets this answer uses another call."""
    assert answer(machine, name) == ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
def test_sockets_are_local_or_none(machine: str) -> None:
    """Local ones where there is a network namespace, and none at all beside Landlock."""
    kinds = {"local": 1, "inet": 2, "inet6": 10, "netlink": 16, "packet": 17, "vsock": 40}
    answers = {kind: answer(machine, "socket", number) for kind, number in kinds.items()}
    assert answers == dict.fromkeys(kinds, EPERM) | {"local": "allow"}
    for number in kinds.values():
        assert answer(machine, "socket", number, beside_landlock=True) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_a_kernel_may_talk_to_itself(machine: str) -> None:
    """Internet sockets, where asked for and where a network namespace is; never beside Landlock."""
    architecture, column = ARCHITECTURES[machine]
    number = NUMBERS["socket"][column]
    assert number is not None
    for beside_landlock, expected in (
        (False, ["allow"] * 4 + [EPERM]),
        (True, [EPERM] * 5),
    ):
        program = seccomp_program(machine, beside_landlock=beside_landlock, loopback=True)
        assert program is not None
        assert [run(program, architecture, number, kind) for kind in (1, 2, 10, 16, 17)] == expected


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("clone", (17,), "allow"),
        ("clone", (0x00010000 | 0x100,), "allow"),
        ("clone", (0x10000000 | 17,), EPERM),
        ("clone", (0x40000000,), EPERM),
        ("clone", (0x00020000,), EPERM),
        ("ioctl", (0, 0x5401), "allow"),
        ("ioctl", (0, 0x5412), EPERM),
        ("ioctl", (0, 0xFF00005412), EPERM),
        ("ioctl", (0, 0x541C), EPERM),
        ("prctl", (38,), "allow"),
        ("prctl", (4,), EPERM),
        ("prlimit64", (0,), "allow"),
        ("prlimit64", (1234,), EPERM),
        ("personality", (0xFFFFFFFF,), "allow"),
        ("personality", (0x0040000,), EPERM),
    ],
)
def test_some_calls_are_refused_by_their_arguments(
    machine: str, name: str, arguments: tuple[int, ...], expected: str
) -> None:
    """New namespaces, terminal input, other processes' limits; a high half changes nothing."""
    assert answer(machine, name, *arguments) == expected


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "beside_landlock"),
    [
        ("fchmodat", "errno 0"), ("fchmod", "errno 0"), ("fchownat", EPERM), ("setxattr", EPERM),
        ("utimensat", EPERM), ("truncate", EPERM), ("inotify_add_watch", EPERM),
        ("setpriority", EPERM), ("sched_setscheduler", EPERM), ("bind", EPERM),
        ("connect", EPERM), ("listen", EPERM), ("getxattr", ENOTSUP), ("flistxattr", ENOTSUP),
    ],
)  # fmt: skip
def test_what_landlock_does_not_see_is_stopped_beside_it(
    machine: str, name: str, beside_landlock: str
) -> None:
    """Under bubblewrap the mounts stop it, and nothing is pretended."""
    assert answer(machine, name, beside_landlock=True) == beside_landlock
    assert answer(machine, name) == "allow"


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("beside_landlock", [True, False])
def test_pairs_of_sockets_send_to_each_other_alone(machine: str, beside_landlock: bool) -> None:
    """A datagram goes to any name, also from one of a pair; other families have pairs as well."""
    nonblocking, closing = 0x800, 0x80000
    for family, kind, expected in (
        (1, 1, "allow"),
        (1, 1 | nonblocking | closing, "allow"),
        (1, 5 | closing, "allow"),
        (1, 2, EPERM),
        (1, 3 | closing, EPERM),
        (30, 1, EPERM),
    ):
        options = {"beside_landlock": beside_landlock}
        assert answer(machine, "socketpair", family, kind, **options) == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_little_is_asked_of_files_beside_landlock(machine: str) -> None:
    """Whether they are terminals, how much there is to read; no flags, no sealing, no snapshots."""
    for request in (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451):
        assert answer(machine, "ioctl", 3, request, beside_landlock=True) == "allow"
    for request in (0x40086602, 0x401C5820, 0x40806685, 0x50009417, 0x8901, 0x5412):
        assert answer(machine, "ioctl", 3, request, beside_landlock=True) == ENOTTY


@pytest.mark.parametrize("machine", MACHINES)
def test_only_ones_own_processors_are_chosen(machine: str) -> None:
    """Those of another process, or thread, are set in pretence."""
    assert answer(machine, "sched_setaffinity", 0, beside_landlock=True) == "allow"
    assert answer(machine, "sched_setaffinity", 1234, beside_landlock=True) == "errno 0"


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    "name",
    ["kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal"],
)
def test_no_signal_is_sent_where_nothing_keeps_them_in(machine: str, name: str) -> None:
    """One to the supervisor would end every limit; a descriptor can be told to send one as well."""
    assert answer(machine, name, 1234, 9, beside_landlock=True) == "allow"
    assert answer(machine, name, 1234, 9, beside_landlock=True, signals=False) == EPERM
    for command, expected in ((8, EPERM), (15, EPERM), (4, "allow")):
        assert answer(machine, "fcntl", 3, command, beside_landlock=True, signals=False) == expected


@pytest.mark.parametrize(
    ("machine", "numbers"),
    [
        ("x86_64", {"read": 0, "execve": 59, "fork": 57, "exit_group": 231, "kill": 62}),
        ("aarch64", {"read": 63, "execve": 221, "exit_group": 94, "kill": 129}),
    ],
)
def test_ordinary_calls_are_allowed(machine: str, numbers: dict[str, int]) -> None:
    """Reading, starting programs, ending, signals where they are kept in."""
    program = seccomp_program(machine, beside_landlock=True)
    assert program is not None
    architecture, _ = ARCHITECTURES[machine]
    for number in numbers.values():
        assert run(program, architecture, number) == "allow"


@pytest.mark.parametrize("machine", MACHINES)
def test_no_second_table_of_numbers_is_a_way_around(machine: str) -> None:
    """Another architecture and x32 end the process; numbers from the future are unknown."""
    program = seccomp_program(machine, beside_landlock=True)
    assert program is not None
    architecture, _ = ARCHITECTURES[machine]
    assert run(program, 0x40000003, 1) == "kill"
    assert run(program, architecture, 0x40000000 + 101) == "kill"
    assert run(program, architecture, LAST_KNOWN + 1) == ENOSYS
    assert run(program, architecture, LAST_KNOWN) == "allow"


def test_an_unknown_processor_has_no_filter() -> None:
    """Numbers are never guessed."""
    assert seccomp_program("riscv64", beside_landlock=True) is None


@pytest.mark.parametrize("machine", MACHINES)
def test_the_kernel_takes_a_program_of_this_length(machine: str) -> None:
    """At most 4096 instructions of eight bytes each."""
    program = seccomp_program(machine, beside_landlock=True)
    assert program is not None
    assert len(program) % 8 == 0
    assert len(program) // 8 < 4096


HEADERS = (
    Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    Path("/usr/include/asm-generic/unistd.h"),
)


@pytest.mark.parametrize("column", [0, 1], ids=MACHINES)
def test_numbers_are_the_kernels(column: int) -> None:
    """Each is what the kernel's own header says, where that is installed."""
    header = HEADERS[column]
    if not header.is_file():
        pytest.skip(f"needs {header} (package linux-libc-dev)")
    text = header.read_text("utf-8")
    known = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text))
    ours = {name: row[column] for name, row in NUMBERS.items() if name in known}
    assert ours == {name: int(known[name]) for name in ours}
    assert len(ours) > 80
