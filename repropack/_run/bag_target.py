"""Whether what stands at a target is a bag as we wrote it: the same files, none edited since.

A bag lists its payload in manifests, its manifests in others, and the package in it lists the
payload as well. Only where all of them agree with every byte is nothing of anybody lost with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from typing import Any, BinaryIO

from repropack._export.bagit import (
    ALGORITHMS,
    DECLARATION,
    DECLARATION_BYTES,
    INFO,
    PAYLOAD,
    is_own_info,
    manifest_bytes,
    payload_manifest,
    tag_manifest,
)
from repropack._format.digests import BLOCK_BYTES
from repropack._format.layout import MANIFEST
from repropack._format.limits import DEFAULT_LIMITS
from repropack._run.listed import canonical_object, edited, listed_in_manifest

_DESCRIBED = (DECLARATION, INFO, *map(payload_manifest, ALGORITHMS))
"""The tag files that the manifests of the tag files list."""
_TAGS = frozenset({*_DESCRIBED, *map(tag_manifest, ALGORITHMS)})
_MANIFEST = f"{PAYLOAD}/{MANIFEST}"
_Open = Callable[[str], BinaryIO]
_Listed = Mapping[str, Mapping[str, str]]
"""By algorithm and by path in the bag: hexadecimal digests."""


def bag_hindrance(paths: Collection[str], opened: _Open, name: str | None = None) -> str | None:
    """Say what would be lost if a bag were replaced.

    Args:
        paths: Every file of the bag.
        opened: Opens one of them.
        name: Name of the folder that holds it in its zip; ``None`` where it is a folder itself.

    Returns:
        What it is, if it is no bag of a package; else the first file that is not listed, missing,
        or edited since, in words. ``None`` where it is as repropack wrote it.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is none any more.
        PackageError: a zip is damaged.
    """
    if not {*_TAGS, _MANIFEST} <= set(paths):
        return "something else"
    tags = {tag: _read(opened, tag) for tag in _TAGS}
    listed = {name: _listed(tags[payload_manifest(name)]) for name in ALGORITHMS}
    return (
        _tags_hindrance(tags, listed)
        or _names_hindrance(set(paths) - _TAGS, listed)
        or _edited_payload(listed, opened)
        or _package_hindrance(_read(opened, _MANIFEST), listed, name)
    )


def _tags_hindrance(tags: Mapping[str, bytes], listed: _Listed) -> str | None:
    """The first tag file that is not what the others say, or not written as ours are."""
    if tags[DECLARATION] != DECLARATION_BYTES:
        return "another bag"
    for name in ALGORITHMS:
        if manifest_bytes(listed[name]) != tags[payload_manifest(name)]:
            return f"{payload_manifest(name)!a} in it, edited since: its lines are not ours"
        sealed = _listed(tags[tag_manifest(name)])
        for tag in _DESCRIBED:
            if sealed.get(tag) != hashlib.new(name, tags[tag]).hexdigest():
                return edited(tag, tag_manifest(name))
        if manifest_bytes({tag: sealed[tag] for tag in _DESCRIBED}) != tags[tag_manifest(name)]:
            return f"{tag_manifest(name)!a} in it, edited since: its lines are not ours"
    return None if is_own_info(tags[INFO]) else "another bag"


def _names_hindrance(paths: set[str], listed: _Listed) -> str | None:
    """The first file of the payload that a manifest does not list, or that is missing."""
    for name in ALGORITHMS:
        for path in sorted(paths ^ listed[name].keys()):
            if path in paths:
                return f"{path!a} in it, which its manifest does not list"
            return f"one without {path!a}, which its manifest lists"
    return None


def _edited_payload(listed: _Listed, opened: _Open) -> str | None:
    """The first file of the payload with another digest, read as a stream."""
    for path in sorted(listed[ALGORITHMS[0]]):
        hashers = {name: hashlib.new(name) for name in ALGORITHMS}
        with opened(path) as stream:
            while block := stream.read(BLOCK_BYTES):
                for hasher in hashers.values():
                    hasher.update(block)
        for name, hasher in hashers.items():
            if hasher.hexdigest() != listed[name][path]:
                return edited(path, payload_manifest(name))
    return None


def _package_hindrance(manifest: bytes, listed: _Listed, name: str | None) -> str | None:
    """The payload is a package: what its manifest lists, with the same digests."""
    entries = listed_in_manifest(manifest)
    if entries is None:
        return "another bag"
    payload = {f"{PAYLOAD}/{path}": digest for path, digest in entries.items()}
    held = {path: f"sha256:{digest}" for path, digest in listed["sha256"].items()}
    for path in sorted(held):
        if payload.get(path) != held[path]:
            return f"{path!a} in it, which the manifest of its package does not list so"
    about: Any = canonical_object(manifest).get("package")
    if name is None or not isinstance(about, dict):
        return None
    return None if name == f"{about.get('name')}-{about.get('version')}" else "another bag"


def _listed(manifest: bytes) -> dict[str, str]:
    """Lines of a manifest; whether they are all of it, ``manifest_bytes`` tells."""
    lines = manifest.decode("utf-8", "surrogateescape").split("\n")
    rows = (line.partition("  ") for line in lines if line)
    return {path.replace("%25", "%"): digest for digest, _, path in rows}


def _read(opened: _Open, path: str) -> bytes:
    """A document of the bag; what is larger than any of ours is cut, and so is none."""
    with opened(path) as stream:
        return stream.read(DEFAULT_LIMITS.max_manifest_bytes)
