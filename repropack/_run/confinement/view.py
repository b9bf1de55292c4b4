"""What a confined program may see of this machine: interpreter, libraries, processors.

The judge computes it once. Never shown are home folders, temporary folders and ``/run`` as such;
an interpreter or a distribution that lies in one of them is shown by itself, and of an editable
install's folder what can be imported from it: packages, modules, metadata, and no hidden file.
"""

# ruff: noqa: PTH115, PTH118, PTH119, PTH120, PTH208 - paths as they stand, with the links in them

from __future__ import annotations

import contextlib
import os
import pwd
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from repropack._format.canonical import decode_strict
from repropack._run.variables import worker_environment
from repropack.errors import CouldNotRunError, PackageFormatError

_MAIN = Path(__file__).with_name("view_main.py")
_PACKAGE = Path(__file__).parents[2]
_SECONDS = 60
_MAX_LINKS = 64
_MAX_ENTRIES = 200_000

_SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/etc/os-release",
    "/etc/ssl/openssl.cnf",
    "/var/cache/fontconfig",
    # how many processors there are, and of what kind
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/fs/cgroup/cpu.max",
    "/sys/fs/cgroup/cpu/cpu.cfs_period_us",
    "/sys/fs/cgroup/cpu/cpu.cfs_quota_us",
    "/sys/kernel/mm/transparent_hugepage",
)
_OF_A_PREFIX = ("bin", "lib", "lib64", "pyvenv.cfg")
_LIBRARY_VARIABLES = ("LD_LIBRARY_PATH",)
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_METADATA = (".dist-info", ".egg-info", ".egg-link")
_MODULES = (".py", ".so")


@dataclass(frozen=True)
class View:
    """Paths of this machine that a confined program sees, all read-only.

    Attributes:
        shown: Real paths of files and whole folders; none lies within another.
        listed: Real paths of folders whose names may be read, and their contents only where shown.
        links: Links on the way to what is shown, with their targets as they stand there.
    """

    shown: tuple[str, ...]
    listed: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()

    def shows(self, path: str) -> str | None:
        """Which of ``shown`` a path lies in, or is; ``None`` where it is not seen."""
        real = Path(path).resolve()
        return next((str(p) for p in (real, *real.parents) if str(p) in self.shown), None)

    def joined(self, other: View) -> View:
        """What either view shows.

        Args:
            other: Another view of this machine.

        Returns:
            Both together.
        """
        both = _Composing(
            frozenset(),
            {*self.shown, *other.shown},
            {*self.listed, *other.listed},
            dict((*self.links, *other.links)),
        )
        return both.result()


@lru_cache(maxsize=1)
def machine_view() -> View:
    """The view of this interpreter's workers, computed once a process.

    Returns:
        What a worker needs to begin, and nothing of the user's.

    Raises:
        CouldNotRunError: the interpreter does not start, or an editable folder is too large.
    """
    environment = worker_environment(dict(os.environ))
    return _view_of(_ask_interpreter(environment), environment)


def foreign_view(interpreter: str, folder: Path) -> View:
    """The view of workers in an environment that others' distributions were installed into.

    Nothing in that environment is started to find out: an interpreter runs what lies in the
    environment as soon as it begins.

    Args:
        interpreter: The interpreter that the environment was made from, as a path.
        folder: The environment.

    Returns:
        What ``machine_view`` would be if this process ran in that environment.

    Raises:
        CouldNotRunError: the interpreter does not start.
    """
    environment = worker_environment(dict(os.environ))
    told = _ask_interpreter(environment, interpreter, "-I", "-S")
    prefixes = [*told["prefixes"], str(folder)]
    installed = [str(path) for path in sorted(folder.glob("lib*/python*/site-packages"))]
    python = str(folder / "bin" / "python")
    told = {**told, "prefixes": prefixes, "path": [*told["path"], *installed], "executable": python}
    return _view_of(told, environment)


def _view_of(told: dict[str, Any], environment: dict[str, str]) -> View:
    return compute_view(
        told,
        libraries=[
            *(
                entry
                for name in _LIBRARY_VARIABLES
                for entry in environment.get(name, "").split(os.pathsep)
            ),
            *_loaded_libraries(),
        ],
        private=private_folders(),
    )


def private_folders() -> frozenset[str]:
    """Folders that are never shown as such: homes, temporary folders, and all above them."""
    homes = [os.environ.get("HOME", "")]
    with contextlib.suppress(KeyError):  # in a container a user may have no name
        homes.append(pwd.getpwuid(os.getuid()).pw_dir)
    places = {
        os.path.realpath(place)
        for place in (*homes, tempfile.gettempdir(), "/tmp", "/var/tmp", "/run", "/home", "/root")  # noqa: S108 - named to be left out
        if Path(place).is_absolute()
    }
    above = {str(parent) for place in places for parent in Path(place).parents}
    return frozenset(places | above)


def compute_view(
    told: dict[str, Any], *, libraries: Iterable[str], private: frozenset[str]
) -> View:
    """Compose a view from what an interpreter told.

    Args:
        told: What ``view_main`` printed.
        libraries: Folders or files of shared libraries beyond those of system and interpreter.
        private: Real paths of folders that are never shown as such.

    Returns:
        The view, sorted.

    Raises:
        CouldNotRunError: a folder of an editable install holds too many files to look through.
    """
    view = _Composing(private)
    for path in _SYSTEM:
        view.show(path)
    for prefix in told["prefixes"]:
        for name in _OF_A_PREFIX:
            view.show(os.path.join(prefix, name))
    view.show(told["executable"])
    for path in libraries:
        view.show(path)
    for entry in told["path"]:
        if Path(entry).name in _INSTALLED or view.is_shown(entry):
            view.show(entry)
        else:
            view.show_importable(entry)
    for place in told["found"]:
        view.show_found(place)
    view.show_without_hidden(str(_PACKAGE))
    return view.result()


