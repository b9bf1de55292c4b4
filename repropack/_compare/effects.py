"""Which fields of the environment record can change bytes: the one table that says so.

What it says was measured (numbers of operations changed by each field, over ten releases of NumPy
and eight BLAS kernels) or follows from how the field is used. ``steers`` is said where the field is
known to change the bytes of ordinary numerical code, ``may-steer`` where it can in some programs or
stands for something that does, ``describes`` where it only helps a reader.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from repropack.models.environment import Effect

EFFECTS: tuple[tuple[str, Effect, str], ...] = (
    ("probe_card_at_end", "steers", "arithmetic changed while the experiment ran"),
    ("floats.repr_style", "may-steer", "only text of floats depends on it"),
    ("floats.formats.longdouble.*", "may-steer", "only long doubles depend on it"),
    ("floats.*", "steers", "every operation is rounded so"),
    ("variables.*", "steers", "listed because it chooses a kernel, an order or a precision"),
    ("numpy.version", "steers", "promotion, sums, sorts and FFT changed between releases"),
    ("numpy.simd_*", "steers", "another code path of exp, log, power, sorts and more"),
    ("numpy.c_compiler", "may-steer", "it may fuse a multiplication and an addition"),
    ("numpy.blas_*", "may-steer", "what it was built against; thread_pools says what is loaded"),
    ("thread_pools.*.threading_layer", "may-steer", "how work is shared out among threads"),
    ("thread_pools.*", "steers", "products and sums of a BLAS follow kernel and threads"),
    ("cpu.features", "steers", "NumPy and the C library choose code by them"),
    ("cpu.usable", "may-steer", "the usual number of threads; thread_pools says the actual one"),
    ("cpu.microcode", "may-steer", "it can switch an instruction set off"),
    ("cpu.*", "may-steer", "a BLAS chooses its kernel by it"),
    ("platform.machine", "steers", "compilers fuse operations on some, not on others"),
    ("platform.libc", "steers", "its functions are rounded in another way from release to release"),
    ("platform.byte_order", "may-steer", "fingerprints do not see it, a program's own bytes do"),
    ("platform.system", "may-steer", "other libraries"),
    ("platform.*", "describes", "what steers comes in other fields"),
    ("interpreter.implementation", "steers", "sums of floats, and its own mathematical functions"),
    ("interpreter.version", "steers", "sum() of floats changed in Python 3.12"),
    ("interpreter.pointer_bits", "steers", "hashes, integer types, and x87 arithmetic"),
    ("interpreter.flags.hash_seed", "steers", "the order of sets of text"),
    ("interpreter.flags.utf8_mode", "may-steer", "how text files are read"),
    ("interpreter.flags.optimize", "may-steer", "assertions are not made"),
    ("interpreter.flags.*", "describes", "it changes no result"),
    ("interpreter.*", "may-steer", "it may fuse a multiplication and an addition, or use threads"),
    ("distributions.*.origin", "describes", "the files count, not where they came from"),
    *(
        (f"distributions.{name}{suffix}", "steers", "it computes")
        for name in (
            "cupy", "intel-openmp", "jax", "jaxlib", "llvmlite", "mkl", "numba", "numexpr", "numpy",
            "onnxruntime", "pandas", "scikit-learn", "scipy", "tensorflow", "torch", "xgboost",
        )
        for suffix in ("", ".fingerprint")
    ),
    ("distributions.*", "may-steer", "the experiment may import it"),
)  # fmt: skip
"""Pattern of a dotted field, whether it can change bytes, and why; the first that fits holds."""

_RANKS: dict[Effect, int] = {"steers": 0, "may-steer": 1, "describes": 2}


def effect_of(field: str) -> Effect:
    """Say whether a field of the environment record can change bytes.

    Args:
        field: Dotted, as ``EnvironmentDifference.field``.

    Returns:
        ``may-steer`` also for a field that the table does not know.

    Example:
        >>> effect_of("thread_pools.openblas.kernel"), effect_of("platform.kernel")
        ('steers', 'describes')
    """
    for pattern, effect, _ in EFFECTS:
        if fnmatchcase(field, pattern):
            return effect
    return "may-steer"


def rank_of(effect: Effect) -> int:
    """Return the place of an effect in an account: what steers comes first."""
    return _RANKS[effect]
