"""How far the generators of two runs are apart, by what the lab's package stores of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from repropack._read.draws import measure_draws
from repropack._read.equality import hold_against
from repropack._read.package import Package, open_package
from repropack.models.patterns import DrawDistance
from repropack.models.results import Divergence


@pytest.fixture
def package(lab_package: Path) -> Iterator[Package]:
    with open_package(lab_package) as opened:
        yield opened


def at(step: int) -> Divergence:
    return Divergence(kind="output", step=step, last_equal_step=step - 1)


def sampler(step: int, draws: int) -> DrawDistance:
    return DrawDistance(generator="sampler", kind="PCG64", step=step, draws=draws, word_bits=64)


def test_a_sampler_that_was_put_back_is_behind(package: Package) -> None:
    """Forty steps of 512 keys each: 20480 words, from the restored state on."""
    reference, reset = package.run("reference"), package.run("sampler-reset")
    assert measure_draws(reference, reset, at(41)) == (sampler(40, -20480),)
    assert measure_draws(reset, reference, at(41)) == (sampler(40, 20480),)
    assert measure_draws(reference, reset, at(61)) == (sampler(60, -20480),)


def test_equal_generators_are_told_of_the_last_pair_that_was_looked_at(package: Package) -> None:
    """Another order of addition moves no generator."""
    reference, reverse = package.run("reference"), package.run("reversed-reduction")
    assert measure_draws(reference, reverse, at(1)) == (sampler(20, 0),)
    assert measure_draws(reference, reverse, None) == (sampler(20, 0),)


def test_without_a_pair_of_checkpoints_nothing_is_told(package: Package) -> None:
    """A run that is identical to the reference stores only its log."""
    reference, same = package.run("reference"), package.run("full-checkpoint")
    assert measure_draws(reference, same, at(41)) == ()
    assert measure_draws(reference, package.run("sampler-reset"), at(102)) == ()


def test_a_verified_run_has_its_draws_and_counts(package: Package) -> None:
    """What the rules look at is there where a run differs, and only there."""
    reference, reset = package.run("reference"), package.run("sampler-reset")
    found: Any = hold_against(reference, reference, reset, "exact-resume")
    assert found.draws == (sampler(40, -20480),)
    assert (found.config_equal, found.start.differing) == (True, ("sampler",))
    assert found.constants.equal == ("features", "targets")
    counts = {row.name: (row.differing, row.compared, row.first_step) for row in found.stages}
    assert counts["batch"] == (60, 60, 41)
    assert [(row.metric, row.compared, row.equal) for row in found.printed] == [("loss", 60, 6)]
    same = hold_against(reference, reference, package.run("reference"), "independent-replay")
    assert same.equal
    assert (same.draws, same.stages, same.components, same.printed) == ((), (), (), ())
