"""A real Chromium, that of the system, cut off from every network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.support.in_browser import open_page

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The browser, started once for all tests of a process."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"needs Chromium: none of {', '.join(NAMES)} is installed")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=list(ARGUMENTS))
        yield started
        started.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of its own profile, offline: what it asks a network for fails the test."""
    context = browser.new_context(offline=True)
    asked: list[str] = []
    opened = context.new_page()
    opened.on("request", lambda request: asked.append(request.url))
    yield opened
    context.close()
    foreign = [url for url in asked if not url.startswith(("file:", "data:", "blob:", "about:"))]
    assert foreign == []


@pytest.fixture
def tool(page: Page, tmp_path: Path) -> Iterator[Page]:
    """A page with the panel alone, opened; what its scripts raise fails the test."""
    raised: list[str] = []
    page.on("pageerror", lambda error: raised.append(str(error)))
    open_page(page, tmp_path)
    yield page
    assert raised == []
