"""Laws of comparing runs: a search finds what reading finds, left and right are mirror images."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from repropack.diff_of_runs import diff_runs
from tests.support.handmade_logs import digest_of, header, log_bytes, start, step

_Steps = list[dict[str, Any]]
letters = st.sampled_from("ab")


@st.composite
def members(draw: st.DrawFn, number: int) -> dict[str, Any]:
    """One step; stages in any order, stages or state left out, texts of any length."""
    names = draw(st.permutations(["batch", "gradient", "w"]))[: draw(st.integers(2, 3))]
    stages = [[name, digest_of(draw(letters))] for name in names]
    state = [[name, digest_of(draw(letters))] for name in ("s", "w")]
    return step(
        number,
        stages=draw(st.sampled_from([stages, stages, None])),
        state=draw(st.sampled_from([state, state, None])),
        metrics={"loss": draw(st.sampled_from([0.0, -0.0, 1]))},
        printed={"loss": "x" * draw(st.sampled_from([1, 2, 500]))},
    )


@st.composite
def pairs(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Two logs that are equal up to some step; the second may begin or end elsewhere."""
    count = draw(st.integers(1, 12))
    left: _Steps = [draw(members(number)) for number in range(1, count + 1)]
    right = [dict(one) for one in left]
    for number in draw(st.sets(st.integers(1, count), max_size=3)):
        right[number - 1] = draw(members(number))
    del right[draw(st.integers(1, count)) :]
    if draw(st.booleans()):
        return log_bytes(left), log_bytes(right)
    first = draw(st.integers(1, count))
    chain = "sha256:" + log_bytes(left).splitlines()[first][17:81].decode()
    state = left[first - 2].get("state") if first > 1 else None
    begin = start(chain if first > 1 else None, **({"state": state} if state else {}))
    return log_bytes(left), log_bytes(right[first - 1 :], header(first), begin)


@contextmanager
def written(pair: tuple[bytes, bytes]) -> Iterator[list[Path]]:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("left.jsonl", "right.jsonl")]
        for path, data in zip(paths, pair, strict=True):
            path.write_bytes(data)
        yield paths


class TestSearch:
    """``diff --fast`` against ``diff``."""

    @given(pairs())
    def test_a_search_finds_what_reading_finds(self, pair: tuple[bytes, bytes]) -> None:
        """Verdict, divergence, and whether the two can be compared at all."""
        with written(pair) as paths:
            whole, fast = diff_runs(*paths), diff_runs(*paths, believe_chains=True)
        assert (fast.verdict, fast.divergence) == (whole.verdict, whole.divergence)
        assert (fast.comparable, fast.reasons) == (whole.comparable, whole.reasons)
        assert (fast.first_step, fast.last_step) == (whole.first_step, whole.last_step)
        assert (fast.start, fast.chains_equal) == (whole.start, whole.chains_equal)
        assert (fast.left, fast.right) == (whole.left, whole.right)

    @given(pairs())
    def test_left_and_right_are_mirror_images(self, pair: tuple[bytes, bytes]) -> None:
        """Steps, kinds and counts do not depend on which run is the expected one."""
        with written(pair) as paths:
            there, back = diff_runs(*paths), diff_runs(*reversed(paths))
        assert (there.verdict, there.comparable) == (back.verdict, back.comparable)
        if there.divergence is not None:
            assert back.divergence is not None
            assert (there.divergence.kind, there.divergence.step) == (
                back.divergence.kind,
                back.divergence.step,
            )
        if there.structure is not None:
            assert back.structure is not None
            assert (there.structure.missing, there.structure.step) == (
                back.structure.extra,
                back.structure.step,
            )
        if there.counts is not None:
            assert back.counts is not None
            assert there.counts.differing == back.counts.differing
            assert there.counts.components == back.counts.components
            assert there.counts.meets_again == back.counts.meets_again
            assert there.counts.equal_between == back.counts.equal_between

    @given(pairs())
    def test_a_log_is_identical_to_itself(self, pair: tuple[bytes, bytes]) -> None:
        """Whatever was recorded; without a step there is nothing to compare."""
        with written(pair) as paths:
            found = diff_runs(paths[1], paths[1])
        if len(pair[1].splitlines()) == 2:
            assert [why.reason for why in found.reasons] == ["no-step-in-common"]
        else:
            assert (found.verdict, found.divergence) == ("identical", None)
