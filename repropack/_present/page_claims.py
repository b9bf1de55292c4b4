"""The first thing on a page: what is claimed, on what evidence, for where, and what is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from repropack._present.divergence import divergence_evidence, divergence_place
from repropack._present.findings import (
    contrasts,
    expectation,
    forgotten_state,
    intervention,
    measure_sentences,
    observed,
    outcome_sentence,
)
from repropack._present.html import Content, Markup, element, join, lines, prose
from repropack._present.layout import ENTRY, is_command, number, plural
from repropack._present.page_parts import (
    capital,
    code,
    codes,
    config_text,
    details,
    items,
    paragraph,
    section,
    term,
)
from repropack._present.page_subject import PageSubject
from repropack._present.untested import changes, untested
from repropack.models.claims import ClaimOutcome, ClaimPlan
from repropack.models.environment import EnvironmentRecord
from repropack.models.plan import ComparisonPlan
from repropack.models.results import ComparisonOutcome

_MAX_CLAIMS = 200
_MAX_OPEN = 6
_MAX_PATHS = 4
_KINDS = {
    "repeated-outcome": "a run that is repeated",
    "exact-resume": "a run that is resumed",
    "number": "a number",
    "count": "a count",
    "bound": "a bound",
    "configuration-value": "a value of the configuration",
}

_EXPECTED = {True: "as expected", False: "not as expected", None: "nothing expected"}


def claims_section(subject: PageSubject) -> Markup:
    """The claims: what each comparison found, what the author states, what was not tested.

    Args:
        subject: The package.

    Returns:
        The section.
    """
    compared = subject.compared()
    return section(
        "claims",
        "What is claimed, and on what evidence",
        _lead(subject),
        element(
            "ol",
            "\n",
            lines(_card(subject, row, outcome) for row, outcome in compared),
            class_="claims",
        )
        if compared
        else paragraph("This package makes no comparison: nothing was run a second time."),
        *_authored(subject.results.claims, {claim.id: claim for claim in subject.plan.claims}),
        element("h3", "What was not tested"),
        items((prose(text) for text in untested(subject.plan, subject.results)), "untested"),
    )


def environment_words(environment: EnvironmentRecord) -> str:
    """The environment in one line: interpreter, NumPy, system, processor."""
    platform, cpu = environment.platform, environment.cpu
    system = " ".join(filter(None, (platform.system, platform.os_id, platform.os_version)))
    processor = cpu.model or cpu.vendor
    parts = [
        f"{environment.interpreter.implementation} {environment.interpreter.version}",
        f"NumPy {environment.numpy.version}",
        f"{system} on {platform.machine}",
        *([processor] if processor else []),
    ]
    return ", ".join(parts)


def _lead(subject: PageSubject) -> Markup:
    experiment, results = subject.plan.experiment, subject.results
    if is_command(experiment):
        what: Content = ["The ", term("reference"), " is one run of a command."]
    else:
        steps = plural(results.reference.last_step, "step")
        what = ["The ", term("reference"), f" is one uninterrupted run of {steps}."]
    return join(
        [
            paragraph(
                what,
                " Each ",
                term("comparison"),
                " is a second run under one stated change, held against it ",
                term("fingerprint"),
                " by fingerprint.",
            ),
            paragraph(
                element("strong", term("scope", "Scope"), ": "),
                "the environment that is recorded here, and nothing wider: ",
                environment_words(subject.environment),
                ".",
                class_="scope",
            ),
        ]
    )


def _authored(
    claims: tuple[ClaimOutcome, ...], planned: Mapping[str, ClaimPlan]
) -> Iterator[Markup]:
    """The author's own sentences: those that fail in sight, the others one below the other."""
    if not claims:
        return

    def told(rows: Sequence[ClaimOutcome]) -> Markup:
        shown = (_claim(claim, planned.get(claim.id)) for claim in rows[:_MAX_CLAIMS])
        return element("ol", "\n", lines(shown), class_="claims authored")

    failed = [claim for claim in claims if not claim.held]
    yield element("h3", "What the author states")
    counts = plural(len(claims), "claim")
    if failed:
        fail = "fails" if len(failed) == 1 else "fail"
        yield paragraph(f"{len(failed)} of {counts} {fail} on what is stored.", class_="bad")
        yield told(failed)
    held = [claim for claim in claims if claim.held]
    if held:
        yield details(
            f"{len(held)} of {counts} {'holds' if len(held) == 1 else 'hold'} on what is stored",
            told(held),
            paragraph("Not all are shown: ", code("results.json"), " has them.")
            if len(held) > _MAX_CLAIMS
            else None,
            open_=len(held) <= _MAX_OPEN,
        )


