"""Environments as text: an account of two, and a record beside this machine's."""

from __future__ import annotations

from repropack._present.escape import escape_text
from repropack._present.layout import field, plural, table, wrap
from repropack.models.environment import EnvironmentAccount, EnvironmentRecord

_MAX_ROWS = 12
_MAX_FIELD = 40
_MAX_CELL = 21
_EFFECTS = {"steers": "yes", "may-steer": "may", "describes": "no"}


def account_lines(
    account: EnvironmentAccount, sides: tuple[str, str] = ("recorded", "here")
) -> list[str]:
    """What differs, whether it could matter, and what the probe cards say.

    Args:
        account: The account of two environments.
        sides: What the two are called.

    Returns:
        Lines of at most ``WIDTH`` columns.
    """
    count = len(account.differences)
    lines = wrap(f"environment: differs from the {sides[0]} one in {plural(count, 'point')}")
    lines += wrap(escape_text(account.sentence, 600))
    rows = [
        [
            _cut(row.field, _MAX_FIELD),
            _cut(row.recorded, _MAX_CELL),
            _cut(row.observed, _MAX_CELL),
            _EFFECTS.get(row.effect, "?"),
        ]
        for row in account.differences[:_MAX_ROWS]
    ]
    if rows:
        lines += table(["field", *sides, "matters?"], rows)
    if count > len(rows):
        lines.append(f"and {count - len(rows)} more")
    return lines


def differs(account: EnvironmentAccount | None) -> bool:
    """Whether an account tells of any difference."""
    return account is not None and bool(account.differences or account.changed_families)


def record_lines(record: EnvironmentRecord) -> list[str]:
    """The parts of a record that steer numbers, in a few lines."""
    python, system, cpu, numpy = record.interpreter, record.platform, record.cpu, record.numpy
    pools = [
        f"{pool.interface} {pool.version or '?'}, kernel {pool.kernel or '?'}, "
        f"{plural(pool.threads, 'thread')}"
        for pool in record.thread_pools
    ]
    names = {item.name: item.version for item in record.distributions}
    rows = [
        ("made with", f"{python.implementation} {python.version}, NumPy {numpy.version}"),
        ("on", f"{system.system} {system.machine}, {system.libc or 'libc unknown'}"),
        ("processor", f"{cpu.model or 'unknown'}; NumPy found {' '.join(numpy.simd_found) or '-'}"),
        ("BLAS", "; ".join(pools) or "none loaded"),
        ("variables", ", ".join(f"{k}={v}" for k, v in record.variables.items()) or "none set"),
        ("distributions", f"{len(names)}, of which numpy {names.get('numpy', '?')}"),
        ("probe card", f"{len(record.probe_card)} families of operations"),
    ]
    return [line for label, text in rows for line in field(label, escape_text(text, 400))]


def _cut(text: str | None, most: int) -> str:
    """Short enough for a column; the JSON form has it whole."""
    if text is None:
        return "-"
    whole = escape_text(text, 400)
    return whole if len(whole) <= most else f"{whole[: most - 3]}..."
