"""Exit statuses: one table. "No" and "could not tell" are never the same number."""

from __future__ import annotations

from repropack.errors import (
    CouldNotRunError,
    DivergenceError,
    ExperimentError,
    LintError,
    PackageError,
    RepropackError,
    UnsupportedVersionError,
    UsageError,
)

IDENTICAL = 0
DIFFERS = 1
WRONG_USE = 2
DAMAGED = 3
COULD_NOT_RUN = 4
INTERRUPTED = 130

MEANINGS = {
    IDENTICAL: "identical, intact, done",
    DIFFERS: "differs, or an expectation, a claim or a lint rule fails (build writes all the same)",
    WRONG_USE: "wrong use: arguments, paths or the project file",
    DAMAGED: "the package is damaged or unsafe",
    COULD_NOT_RUN: "could not run: no answer, neither yes nor no",
    INTERRUPTED: "interrupted",
}

STATUS_BY_VERDICT = {
    "identical": IDENTICAL,
    "intact": IDENTICAL,
    "clean": IDENTICAL,
    "warnings": IDENTICAL,
    "agrees": IDENTICAL,
    "errors": DIFFERS,
    "disagrees": DIFFERS,
    "nothing-marked": DIFFERS,
    "differs": DIFFERS,
    "damaged": DAMAGED,
    "could-not-run": COULD_NOT_RUN,
}

STATUS_BY_ERROR: dict[type[RepropackError], int] = {
    RepropackError: COULD_NOT_RUN,
    UsageError: WRONG_USE,
    ExperimentError: COULD_NOT_RUN,
    PackageError: DAMAGED,
    UnsupportedVersionError: COULD_NOT_RUN,
    LintError: DIFFERS,
    CouldNotRunError: COULD_NOT_RUN,
    DivergenceError: DIFFERS,
}
"""A class that is not listed has the status of the class that it inherits from."""


def status_of_error(error: RepropackError) -> int:
    """The exit status for an error: that of its nearest class in the table."""
    listed = (cls for cls in type(error).__mro__ if cls in STATUS_BY_ERROR)
    return STATUS_BY_ERROR[next(listed, RepropackError)]
