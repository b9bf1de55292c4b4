"""Blocks of Markdown: where fenced code and HTML stand, and what no code span crosses."""

from __future__ import annotations

import pytest

from repropack._format.markdown_blocks import read_blocks


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a\n```\nb\n```\nc", ["```\nb\n```"]),
        ("   ~~~~ x`y\nb\n~~~\n~~~~~ \nc", ["   ~~~~ x`y\nb\n~~~\n~~~~~ "]),
        ("    ```\nb", []),
        ("```\nb", ["```\nb"]),
        ("- ```\n  b\n\n  c\n  ```\nd", ["- ```\n  b\n\n  c\n  ```"]),
        ("- a\n  ```\n  b\nc", ["  ```\n  b\n"]),
        ("> ```\n> b\n```\nc", ["> ```\n> b\n", "```\nc"]),
        ("> - ```\n>   b\n> c", ["> - ```\n>   b\n"]),
        ("> - ```\n>   b\n>\n>   ```\nc", ["> - ```\n>   b\n>\n>   ```"]),
        ("- " * 40 + "```\nb", []),
        ("10. a\n\n    ```\n    b\n    ```", ["    ```\n    b\n    ```"]),
        ("<pre>\n```\n\n```\n</pre>\n```\nb", ["```\nb"]),
        ("<!--\n```\n-->\n```\nb", ["```\nb"]),
        ("<div>\n```\n\n```\nb", ["```\nb"]),
        ("a\n<i>\n```\nb", ["```\nb"]),
        ("a <!--\n```\nb", ["```\nb"]),
    ],
)
def test_fenced_code(text: str, code: list[str]) -> None:
    """It ends at its fence, or with what it stands in."""
    assert [text[start:stop] for start, stop in read_blocks(text).code] == code


@pytest.mark.parametrize(
    ("text", "crosses"),
    [
        ("a X\nb Y", False),
        ("a X\n    b Y", False),
        ("> a X\nb Y", False),
        ("> a X\n> b Y", False),
        ("- a X\nb Y", False),
        ("a X\n2. b Y", False),
        ("a X\n-\nb Y", True),
        ("a X\n\nb Y", True),
        ("a X\n1. b Y", True),
        ("- a X\n- b Y", True),
        ("2. a X\n3. b Y", True),
        ("a X\n> b Y", True),
        ("> a X\n\nb Y", True),
        ("# a X\nb Y", True),
        ("a X\n---\nb Y", True),
        ("a X\n* * *\nb Y", True),
        ("a X\n<p>b Y", True),
        ("a X | Y", False),
        ("a X | Y\n-|-", True),
        ("a X \\| Y | c\n-|-", False),
        ("a | b\n-|-\nX | Y", True),
        ("a | b\n-|-\nX | b\nY | d", True),
    ],
)
def test_what_no_code_span_crosses(text: str, crosses: bool) -> None:
    """Blocks and cells; a paragraph goes on without its quote."""
    assert read_blocks(text).crosses(text.index("X"), text.index("Y")) is crosses
