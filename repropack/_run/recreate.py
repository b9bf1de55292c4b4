"""Make the environment of a package again, in a folder of its own, and start nothing of it.

Distributions that a package names are foreign code. An installer that is given wheels alone runs
none of it, but an interpreter does, as soon as it begins in the environment: files ending in
``.pth`` are run. So after the installation nothing in the environment is started but confined
workers. pip, which is itself a program in an interpreter, is started in a second, empty
environment and installs from there.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from repropack._format.layout import LOCK, WHEELS
from repropack._format.lock import (
    RUNNER,
    LockedDistribution,
    encode_lock,
    python_minor,
)
from repropack._read.lock import packed_wheels, read_lock
from repropack._read.package import Package
from repropack._run.confinement.sandbox import Places, Sandbox
from repropack._run.confinement.view import View, foreign_view, machine_view
from repropack._run.distributions import observe_distributions
from repropack._run.installers import (
    Installer,
    find_pip,
    find_uv,
    index_environment,
    offline_environment,
    require_installer,
    run_installer,
)
from repropack._run.launch import last_printed_line
from repropack._run.runtime import Runtime
from repropack._run.variables import worker_environment
from repropack.errors import CouldNotRunError
from repropack.models.environment import Interpreter
from repropack.models.reports import UsedEnvironment

RUNNER_NEEDS = ("numpy", "pydantic", "threadpoolctl")
"""What a worker of repropack imports besides the experiment."""

_ASK = """\
import sys
print(sys.implementation.name, "%d.%d" % sys.version_info[:2], getattr(sys, "abiflags", ""))
print(".".join(map(str, sys.version_info[:3])))
print(getattr(sys, "_base_executable", sys.executable))
"""
_ASK_SECONDS = 60
_VENV_SECONDS = 300


@dataclass(frozen=True)
class Recreated:
    """An environment that was made again, and how."""

    runtime: Runtime
    used: UsedEnvironment


@dataclass(frozen=True)
class _Making:
    """An environment that is being made.

    Attributes:
        folder: Where everything of it lies.
        python: The interpreter that it is made from.
        installer: What installs into it.
    """

    folder: Path
    python: str
    installer: Installer

    @property
    def home(self) -> Path:
        """The environment itself."""
        return self.folder / "home"

    @property
    def tools(self) -> Path:
        """A second one, which stays empty, for pip to run in."""
        return self.folder / "tools"


@dataclass(frozen=True)
class _Found:
    """An interpreter of this machine."""

    path: str
    version: str


def recreate_environment(package: Package, scratch: Path, sandbox: Sandbox) -> Recreated:
    """Install what a package's lock names, from its own wheels where it has them.

    Args:
        package: The package, checked.
        scratch: An existing folder.
        sandbox: How the package's code is confined. An installer that needs no index is confined
            by bubblewrap as well; any other has the limits alone.

    Returns:
        The interpreter for the workers, and what is said of it in a report.

    Raises:
        CouldNotRunError: the package has no lock; there is no interpreter of the recorded minor
            version, or no installer; a distribution cannot be installed, and which and why.
        PackageError: the package was changed after it was checked.
    """
    rows = require_lock(package)
    missing = sorted(set(RUNNER_NEEDS) - {row.name for row in rows})
    if missing:
        raise CouldNotRunError(
            f"environment: expected a lock with what a worker needs, observed none of "
            f"{', '.join(missing)}"
        )
    found = find_interpreter(package.environment.interpreter)
    wheels = _copy_wheels(package, scratch / WHEELS)
    making, view = _install_by_any(scratch, found.path, rows, wheels, sandbox)
    runtime = Runtime(str(making.home / "bin" / "python"), making.home, view)
    used = UsedEnvironment(
        kind="recreated",
        origin="index" if wheels is None else "packed-wheels",
        installer=making.installer.name,
        installer_confined=wheels is not None and _confines_installers(sandbox),
        python=found.version,
        distributions=len(rows),
    )
    return Recreated(runtime, used)


def require_lock(package: Package) -> tuple[LockedDistribution, ...]:
    """The lock of a package that has one.

    Args:
        package: The package, checked.

    Returns:
        The locked distributions.

    Raises:
        CouldNotRunError: it has none.
    """
    rows = read_lock(package)
    if rows is None:
        raise CouldNotRunError(
            "environment: expected a package with requirements.lock, observed none in it",
            hint="verify without --recreate-env, or ask its author to build with --lock",
        )
    return rows


def find_interpreter(recorded: Interpreter) -> _Found:
    """An interpreter of the recorded implementation and minor version.

    Tried are this process's own, those on the search path, and what uv knows of, in this order.

    Args:
        recorded: The interpreter of the package's environment record.

    Returns:
        The first of the recorded version, else the first that fits; by the absolute path that it
        has outside of any virtual environment.

    Raises:
        CouldNotRunError: there is none.
    """
    minor = python_minor(recorded.version)
    wanted = f"{recorded.implementation.lower()} {minor} {recorded.abi_flags}"
    fitting: list[_Found] = []
    for candidate in _candidates(minor) if minor is not None else ():
        answer = _ask(candidate)
        if len(answer) == 3 and answer[0] == wanted and Path(answer[2]).is_absolute():
            fitting.append(_Found(answer[2], answer[1]))
            if answer[1] == recorded.version:
                return fitting[-1]
    if fitting:
        return fitting[0]
    raise CouldNotRunError(
        f"environment: expected an interpreter {ascii(recorded.implementation)[1:-1]} "
        f"{minor}{ascii(recorded.abi_flags)[1:-1]} on this machine, observed none",
        hint=f"put python{minor} on the search path",
    )


def _candidates(minor: str) -> Iterator[str]:
    yield getattr(sys, "_base_executable", None) or sys.executable
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        candidate = Path(folder) / f"python{minor}"
        if candidate.is_absolute() and os.access(candidate, os.X_OK):
            yield str(candidate)
    uv = find_uv()
    if uv is not None:
        yield from _printed([*uv.command, "python", "find", "--no-project", "--system", minor])


def _ask(interpreter: str) -> list[str]:
    return _printed([interpreter, "-I", "-S", "-B", "-c", _ASK])


def _printed(command: Sequence[str]) -> list[str]:
    """Lines that a program of this machine prints; none where it fails."""
    try:
        done = subprocess.run(  # noqa: S603 - interpreters and uv of the user's own search path
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={**worker_environment(dict(os.environ)), "UV_PYTHON_DOWNLOADS": "never"},
            cwd="/",
            timeout=_ASK_SECONDS,
            check=True,
        )
        return done.stdout.decode("utf-8").splitlines()
    except (OSError, ValueError, subprocess.SubprocessError):
        return []


def _copy_wheels(package: Package, folder: Path) -> Path | None:
    """Copy the packed wheels; every byte of them is held against its digest once more."""
    wheels = packed_wheels(package)
    if not wheels:
        return None
    folder.mkdir()
    for entry in wheels:
        with (folder / entry.path.removeprefix(f"{WHEELS}/")).open("xb") as stream:
            package.copy_entry(entry, stream)
    return folder


def _install_by_any(
    scratch: Path,
    python: str,
    rows: tuple[LockedDistribution, ...],
    wheels: Path | None,
    sandbox: Sandbox,
) -> tuple[_Making, View]:
    """Install by uv, else by pip: an index may be known to one alone, or uv not begin confined.

    Returns:
        The environment, and what its workers see.

    Raises:
        CouldNotRunError: what the first installer said.
    """
    uv, pip = find_uv(), find_pip()
    first = require_installer(uv, pip)
    second = [pip] if uv is not None and pip is not None else []
    refused: CouldNotRunError | None = None
    for installer in (first, *second):
        making = _Making(scratch / f"environment-{installer.name}", python, installer)
        making.folder.mkdir()
        try:
            return making, _install(making, rows, wheels, sandbox)
        except CouldNotRunError as error:
            refused = refused or error
    raise refused or CouldNotRunError("environment: expected an installer, observed none")


def _install(
    making: _Making, rows: tuple[LockedDistribution, ...], wheels: Path | None, sandbox: Sandbox
) -> View:
    """Install the rows: wheels alone, and each by its digest; from packed ones confined.

    What workers will see is decided while the environment is empty.

    Returns:
        The view of the workers.
    """
    home, temporary, required = making.home, making.folder / "temporary", making.folder / LOCK
    required.write_bytes(encode_lock(rows))
    temporary.mkdir()
    _make_environment(making.python, home)
    _name_runner(home)
    own_view = foreign_view(making.python, home)
    arguments = ["--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes"]
    arguments += ["-r", str(required)]
    installer, offline = making.installer, wheels is not None
    confined = offline and _confines_installers(sandbox)
    if installer.name == "uv":
        command = _uv_command(installer, home, offline=offline)
    else:
        _make_environment(making.python, making.tools)
        command = _pip_command(installer, making, offline=offline)
    command = [*command, *arguments]
    if wheels is not None:
        command += ["--no-index", "--find-links", str(wheels)]
    variables = (offline_environment if offline else index_environment)(installer, temporary)
    read = (required, *filter(None, (wheels, making.tools if making.tools.exists() else None)))
    run_installer(
        command,
        variables,
        Places(
            temporary, read_only=(*read, Path(installer.command[0])), writable=(temporary, home)
        ),
        names=[row.name for row in rows],
        sandbox=sandbox if confined else replace(sandbox, level="none"),
        view=machine_view().joined(own_view) if confined else None,
    )
    if installer.name == "pip":
        _repair_programs(home, str(making.tools / "bin" / "python"))
    return own_view


def _confines_installers(sandbox: Sandbox) -> bool:
    """Landlock's filter refuses what installers do to files: move them, and set their times."""
    return sandbox.level == "bubblewrap"


