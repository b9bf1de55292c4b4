"""Whether the lock of a package, its wheels and its environment record tell the same."""

from __future__ import annotations

from repropack._format.layout import LOCK, PYLOCK
from repropack._format.lock import (
    RUNNER,
    LockedDistribution,
    decode_lock,
    encode_pylock,
    python_minor,
    wheel_distribution,
)
from repropack._read.consistency import Report
from repropack._read.package import Package
from repropack.models.environment import EnvironmentRecord
from repropack.models.manifest import Entry


def read_lock(package: Package) -> tuple[LockedDistribution, ...] | None:
    """Read a package's lock.

    Args:
        package: The open package.

    Returns:
        The locked distributions; ``None`` where the package has no lock.

    Raises:
        PackageFormatError: the lock is malformed.
    """
    return decode_lock(package.read(LOCK)) if LOCK in package.container else None


def packed_wheels(package: Package) -> tuple[Entry, ...]:
    """The entries that are wheels, in the manifest's order."""
    return tuple(entry for entry in package.manifest.entries if entry.role == "wheel")


def check_lock(package: Package, record: EnvironmentRecord, report: Report) -> None:
    """Hold lock, wheels, ``pylock.toml`` and the environment record against each other.

    Wheels are not opened: an installer that asks for their digests reads them.

    Args:
        package: The open package, whose entries have their digests.
        record: Its environment record.
        report: Called for each fault.

    Raises:
        PackageError: the lock is malformed.
    """
    rows, wheels, pylock = read_lock(package), packed_wheels(package), PYLOCK in package.container
    if rows is None:
        if wheels or pylock:
            report("lock.missing", LOCK, "", "a lock beside wheels and pylock.toml", "none")
        return
    _check_distributions(rows, record, report)
    if bool(wheels) != pylock:
        observed = "one of them"
        report("lock.missing", PYLOCK, "", "wheels and pylock.toml together", observed)
    elif wheels and _check_wheels(rows, wheels, report):
        _check_pylock(package, rows, wheels, record, report)


def _check_distributions(
    rows: tuple[LockedDistribution, ...], record: EnvironmentRecord, report: Report
) -> None:
    recorded = {row.name: row.version for row in record.distributions if row.name != RUNNER}
    locked = {row.name: row.version for row in rows}
    for name in sorted({*recorded, *locked}):
        if recorded.get(name) != locked.get(name):
            expected, observed = recorded.get(name, "none"), locked.get(name, "none")
            report("lock.distributions", LOCK, f"distribution {name!r}", expected, observed)


def _check_wheels(
    rows: tuple[LockedDistribution, ...], wheels: tuple[Entry, ...], report: Report
) -> bool:
    """Whether each locked distribution has one wheel, which is one of its files."""
    locked, same = {row.name: row for row in rows}, True
    seen: set[str] = set()
    for wheel in wheels:
        name = wheel_distribution(wheel.path)
        if name not in locked or name in seen:
            expected = "the one wheel of a locked distribution"
            report("lock.wheel", wheel.path, "", expected, "another")
            same = False
        elif wheel.digest not in locked[name].digests:
            expected = f"a digest that the lock has for {name}"
            report("lock.wheel", wheel.path, "", expected, wheel.digest)
            same = False
        seen.add(name)
    for name in sorted(set(locked) - seen):
        report("lock.wheel", LOCK, f"distribution {name!r}", "its wheel", "none")
        same = False
    return same


def _check_pylock(
    package: Package,
    rows: tuple[LockedDistribution, ...],
    wheels: tuple[Entry, ...],
    record: EnvironmentRecord,
    report: Report,
) -> None:
    minor = python_minor(record.interpreter.version)
    if minor is None:
        observed = f"{record.interpreter.version!a:.80}"
        report("lock.pylock", PYLOCK, "the interpreter's version", "one such as 3.11.7", observed)
        return
    by_name = {wheel_distribution(wheel.path): wheel for wheel in wheels}
    expected, observed_bytes = encode_pylock(rows, by_name, minor), package.read(PYLOCK)
    if observed_bytes != expected:
        line, (due, found) = _first_difference(expected, observed_bytes)
        report("lock.pylock", PYLOCK, f"line {line}", f"{due!a:.300}", f"{found!a:.300}")


def _first_difference(expected: bytes, observed: bytes) -> tuple[int, tuple[str, str]]:
    """Number of the first line that differs, and the line on both sides."""
    due, found = (data.decode("latin-1").split("\n") for data in (expected, observed))
    pairs = list(zip(due, found, strict=False))
    line = next((k for k, (left, right) in enumerate(pairs) if left != right), len(pairs))
    ends = [lines[line] if line < len(lines) else "the end" for lines in (due, found)]
    return line + 1, (ends[0], ends[1])
