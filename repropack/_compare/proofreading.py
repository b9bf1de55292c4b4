"""An article held against the values of claims: what is marked, and what might have been.

A marked number agrees where it is the claim's value as it is printed, in full, or the limit of a
bound: the same number with the same last digit, however it is written.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any, Final

from repropack._compare.claim_values import exact_form
from repropack._format.expressions import advice
from repropack._format.macros import EXACT_PREFIX, VALUE_PREFIX, macro_name
from repropack._format.numerals import FoundNumber, find_numbers, read_numeral
from repropack._format.plain_texts import one_space, plain_text
from repropack._format.scans import BadMark, Lines, MacroDefinition, MacroUse, Mark, Scan
from repropack._format.values import decode_value
from repropack.models.claims import ClaimOutcome
from repropack.models.proofreading import (
    ArticlePlace,
    FindingKind,
    HintKind,
    ProofreadFinding,
    ProofreadHint,
)

MAX_FINDINGS: Final = 1000
MAX_HINTS: Final = 200
MAX_ADVICE: Final = 20
"""Unknown names that are compared with all known ones: to compare takes its time."""
LEAST_DIGITS: Final = 3
"""Significant digits of a number that is worth a hint."""
_NEAR: Final = Decimal("0.01")
_YEARS: Final = frozenset(range(1900, 2100))
_SHOWN: Final = 120
_EXACTLY: Final = Context(prec=800, rounding=ROUND_HALF_EVEN)


@dataclass(frozen=True)
class Piece:
    """A text that was scanned: the article, or a cell of it."""

    scan: Scan
    cell: int | None = None


@dataclass
class Proofreading:
    """What was found so far."""

    marks: int = 0
    marks_in_code: int = 0
    findings: list[ProofreadFinding] = field(default_factory=list)
    findings_left_out: int = 0
    hints: list[ProofreadHint] = field(default_factory=list)
    hints_left_out: int = 0
    used: set[str] = field(default_factory=set)


def proofread(
    pieces: Iterable[Piece], claims: Sequence[ClaimOutcome], shown: Callable[[str], str] = str
) -> Proofreading:
    """Hold the pieces of an article against claims.

    Args:
        pieces: What was scanned, in order.
        claims: The claims of a package.
        shown: How ``values`` shows a text that has characters which are not printed.

    Returns:
        Findings and hints in the order of their places.
    """
    found = Proofreading()
    known = _Known(claims, shown)
    for piece in pieces:
        _Reader(piece, known, found).read()
    return found


class _Known:
    """Claims by id and by macro, and their numbers in order of size."""

    def __init__(self, claims: Sequence[ClaimOutcome], shown: Callable[[str], str]) -> None:
        self.shown = shown
        self.claims: Mapping[str, ClaimOutcome] = {claim.id: claim for claim in claims}
        self.macros = {
            f"{prefix}{macro_name(claim.id)}": claim
            for prefix in (VALUE_PREFIX, EXACT_PREFIX)
            for claim in claims
        }
        self._advice: dict[str, str] = {}
        numbers = [(number, claim) for claim in claims if (number := _number_of(claim)) is not None]
        self._sorted = sorted(numbers, key=lambda pair: abs(pair[0]))
        self._sizes = [abs(number) for number, _ in self._sorted]
        self._whole: dict[Decimal, ClaimOutcome] = {}
        for number, claim in numbers:
            self._whole.setdefault(number, claim)

    def advice(self, name: str, known: Iterable[str]) -> str:
        """What was meant by a name that is not known, for the first few such names."""
        if name not in self._advice and len(self._advice) < MAX_ADVICE:
            self._advice[name] = advice(name, list(known))
        return self._advice.get(name, "")

    def like(self, number: Decimal) -> tuple[HintKind, ClaimOutcome] | None:
        """The claim whose value a number is nearly; one that prints the same before others."""
        if number == number.to_integral_value():
            same = self._whole.get(number)
            return None if same is None else ("same", same)
        place = bisect_left(self._sizes, abs(number))
        around = self._sorted[max(0, place - 4) : place + 4]
        for value, claim in around:
            if _prints_like(number, value):
                return "same", claim
        for value, claim in sorted(around, key=lambda pair: abs(pair[0] - number)):
            if abs(number - value) <= _NEAR * abs(value):
                return "near", claim
        return None


class _Reader:
    """Reads one piece."""

    def __init__(self, piece: Piece, known: _Known, found: Proofreading) -> None:
        self._piece = piece
        self._known = known
        self._found = found
        self._lines = Lines(piece.scan.text)

    def read(self) -> None:
        """Look at the marks in order, then at the numbers without one."""
        scan = self._piece.scan
        marks: list[Mark | MacroUse | MacroDefinition | BadMark] = [
            *scan.marks, *scan.uses, *scan.bad,
            *(one for one in scan.definitions if one.name in self._known.macros),
        ]  # fmt: skip
        self._found.marks_in_code += scan.not_looked_at()
        for one in sorted(marks, key=lambda mark: mark.at):
            self._found.marks += 1
            if isinstance(one, Mark):
                self._mark(one)
            elif isinstance(one, MacroUse):
                self._macro(one)
            elif isinstance(one, MacroDefinition):
                self._definition(one)
            else:
                self._report("malformed-mark", one.at, one.claim, one.expected, one.observed)
        for number in find_numbers(scan.running_text(), LEAST_DIGITS):
            self._hint(number)

    def _mark(self, mark: Mark) -> None:
        claim = self._known.claims.get(mark.claim)
        if claim is None:
            observed = f"none of this id{self._known.advice(mark.claim, self._known.claims)}"
            self._report("unknown-claim", mark.at, mark.claim, "a claim of the package", observed)
            return
        self._found.used.add(claim.id)
        if not claim.held:
            self._not_held(mark.at, claim)
        if not self._agrees(mark.content, claim) and not self._is_stated(mark.content, claim):
            observed = one_space(mark.content) or "nothing"
            self._report("disagrees", mark.at, claim.id, _expected(claim), observed)

    def _macro(self, use: MacroUse) -> None:
        claim = self._known.macros.get(use.name)
        if claim is None:
            told = self._known.advice(use.name, self._known.macros)
            expected, observed = "a macro that `values` makes", f"none of this name{told}"
            self._report("unknown-claim", use.at, f"\\{use.name}", expected, observed)
            return
        self._found.used.add(claim.id)
        if not claim.held:
            self._not_held(use.at, claim)

    def _definition(self, definition: MacroDefinition) -> None:
        """An article that defines a macro of ``values`` itself has to define it as they do."""
        claim, content = self._known.macros[definition.name], definition.content
        if content is None:
            expected = "a macro of `values` as `values` defines it"
            self._report("malformed-mark", definition.at, claim.id, expected, definition.observed)
        elif not self._agrees(content, claim):
            observed = f"\\{definition.name} defined as {one_space(content) or 'nothing'}"
            self._report("disagrees", definition.at, claim.id, _expected(claim), observed)

    def _not_held(self, at: int, claim: ClaimOutcome) -> None:
        observed = f"{claim.text} in the package"
        self._report("does-not-hold", at, claim.id, claim.expected, observed)

    def _agrees(self, content: str, claim: ClaimOutcome) -> bool:
        """Whether what is marked is the value as it is printed, in full, or a bound's limit."""
        # a bound of something that is true or false marks words
        if claim.kind == "bound" and isinstance(claim.value, bool):
            return claim.held
        limit = None if claim.limit is None else exact_form(claim.limit)
        forms = (claim.text, exact_form(claim.value), limit)
        if isinstance(claim.value, str):
            return any(self._is_text(content, form) for form in forms if form is not None)
        written = read_numeral(content)
        for form in forms:
            if form is None:
                continue
            number = read_numeral(form)
            if number is None:
                if self._is_text(content, form):
                    return True
            elif written is not None and _is_same(written, number):
                return True
        return False

    def _is_stated(self, content: str, claim: ClaimOutcome) -> bool:
        """Whether what is marked is what a claim states that does not hold: that is told."""
        if claim.held:
            return False
        if isinstance(claim.value, str):
            return self._is_text(content, claim.expected)
        number, written = read_numeral(claim.expected), read_numeral(content)
        if number is None or written is None:  # what is true or false marks words
            return isinstance(claim.value, bool) or self._is_text(content, claim.expected)
        return _is_same(written, number)

    def _is_text(self, content: str, text: str) -> bool:
        """Whether a reader sees a text letter for letter, or it stands there so."""
        seen = {one_space(content), plain_text(content, self._piece.scan.form)}
        return one_space(text) in seen or one_space(self._known.shown(text)) in seen

    def _hint(self, number: FoundNumber) -> None:
        value = number.number
        if _digits(value) < LEAST_DIGITS or value in _YEARS:
            return
        like = self._known.like(value)
        if like is None:
            return
        if len(self._found.hints) >= MAX_HINTS:
            self._found.hints_left_out += 1
            return
        kind, claim = like
        self._found.hints.append(
            ProofreadHint(
                kind=kind,
                place=self._place(number.at),
                claim=claim.id,
                expected=claim.text,
                observed=number.text[:_SHOWN],
            )
        )

    def _report(self, kind: FindingKind, at: int, claim: str, expected: str, observed: str) -> None:
        if len(self._found.findings) >= MAX_FINDINGS:
            self._found.findings_left_out += 1
            return
        self._found.findings.append(
            ProofreadFinding(
                kind=kind,
                place=self._place(at),
                claim=claim[:_SHOWN],
                expected=expected,
                observed=observed[:_SHOWN],
            )
        )

    def _place(self, at: int) -> ArticlePlace:
        line, column = self._lines.place(at)
        return ArticlePlace(line=line, column=column, cell=self._piece.cell)


