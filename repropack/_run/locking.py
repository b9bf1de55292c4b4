"""Lock the present environment: its distributions with digests of their files, perhaps the wheels.

Everything that is installed is locked, whether or not the experiment imports it by name: a
library that another one uses only where it finds it changes bytes all the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repropack._format.canonical import decode_strict
from repropack._format.digests import digest_stream
from repropack._format.layout import (
    LOCK,
    PYLOCK,
    WHEEL_NAME,
    WHEELS,
    media_type_of,
)
from repropack._format.lock import (
    RUNNER,
    LockedDistribution,
    can_be_locked,
    encode_lock,
    encode_pylock,
    normal_name,
    python_minor,
    wheel_distribution,
)
from repropack._run.confinement.sandbox import Places
from repropack._run.distributions import wheel_fingerprint
from repropack._run.folders import new_folder
from repropack._run.installers import (
    Installer,
    find_pip,
    find_uv,
    index_environment,
    require_installer,
    run_installer,
)
from repropack._run.launch import observe_here
from repropack.errors import CouldNotRunError, PackageFormatError
from repropack.models.environment import Distribution, EnvironmentRecord
from repropack.models.manifest import Entry
from repropack.models.reports import LockReport

_CURE = (
    "build in a virtual environment into which everything was installed from an index, or "
    "without --lock"
)
_HASH = re.compile(r"--hash=(sha256:[0-9a-f]{64})(?: \\)?")
_PINNED = re.compile(r"([A-Za-z0-9._-]+)==[^ ;]+(?: \\)?")


@dataclass(frozen=True)
class LockedEnvironment:
    """What was locked.

    Attributes:
        rows: The distributions, sorted by name.
        minor: The interpreter's minor version.
        wheels: Folder of their wheels, one each; ``None`` where none are packed.
    """

    rows: tuple[LockedDistribution, ...]
    minor: str
    wheels: Path | None

    def documents(self) -> dict[str, bytes]:
        """The lock, and ``pylock.toml`` where wheels are packed, by entry path."""
        documents = {LOCK: encode_lock(self.rows)}
        if self.wheels is not None:
            entries = {wheel_distribution(e.path): e for e in map(_entry, self.wheels.iterdir())}
            documents[PYLOCK] = encode_pylock(self.rows, entries, self.minor)
        return documents

    def folders(self) -> dict[str, Path]:
        """Where the wheels are, by the folder that they have in a package."""
        return {} if self.wheels is None else {WHEELS: self.wheels}

    def report(self) -> LockReport:
        """What a report says of it."""
        return LockReport(distributions=len(self.rows), wheels_packed=self.wheels is not None)

    def require_same(self, record: EnvironmentRecord) -> None:
        """Hold the lock against the environment that was locked.

        Args:
            record: The environment that the reference ran in.

        Raises:
            CouldNotRunError: it is another one by now.
        """
        locked = {(row.name, row.version) for row in self.rows}
        ran = {(row.name, row.version) for row in _to_be_locked(record)}
        changed = sorted({name for name, _ in locked ^ ran})
        if changed:
            raise CouldNotRunError(
                "environment: expected the locked distributions while the experiment ran, observed "
                f"others: {', '.join(changed)}",
                hint="build again, and leave the environment as it is meanwhile",
            )


def lock_environment(work: Path, *, wheels: bool) -> LockedEnvironment:
    """Lock the environment that workers of this process run in, by the index in use.

    Args:
        work: An existing folder.
        wheels: Fetch the wheels as well, and hold each against what is installed.

    Returns:
        The lock.

    Raises:
        CouldNotRunError: a distribution cannot be locked, or is not what the index offers; there
            is no installer; the index cannot be used.

    Determinism:
        The rows depend on what is installed, on what the index offers for it, and on the installer:
        uv gives the digests of all files of a version, pip that of the one it would install.
    """
    record = observe_here()
    distributions, minor = _to_be_locked(record), python_minor(record.interpreter.version)
    if minor is None:
        raise CouldNotRunError(
            "environment: expected an interpreter with a version such as 3.11.7, observed "
            f"{record.interpreter.version!a}"
        )
    _require_lockable(distributions)
    uv, pip = find_uv(), find_pip()
    folder = new_folder("lock-", work)
    rows = _ask(uv, pip, distributions, folder)
    fetched = _fetch(require_installer(pip), rows, distributions, folder) if wheels else None
    return LockedEnvironment(rows, minor, fetched)


def _to_be_locked(record: EnvironmentRecord) -> tuple[Distribution, ...]:
    return tuple(row for row in record.distributions if row.name != RUNNER)


def _require_lockable(distributions: Sequence[Distribution]) -> None:
    """Name every distribution that no index could give again."""
    others = [
        f"{row.name} ({row.origin})"
        for row in distributions
        if row.origin != "wheel" or not can_be_locked(row.name, row.version)
    ]
    if others:
        raise CouldNotRunError(
            "environment: expected distributions that were installed as wheels from an index, "
            f"observed others: {', '.join(others)}",
            hint=_CURE,
        )


def _ask(
    uv: Installer | None,
    pip: Installer | None,
    distributions: Sequence[Distribution],
    folder: Path,
) -> tuple[LockedDistribution, ...]:
    """Digests of all distributions: from uv, and from pip what uv does not know.

    The two have settings of their own, and an index that the one is told of may be unknown to the
    other; uv gives no digests of files in a plain folder.

    Returns:
        A row for each distribution.

    Raises:
        CouldNotRunError: one has no digest.
    """
    installer = require_installer(uv, pip)
    told: dict[str, set[str]] = {}
    if installer == uv:
        try:
            told = _ask_uv(uv, _pin(distributions, folder / "uv"))
        except CouldNotRunError:
            if pip is None:
                raise
    rest = [row for row in distributions if row.name not in told]
    if rest and pip is not None:
        told |= _ask_pip(pip, _pin(rest, folder / "pip"))
    return tuple(_row(row, told) for row in distributions)


def _pin(distributions: Sequence[Distribution], folder: Path) -> Path:
    folder.mkdir()
    pinned = folder / "distributions.txt"
    pinned.write_text("".join(f"{row.name}=={row.version}\n" for row in distributions), "ascii")
    return pinned


def _ask_uv(uv: Installer, pinned: Path) -> dict[str, set[str]]:
    output = pinned.with_name("compiled.txt")
    arguments = ["pip", "compile", "--quiet", "--generate-hashes", "--no-deps", "--no-header"]
    arguments += ["--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
    arguments += ["--only-binary", ":all:", "-o", str(output), str(pinned)]
    _run(uv, arguments, pinned)
    told: dict[str, set[str]] = {}
    name = ""
    for line in output.read_text("utf-8").splitlines():
        if found := _PINNED.fullmatch(line):
            name = normal_name(found[1])
        elif found := _HASH.fullmatch(line.strip()):
            told.setdefault(name, set()).add(found[1])
    return told


def _ask_pip(pip: Installer, pinned: Path) -> dict[str, set[str]]:
    output = pinned.with_name("report.json")
    arguments = ["install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps"]
    arguments += ["--only-binary", ":all:", "--report", str(output), "-r", str(pinned)]
    _run(pip, arguments, pinned)
    try:
        report: Any = decode_strict(output.read_bytes(), where="pip's report")
        return {
            normal_name(row["metadata"]["name"]): {
                f"sha256:{row['download_info']['archive_info']['hashes']['sha256']}"
            }
            for row in report["install"]
        }
    except (PackageFormatError, KeyError, TypeError) as error:
        raise CouldNotRunError(
            f"environment: pip's report is not understood: {error!r:.200}",
            hint="install uv, or a newer pip",
        ) from error


def _row(distribution: Distribution, told: dict[str, set[str]]) -> LockedDistribution:
    digests = told.get(distribution.name)
    if not digests:
        raise CouldNotRunError(
            f"environment: distribution {distribution.name} {distribution.version}: expected its "
            "files with digests on the index in use, observed none",
            hint=_CURE,
        )
    return LockedDistribution(distribution.name, distribution.version, tuple(sorted(digests)))


def _fetch(
    pip: Installer,
    rows: Sequence[LockedDistribution],
    distributions: Sequence[Distribution],
    folder: Path,
) -> Path:
    """Download one wheel a distribution, and hold it against what is installed."""
    wheels, required = folder / WHEELS, folder / LOCK
    wheels.mkdir()
    required.write_bytes(encode_lock(rows))
    arguments = ["download", "--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes"]
    arguments += ["-d", str(wheels), "-r", str(required)]
    _run(pip, arguments, required)
    by_name = {wheel_distribution(wheel.name): wheel for wheel in sorted(wheels.iterdir())}
    for row in distributions:
        wheel = by_name.pop(row.name, None)
        if wheel is None or not WHEEL_NAME.fullmatch(wheel.name):
            raise CouldNotRunError(
                f"environment: distribution {row.name} {row.version}: expected a wheel whose name "
                "a package can hold, observed none",
                hint=_CURE,
            )
        if wheel_fingerprint(wheel) != row.fingerprint:
            raise CouldNotRunError(
                f"environment: distribution {row.name} {row.version}: expected the files of the "
                "wheel on the index in use, observed others installed",
                hint=f"install {row.name} again from the index in use, or build without the wheels",
            )
    return wheels


def _run(installer: Installer, arguments: Sequence[str], required: Path) -> None:
    """Run an installer beside the list that it is given, with the caller's own settings."""
    folder = required.parent
    names = re.findall(r"^([a-z0-9-]+)==", required.read_text("ascii"), re.MULTILINE)
    environment = index_environment(installer, folder)
    places = Places(folder, writable=(folder,))
    run_installer([*installer.command, *arguments], environment, places, names=names)


def _entry(wheel: Path) -> Entry:
    path = f"{WHEELS}/{wheel.name}"
    with wheel.open("rb") as stream:
        digest, size = digest_stream(stream)
    return Entry(path=path, size=size, digest=digest, role="wheel", media_type=media_type_of(path))
