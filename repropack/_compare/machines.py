"""A machine in a few words, out of an environment record."""

from __future__ import annotations

from repropack._version import __version__
from repropack.models.environment import EnvironmentRecord, ThreadPool
from repropack.models.machine import MachineFacts

_MAX_CHARACTERS = 200


def machine_facts(record: EnvironmentRecord) -> MachineFacts:
    """What tells kinds of machines apart.

    Args:
        record: What a worker observed.

    Returns:
        The facts; each text is cut at 200 characters.
    """
    platform, cpu = record.platform, record.cpu
    numbers = [cpu.family, cpu.model_number]
    family = "/".join(part or "?" for part in numbers) if any(numbers) else None
    system = " ".join(filter(None, (platform.os_id, platform.os_version))) or platform.system
    return MachineFacts(
        cpu_vendor=_cut(cpu.vendor),
        cpu=_cut(cpu.model),
        family=_cut(family),
        architecture=platform.machine[:_MAX_CHARACTERS],
        system=system[:_MAX_CHARACTERS],
        libc=_cut(platform.libc),
        python=record.interpreter.version[:_MAX_CHARACTERS],
        numpy=record.numpy.version[:_MAX_CHARACTERS],
        blas=_cut(_blas(record)),
        repropack=__version__,
    )


def _blas(record: EnvironmentRecord) -> str | None:
    """The BLAS that was loaded; else the one that NumPy was built against."""
    loaded = [pool for pool in record.thread_pools if pool.interface != "openmp"]
    if loaded:
        return ", ".join(map(_pool, loaded))
    return " ".join(filter(None, (record.numpy.blas_name, record.numpy.blas_version))) or None


def _pool(pool: ThreadPool) -> str:
    return " ".join(filter(None, (pool.interface, pool.version, pool.kernel)))


def _cut(text: str | None) -> str | None:
    return text[:_MAX_CHARACTERS] if text else None
