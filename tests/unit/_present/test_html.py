"""HTML that escapes by default and cannot be asked for what a browser would run."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repropack._present.html import (
    Markup,
    element,
    join,
    json_block,
    lines,
    prose,
    script_block,
    style_block,
    text,
)

HOSTILE = "<script>alert(1)</script>\"'&\u202e\x00`]]>--><!--"


class Structure(HTMLParser):
    """Elements with the names of their attributes, and the text between."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.words = ""
        self.values: list[str | None] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.values += [value for _, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        self.tags.append((f"/{tag}", ()))

    def handle_comment(self, data: str) -> None:
        self.tags.append(("comment", ()))

    def handle_decl(self, decl: str) -> None:
        self.tags.append(("decl", ()))

    def handle_data(self, data: str) -> None:
        self.words += data


@given(st.text())
def test_any_text_is_text(value: str) -> None:
    """No text changes the structure, in an element or in an attribute."""
    made = Structure(element("p", value, title=value).html)
    assert made.tags == [("p", ("title",)), ("/p", ())]
    assert made.words == made.values[0] or len(value) > 1000


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126)))
def test_plain_text_is_shown_as_it_is(value: str) -> None:
    """What is read again is what was written."""
    assert Structure(element("p", value).html).words == value


@given(st.text())
def test_nothing_that_moves_or_hides_is_left(value: str) -> None:
    """Control, bidirectional and invisible characters become escapes, whatever the Python."""
    shown = text(value).html
    assert not set(shown) & set("\x00\x1b\x7f\u200b\u200e\u202e\u2066\ufeff\u2028\u00ad\u3164")
    shown.encode("utf-8")


def test_texts_are_escaped_as_written_here() -> None:
    """Literally."""
    assert text(HOSTILE).html == (
        "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\\u202e\\x00`]]&gt;--&gt;&lt;!--"
    )
    assert text("a\ud800b").html == "a\\ud800b"
    assert text("abcdef", 4).html == "abcd... (2 more characters)"
    assert text("e" + "\u0301" * 4).html == "e\u0301\u0301\\u0301\\u0301"
    assert text("e" + "\u1ab0" * 3).html == "e\u1ab0\u1ab0\\u1ab0"
    assert text("\u041f\u0440\u0438 \u65e5\u672c").html == "\u041f\u0440\u0438 \u65e5\u672c"


def test_elements_are_made_as_written_here() -> None:
    """Names, attributes that are there or not, voids, nested contents."""
    assert element("br").html == "<br>"
    assert element("p", "a", 1, None, [" b", element("b", "c")]).html == "<p>a1 b<b>c</b></p>"
    made = element("a", "x", href="#a-1", aria_label="y", hidden=True, open=False, id=None)
    assert made.html == '<a href="#a-1" aria-label="y" hidden>x</a>'
    assert join(["<", Markup("<br>")]).html == "&lt;<br>"
    assert lines(["a", None, "b"]).html == "a\nb\n"
    assert prose("see `a<b` and `").html == "see <code>a&lt;b</code> and "


@pytest.mark.parametrize("name", ["script", "style", "a b", "", "A", "p>"])
def test_elements_that_run_cannot_be_asked_for(name: str) -> None:
    """Neither a script nor what is no name."""
    with pytest.raises(ValueError, match="no element of a page"):
        element(name)


@pytest.mark.parametrize(
    "attributes",
    [
        {"style": "color:red"},
        {"onclick": "x()"},
        {"ONCLICK": "x()"},
        {"srcdoc": "<p>"},
        {"formaction": "https://example.org"},
        {"a b": "c"},
        {"href": "javascript:alert(1)"},
        {"href": "http://example.org"},
        {"href": "https://example.org/?q"},
        {"href": "//example.org"},
        {"href": "data:text/html,x"},
        {"src": "https://example.org/a.png"},
        {"src": "data:text/html;base64,PHA+"},
    ],
)
def test_attributes_that_run_or_fetch_cannot_be_asked_for(attributes: dict[str, str]) -> None:
    """A style or handler in place, another scheme, a picture from elsewhere."""
    with pytest.raises(ValueError, match="of a page"):
        element("a", **attributes)


@given(st.recursive(st.text() | st.integers(-9, 9), lambda inner: st.lists(inner, max_size=3)))
def test_data_cannot_end_its_block(value: object) -> None:
    """One element, and the same value when it is read."""
    block = json_block("data", {"v": value}).html
    made = Structure(block)
    assert made.tags == [("script", ("type", "id")), ("/script", ())]
    assert "<!--" not in block
    assert json.loads(made.words) == {"v": value}


def test_data_is_written_as_here() -> None:
    """Literally, with what could end a script escaped."""
    assert json_block("d", ["</script><!--&\u2028"]).html == (
        '<script type="application/json" id="d">'
        '["\\u003c/script\\u003e\\u003c!--\\u0026\\u2028"]</script>'
    )


@pytest.mark.parametrize("content", ["</script>", "</SCRIPT x", "</style", "<!--", "a\rb"])
def test_an_asset_that_ends_its_element_is_refused(content: str) -> None:
    """Our own files are looked at too."""
    for block in (script_block, style_block):
        with pytest.raises(ValueError, match="an asset of the page"):
            block(content)
