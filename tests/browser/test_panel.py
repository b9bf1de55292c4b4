"""The panel as people meet it: files in, words out, by mouse and by keyboard, wide and narrow."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from repropack.check import check_package
from tests.support.hostile import take_apart
from tests.support.in_browser import in_base64, open_page

pytestmark = pytest.mark.slow

DROP = """
async ([data, name]) => {
  const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([bytes], name));
  for (const type of ["dragover", "drop"]) {
    document.body.dispatchEvent(
      new DragEvent(type, {dataTransfer: transfer, bubbles: true, cancelable: true}));
  }
}
"""

DROP_MANY = """
async ([all, drops]) => {
  const bytes = all.map((data) => Uint8Array.from(atob(data), (one) => one.charCodeAt(0)));
  for (const files of drops) {
    const transfer = new DataTransfer();
    for (const [place, which] of files.entries()) {
      transfer.items.add(new File([bytes[which]], `${place}.zip`));
    }
    document.body.dispatchEvent(
      new DragEvent("drop", {dataTransfer: transfer, bubbles: true, cancelable: true}));
  }
}
"""


def damaged(package: Path, target: Path) -> Path:
    """A package with one byte of one log changed, its zip made right again."""
    forgery = take_apart(package)
    path = "runs/reference/fingerprints.jsonl"
    changed = forgery.files[path].replace(b'"loss":"2.9509"', b'"loss":"2.9508"', 1)
    assert changed != forgery.files[path]
    forgery.files[path] = changed
    return forgery.write_zip(target)


def choose(page: Page, *files: Path) -> None:
    page.set_input_files("#panel-files", list(files))
    page.locator(".panel-terms").nth(len(files) - 1).wait_for()
    page.locator(".panel-found strong").wait_for()
    page.locator(".panel-doing progress").wait_for(state="hidden")


def faults_of_access(page: Page) -> list[str]:
    """Serious and critical findings of axe on the panel."""
    found = Axe().run(page, "#in-your-browser").response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:100]}"
        for one in found
        if one["impact"] in {"serious", "critical"}
    ]


def test_a_package_is_chosen_and_said_to_be_intact(
    page: Page, lab_package: Path, tmp_path: Path
) -> None:
    """Verdict first, digests in full, and whether it is the one that the page is of."""
    report = check_package(lab_package)
    open_page(page, tmp_path, {"package_digest": None, "evidence_digest": report.evidence_digest})
    assert page.is_visible("#in-your-browser")
    choose(page, lab_package)
    assert page.inner_text(".panel-report h3").split() == ["intact", "replay-lab.zip"]
    entries = len(zipfile.ZipFile(lab_package).namelist()) - 1
    assert page.inner_text(".panel-report > p").startswith(
        f"{entries} entries, 480 steps of fingerprint logs and 380 arrays are what the package says"
    )
    terms = page.inner_text(".panel-report .panel-terms")
    assert str(report.package_digest) in terms
    assert str(report.evidence_digest) in terms
    assert "plan, source, inputs and runs are those that this page is of" in terms
    assert page.inner_text(".panel-status") == "replay-lab.zip: intact"
    page.click("summary")
    assert "whether documents have all members" in page.inner_text("details")
    page.click("text=Replay the runs of this package")
    page.wait_for_selector(".panel-result strong")
    assert "3,876 of 3,876 fingerprints equal, in 6 runs" in page.inner_text(".panel-result")
    assert faults_of_access(page) == []


def test_the_lab_is_promised_on_a_labs_page_alone(page: Page, tmp_path: Path) -> None:
    """Any other page has nothing to replay, and does not say that it could."""
    open_page(page, tmp_path, {"lab": False, "fingerprints": None})
    lead = page.inner_text(".panel-lead")
    assert lead.startswith("This page can check a package, and say where two of them part. It does")
    assert "lab" not in lead


def test_runs_of_a_package_are_compared(page: Page, lab_package: Path, tmp_path: Path) -> None:
    """Chosen by keyboard; what `diff` says of the same two."""
    open_page(page, tmp_path, {"evidence_digest": "sha256:" + "0" * 64})
    choose(page, lab_package)
    assert "is of another package" in page.inner_text(".panel-report .panel-terms")
    assert page.locator("#panel-right option:checked").inner_text() == "reversed-reduction"
    assert "They part at step 1 · gradient" in page.inner_text(".panel-found")
    page.select_option("#panel-right", label="full-checkpoint")
    page.wait_for_selector(".panel-found .panel-good")
    assert "identical On all the steps that both have they are one history." in (
        page.inner_text(".panel-found")
    )
    page.focus("#panel-right")
    page.keyboard.type("sampler")
    page.keyboard.press("Tab")
    page.wait_for_selector(".panel-found table")
    said = page.inner_text(".panel-found")
    assert "They part at step 41 · batch; 60 of 60 steps differ" in said
    assert "state differs: sampler" in said
    assert "state:sampler differs" in said
    assert page.locator(".panel-found tbody tr").count() == 8


def test_a_damaged_package_is_dropped(page: Page, lab_package: Path, tmp_path: Path) -> None:
    """Anywhere on the page; the fault has entry, rule, what is expected and what was observed."""
    open_page(page, tmp_path)
    bad = damaged(lab_package, tmp_path / "bad.zip")
    page.evaluate(DROP, [in_base64(bad.read_bytes()), "<img src=x onerror=alert(1)>\u202e.zip"])
    page.wait_for_selector(".panel-faults li")
    assert page.inner_text(".panel-report h3") == (
        "damaged <img src=x onerror=alert(1)>\\u202e.zip"
    )
    fault = page.inner_text(".panel-faults li:first-child")
    assert "runs/reference/fingerprints.jsonl" in fault
    assert "log.chain (package.format)" in fault
    assert "expected" in fault
    assert "observed" in fault
    assert page.locator("#panel-left").count() == 0
    assert page.locator("img").count() == 0
    assert page.is_visible("text=What was not looked at")
    assert page.inner_text(".panel-limits li:first-child") == (
        "in a run with a fault what lies behind it, and the runs that resume: a fault came before"
    )
    assert faults_of_access(page) == []


@pytest.mark.parametrize("same", [True, False])
def test_of_a_damaged_package_only_its_manifest_is_told(
    page: Page, lab_package: Path, tmp_path: Path, same: bool
) -> None:
    """A byte of a log is another, and its manifest is as it was: no word about the contents."""
    report = check_package(lab_package)
    evidence = report.evidence_digest if same else "sha256:" + "0" * 64
    open_page(
        page, tmp_path, {"package_digest": report.package_digest, "evidence_digest": evidence}
    )
    data = bytearray(lab_package.read_bytes())
    data[data.index(b'"loss":"2.9509"') + 12] ^= 1
    page.evaluate(DROP, [in_base64(bytes(data)), "bad.zip"])
    page.wait_for_selector(".panel-faults li")
    labels = page.locator(".panel-terms dt").all_inner_texts()
    assert labels == [
        *(f"its manifest says: {what}" for what in ("title", "package")),
        *(f"its manifest says: {what} digest" for what in ("package", "evidence")),
        "this page",
    ]
    which = "the evidence digest of this page" if same else "another evidence digest"
    assert page.locator(".panel-terms dd").last.inner_text() == (
        f"its manifest says {which}; what the package holds is not shown to be that"
    )
    assert page.inner_text(".panel-limits li:first-child") == (
        "documents, logs, checkpoints and kept arrays: a fault came before"
    )


@pytest.mark.parametrize(
    ("data", "observed"),
    [
        (b"hello, world", "not a zip: its first bytes are 68 65 6c 6c 6f 2c 20 77"),
        (b"hi", "not a zip: its first bytes are 68 69"),
        (b"", "an empty file"),
    ],
)
def test_what_is_no_zip_is_called_so(
    page: Page, tmp_path: Path, data: bytes, observed: str
) -> None:
    """Its first bytes as a hex editor shows them: in the order of the file."""
    open_page(page, tmp_path)
    page.evaluate(DROP, [in_base64(data), "note.txt"])
    page.wait_for_selector(".panel-faults li")
    assert page.inner_text(".panel-report > p").startswith("It is not a zip. Faults: 1.")
    assert page.inner_text(".panel-report h3") == "not a package note.txt"
    assert page.inner_text(".panel-status") == "note.txt: not a package"
    assert page.locator(".panel-fault dd").all_inner_texts()[:2] == [
        "a zip, whose first bytes are 50 4b 03 04",
        observed,
    ]
    assert page.inner_text(".panel-limits li:first-child").startswith("every entry and its digest")


def test_two_packages_are_compared_and_fit_a_phone(
    page: Page, lab_package: Path, tmp_path: Path
) -> None:
    """Their references first, and any two of their runs; nothing is wider than 360 pixels."""
    copy = tmp_path / "again.zip"
    copy.write_bytes(lab_package.read_bytes())
    open_page(page, tmp_path)
    page.set_viewport_size({"width": 360, "height": 740})
    choose(page, lab_package, copy)
    page.wait_for_selector(".panel-found strong")
    assert page.inner_text(".panel-found strong") == "identical"
    assert page.locator("#panel-left option").count() == 12
    assert page.locator("#panel-right option:checked").inner_text() == "2: again.zip · reference"
    page.select_option("#panel-right", label="2: again.zip · reversed-reduction")
    page.wait_for_selector(".panel-found table")
    assert "step 1 · gradient" in page.inner_text(".panel-found")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        assert faults_of_access(page) == []


def test_everything_is_reached_by_keyboard(page: Page, tmp_path: Path) -> None:
    """The button for files is the first stop, and has its name."""
    open_page(page, tmp_path)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "panel-files"
    assert page.get_by_label("Choose a package, or two").count() == 1
    assert page.get_attribute(".panel-status", "aria-live") == "polite"
    assert faults_of_access(page) == []


def test_two_of_different_experiments_are_not_compared(page: Page, tmp_path: Path) -> None:
    """The word beside the sentence is not `differs`: nothing says that they do."""
    open_page(page, tmp_path)
    told = page.evaluate(
        "repropack.comparing.told({comparable: false, verdict: 'differs', reasons: []})[0]"
        ".textContent"
    )
    assert told.startswith("not compared These two cannot be compared")


def test_thirty_files_at_once_and_one_that_is_damaged(
    page: Page, lab_package: Path, tmp_path: Path
) -> None:
    """Two are looked at and the others are counted; with a damaged one nothing is compared."""
    open_page(page, tmp_path)
    good = lab_package.read_bytes()
    data = [in_base64(good[:-3]), in_base64(good)]
    page.evaluate(DROP_MANY, [data, [[0, 1] * 15]])
    page.wait_for_selector(".panel-uncompared")
    assert page.inner_text(".panel-status") == (
        "0.zip: damaged; 1.zip: intact; 28 more files not looked at: two at a time"
    )
    assert page.locator(".panel-faults").count() == 1
    assert "observed\nthe end of the file" in page.inner_text(".panel-fault")
    assert page.locator("#panel-left").count() == 0
    assert page.inner_text(".panel-uncompared") == (
        "The two are not compared: one of them is not intact. One that comes next is compared with "
        "1.zip."
    )
    page.evaluate(DROP_MANY, [data, [[0], [1]]])  # the second before the first is checked
    page.locator(".panel-status", has_text=re.compile("^1.zip: intact; 0.zip: intact$")).wait_for()
    page.locator(".panel-found strong").wait_for()
    assert page.locator(".panel-faults").count() == 0
    assert page.locator(".panel-uncompared").count() == 0
