"""Where two environment records differ, in the order in which it is likely to explain bytes.

Pure: it looks at the two records and at nothing of the machine it runs on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from repropack.models.base import Model
from repropack.models.environment import (
    Distribution,
    EnvironmentDifference,
    EnvironmentRecord,
    ThreadPool,
)

Value = str | int | tuple[str, ...] | None
Table = Mapping[str, Value]


def compare_environments(
    recorded: EnvironmentRecord, observed: EnvironmentRecord
) -> tuple[EnvironmentDifference, ...]:
    """Return every difference between two environments; empty where there is none.

    What steers numbers comes first: variables, NumPy, thread pools, processor, platform and
    interpreter; then distributions, one by one. Within each, records keep their own order.

    Args:
        recorded: The environment that a package was made in.
        observed: The environment that it is run in.

    Returns:
        One row a field. Exchanging the arguments exchanges the two sides of every row.
    """
    return tuple(
        difference
        for section, left, right in _sections(recorded, observed)
        for difference in _compare_tables(section, left, right)
    )


def _sections(
    recorded: EnvironmentRecord, observed: EnvironmentRecord
) -> Iterator[tuple[str, Table, Table]]:
    yield "variables", recorded.variables, observed.variables
    yield "numpy", _fields(recorded.numpy), _fields(observed.numpy)
    yield "thread_pools", *_pool_tables(recorded.thread_pools, observed.thread_pools)
    yield "cpu", _fields(recorded.cpu), _fields(observed.cpu)
    yield "platform", _fields(recorded.platform), _fields(observed.platform)
    yield "interpreter", _fields(recorded.interpreter), _fields(observed.interpreter)
    yield "distributions", _versions(recorded.distributions), _versions(observed.distributions)


def _compare_tables(
    section: str, recorded: Table, observed: Table
) -> Iterator[EnvironmentDifference]:
    names = list(recorded)
    if names != list(observed):
        names = sorted({*recorded, *observed})
    for name in names:
        left, right = recorded.get(name), observed.get(name)
        if _comparable(left) != _comparable(right):
            yield EnvironmentDifference(
                field=f"{section}.{name}", recorded=_text(left, right), observed=_text(right, left)
            )


def _comparable(value: Value) -> object:
    return frozenset(value) if isinstance(value, tuple) else value


def _text(value: Value, other: Value) -> str | None:
    """Return ``value`` as text; of a set of names only those that are not in ``other``."""
    if value is None:
        return None
    if isinstance(value, tuple):
        lacking = other if isinstance(other, tuple) else ()
        return " ".join(name for name in value if name not in lacking) or None
    return str(value)


def _fields(model: Model) -> dict[str, Value]:
    return {name: getattr(model, name) for name in type(model).model_fields}


def _versions(distributions: tuple[Distribution, ...]) -> dict[str, Value]:
    return {distribution.name: distribution.version for distribution in distributions}


def _pool_tables(
    recorded: tuple[ThreadPool, ...], observed: tuple[ThreadPool, ...]
) -> tuple[Table, Table]:
    """Return a row a field for a pool that both have, and one row for one that only one has."""
    left, right = _named_pools(recorded), _named_pools(observed)
    shared = left.keys() & right.keys()
    return _pool_table(left, shared), _pool_table(right, shared)


def _named_pools(pools: tuple[ThreadPool, ...]) -> dict[str, ThreadPool]:
    """Return pools by interface; the second of one interface becomes ``openblas#2``."""
    named: dict[str, ThreadPool] = {}
    for pool in pools:
        count = sum(other.interface == pool.interface for other in named.values())
        named[f"{pool.interface}#{count + 1}" if count else pool.interface] = pool
    return named


def _pool_table(pools: Mapping[str, ThreadPool], shared: set[str]) -> dict[str, Value]:
    table: dict[str, Value] = {}
    for name, pool in pools.items():
        fields = {key: value for key, value in _fields(pool).items() if key != "interface"}
        if name in shared:
            table.update({f"{name}.{key}": value for key, value in fields.items()})
        else:
            threads = "1 thread" if pool.threads == 1 else f"{pool.threads} threads"
            parts = (pool.version, pool.kernel, threads, pool.threading_layer)
            table[name] = " ".join(part for part in parts if part)
    return table
