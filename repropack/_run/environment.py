"""What the worker process observes of its interpreter, machine and numerical libraries.

Called inside the worker, after NumPy is imported. It never reads a user, a host name, a home
directory or a clock into the record, and no path: libraries are named by version and kernel.
"""

from __future__ import annotations

import os
import platform
import re
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import threadpoolctl

from repropack._format.canonical import encode_canonical
from repropack._run.distributions import observe_distributions
from repropack._run.guard import keeps_subnormals, rounding_of
from repropack._run.probe_card import probe_card
from repropack._run.processor import observe_processor
from repropack._run.variables import HIDDEN_VALUE, numeric_variables
from repropack.models.environment import (
    EnvironmentRecord,
    FloatFacts,
    FloatFormat,
    Interpreter,
    InterpreterFlags,
    NumpyBuild,
    Platform,
    Rounding,
    ThreadPool,
)

OS_RELEASE = (Path("/etc/os-release"), Path("/usr/lib/os-release"))
_OS_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~+-]{0,63}")

_FLOAT_KINDS: Mapping[str, type[np.floating[Any]]] = MappingProxyType(
    {
        "float16": np.float16,
        "float32": np.float32,
        "float64": np.float64,
        "longdouble": np.longdouble,
    }
)
_FLOAT_CODES = frozenset("efdgFDG")


def main() -> int:
    """Print the record of this process, in which no experiment is; return the exit status."""
    record = observe_environment()
    sys.stdout.buffer.write(encode_canonical(record.model_dump(mode="json")))
    return 0


def observe_environment(card: Mapping[str, str] | None = None) -> EnvironmentRecord:
    """Return what steers numbers in this process.

    Libraries that are loaded later are not seen: call it when the experiment is loaded.

    Args:
        card: What ``probe_card()`` gave in this process; computed here where it is not given.

    Returns:
        The record, every list in it sorted. ``probe_card_at_end`` is null: it is known later.

    Determinism:
        The same record in every process of one machine and one installation whose numeric
        variables and interpreter flags are equal, whatever the working directory, time, or value
        of the hash seed.
    """
    return EnvironmentRecord(
        interpreter=_interpreter(),
        platform=_platform(),
        cpu=observe_processor(),
        floats=_floats(),
        numpy=_numpy_build(),
        thread_pools=_thread_pools(),
        distributions=observe_distributions(),
        variables=numeric_variables(os.environ),
        probe_card=dict(probe_card() if card is None else card),
    )


def _interpreter() -> Interpreter:
    seed = os.environ.get("PYTHONHASHSEED", "random")
    fixed = seed not in {"", "random"} and not sys.flags.ignore_environment
    return Interpreter(
        implementation=platform.python_implementation(),
        version=platform.python_version(),
        compiler=_plain(platform.python_compiler().strip()),
        pointer_bits=struct.calcsize("P") * 8,
        abi_flags=getattr(sys, "abiflags", ""),
        flags=InterpreterFlags(
            hash_seed="fixed" if fixed else "random",
            optimize=sys.flags.optimize,
            utf8_mode=bool(sys.flags.utf8_mode),
            isolated=bool(sys.flags.isolated),
            dev_mode=bool(sys.flags.dev_mode),
        ),
    )


def _platform() -> Platform:
    release = _os_release()
    kernel = re.match(r"\d+(\.\d+)*", platform.release())
    return Platform(
        system=platform.system(),
        os_id=release.get("ID"),
        os_version=release.get("VERSION_ID"),
        kernel=kernel[0] if kernel else None,
        machine=platform.machine(),
        libc=_libc(),
        byte_order=sys.byteorder,
    )


def _os_release() -> dict[str, str]:
    """Return the words of ``os-release``; anything that is not one plain word is left out."""
    if platform.system() == "Darwin":
        return {"ID": "macos", "VERSION_ID": platform.mac_ver()[0]}
    for path in OS_RELEASE:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        pairs = (line.partition("=") for line in text.splitlines())
        words = {key: value.strip("\"'") for key, _, value in pairs}
        return {key: value for key, value in words.items() if _OS_WORD.fullmatch(value)}
    return {}


