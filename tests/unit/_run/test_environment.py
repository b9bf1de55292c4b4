"""The environment record says what steers numbers, and nothing of who ran it where."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import threadpoolctl

from repropack._run import environment
from repropack._run.environment import observe_environment
from repropack._run.probe_card import probe_card
from repropack.models.environment import EnvironmentRecord, ThreadPool

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


CARD = {"exp": "sha256:" + "1" * 64}


@pytest.fixture(scope="module")
def record() -> EnvironmentRecord:
    return observe_environment(CARD)


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
    assert "://" not in text


@pytest.mark.parametrize(
    ("release", "kernel"),
    [
        ("6.1.0-18-ada-canary", "6.1.0"),
        ("release-canary", None),
        ("5.15.167.4-micro", "5.15.167.4"),
    ],
)
def test_record_holds_no_host_name_and_no_build_of_a_kernel(monkeypatch, release, kernel):
    """Of what ``uname`` says of this one machine only the release's number is kept."""
    names = os.uname()
    told = (names.sysname, "host-canary", release, "version-canary", names.machine)
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(told))
    monkeypatch.setattr(platform, "_uname_cache", None)
    assert platform.node() == "host-canary"
    record = observe_environment({})
    assert "canary" not in record.model_dump_json()
    assert record.platform.kernel == kernel


def test_record_is_the_same_in_any_process(tmp_path):
    """Hash seed, working directory, time zone, locale and home leave no trace."""
    left, right = tmp_path / "left", tmp_path / "right"
    for folder in (left, right):
        folder.mkdir()
    first = observe_in_subprocess(left, PYTHONHASHSEED="1", TZ="UTC", HOME="/a", LC_ALL="C.UTF-8")
    second = observe_in_subprocess(
        right, PYTHONHASHSEED="2", TZ="Asia/Tokyo", HOME="/b", LC_ALL="C.utf8", LANG="C"
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


def test_record_holds_the_card_that_it_is_given(record):
    """The worker makes the card and hands it over; the end's is not known yet."""
    assert record.probe_card == CARD
    assert record.probe_card_at_end is None


def test_record_makes_a_card_where_none_is_given():
    """Without a card the record makes its own."""
    assert observe_environment().probe_card == probe_card()


# ---------------------------------------------------------------- what it says


def test_interpreter_is_this_one(record):
    """Version and pointer size are those of the running interpreter."""
    version = ".".join(map(str, sys.version_info[:3]))
    assert record.interpreter.version.startswith(version)
    assert record.interpreter.implementation == platform.python_implementation()
    assert record.interpreter.pointer_bits == (64 if sys.maxsize > 2**32 else 32)
    assert record.interpreter.compiler
    assert record.interpreter.flags.optimize == sys.flags.optimize
    assert record.interpreter.flags.dev_mode == sys.flags.dev_mode
    assert record.interpreter.flags.isolated == bool(sys.flags.isolated)
    assert record.interpreter.flags.utf8_mode == bool(sys.flags.utf8_mode)


@pytest.mark.parametrize(
    ("seed", "told"), [("0", "fixed"), ("4242", "fixed"), ("random", "random"), (None, "random")]
)
def test_hash_seed_is_fixed_or_not(monkeypatch, seed, told):
    """The value is the run's and stated in the plan; whether hashes repeat is the environment's."""
    if seed is None:
        monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    else:
        monkeypatch.setenv("PYTHONHASHSEED", seed)
    assert environment._interpreter().flags.hash_seed == told


def test_compiler_that_is_a_path_is_not_told(monkeypatch):
    """A local build may have been told its compiler by a path."""
    monkeypatch.setattr(platform, "python_compiler", lambda: "GCC (/home/canary/gcc)")
    assert environment._interpreter().compiler == "<not recorded>"


def test_float_facts_are_ieee(record):
    """Rounding and subnormals as they were tried, and the formats' sizes."""
    floats = record.floats
    assert floats.rounding == "nearest-even"
    assert floats.subnormals_float32
    assert floats.subnormals_float64
    assert floats.repr_style == sys.float_repr_style
    double = floats.formats["python"]
    assert double == floats.formats["float64"]
    assert (double.bytes, double.significand_bits) == (8, 52)
    assert (double.min_exponent, double.max_exponent) == (-1022, 1024)
    assert floats.formats["float32"].significand_bits == 23
    assert floats.formats["float16"].bytes == 2
    assert floats.formats["longdouble"].bytes == np.dtype(np.longdouble).itemsize


def test_float_facts_of_two_roundings(monkeypatch):
    """Two formats that are rounded differently are none of the known modes."""
    answers = {np.float32: "up", np.float64: "nearest-even"}
    monkeypatch.setattr(environment, "rounding_of", answers.__getitem__)
    assert environment._floats().rounding == "other"


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
    compiler = shown["Compilers"]["c"]
    assert record.numpy.c_compiler == f"{compiler['name']} {compiler['version']}"


def test_targets_of_ufuncs_are_those_that_numpy_reports(record):
    """Every floating-point signature of a dispatched ufunc, none of integers; sorted."""
    introspect = pytest.importorskip("numpy.lib.introspect", reason="NumPy before 2 tells none")
    shown = introspect.opt_func_info(func_name="^exp$")
    assert record.numpy.simd_targets["exp"] == {
        signature: told["current"] for signature, told in shown["exp"].items()
    }
    assert "bitwise_and" not in record.numpy.simd_targets
    assert list(record.numpy.simd_targets) == sorted(record.numpy.simd_targets)
    for rows in record.numpy.simd_targets.values():
        assert rows
        assert {signature[0] for signature in rows} <= set("efdgFDG")


def test_targets_are_not_told_by_numpy_1(monkeypatch):
    """NumPy 1.26 has no such report, and the record says nothing."""
    monkeypatch.setitem(sys.modules, "numpy.lib.introspect", None)
    assert environment._simd_targets() == {}


def test_numpy_without_details(monkeypatch):
    """A NumPy that was built without a BLAS and without dispatch is described all the same."""
    monkeypatch.setattr(np, "show_config", lambda mode: {})
    built = environment._numpy_build()
    assert built.c_compiler is None
    assert (built.blas_name, built.blas_version) == (None, None)
    assert (built.simd_baseline, built.simd_found) == ((), ())


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


# ---------------------------------------------------------------- systems and C libraries


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


def test_libc_of_macos(monkeypatch):
    """Its C library comes with the system, and so does its name in place of os-release."""
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "mac_ver", lambda: ("14.5", ("", "", ""), "arm64"))
    assert environment._libc() == "libSystem of macOS 14.5"
    assert environment._os_release() == {"ID": "macos", "VERSION_ID": "14.5"}


def test_os_release_is_read_as_plain_words(monkeypatch, tmp_path):
    """Quotes go, and what is not one plain word is left out, addresses among it."""
    path = tmp_path / "os-release"
    path.write_text(
        'ID=debian\nVERSION_ID="12"\nNAME="Debian GNU/Linux"\nHOME_URL="https://x.y/"\n\nBAD\n',
        encoding="utf-8",
    )
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(environment, "OS_RELEASE", (tmp_path / "absent", path))
    assert environment._os_release() == {"ID": "debian", "VERSION_ID": "12"}
    path.write_text("ID=/home/ada\nVERSION_ID=~ada\n", encoding="utf-8")
    observed = environment._platform()
    assert (observed.os_id, observed.os_version) == (None, None)


def test_no_os_release(monkeypatch, tmp_path):
    """Where there is none, the distribution is unknown."""
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(environment, "OS_RELEASE", (tmp_path / "absent",))
    assert environment._os_release() == {}
