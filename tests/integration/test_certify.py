"""Verifications kept as records, and counted."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from repropack import certify_package, record_verification, sign_package, verify_package
from repropack._cli.answers import encode_document
from repropack._cli.main import main
from repropack._format.canonical import decode_strict, encode_canonical
from repropack._format.digests import digest_bytes
from repropack._format.schema_validator import find_issues
from repropack._format.schemas import schema_bytes
from repropack._format.statements import RECORD_NAMESPACE
from repropack._present.certificate_page import certificate_page
from repropack.errors import CouldNotRunError, UnsupportedVersionError, UsageError
from tests.support.archives import read_zip
from tests.support.records import (
    MACHINE,
    RUNS,
    differing,
    partial,
    record,
    record_about,
    unanswered,
    verification,
)
from tests.support.signing import list_of, make_key, sign_alone

OTHER = MACHINE.model_copy(update={"cpu_vendor": "AuthenticAMD"})


@dataclass(frozen=True)
class Records:
    """Records about the lab in a folder."""

    folder: Path
    package: Path
    digest: str

    def write(self, name: str, report: Any) -> Path:
        place = self.folder / name
        place.write_bytes(self.bytes_of(report))
        return place

    def bytes_of(self, report: Any = None) -> bytes:
        return record_about(self.package, report)


@pytest.fixture
def _checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is checked as often as it is certified; here once was enough."""
    monkeypatch.setattr("repropack.certify.check_intact", lambda _: None)


@pytest.fixture
def records(tmp_path: Path, lab_package: Path) -> Records:
    return Records(
        tmp_path, lab_package, digest_bytes(read_zip(lab_package.read_bytes())["manifest.json"])
    )


def test_a_verification_is_kept_as_a_record(
    records: Records, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside the report; a moment that is stated makes it the same bytes again."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1796000000")
    place, report = records.folder / "r.json", records.folder / "report.json"
    verify = ["verify", str(records.package), "--runs", "full-checkpoint", "--no-zoom"]
    assert main([*verify, "--record", str(place), "--report", str(report)]) == 0
    value = json.loads(place.read_bytes())
    assert place.read_bytes() == encode_canonical(value)
    assert value["subject"] == [
        {
            "digest": {"sha256": digest_bytes(records.package.read_bytes())[7:]},
            "name": "package.zip",
        },
        {"digest": {"sha256": records.digest[7:]}, "name": "manifest.json"},
    ]
    predicate = value["predicate"]
    assert predicate["timeCreated"] == "2026-11-30T00:53:20Z"
    inner = predicate["repropack"]
    assert find_issues("verification-record", schema_bytes("verification-record"), inner) == ()
    assert inner["verdict"] == "identical"
    assert inner["coverage"]["runs_executed"] == 1
    assert inner["machine"]["numpy"] == json.loads(report.read_bytes())["machine"]["numpy"]
    assert str(records.folder).encode() not in place.read_bytes()
    kept = json.loads(report.read_bytes())
    assert kept["recorded_runs"][0] == "reference"
    assert kept["checked"] is True
    assert main(["certify", str(records.package), str(place)]) == 4  # a part of the runs
    assert main([*verify, "--record", str(report), "--report", str(report)]) == 2
    assert "two files, observed one" in capsys.readouterr().err
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "now")
    assert main([*verify, "--record", str(place)]) == 2


def test_a_damaged_package_has_a_record_by_its_bytes(records: Records) -> None:
    """Nothing is run, and the zip's digest names it."""
    broken = records.folder / "broken.zip"
    broken.write_bytes(records.package.read_bytes()[:-1])
    place = records.folder / "r.json"
    assert main(["verify", str(broken), "--record", str(place)]) == 3
    value = json.loads(place.read_bytes())
    assert [one["name"] for one in value["subject"]] == ["package.zip"]
    assert value["subject"][0]["digest"]["sha256"] == digest_bytes(broken.read_bytes())[7:]
    assert value["predicate"]["repropack"]["rules"] == ["zip.comment"]
    assert value["predicate"]["properties"] == []
    folder = records.folder / "folder"
    folder.mkdir()
    report = verify_package(folder)
    with pytest.raises(CouldNotRunError, match="observed neither"):
        record_verification(report, folder)


