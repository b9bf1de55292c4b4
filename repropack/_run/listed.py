"""Whether what stands in a folder is what was written there: every file listed, none edited since.

A folder that repropack made says itself what belongs in it: a package's by its manifest, a
published one by its list of digests. Whatever else is in it is somebody's work.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from repropack._format.canonical import decode_strict, encode_canonical
from repropack._format.digests import digest_bytes, digest_stream
from repropack._format.layout import MANIFEST
from repropack._read.beside import open_regular
from repropack.errors import PackageError, UsageError
from repropack.models.manifest import FORMAT_NAME


def canonical_object(data: bytes) -> dict[str, Any]:
    """An object in canonical JSON.

    Args:
        data: Any bytes.

    Returns:
        It; empty where they are something else, or the same in another spelling.
    """
    try:
        value = decode_strict(data, where="")
        if isinstance(value, dict) and encode_canonical(value) == data:
            return value
    except (PackageError, UsageError):
        pass
    return {}


def listed_in_manifest(data: bytes) -> dict[str, str] | None:
    """What a package's manifest says of the files of the package, itself included.

    Args:
        data: Bytes of a ``manifest.json``, maybe.

    Returns:
        Digests by path, of all entries that are not held by reference; ``None`` where it is no
        manifest of a package, or not as repropack writes one.
    """
    manifest = canonical_object(data)
    rows = manifest.get("entries")
    if manifest.get("format") != FORMAT_NAME or not isinstance(rows, list):
        return None
    listed = {MANIFEST: digest_bytes(data)}
    for row in rows:
        if not isinstance(row, dict):
            return None
        if row.get("included") is not False:
            listed[str(row.get("path"))] = str(row.get("digest"))
    return listed


def first_unlisted(root: Path, listed: Mapping[str, str], list_name: str) -> str | None:
    """Say which file below a folder would be lost with it.

    Args:
        root: The folder. Links in it are not followed.
        listed: Digests by path, ``sha256:`` and 64 digits.
        list_name: What lists them, for the sentence.

    Returns:
        The first file that is not listed, else the first whose digest is another, in words;
        ``None`` where every file is as it was written. Folders without a file are not looked at.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is none any more.
    """
    places = {place.relative_to(root).as_posix(): place for place in sorted(root.rglob("*"))}
    files = [path for path, place in places.items() if place.is_symlink() or not place.is_dir()]
    for path in files:
        if path not in listed or places[path].is_symlink() or not places[path].is_file():
            return f"{path!a} in it, which {list_name} does not list"
    for path in files:
        with open_regular(places[path], "a file") as stream:
            if digest_stream(stream)[0] != listed[path]:
                return edited(path, list_name)
    return None


def edited(path: str, list_name: str) -> str:
    """Say that a file was edited since it was written."""
    return f"{path!a} in it, edited since: {list_name} lists another digest"