def _claim(claim: ClaimOutcome, planned: ClaimPlan | None) -> Markup:
    """A claim's sentence; of one that fails as it is stated, and below it what was found."""
    sentence, expected = claim.sentence, f"expected {claim.expected}"
    if not claim.held:
        if planned is not None and planned.states is not None:
            sentence = planned.sentence.replace("{value}", planned.states)
            expected = f"stated {claim.expected}"
        expected += f", found {claim.text}"
    parts: list[Content] = [f"{_KINDS[claim.kind]}, {expected}"]
    exact = claim.value if isinstance(claim.value, str) else number(claim.value)
    if not isinstance(claim.value, bool) and exact != claim.text:
        parts += [", in full ", code(exact)]
    if claim.evidence:
        parts += ["; from ", codes(claim.evidence[:_MAX_PATHS])]
        more = len(claim.evidence) - _MAX_PATHS
        parts += [f" and {plural(more, *ENTRY)} more"] if more > 0 else []
    return element(
        "li",
        _badge("holds" if claim.held else "fails", claim.held),
        element(
            "div",
            paragraph(sentence, class_="sentence"),
            paragraph(code(claim.id), ": ", parts, class_="evidence"),
        ),
        class_="claim",
        id=f"claim-{claim.id}",
    )


def _badge(word: str, held: bool | None) -> Markup:  # noqa: FBT001 - one of three
    """A word with a sign before it, so that colour is not all that tells."""
    sign, kind = {True: ("✓", "yes"), False: ("✕", "no"), None: ("·", "none")}[held]
    mark = element("span", sign, aria_hidden="true")
    return element("span", mark, f" {word}", class_=f"badge {kind}")


def _card(subject: PageSubject, row: ComparisonPlan, outcome: ComparisonOutcome) -> Markup:
    expected = expectation(row.expect)
    return element(
        "li",
        _badge(_EXPECTED[outcome.held], outcome.held),
        element(
            "div",
            "\n",
            lines(
                [
                    paragraph(_sentence(row, outcome), class_="sentence"),
                    paragraph(code(row.name), ": ", _change(row), ".", class_="evidence"),
                    items(_evidence(subject, outcome), "evidence"),
                    paragraph(_expected(expected, outcome), class_="evidence")
                    if expected
                    else None,
                ]
            ),
        ),
        class_="claim",
        id=f"comparison-{row.name}",
    )


def _sentence(row: ComparisonPlan, outcome: ComparisonOutcome) -> Content:
    """What was found, in plain words."""
    if outcome.identical:
        if changes(row):
            return "With this change everything comes out the same, byte for byte."
        if row.resume_at is None:
            return "A separate run repeats it exactly."
        return f"A run resumed after step {row.resume_at} continues exactly."
    place = "the start" if outcome.divergence is None else divergence_place(outcome.divergence)
    if changes(row):
        first = element("b", place)
        return ["With this change the run differs from the reference, first at ", first, "."]
    if row.resume_at is None:
        return ["A separate run does not repeat it: they part at ", element("b", place), "."]
    resumed = f"A run resumed after step {row.resume_at} does not continue exactly: they part at "
    return [resumed, element("b", place), "."]


def _change(row: ComparisonPlan) -> Content:
    """The intervention; values of the configuration by the page's own escape."""
    words: list[Content] = [intervention(row.model_copy(update={"config": {}}))]
    for name, value in sorted(row.config.items()):
        words += [", ", code([name, " = ", config_text(value)])]
    return words


def _evidence(subject: PageSubject, outcome: ComparisonOutcome) -> Iterator[Content]:
    if outcome.divergence is None:
        yield outcome_sentence(outcome)
    else:
        yield f"{capital(divergence_evidence(outcome.divergence))}."
    forgotten = forgotten_state(outcome, loop=subject.plan.experiment.loop)
    if forgotten is not None:
        yield forgotten
    if not outcome.identical:
        yield from measure_sentences(outcome)
        yield from contrasts(outcome)


def _expected(expected: str, outcome: ComparisonOutcome) -> str:
    told = f"The author {expected.replace('expected', 'expected it', 1)}"
    return f"{told}; observed {observed(outcome)}." if outcome.held is False else f"{told}."
