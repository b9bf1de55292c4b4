"""Fingerprint logs built by hand, after DESIGN.md alone: no code of the package is used."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

DOMAIN = b"repropack.chain.v1\n"


def digest_of(text: str) -> str:
    """Some digest: that of a text."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def canonical(value: Any) -> bytes:
    """Canonical JSON as DESIGN.md states it, without the final newline."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def fresh_chain() -> str:
    """The chain before step 1 of a fresh run."""
    return "sha256:" + hashlib.sha256(DOMAIN).hexdigest()


def chained(previous: str, members: dict[str, Any]) -> tuple[bytes, str]:
    """One step's stored line and its chain."""
    rest = canonical(members)[1:]
    data = DOMAIN + previous.removeprefix("sha256:").encode() + b"\n{" + rest
    chain = "sha256:" + hashlib.sha256(data).hexdigest()
    return b'{"chain":"' + chain.encode() + b'",' + rest + b"\n", chain


def header(first_step: int = 1, **changes: Any) -> dict[str, Any]:
    """A header line's members."""
    return {
        "schema": "repropack/fingerprint-log/v1",
        "run": "reference",
        "config": digest_of("config"),
        "constants": [["features", digest_of("features")], ["targets", digest_of("targets")]],
        "first_step": first_step,
        "stages": [["batch", ["state:s"]], ["gradient", ["batch", "state:w"]], ["w", None]],
        **changes,
    }


def start(chain: str | None = None, **changes: Any) -> dict[str, Any]:
    """A start line's members."""
    return {
        "chain": chain or fresh_chain(),
        "state": [["s", digest_of("s0")], ["w", digest_of("w0")]],
        **changes,
    }


def step(number: int, **changes: Any) -> dict[str, Any]:
    """A step line's members without its chain; ``None`` leaves a member out."""
    members = {
        "step": number,
        "stages": [[name, digest_of(f"{name}{number}")] for name in ("batch", "gradient", "w")],
        "state": [[name, digest_of(f"{name}{number}")] for name in ("s", "w")],
        "metrics": {"loss": 1 / number},
        "printed": {"loss": f"{1 / number:.4f}"},
        **changes,
    }
    return {name: value for name, value in members.items() if value is not None}


def log_bytes(
    steps: Iterable[dict[str, Any]],
    head: dict[str, Any] | None = None,
    begin: dict[str, Any] | None = None,
) -> bytes:
    """A whole log, every chain right."""
    head = header() if head is None else head
    begin = start() if begin is None else begin
    lines = [canonical(head) + b"\n", canonical(begin) + b"\n"]
    chain = begin["chain"]
    for members in steps:
        line, chain = chained(chain, members)
        lines.append(line)
    return b"".join(lines)