def _expected(claim: ClaimOutcome) -> str:
    """What a mark may say: the value, or the limit of a bound."""
    limit = None if claim.limit is None else exact_form(claim.limit)
    return claim.text if limit in {None, claim.text} else f"{claim.text}, or the limit {limit}"


def _is_same(left: Decimal, right: Decimal) -> bool:
    """Equal to the last digit that is written, so that 0.0215 is not 0.02150."""
    return left == right and left.as_tuple().exponent == right.as_tuple().exponent


def _number_of(claim: ClaimOutcome) -> Decimal | None:
    """The exact value of a claim that is a finite number."""
    if isinstance(claim.value, bool | str):
        return None
    value: Any = decode_value(claim.id, claim.value)
    return Decimal(value) if isinstance(value, int) or math.isfinite(value) else None


def _prints_like(number: Decimal, value: Decimal) -> bool:
    """Whether a value, rounded half to even at the number's last digit, is the number."""
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or abs(exponent) > 400 or abs(value.adjusted()) > 400:
        return False
    return value.quantize(Decimal(1).scaleb(exponent), context=_EXACTLY) == number


def _digits(number: Decimal) -> int:
    """Significant digits as they are written: zeros before the first other digit do not count."""
    return len("".join(map(str, number.as_tuple().digits)).lstrip("0"))
