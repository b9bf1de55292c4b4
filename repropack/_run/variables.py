"""Which environment variables a worker process has, and which of them are recorded.

A worker starts from an environment that is built here and from nothing else: variables with a
fixed value, numeric variables by an exact list, and what a process needs to start. Nothing else
of the caller's environment may reach it. In particular no home directory, no temporary folder,
no ``PYTHONPATH`` and no name that could carry a secret is ever passed, and only the numeric
variables are recorded. There are no prefixes: a name is listed, or it is not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

FIXED_VARIABLES: Mapping[str, str] = MappingProxyType(
    {
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "TZ": "UTC",
    }
)
"""The same in every worker, whatever the caller has. ``PYTHONNOUSERSITE`` is left out: the worker
uses the distributions that the judging process uses, wherever they are installed."""

NUMERIC_VARIABLES: frozenset[str] = frozenset(
    {
        # NumPy, the C library and the dispatch of instruction sets
        "GLIBC_TUNABLES",
        "NPY_DISABLE_CPU_FEATURES",
        "NPY_ENABLE_CPU_FEATURES",
        "NPY_PROMOTION_STATE",
        # OpenBLAS and its ancestor
        "GOTOBLAS_MAIN_FREE",
        "GOTO_NUM_THREADS",
        "OPENBLAS_BLOCK_FACTOR",
        "OPENBLAS_CORETYPE",
        "OPENBLAS_DEFAULT_NUM_THREADS",
        "OPENBLAS_L2_SIZE",
        "OPENBLAS_MAIN_FREE",
        "OPENBLAS_NUM_THREADS",
        # MKL
        "MKL_CBWR",
        "MKL_DEBUG_CPU_TYPE",
        "MKL_DISABLE_FAST_MM",
        "MKL_DOMAIN_NUM_THREADS",
        "MKL_DYNAMIC",
        "MKL_ENABLE_INSTRUCTIONS",
        "MKL_INTERFACE_LAYER",
        "MKL_NUM_STRIPES",
        "MKL_NUM_THREADS",
        "MKL_THREADING_LAYER",
        # BLIS and AOCL, Accelerate, FlexiBLAS
        "AOCL_ENABLE_INSTRUCTIONS",
        "BLIS_ARCH_TYPE",
        "BLIS_IC_NT",
        "BLIS_IR_NT",
        "BLIS_JC_NT",
        "BLIS_JR_NT",
        "BLIS_MODEL_TYPE",
        "BLIS_NUM_THREADS",
        "BLIS_PC_NT",
        "BLIS_THREAD_IMPL",
        "FLEXIBLAS",
        "VECLIB_MAXIMUM_THREADS",
        # OpenMP, and its Intel, LLVM and GNU libraries
        "GOMP_CPU_AFFINITY",
        "KMP_AFFINITY",
        "KMP_ALL_THREADS",
        "KMP_BLOCKTIME",
        "KMP_DETERMINISTIC_REDUCTION",
        "KMP_DYNAMIC_MODE",
        "KMP_FORCE_REDUCTION",
        "KMP_HW_SUBSET",
        "KMP_LIBRARY",
        "OMP_ADAPTIVE",
        "OMP_DYNAMIC",
        "OMP_MAX_ACTIVE_LEVELS",
        "OMP_NESTED",
        "OMP_NUM_THREADS",
        "OMP_PLACES",
        "OMP_PROC_BIND",
        "OMP_SCHEDULE",
        "OMP_STACKSIZE",
        "OMP_THREAD_LIMIT",
        "OMP_WAIT_POLICY",
        # compilers of expressions
        "NUMBA_CPU_FEATURES",
        "NUMBA_CPU_NAME",
        "NUMBA_DISABLE_JIT",
        "NUMBA_LOOP_VECTORIZE",
        "NUMBA_NUM_THREADS",
        "NUMBA_OPT",
        "NUMBA_SLP_VECTORIZE",
        "NUMBA_THREADING_LAYER",
        "NUMEXPR_MAX_THREADS",
        "NUMEXPR_NUM_THREADS",
        # oneDNN, PyTorch, JAX, TensorFlow
        "ATEN_CPU_CAPABILITY",
        "DNNL_CPU_ISA_HINTS",
        "DNNL_DEFAULT_FPMATH_MODE",
        "DNNL_MAX_CPU_ISA",
        "JAX_DEFAULT_MATMUL_PRECISION",
        "JAX_ENABLE_X64",
        "ONEDNN_CPU_ISA_HINTS",
        "ONEDNN_DEFAULT_FPMATH_MODE",
        "ONEDNN_MAX_CPU_ISA",
        "TF_CUDNN_DETERMINISTIC",
        "TF_DETERMINISTIC_OPS",
        "TF_ENABLE_ONEDNN_OPTS",
        "TF_NUM_INTEROP_THREADS",
        "TF_NUM_INTRAOP_THREADS",
        "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
        "TORCH_BLAS_PREFER_CUBLASLT",
        # NVIDIA's libraries
        "CUBLASLT_WORKSPACE_SIZE",
        "CUBLAS_WORKSPACE_CONFIG",
        "NCCL_ALGO",
        "NCCL_MAX_NCHANNELS",
        "NCCL_MIN_NCHANNELS",
        "NCCL_PROTO",
        "NVIDIA_TF32_OVERRIDE",
    }
)
"""Passed through and recorded: each can choose a kernel, an order of addition or a precision."""

STARTING_VARIABLES: frozenset[str] = frozenset(
    {
        "DYLD_FALLBACK_LIBRARY_PATH",
        "DYLD_LIBRARY_PATH",
        "LD_LIBRARY_PATH",
        "PATH",
        "SYSTEMROOT",
    }
)
"""Passed through and never recorded: a process needs them to start, or to find its libraries."""

HIDDEN_VALUE = "<not recorded>"
"""Stands in a record for a value that could be a path, or is not plain text."""


def worker_environment(caller: Mapping[str, str], *, hash_seed: int = 0) -> dict[str, str]:
    """Return the complete environment of a worker process.

    Args:
        caller: The environment to select from, as ``os.environ``.
        hash_seed: ``PYTHONHASHSEED`` of the worker, 0 to 2**32 - 1.

    Returns:
        Fixed, numeric and starting variables, sorted by name; nothing else of ``caller``.

    Example:
        >>> caller = {"HOME": "/home/ada", "OMP_NUM_THREADS": "2", "TZ": "Asia/Tokyo"}
        >>> sorted(worker_environment(caller).items())[-2:]
        [('PYTHONHASHSEED', '0'), ('TZ', 'UTC')]
    """
    passed = NUMERIC_VARIABLES | STARTING_VARIABLES
    chosen = {name: value for name, value in caller.items() if name in passed}
    chosen.update(FIXED_VARIABLES)
    chosen["PYTHONHASHSEED"] = str(hash_seed)
    return dict(sorted(chosen.items()))


def numeric_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the numeric variables of ``environment``, sorted by name, as they are recorded.

    A value with a slash, backslash or tilde could name a folder of its author; it is replaced by
    ``HIDDEN_VALUE``, as is one that is not printable ASCII. That it was set remains visible.

    Example:
        >>> numeric_variables({"OMP_NUM_THREADS": "2", "FLEXIBLAS": "/opt/x.so", "USER": "ada"})
        {'FLEXIBLAS': '<not recorded>', 'OMP_NUM_THREADS': '2'}
    """
    return {
        name: _recorded(environment[name])
        for name in sorted(NUMERIC_VARIABLES)
        if name in environment
    }


def _recorded(value: str) -> str:
    plain = value.isascii() and value.isprintable() and not set(value) & set("/\\~")
    return value if plain else HIDDEN_VALUE
