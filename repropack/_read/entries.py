"""One entry against its row of the manifest: where it may stand, its mode, its size and digest."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from repropack._format.digests import digest_stream
from repropack._format.layout import media_type_of, role_of
from repropack._read.package import Package
from repropack.errors import IntegrityError
from repropack.models.manifest import Entry
from repropack.refusals import Refusal, refusal


def check_reference(entry: Entry) -> None:
    """Look at an entry whose bytes are elsewhere: an input, with words that say where.

    Args:
        entry: A row of the manifest that is not ``included``.

    Raises:
        IntegrityError: it is something else.
    """
    wrong = _role_refusals(entry)
    if entry.role != "input" or entry.location is None:
        observed = f"{entry.role}, {entry.location!a:.80}"
        place, expected = "held elsewhere", "an input with a location"
        wrong.append(refusal("manifest.reference", entry.path, place, expected, observed))
    if wrong:
        raise IntegrityError(*wrong)


def check_given(entries: Iterable[Entry]) -> None:
    """See to it that source and inputs can lie in one folder, where a command works on both.

    Args:
        entries: Rows of a manifest.

    Raises:
        IntegrityError: two of them meet there, so that one would stand in the other's place.
    """
    given: dict[str, str] = {}
    for entry in entries:
        if entry.role in {"source", "input"}:
            name = entry.path.partition("/")[2]
            if name in given:
                raise IntegrityError(_meets(entry.path, given[name]))
            given[name] = entry.path
    for name, path in given.items():
        for folder in PurePosixPath(name).parents:
            if str(folder) in given:
                raise IntegrityError(_meets(path, given[str(folder)]))


def _meets(path: str, other: str) -> Refusal:
    expected = "source and inputs apart in one folder"
    return refusal("manifest.given", path, "", expected, f"{other!r} as well")


def _role_refusals(entry: Entry) -> list[Refusal]:
    path, role, media_type = entry.path, role_of(entry.path), media_type_of(entry.path)
    if role is None:
        return [refusal("manifest.path", path, "path", "one that entries may have", "another")]
    if (role, media_type) == (entry.role, entry.media_type):
        return []
    expected, observed = f"{role} and {media_type}", f"{entry.role} and {entry.media_type}"
    return [refusal("manifest.role", path, "role and type", expected, observed)]


def check_entry(package: Package, entry: Entry) -> None:
    """Hold role, mode, size and digest of one stored entry against the manifest.

    Args:
        package: The open package, which holds the entry.
        entry: A row of its manifest.

    Raises:
        IntegrityError: something differs; every difference is one refusal.
        PackageFormatError: the stored bytes are damaged.
    """
    path, wrong = entry.path, _role_refusals(entry)
    if entry.location is not None:
        observed = f"{entry.location!a}"
        wrong.append(
            refusal("manifest.location", path, "location", "none beside the bytes", observed)
        )
    if package.container.executable(path) != entry.executable:
        expected = str(entry.executable).lower()
        wrong.append(refusal("manifest.mode", path, "executable", expected, "the contrary"))
    wrong += _digest_refusals(package, entry)
    if wrong:
        raise IntegrityError(*wrong)


def _digest_refusals(package: Package, entry: Entry) -> list[Refusal]:
    """A file that is larger than listed is not read to its end, for it may have none."""
    path = entry.path
    with package.container.open(path) as stream:
        digest, size = digest_stream(stream, entry.size)
    if (digest, size) == (entry.digest, entry.size):
        return []
    expected, observed = f"{entry.digest} ({entry.size} bytes)", f"{digest} ({size} bytes)"
    if size > entry.size:
        observed = f"{package.container.size(path)} bytes"
    return [refusal("digest.entry", path, "digest differs", expected, observed)]
