"""Bytes that nobody wrote: each reader refuses them by an error of ours, or reads what they say.

The targets are those of ``tools/fuzz.py``, which feeds them under guidance by coverage. What it
found once lies in ``regressions/`` and is tried again here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import targets
from tests.fuzz.programs import TEXTS, forge

pytestmark = pytest.mark.hostile

REGRESSIONS = [
    pytest.param(path, id=f"{path.parent.name}-{path.name}")
    for path in sorted((Path(__file__).parent / "regressions").glob("*/*"))
]
READERS = ("zip", "npz", "npy", "json", "document", "log", "line", "path", "contents")
BOUNDS = tuple(
    value.to_bytes(width, "little")
    for width in (2, 4, 8)
    for value in (0, 1, 2 ** (8 * width) - 1, 2 ** (8 * width - 1), 2 ** (8 * width - 1) - 1)
)
"""Sizes, counts and offsets at the ends of what a field can hold."""


@pytest.fixture(scope="module", autouse=True)
def base(bases: Mapping[str, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    """The honest package that programs change and seeds come from."""
    targets.use_base(bases["own"].package, tmp_path_factory.mktemp("fuzz"))
    honest.cache_clear()


@cache
def honest(name: str) -> tuple[bytes, ...]:
    """Honest inputs of a target."""
    return tuple(targets.seeds(name))


@st.composite
def changed(draw: st.DrawFn, name: str) -> bytes:
    """An honest input in which parts are swapped, spliced, repeated, resized or overwritten."""
    data = draw(st.sampled_from(range(64)).map(lambda k: honest(name)[k % len(honest(name))]))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        stop = min(len(data), start + draw(st.integers(0, 64)))
        piece = draw(
            st.sampled_from(BOUNDS)
            | st.sampled_from(TEXTS)
            | st.binary(max_size=8)
            | st.just(data[start:stop] * 2)
            | st.just(data[start:stop][::-1])
        )
        if draw(st.booleans()):
            stop = min(len(data), start + len(piece))  # overwrite, so that all sizes stay
        data = data[:start] + piece + data[stop:]
    return data


FUZZED = settings(suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("name", READERS)
@FUZZED
@given(data=st.data())
def test_a_reader_refuses_or_reads_what_is_there(name: str, data: st.DataObject) -> None:
    """No other exception, and nothing read that would be written otherwise."""
    targets.TARGETS[name](data.draw(changed(name)))


@pytest.mark.parametrize("name", READERS)
@given(noise=st.binary(max_size=300))
def test_a_reader_survives_noise(name: str, noise: bytes) -> None:
    """The same for bytes that were never a file."""
    targets.TARGETS[name](noise)


@pytest.mark.parametrize("name", READERS)
def test_honest_inputs_are_read(name: str) -> None:
    """The seeds themselves pass, so that what is fuzzed begins behind the first check."""
    assert honest(name)
    for data in honest(name):
        targets.TARGETS[name](data)


@settings(FUZZED, max_examples=60)
@given(program=st.binary(max_size=40))
def test_forged_packages_end_in_faults_of_ours(program: bytes) -> None:
    """Programs of changes, digests and chains made right again: ``check`` always has an answer."""
    targets.fuzz_program(program)


@settings(FUZZED, max_examples=40)
@given(program=st.binary(max_size=40))
def test_the_packed_checker_ends_in_faults_of_its_own(program: bytes) -> None:
    """The same for the checker in one file, which accepts nothing that is unsafe."""
    targets.fuzz_checker(program)


def test_a_program_of_nothing_forges_an_intact_package() -> None:
    """What the programs begin from is honest; otherwise each would fail at its first check."""
    assert targets.check_bytes(forge(targets.base_forgery(), b"")) == []


@pytest.mark.parametrize("path", REGRESSIONS)
def test_what_was_found_once(path: Path) -> None:
    """Inputs that broke a promise before it was mended."""
    targets.TARGETS[path.parent.name](path.read_bytes())
