"""An open package: digests by definition, documents as models, and what is no package."""

from __future__ import annotations

import hashlib
import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from repropack._format.limits import Limits
from repropack._read.package import Package, evidence_digest, open_package, source_digest
from repropack.errors import (
    IntegrityError,
    LimitExceededError,
    PackageFormatError,
    SchemaError,
    UnsupportedVersionError,
    UsageError,
)
from repropack.models.manifest import Entry
from tests.support.expected import EVIDENCE_DIGEST, SOURCE_DIGEST
from tests.support.hostile import take_apart


def entry(path: str, content: bytes, role: Any, media_type: str) -> Entry:
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return Entry(path=path, size=len(content), digest=digest, role=role, media_type=media_type)


ENTRIES = (
    entry("LICENSE", b"free\n", "license", "text/plain"),
    entry("plan.json", b"{}\n", "plan", "application/json"),
    entry("source/a.py", b"pass\n", "source", "text/x-python"),
)


# ---------------------------------------------------------------- digests


def test_the_digests_are_those_of_the_format_document() -> None:
    """The worked examples of docs/format.md, 3.4 and 3.5."""
    assert evidence_digest(ENTRIES) == (
        "sha256:b93613a1062b7190009cb539a87c5110a4a49b4408d9a4d484c45af9696d235b"
    )
    assert source_digest(ENTRIES) == (
        "sha256:641bd2738122e52a817c2d205a5686e15227fad27f8f201603f808cd670086ea"
    )


@pytest.mark.parametrize(
    ("path", "covered"),
    [
        ("plan.json", True),
        ("source/b.py", True),
        ("inputs/data.csv", True),
        ("runs/reference/kept.npz", True),
        ("README.md", False),
        ("environment.json", False),
        ("results.json", False),
        ("schemas/plan.schema.json", False),
    ],
)
def test_the_evidence_digest_leaves_out_what_describes_the_machine(
    path: str, covered: bool
) -> None:
    """It changes with what was run and what came of it, and with nothing else."""
    more = (*ENTRIES, entry(path, b"other", "results", "text/plain"))
    assert (evidence_digest(more) != evidence_digest(ENTRIES)) is covered


def test_the_source_digest_is_of_paths_and_contents() -> None:
    """Order in the manifest, roles and modes leave no trace; a moved file does."""
    first, second = (entry(f"source/{n}.py", b"x", "source", "text/x-python") for n in "ab")
    assert source_digest((first, second)) == source_digest((second, first))
    assert source_digest((first,)) != source_digest((second,))
    changed = first.model_copy(update={"executable": True, "role": "input"})
    assert source_digest((changed,)) == source_digest((first,))
    assert source_digest(()) == source_digest(ENTRIES[:2])


# ---------------------------------------------------------------- an open package


def test_the_lab_is_read_as_models(lab_package: Path) -> None:
    """Documents are parsed when they are asked for, once."""
    with open_package(lab_package) as package:
        assert package.manifest.package.name == "replay-lab"
        assert package.package_digest == (
            "sha256:" + hashlib.sha256(package.read("manifest.json")).hexdigest()
        )
        assert package.evidence_digest == EVIDENCE_DIGEST
        assert package.source_digest == SOURCE_DIGEST
        assert package.plan is package.plan
        assert package.plan.experiment.seed == 7
        assert package.results.reference.last_step == 100
        assert package.environment.interpreter.implementation
        assert package.run().name == "reference"
        assert package.run_names() == (
            "reference",
            "adam-reset",
            "full-checkpoint",
            "independent-restart",
            "reversed-reduction",
            "sampler-reset",
        )
        with pytest.raises(UsageError, match="no run named 'absent'"):
            package.run("absent")


def test_a_package_can_be_closed_without_a_with(lab_package: Path) -> None:
    package = open_package(str(lab_package))
    assert package.path == lab_package
    package.close()
    with pytest.raises(ValueError, match="closed file"):
        package.read("plan.json")


