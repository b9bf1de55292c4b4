"""Where any two runs part: which stage first, on which inputs, and what else differs there.

All of it is text in the page. Those against the reference are shown; ``page.js`` shows the two
that are chosen, and hides the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from repropack._compare.logs import STATE_PREFIX
from repropack._compare.pairwise import MAX_RUNS, PairOutcome
from repropack._format.layout import REFERENCE_RUN
from repropack._present.divergence import divergence_evidence, divergence_place
from repropack._present.html import Content, Markup, element, lines
from repropack._present.layout import join_names, plural, stage_text
from repropack._present.page_parts import capital, code, details, facts, paragraph, section, term
from repropack._present.page_subject import PageSubject
from repropack.models.results import ComparisonOutcome, Divergence, InputEquality, Split


@dataclass(frozen=True)
class _Pair:
    left: str
    right: str
    first_step: int
    last_step: int
    identical: bool
    divergence: Divergence | None
    constants: Split
    start: Split | None


def explorer_section(subject: PageSubject) -> Markup | None:
    """Every pair of runs, those with the reference first.

    Args:
        subject: The package.

    Returns:
        The section; ``None`` where there is one run alone.
    """
    outcomes = subject.results.comparisons
    if not outcomes:
        return None
    against = [_against_reference(outcome) for outcome in outcomes]
    others = [_between(pair) for pair in subject.pairs]
    names = [REFERENCE_RUN, *(outcome.run for outcome in outcomes)]
    left_out = len(outcomes) > MAX_RUNS
    return section(
        "explorer",
        "Where two runs part",
        paragraph(
            "The first ",
            term("divergence"),
            " is the first record that differs. Where everything that a stage was made of is "
            "equal, the difference arose in that stage; where an input differs, it came in from "
            "there. It says where, and not why.",
        ),
        _choice(names, against),
        element("div", "\n", lines(map(_article, against)), id="pairs"),
        details(
            f"Every other pair: {len(others)}",
            element("div", "\n", lines(map(_article, others)), id="other-pairs"),
        )
        if others
        else None,
        paragraph(
            f"With more than {MAX_RUNS} comparisons, pairs without the reference are left out."
        )
        if left_out
        else None,
    )


def _against_reference(outcome: ComparisonOutcome) -> _Pair:
    return _Pair(
        REFERENCE_RUN,
        outcome.run,
        outcome.first_step,
        outcome.last_step,
        outcome.identical,
        outcome.divergence,
        outcome.constants,
        outcome.start,
    )


def _between(pair: PairOutcome) -> _Pair:
    return _Pair(
        pair.left,
        pair.right,
        pair.first_step,
        pair.last_step,
        pair.identical,
        pair.divergence,
        pair.constants,
        pair.start,
    )


def _choice(names: list[str], against: list[_Pair]) -> Markup:
    """Two lists to choose from; hidden where no script fills them with life."""
    first = next((pair.right for pair in against if not pair.identical), against[0].right)

    def choose(identifier: str, label: str, chosen: str) -> Markup:
        options = (element("option", name, value=name, selected=name == chosen) for name in names)
        return element("label", f"{label} ", element("select", options, id=identifier))

    return element(
        "div",
        choose("left-run", "One run", REFERENCE_RUN),
        choose("right-run", "Another run", first),
        class_="choice",
        id="choice",
        hidden=True,
    )


def _article(pair: _Pair) -> Markup:
    title = element("h3", code(pair.left), " and ", code(pair.right))
    return element(
        "article",
        "\n",
        lines([title, *_told(pair)]),
        class_="pair",
        data_left=pair.left,
        data_right=pair.right,
    )


def _told(pair: _Pair) -> Iterator[Markup]:
    yield from _began(pair)
    found = pair.divergence
    if found is None:
        steps = plural(pair.last_step - pair.first_step + 1, "step")
        words = (
            "Every step is equal" if pair.identical else "Every recorded step is equal all the same"
        )
        yield paragraph(f"{words}: {steps}, from step {pair.first_step:,} on.", class_="verdict")
        return
    yield paragraph(
        "First divergence: ",
        element("b", divergence_place(found)),
        f". {capital(divergence_evidence(found))}.",
        class_="verdict",
    )
    rows: list[tuple[Content, Content]] = [
        (
            "known equal up to",
            f"step {found.last_equal_step:,}" if found.last_equal_step else "the start",
        ),
        *_inputs(found),
        *_split_rows("stages of this step", found.stages),
        *_split_rows("state before it", found.state_before),
        *_split_rows("state after it", found.state_after),
        *_split_rows("metrics", found.metrics),
    ]
    yield facts(rows)


def _began(pair: _Pair) -> Iterator[Markup]:
    """What differs before the first step."""
    if pair.constants.differing:
        yield paragraph(f"They have other constants: {join_names(pair.constants.differing)}.")
    if pair.start is not None and pair.start.differing:
        names = join_names(pair.start.differing)
        yield paragraph(f"They begin step {pair.first_step:,} with another state: {names}.")


def _inputs(found: Divergence) -> Iterator[tuple[Content, Content]]:
    """What the stage was made of, and whether that is equal."""
    if found.inputs:
        words = {True: "equal", False: "differs", None: "not recorded"}
        rows = ([_input_name(item), f": {words[item.equal]}"] for item in found.inputs)
        name = stage_text(found.stage or "")
        yield f"{name} was made of", element("ul", (element("li", row) for row in rows))


def _input_name(item: InputEquality) -> Content:
    if item.name.startswith(STATE_PREFIX):
        return ["the state before the step, ", code(item.name.removeprefix(STATE_PREFIX))]
    return code(stage_text(item.name))


def _split_rows(label: str, split: Split | None) -> Iterator[tuple[Content, Content]]:
    if split is None or not (split.equal or split.differing):
        return
    parts = []
    if split.differing:
        parts.append(f"differing: {join_names(map(stage_text, split.differing), 24)}")
    if split.equal:
        parts.append(f"equal: {join_names(map(stage_text, split.equal), 24)}")
    yield label, "; ".join(parts)
