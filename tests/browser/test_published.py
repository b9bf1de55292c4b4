"""A published folder and a certificate, opened in a real browser below a path of a site."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Page

from repropack import certify_package, publish_package
from repropack._present.certificate_page import certificate_page
from repropack._present.notebook_page import notebook_page
from tests.support.records import MACHINE, differing, record_about, verification
from tests.unit._present.test_notebook_page import HOSTILE

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, lab_package: Path) -> Path:
    folder = tmp_path_factory.mktemp("host") / "articles" / "7" / "supplement"
    publish_package(lab_package, folder)
    return folder


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    """A server of this machine alone, with the folder at a path of its own."""
    handler = partial(_Quiet, directory=str(site.parents[2]))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/articles/7/supplement/"
        server.shutdown()
        thread.join()


def watched(page: Page) -> list[str]:
    """What goes wrong on a page: errors and refusals of its policy, scripts that ran."""
    wrong: list[str] = []

    def dismissed(dialog: Dialog) -> None:
        wrong.append(dialog.message)
        dialog.dismiss()

    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", dismissed)
    return wrong


def test_the_front_page_leads_to_everything_below_any_path(browser: Browser, address: str) -> None:
    """On a site of its own, every link answers, and nothing else is asked for."""
    context = browser.new_context()
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    wrong = watched(page)
    page.goto(address)
    assert page.inner_text("h1") == "Identical printed losses, different weights"
    links = page.eval_on_selector_all("a", "all => all.map(one => one.href)")
    assert len(links) > 30
    assert all(link.startswith(address) for link in links)
    answers = {link: context.request.get(link).status for link in set(links)}
    assert set(answers.values()) == {200}
    assert [url for url in asked if not url.endswith("/favicon.ico")] == [address]
    page.click("text=The notebook >> nth=0")
    assert page.url == f"{address}notebook.html"
    assert page.locator("h2").count() > 3
    page.click("text=Back to the front page")
    assert page.url == f"{address}index.html"
    assert [text for text in wrong if "favicon" not in text and "404" not in text] == []
    context.close()


@pytest.mark.parametrize(
    ("name", "width"),
    [("index.html", 360), ("index.html", 1280), ("notebook.html", 360), ("report.html", 1280)],
)
def test_pages_open_from_a_folder(page: Page, site: Path, name: str, width: int) -> None:
    """Without a server, on a phone and on a screen, without a word of complaint."""
    wrong = watched(page)
    page.set_viewport_size({"width": width, "height": 800})
    page.goto((site / name).as_uri())
    assert wrong == []
    overflow = page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert overflow <= 0


@pytest.mark.parametrize("width", [360, 1280])
def test_digests_have_a_line_of_their_own(page: Page, site: Path, width: int) -> None:
    """Below the name of the file, wide enough to be read, and in no box that scrolls."""
    page.set_viewport_size({"width": width, "height": 800})
    page.goto((site / "index.html").as_uri())
    assert page.locator(".scroll").count() == 0
    cell = page.locator("details[open] .files tbody td:first-child").first
    link, digest = (cell.locator(part).bounding_box() for part in ("a", ".digest"))
    assert link is not None
    assert digest is not None
    assert digest["y"] >= link["y"] + link["height"] - 2
    assert digest["width"] > 180


@pytest.mark.hostile
def test_a_strangers_notebook_runs_nothing(page: Page, tmp_path: Path) -> None:
    """Whatever is written in it, the browser finds nothing to run or to ask for."""
    cells: list[dict[str, Any]] = []
    for number, text in enumerate(HOSTILE):
        outputs: list[dict[str, Any]] = [
            {"output_type": "display_data", "data": {kind: text}, "metadata": {}}
            for kind in ("text/html", "text/markdown", "image/svg+xml", "application/javascript")
        ]
        code = {"cell_type": "code", "source": text, "execution_count": 1, "outputs": outputs}
        for cell in ({"cell_type": "markdown", "source": text}, code):
            cells.append({"id": f"c{number}-{len(cells)}", "metadata": {}, **cell})
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    place = tmp_path / "notebook.html"
    place.write_bytes(notebook_page(json.dumps(notebook).encode(), HOSTILE[0]))
    wrong = watched(page)
    page.goto(place.as_uri())
    assert wrong == []
    assert page.locator("script, iframe, object, embed, form, svg").count() == 0
    assert page.title() == f"Notebook: {HOSTILE[0]}"


def test_a_certificate_is_a_page(page: Page, tmp_path: Path, lab_package: Path) -> None:
    """It shows each verifier, fits a phone, and complains of nothing."""
    other = MACHINE.model_copy(update={"cpu": "<script>alert(1)</script>"})
    for name, report in (("a", verification()), ("b", differing(machine=other))):
        (tmp_path / f"{name}.json").write_bytes(record_about(lab_package, report))
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    place = tmp_path / "certificate.html"
    place.write_bytes(certificate_page(certify_package(lab_package, files)))
    wrong = watched(page)
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(place.as_uri())
        assert page.locator(".claim").count() == 2
        assert page.inner_text(".claim >> nth=0").startswith("differs")
        assert page.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
    assert wrong == []
