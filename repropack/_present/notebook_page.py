"""A notebook as a page: nbconvert renders it, an allow-list cleans it, a policy forbids the rest.

A package's notebook is a stranger's. Three things stand between it and the reader: only harmless
kinds of output are handed to nbconvert, only known elements and attributes of what it makes are
kept, and the page's policy lets nothing run and nothing be fetched.
"""

from __future__ import annotations

import base64
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, Final

from repropack._present.html import Markup, element, file_link
from repropack._present.still_page import still_page
from repropack.errors import CouldNotRunError

MAX_NOTEBOOK_BYTES: Final = 64 * 1024 * 1024
UNRENDERED: Final = "the notebook cannot be rendered"

_KINDS = (
    "image/svg+xml",
    "image/png",
    "image/jpeg",
    "text/html",
    "text/markdown",
    "text/plain",
)
"""Kinds of output that are shown, the best first; of each output one is shown."""
_TAGS = frozenset({
    "a", "abbr", "b", "blockquote", "br", "caption", "code", "col", "colgroup", "dd", "del",
    "div", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "kbd",
    "li", "ol", "p", "pre", "s", "samp", "small", "span", "strong", "sub", "sup", "table",
    "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul", "var",
})  # fmt: skip
_ATTRIBUTES = {
    "*": ["class", "title"],
    "a": ["href"],
    "img": ["src", "alt", "width", "height"],
    "td": ["colspan", "rowspan"],
    "th": ["colspan", "rowspan", "scope"],
    "ol": ["start"],
}
_PICTURE = re.compile(r"data:image/(png|jpeg|svg\+xml);base64,[A-Za-z0-9+/=\s]*")
_CODE_BEGINS = re.compile(r"<(style|script)\b", re.IGNORECASE | re.ASCII)
_CODE_ENDS = {
    name: re.compile(rf"</{name}\s*>", re.IGNORECASE | re.ASCII) for name in ("style", "script")
}
_LINK = re.compile(r"(https?://|#).*", re.DOTALL)
_STYLE = """
.notebook { padding-block: 1.5rem 3rem; }
.notebook .cell { margin: 1rem 0; max-width: 60rem; }
.notebook h1, .notebook h2, .notebook h3 { margin: 1.5rem 0 .75rem; }
.notebook pre { white-space: pre; margin: .3rem 0; background: none; }
.notebook .input_area pre { background: var(--sunk); }
.notebook img { max-width: 100%; height: auto; background: #fff; }
.notebook .prompt { color: var(--quiet); font-size: .75rem; }
.notebook .c1, .notebook .sd { font-style: italic; color: var(--quiet); }
.notebook .k, .notebook .kn, .notebook .ow, .notebook .kc { font-weight: 600; }
"""


def notebook_page(data: bytes, title: str) -> bytes:
    """Render a notebook.

    Args:
        data: The notebook, nbformat 4.
        title: What the page is called, by whomever.

    Returns:
        HTML, UTF-8, which runs nothing and fetches nothing. Formulas are shown as they are written.

    Raises:
        CouldNotRunError: the extra ``notebook`` is not installed, or the notebook cannot be
            rendered.

    Determinism:
        The bytes depend on the arguments and on the versions of nbconvert, bleach and repropack.
    """
    body = element(
        "main",
        element("p", file_link("index.html", "Back to the front page")),
        _cleaned(_rendered(_shown(_read(data)))),
        class_="notebook",
    )
    return still_page(f"Notebook: {title}", body, more_style=_STYLE)


def _read(data: bytes) -> Any:
    if len(data) > MAX_NOTEBOOK_BYTES:
        raise CouldNotRunError(
            f"{UNRENDERED}: expected at most {MAX_NOTEBOOK_BYTES} bytes, observed {len(data)}"
        )
    import nbformat  # noqa: PLC0415 - takes its time

    try:
        text = data.decode("utf-8")
        notebook = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
        nbformat.validate(notebook)
    except Exception as error:
        raise _unrendered(error) from error
    return notebook


