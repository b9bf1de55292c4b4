"""Signature files of OpenSSH are read strictly, and lists of signers for names alone."""

from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repropack._format.sshsig import (
    MAX_SIGNATURE_BYTES,
    check_signer_list,
    is_name,
    key_without_name,
    names_listed,
    read_signature,
)

# As ssh-keygen 9.2 wrote it, with a key that was made for this file and thrown away.
ARMORED = b"""\
-----BEGIN SSH SIGNATURE-----
U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgYdox8bPMgbrximgmr4hQCGwR4M
3B/vfHSawM0iuy2FsAAAAUcmVwcm9wYWNrLXBhY2thZ2VAdjEAAAAAAAAABnNoYTUxMgAA
AFMAAAALc3NoLWVkMjU1MTkAAABAPqiufh4Fv5WMSjS7vvOifLU0p0BwO8J9yKPX9CWEld
wH5bSLAJjsIzMSGGRAzbCWS8Utz9fb6zDGkuV/n9feBQ==
-----END SSH SIGNATURE-----
"""
KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIGHaMfGzzIG68YpoJq+IUAhsEeDNwf73x0msDNIrsthb"

LISTED = b"%%s ssh-ed25519 %s\n" % KEY.encode()


def blob(
    *, magic: bytes = b"SSHSIG", version: int = 1, hashing: bytes = b"sha512", after: bytes = b""
) -> bytes:
    fields = (b"key", b"space", b"", hashing, b"signature")
    strings = b"".join(struct.pack(">I", len(field)) + field for field in fields)
    return magic + struct.pack(">I", version) + strings + after


def armor(data: bytes) -> bytes:
    text = base64.b64encode(data)
    lines = [text[k : k + 70] for k in range(0, len(text), 70)]
    begin, end = b"-----BEGIN SSH SIGNATURE-----", b"-----END SSH SIGNATURE-----"
    return b"\n".join([begin, *lines, end, b""])


def test_a_signature_of_openssh_is_read() -> None:
    """Namespace and key are those that were given to ssh-keygen."""
    signature = read_signature(ARMORED)
    assert signature.namespace == "repropack-package@v1"
    assert base64.b64encode(signature.key).decode() == KEY
    assert read_signature(ARMORED.removesuffix(b"\n")) == signature


def test_a_blob_by_hand_is_read() -> None:
    """The fields are strings with their length before them."""
    assert read_signature(armor(blob())).namespace == "space"
    assert read_signature(armor(blob())).key == b"key"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "between"),
        (b"x" + ARMORED, "between"),
        (ARMORED + b"more\n", "between"),
        (ARMORED + ARMORED, "base64"),
        (ARMORED.replace(b"\n", b"\r\n"), "between"),
        (ARMORED.replace(b"\nU1N", b"\n\nU1N"), "lines of 1 to 76"),
        (ARMORED.replace(b"U1NI", b"U1N!"), "base64"),
        (b"\n".join([*ARMORED.split(b"\n")[:1], b"A" * 77, *ARMORED.split(b"\n")[-2:]]), "76"),
        (armor(blob(magic=b"SSHSIX")), "other bytes"),
        (armor(b"SSHSIG\0"), "other bytes"),
        (armor(blob(version=2)), "version 1, observed 2"),
        (armor(blob(hashing=b"sha1")), "observed b'sha1'"),
        (armor(blob(after=b"\0")), "bytes after its end"),
        (armor(blob()[:-1]), "cut"),
        (armor(blob()[:-12]), "cut"),
        (b"x" * (MAX_SIGNATURE_BYTES + 1), "at most 65536 bytes"),
    ],
)
def test_everything_else_is_refused(data: bytes, said: str) -> None:
    """One signature, and nothing beside it."""
    with pytest.raises(ValueError, match=said):
        read_signature(data)


