"""Claims in words: whether they hold, on what is stored and on what was computed again here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from repropack._present.escape import escape_text
from repropack._present.layout import join_names, number, plural, table, wrap
from repropack._present.markdown import code_span, escape_markdown
from repropack.models.claims import ClaimOutcome, ClaimValue, ClaimVerification, RecordedClaim
from repropack.models.reports import VerificationReport

MAX_ROWS = 60
_MAX_FAILED = 20
_WITH_FOUND = "With what was found the sentence reads"


def exact_text(value: ClaimValue) -> str:
    """Return a value in full, escaped."""
    if isinstance(value, bool):
        return str(value).lower()
    return escape_text(value, 80) if isinstance(value, str) else number(value)


def held_line(claims: Sequence[ClaimOutcome | RecordedClaim]) -> list[str]:
    """How many claims hold, and which do not; no line where there is none."""
    told = held_sentence(claims)
    return wrap(told) if told else []


def held_sentence(claims: Sequence[ClaimOutcome | RecordedClaim]) -> str:
    """The same without breaks; empty where there is no claim."""
    if not claims:
        return ""
    failed = [claim.id for claim in claims if claim.held is False]
    silent = sum(claim.held is None for claim in claims)
    counts = plural(len(claims), "claim")
    unknown = f"{silent} {'was' if silent == 1 else 'were'} not verified" if silent else ""
    if failed:
        does = "does" if len(failed) == 1 else "do"
        told = f"{len(failed)} of {counts} {does} not hold: {join_names(failed)}"
        return f"{told}; {unknown}." if unknown else f"{told}."
    good = len(claims) - silent
    told = f"{good} of {counts} {_hold(good)}"
    return f"{told}; {unknown}" if unknown else told


def stated_and_found(claim: ClaimOutcome) -> str:
    """What the author states of a claim that does not hold, and what was found; escaped.

    Returns:
        Both as they are printed, the second in full too where that is longer.

    Example:
        >>> from repropack.models.claims import ClaimOutcome
        >>> stated_and_found(ClaimOutcome(
        ...     id="loss", kind="number", sentence="It is 4.491.", expected="4.567", text="4.491",
        ...     value="4.491", held=False, evidence=()))
        'stated 4.567, found 4.491'
    """
    return f"stated {escape_text(claim.expected)}, found {_observed(claim)}"


def failed_claims(claims: Iterable[ClaimOutcome]) -> list[str]:
    """One sentence for each claim that does not hold: expected and observed."""
    failed = [claim for claim in claims if not claim.held]
    lines = [
        f"claim {claim.id}: expected {escape_text(claim.expected)}, observed {_observed(claim)}."
        for claim in failed[:_MAX_FAILED]
    ]
    if len(failed) > _MAX_FAILED:
        lines.append(f"{plural(len(failed) - _MAX_FAILED, 'more claim')} that do not hold.")
    return lines


def claims_table(claims: Sequence[ClaimOutcome]) -> list[str]:
    """Claims as a package says them; of one that fails first what was stated and what was found."""
    lines: list[str] = []
    for claim in claims[:MAX_ROWS]:
        if not claim.held:
            told = f"{claim.id}: DOES NOT HOLD: {stated_and_found(claim)}"
            lines += wrap(told, rest="  ")
            lines += wrap(f"{_WITH_FOUND}: {escape_text(claim.sentence)}", first="  ", rest="  ")
            continue
        exact = exact_text(claim.value)
        differs = exact != escape_text(claim.text, 80) and not isinstance(claim.value, bool)
        full = f" ({exact})" if differs else ""
        lines += wrap(f"{claim.id}: {escape_text(claim.sentence)} [holds]{full}", rest="  ")
    if len(claims) > MAX_ROWS:
        lines += wrap(f"and {plural(len(claims) - MAX_ROWS, 'more claim')}; --format json has all")
    return lines


def verified_line(report: VerificationReport) -> list[str]:
    """What came of the claims, beside the verdict and without a word on what that means."""
    claims = report.claims
    if not claims:
        return []
    tried = [claim for claim in claims if claim.held_here is not None]
    failed = [claim.id for claim in tried if not claim.held_here]
    good = len(tried) - len(failed)
    text = f"{good} of {plural(len(claims), 'claim')} {_hold(good)} on what was computed"
    text += " here" if report.verdict != "differs" else " here, although bytes differ"
    if failed:
        text += f"; {join_names(failed)} {'does' if len(failed) == 1 else 'do'} not"
    silent = len(claims) - len(tried)
    if silent:
        text += f"; {silent} {'was' if silent == 1 else 'were'} not verified"
    return wrap(f"{text}.")


def verified_table(claims: Sequence[ClaimVerification]) -> list[str]:
    """Each claim on what is stored and on what was computed here."""
    rows = [
        [
            claim.id,
            "holds" if claim.held else "DOES NOT HOLD",
            escape_text(claim.text, 40),
            _here(claim),
            "same" if _is_same(claim) else escape_text(claim.text_here or "-", 40),
        ]
        for claim in claims[:MAX_ROWS]
    ]
    lines = table(["claim", "in the package", "value", "here", "value here"], rows) if rows else []
    if len(claims) > MAX_ROWS:
        lines += wrap(f"and {plural(len(claims) - MAX_ROWS, 'more claim')}; --format json has all")
    return lines


def unverified_claims(claims: Iterable[ClaimVerification]) -> list[str]:
    """Why claims were not verified: a line a reason, with the ids."""
    reasons: dict[str, list[str]] = {}
    for claim in claims:
        if claim.reason is not None:
            reasons.setdefault(claim.reason, []).append(claim.id)
    return [
        f"{'claim' if len(ids) == 1 else 'claims'} {join_names(ids)}: {escape_text(reason)}"
        for reason, ids in reasons.items()
    ]


def markdown_claims(claims: Sequence[ClaimOutcome]) -> str:
    """Claims as a list in Markdown; one that does not hold says so."""
    items = [f"- {_markdown_claim(claim)}" for claim in claims[:MAX_ROWS]]
    if len(claims) > MAX_ROWS:
        items.append(f"- and {plural(len(claims) - MAX_ROWS, 'more claim')}, in `results.json`")
    return "\n".join(items)


def _hold(count: int) -> str:
    return "holds" if count == 1 else "hold"


def _markdown_claim(claim: ClaimOutcome) -> str:
    sentence, named = escape_markdown(claim.sentence), code_span(claim.id)
    if claim.held:
        return f"{sentence} ({named})"
    found = escape_markdown(claim.text)
    exact = exact_text(claim.value)
    full = "" if exact == escape_text(claim.text) else f" ({escape_markdown(exact)})"
    return (
        f"**Does not hold** ({named}): stated {escape_markdown(claim.expected)}, "
        f"found {found}{full}. {_WITH_FOUND}: {sentence}"
    )


def _observed(claim: ClaimOutcome) -> str:
    text, exact = escape_text(claim.text), exact_text(claim.value)
    return text if text == exact else f"{text} ({exact})"


def _here(claim: ClaimVerification) -> str:
    if claim.held_here is None:
        return "not verified"
    return "holds" if claim.held_here else "DOES NOT HOLD"


def _is_same(claim: ClaimVerification) -> bool:
    same_type = type(claim.value) is type(claim.value_here)
    return claim.held_here is not None and same_type and claim.value == claim.value_here
