"""What an author may say, through every file that says it again: a text stays a text.

A terminal, the notebook and a whole package are tried in ``test_text``.
"""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser

import pytest
from pydantic import ValidationError

from repropack._compare.claim_values import printed_claims
from repropack._export.bagit import info_bytes
from repropack._export.citation import citation_bytes
from repropack._export.codecheck import codecheck_bytes
from repropack._export.zenodo import zenodo_deposit
from repropack._present.claim_values import csv_values, escape_tex, markdown_values
from repropack._present.front_page import front_page
from repropack._present.markdown import escape_markdown
from repropack._present.package_readme import package_readme
from repropack.models.authored import Article, Author, Contact
from repropack.models.manifest import PackageMetadata
from repropack.models.proofreading import Values
from tests.hostile.test_text import assert_inert, tokens_of
from tests.support import reports
from tests.support.claims import outcome_of
from tests.unit._present.test_trust_texts import published

pytestmark = pytest.mark.hostile

LINES = (
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "</title></style></textarea>--><b onload=x>",
    '=HYPERLINK("http://example.org")|cmd',
    "\uff1d1+1",
    "\\input{/etc/passwd} $x$ %\\end{document} ^^5c #1 ~ & _",
    "[a](javascript:alert(1)) ![b](http://example.org/b.png) <http://example.org>",
    "- @a: !!python/object &b *b {{ 7*7 }} {% x %} ${y}",
    "--- | null ~ yes 1e3 \\u0022 '\" \\",
    "` `` ``` ~~~ # 1. &lt;script&gt;",
    "\xad\u061c\u180e\ufe0f\U000e0041 e" + "\u0301" * 40,
)
"""Lines that the model takes: everything but control, format and bidirectional characters."""
DIGEST = f"sha256:{'ab' * 32}"
LONGEST = 500


def metadata(line: str) -> PackageMetadata:
    return reports.metadata(
        title=line,
        description=line,
        authors=(Author(name=line, given_names=line, family_names=line, affiliation=line),),
        keywords=(line,),
        license=line,
        contact=Contact(name=line),
        article=Article(title=line, authors=(Author(name=line),)),
    )


class Page(HTMLParser):
    """Elements, and the text between them."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(page.decode("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not any(name.startswith("on") for name, _ in attrs)
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("line", LINES)
def test_a_line_stays_a_line_in_every_file(line: str) -> None:
    """HTML, Markdown, YAML, JSON, tag files, LaTeX, CSV: each read as its readers read it."""
    told = metadata(line)
    page = Page(front_page(published(package=told), reports.plan().experiment))
    assert not page.tags & {"script", "img", "b", "textarea"}
    readme = package_readme(told, reports.plan(), reports.results(), DIGEST).decode("utf-8")
    assert_inert(readme)
    shown = [token.content for token in tokens_of(escape_markdown(line)) if token.type == "text"]
    assert "".join(shown).isprintable()
    for document in (citation_bytes(told, DIGEST, None), codecheck_bytes(told, (), {})):
        lines = document.decode("utf-8").splitlines()
        written = [one.partition(": ")[2] for one in lines if re.match(r" *(- )?title:", one)]
        assert [json.loads(one) for one in written] == [line] * len(written) != []
        assert len(lines) == document.count(b"\n")
    deposit, _ = zenodo_deposit(told)
    assert "<" not in deposit["description"]
    info = info_bytes(told, DIGEST, None, (1, 1)).decode("utf-8")
    assert all(re.match("[A-Z][A-Za-z-]+: ", one) for one in info.splitlines())
    tex = re.sub(r"\\(?:[{}$&#%_]|textbackslash\{\}|textascii\w+\{\})", "", escape_tex(line))
    assert not set(tex) & set("\\{}$&#%_^~")


@pytest.mark.parametrize("line", LINES)
def test_a_claim_stays_in_its_cell(line: str) -> None:
    """No formula for a spreadsheet, and no end of a cell, a mark or a comment in Markdown."""
    claim = outcome_of(line, id="a", kind="bound", value=line, limit=line, sentence=line)
    values = Values.model_validate(
        {
            "package": reports.metadata(),
            "package_digest": DIGEST,
            "evidence_digest": DIGEST,
            "values": printed_claims([claim]),
        }
    )
    _, row = csv.reader(io.StringIO(csv_values(values).decode("utf-8"), newline=""))
    assert not any(re.match("[=+@\t\r\uff1d\uff0b\uff20\uff0d-]", cell) for cell in row)
    table = markdown_values(values).decode("utf-8")
    assert len(re.split(r"(?<!\\)\|", table.splitlines()[-1])) == 6
    assert table.count("-->") == 3


@pytest.mark.parametrize("key", ["title", "license", "description", "name", "affiliation"])
@pytest.mark.parametrize(
    "text", ["a\n", "a\nb", "\x1b[31m", "\u202eb", "\u2066", "\u200b", "\x85", "\u2028", "\x00", ""]
)
def test_what_is_no_line_is_refused(key: str, text: str) -> None:
    """In a project file and in a package alike: one model reads both."""
    whole = reports.metadata().model_dump()
    if key in {"name", "affiliation"}:
        whole["authors"] = [{"name": "A", key: text}]
    else:
        whole[key] = text
    with pytest.raises(ValidationError, match=key):
        PackageMetadata.model_validate(whole)


def test_a_line_has_an_end() -> None:
    """A megabyte of title is refused before anything is made of it."""
    assert reports.metadata(title="x" * LONGEST).title == "x" * LONGEST
    with pytest.raises(ValidationError, match="at most 500 characters"):
        reports.metadata(title="x" * 1_000_000)
