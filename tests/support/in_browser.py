"""The page with nothing but the panel in it, as a file; and calls into its scripts."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from repropack._present.html import element
from repropack._present.page_frame import page_frame

CHECK = """
async ({name, data}) => {
  const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
  const report = await repropack.check.checkPackage(new Blob([bytes]), {name});
  return {
    verdict: report.verdict,
    counts: report.counts,
    package_digest: report.manifest && report.manifest.packageDigest,
    evidence_digest: report.manifest && report.manifest.evidenceDigest,
    source_digest: report.manifest && report.manifest.sourceDigest,
    faults: report.faults.map(
      ({code, rule, entry, problem}) => ({code, rule, entry, problem}),
    ),
  };
}
"""


def open_page(page: Page, folder: Path, data: Any = None) -> None:
    """Open a page that holds the panel alone, under the policy of every page.

    Args:
        page: The browser's page.
        folder: Where its file is written.
        data: What the page knows of its package; nothing where ``None``.
    """
    section = element("section", id="in-your-browser", hidden=True)
    file = folder / "page.html"
    file.write_bytes(
        page_frame("in your browser", element("main", section), {} if data is None else data)
    )
    page.goto(file.as_uri())


def in_base64(data: bytes) -> str:
    """Bytes, as they are handed to ``page.evaluate``."""
    return base64.b64encode(data).decode("ascii")


def check(page: Page, data: bytes, name: str = "case.zip") -> dict[str, Any]:
    """What the page says of a package."""
    found: dict[str, Any] = page.evaluate(CHECK, {"name": name, "data": in_base64(data)})
    return found