def _libc() -> str | None:
    """Return name and version of the C library, or of the system that it comes with."""
    if platform.system() == "Darwin":
        return f"libSystem of macOS {platform.mac_ver()[0]}"
    try:
        observed = os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, OSError, ValueError):
        observed = None
    return observed or " ".join(platform.libc_ver()).strip() or None


def _floats() -> FloatFacts:
    with np.errstate(all="ignore"):
        rounding: Rounding = rounding_of(np.float64)
        if rounding_of(np.float32) != rounding:
            rounding = "other"
        return FloatFacts(
            rounding=rounding,
            subnormals_float32=keeps_subnormals(np.float32),
            subnormals_float64=keeps_subnormals(np.float64),
            repr_style=sys.float_repr_style,
            formats={"python": _python_format()}
            | {name: _format(kind) for name, kind in _FLOAT_KINDS.items()},
        )


def _python_format() -> FloatFormat:
    facts = sys.float_info
    return FloatFormat(
        bytes=struct.calcsize("d"),
        significand_bits=facts.mant_dig - 1,
        min_exponent=facts.min_exp - 1,  # C counts from a significand below one
        max_exponent=facts.max_exp,
    )


def _format(kind: type[np.floating[Any]]) -> FloatFormat:
    facts = np.finfo(kind)
    return FloatFormat(
        bytes=np.dtype(kind).itemsize,
        significand_bits=int(facts.nmant),
        min_exponent=int(facts.minexp),
        max_exponent=int(facts.maxexp),
    )


def _numpy_build() -> NumpyBuild:
    config: Mapping[str, Any] = np.show_config(mode="dicts")
    simd = config.get("SIMD Extensions", {})
    blas = config.get("Build Dependencies", {}).get("blas", {})
    compiler = config.get("Compilers", {}).get("c", {})
    words = [compiler[key] for key in ("name", "version") if compiler.get(key)]
    return NumpyBuild(
        version=np.__version__,
        c_compiler=_plain(" ".join(words)) or None,
        simd_baseline=tuple(simd.get("baseline", ())),
        simd_found=tuple(simd.get("found", ())),
        simd_targets=_simd_targets(),
        blas_name=blas.get("name"),
        blas_version=blas.get("version"),
    )


def _simd_targets() -> dict[str, dict[str, str]]:
    """Return the instruction set in use by ufunc and type signature, of floats alone."""
    try:
        from numpy.lib.introspect import opt_func_info  # noqa: PLC0415 - not in NumPy 1.26
    except ImportError:
        return {}
    targets = {
        ufunc: {
            signature: _plain(told["current"])
            for signature, told in sorted(signatures.items())
            if signature[0] in _FLOAT_CODES
        }
        for ufunc, signatures in sorted(opt_func_info().items())
    }
    return {ufunc: rows for ufunc, rows in targets.items() if rows}


def _thread_pools() -> tuple[ThreadPool, ...]:
    pools = [
        ThreadPool(
            interface=pool["internal_api"],
            version=pool.get("version"),
            kernel=pool.get("architecture"),
            threads=pool["num_threads"],
            threading_layer=pool.get("threading_layer"),
        )
        for pool in _thread_pool_info()
    ]
    return tuple(sorted(pools, key=lambda pool: pool.model_dump_json()))


def _thread_pool_info() -> list[dict[str, Any]]:
    """What threadpoolctl finds, also where a process may not read its own map of memory.

    Landlock grants that to the worker alone, and a script with its own loop is the worker's child.

    Returns:
        One dict a pool.
    """
    try:
        return list(threadpoolctl.threadpool_info())
    except PermissionError:
        with_procfs, threadpoolctl._HAS_PROCFS = threadpoolctl._HAS_PROCFS, False  # noqa: SLF001
        try:
            return list(threadpoolctl.threadpool_info())
        finally:
            threadpoolctl._HAS_PROCFS = with_procfs  # noqa: SLF001


def _plain(text: str) -> str:
    """Return ``text`` where it cannot be a path, as a local build's compiler may be."""
    return text if text.isprintable() and not set(text) & set("/\\~") else HIDDEN_VALUE
