"""One rule for whatever is written beside a package: nothing is replaced but by its own kind."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from repropack._cli.main import main
from repropack._export.zenodo import zenodo_deposit
from repropack._format.figure_seals import seal_png, seal_svg
from tests.support.records import record, record_about, verification

SVG = b'<?xml version="1.0" encoding="utf-8" standalone="no"?>\n<!DOCTYPE svg PUBLIC "x">\n<svg/>\n'
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(17) + b" and more"
FOUND = SimpleNamespace(verdict="identical")
VERBS = {
    "report": "report LAB -o FILE",
    "values-md": "values LAB -o FILE",
    "values-tex": "values LAB --format tex -o FILE",
    "values-csv": "values LAB --format csv -o FILE",
    "values-json": "values LAB --format json -o FILE",
    "zenodo": "export LAKE --to zenodo -o FILE",
    "codecheck": "export LAKE --to codecheck -o FILE",
    "swhid": "export LAKE --to swhid -o FILE",
    "statement": "sign LAKE -o FILE",
    "certify": "certify LAB RECORD --page FILE",
    "verify-report": "verify LAB --report FILE",
    "verify-record": "verify LAB --record FILE",
    "audit-svg": "audit LAKE --figure FILE.svg",
    "audit-png": "audit LAKE --figure FILE.png",
    "diff": "diff LAB LAB --zoom --save FILE",
}
"""Every verb that writes a document, and every kind of it."""


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is run, and packages that are intact are not checked: what is written is the same."""
    for module, name in (
        ("values", "require_intact"),
        ("export", "check_intact"),
        ("certify", "check_intact"),
        ("sign", "check_intact"),
    ):
        monkeypatch.setattr(f"repropack.{module}.{name}", lambda _: None)
    report = verification()
    arrays = {"left.a": np.zeros(3), "right.before.a": np.ones(2)}
    for place, found in (
        ("verify.verify_package", report),
        ("record.record_verification", record(report)),
        ("audit.audit_project", FOUND),
        ("diff.diff_packages", FOUND),
        ("zoom.zoom_difference", (FOUND, arrays)),
        ("_present.text_audit.audit_text", "exact\n"),
        ("_present.text_diff.diff_text", "identical\n"),
    ):
        monkeypatch.setattr(f"repropack.{place}", lambda *_, found=found, **__: found)
    monkeypatch.setattr("repropack._present.audit_figure.figure_bytes", draw)
    monkeypatch.setattr("repropack.export.zenodo_deposit", lambda of: (zenodo_deposit(of)[0], ()))


def draw(_: object, path: str) -> bytes:
    return seal_svg(SVG) if path.endswith(".svg") else seal_png(PNG)


def put(target: Path, what: str, package: Path) -> None:
    """Something that is none of the kind, at a target."""
    if what == "folder":
        target.mkdir()
    elif what == "fifo":
        os.mkfifo(target)
    elif what == "package":
        target.write_bytes(package.read_bytes())
    else:
        target.write_text({"text": "mine\n", "json": "{}\n", "page": "<html>\n", "empty": ""}[what])


def told(target: Path) -> tuple[int, bytes]:
    """What stands at a target, as far as it can be read."""
    return target.lstat().st_mode, target.read_bytes() if target.is_file() else b""


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize("verb", VERBS)
def test_a_document_replaces_one_of_its_kind_and_nothing_else(
    verb: str,
    lab_package: Path,
    lake_package: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With --force one that is as repropack writes it; without, nothing; never anything else."""
    about = tmp_path / "record"
    about.write_bytes(record_about(lab_package))
    words: dict[str, Any] = {"LAB": lab_package, "LAKE": lake_package, "RECORD": about}
    line = [str(words.get(word, word)) for word in VERBS[verb].split()]
    target = tmp_path / line[-1] if line[-1].startswith("FILE") else tmp_path / "FILE"
    line = [str(target) if word.startswith("FILE") else word for word in line]
    assert main(line) == 0
    made = target.read_bytes()
    assert verb == "statement" or main(line) == 2
    assert target.read_bytes() == made
    assert main([*line, "--force"]) == 0
    assert target.read_bytes() == made
    assert [place.name for place in tmp_path.iterdir()].count(target.name) == 1
    link = tmp_path / "other"
    target.rename(link)
    target.symlink_to(link)
    assert main([*line, "--force"]) == 2
    assert link.read_bytes() == made
    for what in ("folder", "fifo", "package", "text", "json", "page", "empty"):
        target.rmdir() if target.is_dir() else target.unlink()
        put(target, what, lab_package)
        before = told(target)
        capsys.readouterr()
        assert main([*line, "--force"]) == 2
        assert told(target) == before
        assert "observed" in capsys.readouterr().err
    changed = (
        made.replace(b"\n", b" \n") if made.startswith((b"{", b"---", b"swh")) else b"x" + made
    )
    target.write_bytes(changed)
    assert main([*line, "--force"]) == 2
    assert target.read_bytes() == changed
