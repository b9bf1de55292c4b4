"""Where two environment records differ, and what that says about bytes that differ too.

Pure: it looks at the two records and at nothing of the machine it runs on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from repropack._compare.effects import effect_of, rank_of
from repropack._compare.families import changed_families, explain
from repropack._format.lock import RUNNER
from repropack.models.base import Model
from repropack.models.environment import (
    Distribution,
    EnvironmentAccount,
    EnvironmentDifference,
    EnvironmentRecord,
    NumpyBuild,
    ThreadPool,
)

Value = str | int | tuple[str, ...] | None
Table = Mapping[str, Value]


def account_of(recorded: EnvironmentRecord, observed: EnvironmentRecord) -> EnvironmentAccount:
    """Say what two environments tell about why bytes may differ between them.

    Args:
        recorded: The environment that a package was made in.
        observed: The environment that it is run in.

    Returns:
        The differing fields, the differing families of the probe cards, and one sentence: what
        the two are consistent with. It is a hypothesis and is worded as one.
    """
    differences = compare_environments(recorded, observed)
    families = changed_families(recorded.probe_card, observed.probe_card)
    return EnvironmentAccount(
        differences=differences,
        changed_families=families,
        sentence=_sentence(recorded, observed, differences, families),
    )


def compare_environments(
    recorded: EnvironmentRecord, observed: EnvironmentRecord
) -> tuple[EnvironmentDifference, ...]:
    """Return every difference between two environments; empty where there is none.

    What steers numbers comes first, then what may, then what only describes. Among equals:
    floats, variables, NumPy, thread pools, processor, platform and interpreter, then
    distributions, one by one. Within each, records keep their own order. The digests of the probe
    cards are no fields: ``account_of`` holds them against each other.

    Args:
        recorded: The environment that a package was made in.
        observed: The environment that it is run in.

    Returns:
        One row a field. Exchanging the arguments exchanges the two sides of every row.
    """
    differences = (
        difference
        for section, left, right in _sections(recorded, observed)
        for difference in _compare_tables(section, left, right)
    )
    return tuple(sorted(differences, key=lambda row: rank_of(row.effect)))


def _sentence(
    recorded: EnvironmentRecord,
    observed: EnvironmentRecord,
    differences: tuple[EnvironmentDifference, ...],
    families: tuple[str, ...],
) -> str:
    compared = len(recorded.probe_card.keys() & observed.probe_card.keys())
    if families:
        sentence = explain(families, [row.field for row in differences])
    elif not compared:
        sentence = "the probe cards have no family in common: they tell nothing"
    elif any(row.effect != "describes" for row in differences):
        sentence = (
            f"none of the {compared} families of the probe card changed: consistent with "
            "differences that do not reach them"
        )
    else:
        sentence = (
            f"none of the {compared} families of the probe card changed and no field differs that "
            "could steer numbers: the environment explains no difference of bytes"
        )
    for side, record in (("recorded", recorded), ("observed", observed)):
        if record.probe_card_at_end is not None:
            sentence += (
                f"; during the {side} run itself {' '.join(record.probe_card_at_end)} changed: "
                "something it loaded or called changed the arithmetic of its process"
            )
    return f"{sentence}."


def _sections(
    recorded: EnvironmentRecord, observed: EnvironmentRecord
) -> Iterator[tuple[str, Table, Table]]:
    yield "", _at_end(recorded), _at_end(observed)
    yield "floats.", _fields(recorded.floats), _fields(observed.floats)
    yield "variables.", recorded.variables, observed.variables
    yield "numpy.", _numpy_fields(recorded.numpy), _numpy_fields(observed.numpy)
    yield "thread_pools.", *_pool_tables(recorded.thread_pools, observed.thread_pools)
    yield "cpu.", _fields(recorded.cpu), _fields(observed.cpu)
    yield "platform.", _fields(recorded.platform), _fields(observed.platform)
    yield "interpreter.", _fields(recorded.interpreter), _fields(observed.interpreter)
    yield (
        "distributions.",
        *_distribution_tables(recorded.distributions, observed.distributions),
    )


def _compare_tables(
    section: str, recorded: Table, observed: Table
) -> Iterator[EnvironmentDifference]:
    names = list(recorded)
    if names != list(observed):
        names = sorted({*recorded, *observed})
    for name in names:
        left, right = recorded.get(name), observed.get(name)
        if _comparable(left) != _comparable(right):
            field = f"{section}{name}"
            yield EnvironmentDifference(
                field=field,
                recorded=_text(left, right),
                observed=_text(right, left),
                effect=effect_of(field),
            )


def _comparable(value: Value) -> object:
    return frozenset(value) if isinstance(value, tuple) else value


def _text(value: Value, other: Value) -> str | None:
    """Return ``value`` as text; of a set of names only those that are not in ``other``."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        lacking = other if isinstance(other, tuple) else ()
        return " ".join(name for name in value if name not in lacking) or None
    return str(value)


def _fields(model: Model) -> dict[str, Value]:
    """Return a model's fields by dotted name, models and mappings within it unfolded."""
    return dict(_unfold("", {name: getattr(model, name) for name in type(model).model_fields}))


def _unfold(prefix: str, fields: Mapping[str, Any]) -> Iterator[tuple[str, Value]]:
    for name, value in fields.items():
        if isinstance(value, Model):
            yield from _unfold(f"{prefix}{name}.", _fields(value))
        elif isinstance(value, Mapping):
            yield from _unfold(f"{prefix}{name}.", value)
        else:
            yield f"{prefix}{name}", value


def _at_end(record: EnvironmentRecord) -> dict[str, Value]:
    changed = record.probe_card_at_end
    return {"probe_card_at_end": None if changed is None else tuple(changed)}


def _numpy_fields(build: NumpyBuild) -> dict[str, Value]:
    """Return a row an instruction set of what is computed with it, ``exp.dd``, not one a ufunc."""
    table = _fields(build.model_copy(update={"simd_targets": {}}))
    targets: dict[str, list[str]] = {}
    for ufunc, signatures in build.simd_targets.items():
        for signature, target in signatures.items():
            targets.setdefault(target, []).append(f"{ufunc}.{signature}")
    table.update(
        {f"simd_targets.{target}": tuple(names) for target, names in sorted(targets.items())}
    )
    return table


def _distribution_tables(
    recorded: tuple[Distribution, ...], observed: tuple[Distribution, ...]
) -> tuple[Table, Table]:
    """Return versions, and of those with one version on both sides origin and fingerprint too.

    A fingerprint that only one side has says no more than the origin does. Of repropack itself
    the version is all: from where it is installed, and how, steers no number.
    """
    left = {distribution.name: distribution for distribution in recorded}
    right = {distribution.name: distribution for distribution in observed}
    tables: tuple[dict[str, Value], dict[str, Value]] = ({}, {})
    for name in sorted({*left, *right}):
        sides = (left.get(name), right.get(name))
        for table, side in zip(tables, sides, strict=True):
            table[name] = None if side is None else side.version
        pair = [side for side in sides if side is not None]
        if len({side.version for side in pair}) != 1 or len(pair) != len(sides) or name == RUNNER:
            continue
        with_fingerprints = all(side.fingerprint for side in pair)
        for table, side in zip(tables, pair, strict=True):
            table[f"{name}.origin"] = side.origin
            if with_fingerprints:
                table[f"{name}.fingerprint"] = side.fingerprint
    return tables


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
