"""The environment record: what the worker process observed of the machine it ran on.

It holds what a reviewer needs to judge a mismatch. Nothing in it may name a user, a host, a folder
or a moment. Which of its fields can change bytes is said in one place, ``_compare.effects``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from repropack.models.base import Count, Digest, Document, Model, Name

Effect = Literal["steers", "may-steer", "describes"]
"""Whether a field can change bytes: it is known to, it can in some programs, or it only tells."""

Origin = Literal["wheel", "editable", "sdist", "system"]

Rounding = Literal["nearest-even", "up", "down", "toward-zero", "other"]


class InterpreterFlags(Model):
    """How the interpreter was started, as far as a program's results can depend on it.

    ``hash_seed`` is ``fixed`` where hashes of text repeat from process to process. Its value is
    the run's, stated in the plan and else 0, so it is no property of the environment.
    """

    hash_seed: Literal["fixed", "random"]
    optimize: Count
    utf8_mode: bool
    isolated: bool
    dev_mode: bool


class Interpreter(Model):
    """The Python that ran the experiment.

    ``version`` is such as ``3.11.7``, ``compiler`` such as ``GCC 12.2.0``; ``pointer_bits`` is the
    size of an address in bits; ``abi_flags`` such as ``t`` for a free-threaded build.
    """

    implementation: str
    version: str
    compiler: str
    pointer_bits: int
    abi_flags: str
    flags: InterpreterFlags


class Platform(Model):
    """Operating system and C library; no host name, no path.

    ``os_id`` and ``os_version`` are those of ``os-release``, such as ``debian`` and ``12``;
    ``kernel`` is the numeric start of the kernel's release, such as ``6.1.0``: what follows may
    name a machine. ``libc`` is such as ``glibc 2.36``, and the system's version where the C
    library has none of its own. Each is null where it is not known.
    """

    system: str
    os_id: str | None
    os_version: str | None
    kernel: str | None
    machine: str
    libc: str | None
    byte_order: Literal["little", "big"]


class Cpu(Model):
    """Processor, and the instruction sets that NumPy found and may use, sorted.

    ``vendor``, ``family``, ``model_number``, ``stepping`` and ``microcode`` are the words of
    ``/proc/cpuinfo``, of its first processor; null where it has none. ``usable`` is how many
    processors this process may use.
    """

    vendor: str | None
    model: str | None
    family: str | None
    model_number: str | None
    stepping: str | None
    microcode: str | None
    features: tuple[str, ...]
    usable: Count | None


class FloatFormat(Model):
    """One floating-point format; the significand's bits do not count its leading one."""

    bytes: Count
    significand_bits: int
    min_exponent: int
    max_exponent: int


class FloatFacts(Model):
    """Floating-point arithmetic as it was found by trying, and its formats by name.

    ``subnormals_float32`` and ``subnormals_float64`` say whether numbers below the smallest
    normal one survive; ``repr_style`` is ``short`` where ``repr`` of a float is the shortest
    text that gives it back.
    """

    rounding: Rounding
    subnormals_float32: bool
    subnormals_float64: bool
    repr_style: str
    formats: dict[Name, FloatFormat]


class NumpyBuild(Model):
    """How NumPy was built: baseline instruction sets, and the BLAS it was built against.

    ``simd_found`` are the sets beyond the baseline that it dispatches to here. ``simd_targets``
    tells, for each ufunc that is dispatched and each of its floating-point type signatures, the
    set that is in use; it is empty before NumPy 2, which does not report it.
    """

    version: str
    c_compiler: str | None
    simd_baseline: tuple[str, ...]
    simd_found: tuple[str, ...]
    simd_targets: dict[str, dict[str, str]]
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
    """An installed Python distribution, its name in normal form (``typing-extensions``).

    ``origin`` is ``editable`` for code that is used where it was written; ``sdist`` where an
    archive of sources, a folder or a repository was named to install it; ``system`` where
    something other than a Python installer put it there; else ``wheel``, also where an index gave
    sources, which leaves no trace. ``fingerprint`` is a digest of the list of its files
    (``_run.distributions``); null where there is no such list, and for ``editable``.
    """

    name: str
    version: str
    origin: Origin
    fingerprint: Digest | None


class EnvironmentRecord(Document):
    """``environment.json``: describes the worker process, whose variables the runner fixes.

    ``thread_pools`` and ``distributions`` are sorted, one distribution a name; ``variables`` holds
    the numeric variables that were set, and no other.

    ``probe_card`` has a digest for each family of operations, of one small fixed computation that
    was made before the first step. It was made again after the last: ``probe_card_at_end`` is null
    where it came out the same, and else holds the families that had changed, with what they gave
    at the end. Then something changed the arithmetic of the process while the experiment ran.
    """

    schema_name: Literal["repropack/environment/v1"] = Field(
        default="repropack/environment/v1", alias="schema"
    )
    interpreter: Interpreter
    platform: Platform
    cpu: Cpu
    floats: FloatFacts
    numpy: NumpyBuild
    thread_pools: tuple[ThreadPool, ...]
    distributions: tuple[Distribution, ...]
    variables: dict[str, str]
    probe_card: dict[Name, Digest]
    probe_card_at_end: Annotated[dict[Name, Digest], Field(min_length=1)] | None = None


class EnvironmentDifference(Model):
    """One point in which two environments differ; null on the side that has nothing there.

    ``field`` is dotted, such as ``numpy.version``, ``thread_pools.openblas.kernel`` or
    ``distributions.numpy``. Where the field is a set of names, each side holds the names that the
    other one lacks. ``effect`` is ``may-steer`` also where nothing is known of the field.
    """

    field: str
    recorded: str | None
    observed: str | None
    effect: Effect = "may-steer"


class EnvironmentAccount(Model):
    """What two environment records say about why bytes may differ between them.

    ``differences`` begin with what steers numbers; ``changed_families`` are the families of
    operations whose digests differ between the two probe cards, in the order of the card;
    ``sentence`` says what the two together are consistent with. It is a hypothesis.
    """

    differences: tuple[EnvironmentDifference, ...]
    changed_families: tuple[Name, ...]
    sentence: str