def test_what_was_not_checked_is_said_to_be(
    records: Records, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Digests of a package that needs a later release are the manifest's own words."""

    def later(*_: object, **__: object) -> None:
        raise UnsupportedVersionError("version.feature", "feature", "x", "none")

    monkeypatch.setattr("repropack.verify.check_whole", later)
    report = verify_package(records.package)
    assert (report.verdict, report.checked) == ("could-not-run", False)
    assert report.package_digest == records.digest
    assert main(["verify", str(records.package)]) == 4
    assert "Its manifest says, and nothing here confirms:" in capsys.readouterr().out


def test_a_package_that_was_replaced_has_no_record(records: Records) -> None:
    """The record would name another than the one that was verified."""
    with pytest.raises(CouldNotRunError, match="replaced after it was verified"):
        record_verification(verification(), records.package)


def test_records_are_counted(records: Records, capsys: pytest.CaptureFixture[str]) -> None:
    """By key where they are signed; the text, the document and the page say the same."""
    ann, bob = make_key(records.folder, "ann"), make_key(records.folder, "bob")
    signers = list_of(records.folder / "signers", ("ann@x.org", ann))
    first = records.write("a.json", verification())
    sign_alone(ann, first, RECORD_NAMESPACE)
    second = records.write("b.json", verification(machine=OTHER))
    sign_alone(ann, second, RECORD_NAMESPACE)
    third = records.write("c.json", differing(machine=OTHER))
    sign_alone(bob, third, RECORD_NAMESPACE)
    fourth = records.write("d.json", partial())
    page = records.folder / "page.html"
    files = [str(place) for place in (first, second, third, fourth)]
    line = ["certify", str(records.package), *files, "--signers", str(signers)]
    assert main([*line, "--page", str(page)]) == 1
    told = capsys.readouterr().out
    assert told.startswith(f"differs  {records.package}\n")
    assert "Identical for 1 of 3 verifiers; 1 identical in part of the runs; 1 differing." in told
    assert "1 of 3 verifiers is vouched for by the list of signers." in told
    assert "- 2 processor vendors: AuthenticAMD, GenuineIntel\n" in told
    assert "identical in 2 environments of verifiers that are vouched for:\n" in told
    assert "identical in 1 environment of verifiers that nobody vouches for:\n" in told
    assert "first difference: run reference · step 1 · gradient\n" in told
    html = page.read_text("utf-8")
    assert "Identical for 1 of 3 verifiers; 1 identical in part of the runs; 1 differing." in html
    assert "<script" not in html
    assert main([*line, "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert find_issues("certificate", schema_bytes("certificate"), document) == ()
    assert document["counts"] == {
        "contradicts": 0,
        "differs": 1,
        "identical": 1,
        "mixed": 0,
        "no_answer": 0,
        "partly": 1,
    }
    assert [row["authenticity"] for row in document["verifiers"]] == [
        "known",
        "unknown-key",
        "unsigned",
    ]


@pytest.mark.parametrize(
    ("reports", "status"),
    [
        ((verification(), verification(machine=OTHER)), 0),
        ((verification(), differing()), 1),
        ((partial(),), 4),
    ],
)
def test_the_status_of_a_certificate(
    records: Records, reports: tuple[Any, ...], status: int
) -> None:
    """0 where nobody differs, 1 where anybody does, 4 where there is no answer."""
    files = [str(records.write(f"{k}.json", report)) for k, report in enumerate(reports)]
    assert main(["certify", str(records.package), *files]) == status


@pytest.mark.usefixtures("_checked")
def test_a_verifier_who_signed_the_package_is_said_to_have(records: Records) -> None:
    """Where that signature holds, and its statement is about this package."""
    package = records.folder / "lab.zip"
    shutil.copyfile(records.package, package)
    ann, bob = make_key(records.folder, "ann"), make_key(records.folder, "bob")
    places = [records.write(f"{name}.json", verification()) for name in ("ann", "bob")]
    places[1].write_bytes(records.bytes_of(verification(machine=OTHER)))
    for key, place in zip((ann, bob), places, strict=True):
        sign_alone(key, place, RECORD_NAMESPACE)
    sign_package(package, key=ann)
    other = records.folder / "other"
    other.write_text("x")
    sign_alone(bob, other).rename(records.folder / "lab.zip.intoto.json.2.sig")
    found = certify_package(package, places).verifiers
    assert {row.records[0].file: row.signed_package for row in found} == {
        "ann.json": True,
        "bob.json": False,
    }
    statement = records.folder / "lab.zip.intoto.json"
    statement.write_bytes(statement.read_bytes().replace(b"1.0.0", b"1.0.1"))
    sign_alone(ann, statement)
    assert not any(row.signed_package for row in certify_package(package, places).verifiers)


def test_a_copy_without_its_signature_is_the_signed_record(records: Records) -> None:
    """The same record twice counts once, and nobody can make it an unsigned one."""
    ann = make_key(records.folder, "ann")
    first = records.write("a.json", verification())
    sign_alone(ann, first, RECORD_NAMESPACE)
    copy = records.write("copy.json", verification())
    certificate = certify_package(records.package, [copy, first, copy])
    (verifier,) = certificate.verifiers
    assert (verifier.authenticity, len(verifier.records)) == ("unknown-key", 1)


def test_a_signature_for_packages_does_not_sign_a_record(records: Records) -> None:
    """Nor does one of another record."""
    ann = make_key(records.folder, "ann")
    place = records.write("a.json", verification())
    sign_alone(ann, place)
    other = records.write("b.json", differing())
    shutil.copyfile(sign_alone(ann, other, RECORD_NAMESPACE), records.folder / "a.json.2.sig")
    certificate = certify_package(records.package, [place])
    (verifier,) = certificate.verifiers
    assert verifier.authenticity == "not-valid"
    assert (certificate.not_valid, certificate.verdict) == (1, "could-not-run")
    assert [found.standing for found in verifier.records[0].signatures] == ["not-valid"] * 2


@pytest.mark.usefixtures("_checked")
def test_a_certificate_is_the_same_in_every_order_of_its_records(records: Records) -> None:
    """Document and page, with copies, two signers of one record, and signatures that are none."""
    ann, bob = make_key(records.folder, "ann"), make_key(records.folder, "bob")
    signers = list_of(records.folder / "signers", ("ann@x.org", ann), ("bob@x.org", bob))
    first = records.write("a.json", verification())
    first_by_ann = sign_alone(ann, first, RECORD_NAMESPACE)
    shutil.move(first_by_ann, records.folder / "a.json.2.sig")
    sign_alone(bob, first, RECORD_NAMESPACE)
    copy = records.write("0.json", verification())
    (records.folder / "0.json.sig").write_text("none")
    other = records.write("b.json", differing(machine=OTHER))
    told = set()
    for order in itertools.permutations([first, copy, other]):
        certificate = certify_package(records.package, order, signers=signers)
        told.add((encode_document(certificate), certificate_page(certificate)))
    ((document, page),) = told
    both, _ = json.loads(document)["verifiers"]
    assert sorted(name for row in both["signers"] for name in row["names"]) == [
        "ann@x.org",
        "bob@x.org",
    ]
    assert [row["file"] for row in both["records"]] == ["0.json"]
    for name in ("ann@x.org", "bob@x.org"):
        assert name in page.decode()


@pytest.mark.usefixtures("_checked")
def test_no_folder_of_this_machine_is_told(records: Records) -> None:
    """A signature that cannot be read is named by its file."""
    place = records.write("a.json", verification())
    (records.folder / "a.json.sig").mkdir()
    (records.folder / "a.json.2.sig").write_bytes(b"x" * 65_537)
    certificate = certify_package(records.package, [place])
    assert [row.problem for row in certificate.verifiers[0].records[0].signatures] == [
        "expected a signature of at most 65536 bytes, observed more",
        "expected a signature, observed a folder",
    ]
    assert str(records.folder).encode() not in certificate_page(certificate)


@pytest.mark.usefixtures("_checked")
def test_a_record_that_does_not_fit_the_package_is_refused(
    records: Records, capsys: pytest.CaptureFixture[str]
) -> None:
    """With where, expected and observed; nothing is counted."""
    honest = records.write("a.json", verification())
    parted = differing()
    first = parted.runs[0]
    assert first.divergence is not None
    elsewhere = first.divergence.model_copy(update={"stage": "foreign"})
    runs = (first.model_copy(update={"divergence": elsewhere}), *parted.runs[1:])
    for report, said in (
        (
            verification(recorded_runs=RUNS[:5], runs=verification().runs[:5]),
            "expected 6, observed",
        ),
        (verification(claims=verification().claims[1:]), "expected the package's 40"),
        (differing(runs=runs), "step 1: expected a stage that the package has, observed foreign"),
    ):
        place = records.write("b.json", report)
        assert main(["certify", str(records.package), str(honest), str(place)]) == 2
        told = capsys.readouterr().err
        assert said in told
        assert "b.json: " in told
        assert "nothing is counted until it is left out" in told


DEEP = b'{"a":' * 5000 + b"1" + b"}" * 5000
HOSTILE = {
    "deep": DEEP,
    "empty": b"",
    "twice": record().replace(b'{"_type":', b'{"_type":"x","_type":', 1),
    "nan": b'{"schema":NaN}',
    "bytes": b"\xff\xfe{}",
    "control": b'{"_type":"\x1b[2J"}',
    "bidi": '{"schema":"\u202e\u2066evil","predicateType":"\u202e\\u001b[2J"}'.encode(),
    "list": b"[" * 60 + b"]" * 60,
}


@pytest.mark.hostile
@pytest.mark.parametrize("case", [*HOSTILE, "huge", "pipe"])
def test_a_hostile_document_in_place_of_a_verification_is_refused(
    records: Records, case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """By each verb that takes one: wrong use, on lines that a terminal shows as they are."""
    place = records.folder / "v.json"
    if case == "pipe":
        os.mkfifo(place)
    else:
        place.write_bytes(HOSTILE.get(case, b"{"))
    if case == "huge":
        os.truncate(place, 1 << 36)
    package, out = str(records.package), str(records.folder / "out")
    for line in (
        ["certify", package, str(place)],
        ["report", package, "--verification", str(place), "-o", out],
        ["export", package, "--to", "codecheck", "-o", out, "--verification", str(place)],
    ):
        assert main(line) == 2
        told = capsys.readouterr().err
        assert "v.json: " in told
        assert told.replace("\n", "").isprintable()
    assert not (records.folder / "out").exists()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (record(verification(), "sha256:" + "0" * 64), "expected a record about sha256:"),
        (b"{}\n", "expected a statement of type"),
        (b"", "strict JSON"),
        (record().replace(b'"identical"', b'"differs"', 1), "properties that follow"),
        (record() + b" ", "canonical JSON"),
        (record().replace(b"12:00:00Z", b"12:00:00z"), "canonical JSON"),
    ],
)
def test_what_is_no_record_of_this_package_is_refused(
    records: Records, data: bytes, said: str
) -> None:
    """By the file's name; nothing else is counted then."""
    place = records.folder / "r.json"
    place.write_bytes(data)
    with pytest.raises(UsageError, match=f"r.json: .*{said}"):
        certify_package(records.package, [place])


def test_a_record_by_the_zip_alone_is_of_this_zip(records: Records) -> None:
    """Whoever could not read the manifest names the bytes."""
    told = unanswered(package=None, evidence_digest=None, recorded_runs=())
    value = decode_strict(record(told, records.digest), where="r")
    archive = {
        "digest": {"sha256": digest_bytes(records.package.read_bytes())[7:]},
        "name": "package.zip",
    }
    place = records.folder / "r.json"
    place.write_bytes(encode_canonical({**value, "subject": [archive]}))
    assert certify_package(records.package, [place]).verdict == "could-not-run"
    archive["digest"] = {"sha256": "0" * 64}
    place.write_bytes(encode_canonical({**value, "subject": [archive]}))
    with pytest.raises(UsageError, match="expected a record about"):
        certify_package(records.package, [place])


REPORT, RECORD = (f"a verification {what} (of `verify --{what}`)" for what in ("report", "record"))


def test_a_report_in_the_place_of_a_record_is_told_by_name_and_the_reverse(
    records: Records, capsys: pytest.CaptureFixture[str]
) -> None:
    """By each verb that takes one; wrong use."""
    kept = records.write("record.json", verification())
    report = records.folder / "report.json"
    report.write_bytes(encode_document(verification()))
    package, out = str(records.package), str(records.folder / "out")
    shown = ["--verification", str(kept), "-o", out]
    for line, said in (
        (["report", package, *shown], f"{kept}: this is {RECORD}; {REPORT} is wanted"),
        (
            ["export", package, "--to", "codecheck", *shown],
            f"{kept}: this is {RECORD}; {REPORT} is wanted",
        ),
        (["certify", package, str(report)], f"{report}: this is {REPORT}; {RECORD} is wanted"),
        (
            ["sign", str(report), "--key", out],
            f"{report}: this is {REPORT}; a package or {RECORD} is wanted",
        ),
        (
            ["certify", package, package],
            f"{package}: this is a zip, such as a package; {RECORD} is wanted",
        ),
    ):
        assert main(line) == 2
        assert f"{said}\n" in capsys.readouterr().err
    assert not (records.folder / "out").exists()


def test_wrong_use_is_told(records: Records) -> None:
    """No records, too many, revoked keys without a list, a page on top of a record."""
    place = records.write("a.json", verification())
    with pytest.raises(UsageError, match="1 to 1000 records, observed 0"):
        certify_package(records.package, [])
    with pytest.raises(UsageError, match="observed 1001"):
        certify_package(records.package, [place] * 1001)
    with pytest.raises(UsageError, match="expected --signers with --revoked"):
        certify_package(records.package, [place], revoked=place)
    before = place.read_bytes()
    assert main(["certify", str(records.package), str(place), "--page", str(place)]) == 2
    assert place.read_bytes() == before


def test_a_hostile_record_is_shown_as_text(
    records: Records, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it calls its processor is neither markup nor an escape."""
    name = "<script>alert(1)</script>\x1b[31m\u202e"
    machine = MACHINE.model_copy(update={"cpu": name, "cpu_vendor": name})
    place = records.write("<b>.json", verification(machine=machine))
    page = records.folder / "page.html"
    assert main(["certify", str(records.package), str(place), "--page", str(page)]) == 0
    told, html = capsys.readouterr().out, page.read_text("utf-8")
    assert "\x1b" not in told + html
    assert "\u202e" not in told + html
    assert "<script" not in html
    assert "&lt;b&gt;.json" in html
