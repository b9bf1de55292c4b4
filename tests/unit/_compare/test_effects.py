"""Every field of the environment record is classified, by one table."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

from repropack._compare.effects import EFFECTS, effect_of, rank_of
from repropack._compare.environments import _fields
from repropack.models.environment import EnvironmentRecord
from tests.support.environments import RECORD

FIELDS = [
    f"{section}.{name}"
    for section in ("interpreter", "platform", "cpu", "floats", "numpy")
    for name in _fields(getattr(RECORD, section))
]
OTHERS = [
    "probe_card_at_end",
    "variables.OMP_NUM_THREADS",
    "thread_pools.openblas",
    "thread_pools.openblas.threads",
    "thread_pools.openblas.threading_layer",
    "distributions.numpy",
    "distributions.attrs.fingerprint",
    "distributions.attrs.origin",
]


def matching(field: str) -> list[str]:
    return [pattern for pattern, _, _ in EFFECTS if fnmatchcase(field, pattern)]


@pytest.mark.parametrize("field", [*FIELDS, *OTHERS])
def test_field_is_in_the_table(field):
    """No field falls through to what is said of unknown ones."""
    assert matching(field)


def test_sections_are_those_of_the_record():
    """A new part of the record has to be classified too."""
    assert set(EnvironmentRecord.model_fields) == {
        "schema_name", "interpreter", "platform", "cpu", "floats", "numpy", "thread_pools",
        "distributions", "variables", "probe_card", "probe_card_at_end",
    }  # fmt: skip


def test_rows_are_reachable_and_reasoned():
    """No row stands behind one that takes all of its fields, and each says why."""
    for number, (pattern, _, reason) in enumerate(EFFECTS):
        assert reason
        assert not any(fnmatchcase(pattern, earlier) for earlier, _, _ in EFFECTS[:number])


@pytest.mark.parametrize(
    ("field", "effect"),
    [
        ("variables.OPENBLAS_CORETYPE", "steers"),
        ("numpy.simd_targets.X86_V4", "steers"),
        ("thread_pools.openblas#2.kernel", "steers"),
        ("thread_pools.openblas.threading_layer", "may-steer"),
        ("cpu.features", "steers"),
        ("cpu.model", "may-steer"),
        ("platform.kernel", "describes"),
        ("platform.os_version", "describes"),
        ("interpreter.flags.hash_seed", "steers"),
        ("interpreter.flags.dev_mode", "describes"),
        ("floats.subnormals_float32", "steers"),
        ("floats.formats.float64.bytes", "steers"),
        ("floats.formats.longdouble.bytes", "may-steer"),
        ("distributions.scipy", "steers"),
        ("distributions.scipy.fingerprint", "steers"),
        ("distributions.scipy.origin", "describes"),
        ("distributions.rich", "may-steer"),
        ("unheard.of", "may-steer"),
    ],
)
def test_effect_of_field(field, effect):
    """What was measured to change bytes steers; what only tells describes; the rest may."""
    assert effect_of(field) == effect


def test_what_steers_ranks_first():
    """The order of an account."""
    assert rank_of("steers") < rank_of("may-steer") < rank_of("describes")
