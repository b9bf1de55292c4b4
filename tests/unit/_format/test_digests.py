"""Digests of bytes and streams."""

from __future__ import annotations

import hashlib
from io import BytesIO

import pytest

from repropack._format.digests import BLOCK_BYTES, digest_bytes, digest_stream

EMPTY = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
ABC = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize(("data", "digest"), [(b"", EMPTY), (b"abc", ABC)], ids=["empty", "abc"])
def test_digests_are_those_of_the_standard(data: bytes, digest: str) -> None:
    """FIPS 180-4's own examples have their published digests."""
    assert digest_bytes(data) == digest
    assert digest_stream(BytesIO(data)) == (digest, len(data))


@pytest.mark.parametrize(
    "size", [1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES + 7]
)
def test_a_stream_has_the_digest_of_its_bytes(size: int) -> None:
    """Blocks leave no trace in the digest."""
    data = bytes(range(251)) * (size // 251 + 1)
    data = data[:size]
    expected = "sha256:" + hashlib.sha256(data).hexdigest()
    assert digest_stream(BytesIO(data)) == (expected, size)


def test_only_what_is_left_of_a_stream_counts() -> None:
    """Reading begins where the stream stands."""
    stream = BytesIO(b"xyzabc")
    stream.seek(3)
    assert digest_stream(stream) == (ABC, 3)


class _Drip(BytesIO):
    """Gives one byte at a time, as pipes and deflated entries may."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(size or 1, 1))


def test_short_reads_leave_no_trace() -> None:
    """A stream that hands out less than was asked for is read to its end."""
    assert digest_stream(_Drip(b"abc")) == (ABC, 3)


class Endless(BytesIO):
    """A stream without an end."""

    def read(self, size: int | None = -1, /) -> bytes:
        return b"x" * (size or 0)


def test_a_stream_that_is_longer_than_it_should_be_is_not_read_to_its_end() -> None:
    """One block more than enough is read, and one byte too many is told."""
    assert digest_stream(BytesIO(b"abc"), 3) == (ABC, 3)
    assert digest_stream(BytesIO(b"abc"), 2)[1] == 3
    assert digest_stream(Endless(), 5)[1] == 6
    assert digest_stream(Endless(), 3 << 20)[1] == (3 << 20) + 1
