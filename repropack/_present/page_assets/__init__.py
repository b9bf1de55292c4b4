"""The style sheets and scripts of the page, as they stand in it: read here, and nowhere else.

They are concatenated into one style and one script, so that a page's content policy can name them
by digest. They are ours; nothing of a package is ever among them.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path

STYLES = ("page.css", "panel.css")
SCRIPTS = (
    "bytes.js",
    "canonical.js",
    "paths.js",
    "zip_layout.js",
    "zip.js",
    "npz.js",
    "log.js",
    "manifest.js",
    "printed.js",
    "runs.js",
    "check.js",
    "diverge.js",
    "pcg64.js",
    "lab.js",
    "replay.js",
    "words.js",
    "comparing.js",
    "panel.js",
    "page.js",
)
"""In the order in which they stand in the page; ``page.js`` starts what the others define."""

_FOLDER = Path(__file__).parent


@cache
def page_style() -> str:
    """All style sheets, one after the other."""
    return _joined(STYLES)


@cache
def page_script() -> str:
    """All scripts, one after the other."""
    return _joined(SCRIPTS)


def policy_digest(content: str) -> str:
    """The digest by which a content policy allows an element: ``sha256-<base64>``.

    Args:
        content: The element's content.

    Returns:
        The digest, without the quotes that a policy has around it.
    """
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def _joined(names: tuple[str, ...]) -> str:
    return "\n".join((_FOLDER / name).read_text("utf-8") for name in names)
