"""Where everything lies in a package: paths, roles and media types in one place."""

from __future__ import annotations

from pathlib import PurePosixPath

from repropack.models.manifest import Role

MANIFEST = "manifest.json"
PLAN = "plan.json"
ENVIRONMENT = "environment.json"
RESULTS = "results.json"
README = "README.md"
LICENSE = "LICENSE"
SOURCE = "source"
RUNS = "runs"
SCHEMAS = "schemas"
CONFIG_SCHEMA = f"{SCHEMAS}/config.schema.json"
REFERENCE_RUN = "reference"

EVIDENCE_FOLDERS = ("source/", "inputs/", "runs/")
"""With ``plan.json``, what the evidence digest covers."""

_ROLE_BY_PATH: dict[str, Role] = {
    PLAN: "plan",
    ENVIRONMENT: "environment",
    RESULTS: "results",
    README: "readme",
    LICENSE: "license",
}
_ROLE_BY_FOLDER: dict[str, Role] = {SOURCE: "source", "inputs": "input", SCHEMAS: "schema"}
_MEDIA_TYPES = {
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".npz": "application/vnd.numpy.npz",
    ".md": "text/markdown",
    ".py": "text/x-python",
    ".toml": "application/toml",
    ".txt": "text/plain",
    ".csv": "text/csv",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}


def run_folder(run: str) -> str:
    """Folder of a run."""
    return f"{RUNS}/{run}"


def log_path(run: str) -> str:
    """Fingerprint log of a run."""
    return f"{RUNS}/{run}/fingerprints.jsonl"


def kept_path(run: str) -> str:
    """Kept arrays of a run."""
    return f"{RUNS}/{run}/kept.npz"


def checkpoint_folder(run: str) -> str:
    """Folder of a run's checkpoints."""
    return f"{RUNS}/{run}/checkpoints"


def is_evidence(path: str) -> bool:
    """Whether the evidence digest covers ``path``."""
    return path == PLAN or path.startswith(EVIDENCE_FOLDERS)


def role_of(path: str) -> Role | None:
    """The role that an entry at ``path`` has, or ``None`` where no entry may be."""
    if path in _ROLE_BY_PATH:
        return _ROLE_BY_PATH[path]
    folder, _, rest = path.partition("/")
    if rest and folder in _ROLE_BY_FOLDER:
        return _ROLE_BY_FOLDER[folder]
    if folder != RUNS or not rest:
        return None
    parts = rest.split("/")
    if parts[1:] == ["fingerprints.jsonl"]:
        return "log"
    if parts[1:] == ["kept.npz"]:
        return "kept"
    if len(parts) == 3 and parts[1] == "checkpoints":
        return "checkpoint"
    return None


def media_type_of(path: str) -> str:
    """Media type by extension; ``application/octet-stream`` where unknown."""
    if path == LICENSE:
        return "text/plain"
    return _MEDIA_TYPES.get(PurePosixPath(path).suffix, "application/octet-stream")
