"""Authors' text inside Markdown: shown as it was written, never read as markup."""

from __future__ import annotations

import re

from repropack._present.escape import escape_text

_MARKUP = re.compile(
    r"[\\`*\[\]<>~$]|&(?=#?[A-Za-z0-9]{1,40};)|^#|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"
)
_OPENS_A_BLOCK = re.compile(r"^(?:[-+](?=[ +-]|$)|=(?=[ =]|$)|[0-9]{1,9}(?=[.)](?: |$)))")
"""A list, a rule or a line under a heading, where the text begins a line: 4.567 is none of them."""


def escape_markdown(text: str, max_characters: int = 500) -> str:
    r"""Return ``text`` as one line that Markdown shows character by character.

    Args:
        text: Any text.
        max_characters: Length at which it is cut.

    Returns:
        The text, escaped for a terminal first and for Markdown after that.

    Example:
        >>> print(escape_markdown("a *bold* <b>title</b>, learning_rate"))
        a \*bold\* \<b\>title\</b\>, learning_rate
        >>> escape_markdown("4.567"), print(escape_markdown("4. a list"))
        4\. a list
        ('4.567', None)
    """
    escaped = _MARKUP.sub(lambda match: f"\\{match.group()}", escape_text(text, max_characters))
    opening = _OPENS_A_BLOCK.match(escaped)
    if opening is None:
        return escaped
    if opening.group().isdigit():
        return f"{opening.group()}\\{escaped[opening.end() :]}"
    return f"\\{escaped}"


def code_span(text: str, max_characters: int = 240) -> str:
    """Return ``text`` as a code span, whatever backticks it holds.

    Args:
        text: Any text.
        max_characters: Length at which it is cut.

    Returns:
        The span; a text that is empty or begins or ends with a backtick is padded with spaces.

    Example:
        >>> code_span("a`b")
        '``a`b``'
    """
    escaped = escape_text(text, max_characters)
    longest = max((len(run) for run in re.findall("`+", escaped)), default=0)
    fence = "`" * (longest + 1)
    padding = " " if not escaped or escaped[0] == "`" or escaped[-1] == "`" else ""
    return f"{fence}{padding}{escaped}{padding}{fence}"
