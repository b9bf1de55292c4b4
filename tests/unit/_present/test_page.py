"""What a page says, literally, and that no text of a package changes what it is made of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repropack._format.page_head import MAX_HEAD_BYTES, page_head, page_version
from repropack._present.html import join
from repropack._present.page import render_page
from repropack._present.page_assets import (
    SCRIPTS,
    STYLES,
    page_script,
    page_style,
    policy_digest,
)
from repropack._present.page_printed import marked
from repropack._present.page_words import WORDS
from repropack.models.claims import ClaimPlan
from repropack.models.reports import Problem, RunVerification
from repropack.models.results import StepCount
from tests.support import command_reports, reports
from tests.support.pages import claim, hostile_subject, subject
from tests.unit._present.test_html import HOSTILE, Structure

ROOT = Path(__file__).resolve().parents[3]
SECTIONS = (
    "claims",
    "check",
    "in-your-browser",
    "agreement",
    "printed",
    "explorer",
    "environment",
    "plan",
    "entries",
    "words",
)


def page(**changes: object) -> str:
    return render_page(subject(**changes)).decode("utf-8")


def words(html: str) -> str:
    """The text of a page in one line, without style and script."""
    body = re.sub(r"<(style|script)[ >].*?</\1>", "", html, flags=re.DOTALL)
    return " ".join(Structure(body).words.split())


def sections(html: str) -> list[str]:
    return re.findall(r'<section id="([a-z-]+)"', html)


def test_a_page_is_the_same_every_time() -> None:
    """And begins with the lines that name its version."""
    made = render_page(subject(version="1.2.3"))
    assert made == render_page(subject(version="1.2.3"))
    assert page_version(made[:MAX_HEAD_BYTES]) == "1.2.3"
    assert made.startswith(page_head("1.2.3") + b'<meta http-equiv="Content-Security-Policy"')


def test_the_sections_stand_in_their_order() -> None:
    """Those that have nothing to say are left out, and no link leads to them."""
    assert tuple(sections(page())) == SECTIONS
    alone = reports.plan(comparisons=())
    timelines = subject().timelines
    timelines.runs = []
    html = page(
        plan=alone,
        results=reports.results().model_copy(update={"comparisons": ()}),
        timelines=timelines,
        pairs=(),
    )
    left = [name for name in SECTIONS if name not in {"agreement", "printed", "explorer"}]
    assert sections(html) == left
    assert set(re.findall(r'href="#([a-z-]+)"', html)) <= {*left, *map(_word_id, WORDS)}
    assert "This package makes no comparison: nothing was run a second time." in words(html)


def _word_id(word: str) -> str:
    return f"word-{word.replace(' ', '-')}"


def test_claims_come_in_plain_words_with_evidence_and_scope() -> None:
    """What repeats, what resumes, what parts and where, for which environment."""
    text = words(page())
    assert "the environment that is recorded here, and nothing wider: CPython 3.11.7" in text
    assert "A run resumed after step 40 continues exactly." in text
    assert (
        "With this change the run differs from the reference, first at step 1 · gradient." in text
    )
    assert "The author expected it to part at step 1, at gradient." in text
    assert "What was not tested" in text
    assert "a lower loss proves nothing about replay" in text


def test_a_failed_expectation_is_told_with_what_was_observed() -> None:
    """In the badge and in words."""
    outcomes = subject().results.comparisons
    failed = (*outcomes[:2], outcomes[2].model_copy(update={"held": False}))
    html = page(results=reports.results().model_copy(update={"comparisons": failed}))
    text = words(html)
    assert "✕ not as expected" in text
    assert "because component sampler differs; observed step 41 · batch" in text


def test_an_authors_claims_are_told_those_that_fail_first() -> None:
    """With the value in full and the entries that it follows from."""
    results = reports.results().model_copy(
        update={"claims": (claim(), claim(id="best-loss", held=False, sentence="It is 0.01."))}
    )
    text = words(page(results=results))
    assert "1 of 2 claims fails on what is stored." in text
    assert "1 of 2 claims holds on what is stored" in text
    assert "expected 0.0215, found 0.0215, in full 0.0214672945992594; from" in text
    assert text.index("It is 0.01.") < text.index("The loss ends at 0.0215.")
    told = "a number, expected 0.0215, in full 0.0214672945992594; from "
    assert f"final-loss: {told}runs/reference/fingerprints.jsonl" in text


def test_a_claim_that_fails_is_told_as_it_is_stated_with_what_was_found() -> None:
    """The author's sentence with the author's value; below it both values, each once."""
    planned = ClaimPlan(
        id="energy", kind="number", sentence="The energy is {value}.",
        expression="last(metric[reference][energy])", states="0.500", rounding=".3f",
    )  # fmt: skip
    failed = claim(
        id="energy", held=False, sentence="The energy is 0.492.", expected="0.500", text="0.492",
        value=0.4923,
    )  # fmt: skip
    text = words(
        page(
            plan=reports.plan(claims=(planned,)),
            results=reports.results().model_copy(update={"claims": (failed,)}),
        )
    )
    assert "1 of 1 claim fails on what is stored." in text
    told = "energy: a number, stated 0.500, found 0.492, in full 0.4923; from"
    assert text.index("The energy is 0.500.") < text.index(told)
    assert ".," not in text


def test_a_column_of_runs_that_have_nothing_in_it_is_left_out() -> None:
    """Number columns are aligned in heading and cells; a run without outputs has a dash."""
    one = reports.verified_run()
    bare = one.model_copy(update={"outputs": one.outputs.model_copy(update={"compared": 0})})
    full = one.model_copy(update={"outputs": one.outputs.model_copy(update={"compared": 2})})

    def shown(*runs: RunVerification) -> str:
        report = reports.verification(runs=runs)
        html = page(verification=report, package_digest=reports.PACKAGE_DIGEST)
        return html.split("Runs that were executed again</caption>")[1].split("</table>")[0]

    assert "outputs" not in shown(bare)
    both = shown(full, bare)
    assert '<th class="number" scope="col">outputs</th>' in both
    assert re.findall(r'<td class="number">([^<]*)</td></tr>', both) == ["2", "-"]


def test_cells_say_what_differs_and_how_far() -> None:
    """In the table and in the data of the script, the same numbers."""
    html = page()
    row = re.search(r'<tr><th scope="row">step 41</th>(.*?)</tr>', html)
    assert row is not None
    assert Structure(row[1]).words == ("weights differs first; weights by 5.125; 41,000 ulp" * 2)
    data = html[html.index('id="package-data"') :]
    assert '[40,1,1,41,"weights","5.125",41,"41,000 ulp",41]' in data
    assert data.count('[0,1,1,1,"weights","0.125",1,"1,000 ulp",1]') == 1


def test_strips_are_named_for_people_who_do_not_see_them() -> None:
    """Stretches of steps, each with its word."""
    outcomes = subject().results.comparisons
    batch = StepCount(name="batch", compared=100, differing=0)
    reversed_one = outcomes[1].model_copy(update={"stages": (batch, *outcomes[1].stages)})
    changed = (outcomes[0], reversed_one, outcomes[2])
    html = page(results=reports.results().model_copy(update={"comparisons": changed}))
    shared = "steps 1 to 40: the reference&#39;s own, before it resumed"
    assert f'aria-label="{shared}; steps 41 to 100: equal"' in html
    assert f'aria-label="{shared}; steps 41 to 100: differs"' in html
    parts = html[html.index('data-label="reversed-reduction"') :]
    told = dict(
        re.findall(r'<th scope="row">(batch|weights)</th>.*?aria-label="([^"]*)"', parts)[:2]
    )
    assert told == {"batch": "steps 1 to 100: equal", "weights": "steps 1 to 100: differs"}


def test_a_long_run_says_that_its_columns_stand_for_many_steps() -> None:
    """The width stands in words above it and in the table."""
    timelines = subject().timelines
    for run in timelines.runs:
        run.last_step = 100_000
    results = reports.results()
    reference = results.reference.model_copy(update={"last_step": 100_000})
    html = page(timelines=timelines, results=results.model_copy(update={"reference": reference}))
    assert "each column stands for 256 steps" in words(html)
    assert '<th scope="row">steps 1 to 256</th>' in html
    assert "100 of 100 differ, first step 1: weights" in words(html)


def test_digits_that_differ_are_marked() -> None:
    """From the first on that is another; where the scale is another, all of them."""
    html = page()
    assert "<td>0.5</td><td>0.5<mark>000000000009095</mark></td>" in html
    assert "prints the same at 100 of 100 steps; the full value is the same at 0 of 100" in words(
        html
    )


@pytest.mark.parametrize(
    ("left", "right", "shown"),
    [
        ("0.5", "0.5", "0.5"),
        ("0.5", "0.75", "0.<mark>75</mark>"),
        ("9.99", "10.01", "<mark>10.01</mark>"),
        ("1.5e-07", "1.5e-08", "<mark>1.5e-08</mark>"),
        ("1.25e-07", "1.26e-07", "1.2<mark>6e-07</mark>"),
        ("12", "123", "<mark>123</mark>"),
        ("0.125", "0.12", "<mark>0.12</mark>"),
        ("nan", "1.0", "<mark>1.0</mark>"),
    ],
)
def test_what_differs_is_marked(left: str, right: str, shown: str) -> None:
    """Digits mean the same only where the point and the exponent stand at one place."""
    assert join([marked(left, right)]).html == shown


def test_every_pair_is_there_as_text() -> None:
    """Those with the reference, and the others below them."""
    html = page()
    assert re.findall(
        r'<article class="pair" data-left="([a-z-]+)" data-right="([a-z-]+)"', html
    ) == [
        ("reference", "full-checkpoint"),
        ("reference", "reversed-reduction"),
        ("reference", "sampler-reset"),
        ("reversed-reduction", "sampler-reset"),
    ]
    assert "the state before the step, sampler: differs" in words(html)


def test_a_verification_is_shown_where_it_is_given() -> None:
    """Verdict, what differs first, and that it does not repeat here."""
    assert "verification" not in sections(page())
    report = reports.verification(verdict="differs", runs=(reports.differing_run(repeats=False),))
    html = page(verification=report, package_digest=reports.PACKAGE_DIGEST)
    text = words(html)
    assert sections(html)[1] == "verification"
    assert "differs Not reproduced here, in this environment." in text
    assert "Two runs here differ from each other too." in text
    assert reports.PACKAGE_DIGEST in text


def test_a_page_tells_no_folder_of_the_machine_on_which_it_was_verified() -> None:
    """A problem names files by their paths; a page names them by their names."""
    problem = Problem(
        code="experiment.step",
        message="/home/ann/lab/train.py failed: ~/secret/a.csv",
        hint="see C:\\Users\\ann\\log.txt and https://example.org/home/ann/x",
    )
    report = reports.verification(verdict="could-not-run", runs=(), problem=problem)
    text = words(page(verification=report, package_digest=reports.PACKAGE_DIGEST))
    assert ".../train.py failed: .../a.csv" in text
    assert "see .../log.txt and https://example.org/home/ann/x" in text


def test_it_says_where_repropack_comes_from() -> None:
    """There is no public address, and none is made up."""
    assert "is installed from a checkout or a wheel of repropack-replay" in words(page())


def test_all_entries_are_listed_with_their_digests() -> None:
    """In full; an input that lies elsewhere says where."""
    entry = (
        reports.inspection()
        .entries[0]
        .model_copy(
            update={
                "path": "inputs/a.csv",
                "role": "input",
                "included": False,
                "location": "Zenodo",
            }
        )
    )
    html = page(entries=(*reports.inspection().entries, entry))
    assert html.count(f'<code class="digest">{reports.CHAIN}</code>') >= 4
    assert "not in the package: Zenodo" in words(html)


def test_the_policy_allows_this_style_and_this_script_alone() -> None:
    """No other can run, and nothing is fetched."""
    html = page()
    policy = Structure(html[: html.index("<style>")]).values
    assert (
        "default-src 'none'; "
        f"style-src '{policy_digest(page_style())}'; script-src '{policy_digest(page_script())}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    ) in policy
    assert html.count(f"<style>{page_style()}</style>") == 1
    assert html.count(f"<script>{page_script()}</script>") == 1
    assert html.count("<script") == 2
    assert not re.search(r' (on[a-z]+|style)="', html.replace(page_script(), ""))


def test_the_assets_are_all_there() -> None:
    """Each file that is named, and none beside; small enough to lie in every package."""
    folder = ROOT / "repropack" / "_present" / "page_assets"
    held = {path.name for path in folder.iterdir() if path.suffix in {".css", ".js"}}
    assert held == {*STYLES, *SCRIPTS}
    assert SCRIPTS[-1] == "page.js"
    assert len(page_style()) + len(page_script()) < 300_000


@pytest.mark.parametrize("word", sorted(WORDS))
def test_words_mean_what_the_glossary_says(word: str) -> None:
    """One meaning, in both places."""
    glossary = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    assert f"| {word} | {WORDS[word]} |" in glossary


def structure_of(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return Structure(render_page(hostile_subject(text)).decode("utf-8")).tags


PLAIN = structure_of("plain")


@given(st.text(min_size=1, max_size=30) | st.sampled_from((HOSTILE, "</script>", "</style><b>")))
@settings(max_examples=25, deadline=None)
def test_no_text_changes_the_structure_of_the_page(text: str) -> None:
    """Whatever a package says, in whatever place: the elements are those of plain words."""
    marks = [tag for tag in structure_of(text) if tag[0] not in {"mark", "/mark", "code", "/code"}]
    plain = [tag for tag in PLAIN if tag[0] not in {"mark", "/mark", "code", "/code"}]
    assert marks == plain


def test_a_page_of_another_beginning_has_no_version() -> None:
    """Not a word of it is guessed."""
    head = page_head("1.0")
    assert page_version(head) == "1.0"
    assert page_version(head[1:]) is None
    assert page_version(head.replace(b"utf-8", b"utf8")) is None
    assert page_version(page_head("1.0").replace(b"1.0", b"1 0")) is None
    assert page_version(b"") is None


def test_a_package_of_a_command_shows_its_outputs() -> None:
    """Output by output and run by run, instead of steps."""
    timelines = subject().timelines
    timelines.runs = []
    html = page(
        plan=command_reports.plan(),
        results=command_reports.results(),
        timelines=timelines,
        pairs=(),
    )
    assert "outputs" in sections(html)
    assert "agreement" not in sections(html)
    assert "Outputs are compared by what they are" in words(html)
