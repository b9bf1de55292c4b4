"""Where the modules of an interpreter come from, told without importing any of them.

Run in a worker's own environment, by the worker itself or by ``worker_main.py locate``. A module
is *packed* where it lies in the experiment's source, *installed* where it is of the standard
library, of a distribution that lists its file, or of repropack; anything else is *outside*, such
as the files behind an editable install. Imports the standard library and ``_format`` alone.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from functools import cached_property
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, Literal

from repropack._format.canonical import decode_strict, encode_canonical

Kind = Literal["installed", "outside", "missing"]
_PACKAGE = Path(__file__).resolve().parents[1]
_SITE_FOLDERS = frozenset({"site-packages", "dist-packages"})


def main() -> int:
    """Answer, for names on standard input, where each would be imported from.

    Returns:
        0. The answer is a JSON object: for each name its kind and file, which may be null.
    """
    names: list[str] = decode_strict(sys.stdin.buffer.read(), where="names")
    installed = Installed()
    answer = {name: list(_located(name, installed)) for name in names}
    sys.stdout.buffer.write(encode_canonical(answer))
    return 0


def modules_outside(source: Path, own: Sequence[Path], known: frozenset[str]) -> dict[str, str]:
    """Find what was imported from outside.

    Args:
        source: Root of the experiment's source.
        own: Folders that belong to this run, in which it may have made modules.
        known: Names of modules that are no business of the experiment.

    Returns:
        File by name of each module that is neither packed nor installed, sorted by name.
    """
    installed = Installed()
    inside = [folder.resolve() for folder in (source, *own)]
    found = {}
    for name, module in sorted(sys.modules.items()):
        file = None if name in known else _file_of(module)
        if file is None or any(Path(file).resolve().is_relative_to(one) for one in inside):
            continue
        if not installed.holds(file):
            found[name] = file
    return found


def _file_of(module: Any) -> str | None:
    """The file that a module was imported from; ``None`` where it has none."""
    try:
        file = getattr(module, "__file__", None)
    except Exception:  # noqa: BLE001 - a module of the experiment may be anything
        return None
    return file if isinstance(file, str) and os.path.isfile(file) else None  # noqa: PTH113


class Installed:
    """What belongs to the standard library, to a distribution or to repropack."""

    def __init__(self) -> None:
        self._answers: dict[str, bool] = {}

    def holds(self, file: str) -> bool:
        """Return whether a file is installed.

        Args:
            file: Absolute path of a module's file.
        """
        if file not in self._answers:
            places = {Path(file), Path(file).resolve()}
            self._answers[file] = any(map(self._is_standard, places)) or any(
                map(self._is_listed, places)
            )
        return self._answers[file]

    def holds_folder(self, folder: str) -> bool:
        """Return whether a folder of modules without a file of its own is installed."""
        place = Path(folder).resolve()
        return self._is_standard(place / "x") or bool(_SITE_FOLDERS & set(place.parts))

    @cached_property
    def _standard(self) -> tuple[Path, ...]:
        paths = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
        version = f"{sys.version_info[0]}{sys.version_info[1]}"
        zipped = [path for path in sys.path if path.endswith(f"python{version}.zip")]
        return (*(Path(path).resolve() for path in (*paths, *zipped)), _PACKAGE)

    def _is_standard(self, place: Path) -> bool:
        return any(
            place.is_relative_to(folder)
            and not _SITE_FOLDERS & set(place.relative_to(folder).parts)
            for folder in self._standard
        )

    @cached_property
    def _records(self) -> dict[Path, set[str | None]]:
        """By the folder of their files: what distributions list, ``None`` for one without a list.

        Rows are read as far as their first comma: no module has one in its path.
        """
        records: dict[Path, set[str | None]] = {}
        for distribution in importlib.metadata.distributions():
            listed = records.setdefault(Path(str(distribution.locate_file(""))), set())
            text = distribution.read_text("RECORD")
            if text is None:
                listed.add(None)
            else:
                listed.update(row.partition(",")[0].strip('"') for row in text.splitlines())
        return records

    def _is_listed(self, place: Path) -> bool:
        for folder, listed in self._records.items():
            if not place.is_relative_to(folder):
                continue
            if place.relative_to(folder).as_posix() in listed:
                return True
            if None in listed and _SITE_FOLDERS & set(folder.parts):
                return True  # a system's distributions do not always list their files
        return False


def _located(name: str, installed: Installed) -> tuple[Kind, str | None]:
    """Where a dotted name, or the package that it lies in, would be imported from."""
    parts = name.split(".")
    search: Iterable[str] | None = None
    for depth in range(len(parts)):
        spec = _find(".".join(parts[: depth + 1]), search)
        if spec is None:
            return "missing", None
        if spec.has_location and spec.origin is not None:
            return ("installed" if installed.holds(spec.origin) else "outside"), spec.origin
        if spec.submodule_search_locations is None:
            return "installed", None  # built in, or frozen
        search = list(spec.submodule_search_locations)
    folders = list(search or ())  # a package without a file of its own
    if folders and not any(map(installed.holds_folder, folders)):
        return "outside", folders[0]
    return "installed", None


def _find(name: str, search: Iterable[str] | None) -> ModuleSpec | None:
    """Ask the interpreter's finders, which import nothing."""
    for finder in sys.meta_path:
        try:
            spec = finder.find_spec(name, None if search is None else list(search), None)
        except Exception:  # noqa: BLE001 - a finder of some distribution may raise anything
            spec = None
        if spec is not None:
            return spec
    return None
