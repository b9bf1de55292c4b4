"""Which processor this process runs on, as far as the system tells without asking much.

Nothing that moves is read: no clock rate, no load, no temperature.
"""

from __future__ import annotations

import importlib
import os
import platform
import subprocess
from pathlib import Path

import numpy as np

from repropack.models.environment import Cpu

CPU_INFORMATION = Path("/proc/cpuinfo")
_FIRST_PROCESSOR_BYTES = 8192
"""Enough for the first processor's lines; a large machine takes long to write out all of them."""

_WORDS: dict[str, tuple[str, ...]] = {  # x86, then Arm and POWER, which give numbers
    "vendor": ("vendor_id", "CPU implementer", "vendor"),
    "model": ("model name", "cpu"),
    "family": ("cpu family", "CPU architecture"),
    "model_number": ("model", "CPU part"),
    "stepping": ("stepping", "CPU revision", "revision"),
    "microcode": ("microcode",),
}


def observe_processor() -> Cpu:
    """Return the processor's names and numbers, and NumPy's table of instruction sets.

    Returns:
        On Linux from ``/proc/cpuinfo``; elsewhere little more than the model's name.
    """
    words = _processor_words()
    return Cpu(
        vendor=words.get("vendor"),
        model=words.get("model"),
        family=words.get("family"),
        model_number=words.get("model_number"),
        stepping=words.get("stepping"),
        microcode=words.get("microcode"),
        features=_features(),
        usable=_usable(),
    )


def _processor_words() -> dict[str, str]:
    system = platform.system()
    if system == "Linux":
        return _linux_words()
    model = _darwin_model() if system == "Darwin" else platform.processor()
    return {"model": model} if model else {}


def _linux_words() -> dict[str, str]:
    try:
        with CPU_INFORMATION.open("rb", buffering=0) as stream:
            text = stream.read(_FIRST_PROCESSOR_BYTES).decode("utf-8", "replace")
    except OSError:
        return {}
    told: dict[str, str] = {}
    for line in text.splitlines():
        key, _, value = line.partition(":")
        told.setdefault(key.strip(), value.strip())
    words = {
        name: next(told[key] for key in keys if told.get(key))
        for name, keys in _WORDS.items()
        if any(told.get(key) for key in keys)
    }
    if "model" not in words and "CPU part" in told:
        words["model"] = f"implementer {told.get('CPU implementer', '?')} part {told['CPU part']}"
    return words


def _darwin_model() -> str | None:
    command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def _features() -> tuple[str, ...]:
    """Return the sets in NumPy's own table, which ``NPY_DISABLE_CPU_FEATURES`` shortens."""
    package = "numpy.core" if np.__version__.startswith("1.") else "numpy._core"
    table = getattr(importlib.import_module(f"{package}._multiarray_umath"), "__cpu_features__", {})
    return tuple(sorted(name for name, found in table.items() if found))


def _usable() -> int | None:
    """Return how many processors this process may use, else how many there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()
