"""The reference experiments: each one self-contained module, packed as it stands.

This module says where the built-in lab's project file lies, and which packaged sources are our
own: a source that repropack ships may run without a sandbox, since nothing foreign is executed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

LAB_PROJECT = Path(__file__).with_name("replay_lab.toml")
"""Project file of the replay lab, which ``build`` runs when it is given nothing else."""


@dataclass(frozen=True)
class ShippedSource:
    """A lab source that was released, and the one entry point that may be called in it."""

    name: str
    entry_point: str


SHIPPED_SOURCES = {
    "sha256:28a4a1e902b34a85fe93d1e6c4d5c49122bb10d230039217ddf49aad9119c803": ShippedSource(
        "replay-lab 1.0.0", "replay_lab:ReplayLab"
    ),
}
"""Every lab source ever released, by the digest of the packaged source (docs/format.md)."""