def _shown(notebook: Any) -> Any:
    """The notebook with harmless outputs alone."""
    for cell in notebook.cells:
        cell.pop("attachments", None)
        if "outputs" in cell:
            cell["outputs"] = [output for output in cell["outputs"] if _keep(output)]
    return notebook


def _keep(output: Any) -> bool:
    """Cut an output down to the best kind that is shown; whether anything of it is left."""
    if "data" not in output:
        return True
    kinds = output["data"]
    kind = next((kind for kind in _KINDS if kind in kinds), None)
    if kind is None:
        return False
    output["metadata"] = {}
    output["data"] = {kind: kinds[kind]}
    if kind == "image/svg+xml":  # as an image of the page it runs nothing
        encoded = base64.b64encode("".join(kinds[kind]).encode("utf-8", "replace")).decode("ascii")
        picture = f'<img alt="figure" src="data:image/svg+xml;base64,{encoded}">'
        output["data"] = {"text/html": picture}
    return True


def _rendered(notebook: Any) -> str:
    try:
        from nbconvert.exporters import HTMLExporter  # noqa: PLC0415 - an extra, and slow
    except ImportError as error:
        raise CouldNotRunError(
            "publishing renders the notebook: expected nbconvert, observed none",
            hint="pip install 'repropack-replay[notebook]'",
        ) from error
    options = {"template_name": "basic", "exclude_anchor_links": True}
    exporter = HTMLExporter(**options)  # type: ignore[no-untyped-call]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a stranger's notebook lacks
            html, _ = exporter.from_notebook_node(notebook)
    except Exception as error:
        raise _unrendered(error) from error
    return str(html)


def _cleaned(html: str) -> Markup:
    """Known elements and attributes alone; what is left out is shown as text or not at all."""
    from bleach.sanitizer import Cleaner  # noqa: PLC0415 - comes with nbconvert

    cleaner = Cleaner(
        tags=_TAGS,
        attributes=_is_kept,
        protocols={"http", "https", "data"},
        strip=True,
        strip_comments=True,
        filters=[_framed],
    )
    return Markup(cleaner.clean(without_code(html)))


def _framed(source: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Put each table that is kept into a frame of ours, in which it scrolls sideways."""
    said = {"class": "scroll", "tabindex": "0", "role": "region", "aria-label": "table"}
    frame = {"name": "div", "namespace": None}
    for token in source:
        is_table = token.get("name") == "table"
        if is_table and token["type"] == "StartTag":
            data = {(None, name): value for name, value in said.items()}
            yield {**frame, "type": "StartTag", "data": data}
        yield token
        if is_table and token["type"] == "EndTag":
            yield {**frame, "type": "EndTag"}


def without_code(html: str) -> str:
    """HTML without its style sheets and scripts, whose text would be shown as text.

    Args:
        html: Any HTML.

    Returns:
        The same without each ``style`` and ``script`` that is closed. It is no more harmless
        for that; the time grows with the length alone.

    Example:
        >>> without_code("a<STYLE media=x>p{}</style >b<script>c")
        'ab<script>c'
    """
    kept, place = [], 0
    unclosed: set[str] = set()
    for begin in _CODE_BEGINS.finditer(html):
        name = begin[1].lower()
        if begin.start() < place or name in unclosed:
            continue
        end = _CODE_ENDS[name].search(html, begin.end())
        if end is None:
            unclosed.add(name)
            continue
        kept.append(html[place : begin.start()])
        place = end.end()
    return "".join([*kept, html[place:]])


def _is_kept(tag: str, name: str, value: str) -> bool:
    if name == "href":
        return tag == "a" and _LINK.fullmatch(value) is not None
    if name == "src":
        return tag == "img" and _PICTURE.fullmatch(value) is not None
    return name in _ATTRIBUTES["*"] or name in _ATTRIBUTES.get(tag, ())


def _unrendered(error: Exception) -> CouldNotRunError:
    said = str(error).split("\n", 1)[0][:200]
    return CouldNotRunError(f"{UNRENDERED}: {type(error).__name__}: {said}")
