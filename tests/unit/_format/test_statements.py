"""The bytes of statements, and what is refused in their place."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from typing import Any

import pytest

from repropack._format.canonical import encode_canonical
from repropack._format.statements import (
    MAX_STATEMENT_BYTES,
    PACKAGE_NAMESPACE,
    RECORD_NAMESPACE,
    archive_signed,
    machine_digest,
    package_statement,
    read_statement,
    record_statement,
    subject_digest,
)
from repropack.models.statements import StatementOfPackage, StatementOfRecord
from tests.support.records import MACHINE, result
from tests.support.reports import metadata

PACKAGE, EVIDENCE, ARCHIVE = (f"sha256:{letter * 64}" for letter in "abc")
FACTS = (metadata(), PACKAGE, EVIDENCE)
LITERAL = (
    '{"_type":"https://in-toto.io/Statement/v1","predicate":{"evidence_digest":"sha256:'
    + "b" * 64
    + '","format":"replay-package","format_version":1,"name":"replay-lab","schema":'
    '"repropack/package-statement/v1","version":"1.0.0"},"predicateType":'
    '"urn:repropack:package:v1","subject":[{"digest":{"sha256":"'
    + "c" * 64
    + '"},"name":"package.zip"},{"digest":{"sha256":"'
    + "a" * 64
    + '"},"name":"manifest.json"}]}\n'
).encode()


def changed(data: bytes, change: Any) -> bytes:
    """A statement, changed as a value and spelled canonically again."""
    value = json.loads(data)
    change(value)
    return encode_canonical(value)


def test_the_bytes_of_a_statement_about_a_package() -> None:
    """Each of them; a folder has no zip to name."""
    assert package_statement(*FACTS, ARCHIVE) == LITERAL
    alone = json.loads(package_statement(*FACTS, None))["subject"]
    assert alone == [{"digest": {"sha256": "a" * 64}, "name": "manifest.json"}]
    assert (PACKAGE_NAMESPACE, RECORD_NAMESPACE) == ("repropack-package@v1", "repropack-record@v1")


def test_a_statement_is_recognised_without_being_parsed() -> None:
    """Whatever zip it names; nothing else about it may be another."""
    assert archive_signed(LITERAL, *FACTS) == (True, ARCHIVE)
    assert archive_signed(package_statement(*FACTS, None), *FACTS) == (True, None)
    for other in (
        LITERAL[:-1],
        LITERAL + b"\n",
        LITERAL.replace(b"1.0.0", b"1.0.1"),
        LITERAL.replace(b"c" * 64, b"C" * 64),
        LITERAL.replace(b'"sha256":"' + b"a" * 64, b'"sha256":"' + b"d" * 64),
        LITERAL.replace(b'{"digest"', b'{ "digest"', 1),
    ):
        assert archive_signed(other, *FACTS) == (False, None)
    assert archive_signed(LITERAL, metadata(date=dt.date(2020, 1, 1)), PACKAGE, EVIDENCE)[0]


def test_statements_are_read_back() -> None:
    """In their one spelling."""
    statement = read_statement(StatementOfPackage, LITERAL)
    assert subject_digest(statement, "package.zip") == ARCHIVE
    assert subject_digest(statement, "manifest.json") == PACKAGE
    record = record_statement(result(), PACKAGE, None)
    read = read_statement(StatementOfRecord, record)
    assert read.predicate == result()
    assert subject_digest(read, "package.zip") is None


EXTRA = {"digest": {"sha256": "d" * 64}, "name": "manifest.json"}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "strict JSON"),
        (b"[" * 100_000, "max_json_"),
        (b'"' + b"x" * MAX_STATEMENT_BYTES + b'"', "max_document_bytes"),
        (b"[]\n", "observed None"),
        (record_statement(result(), PACKAGE, None), "observed 'https://in-toto.io/attestation"),
        (LITERAL.replace(b'"_type"', b'"_type":1,"_type"'), "twice"),
        (LITERAL[:-1], "canonical JSON"),
        (LITERAL.replace(b":", b": ", 1), "canonical JSON"),
        (changed(LITERAL, lambda value: value["subject"].append(EXTRA)), "members, subjects"),
        (changed(LITERAL, lambda value: value["subject"].reverse()), "members, subjects"),
        (changed(LITERAL, lambda value: value["subject"].__setitem__(0, EXTRA)), "members, subj"),
        (changed(LITERAL, lambda value: value["subject"].clear()), "members, subjects"),
        (changed(LITERAL, lambda value: value.update(more=1)), "members, subjects"),
        (
            changed(LITERAL, lambda value: value["subject"][0]["digest"].update(sha512="0")),
            "members, subjects",
        ),
        (changed(LITERAL, lambda value: value.update(_type="x")), "members, subjects"),
    ],
)
def test_other_statements_are_refused(data: bytes, said: str) -> None:
    """Other kinds, subjects, members and spellings, and what exceeds a limit."""
    with pytest.raises(ValueError, match=said):
        read_statement(StatementOfPackage, data)


def test_a_machine_has_a_digest() -> None:
    """Of all of its facts."""
    facts = (
        '{"architecture":"x86_64","blas":"openblas 0.3.27 SkylakeX","cpu":"Xeon","cpu_vendor":'
        '"GenuineIntel","family":"6/85","libc":"glibc 2.36","numpy":"2.3.1","python":"3.11.7",'
        '"repropack":"0.1.0","system":"debian 12"}\n'
    )
    expected = hashlib.sha256(b"repropack.machine.v1\n" + facts.encode()).hexdigest()
    assert machine_digest(MACHINE) == f"sha256:{expected}"
    assert machine_digest(MACHINE.model_copy(update={"libc": None})) != machine_digest(MACHINE)
    assert machine_digest(None) != machine_digest(MACHINE)
