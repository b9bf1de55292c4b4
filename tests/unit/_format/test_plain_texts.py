"""Texts as articles write them, letter for letter."""

from __future__ import annotations

import pytest

from repropack._format.plain_texts import plain_text
from repropack._format.scans import Form


@pytest.mark.parametrize(
    ("text", "form", "plain"),
    [
        ("**`gradient`**", "markdown", "gradient"),
        ("two *words* **of *three***", "markdown", "two words of three"),
        ("__a_b__", "markdown", "a_b"),
        (r"a\*b \_x\_ x\|y", "markdown", "a*b _x_ x|y"),
        ("`` a`b ``", "markdown", "a`b"),
        ("`a\\*b` ` alone", "markdown", "a\\*b ` alone"),
        ("&lt;=0.5 &#65; &lt &nope;", "markdown", "<=0.5 A &lt &nope;"),
        (r"\&lt;", "markdown", "&lt;"),
        ("<code>weights</code>", "html", "weights"),
        ("a<br>b", "html", "a b"),
        ("<i>a</i>&lt;b", "html", "a<b"),
        ("two\n  words", "markdown", "two words"),
        (r"\texttt{final\_loss}", "latex", "final_loss"),
        (r"5\$ a~b \textbackslash{}x\{\} \textasciicircum{}\textless b", "latex",
         r"5$ a b \x{} ^<b"),
        (r"\verb|a_b\$|", "latex", r"a_b\$"),
        ("$x$", "latex", "x"),
    ],
)  # fmt: skip
def test_a_text_without_its_markup(text: str, form: Form, plain: str) -> None:
    """What a reader sees, in one line."""
    assert plain_text(text, form) == plain


@pytest.mark.parametrize(
    "text", ["~~a~~", "~a~", "a ~~b~~", "<del>a</del>", "x<sub>2</sub>", "\U000f0041"]
)
def test_what_is_struck_out_is_no_text(text: str) -> None:
    """Nor what is raised or lowered, nor a character of no script."""
    assert plain_text(text, "markdown") is None
