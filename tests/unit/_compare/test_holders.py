"""Which objects may hold what a resume lacks, from what was seen."""

from __future__ import annotations

from typing import Any

from repropack._compare.holders import (
    Changes,
    Watch,
    judge_holders,
    likely_holders,
    lost_paths,
    same,
)
from repropack.models.audit import AuditedResume, ChangedObject, Holder
from repropack.models.results import Divergence
from repropack.models.worker import Watched, WatchedRow


def row(path: str, value: str, kind: Any = "value", **more: Any) -> WatchedRow:
    """A row whose digest is made of its value."""
    if kind == "shared":
        return WatchedRow(path=path, kind="shared", digest="", shown="", origin=value)
    digest = value.encode().hex()[:64]
    return WatchedRow(path=path, kind=kind, digest=digest, shown=value, **more)


def watch(*looks: list[WatchedRow]) -> Watch:
    """What was seen, each look in full; the steps are 0, 1, 2, ..."""
    seen, before = Watch(), dict[str, WatchedRow]()
    for step, rows in enumerate(looks):
        now = {one.path: one for one in rows}
        seen.add(
            Watched(
                step=step,
                rows=tuple(one for path, one in now.items() if before.get(path) != one),
                gone=tuple(path for path in before if path not in now),
            )
        )
        before = now
    return seen


def rows(*given: WatchedRow) -> dict[str, WatchedRow]:
    return {one.path: one for one in given}


def test_looks_are_put_together_from_what_changed():
    """Each look is whole again."""
    seen = watch(
        [row("self.a", "1"), row("self.b", "x")], [row("self.a", "2")], [row("self.a", "2")]
    )
    assert seen.steps() == (0, 1, 2)
    assert list(seen.at(0)) == ["self.a", "self.b"]
    assert seen.at(2) == rows(row("self.a", "2"))
    assert seen.at(9) == {}


def test_what_changes_and_is_in_no_component_is_told():
    """What the state holds at every look is not; a value that is held by chance once is."""
    seen = watch(
        [row("self.t", "0", held=("t",)), row("self.n", "0", held=("t",)), row("self.k", "5")],
        [row("self.t", "1", held=("t",)), row("self.n", "7"), row("self.k", "5")],
        [row("self.t", "2", held=("t",)), row("self.n", "9"), row("self.k", "5")],
    )
    changes = Changes(seen)
    assert changes.held("self.t") == ("t",)
    assert changes.unheld({"self.n": (1,)}) == (
        ChangedObject(path="self.n", kind="value", changed_first=1, changes=2, lost_at=(1,)),
    )


def test_a_value_that_never_changes_is_held_by_nothing():
    """It equals some name of the state by chance."""
    seen = watch([row("self.skip", "0", held=("rng/x",))], [row("self.skip", "0", held=("rng/x",))])
    (found,) = likely_holders(Changes(seen), seen.at(1), rows(row("self.skip", "4")), loop=False)
    assert (found.reason, found.in_state, found.changed_first) == ("not-in-state", (), None)


def test_a_growing_container_is_told_once():
    """Not every name that appears in it."""
    seen = watch(
        [row("self.c", "none", "names")],
        [row("self.c", "1 names", "names"), row("self.c['a']", "1")],
        [row("self.c", "2 names", "names"), row("self.c['a']", "1"), row("self.c['b']", "1")],
    )
    assert [one.path for one in Changes(seen).unheld({})] == ["self.c"]


def test_lost_is_what_has_another_value_after_the_restore():
    """Of a container with other names it alone; equal values are not lost."""
    run = rows(
        row("self.a", "1"), row("self.c", "x", "names"), row("self.c[1]", "1"), row("d", "1")
    )
    restored = rows(row("self.a", "1"), row("self.c", "y", "names"), row("self.c[2]", "1"))
    assert lost_paths(run, restored) == ("self.c", "d")
    assert not same(None, row("d", "1"))
    assert same(None, None)


