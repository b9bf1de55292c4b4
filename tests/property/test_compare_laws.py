"""Laws of comparing: a log never differs from itself, and left and right are mirror images."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from repropack._compare.arrays import describe_difference, same_bytes
from repropack._compare.distances import (
    Largest,
    absolute_difference,
    largest_distance,
    ulp_distance,
)
from repropack._compare.logs import LogComparison
from repropack._format.fingerprints import fingerprint_array
from repropack.models.log import StepLine
from repropack.models.results import Divergence, Split
from tests.strategies import plain_arrays
from tests.support.logs import HandMadeRun, step, walk

STAGES = ("batch", "gradient", "update")
COMPONENTS = ("adam", "sampler")
DECLARED = {"batch": ("state:sampler",), "gradient": ("batch",), "update": None}

letters = st.sampled_from("abc")
digests = st.dictionaries(st.sampled_from(COMPONENTS), letters)


@st.composite
def lines(draw: st.DrawFn, number: int) -> StepLine:
    """A step line; stages in any order, any member left out."""
    names = draw(st.permutations(STAGES))[: draw(st.integers(0, 3))]
    return step(
        number,
        draw(st.none() | st.just({name: draw(letters) for name in names})),
        draw(st.none() | digests),
        metrics=draw(st.dictionaries(st.just("loss"), st.sampled_from([0, 0.0, -0.0, 1.5]))),
        printed=draw(st.dictionaries(st.just("loss"), st.sampled_from(["0", "1"]))),
        declares=draw(st.none() | st.just({"gradient": ("batch", "state:adam")})),
        finish=draw(st.sampled_from([None, None, None, "done"])),
    )


@st.composite
def runs(draw: st.DrawFn) -> HandMadeRun:
    count = draw(st.integers(0, 4))
    made = tuple(draw(lines(number)) for number in range(1, count + 1))
    return HandMadeRun(made, draw(digests), DECLARED)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[HandMadeRun, HandMadeRun]:
    """Two runs: the second any other, or the first with some of its lines replaced."""
    left = draw(runs())
    if draw(st.booleans()):
        return left, draw(runs())
    changed = tuple(
        draw(lines(one.step)) if draw(st.integers(0, 3)) == 0 else one for one in left.lines
    )
    return left, replace(left, lines=changed[: draw(st.integers(0, len(changed)))])


def content(line: StepLine) -> Any:
    return line.model_dump_json(exclude={"chain"})


def found_in(comparison: LogComparison) -> Divergence:
    assert comparison.divergence is not None
    return comparison.divergence


class TestLogs:
    """The walk over two logs."""

    @given(runs())
    def test_a_log_does_not_differ_from_itself(self, run: HandMadeRun) -> None:
        """compare(a, a) is empty, whatever was recorded."""
        comparison = walk(run, run)
        assert comparison.divergence is None
        counts = (*comparison.stage_counts(), *comparison.component_counts())
        assert all(count.differing == 0 for count in counts)
        assert comparison.last_step == len(run.lines)

    @given(pairs())
    def test_left_and_right_are_mirror_images(self, pair: tuple[HandMadeRun, HandMadeRun]) -> None:
        """Step, kind and counts do not depend on which run is the expected one."""
        there, back = walk(pair[0], pair[1]), walk(pair[1], pair[0])
        assert (there.divergence is None) == (back.divergence is None)
        assert there.component_counts() == back.component_counts()
        assert sorted(there.stage_counts(), key=lambda row: row.name) == sorted(
            back.stage_counts(), key=lambda row: row.name
        )
        if there.divergence is None:
            return
        left, right = found_in(there), found_in(back)
        assert (left.kind, left.step, left.last_equal_step) == (
            right.kind, right.step, right.last_equal_step,
        )  # fmt: skip
        assert (left.missing, left.unexpected) == (right.unexpected, right.missing)
        assert (left.metrics, left.state_before, left.state_after) == (
            right.metrics, right.state_before, right.state_after,
        )  # fmt: skip
        assert set(left.stages.differing) == set(right.stages.differing)
        if left.kind != "structure":
            assert left.stage == right.stage
            assert left.inputs == right.inputs

    @given(pairs())
    def test_a_divergence_is_never_after_a_record_that_differs(
        self, pair: tuple[HandMadeRun, HandMadeRun]
    ) -> None:
        """No line before the divergence holds a recorded value that differs."""
        left, right = pair
        comparison = walk(left, right)
        end = comparison.divergence.step if comparison.divergence else len(left.lines) + 1
        for first, second in zip(left.lines, right.lines, strict=False):
            if first.step >= end:
                break
            if first.stages is not None and second.stages is not None:
                assert first.stages == second.stages
            if first.state is not None and second.state is not None:
                assert first.state == second.state
            assert content(step(1, metrics=first.metrics, printed=first.printed)) == content(
                step(1, metrics=second.metrics, printed=second.printed)
            )
            assert first.finish == second.finish

    @given(pairs())
    def test_a_divergence_lies_between_what_is_equal_and_what_differs(
        self, pair: tuple[HandMadeRun, HandMadeRun]
    ) -> None:
        """The last equal step is before it, and its splits are of its own step."""
        comparison = walk(*pair)
        if comparison.divergence is None:
            assert len(pair[0].lines) == len(pair[1].lines)
            return
        found = found_in(comparison)
        assert 0 <= found.last_equal_step < found.step
        if found.kind == "output":
            assert all(item.equal is True for item in found.inputs)
        if found.kind == "undetermined":
            assert any(item.equal is None for item in found.inputs)
            assert all(item.equal is not False for item in found.inputs)
        if found.kind == "state" and found.stage is not None:
            assert any(item.equal is False for item in found.inputs)
        if found.kind == "state" and found.stage is None:
            assert found.state_after != Split(equal=(found.state_after or Split()).equal)

    @given(pairs())
    def test_counts_never_exceed_what_was_compared(
        self, pair: tuple[HandMadeRun, HandMadeRun]
    ) -> None:
        """A first step is given exactly where something differs."""
        comparison = walk(*pair)
        for count in (*comparison.stage_counts(), *comparison.component_counts()):
            assert 0 <= count.differing <= count.compared <= comparison.last_step
            assert (count.first_step is not None) == (count.differing > 0)


class TestArrays:
    """Two arrays of one form."""

    @given(plain_arrays())
    def test_an_array_is_no_distance_from_itself(self, array: Any) -> None:
        """Also where it holds NaN or infinities."""
        assert same_bytes(array, array.copy())
        assert not absolute_difference(array, array).any()
        distance = ulp_distance(array, array)
        assert distance is None or not distance.any()
        assert describe_difference("value", 1, array, array).elements_differing == 0

    @given(st.data())
    def test_distances_are_symmetric(self, data: st.DataObject) -> None:
        """Exchanging the sides exchanges nothing but the sides."""
        left = data.draw(plain_arrays())
        bits = data.draw(st.binary(min_size=left.nbytes, max_size=left.nbytes))
        if left.dtype.kind == "b":
            bits = bytes(byte & 1 for byte in bits)
        right = np.frombuffer(bits, left.dtype).reshape(left.shape)
        assert same_bytes(left, right) == same_bytes(right, left)
        assert same_bytes(left, right) == (
            fingerprint_array("a", left) == fingerprint_array("a", right)
        )
        there, back = absolute_difference(left, right), absolute_difference(right, left)
        assert np.array_equal(there, back, equal_nan=True)
        assert not (there[~np.isnan(there)] < 0).any()
        units, others = ulp_distance(left, right), ulp_distance(right, left)
        assert (units is None) == (others is None)
        if units is not None and others is not None:
            assert np.array_equal(units, others)
        found = describe_difference("value", 1, left, right)
        mirrored = describe_difference("value", 1, right, left)
        assert (found.elements_differing == 0) == same_bytes(left, right)
        assert (found.largest_absolute, found.largest_ulp) == (
            mirrored.largest_absolute, mirrored.largest_ulp,
        )  # fmt: skip
        assert [(one.index, one.expected_bits, one.observed_bits) for one in found.first] == [
            (one.index, one.observed_bits, one.expected_bits) for one in mirrored.first
        ]


@given(st.data(), st.sampled_from(["<f2", "<f4", "<f8", "<c8", "<c16", "<i2", "<u8"]))
def test_blocks_have_the_largest_distances_of_the_whole(data: st.DataObject, form: str) -> None:
    """Whatever the bits, and however the elements are divided; memory of a block is used again."""
    dtype = np.dtype(form)
    elements = data.draw(st.integers(1, 12))
    raw = st.binary(min_size=dtype.itemsize * elements, max_size=dtype.itemsize * elements)
    left, right = (np.frombuffer(data.draw(raw), dtype) for _ in range(2))
    width = data.draw(st.integers(1, 12))
    found = Largest(dtype, width)
    for start in range(0, elements, width):
        found.add(left[start : start + width], right[start : start + width])
    absolute = np.fmax.reduce(absolute_difference(left, right), initial=0.0)
    assert (found.absolute, found.ulp) == (absolute, largest_distance(left, right))
