"""Each system names its processor in its own way; a record needs none of them."""

from __future__ import annotations

import importlib
import os
import platform
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

from repropack._run import processor
from repropack._run.processor import observe_processor

X86 = """processor\t: 0
vendor_id\t: AuthenticAMD
cpu family\t: 25
model\t\t: 17
model name\t: AMD EPYC
stepping\t: 1
microcode\t: 0xa101148
cpu MHz\t\t: 2595.124
processor\t: 1
model name\t: other
stepping\t: 9
"""
ARM = "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\nCPU revision\t: 1\n"
NAMES = ("vendor", "model", "family", "model_number", "stepping", "microcode")


@pytest.mark.parametrize(
    ("version", "module"),
    [("1.26.4", "numpy.core._multiarray_umath"), ("2.3.1", "numpy._core._multiarray_umath")],
)
def test_cpu_features_from_either_numpy(monkeypatch, version, module):
    """The table moved between NumPy 1.26 and 2; only what was found is listed, sorted."""

    table = SimpleNamespace(__cpu_features__={"SSE": True, "AVX2": True, "AVX512F": False})
    monkeypatch.setattr(np, "__version__", version)
    monkeypatch.setattr(importlib, "import_module", {module: table}.__getitem__)
    assert processor._features() == ("AVX2", "SSE")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (X86, ("AuthenticAMD", "AMD EPYC", "25", "17", "1", "0xa101148")),
        ("processor\t: 0\ncpu\t\t: POWER9, altivec\nrevision\t: 2.2\n",
         (None, "POWER9, altivec", None, None, "2.2", None)),
        (ARM, ("0x41", "implementer 0x41 part 0xd0c", "8", "0xd0c", "1", None)),
        ("CPU part\t: 0xd0c\n", (None, "implementer ? part 0xd0c", None, "0xd0c", None, None)),
        ("processor\t: 0\nmicrocode\t:\n", (None,) * 6),
        ("", (None,) * 6),
    ],
    ids=["x86", "power", "arm", "arm-part", "unnamed", "empty"],
)  # fmt: skip
def test_linux_processor(monkeypatch, tmp_path, text, expected):
    """Each family of processors tells other lines; the first processor's count."""
    path = tmp_path / "cpuinfo"
    path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(processor, "CPU_INFORMATION", path)
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    observed = observe_processor()
    assert tuple(getattr(observed, name) for name in NAMES) == expected
    assert "MHz" not in observed.model_dump_json()
    assert "2595" not in observed.model_dump_json()


def test_linux_processor_without_proc(monkeypatch, tmp_path):
    """Where ``/proc`` is not there, the processor is unknown."""
    monkeypatch.setattr(processor, "CPU_INFORMATION", tmp_path / "absent")
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    assert processor._processor_words() == {}


def test_darwin_model(monkeypatch):
    """macOS tells the model through ``sysctl``."""
    done = subprocess.CompletedProcess([], 0, stdout="Apple M1\n")
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(subprocess, "run", lambda *args, **options: done)
    assert observe_processor().model == "Apple M1"


def test_darwin_model_without_processes(monkeypatch):
    """A worker that may start no process leaves the model unknown."""

    def refuse(*args: object, **options: object) -> None:
        raise PermissionError

    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(subprocess, "run", refuse)
    assert processor._processor_words() == {}


def test_other_model(monkeypatch):
    """Elsewhere the standard library's word is taken, and no word is null."""
    monkeypatch.setattr(platform, "system", lambda: "FreeBSD")
    monkeypatch.setattr(platform, "processor", lambda: "amd64")
    assert processor._processor_words() == {"model": "amd64"}
    monkeypatch.setattr(platform, "processor", lambda: "")
    assert observe_processor().model is None


def test_usable_processors(monkeypatch):
    """How many this process may use; where no system tells, how many there are."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 3, 5}, raising=False)
    assert observe_processor().usable == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert observe_processor().usable == 8
