"""Whether a package's code may run here, and how: what the caller allows, and what is foreign."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from repropack._format.limits import DEFAULT_RUN_LIMITS, RunLimits
from repropack._format.paths import shown_path
from repropack._read.package import Package
from repropack._run.confinement.probing import choose_sandbox
from repropack._run.confinement.sandbox import Sandbox
from repropack._run.confinement.view import View, machine_view
from repropack.errors import ConfinementUnavailableError, UsageError
from repropack.lab import SHIPPED_SOURCES
from repropack.models.reports import Confinement

ConfinementReason = Literal["shipped-source", "trusted"]


@dataclass(frozen=True)
class Consent:
    """What the caller allows a package's code.

    Attributes:
        sandbox: The level that it is to be confined at, shipped or not; ``None`` for the best
            there is, and none for a source that repropack ships.
        trust: The digest of the one package whose code may run unconfined, or ``None``.
        run_limits: Limits on each run.
    """

    sandbox: Literal["bubblewrap", "landlock"] | None = None
    trust: str | None = None
    run_limits: RunLimits = DEFAULT_RUN_LIMITS


BY_DEFAULT = Consent()
"""Confined, unless repropack ships the source."""


def confine(
    package: Package, consent: Consent, *, recreated: bool = False
) -> tuple[Sandbox, ConfinementReason | None]:
    """How a package's code is run, and why unconfined where it is.

    Args:
        package: The package, checked.
        consent: What the caller allows.
        recreated: It runs in an environment that the package names: then also a source that
            repropack ships meets foreign code.

    Returns:
        A sandbox, and the reason where its level is ``none``.

    Raises:
        ConfinementUnavailableError: the code is foreign, and nothing is there to confine it.
    """
    limits = consent.run_limits
    if consent.trust is not None:
        return Sandbox("none", limits), "trusted"
    if consent.sandbox is None and not recreated and is_shipped(package):
        return Sandbox("none", limits), "shipped-source"
    return choose_sandbox(consent.sandbox, limits), None


def is_shipped(package: Package) -> bool:
    """Whether the source is one that repropack ships, and is entered where that one is.

    A command, a variable or an input could make anything run beside it.

    Returns:
        Whether nothing foreign is executed when its runs are.
    """
    shipped, experiment = SHIPPED_SOURCES.get(package.source_digest), package.plan.experiment
    has_inputs = any(entry.role == "input" for entry in package.manifest.entries)
    foreign = (
        experiment.command
        or experiment.environment
        or experiment.import_from
        or package.plan.after
        or has_inputs
    )
    return shipped is not None and experiment.entry_point == shipped.entry_point and not foreign


def require_trusted(package: Package, consent: Consent) -> None:
    """Trust is in one package, named by its digest, and never in whatever a path holds.

    Raises:
        UsageError: the package is another one than the one that is trusted.
    """
    if consent.trust is not None and consent.trust != package.package_digest:
        raise UsageError(
            f"trusted package: expected {consent.trust}, observed {package.package_digest}",
            hint="compare the digest with the one that its author published",
        )


def require_unseen(path: str | Path, sandbox: Sandbox, view: View | None = None) -> None:
    """A program that saw its package could read there what it is to compute.

    Args:
        path: The package.
        sandbox: How its code will be run.
        view: What it will see of this machine; this interpreter's view where it is ``None``.

    Raises:
        ConfinementUnavailableError: the package lies in what is shown to a confined program.
    """
    if sandbox.level == "none":
        return
    seen = (machine_view() if view is None else view).shows(str(path))
    if seen is not None:
        raise ConfinementUnavailableError(
            "confinement: expected a package that the confined program does not see, observed one "
            f"in {shown_path(seen)}",
            hint="copy it to a folder of your own, or to a temporary one",
        )


def describe(sandbox: Sandbox, reason: ConfinementReason | None) -> Confinement:
    """A sandbox as a report tells of it."""
    limits = {} if sandbox.limits is None else asdict(sandbox.limits)
    return Confinement(
        level=sandbox.level, reason=reason, guarantees=sandbox.guarantees, limits=limits
    )