def test_the_likeliest_holder_stands_first():
    """A generator before a value; the reasons are told; what each step sets comes late."""
    seen = watch(
        [
            row("random", "r0", "generator"),
            row("numpy.random", "n", "generator"),
            row("self.v", "0"),
            row("self.w", "0", held=("w",)),
            row("self.half", "0", "array"),
            row("self.alias", "self.w", "shared"),
            row("self.f", "zip", "opaque"),
        ],
        [
            row("random", "r1", "generator"),
            row("numpy.random", "n", "generator"),
            row("self.v", "3"),
            row("self.w", "1", held=("w",)),
            row("self.half", "9", "array", narrowed=("h",)),
            row("self.alias", "self.w", "shared"),
            row("self.f", "zip", "opaque"),
        ],
    )
    restored = rows(
        row("random", "r7", "generator"),
        row("numpy.random", "n7", "generator"),
        row("self.v", "0"),
        row("self.w", "0"),
        row("self.half", "8", "array"),
        row("self.alias", "1"),
        row("self.f", "zip", "opaque"),
    )
    found = likely_holders(Changes(seen), seen.at(1), restored, loop=False)
    assert [(one.path, one.reason) for one in found] == [
        ("random", "not-in-state"),
        ("self.half", "narrowed"),
        ("self.alias", "no-longer-shared"),
        ("self.v", "not-in-state"),
        ("self.w", "not-restored"),
        ("self.f", "opaque"),
    ]
    assert found[3] == Holder(
        path="self.v",
        kind="value",
        reason="not-in-state",
        changed_first=1,
        in_run="3",
        after_restore="0",
    )
    assert found[2].shared_with == "self.w"
    assert found[1].in_state == ("h",)


def test_one_object_under_two_names_after_the_restore_alone_is_told():
    """A restore by reference makes two things one."""
    seen = watch([row("self.a", "1"), row("self.b", "2")])
    restored = rows(row("self.a", "1"), row("self.b", "self.a", "shared"))
    (found,) = likely_holders(Changes(seen), seen.at(0), restored, loop=False)
    assert (found.path, found.reason, found.shared_with) == (
        "self.b",
        "shared-after-restore",
        "self.a",
    )


def test_names_that_each_step_of_a_script_sets_are_told_apart():
    """Those that were not there before its first step, with all that is below them."""
    seen = watch(
        [row("main.count", "0"), row("main.model.t", "0")],
        [
            row("main.count", "1"),
            row("main.model.t", "0"),
            row("main.model.late", "1"),
            row("main.loss", "3"),
            row("train.batch['x']", "3"),
        ],
    )
    restored = rows(row("main.count", "0"), row("main.model.t", "0"))
    found = likely_holders(Changes(seen), seen.at(1), restored, loop=True)
    assert [(one.path, one.set_by_each_step) for one in found] == [
        ("main.count", False),
        ("main.model.late", False),
        ("main.loss", True),
        ("train.batch['x']", True),
    ]


def test_opaque_objects_are_named_with_their_type():
    """Once each."""
    seen = watch([row("self.f", "zip", "opaque")], [row("self.f", "zip", "opaque")])
    assert seen.opaque() == ("self.f (zip)",)


def test_what_an_exact_resume_lost_over_the_same_step_stands_last():
    """An exact resume that begins after the divergence says nothing of it."""

    def resume(at: int, parted: int | None, *paths: str) -> AuditedResume:
        divergence = None
        if parted is not None:
            divergence = Divergence(kind="output", step=parted, last_equal_step=parted - 1)
        return AuditedResume(
            resume_at=at,
            identical=parted is None,
            divergence=divergence,
            holders=tuple(
                Holder(path=path, kind="value", reason="not-in-state", changed_first=1)
                for path in paths
            ),
        )

    lost = {"cache": [2, 8], "count": [4, 20], "other": [4]}
    judged = judge_holders(
        [resume(2, None), resume(8, 12, "cache", "count", "other"), resume(20, None)], lost
    )
    assert [(one.path, one.lost_without_harm) for one in judged[1].holders] == [
        ("count", False),
        ("other", False),
        ("cache", True),
    ]
    assert judged[0].holders == ()


def test_names_that_each_step_sets_stand_last_among_what_changed():
    """Of a script only."""
    seen = watch(
        [row("main.count", "0")],
        [row("main.loss", "1"), row("main.count", "1")],
        [row("main.loss", "2"), row("main.count", "2")],
    )
    found = Changes(seen).unheld({}, loop=True)
    assert [(one.path, one.set_by_each_step) for one in found] == [
        ("main.count", False),
        ("main.loss", True),
    ]
