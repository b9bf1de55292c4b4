"""Sentences follow from families and fields, and real machines give the ones that they should."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from repropack._compare.environments import account_of
from repropack._compare.families import FAMILIES, changed_families, explain
from repropack.models.environment import EnvironmentRecord

ROOT = Path(__file__).parents[3]
PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from repropack._run.environment import observe_environment; "
    "sys.stdout.write(observe_environment().model_dump_json())"
)


def test_changed_families_are_in_the_order_of_the_card():
    """Known families come in the card's order, unknown ones after them, lone ones not at all."""
    left = dict.fromkeys(["zeta", "dot", "exp", "alpha", "log", "left"], "1")
    right = dict.fromkeys(["alpha", "exp", "dot", "zeta", "right"], "2") | {"log": "1"}
    assert changed_families(left, right) == ("exp", "dot", "alpha", "zeta")
    assert changed_families(left, left) == ()


@pytest.mark.parametrize(
    ("families", "fields", "sentence"),
    [
        (
            ["exp", "log", "unstable-sort"],
            ["cpu.features", "numpy.simd_found", "platform.kernel"],
            ("exp, log and sorting of ties changed: consistent with another SIMD path "
            "(numpy.simd_found, cpu.features)"),
        ),
        (
            ["dot", "matmul-f64"],
            ["thread_pools.openblas.kernel", "thread_pools.openblas.version"],
            ("dot products and float64 matrix products changed: consistent with another BLAS "
            "kernel (thread_pools.openblas.kernel, thread_pools.openblas.version)"),
        ),
        (
            ["dot-long"],
            ["thread_pools.openblas.threads"],
            ("long dot products changed: consistent with another number of BLAS threads "
            "(thread_pools.openblas.threads)"),
        ),
        (
            ["dot"],
            ["thread_pools.openblas", "thread_pools.mkl"],
            ("dot products changed: consistent with another BLAS kernel (thread_pools.openblas, "
            "thread_pools.mkl)"),
        ),
        (
            ["exp", "python-sum"],
            ["numpy.version", "interpreter.version", "distributions.numpy"],
            ("exp changed: consistent with another NumPy (numpy.version, distributions.numpy); "
            "Python's sum of floats changed: consistent with another Python "
            "(interpreter.version)"),
        ),
        (
            ["sum-long"],
            ["numpy.version", "platform.machine"],
            ("long sums changed: consistent with another NumPy (numpy.version) or another kind of "
            "machine (platform.machine)"),
        ),
        (
            ["subnormals"],
            ["floats.subnormals_float32", "floats.subnormals_float64"],
            ("subnormal numbers changed: consistent with another floating-point mode, "
            "of rounding or of subnormals (floats.subnormals_float32, floats.subnormals_float64)"),
        ),
        (
            ["libm"],
            ["cpu.features"],
            ("the C library's functions changed: consistent with another path through the libm "
            "(cpu.features)"),
        ),
        (
            ["exp", "log", "power", "complex", "partition", "cube-root"],
            ["cpu.features"],
            ("exp, log, power, complex arithmetic and 2 more changed: consistent with another SIMD "
            "path (cpu.features)"),
        ),
        (
            ["matmul-f32"],
            ["platform.kernel"],
            ("float32 matrix products changed: consistent with another BLAS kernel, which no "
            "recorded field shows"),
        ),
        (["later"], [], "later changed: not a family that this release knows"),
    ],
)  # fmt: skip
def test_sentence(families, fields, sentence):
    """A cause is named where both the families and a field speak for it."""
    assert explain(families, fields) == sentence


def test_every_family_has_a_label_and_a_cause():
    """Labels are told apart, and nothing is without a hypothesis."""
    labels = [label for label, _ in FAMILIES.values()]
    assert len(set(labels)) == len(labels)
    assert all(causes for _, causes in FAMILIES.values())


# ---------------------------------------------------------------- real environments


def observe(**variables: str) -> EnvironmentRecord:
    """The record of a fresh process, with none of the machine's own choices."""
    chosen = ("NPY_", "OPENBLAS_", "GLIBC_TUNABLES")
    own = {name: value for name, value in os.environ.items() if not name.startswith(chosen)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, str(ROOT)],
        env=own | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode < 0:  # some kernels crash: that too is what such an environment does
        pytest.skip(f"the process was ended by signal {-done.returncode} under {variables}")
    assert done.returncode == 0, done.stderr
    return EnvironmentRecord.model_validate_json(done.stdout)


@pytest.fixture(scope="module")
def plain() -> EnvironmentRecord:
    return observe()


def test_account_of_fewer_instruction_sets(plain):
    """Without its wide instruction sets NumPy gives other results, and the account says why."""
    if not plain.numpy.simd_found:
        pytest.skip("NumPy found no instruction set here beyond its baseline")
    fewer = observe(NPY_DISABLE_CPU_FEATURES=" ".join(plain.numpy.simd_found))
    account = account_of(plain, fewer)
    fields = [row.field for row in account.differences]
    assert fields[0] == "variables.NPY_DISABLE_CPU_FEATURES"
    assert {"numpy.simd_found", "cpu.features"} <= set(fields)
    assert {row.effect for row in account.differences} == {"steers"}
    assert not {"dot", "matmul-f64", "libm", "casts"}.intersection(account.changed_families)
    if not account.changed_families:
        pytest.skip("no family of the card depends on the instruction sets of this machine")
    assert "consistent with another SIMD path (variables.NPY_DISABLE_CPU" in account.sentence
    assert ";" not in account.sentence


def test_account_of_another_kernel(plain):
    """Another kernel of OpenBLAS changes products alone, and the account names it."""
    if "openblas" not in {pool.interface for pool in plain.thread_pools}:
        pytest.skip("this NumPy does not compute with OpenBLAS")
    other = observe(OPENBLAS_CORETYPE="Nehalem")
    account = account_of(plain, other)
    fields = [row.field for row in account.differences]
    assert fields[0] == "variables.OPENBLAS_CORETYPE"
    if "thread_pools.openblas.kernel" not in fields:
        pytest.skip("OpenBLAS keeps its kernel on this machine, whatever it is asked for")
    assert set(account.changed_families) <= {
        "dot", "dot-long", "matrix-vector", "matmul-f32", "matmul-f64", "linear-algebra", "einsum",
    }  # fmt: skip
    assert "matrix-vector" in account.changed_families
    assert account.sentence.endswith(
        "consistent with another BLAS kernel (variables.OPENBLAS_CORETYPE, "
        "thread_pools.openblas.kernel)."
    )


def test_account_of_the_same_environment(plain):
    """Two processes of one environment have nothing between them."""
    assert observe() == plain
    assert account_of(plain, observe()).differences == ()
