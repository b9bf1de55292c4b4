"""What the page says of whole packages: honest ones, lies, flipped bytes, too much of anything."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

from repropack._format.rules import RULES
from repropack.check import check_package
from tests.fuzz.targets import slim
from tests.hostile.corpus.bases import Base
from tests.hostile.corpus.case import Variant
from tests.hostile.corpus.catalogue import VARIANTS
from tests.hostile.corpus.checker import NOT_LOOKED_AT, NOT_YET
from tests.hostile.corpus.raw_zip import deflate, from_forgery
from tests.support.hostile import OTHER_PAGE
from tests.support.in_browser import check, in_base64

pytestmark = [pytest.mark.slow, pytest.mark.hostile]

LARGE = {"bomb/log-lines", "bomb/json-text", "bomb/json-escapes", "log/endless-line"}
"""Cases of many megabytes, which take longer to hand over than to refuse."""

OTHER_RULE = {
    "bomb/json-containers": "limit.max_json_containers",
    "bomb/names-long": "kept.unplanned",
    "document/config-schema-array": "document.schema",
    "log/last-line": "run.steps",
    "plan/config-array": "run.config",
    "stored/checkpoint-start": "run.checkpoints",
}
"""Cases that the page refuses by another rule than ``check``, which looks in another order."""

CHECK_FLIPS = """
async ([data, offsets]) => {
  const whole = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
  const unnoticed = [];
  for (const offset of offsets) {
    whole[offset] ^= 1;
    const report = await repropack.check.checkPackage(new Blob([whole]), {name: "f.zip"});
    if (report.verdict === "intact") unnoticed.push(offset);
    whole[offset] ^= 1;
  }
  const report = await repropack.check.checkPackage(new Blob([whole]), {name: "f.zip"});
  return [unnoticed, report.verdict];
}
"""


def test_the_lab_is_intact_and_has_its_digests(tool: Page, lab_package: Path) -> None:
    """The same digests as `check` has; every step, checkpoint and kept row is counted."""
    expected = check_package(lab_package)
    found = check(tool, lab_package.read_bytes(), "lab.zip")
    assert found["faults"] == []
    assert found["verdict"] == "intact"
    assert found["package_digest"] == expected.package_digest
    assert found["evidence_digest"] == expected.evidence_digest
    assert found["source_digest"] == (
        "sha256:28a4a1e902b34a85fe93d1e6c4d5c49122bb10d230039217ddf49aad9119c803"
    )
    assert found["counts"]["steps"] == 480
    # 20 checkpoints with 3 arrays each, and a row of the kept weights at 100 + 100 + 60 + 60 steps
    assert found["counts"]["arrays"] == 20 * 3 + 320


def test_a_package_that_was_deflated_is_intact(tool: Page, small: Mapping[str, Base]) -> None:
    """Deflated as `--compress` does: the package digest is the same."""
    stored = from_forgery(small["own"].forgery()).pack()
    archive = from_forgery(small["own"].forgery())
    for one in archive.members:
        packed = deflate(one.content)
        one.stored = packed if len(packed) < len(one.content) else None
    deflated = check(tool, archive.pack())
    assert len(archive.pack()) < len(stored)
    assert deflated["verdict"] == "intact", deflated["faults"][:3]
    assert deflated["package_digest"] == check(tool, stored)["package_digest"]


def test_flipped_bytes_are_noticed(tool: Page, small: Mapping[str, Base]) -> None:
    """One bit of every 1999th byte, and of each byte at both ends."""
    data = from_forgery(small["own"].forgery()).pack()
    offsets = sorted({*range(0, len(data), 1999), *range(40), *range(len(data) - 30, len(data))})
    unnoticed, whole = tool.evaluate(CHECK_FLIPS, [in_base64(data), offsets])
    assert unnoticed == []
    assert whole == "intact"


def test_cut_and_longer_files_are_refused(tool: Page, small: Mapping[str, Base]) -> None:
    """By name of the rule."""
    data = from_forgery(small["own"].forgery()).pack()
    rules = {
        "nothing": (b"", "zip.not-a-zip"),
        "text": (b"not a zip at all", "zip.not-a-zip"),
        "cut": (data[: len(data) // 2], "zip.cut"),
        "end": (data[:-1], "zip.comment"),
        "more": (data + b"\0", "zip.trailing-bytes"),
        "twice": (data + data, "zip.trailing-bytes"),
    }
    for name, (given, rule) in rules.items():
        found = check(tool, given, name)
        assert [fault["rule"] for fault in found["faults"]] == [rule], name
        assert found["verdict"] == "damaged"


@pytest.fixture(scope="module")
def small(
    bases: Mapping[str, Base], tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Base]:
    """The honest packages without what is large and no script looks into."""
    folder = tmp_path_factory.mktemp("small")
    found = {}
    for name in ("own", "command"):
        forgery = slim(bases[name].forgery())
        forgery.files["index.html"] = OTHER_PAGE
        forgery.files["README.md"] = b"# Small\n" + bytes(range(32, 127)) * 50
        path = forgery.write_zip(folder / f"{name}.zip")
        found[name] = replace(bases[name], package=path)
    return found


def told_to_the_page() -> list[Variant]:
    """The first case of each rule and of each family that can be told as a zip."""
    chosen: list[Variant] = []
    seen: set[str | None] = {None}
    for variant in VARIANTS:
        case = variant.case
        if variant.base == "lab" or variant.form != "zip" or case.heavy or case.needs:
            continue
        if (case.rule or "").startswith("page."):
            continue  # no script looks into it, and the small packages have none
        if case.name in LARGE or {case.rule, f"{case.family}/"} <= seen:
            continue
        seen |= {case.rule, f"{case.family}/"}
        chosen.append(variant)
    return chosen


def test_the_corpus_ends_as_with_the_packed_checker(
    tool: Page, small: Mapping[str, Base], tmp_path: Path
) -> None:
    """It refuses no honest package, and accepts of the lies only what the page says it leaves out.

    That is less than the packed checker accepts: nothing of its ``NOT_YET``. What is refused is so
    by the rule that ``check`` names, but for the cases of ``OTHER_RULE``.
    """
    rules: set[str] = set()
    for variant in told_to_the_page():
        case = variant.case
        folder = tmp_path / "case"
        folder.mkdir()
        data = case.write(small[variant.base], "zip", folder).read_bytes()
        shutil.rmtree(folder)
        found = check(tool, data)
        named = {fault["rule"] for fault in found["faults"]}
        if case.code is None:
            assert found["verdict"] == "intact", (case.name, found["faults"][:2])
        elif found["verdict"] == "intact":
            assert case.name in NOT_LOOKED_AT - NOT_YET, case.name
        elif case.rule is not None:
            assert OTHER_RULE.get(case.name, case.rule) in named, (case.name, named)
        rules |= named
    assert rules <= set(RULES)
    assert len(rules) > 80


def test_a_million_entries_end_at_the_limit(tool: Page, tmp_path: Path) -> None:
    """Long before they are all read."""
    fixed = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0x800, 0, 0, 0x21, 0, 0, 0, 6, 0)
    file = tmp_path / "many.zip"
    file.write_bytes(b"".join(fixed + b"%06d" % number for number in range(1_000_000)))
    tool.set_input_files("#panel-files", file)
    tool.wait_for_selector(".panel-report")
    assert "max_entries" in tool.inner_text(".panel-faults")


def test_a_check_can_be_stopped(tool: Page, lab_package: Path) -> None:
    """Between two entries, and nothing is said of the package then."""
    stopped = tool.evaluate(
        """async (data) => {
        const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
        const controller = new AbortController();
        const onProgress = (share) => { if (share > 0.2) controller.abort(); };
        try {
          const {signal} = controller;
          await repropack.check.checkPackage(new Blob([bytes]), {signal, onProgress});
          return "ended";
        } catch (error) {
          return error instanceof repropack.check.Stopped ? "stopped" : String(error);
        } }""",
        in_base64(lab_package.read_bytes()),
    )
    assert stopped == "stopped"


def test_what_is_not_the_lab_is_not_replayed(tool: Page, small: Mapping[str, Base]) -> None:
    """Only the lab is known to the page; a package of anything else has no such button."""
    data = from_forgery(small["own"].forgery()).pack()
    found = tool.evaluate(
        """async (data) => {
        const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
        const report = await repropack.check.checkPackage(new Blob([bytes]));
        const {isLab, fromPage} = repropack.replay;
        return [report.verdict, isLab(report), fromPage({lab: false}), fromPage(null)]; }""",
        in_base64(data),
    )
    assert found == ["intact", False, None, None]
