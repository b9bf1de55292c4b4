"""A public library for in-toto statements takes ours for what they are.

It lives in an environment of its own (``tools/judges.txt``) and runs as a process.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from repropack._format.statements import package_statement
from tests.support.records import differing, record, verification
from tests.support.reports import EVIDENCE_DIGEST, PACKAGE_DIGEST, metadata

JUDGES = Path(__file__).resolve().parents[2] / ".venv-judges" / "bin" / "python"
JUDGE = """
import sys
from google.protobuf import json_format
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement

read = json_format.Parse(sys.stdin.buffer.read(), statement_pb2.Statement())
Statement.copy_from_pb(read).validate()
print(json_format.MessageToJson(read))
"""
ARCHIVE = "sha256:" + "0" * 64


def judged(data: bytes) -> subprocess.CompletedProcess[bytes]:
    if not JUDGES.exists():
        pytest.skip("needs .venv-judges with what tools/judges.txt names")
    return subprocess.run([JUDGES, "-c", JUDGE], input=data, capture_output=True, check=False)


@pytest.mark.parametrize(
    "data",
    [
        package_statement(metadata(), PACKAGE_DIGEST, EVIDENCE_DIGEST, ARCHIVE),
        package_statement(metadata(), PACKAGE_DIGEST, EVIDENCE_DIGEST, None),
        record(verification()),
        record(differing()),
    ],
    ids=["package", "folder", "record", "difference"],
)
def test_a_statement_is_one_to_others(data: bytes) -> None:
    """It is read, found valid, and written back with the same values."""
    done = judged(data)
    if b"No module named" in done.stderr:
        pytest.skip("needs .venv-judges with in-toto-attestation, as tools/judges.txt names it")
    assert done.stderr == b""
    assert json.loads(done.stdout) == json.loads(data)


def test_the_judge_refuses_what_is_none() -> None:
    """A statement without a subject, so that the test above means something."""
    value = json.loads(record())
    done = judged(json.dumps({**value, "subject": []}).encode())
    if b"No module named" in done.stderr:
        pytest.skip("needs .venv-judges with in-toto-attestation, as tools/judges.txt names it")
    assert b"At least one subject required" in done.stderr
