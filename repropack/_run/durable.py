"""Bytes that outlast a power cut: files and folders synced, documents replaced in one move."""

from __future__ import annotations

import os
from pathlib import Path


def sync_path(path: Path) -> None:
    """Bring a file or a folder to the disk, as far as the system can tell.

    Args:
        path: A file, or a folder: then its list of names, not what is below it.

    Raises:
        OSError: the system could not, or does not know.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Bring every file and folder below a folder to the disk, and last the folder itself.

    Args:
        folder: Links in it are refused.

    Raises:
        OSError: the system could not, or does not know.
    """
    for place in folder.iterdir():
        if place.is_dir() and not place.is_symlink():
            sync_tree(place)
        else:
            sync_path(place)
    sync_path(folder)


def write_synced(path: Path, data: bytes) -> None:
    """Write a file and bring it to the disk.

    Args:
        path: The file; one that exists is overwritten in place.
        data: Its bytes.

    Raises:
        OSError: it could not be written whole.
    """
    with path.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def replace_document(path: Path, data: bytes) -> None:
    """Put a document in place at once: after a kill or a power cut it is the old or the new one.

    Args:
        path: The document; there or not. Nothing but one process writes it.
        data: Its bytes.

    Raises:
        OSError: it could not be written; what was there is still there.
    """
    aside = path.with_name(f"{path.name}.new")
    write_synced(aside, data)
    aside.replace(path)
    sync_path(path.parent)


def forget_cached(descriptor: int) -> None:
    """Ask that the next read of an open file comes from the disk and not from memory."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def os_problem(error: OSError) -> str:
    """An error of the system on one line: the paths that it names, and the reason.

    Args:
        error: Any.

    Returns:
        Such as ``lab.zip: No space left on device``.
    """
    names = [str(name) for name in (error.filename, error.filename2) if name is not None]
    return ": ".join([*names, error.strerror or str(error) or type(error).__name__])
