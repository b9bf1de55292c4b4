"""What the worker process observes of its interpreter, machine and numerical libraries.

Called inside the worker, after NumPy is imported. It never reads a user, a host name, a home
directory or a clock into the record, and no path: libraries are named by version and kernel.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import re
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl

from repropack._run.variables import numeric_variables
from repropack.models.environment import (
    Cpu,
    Distribution,
    EnvironmentRecord,
    Interpreter,
    NumpyBuild,
    Platform,
    ThreadPool,
)

CPU_INFORMATION = Path("/proc/cpuinfo")


def observe_environment() -> EnvironmentRecord:
    """Return what steers numbers in this process.

    Libraries that are loaded later are not seen: call it when the experiment is loaded.

    Returns:
        The record, every list in it sorted.

    Determinism:
        The same record in every process of one machine and one installation whose numeric
        variables are equal, whatever the working directory, locale, time or hash seed.
    """
    return EnvironmentRecord(
        interpreter=_interpreter(),
        platform=_platform(),
        cpu=Cpu(model=_cpu_model(), features=_cpu_features()),
        numpy=_numpy_build(),
        thread_pools=_thread_pools(),
        distributions=_distributions(),
        variables=numeric_variables(os.environ),
    )


def _interpreter() -> Interpreter:
    return Interpreter(
        implementation=platform.python_implementation(),
        version=platform.python_version(),
        compiler=platform.python_compiler().strip(),
        pointer_bits=struct.calcsize("P") * 8,
    )


def _platform() -> Platform:
    return Platform(
        system=platform.system(),
        machine=platform.machine(),
        libc=_libc(),
        byte_order=sys.byteorder,
    )


def _libc() -> str | None:
    """Return name and version of the C library, or of the system that it comes with."""
    if platform.system() == "Darwin":
        return f"libSystem of macOS {platform.mac_ver()[0]}"
    try:
        observed = os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, OSError, ValueError):
        observed = None
    return observed or " ".join(platform.libc_ver()).strip() or None


def _cpu_model() -> str | None:
    if platform.system() == "Linux":
        return _linux_cpu_model()
    if platform.system() == "Darwin":
        return _darwin_cpu_model()
    return platform.processor() or None


def _linux_cpu_model() -> str | None:
    try:
        text = CPU_INFORMATION.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields: dict[str, str] = {}
    for line in text.splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    for key in ("model name", "cpu"):  # x86, POWER
        if fields.get(key):
            return fields[key]
    if "CPU part" in fields:  # Arm gives numbers
        return f"implementer {fields.get('CPU implementer', '?')} part {fields['CPU part']}"
    return None


def _darwin_cpu_model() -> str | None:
    command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def _cpu_features() -> tuple[str, ...]:
    """Return the sets in NumPy's own table, which ``NPY_DISABLE_CPU_FEATURES`` shortens."""
    package = "numpy.core" if np.__version__.startswith("1.") else "numpy._core"
    table = getattr(importlib.import_module(f"{package}._multiarray_umath"), "__cpu_features__", {})
    return tuple(sorted(name for name, found in table.items() if found))


def _numpy_build() -> NumpyBuild:
    config: Mapping[str, Any] = np.show_config(mode="dicts")
    simd = config.get("SIMD Extensions", {})
    blas = config.get("Build Dependencies", {}).get("blas", {})
    return NumpyBuild(
        version=np.__version__,
        simd_baseline=tuple(simd.get("baseline", ())),
        simd_found=tuple(simd.get("found", ())),
        blas_name=blas.get("name"),
        blas_version=blas.get("version"),
    )


def _thread_pools() -> tuple[ThreadPool, ...]:
    pools = [
        ThreadPool(
            interface=pool["internal_api"],
            version=pool.get("version"),
            kernel=pool.get("architecture"),
            threads=pool["num_threads"],
            threading_layer=pool.get("threading_layer"),
        )
        for pool in threadpoolctl.threadpool_info()
    ]
    return tuple(sorted(pools, key=lambda pool: pool.model_dump_json()))


def _distributions() -> tuple[Distribution, ...]:
    """Return every installed distribution; of two with one name, the one that is imported."""
    versions: dict[str, str] = {}
    for name, version in _installed():
        versions.setdefault(re.sub(r"[-_.]+", "-", name).lower(), version)
    return tuple(Distribution(name=name, version=versions[name]) for name in sorted(versions))


def _installed() -> Iterator[tuple[str, str]]:
    """Yield name and version in the order of the search path; without them, none is installed."""
    for distribution in importlib.metadata.distributions():
        metadata = distribution.metadata
        if "Name" in metadata and "Version" in metadata:
            yield metadata["Name"], metadata["Version"]
