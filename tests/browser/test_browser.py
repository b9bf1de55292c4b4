"""The browser of these tests does what they rest on."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.slow


def test_a_file_is_opened_and_its_script_runs(page: Page, tmp_path: Path) -> None:
    """With digests, which the page needs."""
    file = tmp_path / "a.html"
    file.write_text(
        "<!doctype html><title>a</title><p id=p></p><script>p.textContent = 6 * 7</script>"
    )
    page.goto(file.as_uri())
    assert page.inner_text("#p") == "42"
    assert page.evaluate("typeof crypto.subtle.digest") == "function"
