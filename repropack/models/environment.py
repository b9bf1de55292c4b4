"""The environment record: what the worker process observed of the machine it ran on.

Nothing in it may name a user, a host, a folder or a moment.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from repropack.models.base import Document, Model


class Interpreter(Model):
    """The Python that ran the experiment.

    ``version`` is such as ``3.11.7``, ``compiler`` such as ``GCC 12.2.0``; ``pointer_bits`` is the
    size of an address in bits.
    """

    implementation: str
    version: str
    compiler: str
    pointer_bits: int


class Platform(Model):
    """Operating system and C library; no host name, no kernel build, no path.

    ``libc`` is such as ``glibc 2.36``, and the system's version where the C library has none of
    its own; null where neither is known.
    """

    system: str
    machine: str
    libc: str | None
    byte_order: Literal["little", "big"]


class Cpu(Model):
    """Processor model, and the instruction sets that NumPy found and may use, sorted."""

    model: str | None
    features: tuple[str, ...]


class NumpyBuild(Model):
    """How NumPy was built: baseline instruction sets, and the BLAS it was built against.

    ``simd_found`` are the sets beyond the baseline that it dispatches to here.
    """

    version: str
    simd_baseline: tuple[str, ...]
    simd_found: tuple[str, ...]
    blas_name: str | None
    blas_version: str | None


class ThreadPool(Model):
    """One loaded numerical library with its own threads, as threadpoolctl reports it.

    ``interface`` is such as ``openblas``; ``kernel`` the processor family it computes for;
    ``threads`` how many it may use at once.
    """

    interface: str
    version: str | None
    kernel: str | None
    threads: int
    threading_layer: str | None


class Distribution(Model):
    """An installed Python distribution, its name in normal form (``typing-extensions``)."""

    name: str
    version: str


class EnvironmentRecord(Document):
    """``environment.json``: describes the worker process, whose variables the runner fixes.

    ``thread_pools`` and ``distributions`` are sorted, one distribution a name; ``variables`` holds
    the numeric variables that were set, and no other.
    """

    schema_name: Literal["repropack/environment/v1"] = Field(
        default="repropack/environment/v1", alias="schema"
    )
    interpreter: Interpreter
    platform: Platform
    cpu: Cpu
    numpy: NumpyBuild
    thread_pools: tuple[ThreadPool, ...]
    distributions: tuple[Distribution, ...]
    variables: dict[str, str]


class EnvironmentDifference(Model):
    """One point in which two environments differ; null on the side that has nothing there.

    ``field`` is dotted, such as ``numpy.version``, ``thread_pools.openblas.kernel`` or
    ``distributions.numpy``. Where the field is a set of names, each side holds the names that the
    other one lacks.
    """

    field: str
    recorded: str | None
    observed: str | None
