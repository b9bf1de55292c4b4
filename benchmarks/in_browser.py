#!/usr/bin/env python3
"""How long a browser takes to check a package and to replay the lab, and if the page stays alive.

    python benchmarks/in_browser.py PACKAGE [--chromium PATH]

PACKAGE is a zip of the replay lab, as `repropack build` writes it. Prints what the scripts of the
page reach in Chromium: bytes a second of both SHA-256 and of CRC-32, words a second of PCG64, the
seconds that a check and a replay of all runs take, and the longest time in which the page could not
answer meanwhile. The median of three runs of each.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from repropack._present.html import element
from repropack._present.page_frame import page_frame

_MEASURE = """
async () => {
  const {bytes, check, pcg64, replay} = repropack;
  const rows = [];
  const gaps = {longest: 0, last: 0};
  const tick = () => {
    const now = performance.now();
    gaps.longest = Math.max(gaps.longest, now - gaps.last);
    gaps.last = now;
  };
  const measure = async (what, unit, scale, action) => {
    const times = [];
    for (let run = 0; run < 3; run += 1) {
      const started = performance.now();
      await action();
      times.push((performance.now() - started) / 1000);
    }
    const median = times.sort((a, b) => a - b)[1];
    const shown = (scale === null ? median : scale / median).toFixed(2);
    rows.push(`${what.padEnd(34)} ${shown} ${unit}`);
  };
  const data = new Uint8Array(64 * 2 ** 20).map((_, at) => at % 251);
  await measure("SHA-256 of the page", "MiB/s", 64, () => bytes.digest(data));
  await measure("SHA-256 of the browser", "MiB/s", 64, () => bytes.digestWhole(data));
  await measure("CRC-32", "MiB/s", 64, () => bytes.crc32(data));
  const generator = pcg64.Pcg64.spawned(7n, 0);
  await measure("PCG64", "million words/s", 2, () => {
    for (let word = 0; word < 2e6; word += 1) generator.next();
  });
  const [file] = document.getElementById("panel-files").files;
  gaps.last = performance.now();
  const timer = setInterval(tick, 1);
  let report;
  await measure("check", "s", null, async () => { report = await check.checkPackage(file); });
  if (replay.isLab(report)) {
    await measure("replay of all runs", "s", null,
      () => replay.replay(replay.fromPackage(report)));
  }
  tick();
  clearInterval(timer);
  rows.push(`${"longest without an answer".padEnd(34)} ${Math.round(gaps.longest)} ms`);
  return [report.verdict, ...rows];
}
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("package", type=Path)
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    given = parser.parse_args()
    section = element("main", element("section", id="in-your-browser", hidden=True))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "page.html"
        file.write_bytes(page_frame("benchmark", section, {}))
        browser = playwright.chromium.launch(
            executable_path=given.chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.goto(file.as_uri())
        # kept from the panel, which would check it at once
        page.evaluate("document.addEventListener('change', (e) => e.stopPropagation(), true)")
        page.set_input_files("#panel-files", given.package)
        found = [f"Chromium {browser.version}", *page.evaluate(_MEASURE)]
        sys.stdout.write("\n".join(found) + "\n")
        browser.close()


if __name__ == "__main__":
    main()
