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
    from repropack.certify import certify_package
    from repropack.check import check_package
    from repropack.diff import diff_packages
    from repropack.diff_of_arrays import diff_arrays
    from repropack.diff_of_runs import diff_runs
    from repropack.experiment import Experiment, State, Trace
    from repropack.export import export_package
    from repropack.lint import lint_path
    from repropack.loop import attach
    from repropack.proofread import proofread_article
    from repropack.publish import publish_package
    from repropack.record import record_verification
    from repropack.report import report_package
    from repropack.sign import sign_package
    from repropack.values import package_values
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
    "certify_package",
    "check_package",
    "diff_arrays",
    "diff_packages",
    "diff_runs",
    "export_package",
    "lint_path",
    "open_package",
    "package_values",
    "proofread_article",
    "publish_package",
    "record_verification",
    "report_package",
    "sign_package",
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
    "certify_package": "repropack.certify",
    "check_package": "repropack.check",
    "diff_arrays": "repropack.diff_of_arrays",
    "diff_packages": "repropack.diff",
    "diff_runs": "repropack.diff_of_runs",
    "export_package": "repropack.export",
    "lint_path": "repropack.lint",
    "open_package": "repropack._read.package",
    "package_values": "repropack.values",
    "proofread_article": "repropack.proofread",
    "publish_package": "repropack.publish",
    "record_verification": "repropack.record",
    "report_package": "repropack.report",
    "sign_package": "repropack.sign",
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
