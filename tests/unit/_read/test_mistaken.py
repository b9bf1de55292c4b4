"""Our own documents are told by name where another is wanted; what nobody knows is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from repropack._read.mistaken import RECORD_KIND, REPORT_KIND, refuse_mistaken
from repropack.errors import UsageError
from tests.support.records import record

REPORT = b'{"path":"p","schema":"repropack/verification-report/v1"}'


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (record(), RECORD_KIND),
        (REPORT, REPORT_KIND),
        (b'{"schema":"repropack/certificate/v1"}', "a certificate (of `certify`)"),
        (b'{"predicateType":"urn:repropack:package:v1"}', "the statement about a package"),
        (b"-----BEGIN SSH SIGNATURE-----\nAAAA\n", "a signature (of `sign`)"),
        (b"PK\x03\x04", "a zip, such as a package"),
    ],
)
def test_each_kind_is_known(tmp_path: Path, data: bytes, kind: str) -> None:
    """By how repropack begins it, or by the schema that it names."""
    place = tmp_path / "file"
    place.write_bytes(data)
    with pytest.raises(UsageError) as caught:
        refuse_mistaken(place, (), "a page")
    assert caught.value.message.startswith(f"{place}: this is {kind}")
    assert caught.value.message.endswith("; a page is wanted")


def test_what_is_wanted_is_not_refused(tmp_path: Path) -> None:
    """Its own reader says what else is wrong with it."""
    place = tmp_path / "file"
    place.write_bytes(REPORT)
    refuse_mistaken(place, (REPORT_KIND,), REPORT_KIND)
    with pytest.raises(UsageError, match="is wanted"):
        refuse_mistaken(place, (RECORD_KIND,), RECORD_KIND)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"{}",
        b"[]",
        b'{"schema":1,"predicateType":[]}',
        b'{"schema":"repropack/other/v1"}',
        b'{"schema":' + b'{"a":' * 5000 + b"1" + b"}" * 5001,
    ],
)
def test_what_nobody_knows_is_left_to_its_reader(tmp_path: Path, data: bytes) -> None:
    """However it is spelled; a folder and nothing at all as well."""
    place = tmp_path / "file"
    place.write_bytes(data)
    for path in (place, tmp_path, tmp_path / "none"):
        assert refuse_mistaken(path, (), "a page") is None  # type: ignore[func-returns-value]