@given(st.binary(max_size=400))
def test_no_bytes_do_anything_but_be_read_or_refused(data: bytes) -> None:
    """In its armor or without it."""
    for given_bytes in (data, armor(data), armor(b"SSHSIG\0\0\0\1" + data)):
        try:
            read_signature(given_bytes)
        except ValueError as error:
            assert "expected" in str(error)  # noqa: PT017 - either is right


def test_names_are_those_of_the_lines_that_hold_the_key() -> None:
    """With options, quotes, several names; not those that are ruled out, nor comments."""
    key = base64.b64decode(KEY)
    signers = f"""\
# comment {KEY}
ann@x.org,bob ssh-ed25519 {KEY}
"c d" namespaces="a b",valid-before="20300101" ssh-ed25519 {KEY} a comment
*@x.org,!eve@x.org ssh-ed25519 {KEY}
other ssh-ed25519 {KEY[:-4]}AAAA
\tann@x.org ssh-ed25519 {KEY}
e"f g" ssh-ed25519 {KEY}
"never ends ssh-ed25519 {KEY}
{KEY} ssh-ed25519
""".encode()
    check_signer_list(signers)
    assert names_listed(signers, key) == ("ann@x.org", "bob", "c d", "*@x.org", "ef g")


def test_a_name_that_is_excluded_is_none() -> None:
    """Nor is one that is empty, or that no argument can hold."""
    assert [is_name(text) for text in ("ann", "!ann", "", "a\0b")] == [True, False, False, False]


@pytest.mark.parametrize(
    ("signers", "said"),
    [
        (b"\n" * 10_000, "at most 10000 lines"),
        (b"#\n" + b'"' * 32_769, "line 2: expected at most 32768 bytes"),
        (LISTED % b",".join(b"%d" % k for k in range(65)), "line 1: expected at most 64 names"),
        (b"".join(LISTED % b"%d" % k for k in range(65)), "line 65: expected at most 64 names"),
        (LISTED % (b"*" + b",!x" * 64), "line 1: expected at most 64 names"),
    ],
)
def test_a_list_that_takes_long_is_refused(signers: bytes, said: str) -> None:
    """By its line: lines, their length, and names of one key over all of them."""
    with pytest.raises(ValueError, match=said):
        check_signer_list(signers)


def test_a_list_within_the_limits_is_looked_at_once_a_byte() -> None:
    """A megabyte of quotation marks, or of blanks, is no more work than one of letters."""
    for octets in (b'"', b'" ', b" ", b'\\"'):
        signers = (octets * (32_000 // len(octets)) + b"\n") * 30
        check_signer_list(signers)
        assert names_listed(signers, base64.b64decode(KEY)) == ()
    check_signer_list(LISTED % b",".join(b"%d" % k for k in range(64)))


@pytest.mark.parametrize(
    ("line", "key"),
    [
        (b"ssh-ed25519 AAAAC3 ann@x.org", "ssh-ed25519 AAAAC3"),
        (b"\t ssh-rsa  AAAAB3==\r", "ssh-rsa AAAAB3=="),
        (b"ecdsa-sha2-nistp256 AAAAE2", "ecdsa-sha2-nistp256 AAAAE2"),
        (b"sk-ssh-ed25519@openssh.com AAAAG", "sk-ssh-ed25519@openssh.com AAAAG"),
        (b"ssh-ed25519-cert-v01@openssh.com AAAAI", "ssh-ed25519-cert-v01@openssh.com AAAAI"),
        (b"ann ssh-ed25519 AAAAC3", None),
        (b"ssh-ed25519 ssh-ed25519 AAAAC3", None),
        (b"# ssh-ed25519 AAAAC3", None),
        (b"ssh-ed25519", None),
        (b"ssh-ed25519 AAAA\x1b", None),
    ],
)
def test_a_key_without_a_name_is_found(line: bytes, key: str | None) -> None:
    """By its type where the name should stand, with the key behind it; a name may be anything."""
    found = key_without_name(b"ann ssh-ed25519 AAAAC3\n" + line + b"\n")
    assert found == (None if key is None else (2, key))
