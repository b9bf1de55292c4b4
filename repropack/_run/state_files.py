"""A state as two files between judge and worker: its arrays as npz, all else as JSON.

Both ends of this release write and read them. What a worker hands over is not read here but with
suspicion (``handed``).
"""

from __future__ import annotations

from pathlib import Path

from repropack._format.canonical import encode_canonical
from repropack._format.checkpoints import describe_state, read_state, write_state
from repropack._format.state import EncodedState
from repropack.models.checkpoint import StoredState


def write_state_files(folder: Path, name: str, state: EncodedState) -> StoredState:
    """Write a state as ``<name>.npz`` and ``<name>.json``.

    Args:
        folder: An existing folder.
        name: What both files are called.
        state: The state.

    Returns:
        What the JSON file holds.

    Raises:
        OSError: it cannot be written.
    """
    stored = describe_state(state)
    with (folder / f"{name}.npz").open("wb") as stream:
        write_state(stream, state)
    document = encode_canonical(stored.model_dump(mode="json"))
    (folder / f"{name}.json").write_bytes(document)
    return stored


def read_state_files(folder: Path, name: str) -> EncodedState:
    """Read a state that ``write_state_files`` wrote.

    Args:
        folder: Its folder.
        name: What both files are called.

    Returns:
        The state, its fingerprints computed again.

    Raises:
        PackageError: the files are not what was written.
        OSError: they cannot be read.
    """
    stored = StoredState.model_validate_json((folder / f"{name}.json").read_bytes())
    with (folder / f"{name}.npz").open("rb") as stream:
        return read_state(stream, stored, where=f"{name}.npz")
