r"""The values of claims as files that a write-up takes in: LaTeX, Markdown, CSV.

Each format has its own way of holding other people's text harmless. The bytes follow from the
values alone.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from repropack._format.macros import EXACT_PREFIX, VALUE_PREFIX
from repropack._format.numerals import read_numeral
from repropack._present.escape import escape_text
from repropack._present.markdown import code_span, escape_markdown
from repropack.models.claims import ClaimValue
from repropack.models.proofreading import Values

_MAX = 1000
_TEX = MappingProxyType(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
    }
)
_TEX_SPECIAL = re.compile(r"[\\{}$&#%_^~]")
_COLUMNS = ("id", "kind", "held", "text", "exact", "expected", "sentence", "macro")
_FIRST = "Values of the claims of "
_BEGINS = MappingProxyType(
    {
        "tex": f"% {_FIRST}".encode(),
        "md": f"<!-- {_FIRST}".encode(),
        "csv": f"{','.join(_COLUMNS)}\r\n".encode(),
    }
)
_FORMULA = re.compile(r"^[=@+\t\r\uff1d\uff20\uff0b\uff0d-]")
"""What begins a formula in a spreadsheet, in full width too."""


def tex_values(values: Values) -> bytes:
    r"""Return LaTeX that defines a macro for each value, and ``\claim`` for marks.

    Args:
        values: Those of a package.

    Returns:
        UTF-8; ``\claimFinalLoss`` prints the value of ``final-loss`` as it is rounded,
        ``\exactFinalLoss`` prints it in full.

    Determinism:
        The bytes depend on the values alone.
    """
    lines = [
        *(f"% {line}" for line in _head(values)),
        r"% \claim{ID}{VALUE} marks a value that is written out, for `repropack proofread`.",
        r"\providecommand{\claim}[2]{#2}",
    ]
    for row in values.values:
        name = row.macro.removeprefix(VALUE_PREFIX)
        failing = "" if row.held else "; DOES NOT HOLD"
        lines += [
            f"\\newcommand{{\\{row.macro}}}{{{escape_tex(row.text)}}}% {row.id}{failing}",
            f"\\newcommand{{\\{EXACT_PREFIX}{name}}}{{{escape_tex(row.exact)}}}% {row.id}, in full",
        ]
    return _encoded(lines)


def markdown_values(values: Values) -> bytes:
    """Return a table in Markdown, in whose second column each value stands marked.

    Markdown has no macros that all tools know (reference definitions make links, not text), so
    that values are copied; copied with its marks, a value is held against its claim from then on.

    Args:
        values: Those of a package.

    Returns:
        UTF-8; a table as GitHub, Pandoc, MyST and Jupyter read it.

    Determinism:
        The bytes depend on the values alone.
    """
    lines = [
        f"<!-- {' '.join(_head(values))} -->",
        "",
        "| claim | value | in full | holds |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {code_span(row.id)} "
        f"| <!-- claim: {row.id} -->{_cell(row.text, row.value)}<!-- /claim --> "
        f"| {_cell(row.exact, row.value)} | {'yes' if row.held else '**no**'} |"
        for row in values.values
    ]
    return _encoded(lines)


def csv_values(values: Values) -> bytes:
    """Return a table of comma-separated values, as RFC 4180 has it.

    Args:
        values: Those of a package.

    Returns:
        UTF-8, lines ended by CR LF; a text that a spreadsheet would take for a formula begins
        with ``'``.

    Determinism:
        The bytes depend on the values alone.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(_COLUMNS)
    for row in values.values:
        writer.writerow(_csv_cell(getattr(row, column)) for column in _COLUMNS)
    return text.getvalue().encode("utf-8")


WRITERS: Mapping[str, Callable[[Values], bytes]] = MappingProxyType(
    {"tex": tex_values, "md": markdown_values, "csv": csv_values}
)
"""What writes values, by the name of the format."""


def are_values(data: bytes, form: str) -> bool:
    """Whether a file holds values as one of the writers here writes them.

    Args:
        data: The file, or its first 4096 bytes.
        form: The name of the format.

    Returns:
        True where it begins as those files do.
    """
    return data.startswith(_BEGINS[form])


def escape_tex(text: str) -> str:
    r"""Return a text that LaTeX prints character by character.

    Example:
        >>> print(escape_tex("97.5% of a_b"))
        97.5\% of a\_b
    """
    return _TEX_SPECIAL.sub(lambda found: _TEX[found[0]], escape_text(text, _MAX))


def _head(values: Values) -> list[str]:
    package = values.package
    named = f"{escape_text(package.name)} {escape_text(package.version)}"
    return [
        f"{_FIRST}{named}, evidence digest {values.evidence_digest}.",
        "Made by `repropack values`: do not edit.",
    ]


def shown_value(text: str) -> str:
    """Return a value as the files here show it: one line of printable characters.

    Args:
        text: The value as a text.

    Returns:
        The text, escaped, and cut where it is very long.
    """
    return escape_text(text, _MAX)


def _cell(text: str, value: ClaimValue) -> str:
    """A text in a cell of a table; a number stays as it is, and no comment begins or ends."""
    if not isinstance(value, str) and read_numeral(text) is not None:
        return text
    escaped = escape_markdown(text, _MAX).replace("|", "\\|")
    return escaped.replace("\\<", "&lt;").replace("\\>", "&gt;")


def _csv_cell(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else escape_text(str(value), _MAX)
    risky = _FORMULA.match(text) is not None and read_numeral(text) is None
    return f"'{text}" if risky else text


def _encoded(lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode("utf-8")
