r"""Which Python distributions are installed here, where they came from, and what files they have.

Reads small files beside each distribution and none of its code. Nothing of an address or a folder
is kept: a ``direct_url.json`` decides about one word and is forgotten.

A distribution's *fingerprint* is SHA-256 of ``repropack.installed.v1\n`` and the sorted rows of
its ``RECORD``, each ``path,digest,size`` as it stands there, with a newline. Left out are rows
without a digest; byte code (``.pyc``); paths that are absolute or begin with ``..``, for a script
there holds its interpreter's path; and ``INSTALLER``, ``REQUESTED``, ``RECORD``,
``direct_url.json`` and ``uv_cache.json`` of its ``.dist-info`` folder, which tell how it was
installed. So pip and uv give one wheel one fingerprint, in any folder. It says what was installed:
a file that was edited later is not noticed.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from repropack._format.canonical import decode_strict
from repropack._format.lock import RUNNER, normal_name
from repropack.errors import CouldNotRunError, PackageFormatError
from repropack.models.environment import Distribution, Origin

INSTALLED_DOMAIN = b"repropack.installed.v1\n"

OWN_MODULE = "repropack"

_OWN_FILE = f"{OWN_MODULE}/__init__.py"
_NOT_OF_THE_WHEEL = frozenset(
    {"INSTALLER", "RECORD", "REQUESTED", "direct_url.json", "uv_cache.json"}
)
_SYSTEM_INSTALLERS = frozenset({"apk", "conda", "debian", "guix", "nix", "portage", "rpm"})
_SPREAD = re.compile(r'("?)[^/",]+\.data/([a-z]+)/')
_SOURCE_SUFFIXES = (".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".zip")


def observe_distributions() -> tuple[Distribution, ...]:
    """Return every installed distribution; of two with one name, the one that is imported.

    Returns:
        Sorted by name in normal form. What has no name or no version is left out.
    """
    found: dict[str, tuple[str, importlib.metadata.Distribution]] = {}
    for installed in importlib.metadata.distributions():
        name, version = _name_and_version(installed)
        if name and version:
            found.setdefault(normal_name(name), (version, installed))
    return tuple(
        _describe(name, version, installed) for name, (version, installed) in sorted(found.items())
    )


def check_own_name() -> None:
    """See to it that ``import repropack`` means this repropack, in every process.

    Raises:
        CouldNotRunError: another distribution provides a module of that name; its files may stand
            in the place of ours, or be found before them.
    """
    for installed in importlib.metadata.distributions():
        name, version = _name_and_version(installed)
        if name is None or normal_name(name) == RUNNER:
            continue
        record = installed.read_text("RECORD")
        modules = installed.read_text("top_level.txt") if record is None else None
        if f"\n{_OWN_FILE}," in f"\n{record}" or OWN_MODULE in (modules or "").split():
            raise CouldNotRunError(
                f"expected {RUNNER} alone to provide a module named {OWN_MODULE!r}, "
                f"observed one in the distribution {name} {version}",
                hint=f"`pip uninstall {name}`, then install {RUNNER} again from its "
                "checkout or wheel, for they share a folder",
            )


def wheel_fingerprint(wheel: Path) -> str | None:
    """The fingerprint that a wheel has once it is installed.

    Args:
        wheel: A wheel file.

    Returns:
        The fingerprint; ``None`` where the wheel has no list of its files.

    Raises:
        OSError: the file cannot be read.
        zipfile.BadZipFile: it is no zip.
    """
    for packed in importlib.metadata.distributions(path=[str(wheel)]):
        record = packed.read_text("RECORD")
        if record is not None:
            return _fingerprint("\n".join(filter(None, map(_as_installed, record.splitlines()))))
    return None


def _as_installed(row: str) -> str:
    """A row of a wheel's list as it stands once it is installed; empty where it lies elsewhere."""
    found = _SPREAD.match(row)
    if found is None:
        return row
    return f"{found[1]}{row[found.end() :]}" if found[2] in {"purelib", "platlib"} else ""


def _name_and_version(
    installed: importlib.metadata.Distribution,
) -> tuple[str | None, str | None]:
    """Read the two headers alone: parsing all of the metadata takes ten times as long."""
    text = installed.read_text("METADATA") or installed.read_text("PKG-INFO") or ""
    head = text.partition("\n\n")[0]
    fields = [re.search(rf"^{key}:[ \t]*(\S+)", head, re.MULTILINE) for key in ("Name", "Version")]
    name, version = (field and field[1] for field in fields)
    return name, version


def _describe(name: str, version: str, installed: importlib.metadata.Distribution) -> Distribution:
    record = installed.read_text("RECORD")
    origin = _origin(installed, record)
    fingerprint = None if record is None or origin == "editable" else _fingerprint(record)
    return Distribution(name=name, version=version, origin=origin, fingerprint=fingerprint)


def _origin(installed: importlib.metadata.Distribution, record: str | None) -> Origin:
    if record is None or ".dist-info/WHEEL," not in record:
        return "system"
    if (installed.read_text("INSTALLER") or "").strip().lower() in _SYSTEM_INSTALLERS:
        return "system"
    if ".dist-info/direct_url.json," not in record:
        return "wheel"
    return _named_origin(installed.read_text("direct_url.json") or "")


def _named_origin(direct_url: str) -> Origin:
    """Tell what was named to install a distribution, by its ``direct_url.json``."""
    try:
        told: Any = decode_strict(direct_url.encode("utf-8"), where="direct_url.json")
    except PackageFormatError:
        return "wheel"
    if not isinstance(told, dict):
        return "wheel"
    folder, address = told.get("dir_info"), told.get("url")
    if isinstance(folder, dict):
        return "editable" if folder.get("editable") is True else "sdist"
    archive = isinstance(address, str) and address.partition("#")[0].endswith(_SOURCE_SUFFIXES)
    return "sdist" if archive or "vcs_info" in told else "wheel"


def _fingerprint(record: str) -> str:
    rows = sorted(_rows(record))
    return f"sha256:{hashlib.sha256(INSTALLED_DOMAIN + b''.join(rows)).hexdigest()}"


def _rows(record: str) -> Iterator[bytes]:
    for line in record.splitlines():
        path, _, rest = line.rpartition(",")[0].rpartition(",")
        told = path.strip('"')
        if not rest or told.endswith(".pyc") or told.startswith(("../", "/")):
            continue
        folder, _, file = told.rpartition("/")
        if not (file in _NOT_OF_THE_WHEEL and folder.endswith(".dist-info")):
            yield f"{line}\n".encode()
