"""Clauses 8.16 to 8.18 of docs/format.md: the lock, wheels and pylock.toml."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repropack._format.lock import (
    LockedDistribution,
    decode_lock,
    encode_lock,
    encode_pylock,
    normal_name,
    wheel_distribution,
)
from repropack.errors import PackageFormatError
from repropack.models.manifest import Entry

pytestmark = pytest.mark.slow

NAMES = st.from_regex(r"[a-z0-9]+(-[a-z0-9]+){0,3}", fullmatch=True)
VERSIONS = st.from_regex(r"[0-9][0-9A-Za-z.+!_]{0,30}", fullmatch=True)
DIGESTS = st.from_regex(r"sha256:[0-9a-f]{64}", fullmatch=True)
ROWS = st.dictionaries(
    NAMES, st.tuples(VERSIONS, st.sets(DIGESTS, min_size=1, max_size=4)), max_size=5
).map(
    lambda rows: [LockedDistribution(name, *rows[name][:1], tuple(rows[name][1])) for name in rows]
)


def read_or_refused(data: bytes) -> tuple[LockedDistribution, ...] | None:
    """What a lock says; nothing where it is refused by its rule."""
    refused: PackageFormatError | None = None
    try:
        return decode_lock(data)
    except PackageFormatError as error:
        refused = error
    assert refused.rule == "lock.form"
    return None


class TestClause816:
    """`requirements.lock` ... sorted by name, digests by their text, and neither comes twice."""

    @given(ROWS)
    def test_reading_is_the_inverse_of_writing(self, rows: list[LockedDistribution]) -> None:
        """Whatever order they are given in, they come back sorted."""
        expected = tuple(
            LockedDistribution(row.name, row.version, tuple(sorted(row.digests)))
            for row in sorted(rows, key=lambda row: row.name)
        )
        assert decode_lock(encode_lock(rows)) == expected

    @given(ROWS.filter(bool), st.data())
    def test_there_is_one_spelling(
        self, rows: list[LockedDistribution], data: st.DataObject
    ) -> None:
        """A lock with a byte changed, added or left out is refused, or says something else."""
        written = encode_lock(rows)
        place = data.draw(st.integers(0, len(written) - 1))
        byte = data.draw(st.integers(0, 255))
        more = data.draw(st.sampled_from([bytes([byte]), b""]))
        changed = written[:place] + more + written[place + data.draw(st.integers(0, 1)) :]
        read = read_or_refused(changed)
        if read is not None:
            assert encode_lock(read) == changed
            assert (read == decode_lock(written)) is (changed == written)

    @pytest.mark.hostile
    @given(st.binary(max_size=200))
    def test_any_bytes_are_read_or_refused(self, data: bytes) -> None:
        """And nothing else happens."""
        read = read_or_refused(data)
        assert read is None or encode_lock(read) == data


class TestClause817:
    """The wheel is of the distribution whose name in normal form its name gives."""

    @given(NAMES, st.sampled_from("-_."))
    def test_a_wheel_names_its_distribution(self, name: str, separator: str) -> None:
        """With the separators that a file name may have."""
        written = name.replace("-", "_" if separator == "-" else separator)
        path = f"wheels/{written}-1.0-py3-none-any.whl"
        assert wheel_distribution(path) == name == normal_name(written)


class TestClause818:
    """`pylock.toml` (PEP 751) ... has for each distribution, in the order of 8.16 ..."""

    @given(ROWS)
    def test_others_read_it(self, rows: list[LockedDistribution]) -> None:
        """It is TOML, and says of each wheel what the manifest says."""
        wheels = {
            row.name: Entry(
                path=f"wheels/{row.name.replace('-', '_')}-1-py3-none-any.whl",
                size=len(row.name),
                digest=row.digests[0],
                role="wheel",
                media_type="application/zip",
            )
            for row in rows
        }
        document = tomllib.loads(encode_pylock(rows, wheels, "3.11").decode("ascii"))
        told = [
            (row["name"], row["version"], row["wheels"]) for row in document.get("packages", [])
        ]
        assert told == [
            (
                row.name,
                row.version,
                [
                    {
                        "path": wheels[row.name].path,
                        "size": len(row.name),
                        "hashes": {"sha256": row.digests[0].removeprefix("sha256:")},
                    }
                ],
            )
            for row in sorted(rows, key=lambda row: row.name)
        ]
