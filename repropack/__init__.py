"""Build and verify reproducibility packages, byte for byte.

Everything public is named here and imported when it is first used: importing ``repropack`` itself
costs nothing but the errors, so that scripts and ``--help`` start at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from repropack._version import __version__ as __version__
from repropack.errors import (
    BusyError,
    CommandError,
    ConfigurationError,
    ConfinementUnavailableError,
    CouldNotRunError,
    DivergenceError,
    ExperimentError,
    ExperimentLoadError,
    InexactResumeError,
    IntegrityError,
    LimitExceededError,
    LintError,
    PackageError,
    PackageFormatError,
    ProjectError,
    RepropackError,
    SchemaError,
    StateError,
    StepError,
    UnsafeEntryError,
    UnsupportedDtypeError,
    UnsupportedVersionError,
    UsageError,
)

if TYPE_CHECKING:
    from repropack._read.package import open_package
    from repropack.audit import audit_project
    from repropack.build import build_package
    from repropack.check import check_package
    from repropack.diff import diff_packages
    from repropack.diff_of_arrays import diff_arrays
    from repropack.diff_of_runs import diff_runs
    from repropack.experiment import Experiment, State, Trace
    from repropack.lint import lint_path
    from repropack.loop import attach
    from repropack.verify import verify_package
    from repropack.zoom import ZoomOptions, zoom_difference


__all__ = [
    "BusyError",
    "CommandError",
    "ConfigurationError",
    "ConfinementUnavailableError",
    "CouldNotRunError",
    "DivergenceError",
    "Experiment",
    "ExperimentError",
    "ExperimentLoadError",
    "InexactResumeError",
    "IntegrityError",
    "LimitExceededError",
    "LintError",
    "PackageError",
    "PackageFormatError",
    "ProjectError",
    "RepropackError",
    "SchemaError",
    "State",
    "StateError",
    "StepError",
    "Trace",
    "UnsafeEntryError",
    "UnsupportedDtypeError",
    "UnsupportedVersionError",
    "UsageError",
    "ZoomOptions",
    "attach",
    "audit_project",
    "build_package",
    "check_package",
    "diff_arrays",
    "diff_packages",
    "diff_runs",
    "lint_path",
    "open_package",
    "verify_package",
    "zoom_difference",
]

_HOMES = {
    "Experiment": "repropack.experiment",
    "State": "repropack.experiment",
    "Trace": "repropack.experiment",
    "ZoomOptions": "repropack.zoom",
    "attach": "repropack.loop",
    "audit_project": "repropack.audit",
    "build_package": "repropack.build",
    "check_package": "repropack.check",
    "diff_arrays": "repropack.diff_of_arrays",
    "diff_packages": "repropack.diff",
    "diff_runs": "repropack.diff_of_runs",
    "lint_path": "repropack.lint",
    "open_package": "repropack._read.package",
    "verify_package": "repropack.verify",
    "zoom_difference": "repropack.zoom",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Public names, whether imported yet or not."""
    return sorted({*globals(), *__all__})
