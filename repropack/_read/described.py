"""Whether crate and citation say what the rest of the package says, byte for byte.

They follow from it, so they are made again here and compared. A person or an archive that reads
them alone is then told nothing that the package does not hold.
"""

from __future__ import annotations

from repropack._export.citation import citation_bytes
from repropack._export.crate import crate_bytes
from repropack._format.canonical import decode_strict
from repropack._format.layout import CITATION, CRATE
from repropack._format.orcid import check_digit
from repropack._read.consistency import Report
from repropack._read.package import Package
from repropack._read.swhids import source_swhid
from repropack.errors import PackageError
from repropack.models.authored import Author


def check_described(package: Package, report: Report) -> None:
    """Make crate and citation again, and hold the packed ones against them.

    Args:
        package: The open package, in which nothing else is wrong.
        report: Called for each fault.

    Raises:
        PackageError: a document is malformed, or larger than the limit.
    """
    _check_orcids(package, report)
    manifest = package.manifest
    source = source_swhid(package.container, manifest.entries)
    citation = citation_bytes(manifest.package, package.evidence_digest, source)
    observed = package.read(CITATION, max_bytes=max(len(citation), _limit(package)))
    if observed != citation:
        place, expected, told = _first_lines(citation, observed)
        report("citation.differs", CITATION, place, expected, told)
    crate = crate_bytes(
        manifest.package, manifest.entries, package.plan, package.results, package.environment
    )
    observed = package.read(CRATE, max_bytes=max(len(crate), _limit(package)))
    if observed != crate:
        place, expected, told = _first_entities(crate, observed)
        report("crate.differs", CRATE, place, expected, told)


def _limit(package: Package) -> int:
    """A crate names each entry several times, so that it may be larger than a manifest."""
    return package.limits.max_document_bytes


def _check_orcids(package: Package, report: Report) -> None:
    article = package.manifest.package.article
    authors: tuple[Author, ...] = article.authors if article is not None else ()
    for author in (*package.manifest.package.authors, *authors):
        if author.orcid is not None and check_digit(author.orcid) != author.orcid[-1]:
            expected = f"the check digit {check_digit(author.orcid)}"
            report("manifest.orcid", "manifest.json", "orcid", expected, author.orcid)


def _first_lines(expected: bytes, observed: bytes) -> tuple[str, str, str]:
    """Where two texts part: the number of the line, and both lines."""
    ours, theirs = expected.split(b"\n"), observed.split(b"\n")
    same = zip(ours, theirs, strict=False)
    number = next((k for k, (a, b) in enumerate(same) if a != b), min(len(ours), len(theirs)))
    return f"line {number + 1}", _line_at(ours, number), _line_at(theirs, number)


def _line_at(lines: list[bytes], number: int) -> str:
    return ascii(lines[number].decode("utf-8", "replace"))[:160] if number < len(lines) else "none"


def _first_entities(expected: bytes, observed: bytes) -> tuple[str, str, str]:
    """Where two crates part: the first entity that only one has or that is another."""
    ours, theirs = _entities(expected), _entities(observed)
    for name in sorted(ours.keys() | theirs.keys()):
        if ours.get(name) != theirs.get(name):
            place = f"entity {name!a:.120}"
            if name not in ours or name not in theirs:
                both = ("this entity", "none") if name in ours else ("none", "this entity")
                return place, *both
            keys = sorted({*ours[name], *theirs[name]})
            key = next(one for one in keys if ours[name].get(one) != theirs[name].get(one))
            shown = f"{ours[name].get(key)!a:.160}", f"{theirs[name].get(key)!a:.160}"
            return f"{place}: {key!a:.60}", *shown
    return "", "the crate in canonical JSON, nothing besides", "another spelling"


def _entities(data: bytes) -> dict[str, dict[str, object]]:
    """The entities of a crate by id; none of a document that is no crate."""
    try:
        graph = decode_strict(data, where=CRATE)["@graph"]
        return {str(one["@id"]): dict(one) for one in graph}
    except (PackageError, TypeError, ValueError, LookupError):
        return {}
