"""Marks in articles: where they are, where they are not, and that a text is read once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repropack._format import scans
from repropack._format.marks import scan_text
from repropack._format.scans import Form, Lines, TooManyMarksError

A = "<!-- claim: a -->"
END = "<!-- /claim -->"


def marked(text: str, form: Form = "markdown") -> list[tuple[str, str]]:
    return [(one.claim, one.content) for one in scan_text(text, form).marks]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"x {A}0.5{END} y", [("a", "0.5")]),
        (f"{A}\n0.5\n{END}", [("a", "\n0.5\n")]),
        ("<!--claim:a-->`0.5`<!--/claim-->", [("a", "`0.5`")]),
        ("<!--  claim :  a  -->**1**<!-- / claim -->", [("a", "**1**")]),
        (f"{A}1{END}<!-- claim: b-2 -->2{END}", [("a", "1"), ("b-2", "2")]),
        (f"<!-- a comment --> {A}1{END}", [("a", "1")]),
        (f"| {A}1{END} | 2 |", [("a", "1")]),
        (f"`{A}1{END}`", []),
        (f"``code ` {A}1{END}``", []),
        (f"a ` alone {A}1{END}", [("a", "1")]),
        (f"```\n{A}1{END}\n```\n{A}2{END}", [("a", "2")]),
        (f"~~~~ text\n{A}1{END}\n~~~\n{A}2{END}\n~~~~\n", []),
        (f"```\n{A}1{END}", []),
        (f"\\`{A}1{END}\\`", [("a", "1")]),
        ("<!-- claims are fun -->1", []),
    ],
)
def test_marks_in_markdown(text: str, found: list[tuple[str, str]]) -> None:
    """Comments, but not those in code."""
    scan = scan_text(text, "markdown")
    assert [(one.claim, one.content) for one in scan.marks] == found
    assert scan.bad == []


@pytest.mark.parametrize(
    "text",
    [
        f"``` ```x``` is code.\n\n{A}1{END}",
        f"```x``` is code.\n\n{A}1{END}",
        f"a ` b\n\n{A}1{END} ` c",
        f"a ` b\n# {A}1{END} ` c",
        f"a ` b\n===\n{A}1{END} ` c",
        f"a ` b\n***\n{A}1{END} ` c",
        f"a ` b\n> {A}1{END} ` c",
        f"> a ` b\n\n{A}1{END} ` c",
        f"- a ` b\n- {A}1{END} ` c",
        f"1. a ` b\n2. {A}1{END} ` c",
        f"| a ` | {A}1{END} | ` |\n|---|---|---|",
        f"a | b\n-|-\nc ` | {A}1{END} ` |",
        f"---\n\n{A}1{END}\n\n---\n",
        f"<pre>\n```\n</pre>\n{A}1{END}",
        f"<div>\n```\n{A}1{END}\n",
        f"<span>\n```\n{A}1{END}\n",
        f"<div>\\{A}1{END}</div>",
        f"- a\n  ```\n  code\n\n{A}1{END}",
        f"- a\n\t```\n\tcode\n\n{A}1{END}",
        f"> ```\n> code\n{A}1{END}",
        f"a <!-- b\n\n{A}1{END} -->",
        f"a <b `\n\n> {A}1{END} ` c",
        f"<!--> {A}1{END}",
        "[x](<!-- claim:a -->1<!--/claim-->)",
    ],
)
def test_a_mark_that_does_not_surely_stand_in_code_is_seen(text: str) -> None:
    """Code ends with its block, its list item, its quote and its cell."""
    scan = scan_text(text, "markdown")
    assert [(one.claim, one.content) for one in scan.marks] == [("a", "1")]
    assert scan.not_looked_at() == 0


@pytest.mark.parametrize(
    "text",
    [
        f"a `b\nc {A}1{END}` d",
        f"> a `b\nc {A}1{END}` d",
        f"a `b\n2. {A}1{END}` c",
        f"- ```\n  {A}1{END}\n  ```",
        f"- a\n\n  ```\n\n  {A}1{END}\n  ```",
        f"> ~~~ a`b\n> {A}1{END}\n> ~~~",
        f"---\ntitle: {A}1{END}\n---\n",
        f"\\{A}1\\{END}",
        f"<!-- {A}1 <!-- -->",
    ],
)
def test_a_mark_in_code_is_counted(text: str) -> None:
    """It is none, and whoever reads is told that it stands there."""
    scan = scan_text(text, "markdown")
    assert (scan.marks, scan.bad, scan.not_looked_at()) == ([], [], 1)


def test_a_cell_has_no_metadata() -> None:
    """It may begin with a rule."""
    text = f"---\na\n{A}1{END}\n\n---\n"
    assert scan_text(text, "markdown").not_looked_at() == 1
    assert [one.content for one in scan_text(text, "markdown", metadata=False).marks] == ["1"]


@pytest.mark.parametrize(
    "text",
    [
        "\\claim%\n{a}{1}",
        "\\claim{a}% a comment\n  {1}",
        "\\claim{a}{1%\n}",
        r"\cite[\claim{a}{1}]{x}",
        r"\lstinline|%| \claim{a}{1}",
        r"\lstinline[language=C]{%} \claim{a}{1}",
        r"\mintinline{c}|%| \claim{a}{1}",
        r"\verb|%| \claim{a}{1}",
        r"\verb |%| \claim{a}{1}",
        r"\verb|x \claim{a}{1}",
        r"\begin{verbatim} \claim{a}{1}",
        r"\\\% \claim{a}{1}",
        r"https://x.org/\claim{a}{1}",
    ],
)
def test_a_mark_that_is_surely_no_comment_is_seen(text: str) -> None:
    """Comments end with their lines, verbatim text with its delimiter."""
    scan = scan_text(text, "latex")
    assert [(one.claim, one.content) for one in scan.marks] == [("a", "1")]
    assert (scan.bad, scan.not_looked_at()) == ([], 0)


@pytest.mark.parametrize("text", [r"% \claim{a}{1}", r"\\% \claim{a}{1}", r"\verb|\claim{a}{1}|"])
def test_a_mark_in_a_comment_of_latex_is_counted(text: str) -> None:
    """And is none."""
    scan = scan_text(text, "latex")
    assert (scan.marks, scan.not_looked_at()) == ([], 1)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (r"\renewcommand\claimA{9}", "9"),
        (r"\newcommand{\claimA}{9\%}% a", r"9\%"),
        (r"\def\claimA{9}", "9"),
        (r"\gdef\claimA{9}", "9"),
        (r"\expandafter\def\csname claimA\endcsname{9}", "9"),
        (r"\csdef{claimA}{9}", "9"),
        (r"\let\claimA\b", None),
        (r"\newcommand{\claimA}[1]{9}", None),
        (r"\NewDocumentCommand{\claimA}{}{9}", None),
        (r"\newcommand{\claimA}{9", None),
    ],
)
def test_definitions_of_macros(text: str, content: str | None) -> None:
    """What they print, where that is a text between two braces."""
    (one,) = scan_text(text, "latex").definitions
    assert (one.name, one.content) == ("claimA", content)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"<p>{A}<b>0.5</b>{END}</p>", [("a", "<b>0.5</b>")]),
        (f"<code>{A}1{END}</code>", [("a", "1")]),
        (f"<script>{A}1{END}</script>", []),
        (f"<STYLE>{A}1{END}</STYLE>{A}2{END}", [("a", "2")]),
        (f"<script>{A}1{END}", []),
        (f"`{A}1{END}`", [("a", "1")]),
    ],
)
def test_marks_in_html(text: str, found: list[tuple[str, str]]) -> None:
    """Comments wherever HTML has them; a script has none."""
    assert marked(text, "html") == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (r"x \claim{a}{0.5} y", [("a", "0.5")]),
        (r"\claim{a}{\num{1.2e-7}}", [("a", r"\num{1.2e-7}")]),
        ("\\claim {a}\n  {$1 \\times 10^{-7}$}", [("a", r"$1 \times 10^{-7}$")]),
        (r"\claim{a}{97\%} % \claim{b}{1}", [("a", r"97\%")]),
        (r"50\% \claim{a}{1}", [("a", "1")]),
        (r"\verb|\claim{a}{1}| \claim{b}{2}", [("b", "2")]),
        (r"\begin{verbatim}\claim{a}{1}\end{verbatim}\claim{b}{2}", [("b", "2")]),
        (r"\newcommand{\claim}[2]{#2} \def\claim#1#2{#2}", []),
        (r"\providecommand{\claim}[2]{#2}", []),
    ],
)
def test_marks_in_latex(text: str, found: list[tuple[str, str]]) -> None:
    """A macro of two arguments; not in comments or verbatim, and not where it is defined."""
    scan = scan_text(text, "latex")
    assert [(one.claim, one.content) for one in scan.marks] == found
    assert scan.bad == []


def test_macros_of_values_are_found_where_they_are_used() -> None:
    """And not where they are defined."""
    scan = scan_text(
        "\\newcommand{\\claimA}{1}\\renewcommand\\claimB{2}\nWe find \\claimFinalLoss\\ and "
        "$\\exactFinalLoss$, \\claims and \\exactly. % \\claimNo",
        "latex",
    )
    assert [use.name for use in scan.uses] == ["claimFinalLoss", "exactFinalLoss"]


@pytest.mark.parametrize(
    ("text", "form", "claim", "expected", "observed"),
    [
        (f"{A}1", "markdown", "a", "<!-- /claim --> within 5,000 characters", "none"),
        (f"{A}1{A}2", "html", "a", "<!-- /claim --> within 5,000 characters",
         "another comment before it"),
        (f"{A}{'1' * 5001}{END}", "html", "a", "<!-- /claim --> within 5,000 characters", "none"),
        (f"1{END}", "markdown", "", "a claim that this closes", "none before it"),
        ("<!-- claim: -->1", "markdown", "", "<!-- claim: ID -->", "<!-- claim: -->"),
        ("<!-- claim: a b -->1", "html", "", "<!-- claim: ID -->", "<!-- claim: a b -->"),
        ("<!-- Claim: x -->1", "markdown", "", "<!-- claim: ID -->", "<!-- Claim: x -->"),
        ("<!-- claims: x -->1", "html", "", "<!-- claim: ID -->", "<!-- claims: x -->"),
        ("<!-- claim x -->1", "markdown", "", "<!-- claim: ID -->", "<!-- claim x -->"),
        ("<!--CLAIM = x-->1", "markdown", "", "<!-- claim: ID -->", "<!--CLAIM = x-->"),
        (f"{A}1<!-- /Claim -->", "markdown", "a", "<!-- /claim --> within 5,000 characters",
         "<!-- /Claim -->"),
        ("1<!-- /CLAIMS -->", "markdown", "", "<!-- /claim -->", "<!-- /CLAIMS -->"),
        (r"\Claim{a}{1}", "latex", "", r"\claim{ID}{VALUE}", r"\Claim{a}"),
        (r"\claims{a}{1}", "latex", "", r"\claim{ID}{VALUE}", r"\claims{a}"),
        (r"\claim{a}", "latex", "", r"\claim{ID}{VALUE}", r"\claim{a}"),
        (r"\claim{a}{1", "latex", "a", "a closing brace within 5,000 characters", "none"),
        (r"\claim{a}{\claim{b}{1}", "latex", "a", "a closing brace within 5,000 characters",
         "none"),
    ],
)  # fmt: skip
def test_what_begins_like_a_mark_and_is_none_is_told(
    text: str, form: Form, claim: str, expected: str, observed: str
) -> None:
    """Its place, what was expected there and what there is."""
    first = scan_text(text, form).bad[0]
    assert (first.claim, first.expected, first.observed) == (claim, expected, observed)


@pytest.mark.parametrize(
    "body", ["claims follow here", "claimed", "claim to fame: 3", "/ claimant"]
)
def test_a_comment_that_only_begins_with_the_word_is_no_mark(body: str) -> None:
    """People write notes into comments."""
    scan = scan_text(f"<!-- {body} -->", "markdown")
    assert (scan.marks, scan.bad) == ([], [])


def running(text: str, form: Form) -> str:
    return " ".join(scan_text(text, form).running_text().split())


def test_running_text_has_no_code_no_addresses_and_no_marks() -> None:
    """And is as long as the text, so that places are those of the text."""
    text = (
        "---\nversion: 1.25\n---\n1.5 `2.5` [a](b/3.5) https://x/4.5 <img width=5.5> "
        f"{A}6.5{END}\n```\n7.5\n```\n8.5"
    )
    assert running(text, "markdown") == "1.5 [a 8.5"
    assert len(scan_text(text, "markdown").running_text()) == len(text)
    html = "<p class='1.5'>2.5</p><pre>3.5</pre><script>4.5</script>10<sup>-7</sup> 5.5"
    assert running(html, "html") == "2.5 10<sup>-7</sup> 5.5"
    latex = r"1.5 \cite[2.5]{k3} \label{f4.5} \claim{a}{5.5} \verb+6.5+ 7.5 % 8.5"
    assert running(latex, "latex") == "1.5 7.5"


def test_places_are_lines_and_columns() -> None:
    """Both counted from 1; a line ends with its newline."""
    lines = Lines("ab\n\ncd")
    assert [lines.place(at) for at in (0, 1, 2, 3, 4, 5)] == [
        (1, 1), (1, 2), (1, 3), (2, 1), (3, 1), (3, 2),
    ]  # fmt: skip


def test_marks_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than an article has are refused."""
    monkeypatch.setattr(scans, "MAX_MARKS", 3)
    assert len(marked(f"{A}1{END}" * 3)) == 3
    with pytest.raises(TooManyMarksError):
        scan_text(f"{A}1{END}" * 4, "markdown")


