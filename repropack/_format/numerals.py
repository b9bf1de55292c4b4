r"""Numbers as articles write them: ``1.19e-7``, ``1.19 \times 10^{-7}``, ``12,500``, ``97.5 %``.

A number here is a decimal with its last digit: ``0.02150`` says more than ``0.0215``. Everything
is read in one pass, whatever the text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

MAX_NUMERAL: Final = 300
"""Characters of a marked value that is read as a number."""

_SPACE: Final = r"(?:[ \t\u00a0\u2007\u2009\u202f~]|\\[,;: !])"
_TIMES: Final = r"(?:\u00d7|\u00b7|\u22c5|&times;|&middot;|\\(?:times|cdot)(?![A-Za-z]))"
_MINUS: Final = r"(?:[-\u2212]|&minus;)"
_POWER: Final = (
    rf"(?:\^\{{?{_SPACE}?(?:\+|{_MINUS})?[0-9]{{1,4}}\}}?"
    rf"|<sup>{_SPACE}?(?:\+|{_MINUS})?[0-9]{{1,4}}</sup>"
    r"|[\u207a\u207b]?[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]{1,4})"
)
_FOUND: Final = re.compile(
    rf"(?<![\w.,^\\#/:@&=-])(?<!\^\{{)(?:\+|{_MINUS})?+"
    r"[0-9]++(?:(?:,|\{,\})[0-9]{3}(?![0-9]))*+(?:\.[0-9]++)?+"
    rf"(?:[eE](?:\+|{_MINUS})?[0-9]{{1,4}}|{_SPACE}{{0,4}}{_TIMES}{_SPACE}{{0,4}}10{_POWER})?+"
    rf"(?:{_SPACE}?\\?%)?+(?![\w]|[.][0-9])"
)
"""A number in running text. Not one that continues a word, a version or an exponent."""

_SUPERSCRIPTS: Final = str.maketrans(
    "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207a\u207b", "0123456789+-"
)
_SUPERSCRIPT: Final = re.compile(r"[\u2070\u00b9\u00b2\u00b3\u2074-\u2079\u207a\u207b]+")
_RAISED: Final = re.compile(r"<sup>([^<>]*)</sup>", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^<>]*>")
_COMMAND: Final = re.compile(
    r"\\(?:num|SI|qty|ensuremath|mathrm|mathbf|textbf|textit|texttt|text|emph|mbox)\*?"
    r"(?:\[[^\[\]]*\])?(?=\s*\{)"
)
_QUANTITY: Final = re.compile(r"\\(?:SI|qty)(?:\[[^\[\]]*\])?\s*\{([^{}]*)\}\s*\{[^{}]*\}")
_DROPPED: Final = re.compile(r"\\[()]|[$`*]|\\left|\\right")
_SPACES: Final = re.compile(rf"{_SPACE}+")
_NUMERAL: Final = re.compile(
    r"(?P<sign>[+-]?) ?(?P<whole>[0-9]{1,3}(?:(?:,|\{,\}|,?\u2009)[0-9]{3})+|[0-9]+)"
    r"(?P<fraction>\.[0-9]+)?"
    r"(?:[eE](?P<e>[+-]?[0-9]{1,4})"
    r"| ?x ?10 ?(?:\^ ?\{? ?(?P<power>[+-]?[0-9]{1,4}) ?\}?|(?P<signed>[+-][0-9]{1,4})))?"
    r" ?(?P<percent>%?)"
)
_PLAIN: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?")
_POWER_ALONE: Final = re.compile(r"10\^\{?([+-]?[0-9]{1,4})\}?")


@dataclass(frozen=True, slots=True)
class FoundNumber:
    """A number in running text: where, as it is written, and what it is."""

    at: int
    text: str
    number: Decimal


def read_numeral(text: str) -> Decimal | None:
    r"""Read a text that is one number, however it is marked up.

    Args:
        text: What stands there, in Markdown, HTML or LaTeX.

    Returns:
        The number with its last digit; ``None`` where the text is none or longer than 300
        characters.

    Example:
        >>> read_numeral(r"$1.19 \\times 10^{-7}$"), read_numeral("\u22121,250.0")
        (Decimal('1.19E-7'), Decimal('-1250.0'))
        >>> read_numeral("**97.5&nbsp;%**"), read_numeral("gradient")
        (Decimal('0.975'), None)
    """
    if len(text) > MAX_NUMERAL:
        return None
    if _PLAIN.fullmatch(text):
        return Decimal(text)
    plain = _plain_numeral(text)
    alone = _POWER_ALONE.fullmatch(plain)
    if alone is not None:
        return Decimal(f"1E{alone[1]}")
    found = _NUMERAL.fullmatch(plain)
    if found is None:
        return None
    digits = re.sub(r"[^0-9]", "", found["whole"])
    power = int(found["e"] or found["power"] or found["signed"] or 0)
    power -= 2 if found["percent"] else 0
    return Decimal(f"{found['sign']}{digits}{found['fraction'] or ''}E{power}")


def plain_text(text: str) -> str:
    r"""Return a text without its markup, for values that are no numbers.

    Example:
        >>> plain_text("**`gradient`**"), plain_text(r"\\texttt{gradient}")
        ('gradient', 'gradient')
    """
    bare = _DROPPED.sub("", _COMMAND.sub("", _TAG.sub("", html.unescape(text[: 4 * MAX_NUMERAL]))))
    return " ".join(re.sub(r"[{}]", "", bare).replace("\\_", "_").split()).strip("_")


def find_numbers(text: str, least_characters: int = 1) -> Iterator[FoundNumber]:
    """Yield the numbers in a text, in one pass.

    Args:
        text: Running text; what is not to be looked at is blanked.
        least_characters: Shorter ones are passed over.

    Yields:
        Numbers of at most 300 characters.

    Example:
        >>> [one.text for one in find_numbers("0.0215 in version 1.2.3, x2 and -4.10e-3.")]
        ['0.0215', '-4.10e-3']
    """
    for found in _FOUND.finditer(text):
        if found.end() - found.start() < least_characters:
            continue
        number = read_numeral(found[0])
        if number is not None:
            yield FoundNumber(found.start(), found[0], number)


def _plain_numeral(text: str) -> str:
    """One spelling for signs, spaces, times and powers; commands and markup are gone."""
    raised = _RAISED.sub(r"^{\1}", text)
    bare = _TAG.sub("", html.unescape(raised))
    bare = _SUPERSCRIPT.sub(lambda found: f"^{found[0].translate(_SUPERSCRIPTS)}", bare)
    bare = bare.replace("{,}", ",").replace("\\%", "%").replace("\u2212", "-")
    bare = re.sub(r"\\(?:times|cdot)(?![A-Za-z])|[\u00d7\u00b7\u22c5]", "x", bare)
    bare = _QUANTITY.sub(r"\1", bare)
    had_command = _COMMAND.search(bare) is not None
    bare = _DROPPED.sub("", _COMMAND.sub("", bare))
    if had_command:
        bare = re.sub(r"(?<!\^)\{([^{}]*)\}", r"\1", bare)
    bare = re.sub(r"(?<=[0-9])(?:\\[,;:]|[\u2009\u202f\u00a0\u2007~])(?=[0-9]{3})", "\u2009", bare)
    return _SPACES.sub(" ", bare.replace("\u2009", "\x00")).replace("\x00", "\u2009").strip()
