"""What can change the families of the probe card, and the sentence that says so.

Evidence is two lists: the families whose digests differ, and the fields that differ. A cause is
named only as what both are *consistent with*; where no field shows it, the sentence says that too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

_MAX_NAMES = 5
_MAX_FIELDS = 3
_MAX_CAUSES = 2


@dataclass(frozen=True, slots=True)
class Cause:
    """Something that changes results, and the fields in which it shows, most telling first."""

    name: str
    fields: tuple[str, ...]


FLOATS = Cause(
    "another floating-point mode, of rounding or of subnormals", ("floats.*", "probe_card_at_end")
)
SIMD = Cause(
    "another SIMD path",
    ("variables.NPY_*_CPU_FEATURES", "numpy.simd_found", "cpu.features", "numpy.simd_*"),
)
NUMPY = Cause("another NumPy", ("numpy.version", "distributions.numpy*", "numpy.c_compiler"))
MACHINE = Cause("another kind of machine", ("platform.machine", "interpreter.pointer_bits"))
LIBM = Cause(
    "another libm, or another path through it",
    ("variables.GLIBC_TUNABLES", "platform.libc", "platform.system"),
)
LIBM_PATH = Cause("another path through the libm", ("cpu.features",))
BLAS = Cause(
    "another BLAS kernel",
    ("variables.OPENBLAS_CORETYPE", "variables.MKL_*", "variables.BLIS_ARCH_TYPE",
     "thread_pools.*.kernel", "thread_pools.*.version",
     *(f"thread_pools.{name}{place}" for name in ("openblas", "mkl", "blis", "flexiblas")
       for place in ("", "#[1-9]")),
     "numpy.blas_*"),
)  # fmt: skip
THREADS = Cause(
    "another number of BLAS threads", ("variables.*_NUM_THREADS", "thread_pools.*.threads")
)
PYTHON = Cause("another Python", ("interpreter.version", "interpreter.implementation"))

_BASIC = (FLOATS, NUMPY, MACHINE)
_SIMD = (SIMD, NUMPY, MACHINE)
_LIBRARY = (NUMPY, MACHINE)
_PRODUCT = (BLAS, THREADS, NUMPY, MACHINE)

FAMILIES: Mapping[str, tuple[str, tuple[Cause, ...]]] = {
    "arithmetic-f32": ("float32 arithmetic", _BASIC),
    "arithmetic-f64": ("float64 arithmetic", _BASIC),
    "division": ("division", _BASIC),
    "subnormals": ("subnormal numbers", _BASIC),
    "casts": ("casts", _BASIC),
    "integers": ("integer arithmetic", _LIBRARY),
    "ordered-sums": ("ordered sums", _BASIC),
    "python-arithmetic": ("Python's own arithmetic", (FLOATS, PYTHON, MACHINE)),
    "square-root": ("square roots", _BASIC),
    "stable-sort": ("stable sorting", _LIBRARY),
    "raw-words": ("raw generator words", _LIBRARY),
    "text": ("text of floats", (PYTHON, FLOATS)),
    "exp": ("exp", _SIMD),
    "log": ("log", _SIMD),
    "exp-log-variants": ("variants of exp and log", _SIMD),
    "sin-cos": ("sin/cos", (SIMD, LIBM, NUMPY, MACHINE)),
    "tan-hyperbolic": ("tan and hyperbolic functions", _SIMD),
    "arc-functions": ("arc functions", _SIMD),
    "power": ("power", _SIMD),
    "cube-root": ("cube roots", _SIMD),
    "hypot": ("hypot", (LIBM, NUMPY, MACHINE)),
    "complex": ("complex arithmetic", _SIMD),
    "nan-bits": ("bits of NaN", _SIMD),
    "signed-zeros": ("choice between signed zeros", _SIMD),
    "unstable-sort": ("sorting of ties", _SIMD),
    "partition": ("partitioning", _SIMD),
    "sum-short": ("short sums", _LIBRARY),
    "sum-long": ("long sums", _LIBRARY),
    "sum-axis": ("sums along an axis", _LIBRARY),
    "mean-variance": ("mean and variance", _LIBRARY),
    "einsum": ("einsum", _LIBRARY),
    "fft": ("FFT", _LIBRARY),
    "dot": ("dot products", _PRODUCT),
    "dot-long": ("long dot products", _PRODUCT),
    "matrix-vector": ("matrix-vector products", _PRODUCT),
    "matmul-f32": ("float32 matrix products", _PRODUCT),
    "matmul-f64": ("float64 matrix products", _PRODUCT),
    "linear-algebra": ("linear algebra", _PRODUCT),
    "uniform-draws": ("uniform draws", _LIBRARY),
    "normal-draws": ("normal draws", (LIBM, NUMPY, MACHINE)),
    "permutation-draws": ("permutations", _LIBRARY),
    "libm": ("the C library's functions", (LIBM, LIBM_PATH, PYTHON, MACHINE)),
    "python-sum": ("Python's sum of floats", (PYTHON,)),
    "numpy-text": ("text of NumPy's floats", (NUMPY, PYTHON)),
    "promotion": ("types of mixed operands", (NUMPY,)),
}
"""Label and possible causes of every family, likeliest first, in the order of the card."""


def changed_families(recorded: Mapping[str, str], observed: Mapping[str, str]) -> tuple[str, ...]:
    """Return the families that both cards have and in which they differ, in the card's order.

    Args:
        recorded: Digests by family.
        observed: Digests by family.

    Returns:
        Known families first; those that only another release knows after them, by name.
    """
    differing = {
        name for name in recorded.keys() & observed.keys() if recorded[name] != observed[name]
    }
    known = [name for name in FAMILIES if name in differing]
    return (*known, *sorted(differing.difference(known)))


def explain(families: Sequence[str], fields: Sequence[str]) -> str:
    """Say what changed families are consistent with, given the fields that differ.

    Args:
        families: At least one, in the card's order.
        fields: Dotted, as ``EnvironmentDifference.field``.

    Returns:
        Clauses separated by semicolons, without a full stop.

    Example:
        >>> explain(["exp", "unstable-sort"], ["cpu.features"])
        'exp and sorting of ties changed: consistent with another SIMD path (cpu.features)'
    """
    groups: dict[str, list[str]] = {}
    for family in families:
        label, causes = FAMILIES.get(family, (family, ()))
        groups.setdefault(_reason(causes, fields), []).append(label)
    return "; ".join(f"{_listed(labels)} changed: {reason}" for reason, labels in groups.items())


def _reason(causes: tuple[Cause, ...], fields: Sequence[str]) -> str:
    shown = [(cause, found) for cause in causes if (found := _evidence(cause, fields))]
    if shown:
        parts = [f"{cause.name} ({', '.join(found)})" for cause, found in shown[:_MAX_CAUSES]]
        return f"consistent with {' or '.join(parts)}"
    if causes:
        return f"consistent with {causes[0].name}, which no recorded field shows"
    return "not a family that this release knows"


def _evidence(cause: Cause, fields: Sequence[str]) -> list[str]:
    """Return the differing fields in which a cause shows, most telling first, the first few."""
    found = [field for pattern in cause.fields for field in fields if fnmatchcase(field, pattern)]
    return list(dict.fromkeys(found))[:_MAX_FIELDS]


def _listed(labels: list[str]) -> str:
    if len(labels) > _MAX_NAMES:
        rest = len(labels) - _MAX_NAMES + 1
        return f"{', '.join(labels[: _MAX_NAMES - 1])} and {rest} more"
    head, last = labels[:-1], labels[-1]
    return f"{', '.join(head)} and {last}" if head else last
