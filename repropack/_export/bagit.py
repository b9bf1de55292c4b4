"""The tag files of a bag: BagIt 1.0, RFC 8493. The payload is the tree of a package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from repropack._version import __version__
from repropack.models.manifest import PackageMetadata

PAYLOAD = "data"
DECLARATION, INFO = "bagit.txt", "bag-info.txt"
ALGORITHMS = ("sha256", "sha512")
DECLARATION_BYTES = b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"
_AGENT, _SOFTWARE = "Bag-Software-Agent", "repropack"
_LABELS = frozenset({
    "Contact-Name", "Contact-Email", "External-Description", "Bagging-Date", _AGENT,
    "Internal-Sender-Identifier", "External-Identifier", "Payload-Oxum",
})  # fmt: skip

Digests = Mapping[str, Mapping[str, str]]
"""By algorithm and by path in the bag: hexadecimal digests."""


def payload_manifest(algorithm: str) -> str:
    """Name the manifest of the payload for an algorithm of ``ALGORITHMS``."""
    return f"manifest-{algorithm}.txt"


def tag_manifest(algorithm: str) -> str:
    """Name the manifest of the tag files for an algorithm of ``ALGORITHMS``."""
    return f"tagmanifest-{algorithm}.txt"


def manifest_bytes(digests: Mapping[str, str]) -> bytes:
    r"""Write a manifest: a line for each file, sorted by the bytes of its path.

    Args:
        digests: Hexadecimal digests by path in the bag.

    Returns:
        Digest, two blanks and path a line; ``%``, carriage return and newline in a path are
        percent-encoded (RFC 8493, 2.1.3).

    Example:
        >>> manifest_bytes({"data/50%.csv": "ab"})
        b'ab  data/50%25.csv\n'
    """
    lines = (f"{digests[path]}  {_encoded(path)}\n" for path in sorted(digests, key=str.encode))
    return "".join(lines).encode("utf-8")


def info_bytes(
    metadata: PackageMetadata,
    package_digest: str,
    source_swhid: str | None,
    payload: tuple[int, int],
) -> bytes:
    """Write ``bag-info.txt``: what the author says, and the size of the payload; no clock.

    Args:
        metadata: What the author says of the package.
        package_digest: Its package digest.
        source_swhid: Identifier of its source, if it has one.
        payload: Bytes and files of the payload.

    Returns:
        One element a line.
    """
    lines = (f"{label}: {value}\n" for label, value in _elements(metadata))
    identifiers = [package_digest, *([source_swhid] if source_swhid is not None else [])]
    if metadata.doi is not None:
        identifiers.insert(0, f"https://doi.org/{metadata.doi}")
    text = "".join(lines) + "".join(f"External-Identifier: {one}\n" for one in identifiers)
    octets, files = payload
    return f"{text}Payload-Oxum: {octets}.{files}\n".encode()


def is_own_info(data: bytes) -> bool:
    """Whether a ``bag-info.txt`` has the elements that ours have, and none besides."""
    lines = data.decode("utf-8", "replace").removesuffix("\n").split("\n")
    labels = {line.partition(": ")[0] for line in lines}
    ours = any(line.startswith(f"{_AGENT}: {_SOFTWARE} ") for line in lines)
    return ours and labels <= _LABELS


def _elements(metadata: PackageMetadata) -> Iterator[tuple[str, str]]:
    if metadata.contact is not None:
        yield "Contact-Name", metadata.contact.name
        if metadata.contact.email is not None:
            yield "Contact-Email", metadata.contact.email
    if metadata.description is not None:
        yield "External-Description", metadata.description
    if metadata.date is not None:
        yield "Bagging-Date", metadata.date.isoformat()
    yield "Internal-Sender-Identifier", f"{metadata.name} {metadata.version}"
    yield _AGENT, f"{_SOFTWARE} {__version__}"


def _encoded(path: str) -> str:
    return path.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