@pytest.mark.hostile
@pytest.mark.parametrize("form", ["markdown", "html", "latex"])
@pytest.mark.parametrize(
    "piece",
    ["<!--", "`", "<a", "<a x", "](", "http://", "<pre>", "<script>", "\\claim", "\\verb|", "%",
     "\\begin{verbatim}", "\\cite[", "\\cite{x", "\\aref", "cite", "\\newcommand ", "---\n",
     "~~~\n", "```\n", "{", "\\", "- `\n", "|`\n|-|\n", "- - x\n", "\\csdef{claimA}{", "<a `\n\n"],
)  # fmt: skip
def test_a_pathological_text_ends(piece: str, form: Form) -> None:
    """A quarter of a megabyte of each, open to the end: one pass, and no mark found."""
    text = "\\" + piece * (250_000 // len(piece))
    scan = scan_text(text, form)
    assert scan.marks == []
    assert len(scan.running_text()) == len(text)


@given(st.text(alphabet="<!->claim:/ ab`\\{}%$\n~0.5", max_size=120), st.sampled_from(
    ["markdown", "html", "latex"]))  # fmt: skip
def test_any_text_can_be_scanned(text: str, form: Form) -> None:
    """Marks lie in the text, and blanks keep its length."""
    scan = scan_text(text, form)
    if form != "latex":  # there comments are taken out
        assert all(text[one.at : one.at + len(one.content)] == one.content for one in scan.marks)
    assert scan.not_looked_at() <= text.count("claim")
    assert len(scan.running_text()) == len(text)


def test_what_closes_is_looked_for_once() -> None:
    """A thousand openings before one end read the text once, and not a thousand times."""

    reads = []

    class Counted(str):
        __slots__ = ()

        def find(self, *arguments: Any) -> int:
            reads.append(1)
            return super().find(*arguments)

    closers = scans.Closers(Counted("<code>" * 1000 + "</code></code>"))
    ends = [closers.find("</code", 6 * k) for k in range(1001)]
    assert set(ends) == {6000}
    assert closers.find("</code", 6001) == 6007
    assert closers.find("</code", 0) == 6000
    assert [closers.find("</pre", k) for k in range(100)] == [-1] * 100
    assert len(reads) == 4
