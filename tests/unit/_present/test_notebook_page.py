"""A stranger's notebook becomes a page that runs nothing and fetches nothing."""

from __future__ import annotations

import base64
import json
import time
from html.parser import HTMLParser
from typing import Any

import pytest

from repropack._present.notebook_page import MAX_NOTEBOOK_BYTES, notebook_page, without_code
from repropack.errors import CouldNotRunError

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
HOSTILE = (
    "<script>alert(1)</script>",
    "<ScRiPt >alert(1)</sCrIpT >",
    "<img src=x onerror=alert(1)>",
    '<img src="https://example.org/a.png">',
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    '<a href="javascript:alert(1)">x</a>',
    '<a href="data:text/html,<script>alert(1)</script>">x</a>',
    "<style>@import url(https://example.org/a.css)</style>",
    '<p style="background:url(https://example.org/a.png)">x</p>',
    "<base href=https://example.org/><form action=https://example.org/><input name=a></form>",
    "<meta http-equiv=refresh content='0;url=https://example.org/'>",
    "<object data=https://example.org/></object><embed src=https://example.org/>",
    "<math><mtext></mtext><mglyph><style><img src=x onerror=alert(1)></style></mglyph></math>",
    "</main></body><script>alert(1)</script>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
)


def notebook(*cells: dict[str, Any]) -> bytes:
    listed = [{"id": f"c{k}", "metadata": {}, **cell} for k, cell in enumerate(cells)]
    value = {"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(value).encode()


def markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": text}


def code(source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    listed = list(outputs)
    return {"cell_type": "code", "source": source, "execution_count": 1, "outputs": listed}


def shows(**data: str) -> dict[str, Any]:
    kinds = {kind.replace("__", "+").replace("_", "/"): text for kind, text in data.items()}
    return {"output_type": "display_data", "data": kinds, "metadata": {}}


class Elements(HTMLParser):
    """Every element with its attributes."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page.decode("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def check_still(page: bytes) -> None:
    """No element, attribute or reference of the page can run or fetch anything."""
    for tag, attributes in Elements(page).found:
        assert tag not in {"script", "iframe", "object", "embed", "form", "input", "base", "link"}
        assert tag not in {"svg", "math"}
        for name, value in attributes.items():
            assert not name.startswith("on")
            assert name not in {"style", "srcdoc", "action", "background"}
            if name == "src":
                assert str(value).startswith("data:image/")
            if name == "href":
                assert str(value).startswith(("./", "#", "https://", "http://"))
            if name == "http-equiv":
                assert value == "Content-Security-Policy"
    head = page.split(b"</head>")[0].decode("utf-8")
    assert "default-src &#39;none&#39;" in head
    assert "script-src" not in head
    assert "unsafe" not in head


def test_what_a_notebook_shows_is_there() -> None:
    """Headings, tables, code, prints, pictures, errors."""
    page = notebook_page(
        notebook(
            markdown("# A heading\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nsome *words* & `code`"),
            code(
                "x = 1 < 2",
                {"output_type": "stream", "name": "stdout", "text": "printed <b>\n"},
                shows(text_plain="plain", image_png=PIXEL),
                shows(image_svg__xml="<svg xmlns='http://www.w3.org/2000/svg'/>"),
                shows(text_html="<table><tr><td>cell</td></tr></table>"),
                {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["tb"]},
            ),
        ),
        "A <title>",
    ).decode("utf-8")
    check_still(page.encode())
    for part in (
        "<title>Notebook: A &lt;title&gt;</title>",
        "A heading</h1>",
        "<td>1</td>",
        "<em>words</em>",
        "printed &lt;b&gt;",
        f'src="data:image/png;base64,{PIXEL}',
        'src="data:image/svg+xml;base64,PHN2ZyB4bWxucz0n',
        "<td>cell</td>",
        "tb",
    ):
        assert part in page
    assert "plain" not in page.split("<main")[1]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_stranger_runs_or_fetches(text: str) -> None:
    """In markdown, raw cells, code, every kind of output, and the title."""
    cells = (
        markdown(text),
        {"cell_type": "raw", "source": text},
        code(
            text,
            {"output_type": "stream", "name": "stdout", "text": text},
            shows(text_html=text),
            shows(text_markdown=text),
            shows(text_plain=text),
            shows(image_svg__xml=text),
            shows(image_png=f'"><{text}'),
            shows(application_javascript="alert(1)"),
            {"output_type": "error", "ename": text, "evalue": text, "traceback": [text]},
        ),
    )
    check_still(notebook_page(notebook(*cells), text))


def test_no_address_of_a_server_is_in_it() -> None:
    """The templates of nbconvert name servers for formulas and scripts; none is left."""
    page = notebook_page(notebook(markdown("$x^2$"), code("1")), "t")
    assert b"http" not in page.replace(b"http-equiv", b"")


def test_the_same_notebook_gives_the_same_page() -> None:
    """Byte for byte."""
    data = notebook(markdown("# a"), code("1", shows(text_html="<p>x</p>")))
    assert notebook_page(data, "t") == notebook_page(data, "t")


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"[]", b"\xff", b"[" * 100_000, b'{"nbformat":4,"nbformat_minor":5,"cells":3}'],
)
def test_what_is_no_notebook_has_no_page(data: bytes) -> None:
    """It is told as such, and is no traceback."""
    with pytest.raises(CouldNotRunError, match="the notebook cannot be rendered"):
        notebook_page(data, "t")


def test_a_huge_notebook_is_not_rendered() -> None:
    """Nor parsed."""
    with pytest.raises(CouldNotRunError, match="expected at most"):
        notebook_page(b" " * (MAX_NOTEBOOK_BYTES + 1), "t")


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ("a<style>b</style>c<SCRIPT src=x>d</script >e", "ace"),
        ("<style><script></style>a</script>", "a</script>"),
        ("<script>a</style>b", "<script>a</style>b"),
        ("<styled>a</styled><\u017ftyle>b</style>", "<styled>a</styled><\u017ftyle>b</style>"),
        ("<style>a<style>b</style>c</style>", "c</style>"),
    ],
)
def test_style_sheets_and_scripts_go_with_their_texts(html: str, kept: str) -> None:
    """Each to its own end; what has none stays, for the sieve after this one."""
    assert without_code(html) == kept


@pytest.mark.parametrize("unit", ["<style", "<script>", "<style></script>", "</style "])
def test_code_is_looked_for_in_one_pass(unit: str) -> None:
    """Elements that are never closed are not looked for again and again."""
    start = time.process_time()
    assert without_code(unit * 100_000) == unit * 100_000
    assert time.process_time() - start < 5
