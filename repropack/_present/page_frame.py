"""The frame of a page: its head with the content policy, its one style and its one script."""

from __future__ import annotations

from repropack._format.page_head import page_head
from repropack._present.html import Content, element, json_block, lines, script_block, style_block
from repropack._present.page_assets import page_script, page_style, policy_digest
from repropack._version import __version__


def page_frame(title: str, body: Content, data: object, *, version: str = __version__) -> bytes:
    """A whole page.

    Args:
        title: Its title, by whomever.
        body: What is in it.
        data: What its script is given.
        version: The version that made it, which its first lines name.

    Returns:
        HTML, UTF-8; it needs no other file and no network, and runs no other script than ours.

    Determinism:
        The bytes depend on the arguments and on this version of repropack alone.
    """
    style, script = page_style(), page_script()
    head = lines(
        [
            element("meta", http_equiv="Content-Security-Policy", content=policy(style, script)),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="referrer", content="no-referrer"),
            element("title", title),
            style_block(style),
        ]
    )
    after = lines([json_block("package-data", data), script_block(script)])
    rest = f"{head.html}</head>\n<body>\n{lines([body]).html}{after.html}</body>\n</html>\n"
    return page_head(version) + rest.encode("utf-8")


def policy(style: str, script: str) -> str:
    """The content policy: nothing is fetched, and nothing runs but this style and this script."""
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src '{policy_digest(style)}'",
            f"script-src '{policy_digest(script)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
