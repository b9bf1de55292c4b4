"""Where things lie: paths, roles, media types and what the evidence digest covers."""

from __future__ import annotations

from typing import get_args

import pytest

from repropack._format.checkpoints import checkpoint_name
from repropack._format.layout import (
    checkpoint_folder,
    is_evidence,
    kept_path,
    log_path,
    media_type_of,
    role_of,
    run_folder,
)
from repropack._format.paths import check_entry_path
from repropack.models.manifest import Role

ENTRIES = [
    ("README.md", "readme", "text/markdown", False),
    ("LICENSE", "license", "text/plain", False),
    ("plan.json", "plan", "application/json", True),
    ("environment.json", "environment", "application/json", False),
    ("results.json", "results", "application/json", False),
    ("source/train.py", "source", "text/x-python", True),
    ("source/a/LICENSE", "source", "application/octet-stream", True),
    ("source/a/README.md", "source", "text/markdown", True),
    ("source/plan.json", "source", "application/json", True),
    ("inputs/data.csv", "input", "text/csv", True),
    ("schemas/plan.schema.json", "schema", "application/json", False),
    ("runs/reference/fingerprints.jsonl", "log", "application/jsonl", True),
    ("runs/reference/kept.npz", "kept", "application/vnd.numpy.npz", True),
    (
        "runs/a-1/checkpoints/step-000000040.npz",
        "checkpoint",
        "application/vnd.numpy.npz",
        True,
    ),
    ("runs/a-1/checkpoints/step-000000040.json", "checkpoint", "application/json", True),
]


@pytest.mark.parametrize(
    ("path", "role", "media_type", "evidence"), ENTRIES, ids=lambda value: value
)
def test_every_entry_has_its_role_type_and_evidence(
    path: str, role: str, media_type: str, evidence: bool
) -> None:
    """What an entry is for follows from where it lies, and from nothing else."""
    assert role_of(path) == role
    assert role in get_args(Role)
    assert media_type_of(path) == media_type
    assert is_evidence(path) is evidence
    check_entry_path(path)


NOWHERE = [
    "",
    "manifest.json",
    "setup.py",
    "Plan.json",
    "plan.json/",
    "plan.json/x",
    "source",
    "source/",
    "sources/a.py",
    "inputs",
    "schemas",
    "runs",
    "runs/",
    "runs/reference",
    "runs/reference/",
    "runs//fingerprints.jsonl",
    "runs/fingerprints.jsonl",
    "runs/reference/x/fingerprints.jsonl",
    "runs/reference/fingerprints.jsonl/x",
    "runs/reference/notes.txt",
    "runs/Reference/kept.npz",
    "runs/-a/kept.npz",
    f"runs/{'a' * 65}/kept.npz",
    "runs/../kept.npz",
    "runs/reference/kept.npy",
    "runs/reference/checkpoints",
    "runs/reference/checkpoints/",
    "runs/reference/checkpoints/x",
    "runs/reference/checkpoints/step-40.npz",
    "runs/reference/checkpoints/step-000000040.npz.exe",
    "runs/reference/checkpoints/step-000000040.npz\n",
    "runs/reference/checkpoints/step-000000040.txt",
    "runs/reference/checkpoints/x/step-000000040.npz",
    "runs/reference/step-000000040.npz",
]


@pytest.mark.parametrize("path", NOWHERE, ids=ascii)
def test_nothing_may_lie_elsewhere(path: str) -> None:
    """A path that the format does not name has no role, so that no entry may be there."""
    assert role_of(path) is None


def test_the_paths_of_a_run() -> None:
    """The functions that make paths and the one that reads them agree."""
    assert run_folder("a") == "runs/a"
    assert role_of(log_path("a")) == "log"
    assert role_of(kept_path("a")) == "kept"
    assert role_of(f"{checkpoint_folder('a')}/{checkpoint_name(40)}.json") == "checkpoint"


@pytest.mark.parametrize(
    "path", ["results.json", "plan.json.bak", "xsource/a.py", "sourcex/a.py", "runs", "Runs/a"]
)
def test_what_is_no_evidence(path: str) -> None:
    """The evidence digest covers whole folders, not names that begin like them."""
    assert not is_evidence(path)


def test_an_unknown_extension_is_bytes() -> None:
    """What has no known extension is not guessed at."""
    assert media_type_of("inputs/data.bin") == "application/octet-stream"
    assert media_type_of("inputs/.json") == "application/octet-stream"
