"""A page without any script: its style, its policy, and what is in it."""

from __future__ import annotations

from repropack._format.page_head import page_head
from repropack._present.html import Content, element, lines, style_block
from repropack._present.page_assets import page_style, policy_digest
from repropack._version import __version__


def still_page(title: str, body: Content, *, more_style: str = "") -> bytes:
    """A whole page that runs nothing and fetches nothing.

    Args:
        title: Its title, by whomever.
        body: What is in it.
        more_style: Our own style sheet beside that of all pages.

    Returns:
        HTML, UTF-8. Its policy allows this style and pictures that lie in the page itself.

    Determinism:
        The bytes depend on the arguments and on this version of repropack alone.
    """
    style = page_style() + more_style
    policy = "; ".join(
        (
            "default-src 'none'",
            f"style-src '{policy_digest(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    head = lines(
        [
            element("meta", http_equiv="Content-Security-Policy", content=policy),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="referrer", content="no-referrer"),
            element("title", title),
            style_block(style),
        ]
    )
    rest = f"{head.html}</head>\n<body>\n{lines([body]).html}</body>\n</html>\n"
    return page_head(__version__) + rest.encode("utf-8")
