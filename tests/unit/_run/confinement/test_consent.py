"""What a caller allows, and what of it a package gets."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from repropack._format.limits import RunLimits
from repropack._run.confinement import consent as module
from repropack._run.confinement.consent import (
    Consent,
    confine,
    describe,
    require_trusted,
    require_unseen,
)
from repropack._run.confinement.sandbox import Sandbox
from repropack._run.confinement.view import View
from repropack.errors import ConfinementUnavailableError, UsageError
from repropack.lab import SHIPPED_SOURCES
from repropack.models.plan import CommandPlan, ExperimentPlan, Plan, RecordPlan
from repropack.models.reports import Confinement, Guarantee

(SHIPPED,) = SHIPPED_SOURCES
DIGEST, OTHER = "sha256:" + "1" * 64, "sha256:" + "2" * 64
LIMITS = RunLimits(max_run_seconds=5)


def package(
    source: str = SHIPPED,
    entry_point: str | None = "replay_lab:ReplayLab",
    role: str = "source",
    after: tuple[CommandPlan, ...] = (),
    **members: Any,
) -> Any:
    """As much of a package as is asked."""
    experiment = ExperimentPlan(entry_point=entry_point, seed=7, steps=1, **members)
    return SimpleNamespace(
        source_digest=source,
        package_digest=DIGEST,
        plan=Plan(experiment=experiment, record=RecordPlan(), after=after),
        manifest=SimpleNamespace(entries=[SimpleNamespace(role=role)]),
    )


@pytest.fixture(autouse=True)
def confined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        module, "choose_sandbox", lambda level, limits: Sandbox(level or "bubblewrap", limits)
    )


@pytest.mark.parametrize(
    ("given", "consent", "level", "reason"),
    [
        (package(), Consent(), "none", "shipped-source"),
        (package(), Consent(sandbox="landlock"), "landlock", None),
        (package(source=OTHER), Consent(), "bubblewrap", None),
        (package(source=OTHER), Consent(sandbox="landlock"), "landlock", None),
        (package(entry_point="subprocess:run"), Consent(), "bubblewrap", None),
        (package(role="input"), Consent(), "bubblewrap", None),
        (package(command=("sh", "-c", "true")), Consent(), "bubblewrap", None),
        (package(entry_point=None, command=("python", "x.py")), Consent(), "bubblewrap", None),
        (package(environment={"NUMPY_X": "1"}), Consent(), "bubblewrap", None),
        (package(import_from=("/tmp",)), Consent(), "bubblewrap", None),
        (package(after=(CommandPlan(command=("sh",)),)), Consent(), "bubblewrap", None),
        (package(source=OTHER), Consent(trust=DIGEST), "none", "trusted"),
    ],
    ids=[
        "shipped",
        "shipped-asked",
        "foreign",
        "asked",
        "entry-point",
        "inputs",
        "command-beside",
        "command",
        "variable",
        "import-from",
        "after",
        "trusted",
    ],
)
def test_foreign_code_is_confined(
    given: Any, consent: Consent, level: str, reason: str | None
) -> None:
    """Unconfined is what repropack ships, and what the caller trusts by name; all have limits."""
    consent = Consent(consent.sandbox, consent.trust, LIMITS)
    assert confine(given, consent) == (Sandbox(level, LIMITS), reason)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [package(), package(source=OTHER)], ids=["shipped", "foreign"])
def test_in_a_recreated_environment_every_source_is_confined(given: Any) -> None:
    """What is installed there is foreign; only trust in the very package goes without."""
    consent = Consent(run_limits=LIMITS)
    assert confine(given, consent, recreated=True) == (Sandbox("bubblewrap", LIMITS), None)
    trusted = Consent(trust=DIGEST, run_limits=LIMITS)
    assert confine(given, trusted, recreated=True) == (Sandbox("none", LIMITS), "trusted")


def test_what_another_view_shows_counts_too(tmp_path: Path) -> None:
    """A package in the folder of the interpreter of a recreated environment is not run."""
    view = View((str(tmp_path),))
    require_unseen(tmp_path / "p.zip", Sandbox("none", LIMITS), view)
    with pytest.raises(ConfinementUnavailableError):
        require_unseen(tmp_path / "p.zip", Sandbox("landlock", LIMITS), view)


def test_trust_is_in_one_package() -> None:
    """Another digest is wrong use, before anything is looked at."""
    require_trusted(package(), Consent())
    require_trusted(package(), Consent(trust=DIGEST))
    with pytest.raises(UsageError) as caught:
        require_trusted(package(), Consent(trust=OTHER))
    assert caught.value.message == f"trusted package: expected {OTHER}, observed {DIGEST}"


def test_a_report_tells_level_reason_and_limits() -> None:
    guarantees = (Guarantee(name="network", status="held"),)
    told = describe(Sandbox("landlock", LIMITS, guarantees), None)
    assert told == Confinement(
        level="landlock",
        guarantees=guarantees,
        limits={
            "max_run_seconds": 5,
            "max_run_memory_bytes": 8 << 30,
            "max_run_processes": 1024,
            "max_run_scratch_bytes": 8 << 30,
            "max_run_files": 100_000,
            "max_run_depth": 128,
            "max_run_output_bytes": 65_536,
        },
    )


@pytest.mark.parametrize("place", ["shown", "shown/in/p.zip", "link/p.zip"])
def test_a_package_that_its_program_would_see_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """It would read there what it has to compute, and every verdict would be `identical`."""
    (tmp_path / "shown/in").mkdir(parents=True)
    (tmp_path / "link").symlink_to("shown/in")
    shown = str((tmp_path / "shown").resolve())
    monkeypatch.setattr(module, "machine_view", lambda: View(shown=(shown,)))
    with pytest.raises(ConfinementUnavailableError, match="a package that the confined program"):
        require_unseen(tmp_path / place, Sandbox("landlock", LIMITS))
    require_unseen(tmp_path / place, Sandbox("none", LIMITS))
    require_unseen(tmp_path / "beside" / "p.zip", Sandbox("landlock", LIMITS))
