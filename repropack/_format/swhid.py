"""Software Heritage identifiers (SWHID, version 1) of contents and directories.

They are the object ids that git computes, with SHA-1: a package's tree has the id that ``git
write-tree`` gives for it. SHA-1 is what the identifier is defined by; nothing here rests its
safety on it, for every file has a SHA-256 in the manifest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_FILE, _EXECUTABLE, _FOLDER = b"100644", b"100755", b"40000"


@dataclass(frozen=True, slots=True)
class HashedFile:
    """A file of a tree: the id of its content, 20 bytes, and whether it may be executed."""

    content_id: bytes
    executable: bool = False


@dataclass
class _Folder:
    files: dict[bytes, HashedFile] = field(default_factory=dict)
    folders: dict[bytes, _Folder] = field(default_factory=dict)


def content_id(size: int, blocks: Iterable[bytes]) -> bytes:
    r"""Compute the object id of a content: SHA-1 of ``blob <size>``, a zero byte and the content.

    Args:
        size: Its length in bytes.
        blocks: The content, in order, in blocks of any length.

    Returns:
        20 bytes.

    Raises:
        ValueError: the blocks have another length in all.

    Example:
        >>> content_id(6, [b"hello", b"\\n"]).hex()
        'ce013625030ba8dba906f756967f9e9ca394464a'
    """
    hasher = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    read = 0
    for block in blocks:
        hasher.update(block)
        read += len(block)
    if read != size:
        raise ValueError(f"expected a content of {size} bytes, observed {read}")
    return hasher.digest()


def directory_id(files: Mapping[str, HashedFile]) -> bytes:
    """Compute the object id of a directory from the files below it; empty folders do not exist.

    Args:
        files: By path, relative to the directory, with ``/`` between components.

    Returns:
        20 bytes: SHA-1 of ``tree <length>``, a zero byte, and for each name ``<mode> <name>``, a
        zero byte and the name's id; sorted by bytes, a folder as if its name ended in ``/``.

    Example:
        >>> directory_id({}).hex()
        '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
    """
    root = _Folder()
    for path, file in files.items():
        *above, name = path.encode("utf-8").split(b"/")
        folder = root
        for part in above:
            folder = folder.folders.setdefault(part, _Folder())
        folder.files[name] = file
    return _folder_id(root)


def swhid_of(kind: str, object_id: bytes) -> str:
    """Write an object id as an identifier.

    Args:
        kind: ``cnt`` or ``dir``.
        object_id: 20 bytes.

    Returns:
        Such as ``swh:1:dir:4b825dc642cb6eb9a060e54bf8d69288fbee4904``.
    """
    return f"swh:1:{kind}:{object_id.hex()}"


def _folder_id(folder: _Folder) -> bytes:
    rows = [
        (name, name, _EXECUTABLE if file.executable else _FILE, file.content_id)
        for name, file in folder.files.items()
    ]
    rows += [
        (name + b"/", name, _FOLDER, _folder_id(inner)) for name, inner in folder.folders.items()
    ]
    body = b"".join(mode + b" " + name + b"\0" + one for _, name, mode, one in sorted(rows))
    return hashlib.sha1(b"tree %d\0" % len(body) + body, usedforsecurity=False).digest()
