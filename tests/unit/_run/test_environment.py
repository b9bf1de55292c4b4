"""The environment record says what steers numbers, and nothing of who ran it where."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from email.message import Message
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import threadpoolctl

from repropack._run import environment
from repropack._run.environment import observe_environment
from repropack.models.environment import Distribution, EnvironmentRecord, ThreadPool

ROOT = Path(__file__).parents[3]
PROGRAM = (
    "import sys, numpy; sys.path.insert(0, sys.argv[1]); "
    "from repropack._run.environment import observe_environment; "
    "sys.stdout.write(observe_environment().model_dump_json())"
)


def observe_in_subprocess(cwd: Path, **variables: str) -> str:
    """The record as JSON text of a fresh process in ``cwd``, with ``variables`` besides."""
    command = [sys.executable, "-c", PROGRAM, str(ROOT)]
    environment = {**os.environ, **variables}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture(scope="module")
def record() -> EnvironmentRecord:
    return observe_environment()


# ---------------------------------------------------------------- nothing leaks, nothing moves


def test_record_holds_nothing_of_its_owner(tmp_path):
    """No user, host, home, folder or secret of the process is found in its record."""
    planted = {
        "AWS_SECRET_ACCESS_KEY": "secret-canary",
        "FLEXIBLAS": "/folder-canary/libblas.so",
        "HOME": "/home/home-canary",
        "HOSTNAME": "host-canary",
        "LD_LIBRARY_PATH": "/library-canary",
        "LOGNAME": "user-canary",
        "OMP_API_TOKEN": "token-canary",
        "TMPDIR": str(tmp_path),
        "USER": "user-canary",
    }
    text = observe_in_subprocess(tmp_path, **planted)
    assert "canary" not in text
    for path in (tmp_path, ROOT, sys.prefix, sys.base_prefix, Path.home()):
        assert str(path) not in text
    record = json.loads(text)
    assert record["variables"]["FLEXIBLAS"] == "<not recorded>"
    del record["schema"], record["cpu"]["model"]
    assert os.path.sep not in json.dumps(record)


def test_record_holds_no_host_name_and_no_kernel(monkeypatch):
    """What ``uname`` says of this one machine is left out."""
    names = os.uname()
    told = (names.sysname, "host-canary", "release-canary", "version-canary", names.machine)
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(told))
    monkeypatch.setattr(platform, "_uname_cache", None)
    assert platform.node() == "host-canary"
    assert "canary" not in observe_environment().model_dump_json()


def test_record_is_the_same_in_any_process(tmp_path):
    """Hash seed, working directory, time zone, locale and home leave no trace."""
    left, right = tmp_path / "left", tmp_path / "right"
    for folder in (left, right):
        folder.mkdir()
    first = observe_in_subprocess(left, PYTHONHASHSEED="1", TZ="UTC", HOME="/a", LC_ALL="C")
    second = observe_in_subprocess(
        right, PYTHONHASHSEED="2", TZ="Asia/Tokyo", HOME="/b", LC_ALL="C.UTF-8"
    )
    assert first == second


def test_record_follows_numeric_variables(tmp_path):
    """A thread count is seen twice: as the variable, and as what the library made of it."""
    text = observe_in_subprocess(tmp_path, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    observed = EnvironmentRecord.model_validate_json(text)
    assert observed.variables["OPENBLAS_NUM_THREADS"] == "1"
    assert {pool.threads for pool in observed.thread_pools} <= {1}


def test_record_survives_json(record):
    """The record is a valid document, and its JSON gives it back."""
    assert EnvironmentRecord.model_validate_json(record.model_dump_json()) == record
    assert json.loads(record.model_dump_json())["schema"] == "repropack/environment/v1"


# ---------------------------------------------------------------- what it says


def test_interpreter_is_this_one(record):
    """Version and pointer size are those of the running interpreter."""
    version = ".".join(map(str, sys.version_info[:3]))
    assert record.interpreter.version.startswith(version)
    assert record.interpreter.implementation == platform.python_implementation()
    assert record.interpreter.pointer_bits == (64 if sys.maxsize > 2**32 else 32)
    assert record.interpreter.compiler


def test_platform_is_this_one(record):
    """System, machine and byte order in short words."""
    assert record.platform.system == platform.system()
    assert record.platform.machine == platform.machine()
    assert record.platform.byte_order == sys.byteorder


def test_numpy_is_this_one(record):
    """Version, instruction sets and BLAS as NumPy shows them."""
    shown: Any = np.show_config(mode="dicts")
    assert record.numpy.version == np.__version__
    assert list(record.numpy.simd_baseline) == shown["SIMD Extensions"].get("baseline", [])
    assert list(record.numpy.simd_found) == shown["SIMD Extensions"].get("found", [])
    assert record.numpy.blas_name == shown["Build Dependencies"]["blas"]["name"]
    assert list(record.cpu.features) == sorted(set(record.cpu.features))


def test_numpy_without_details(monkeypatch):
    """A NumPy that was built without a BLAS and without dispatch is described all the same."""
    monkeypatch.setattr(np, "show_config", lambda mode: {})
    built = environment._numpy_build()
    assert (built.blas_name, built.blas_version) == (None, None)
    assert (built.simd_baseline, built.simd_found) == ((), ())


@pytest.mark.parametrize(
    ("version", "module"),
    [("1.26.4", "numpy.core._multiarray_umath"), ("2.3.1", "numpy._core._multiarray_umath")],
)
def test_cpu_features_from_either_numpy(monkeypatch, version, module):
    """The table moved between NumPy 1.26 and 2; only what was found is listed, sorted."""

    table = SimpleNamespace(__cpu_features__={"SSE": True, "AVX2": True, "AVX512F": False})
    monkeypatch.setattr(np, "__version__", version)
    monkeypatch.setattr(importlib, "import_module", {module: table}.__getitem__)
    assert environment._cpu_features() == ("AVX2", "SSE")


def test_thread_pools_are_sorted_and_without_paths(monkeypatch):
    """Libraries come in an order of their own, described by everything but their file."""
    mkl = {"internal_api": "mkl", "num_threads": 4, "version": "2024.0", "filepath": "/x/mkl.so"}
    blas = {
        "internal_api": "openblas",
        "num_threads": 2,
        "version": None,
        "architecture": "Haswell",
        "threading_layer": "pthreads",
        "filepath": "/x/blas.so",
    }
    expected = (
        ThreadPool(interface="mkl", version="2024.0", kernel=None, threads=4, threading_layer=None),
        ThreadPool(
            interface="openblas",
            version=None,
            kernel="Haswell",
            threads=2,
            threading_layer="pthreads",
        ),
    )
    for found in ([mkl, blas], [blas, mkl]):
        monkeypatch.setattr(threadpoolctl, "threadpool_info", lambda found=found: found)
        assert environment._thread_pools() == expected


def test_distributions_have_normal_names(monkeypatch):
    """Names in normal form, sorted; of two with one name the first, which is imported."""

    class Installed:
        def __init__(self, **fields: str) -> None:
            self.metadata = Message()
            for name, value in fields.items():
                self.metadata[name] = value

    installed = [
        Installed(Name="Zope.Interface", Version="6.0"),
        Installed(Name="typing_extensions", Version="4.9"),
        Installed(Name="Typing-Extensions", Version="3.0"),
        Installed(Name="broken"),
        Installed(),
    ]
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: installed)
    assert environment._distributions() == (
        Distribution(name="typing-extensions", version="4.9"),
        Distribution(name="zope-interface", version="6.0"),
    )


def test_distributions_of_this_environment(record):
    """What is installed here is listed."""
    versions = {entry.name: entry.version for entry in record.distributions}
    assert versions["numpy"] == np.__version__
    assert list(versions) == sorted(versions)


# ---------------------------------------------------------------- processors and C libraries


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("processor\t: 0\nmodel name\t: AMD EPYC\nmodel name\t: other\n", "AMD EPYC"),
        ("processor\t: 0\ncpu\t\t: POWER9, altivec\n", "POWER9, altivec"),
        ("CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n", "implementer 0x41 part 0xd0c"),
        ("processor\t: 0\n", None),
        ("", None),
    ],
    ids=["x86", "power", "arm", "unnamed", "empty"],
)
def test_linux_cpu_model(monkeypatch, tmp_path, text, model):
    """Each family of processors names itself differently."""
    path = tmp_path / "cpuinfo"
    path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(environment, "CPU_INFORMATION", path)
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    assert environment._cpu_model() == model


def test_linux_cpu_model_without_proc(monkeypatch, tmp_path):
    """Where ``/proc`` is not there, the model is unknown."""
    monkeypatch.setattr(environment, "CPU_INFORMATION", tmp_path / "absent")
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    assert environment._cpu_model() is None


def test_darwin_cpu_model_and_library(monkeypatch):
    """macOS tells the model through ``sysctl``, and its C library comes with the system."""
    done = subprocess.CompletedProcess([], 0, stdout="Apple M1\n")
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "mac_ver", lambda: ("14.5", ("", "", ""), "arm64"))
    monkeypatch.setattr(subprocess, "run", lambda *args, **options: done)
    assert environment._cpu_model() == "Apple M1"
    assert environment._libc() == "libSystem of macOS 14.5"


def test_darwin_cpu_model_without_processes(monkeypatch):
    """A worker that may start no process leaves the model unknown."""

    def refuse(*args: object, **options: object) -> None:
        raise PermissionError

    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(subprocess, "run", refuse)
    assert environment._cpu_model() is None


def test_other_cpu_model(monkeypatch):
    """Elsewhere the standard library's word is taken, and no word is null."""
    monkeypatch.setattr(platform, "system", lambda: "FreeBSD")
    monkeypatch.setattr(platform, "processor", lambda: "amd64")
    assert environment._cpu_model() == "amd64"
    monkeypatch.setattr(platform, "processor", lambda: "")
    assert environment._cpu_model() is None


def test_libc_from_the_system(monkeypatch):
    """glibc tells its version itself; another library is asked for through the interpreter."""
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(os, "confstr", lambda name: "glibc 2.36")
    assert environment._libc() == "glibc 2.36"

    def refuse(name: str) -> str:
        raise ValueError(name)

    monkeypatch.setattr(os, "confstr", refuse)
    monkeypatch.setattr(platform, "libc_ver", lambda: ("libc", "1.2"))
    assert environment._libc() == "libc 1.2"
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    assert environment._libc() is None
