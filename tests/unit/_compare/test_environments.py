"""Differences of two environments: complete, in the order that explains bytes, both ways round."""

from __future__ import annotations

import pytest

from repropack._compare.environments import account_of, compare_environments
from repropack.models.environment import (
    EnvironmentDifference,
    EnvironmentRecord,
)
from tests.support.environments import (
    DOUBLE,
    FLAGS,
    OPENBLAS,
    OPENMP,
    PYDANTIC,
    RECORD,
    digest,
    distribution,
)


def changed(**fields: object) -> EnvironmentRecord:
    """The record with whole parts replaced."""
    return RECORD.model_copy(update=fields)


def rows(recorded: EnvironmentRecord, observed: EnvironmentRecord) -> list[tuple[str | None, ...]]:
    return [
        (row.field, row.recorded, row.observed) for row in compare_environments(recorded, observed)
    ]


OTHER = changed(
    interpreter=RECORD.interpreter.model_copy(
        update={"version": "3.12.1", "pointer_bits": 32, "compiler": "Clang 18"}
    ),
    platform=RECORD.platform.model_copy(update={"libc": None, "kernel": "6.2"}),
    cpu=RECORD.cpu.model_copy(
        update={"model": "EPYC", "features": ("AVX", "AVX2", "VAES"), "usable": 2}
    ),
    numpy=RECORD.numpy.model_copy(
        update={
            "version": "1.26.4",
            "simd_found": ("X86_V3",),
            "simd_targets": {"exp": {"dd": "X86_V3", "ff": "X86_V4"}},
        }
    ),
    thread_pools=(OPENBLAS.model_copy(update={"kernel": "Haswell", "threads": 2}), OPENMP),
    distributions=(
        distribution("attrs", "26.1.0"),
        distribution("numpy", "1.26.4", fingerprint="b"),
    ),
    variables={"MKL_CBWR": "COMPATIBLE", "OMP_NUM_THREADS": "2"},
)
EXPECTED: list[tuple[str | None, ...]] = [
    ("variables.MKL_CBWR", None, "COMPATIBLE"),
    ("variables.OMP_NUM_THREADS", "8", "2"),
    ("numpy.simd_found", "X86_V4", None),
    ("numpy.simd_targets.X86_V2", "floor.dd", None),
    ("numpy.simd_targets.X86_V3", None, "exp.dd"),
    ("numpy.simd_targets.X86_V4", "exp.dd", None),
    ("numpy.version", "2.3.1", "1.26.4"),
    ("thread_pools.openblas.kernel", "SkylakeX", "Haswell"),
    ("thread_pools.openblas.threads", "8", "2"),
    ("thread_pools.openmp", None, "8 threads"),
    ("cpu.features", "AVX512F", "VAES"),
    ("platform.libc", "glibc 2.36", None),
    ("interpreter.version", "3.11.7", "3.12.1"),
    ("interpreter.pointer_bits", "64", "32"),
    ("distributions.numpy", "2.3.1", "1.26.4"),
    ("cpu.model", "Xeon", "EPYC"),
    ("cpu.usable", "8", "2"),
    ("interpreter.compiler", "GCC 12.2.0", "Clang 18"),
    ("distributions.attrs", None, "26.1.0"),
    ("distributions.pydantic", "2.12.0", None),
    ("platform.kernel", "6.1.0", "6.2"),
]


def test_equal_environments_have_no_difference():
    """A record compared with an equal one gives nothing."""
    assert compare_environments(RECORD, RECORD.model_copy(deep=True)) == ()


def test_every_difference_in_order():
    """What steers numbers comes first, what only describes last; each row shows both sides."""
    assert rows(RECORD, OTHER) == EXPECTED
    effects = [row.effect for row in compare_environments(RECORD, OTHER)]
    assert effects == ["steers"] * 15 + ["may-steer"] * 5 + ["describes"]


def test_exchanged_records_give_the_mirror_image():
    """The fields are the same the other way round, each with its sides exchanged."""
    mirrored = [(field, right, left) for field, left, right in EXPECTED]
    assert rows(OTHER, RECORD) == mirrored


