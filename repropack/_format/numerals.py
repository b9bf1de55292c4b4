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
_TAG: Final = re.compile(r"<(/?[A-Za-z][^<>]*)>")
_EDGE_TAG: Final = re.compile(r"\A\x01([^\x01\x02]*)\x02|\x01([^\x01\x02]*)\x02\Z")
_NO_NUMBER: Final = re.compile(
    r"/?(?:del|s|strike|sup|sub|script|style|template|textarea|title|img|input|select|option"
    r"|object|svg|canvas|iframe|audio|video|head|noscript)(?![A-Za-z0-9-])"
    r"|.*(?:line-through|display\s*:\s*none|\shidden(?![A-Za-z0-9-]))",
    re.IGNORECASE | re.DOTALL,
)
"""Tags whose content is struck out, not shown, raised or lowered."""
_COMMAND: Final = re.compile(
    r"\\(?:num|ensuremath|mathrm|mathbf|textbf|textit|texttt|text|emph|mbox)\*?"
    r"(?:\[[^\[\]]*\])?\s*(?=\{)"
)
_QUANTITY: Final = re.compile(r"\\(?:SI|qty)(?:\[[^\[\]]*\])?\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_PERCENT: Final = re.compile(r"\\percent|\\?%")
_NOT_ONE: Final = re.compile(r"[%\u2030]|\\percent|\\(?:per)?mille?(?![a-z])")
_PAIR: Final = re.compile(
    r"(?:\*{1,3}([^*]+)\*{1,3}|_{1,3}([^_]+)_{1,3}|`+([^`]+)`+"
    r"|\$\$([^$]+)\$\$|\$([^$]+)\$|\\\(((?:(?!\\[()]).)+)\\\)|\\\[((?:(?!\\[\[\]]).)+)\\\])",
    re.DOTALL,
)
_SIGN_APART: Final = re.compile(r"[+-](?=[\\$`*_{\x01])")
_MAX_DEPTH: Final = 20
"""Markup around a number."""
_EDGE_SPACES: Final = re.compile(rf"\A(?:{_SPACE}|\s)+|(?:{_SPACE}|\s)+\Z")
_SPACES: Final = re.compile(rf"{_SPACE}+")
_NUMERAL: Final = re.compile(
    r"(?P<sign>[+-]?) ?(?P<whole>[0-9]{1,3}(?:(?:,|\{,\}|,?\u2009)[0-9]{3})+|[0-9]+)"
    r"(?P<fraction>\.[0-9]+)?"
    r"(?:[eE](?P<e>[+-]?[0-9]{1,4})"
    r"| ?x ?10 ?(?:\^ ?\{? ?(?P<power>[+-]?[0-9]{1,4}) ?[}^]?"
    r"|(?P<signed>[+-][0-9]{1,4})))?"
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
        >>> read_numeral("**97.5&nbsp;%**"), read_numeral("gradient"), read_numeral("1<br>5")
        (Decimal('0.975'), None, None)
    """
    if len(text) > MAX_NUMERAL:
        return None
    if _PLAIN.fullmatch(text):
        return Decimal(text)
    bare = _bare(text)
    if bare is None:
        return None
    sign, plain, power = bare
    alone = _POWER_ALONE.fullmatch(plain)
    if alone is not None:
        return Decimal(f"{sign}1E{int(alone[1]) + power}")
    found = _NUMERAL.fullmatch(plain)
    if found is None or (sign and found["sign"]):
        return None
    digits = re.sub(r"[^0-9]", "", found["whole"])
    power += int(found["e"] or found["power"] or found["signed"] or 0)
    return Decimal(f"{sign}{found['sign']}{digits}{found['fraction'] or ''}E{power}")


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


def _bare(text: str) -> tuple[str, str, int] | None:
    """A sign, what stands within all markup, and a power of ten; ``None`` where nothing counts."""
    if "\x01" in text or "\x02" in text:
        return None
    sign, power, text = "", 0, _one_spelling(text)
    for _ in range(_MAX_DEPTH):
        text = _trimmed(text)
        if _is_no_number(text):
            return None
        within, share, apart = _within(text), _share(text), _SIGN_APART.match(text)
        if within is not None:
            text = within
        elif share is not None and not (share[1] and power):
            text, power = share[0], power + share[1]
        elif apart is not None and not sign:
            sign, text = apart[0], text[1:]
        else:
            break
    bare = _SPACES.sub(" ", text.replace("\u2009", "\x00")).replace("\x00", "\u2009")
    return sign, bare.strip(), power


def _one_spelling(text: str) -> str:
    """One spelling for signs, times, powers and spaces within; tags stand apart from signs."""
    tagged = _TAG.sub("\x01\\1\x02", _RAISED.sub(r"^{\1}", text))
    bare = html.unescape(tagged)
    bare = _SUPERSCRIPT.sub(lambda found: f"^{found[0].translate(_SUPERSCRIPTS)}", bare)
    bare = bare.replace("{,}", ",").replace("\u2212", "-")
    bare = re.sub(r"\\(?:times|cdot)(?![A-Za-z])|[\u00d7\u00b7\u22c5]", "x", bare)
    return re.sub(r"(?<=[0-9])(?:\\[,;:]|[\u2009\u202f\u00a0\u2007~])(?=[0-9]{3})", "\u2009", bare)


def _trimmed(text: str) -> str:
    """A text without spaces at its ends; tildes that strike something out stay."""
    text = text.strip()
    edge = text[:1] == "~" or text[-1:] == "~"
    return text if edge and text.count("~") > 1 else _EDGE_SPACES.sub("", text)


def _is_no_number(text: str) -> bool:
    """Whether something is struck out, not shown, raised or lowered."""
    tag = _EDGE_TAG.search(text)
    hidden = tag is not None and _NO_NUMBER.match(tag[1] or tag[2] or "")
    return bool(hidden) or "~~" in text or text[:1] == "~" or text[-1:] == "~"


def _share(text: str) -> tuple[str, int] | None:
    """A quantity without its unit, or a number of per cent; and the power of ten of it."""
    quantity = _QUANTITY.fullmatch(text)
    if quantity is not None:
        if _PERCENT.fullmatch(quantity[2].strip()):
            return quantity[1], -2
        return None if _NOT_ONE.search(quantity[2]) else (quantity[1], 0)
    return (text[:-1].removesuffix("\\"), -2) if text.endswith("%") else None


def _within(text: str) -> str | None:
    """What stands within the markup around all of a text, or behind or before a tag."""
    tag = _EDGE_TAG.search(text)
    if tag is not None:
        return text[: tag.start()] + text[tag.end() :]
    pair = _PAIR.fullmatch(text)
    if pair is not None:
        return pair[pair.lastindex or 0]
    command = _COMMAND.match(text)
    start = command.end() if command is not None else 0
    if text[start : start + 1] != "{" or text[-1] != "}":
        return None
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] == "{") - (text[place] == "}")
        if not depth:
            return text[start + 1 : place] if place == len(text) - 1 else None
    return None
