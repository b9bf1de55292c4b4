"""A small environment record, the same on every machine."""

from __future__ import annotations

from typing import Any

from repropack.models.environment import (
    Cpu,
    Distribution,
    EnvironmentRecord,
    FloatFacts,
    FloatFormat,
    Interpreter,
    InterpreterFlags,
    NumpyBuild,
    Platform,
    ThreadPool,
)

OPENBLAS = ThreadPool(
    interface="openblas",
    version="0.3.27",
    kernel="SkylakeX",
    threads=8,
    threading_layer="pthreads",
)
OPENMP = ThreadPool(interface="openmp", version=None, kernel=None, threads=8, threading_layer=None)
FLAGS = InterpreterFlags(
    hash_seed="fixed", optimize=0, utf8_mode=False, isolated=False, dev_mode=False
)
DOUBLE = FloatFormat(bytes=8, significand_bits=52, min_exponent=-1022, max_exponent=1024)


def digest(letter: str) -> str:
    return "sha256:" + letter * 64


def distribution(name: str, version: str, origin: Any = "wheel", fingerprint: str | None = "a"):
    return Distribution(
        name=name,
        version=version,
        origin=origin,
        fingerprint=None if fingerprint is None else digest(fingerprint),
    )


NUMPY = distribution("numpy", "2.3.1")
PYDANTIC = distribution("pydantic", "2.12.0")
RECORD = EnvironmentRecord(
    interpreter=Interpreter(
        implementation="CPython",
        version="3.11.7",
        compiler="GCC 12.2.0",
        pointer_bits=64,
        abi_flags="",
        flags=FLAGS,
    ),
    platform=Platform(
        system="Linux",
        os_id="debian",
        os_version="12",
        kernel="6.1.0",
        machine="x86_64",
        libc="glibc 2.36",
        byte_order="little",
    ),
    cpu=Cpu(
        vendor="GenuineIntel",
        model="Xeon",
        family="6",
        model_number="85",
        stepping="7",
        microcode="0x1",
        features=("AVX", "AVX2", "AVX512F"),
        usable=8,
    ),
    floats=FloatFacts(
        rounding="nearest-even",
        subnormals_float32=True,
        subnormals_float64=True,
        repr_style="short",
        formats={"float64": DOUBLE, "longdouble": DOUBLE},
    ),
    numpy=NumpyBuild(
        version="2.3.1",
        c_compiler="gcc 14.2.1",
        simd_baseline=("X86_V2",),
        simd_found=("X86_V3", "X86_V4"),
        simd_targets={"exp": {"dd": "X86_V4", "ff": "X86_V4"}, "floor": {"dd": "X86_V2"}},
        blas_name="scipy-openblas",
        blas_version="0.3.27",
    ),
    thread_pools=(OPENBLAS,),
    distributions=(NUMPY, PYDANTIC),
    variables={"OMP_NUM_THREADS": "8"},
    probe_card={"casts": digest("1"), "exp": digest("2"), "unstable-sort": digest("3")},
)