def test_reading_an_entry_is_limited(lab_package: Path) -> None:
    """By the limit of documents, or by the caller's."""
    with open_package(lab_package) as package:
        size = len(package.read("plan.json"))
        assert package.read("plan.json", max_bytes=size)
        with pytest.raises(LimitExceededError) as caught:
            package.read("plan.json", max_bytes=size - 1)
        assert (caught.value.limit, caught.value.allowed, caught.value.observed) == (
            "max_document_bytes", size - 1, str(size),
        )  # fmt: skip
        with pytest.raises(PackageFormatError, match="absent: missing: expected this entry"):
            package.read("absent")
    with pytest.raises(LimitExceededError, match="max_manifest_bytes"):
        open_package(lab_package, limits=Limits(max_manifest_bytes=100))


def test_copying_an_entry_holds_it_against_its_digest(lab_package: Path) -> None:
    """What was written is what the manifest lists, or an error says so."""
    with open_package(lab_package) as package:
        (row,) = [one for one in package.manifest.entries if one.path == "plan.json"]
        copy = BytesIO()
        package.copy_entry(row, copy)
        assert copy.getvalue() == package.read("plan.json")
        wrong = row.model_copy(update={"digest": "sha256:" + "0" * 64})
        with pytest.raises(IntegrityError, match=r"'plan\.json': digest differs"):
            package.copy_entry(wrong, BytesIO())


# ---------------------------------------------------------------- no packages


def open_manifest(folder: Path, manifest: bytes) -> Package:
    (folder / "manifest.json").write_bytes(manifest)
    return open_package(folder)


@pytest.mark.parametrize(
    ("manifest", "error", "words"),
    [
        (b'{"format":"repropack"}\n', PackageFormatError, "also called ReproPack"),
        (b'{"format":"zip"}\n', PackageFormatError, "observed 'zip'"),
        (b'{"format":null}\n', PackageFormatError, "observed None"),
        (b'{"format":["replay-package"]}\n', PackageFormatError, "observed"),
        (b"{}\n", PackageFormatError, "observed None"),
        (b"[]\n", PackageFormatError, "observed None"),
        (b"null\n", PackageFormatError, "observed None"),
        (b"", PackageFormatError, "strict JSON"),
        (b'{"format":"replay-package","format_version":2}\n', UnsupportedVersionError, "1 to 1"),
        (b'{"format":"replay-package","format_version":9e9}\n', SchemaError, "format_version"),
        (b'{"format":"replay-package","format_version":true}\n', SchemaError, "format_version"),
        (b'{"format":"replay-package"}\n', SchemaError, "entries"),
    ],
)
def test_what_is_no_package_is_refused(
    tmp_path: Path, manifest: bytes, error: type[Exception], words: str
) -> None:
    """Format and version are looked at before anything else."""
    with pytest.raises(error, match=words):
        open_manifest(tmp_path, manifest)


def test_a_directory_without_a_manifest_is_no_package(tmp_path: Path) -> None:
    with pytest.raises(PackageFormatError, match="observed none: this is no package"):
        open_package(tmp_path)


def test_nothing_is_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        open_package(tmp_path / "absent.zip")


def test_a_run_folder_without_a_log_is_no_run(lab_package: Path, tmp_path: Path) -> None:
    """What has no log cannot be read as a run; ``check`` finds its files."""
    forgery = take_apart(lab_package)
    forgery.files["runs/ghost/kept.npz"] = forgery.files["runs/reference/kept.npz"]
    with open_package(forgery.write_directory(tmp_path / "forged")) as package:
        assert "ghost" not in package.run_names()


def test_a_manifest_is_read_by_anyone(lab_package: Path, tmp_path: Path) -> None:
    """The bytes are plain JSON; nothing of ours is needed to read them."""
    forgery = take_apart(lab_package)
    manifest = json.loads(forgery.seal())
    assert manifest["format"] == "replay-package"
    assert len(manifest["entries"]) == len(forgery.files)
