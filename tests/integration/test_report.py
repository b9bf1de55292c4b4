"""The verb ``report``: a page beside the package, with what ``verify`` found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from repropack import report_package
from repropack._cli.main import main
from repropack._format.layout import PAGE
from repropack._format.page_head import page_version
from repropack._version import __version__
from repropack.check import check_package
from repropack.errors import IntegrityError, UsageError
from repropack.models.reports import VerificationReport
from tests.support import reports
from tests.support.hostile import OTHER_PAGE, page_of_package, take_apart


@pytest.fixture(scope="module")
def digest(lab_package: Path) -> str:
    digest = check_package(lab_package).package_digest
    assert digest is not None
    return digest


def verification(folder: Path, **changes: object) -> Path:
    """A report as ``verify --report`` keeps it."""
    file = folder / "verification.json"
    report: VerificationReport = reports.verification(**changes)
    from repropack._cli.answers import encode_document

    file.write_bytes(encode_document(report))
    return file


def test_the_packaged_page_is_the_one_that_follows(lab_package: Path) -> None:
    """Made again from the package, byte for byte, and check agrees."""
    packaged = take_apart(lab_package).files[PAGE]
    assert page_of_package(lab_package) == packaged
    assert page_version(packaged) == __version__
    report = check_package(lab_package)
    assert (report.verdict, report.not_compared) == ("intact", ())


def test_a_page_is_written_and_told(
    lab_package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], digest: str
) -> None:
    """It names the package digest, which the packaged one cannot; json is one document."""
    target = tmp_path / "page.html"
    assert main(["report", str(lab_package), "-o", str(target), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "repropack/page-report/v1"
    assert (told["page"], told["size_bytes"]) == (str(target), target.stat().st_size)
    assert (told["package_digest"], told["verification"]) == (digest, None)
    assert digest in target.read_text("utf-8")
    assert digest.encode() not in take_apart(lab_package).files[PAGE]
    assert target.read_bytes() == report_package(lab_package).content


def test_a_verification_of_this_package_is_shown(
    lab_package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], digest: str
) -> None:
    """The verdict on the page and in the answer."""
    runs = (reports.differing_run(),)
    file = verification(tmp_path, verdict="differs", runs=runs, package_digest=digest)
    target = tmp_path / "page.html"
    assert main(["report", str(lab_package), "--verification", str(file), "-o", str(target)]) == 0
    assert "verification      differs, as the report says" in capsys.readouterr().out
    html = target.read_text("utf-8")
    assert '<section id="verification"' in html
    assert "Not reproduced here, in this environment." in html


def test_another_packages_verification_is_wrong_use(lab_package: Path, tmp_path: Path) -> None:
    """Both digests are told."""
    file = verification(tmp_path)
    with pytest.raises(UsageError, match=f"observed one of {reports.PACKAGE_DIGEST}"):
        report_package(lab_package, verification=file)
    with pytest.raises(UsageError, match=r"(?i)no such file"):
        report_package(lab_package, verification=tmp_path / "none.json")


def test_a_verification_is_read_strictly(lab_package: Path, tmp_path: Path, digest: str) -> None:
    """Other spelling, a member more, something else: refused."""
    file = verification(tmp_path, package_digest=digest)
    document = json.loads(file.read_bytes())
    file.write_text(json.dumps(document, indent=1))
    with pytest.raises(UsageError, match=r"observed: .*canonical JSON"):
        report_package(lab_package, verification=file)
    file.write_text("[]\n")
    assert main(["report", str(lab_package), "--verification", str(file)]) == 2


def test_nothing_but_a_page_is_replaced(
    lab_package: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """And that with --force alone; the default name is the package's."""
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(lab_package)]) == 0
    made = tmp_path / "replay-lab-1.0.0.html"
    first = made.read_bytes()
    assert main(["report", str(lab_package)]) == 2
    assert "or --force to replace a page" in capsys.readouterr().err
    made.write_bytes(first[:200])
    assert main(["report", str(lab_package), "--force"]) == 0
    assert made.read_bytes() == first
    made.write_text("mine")
    assert main(["report", str(lab_package), "--force"]) == 2
    told = "expected a page as repropack writes it to replace, observed something else"
    assert told in capsys.readouterr().err
    assert made.read_text() == "mine"


def test_a_damaged_package_has_no_page(lab_package: Path, tmp_path: Path) -> None:
    """A forged page is refused too, and told by its rule; --fast does not look."""
    forgery = take_apart(lab_package)
    forgery.files[PAGE] = forgery.files[PAGE].replace(b"as expected", b"not as expected", 1)
    path = forgery.write_zip(tmp_path / "forged.zip")
    report = check_package(path)
    assert [fault.rule for fault in report.faults] == ["page.content"]
    assert check_package(path, fast=True).verdict == "intact"
    with pytest.raises(IntegrityError, match=r"index\.html"):
        report_package(path)
    assert main(["report", str(path), "-o", str(tmp_path / "page.html")]) == 3
    assert not (tmp_path / "page.html").exists()


def test_a_page_of_another_release_is_not_compared(
    lab_package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Check says so, and report makes one that is ours: the same as of the honest package."""
    forgery = take_apart(lab_package)
    forgery.files[PAGE] = OTHER_PAGE
    path = forgery.write_zip(tmp_path / "older.zip")
    assert main(["check", str(path)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert (
        f"Not compared: index.html: made by repropack 0.0.1, and this is {__version__}: it was not "
        "made again; `repropack report` makes one." in text
    )
    assert b'id="claims"' in report_package(path).content


def test_a_page_is_not_written_into_the_package(lab_package: Path, tmp_path: Path) -> None:
    """A package is never changed."""
    folder = take_apart(lab_package).write_directory(tmp_path / "package")
    assert main(["report", str(folder), "-o", str(folder / "index.html")]) == 2
    assert check_package(folder).verdict == "intact"
    shutil.rmtree(folder)
