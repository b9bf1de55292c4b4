"""Signature files of OpenSSH: their form, as its PROTOCOL.sshsig has it, and lists of signers.

Nothing is verified here. A file is read strictly, so that what ``ssh-keygen`` is given to judge is
one signature and nothing beside it; a list of signers is looked at for the names that it may give a
key, which ``ssh-keygen`` then accepts or does not.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from struct import unpack_from
from typing import Final

MAX_SIGNATURE_BYTES: Final = 64 * 1024
"""Largest signature file that is read: one of a certificate takes a few thousand bytes."""
MAX_SIGNERS_BYTES: Final = 1024 * 1024
"""Largest list of signers, or of revoked keys, that is read."""
MAX_LIST_LINES: Final = 10_000
"""Lines of a list of signers."""
MAX_LIST_LINE_BYTES: Final = 32 * 1024
"""Bytes of one of its lines: a key takes up to some thousands."""
MAX_NAMES: Final = 64
"""Names that a list gives to one key, over all lines: each is asked of ``ssh-keygen``."""

_BEGIN, _END = b"-----BEGIN SSH SIGNATURE-----", b"-----END SSH SIGNATURE-----"
_MAGIC = b"SSHSIG"
_VERSION = 1
_MAX_LINE_BYTES = 76
_HASHES = (b"sha256", b"sha512")
_BLANKS = b" \t\r"
_FIELD_END = re.compile(rb'[ \t\r"]')
_BARE_KEY = re.compile(
    rb"((?:sk-)?(?:ssh-[a-z0-9-]+|ecdsa-sha2-nistp[0-9]+)(?:-cert-v[0-9]+)?(?:@openssh\.com)?)"
    rb"[ \t]+(AAAA[A-Za-z0-9+/]*={0,2})(?:[ \t\r]|\Z)"
)
_FIRST_ENCODED = b"AAAA"
"""How every public key begins in base64: with a length that fits 24 bits."""


@dataclass(frozen=True)
class SshSignature:
    """What a signature file says of itself: the namespace, and the public key as it is encoded."""

    namespace: str
    key: bytes


def read_signature(data: bytes) -> SshSignature:
    """Read one armored signature.

    Args:
        data: The file.

    Returns:
        Its namespace, with other characters than ASCII replaced, and its public key.

    Raises:
        ValueError: it is not exactly one signature of version 1; says what was expected and
            observed.
    """
    if len(data) > MAX_SIGNATURE_BYTES:
        raise ValueError(
            f"expected a signature of at most {MAX_SIGNATURE_BYTES} bytes, observed more"
        )
    blob = _unarmored(data)
    if not blob.startswith(_MAGIC) or len(blob) < len(_MAGIC) + 4:
        raise ValueError("expected an SSH signature, observed other bytes in its armor")
    (version,) = unpack_from(">I", blob, len(_MAGIC))
    if version != _VERSION:
        raise ValueError(f"expected an SSH signature of version {_VERSION}, observed {version}")
    position, fields = len(_MAGIC) + 4, []
    for _ in range(5):
        field, position = _string(blob, position)
        fields.append(field)
    if position != len(blob):
        raise ValueError("expected an SSH signature, observed bytes after its end")
    key, namespace, _, hashing, _ = fields
    if hashing not in _HASHES:
        raise ValueError(f"expected a signature over sha256 or sha512, observed {hashing[:20]!a}")
    return SshSignature(namespace.decode("ascii", "replace"), key)


def check_signer_list(data: bytes) -> None:
    """Refuse a list of signers that would take long to ask.

    Args:
        data: A list as ssh-keygen(1) describes it under "ALLOWED SIGNERS".

    Raises:
        ValueError: it has more or longer lines than are looked at, or more names for one key; says
            which line, and what was expected and observed.
    """
    lines = data.split(b"\n")
    if len(lines) > MAX_LIST_LINES:
        raise ValueError(f"expected at most {MAX_LIST_LINES} lines, observed more")
    names: dict[bytes, int] = {}
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_LIST_LINE_BYTES:
            raise ValueError(
                f"line {number}: expected at most {MAX_LIST_LINE_BYTES} bytes, observed more"
            )
        principals, rest = _principals(line)
        for word in {word for word in rest.split() if word.startswith(_FIRST_ENCODED)}:
            names[word] = names.get(word, 0) + len(principals.split(b","))
            if names[word] > MAX_NAMES:
                raise ValueError(
                    f"line {number}: expected at most {MAX_NAMES} names for one key, observed more"
                )


def key_without_name(data: bytes) -> tuple[int, str] | None:
    r"""The first line of a list of signers that is a public key with no name in front of it.

    Args:
        data: A list that ``check_signer_list`` accepts.

    Returns:
        The line's number, and type and key as they stand there; ``None`` where each has a name.

    Example:
        >>> key_without_name(b"ann ssh-ed25519 AAAAC3\nssh-ed25519 AAAAC3 ann@x.org\n")
        (2, 'ssh-ed25519 AAAAC3')
    """
    for number, line in enumerate(data.split(b"\n"), start=1):
        found = _BARE_KEY.match(line.strip(_BLANKS))
        if found is not None:
            return number, b" ".join(found.groups()).decode("ascii")
    return None


def names_listed(signers: bytes, key: bytes) -> tuple[str, ...]:
    r"""The names that a list of signers may give to a key.

    Args:
        signers: A list that ``check_signer_list`` accepts.
        key: A public key as it is encoded in a signature.

    Returns:
        Names and patterns of the lines that hold this key, each once; not those that a ``!``
        excludes. Whether they are accepted, for this use and at this time, is for ``ssh-keygen`` to
        say.

    Example:
        >>> names_listed(b'ann@x.org,!eve,"b c" namespaces="file" ssh-rsa AAAA\n# none\n', bytes(3))
        ('ann@x.org', 'b c')
    """
    encoded = base64.b64encode(key)
    names: dict[str, None] = {}
    for line in signers.split(b"\n"):
        principals, rest = _principals(line)
        if encoded in rest.split():
            told = principals.decode("utf-8", "surrogateescape")
            names.update(dict.fromkeys(filter(is_name, told.split(","))))
    return tuple(names)


def is_name(text: str) -> bool:
    """Whether one of a list's principals names anybody.

    Returns:
        False for one behind a ``!``, which the list excludes, and for what no list can hold.
    """
    return bool(text) and not text.startswith("!") and "\0" not in text


def _principals(line: bytes) -> tuple[bytes, bytes]:
    """The first field of a line, as ``strdelimw`` in OpenSSH's misc.c takes it, and the rest."""
    line = line.strip(_BLANKS)
    if not line or line.startswith(b"#"):
        return b"", b""
    found = _FIELD_END.search(line)
    end = len(line) if found is None else found.start()
    if line[end : end + 1] != b'"':
        return line[:end], line[end:]
    quoted, mark, rest = line[end + 1 :].partition(b'"')
    return (line[:end] + quoted, rest) if mark else (b"", b"")


def _unarmored(data: bytes) -> bytes:
    lines = data.removesuffix(b"\n").split(b"\n")
    if len(lines) < 3 or lines[0] != _BEGIN or lines[-1] != _END:
        raise ValueError(
            f"expected one SSH signature between {_BEGIN.decode()} and {_END.decode()}, observed "
            "something else"
        )
    if any(not line or len(line) > _MAX_LINE_BYTES for line in lines[1:-1]):
        raise ValueError("expected an SSH signature in lines of 1 to 76 bytes, observed others")
    try:
        return base64.b64decode(b"".join(lines[1:-1]), validate=True)
    except binascii.Error as error:
        raise ValueError(f"expected base64, observed something else: {error}") from error


def _string(blob: bytes, position: int) -> tuple[bytes, int]:
    """One string of RFC 4251: four bytes of length, and the bytes."""
    begin = position + 4
    if begin <= len(blob):
        (length,) = unpack_from(">I", blob, position)
        if length <= len(blob) - begin:
            return blob[begin : begin + length], begin + length
    raise ValueError("expected an SSH signature, observed one that is cut")
