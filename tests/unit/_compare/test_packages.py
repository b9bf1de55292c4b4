"""What two packages say of themselves, held against each other."""

from __future__ import annotations

from typing import Any

import pytest

from repropack._compare.outcomes import describe_reference
from repropack._compare.packages import (
    compare_entries,
    compare_metadata,
    compare_outcomes,
    compare_plans,
    compare_references,
    succession_of,
)
from repropack.models.authored import Author
from repropack.models.manifest import Entry, Origin
from repropack.models.package_difference import (
    FileChange,
    FileVersion,
    MetricChange,
    ReferenceDifference,
    ValueChange,
)
from repropack.models.plan import CommandPlan, ComparisonPlan, ExperimentPlan, RecordPlan
from repropack.models.results import Split
from tests.support import reports
from tests.support.logs import HandMadeRun, digest_of, step

OLD, NEW, THIRD = (digest_of(letter) for letter in "abc")


def changes(rows: tuple[ValueChange, ...]) -> list[tuple[str, str | None, str | None]]:
    return [(row.key, row.old, row.new) for row in rows]


@pytest.mark.parametrize(
    ("former", "later", "succession"),
    [
        (None, OLD, "named"),
        (NEW, None, "reversed"),
        (None, THIRD, "other"),
        (THIRD, None, "none"),
        (None, None, "none"),
    ],
)
def test_who_supersedes_whom(former: str | None, later: str | None, succession: str) -> None:
    """A version is named by its package digest."""
    old = reports.metadata(supersedes=former), OLD
    new = reports.metadata(supersedes=later), NEW
    assert succession_of(old, new) == succession


def test_metadata_is_compared_key_by_key() -> None:
    """What is not stated is not there; authors are one value."""
    old = reports.metadata()
    new = reports.metadata(
        version="1.1.0",
        date=None,
        authors=(Author(name="Ada Example"),),
        origin=Origin(commit="a" * 40, clean=True),
        allowed_findings=("absolute-path",),
    )
    assert changes(compare_metadata(old, old)) == []
    assert changes(compare_metadata(old, new)) == [
        ("version", '"1.0.0"', '"1.1.0"'),
        (
            "authors",
            '[{"affiliation":"Institute","name":"Ada Example"},{"name":"B. Second"}]',
            '[{"name":"Ada Example"}]',
        ),
        ("date", '"2026-11-29"', None),
        ("allowed_findings", "[]", '["absolute-path"]'),
        ("origin", None, f'{{"clean":true,"commit":"{"a" * 40}"}}'),
    ]


def experiment(**members: Any) -> ExperimentPlan:
    fields: dict[str, Any] = {"entry_point": "lab:Lab", "config": {}, "seed": 7, "steps": 10}
    return ExperimentPlan(**(fields | members))


def test_a_configuration_is_compared_value_by_value() -> None:
    """Nested tables unfold; an encoded number is one value, and null is a value."""
    old = reports.plan(
        experiment=experiment(config={"a": {"b": 1, "c": 2}, "n": {"$int": "9" * 20}, "z": None})
    )
    new = reports.plan(
        experiment=experiment(config={"a": {"b": 1, "d": 2}, "n": {"$int": "8" * 20}}, seed=8)
    )
    assert changes(compare_plans(old, old)) == []
    assert changes(compare_plans(old, new)) == [
        ("experiment.config.a.c", "2", None),
        ("experiment.config.a.d", None, "2"),
        ("experiment.config.n", f'{{"$int":"{"9" * 20}"}}', f'{{"$int":"{"8" * 20}"}}'),
        ("experiment.config.z", "null", None),
        ("experiment.seed", "7", "8"),
    ]


def test_one_and_one_point_naught_are_two_values() -> None:
    """Values are compared as they are stored."""
    old, new = (reports.plan(experiment=experiment(config={"r": r})) for r in (1, 1.0))
    assert changes(compare_plans(old, new)) == [("experiment.config.r", "1", "1.0")]


def test_a_command_in_the_place_of_an_entry_point() -> None:
    """The form of an experiment is a matter of which keys there are."""
    command = experiment(entry_point=None, command=("python", "run.py"), outputs=("*.npz",))
    old, new = (reports.plan(experiment=one) for one in (experiment(), command))
    assert changes(compare_plans(old, new)) == [
        ("experiment.entry_point", '"lab:Lab"', None),
        ("experiment.outputs", "[]", '["*.npz"]'),
        ("experiment.command", None, '["python","run.py"]'),
    ]  # fmt: skip