def test_rows_are_frozen_models():
    """A difference is a value of a published type."""
    (row,) = compare_environments(RECORD, changed(variables={}))
    assert row == EnvironmentDifference(
        field="variables.OMP_NUM_THREADS", recorded="8", observed=None, effect="steers"
    )


@pytest.mark.parametrize(
    ("section", "field", "value", "expected"),
    [
        ("interpreter", "compiler", "Clang 18", ("interpreter.compiler", "GCC 12.2.0", "Clang 18")),
        (
            "interpreter",
            "implementation",
            "PyPy",
            ("interpreter.implementation", "CPython", "PyPy"),
        ),
        ("platform", "machine", "aarch64", ("platform.machine", "x86_64", "aarch64")),
        ("platform", "byte_order", "big", ("platform.byte_order", "little", "big")),
        ("numpy", "blas_name", None, ("numpy.blas_name", "scipy-openblas", None)),
        ("numpy", "simd_baseline", (), ("numpy.simd_baseline", "X86_V2", None)),
        ("numpy", "c_compiler", "msvc", ("numpy.c_compiler", "gcc 14.2.1", "msvc")),
        ("cpu", "model", None, ("cpu.model", "Xeon", None)),
        ("cpu", "microcode", "0x2", ("cpu.microcode", "0x1", "0x2")),
        ("platform", "os_version", "13", ("platform.os_version", "12", "13")),
        ("floats", "rounding", "up", ("floats.rounding", "nearest-even", "up")),
        ("floats", "subnormals_float32", False, ("floats.subnormals_float32", "true", "false")),
        (
            "floats",
            "formats",
            {"float64": DOUBLE},
            ("floats.formats.longdouble.bytes", "8", None),
        ),
        (
            "interpreter",
            "flags",
            FLAGS.model_copy(update={"hash_seed": "random"}),
            ("interpreter.flags.hash_seed", "fixed", "random"),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_single_field(section, field, value, expected):
    """Any one field that differs gives its row, and none of another section."""
    part = getattr(RECORD, section).model_copy(update={field: value})
    differences = compare_environments(RECORD, changed(**{section: part}))
    assert expected in [(row.field, row.recorded, row.observed) for row in differences]
    assert {row.field.partition(".")[0] for row in differences} == {section}


def test_second_library_of_one_kind():
    """Two libraries of one interface are told apart by their place."""
    second = OPENBLAS.model_copy(update={"version": "0.3.31"})
    both = changed(thread_pools=(OPENBLAS, second))
    assert rows(both, both) == []
    assert rows(both, RECORD) == [
        ("thread_pools.openblas#2", "0.3.31 SkylakeX 8 threads pthreads", None)
    ]
    slower = changed(thread_pools=(OPENBLAS, second.model_copy(update={"threads": 1})))
    assert rows(both, slower) == [("thread_pools.openblas#2.threads", "8", "1")]


def test_lone_pool_is_described_in_one_row():
    """A library that only one side has is told with its version, kernel and threads."""
    lone = OPENMP.model_copy(update={"threads": 1})
    assert rows(changed(thread_pools=(lone,)), changed(thread_pools=())) == [
        ("thread_pools.openmp", "1 thread", None)
    ]


def test_order_of_a_set_is_no_difference():
    """The same instruction sets in another order are the same instruction sets."""
    features = ("AVX2", "AVX", "AVX512F")
    other = changed(cpu=RECORD.cpu.model_copy(update={"features": features}))
    assert rows(RECORD, other) == []


def test_distributions_of_one_version():
    """Origin and files are told of what has one version; files only where both sides know them."""
    editable = distribution("numpy", "2.3.1", "editable", None)
    rebuilt = distribution("numpy", "2.3.1", "sdist", "b")
    assert rows(RECORD, changed(distributions=(editable, PYDANTIC))) == [
        ("distributions.numpy.origin", "wheel", "editable")
    ]
    assert rows(RECORD, changed(distributions=(rebuilt, PYDANTIC))) == [
        ("distributions.numpy.fingerprint", digest("a"), digest("b")),
        ("distributions.numpy.origin", "wheel", "sdist"),
    ]


def test_where_repropack_itself_is_installed_from_is_no_difference():
    """Of the runner the version counts, and neither origin nor files."""
    own = distribution("repropack-replay", "1.0.0")
    elsewhere = distribution("repropack-replay", "1.0.0", "editable", None)
    rebuilt = distribution("repropack-replay", "1.0.0", "sdist", "b")
    later = distribution("repropack-replay", "1.1.0", "editable", None)
    recorded = changed(distributions=(own,))
    assert rows(recorded, changed(distributions=(elsewhere,))) == []
    assert rows(recorded, changed(distributions=(rebuilt,))) == []
    assert rows(recorded, changed(distributions=(later,))) == [
        ("distributions.repropack-replay", "1.0.0", "1.1.0")
    ]


# ---------------------------------------------------------------- the account


def with_card(**families: str) -> dict[str, str]:
    named = {name.replace("_", "-"): digest(letter) for name, letter in families.items()}
    return RECORD.probe_card | named


def test_account_names_families_fields_and_cause():
    """Families that changed together with the fields that explain them, worded as a hypothesis."""
    other = changed(
        probe_card=with_card(unstable_sort="8", exp="9"),
        numpy=RECORD.numpy.model_copy(update={"simd_found": ("X86_V3",)}),
        platform=RECORD.platform.model_copy(update={"kernel": "6.2"}),
    )
    account = account_of(RECORD, other)
    assert account.changed_families == ("exp", "unstable-sort")
    assert account.differences == compare_environments(RECORD, other)
    assert account.sentence == (
        "exp and sorting of ties changed: consistent with another SIMD path (numpy.simd_found)."
    )


def test_account_of_equal_environments():
    """No field, no family: the environment explains nothing."""
    account = account_of(RECORD, RECORD)
    assert (account.differences, account.changed_families) == ((), ())
    assert account.sentence == (
        "none of the 3 families of the probe card changed and no field differs that could steer "
        "numbers: the environment explains no difference of bytes."
    )


def test_account_of_fields_that_only_describe():
    """Another kernel of the system changes that sentence as little as it changes numbers."""
    other = changed(platform=RECORD.platform.model_copy(update={"kernel": "6.2"}))
    account = account_of(RECORD, other)
    assert [row.effect for row in account.differences] == ["describes"]
    assert account.sentence == account_of(RECORD, RECORD).sentence


def test_account_of_fields_without_families():
    """Fields that steer, and a card that is equal: they do not reach what the card holds."""
    account = account_of(RECORD, changed(variables={}))
    assert account.sentence == (
        "none of the 3 families of the probe card changed: consistent with differences that do "
        "not reach them."
    )


def test_account_of_families_without_fields():
    """A family that changed with no field to show for it is told as that."""
    account = account_of(RECORD, changed(probe_card=with_card(exp="9")))
    assert account.differences == ()
    assert account.sentence == (
        "exp changed: consistent with another SIMD path, which no recorded field shows."
    )


def test_account_of_cards_of_two_releases():
    """Families of one card alone are not compared; without a common one nothing is told."""
    other = changed(probe_card={"exp": digest("2"), "later": digest("4")})
    assert account_of(RECORD, other).changed_families == ()
    assert "none of the 1 families" in account_of(RECORD, other).sentence
    none = changed(probe_card={})
    assert account_of(RECORD, none).sentence == (
        "the probe cards have no family in common: they tell nothing."
    )


def test_account_of_a_run_that_changed_its_arithmetic():
    """What changed during a run is a field that steers, and the sentence says so."""
    recorded = changed(probe_card_at_end={"subnormals": digest("5")})
    account = account_of(recorded, RECORD)
    assert [(row.field, row.recorded, row.effect) for row in account.differences] == [
        ("probe_card_at_end", "subnormals", "steers")
    ]
    assert account.sentence.endswith(
        "; during the recorded run itself subnormals changed: something it loaded or called "
        "changed the arithmetic of its process."
    )
    assert "during the observed run" in account_of(RECORD, recorded).sentence


def test_account_mirrors():
    """Exchanging the records exchanges the sides and changes no family."""
    other = OTHER.model_copy(update={"probe_card": with_card(exp="9")})
    there, back = account_of(RECORD, other), account_of(other, RECORD)
    assert there.changed_families == back.changed_families
    assert there.sentence == back.sentence
    assert [(row.field, row.recorded, row.observed) for row in there.differences] == [
        (row.field, row.observed, row.recorded) for row in back.differences
    ]