def _uv_command(uv: Installer, home: Path, *, offline: bool) -> list[str]:
    apart = ["--offline", "--no-config", "--no-cache"] if offline else []
    python = str(home / "bin" / "python")
    # compiling would start the interpreter in the environment, by a setting of the caller's
    return [*uv.command, *apart, "pip", "install", "--no-compile-bytecode", "--python", python]


def _pip_command(pip: Installer, making: _Making, *, offline: bool) -> list[str]:
    apart = ["--isolated", "--no-cache-dir"] if offline else []
    into = ["--prefix", str(making.home), "--ignore-installed", "--no-compile"]
    tools = str(making.tools / "bin" / "python")
    return [*pip.command, *apart, "--python", tools, "install", *into]


def _make_environment(python: str, folder: Path) -> None:
    """An empty virtual environment, made by the interpreter itself."""
    try:
        done = subprocess.run(  # noqa: S603 - an interpreter of this machine
            [python, "-I", "-B", "-m", "venv", "--without-pip", str(folder)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=worker_environment(dict(os.environ)),
            timeout=_VENV_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise CouldNotRunError(f"environment: {python} did not make one: {error}") from error
    if done.returncode:
        reason = last_printed_line(done.stderr + done.stdout)
        raise CouldNotRunError(f"environment: {python} did not make one: {reason}")


def _repair_programs(home: Path, installed_by: str) -> None:
    """Programs that pip wrote name its own interpreter; they are to begin in the environment."""
    for program in (home / "bin").iterdir():
        if program.is_symlink() or not program.is_file():
            continue
        data = program.read_bytes()
        if data.startswith(b"#!"):
            own = data.replace(installed_by.encode(), str(home / "bin" / "python").encode())
            program.write_bytes(own)


def _name_runner(home: Path) -> None:
    """Let the environment know the repropack that runs in it, which is this very one."""
    version = next((row.version for row in observe_distributions() if row.name == RUNNER), None)
    for folder in home.glob("lib/python*/site-packages") if version is not None else ():
        told = folder / f"{RUNNER.replace('-', '_')}-{version}.dist-info"
        told.mkdir()
        metadata = f"Metadata-Version: 2.1\nName: {RUNNER}\nVersion: {version}\n"
        (told / "METADATA").write_text(metadata, "ascii")