def test_recording_comparisons_and_later_commands_are_compared_by_key() -> None:
    """A comparison that only one side has is one row; their order is one more."""
    first = ComparisonPlan(name="first", resume_at=2, expect="identical")
    second = ComparisonPlan(name="second", hash_seed=1)
    third = ComparisonPlan(name="third")
    after = CommandPlan(command=("python", "plot.py"), outputs=("a.svg",))
    old = reports.plan(
        record=RecordPlan(checkpoint_every=2, printed={"loss": ".4f"}),
        comparisons=(first, second, third),
        after=(after,),
    )
    new = reports.plan(
        record=RecordPlan(checkpoint_every=3, printed={"loss": ".5f"}),
        comparisons=(second, first.model_copy(update={"resume_at": 3})),
        after=(after.model_copy(update={"outputs": ("b.svg",)}), after),
    )
    assert changes(compare_plans(old, new)) == [
        ("record.checkpoint_every", "2", "3"),
        ("record.printed.loss", '".4f"', '".5f"'),
        ("after[0].outputs", '["a.svg"]', '["b.svg"]'),
        (
            "after[1]",
            None,
            '{"command":["python","plot.py"],"environment":{},"outputs":["a.svg"]}',
        ),
        ("comparisons.first.resume_at", "2", "3"),
        ("comparisons.third", '{"config":{},"reset":[]}', None),
        ("comparisons (order)", '["first","second"]', '["second","first"]'),
    ]


def entry(path: str, letter: str = "a", **members: Any) -> Entry:
    fields: dict[str, Any] = {
        "role": "source",
        "media_type": "text/plain",
        "size": 3,
        "digest": digest_of(letter),
    }
    return Entry(path=path, **(fields | members))


def test_files_are_compared_by_bytes_mode_and_place() -> None:
    """Paths are told without their folder; other folders are no matter."""
    old = (
        entry("inputs/data.csv"),
        entry("source/a.py"),
        entry("source/b.py"),
        entry("source/run.sh"),
        entry("source/same.py"),
    )
    new = (
        entry("inputs/data.csv", "b"),
        entry("source/a.py", "b", size=4),
        entry("source/c.py"),
        entry("source/run.sh", executable=True),
        entry("source/same.py"),
    )
    found = compare_entries(old, new, lambda path: path.startswith("source/"), "source/")
    version = FileVersion(
        size=3, digest=digest_of("a"), executable=False, included=True, location=None
    )
    other = version.model_copy(update={"size": 4, "digest": digest_of("b")})
    executable = version.model_copy(update={"executable": True})
    assert found.unchanged == 1
    assert found.changed == (
        FileChange(path="a.py", old=version, new=other),
        FileChange(path="b.py", old=version, new=None),
        FileChange(path="c.py", old=None, new=version),
        FileChange(path="run.sh", old=version, new=executable),
    )


def reference(weight: str, loss: float, chain: str, **members: Any) -> Any:
    """A reference of two steps, whose second differs by ``weight`` and ``loss``."""
    lines = (
        step(1, {"w": "a"}, {"w": "a"}, metrics={"loss": 2.0}),
        step(2, {"w": weight}, {"w": weight}, metrics={"loss": loss, "same": 1}),
    )
    lines = (*lines[:-1], lines[-1].model_copy(update={"chain": digest_of(chain)}))
    run = HandMadeRun(lines, state={"w": "w"}, declared={"w": ("state:w",)}, **members)
    return run, describe_reference(run)


def test_equal_chains_are_equal_references() -> None:
    """Then no divergence is looked for."""
    one = reference("a", 1.0, "c")
    assert compare_references(one, one) == ReferenceDifference(
        old_last_step=2,
        new_last_step=2,
        chain_equal=True,
        config_equal=True,
        constants=Split(),
        start=Split(equal=("w",)),
    )


def test_references_part_at_the_first_step_that_differs() -> None:
    """With the metrics of their last steps, where those are stored otherwise."""
    found = compare_references(reference("a", 0.0, "c"), reference("b", -0.0, "d"))
    assert not found.chain_equal
    assert found.divergence is not None
    assert (found.divergence.kind, found.divergence.step, found.divergence.stage) == (
        "output",
        2,
        "w",
    )
    assert found.metrics == (MetricChange(metric="loss", old=0.0, new=-0.0),)


def test_other_configuration_constants_and_beginning_are_told() -> None:
    """They come before any step."""
    new = reference("a", 1.0, "c", config="other", constants={"data": "x"})
    found = compare_references(reference("a", 1.0, "c"), new)
    assert (found.config_equal, found.constants) == (False, Split(differing=("data",)))


def test_outcomes_that_changed_are_told_in_the_old_order() -> None:
    """With the ones that only one side has; the others are counted."""
    old = reports.results(reports.outcome("a"), reports.outcome("b"), reports.outcome("c"))
    new = reports.results(
        reports.outcome("d"), reports.outcome("c"), reports.outcome("a", last_step=50)
    )
    unchanged, changed = compare_outcomes(old, new)
    assert unchanged == 1
    assert [(row.run, row.old is None, row.new is None) for row in changed] == [
        ("a", False, False),
        ("b", False, True),
        ("d", True, False),
    ]
