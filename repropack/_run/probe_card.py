"""The probe card: what this process's arithmetic gives, family by family.

It is made by the worker when the experiment is loaded, and again when its last step is done. Two
cards that differ name the families of operations in which two machines, or the beginning and the
end of one run, part. It disturbs nothing of the experiment: its generators are its own, and what
NumPy does on an error is put back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from repropack._format.fingerprints import fingerprint_array
from repropack._run.card_exact import Result
from repropack._run.probe_families import FAMILIES

CARD_DOMAIN = b"repropack.card.v1\n"


def probe_card() -> dict[str, str]:
    r"""Compute every family and digest what it gives.

    A family that raises does not end the run: its digest is of the exception's class instead of
    results, so that it differs from every card on which it did not raise.

    Returns:
        A digest by family, in the order of ``FAMILIES``: SHA-256 of ``repropack.card.v1\n``, the
        family's name and a newline; then for each result a line: an array's fingerprint, or
        ``text`` and the digest of its UTF-8 bytes; or ``raised`` and the name of the class.

    Determinism:
        The same in every process of one environment: no clock, hash seed, locale or state of the
        experiment goes into it. A BLAS may give another result under another number of threads.
    """
    with np.errstate(all="ignore"):
        return {name: _digest(name, compute) for name, compute in FAMILIES.items()}


def changed_families(start: Mapping[str, str], end: Mapping[str, str]) -> dict[str, str] | None:
    """Return what a record holds of the card at the end of a run, as ``probe_card_at_end``.

    Args:
        start: The card from before the first step.
        end: The card from after the last one.

    Returns:
        ``None`` where the two are equal, else the differing families with what they gave at the
        end.

    Example:
        >>> changed_families({"exp": "a", "log": "b"}, {"exp": "a", "log": "c"})
        {'log': 'c'}
    """
    return {name: digest for name, digest in end.items() if start.get(name) != digest} or None


def _digest(name: str, compute: Callable[[], Iterable[Result]]) -> str:
    try:
        lines = [_line(name, result) for result in compute()]
    except Exception as error:  # noqa: BLE001 - whatever an experiment's imports did to NumPy
        lines = [f"raised {type(error).__name__}\n"]
    head = CARD_DOMAIN + f"{name}\n".encode("ascii")
    return f"sha256:{hashlib.sha256(head + ''.join(lines).encode('utf-8')).hexdigest()}"


def _line(name: str, result: Result) -> str:
    if isinstance(result, str):
        return f"text sha256:{hashlib.sha256(result.encode('utf-8')).hexdigest()}\n"
    return f"{fingerprint_array(name, result)}\n"
