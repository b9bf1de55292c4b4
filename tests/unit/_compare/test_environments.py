"""Differences of two environments: complete, in the order that explains bytes, both ways round."""

from __future__ import annotations

import pytest

from repropack._compare.environments import compare_environments
from repropack.models.environment import (
    Cpu,
    Distribution,
    EnvironmentDifference,
    EnvironmentRecord,
    Interpreter,
    NumpyBuild,
    Platform,
    ThreadPool,
)

OPENBLAS = ThreadPool(
    interface="openblas",
    version="0.3.27",
    kernel="SkylakeX",
    threads=8,
    threading_layer="pthreads",
)
OPENMP = ThreadPool(interface="openmp", version=None, kernel=None, threads=8, threading_layer=None)
RECORD = EnvironmentRecord(
    interpreter=Interpreter(
        implementation="CPython", version="3.11.7", compiler="GCC 12.2.0", pointer_bits=64
    ),
    platform=Platform(system="Linux", machine="x86_64", libc="glibc 2.36", byte_order="little"),
    cpu=Cpu(model="Xeon", features=("AVX", "AVX2", "AVX512F")),
    numpy=NumpyBuild(
        version="2.3.1",
        simd_baseline=("X86_V2",),
        simd_found=("X86_V3", "X86_V4"),
        blas_name="scipy-openblas",
        blas_version="0.3.27",
    ),
    thread_pools=(OPENBLAS,),
    distributions=(
        Distribution(name="numpy", version="2.3.1"),
        Distribution(name="pydantic", version="2.12.0"),
    ),
    variables={"OMP_NUM_THREADS": "8"},
)


def changed(**fields: object) -> EnvironmentRecord:
    """The record with whole parts replaced."""
    return RECORD.model_copy(update=fields)


def rows(recorded: EnvironmentRecord, observed: EnvironmentRecord) -> list[tuple[str | None, ...]]:
    return [
        (row.field, row.recorded, row.observed) for row in compare_environments(recorded, observed)
    ]


OTHER = changed(
    interpreter=RECORD.interpreter.model_copy(update={"version": "3.12.1", "pointer_bits": 32}),
    platform=RECORD.platform.model_copy(update={"libc": None}),
    cpu=Cpu(model="EPYC", features=("AVX", "AVX2", "VAES")),
    numpy=RECORD.numpy.model_copy(update={"version": "1.26.4", "simd_found": ("X86_V3",)}),
    thread_pools=(OPENBLAS.model_copy(update={"kernel": "Haswell", "threads": 2}), OPENMP),
    distributions=(
        Distribution(name="attrs", version="26.1.0"),
        Distribution(name="numpy", version="1.26.4"),
    ),
    variables={"MKL_CBWR": "COMPATIBLE", "OMP_NUM_THREADS": "2"},
)
EXPECTED: list[tuple[str | None, ...]] = [
    ("variables.MKL_CBWR", None, "COMPATIBLE"),
    ("variables.OMP_NUM_THREADS", "8", "2"),
    ("numpy.version", "2.3.1", "1.26.4"),
    ("numpy.simd_found", "X86_V4", None),
    ("thread_pools.openblas.kernel", "SkylakeX", "Haswell"),
    ("thread_pools.openblas.threads", "8", "2"),
    ("thread_pools.openmp", None, "8 threads"),
    ("cpu.model", "Xeon", "EPYC"),
    ("cpu.features", "AVX512F", "VAES"),
    ("platform.libc", "glibc 2.36", None),
    ("interpreter.version", "3.11.7", "3.12.1"),
    ("interpreter.pointer_bits", "64", "32"),
    ("distributions.attrs", None, "26.1.0"),
    ("distributions.numpy", "2.3.1", "1.26.4"),
    ("distributions.pydantic", "2.12.0", None),
]


def test_equal_environments_have_no_difference():
    """A record compared with an equal one gives nothing."""
    assert compare_environments(RECORD, RECORD.model_copy(deep=True)) == ()


def test_every_difference_in_order():
    """What steers numbers comes first; each row shows both sides."""
    assert rows(RECORD, OTHER) == EXPECTED


def test_exchanged_records_give_the_mirror_image():
    """The fields are the same the other way round, each with its sides exchanged."""
    mirrored = [(field, right, left) for field, left, right in EXPECTED]
    assert rows(OTHER, RECORD) == mirrored


def test_rows_are_frozen_models():
    """A difference is a value of a published type."""
    (row,) = compare_environments(RECORD, changed(variables={}))
    assert row == EnvironmentDifference(
        field="variables.OMP_NUM_THREADS", recorded="8", observed=None
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
        ("cpu", "model", None, ("cpu.model", "Xeon", None)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_single_field(section, field, value, expected):
    """Any one field that differs gives one row."""
    part = getattr(RECORD, section).model_copy(update={field: value})
    assert rows(RECORD, changed(**{section: part})) == [expected]


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
    other = changed(cpu=Cpu(model="Xeon", features=("AVX2", "AVX", "AVX512F")))
    assert rows(RECORD, other) == []
