"""Software Heritage identifiers of a package's source and of its whole tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from repropack._format.digests import BLOCK_BYTES
from repropack._format.layout import MANIFEST, SOURCE
from repropack._format.swhid import HashedFile, content_id, directory_id, swhid_of
from repropack._read.container import Container
from repropack._read.package import Package
from repropack.errors import PackageFormatError
from repropack.models.manifest import Entry
from repropack.refusals import refusal


def source_swhid(container: Container, entries: Iterable[Entry]) -> str | None:
    """Identify the directory ``source/``, as git and Software Heritage would.

    Args:
        container: Where the entries are read.
        entries: Rows of the manifest.

    Returns:
        ``swh:1:dir:<40 hex>``; ``None`` where there is no source.

    Raises:
        PackageFormatError: an entry is damaged.
    """
    prefix = f"{SOURCE}/"
    files = {
        entry.path.removeprefix(prefix): hash_entry(container, entry.path, entry.executable)
        for entry in entries
        if entry.path.startswith(prefix)
    }
    return swhid_of("dir", directory_id(files)) if files else None


def content_swhid(package: Package) -> str:
    """Identify the whole tree of a package, manifest included: the tree id that git gives for it.

    Args:
        package: The open package.

    Returns:
        ``swh:1:dir:<40 hex>``. Entries that are held elsewhere are not in it.

    Raises:
        PackageFormatError: an entry is damaged or missing.
    """
    container = package.container
    files = {MANIFEST: hash_entry(container, MANIFEST, executable=False)}
    for entry in package.manifest.entries:
        if entry.included:
            files[entry.path] = hash_entry(container, entry.path, entry.executable)
    return swhid_of("dir", directory_id(files))


def hash_entry(container: Container, path: str, executable: bool) -> HashedFile:  # noqa: FBT001
    """Hash one file of a package as git does.

    Args:
        container: Where it is read.
        path: Its path.
        executable: Whether it may be executed.

    Returns:
        The file as a directory's identifier takes it.

    Raises:
        PackageFormatError: it is damaged or missing.
    """
    if path not in container:
        expected = "what the manifest lists"
        raise PackageFormatError(
            refusal("manifest.file-missing", path, "missing", expected, "nothing")
        )
    size = container.size(path)
    try:
        return HashedFile(content_id(size, _blocks(container, path)), executable)
    except ValueError as error:
        expected = f"{size} bytes, as when it was listed"
        raise PackageFormatError(
            refusal("directory.changed", path, "", expected, "another length")
        ) from error


def _blocks(container: Container, path: str) -> Iterator[bytes]:
    with container.open(path) as stream:
        while block := stream.read(BLOCK_BYTES):
            yield block
