"""A version names one evidence: what a build may replace, and what it may not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from repropack._run.assemble import check_written
from repropack.build import build_package
from repropack.check import check_package
from repropack.errors import UsageError
from repropack.models.reports import BuildReport
from tests.support.experiment_sources import SOURCES, configured, write_project
from tests.support.thinning import part_of

pytestmark = pytest.mark.slow

RECORD = """[record]
checkpoint-every = 2
[[comparisons]]
name = "restart"
hash-seed = 1
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "project", SOURCES["calm"], more=RECORD)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "tiny.zip"


def never(run: str, step: int, last: int) -> None:
    pytest.fail("nothing was to be run")


def edit(project: Path, old: str, new: str) -> None:
    file = project / "repropack.toml"
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def refused(project: Path, target: Path, first: BuildReport, **options: Any) -> UsageError:
    """Build again with ``--force``: it is refused, and what stood at the target still does."""
    with pytest.raises(UsageError) as caught:
        build_package(project, target, force=True, **options)
    assert check_package(target).package_digest == first.package_digest
    assert caught.value.hint is not None
    assert f'raise version and set supersedes = "{first.package_digest}"' in caught.value.hint
    return caught.value


def observed(error: UsageError, evidence_digest: str) -> str:
    """What the message says was observed; the rest of it is always the same."""
    before = (
        "tiny.zip: expected to replace tiny 1.0.0 by the same evidence, "
        f"{evidence_digest}, observed "
    )
    assert error.message.startswith(before)
    return error.message.removeprefix(before)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    part_of(
        [
            ("seed = 7", "seed = 8", "another experiment.seed"),
            ("steps = 4", "steps = 5", "another experiment.steps"),
            ("checkpoint-every = 2", "checkpoint-every = 4", "another record.checkpoint_every"),
            ('"restart"', '"again"', "another comparisons.restart, comparisons.again"),
        ]
    ),
)
def test_another_plan_is_refused_before_anything_runs(
    project: Path, target: Path, old: str, new: str, told: str
) -> None:
    """With the keys that differ, and the cure."""
    first = build_package(project, target)
    edit(project, old, new)
    error = refused(project, target, first, on_step=never)
    assert observed(error, first.evidence_digest) == told
    assert list(target.parent.glob(".tiny*")) == []


def test_another_source_is_refused_before_anything_runs(project: Path, target: Path) -> None:
    """A comment is enough: source is evidence."""
    first = build_package(project, target)
    (project / "tiny_lab.py").write_text(f"{SOURCES['calm']}# more\n", "utf-8")
    error = refused(project, target, first, on_step=never)
    assert observed(error, first.evidence_digest) == "another source/tiny_lab.py"


def test_a_new_version_replaces_the_old_one(project: Path, target: Path) -> None:
    """It may say which package it supersedes."""
    first = build_package(project, target)
    edit(project, 'version = "1.0.0"', f'version = "2"\nsupersedes = "{first.package_digest}"')
    edit(project, "seed = 7", "seed = 8")
    second = build_package(project, target, force=True)
    assert second.package.supersedes == first.package_digest
    assert check_package(target).package_digest == second.package_digest


@pytest.mark.parametrize("directory", [False, True], ids=["zip", "directory"])
def test_the_same_evidence_is_replaced(project: Path, tmp_path: Path, directory: bool) -> None:
    """What describes a package may be said otherwise under one version."""
    target = tmp_path / "tiny"
    first = build_package(project, target, directory=directory)
    edit(project, "A tiny experiment", "A small experiment")
    second = build_package(project, target, directory=directory, force=True)
    assert second.evidence_digest == first.evidence_digest
    assert second.package_digest != first.package_digest
    assert check_package(target).package_digest == second.package_digest


RATE = configured("Config", "@dataclass\nclass Config:\n    rate: float = 0.5\n    tag: str = ''")


def test_a_configuration_counts_by_its_values(tmp_path: Path, target: Path) -> None:
    """1 and 1.0 may be one value once the experiment has read them; 2 is another."""
    more = "[experiment.config]\nrate = 1\n[record]\ncheckpoint-every = 2\n"
    project = write_project(tmp_path / "p", RATE, more=more)
    first = build_package(project, target)
    edit(project, "rate = 1", "rate = 1.0")
    assert build_package(project, target, force=True).evidence_digest == first.evidence_digest
    edit(project, "rate = 1.0", "rate = 2")
    error = refused(project, target, first, on_step=never)
    assert observed(error, first.evidence_digest) == "another experiment.config.rate"


def test_other_evidence_is_refused_at_the_end_where_it_could_not_be_known_before(
    tmp_path: Path, target: Path
) -> None:
    """A configuration's text is only known when it was read; what was recorded is kept."""
    more = "[experiment.config]\ntag = 'a'\n[record]\ncheckpoint-every = 2\n"
    project = write_project(tmp_path / "p", RATE, more=more)
    first = build_package(project, target)
    edit(project, "tag = 'a'", "tag = 'b'")
    error = refused(project, target, first)
    digest = observed(error, first.evidence_digest)
    assert error.hint is not None
    assert error.hint.endswith(
        "or, where nobody has tiny.zip, remove it and build again; what was recorded is kept in "
        ".tiny.zip.work: --resume continues it where nothing has changed, --discard begins again"
    )
    target.unlink()
    second = build_package(project, target, left_over="resume", on_step=never)
    assert second.evidence_digest == digest


def test_what_is_no_whole_package_names_no_version(project: Path, target: Path) -> None:
    """A torn file is replaced, whatever version its manifest is of."""
    first = build_package(project, target)
    target.write_bytes(target.read_bytes()[:-100])
    (project / "tiny_lab.py").write_text(f"{SOURCES['calm']}# more\n", "utf-8")
    second = build_package(project, target, force=True)
    assert second.evidence_digest != first.evidence_digest
    assert check_package(target).verdict == "intact"


def test_a_package_that_is_there_a_moment_before_the_end_counts(
    project: Path, target: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The last look is at what stands there when the build is done."""
    edit(project, "seed = 7", "seed = 8")
    first = build_package(project, tmp_path / "other.zip")
    edit(project, "seed = 8", "seed = 7")

    def meanwhile(*arguments: Any) -> None:
        check_written(*arguments)
        (tmp_path / "other.zip").rename(target)

    monkeypatch.setattr("repropack.build.check_written", meanwhile)
    error = refused(project, target, first)
    assert observed(error, first.evidence_digest).startswith("sha256:")