@dataclass
class _Composing:
    private: frozenset[str]
    shown: set[str] = field(default_factory=set)
    listed: set[str] = field(default_factory=set)
    links: dict[str, str] = field(default_factory=dict)

    def show(self, path: str) -> None:
        """Show a file or a whole folder, and the links that lead to it."""
        real, links = follow(path)
        if not Path(real).exists() or real in self.private:
            return
        self.links.update(links)
        self.shown.add(real)

    def is_shown(self, path: str) -> bool:
        real = os.path.realpath(path)
        return any(real == place or real.startswith(place + "/") for place in self.shown)

    def show_importable(self, folder: str) -> None:
        """Of a folder on the search path: modules, packages, metadata."""
        real, links = follow(folder)
        if not Path(real).is_dir():
            self.show(folder)  # a zip
            return
        self.links.update(links)
        if real not in self.private:
            self.listed.add(real)
        for name in _names(real):
            if _can_be_imported(real, name):
                self.show_without_hidden(os.path.join(real, name))

    def show_found(self, place: str) -> None:
        """What a finder leads to: a folder, a module, or a module's path without its suffix."""
        candidates = [place] if Path(place).exists() else _with_suffix(place)
        for candidate in candidates:
            self.show_without_hidden(candidate)

    def show_without_hidden(self, path: str) -> None:
        """Show a package; where it holds hidden files, show what lies beside them."""
        if self.is_shown(path):
            return
        real, links = follow(path)
        if not Path(real).is_dir() or not _hides_something(real):
            self.show(path)
            return
        self.links.update(links)
        if real in self.private:
            return
        self.listed.add(real)
        for name in _names(real):
            if not Path(os.path.join(real, name)).is_symlink():
                self.show_without_hidden(os.path.join(real, name))

    def result(self) -> View:
        """What was gathered, without what lies in something else that is shown."""
        shown = sorted(path for path in self.shown if not self._is_within(path))
        return View(
            shown=tuple(shown),
            listed=tuple(sorted(path for path in self.listed if not self._is_within(path))),
            links=tuple(
                sorted((link, to) for link, to in self.links.items() if not self._is_within(link))
            ),
        )

    def _is_within(self, path: str) -> bool:
        return any(str(parent) in self.shown for parent in Path(path).parents)


def follow(path: str) -> tuple[str, dict[str, str]]:
    """Resolve a path, and tell which links were on the way.

    Returns:
        The real path, and each link's own real place with its target as it stands there. A loop
        of links ends at one of them.
    """
    links: dict[str, str] = {}
    todo = [part for part in reversed(path.split("/")) if part not in {"", "."}]
    here, count = "/", 0
    while todo:
        part = todo.pop()
        if part == "..":
            here = os.path.dirname(here)
            continue
        place = os.path.join(here, part)
        try:
            target = os.readlink(place)
        except OSError:
            here = place
            continue
        count += 1
        if count > _MAX_LINKS:
            return place, links
        links[place] = target
        if target.startswith("/"):
            here = "/"
        todo += [part for part in reversed(target.split("/")) if part not in {"", "."}]
    return here, links


def _names(folder: str) -> list[str]:
    """Names in a folder that are not hidden, sorted."""
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError:
        return []


def _can_be_imported(folder: str, name: str) -> bool:
    path = os.path.join(folder, name)
    if Path(path).is_dir():
        has_code = Path(os.path.join(path, "__init__.py")).is_file()
        return name.endswith(_METADATA) or (name.isidentifier() and has_code)
    return name.endswith((*_MODULES, *_METADATA))


def _with_suffix(place: str) -> list[str]:
    folder, stem = os.path.split(place)
    return [
        os.path.join(folder, name)
        for name in _names(folder)
        if name.partition(".")[0] == stem and name.endswith(_MODULES)
    ]


def _hides_something(folder: str) -> bool:
    count = 0
    for _, folders, files in os.walk(folder):
        count += len(folders) + len(files)
        if count > _MAX_ENTRIES:
            raise CouldNotRunError(
                f"{folder}: expected at most {_MAX_ENTRIES} files in a package of an editable "
                "install, observed more",
                hint="install it without --editable: a confined program sees packages alone",
            )
        if any(name.startswith(".") for name in (*folders, *files)):
            return True
    return False


def _loaded_libraries() -> list[str]:
    """Shared libraries in this process, and the names beside them that lead to them."""
    try:
        lines = Path("/proc/self/maps").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return []
    found = []
    for path in sorted({line.split(maxsplit=5)[5] for line in lines if "/" in line}):
        folder = os.path.dirname(path)
        if ".so" not in os.path.basename(path) or not Path(path).is_file():
            continue
        found.append(path)
        if any(part in _INSTALLED or part == "lib-dynload" for part in Path(path).parts):
            continue
        for name in _names(folder):
            beside = os.path.join(folder, name)
            if Path(beside).is_symlink() and os.path.realpath(beside) == path:
                found.append(beside)
    return found


def _ask_interpreter(
    environment: dict[str, str], interpreter: str = sys.executable, *flags: str
) -> dict[str, Any]:
    try:
        done = subprocess.run(  # noqa: S603 - an interpreter of this machine, and our own script
            [interpreter, *(flags or ("-P",)), "-B", str(_MAIN)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            timeout=_SECONDS,
            check=True,
        )
        told: dict[str, Any] = decode_strict(done.stdout, where="the interpreter's search path")
    except (OSError, subprocess.SubprocessError, PackageFormatError) as error:
        raise CouldNotRunError(
            f"the interpreter cannot be asked what it imports: {error}"
        ) from error
    return told
