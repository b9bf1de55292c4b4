"""All cases, in the order of their threats, and what is said of a case by whoever ran it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.hostile.corpus import (
    arrays,
    bombs,
    claims,
    contents,
    descriptions,
    directories,
    documents,
    forms,
    locks,
    logs,
    manifests,
    readers,
    zip_names,
    zip_structure,
)
from tests.hostile.corpus.case import Case, Variant, variants
from tests.hostile.corpus.rules import RULES

MODULES = (
    zip_names,
    zip_structure,
    directories,
    bombs,
    arrays,
    documents,
    logs,
    claims,
    manifests,
    contents,
    forms,
    locks,
    descriptions,
    readers,
)

CASES: tuple[Case, ...] = tuple(
    replace(case, rule=RULES.get(case.name)) for module in MODULES for case in module.CASES
)
VARIANTS: tuple[Variant, ...] = tuple(one for case in CASES for one in variants(case))

Fault = tuple[str, str, str, str | None]
"""Code, entry, problem, rule."""


def complaint(case: Case, status: int, faults: Sequence[Fault]) -> str:
    """Say in what an answer is not the one that is expected.

    Args:
        case: The case.
        status: The exit status of ``check``.
        faults: Everything that it found, or the one error that it ended with.

    Returns:
        One line; empty where all is as expected.
    """
    shown = "; ".join(
        f"[{code}] {entry}: {problem}"[:160] for code, entry, problem, _ in faults[:3]
    )
    if status != case.status:
        return f"expected status {case.status}, observed {status}: {shown or 'no fault'}"
    if case.code is None:
        return f"expected no fault, observed {shown}" if faults else ""
    named = [one for one in faults if one[0] == case.code and case.word in f"{one[1]}: {one[2]}"]
    if not named:
        return f"expected {case.code} with {case.word!r}, observed {shown}"
    if case.faults is not None and len(faults) != case.faults:
        return f"expected {case.faults} faults, observed {len(faults)}: {shown}"
    rules = {rule for *_, rule in named}
    if case.rule is not None and rules != {None} and case.rule not in rules:
        return f"expected the rule {case.rule}, observed {sorted(map(str, rules))}"
    return ""
