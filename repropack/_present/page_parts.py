"""What the sections of a page are made of: sections, facts, tables, words that are explained."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from repropack._format.canonical import encode_canonical
from repropack._present.html import Content, Markup, element, join, lines, prose
from repropack._present.page_words import WORDS


def section(identifier: str, title: Content, *content: Content) -> Markup:
    """A section of the page, named by its heading.

    Args:
        identifier: Its id, to which the page's own links lead.
        title: Its heading.
        content: What is below it.

    Returns:
        The section.
    """
    heading = element("h2", title, id=f"{identifier}-title")
    return element(
        "section",
        "\n",
        lines([heading, *content]),
        id=identifier,
        aria_labelledby=heading_id(identifier),
    )


def heading_id(identifier: str) -> str:
    """Id of a section's heading."""
    return f"{identifier}-title"


def term(word: str, shown: str | None = None) -> Markup:
    """A word that the page explains, with its meaning beside it for whoever points at it.

    Args:
        word: A key of ``WORDS``.
        shown: How it is written here; as it stands where ``None``.

    Returns:
        A link to the word's row in the list of words, and what is shown on hover and focus.
    """
    link = element("a", shown or word, href=f"#{word_id(word)}", aria_describedby=word_id(word))
    tip = element("span", prose(WORDS[word]), class_="tip", aria_hidden="true")
    return element("span", link, tip, class_="term")


def word_id(word: str) -> str:
    """Id of a word's meaning in the list of words."""
    return f"word-{word.replace(' ', '-')}"


def words() -> Markup:
    """The list of words."""
    rows = [
        (element("dt", word), element("dd", prose(meaning), id=word_id(word)))
        for word, meaning in WORDS.items()
    ]
    return section("words", "Words", element("dl", rows, class_="words"))


def facts(rows: Iterable[tuple[Content, Content]]) -> Markup:
    """Labels and what belongs to them; a row whose value is ``None`` is left out."""
    return element(
        "dl",
        "\n",
        lines(
            element("div", element("dt", label), element("dd", value))
            for label, value in rows
            if value is not None
        ),
        class_="facts",
    )


def table(
    caption: Content,
    header: Sequence[Content],
    rows: Iterable[Sequence[Content]],
    *,
    right: Collection[int] = (),
    class_: str | None = None,
    identifier: str | None = None,
    plain: bool = False,
) -> Markup:
    """A table that scrolls sideways by itself where it is wider than the screen.

    Args:
        caption: What it shows, for people who hear it.
        header: A heading for each column.
        rows: As many cells a row; the first is the row's heading.
        right: Columns that are aligned to the right.
        class_: Its class.
        identifier: Its id.
        plain: Whether rows have no heading of their own.

    Returns:
        The table in its frame.
    """

    def cell(name: str, content: Content, column: int, **attributes: str) -> Markup:
        number = "number" if column in right else None
        return element(name, content, class_=number, **attributes)

    head = element("tr", (cell("th", text, k, scope="col") for k, text in enumerate(header)))
    body = lines(
        element(
            "tr",
            (
                cell("td", text, k) if k or plain else cell("th", text, k, scope="row")
                for k, text in enumerate(row)
            ),
        )
        for row in rows
    )
    whole = element(
        "table",
        element("caption", caption),
        element("thead", head),
        "\n",
        element("tbody", "\n", body),
        class_=class_,
        id=identifier,
    )
    return element(
        "div", whole, class_="scroll", tabindex=0, role="region", aria_label=caption_text(caption)
    )


def caption_text(caption: Content) -> str:
    """A caption as the name of its frame."""
    return caption if isinstance(caption, str) else "table"


def details(
    summary: Content, *content: Content, open_: bool = False, class_: str | None = None
) -> Markup:
    """Something that is opened by those who want it."""
    return element(
        "details", element("summary", summary), "\n", lines(content), open=open_, class_=class_
    )


def code(text: Content) -> Markup:
    """Something of a program."""
    return element("code", text)


def digest(value: str) -> Markup:
    """A digest in full, which may be broken anywhere."""
    return element("code", value, class_="digest")


def codes(names: Iterable[str]) -> Markup:
    """Names in a row."""
    parts: list[Content] = []
    for name in names:
        parts += [", "] if parts else []
        parts.append(code(name))
    return join(parts)


def items(rows: Iterable[Content], class_: str | None = None) -> Markup:
    """A list."""
    return element("ul", "\n", lines(element("li", row) for row in rows), class_=class_)


def paragraph(*content: Content, class_: str | None = None) -> Markup:
    """A paragraph."""
    return element("p", *content, class_=class_)


def capital(words: str) -> str:
    """Words as a sentence begins."""
    return words[:1].upper() + words[1:]


def config_text(value: object) -> str:
    """A value of a configuration as JSON, in full; encoded numbers as what they stand for."""
    if isinstance(value, dict) and len(value) == 1 and next(iter(value)).startswith("$"):
        return str(next(iter(value.values())))
    return encode_canonical(value).decode("utf-8").rstrip("\n")
