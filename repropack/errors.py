"""Every error that repropack raises, as one tree.

.. code-block:: text

    RepropackError                         code · message · hint
    ├── UsageError                         wrong use: no such path, target exists, unknown name
    │   └── ProjectError                   the project file: every fault in it at once
    ├── ExperimentError                    the experiment's code, or what it handed over
    │   ├── ExperimentLoadError            the entry point cannot be imported, called or used
    │   ├── ConfigurationError             the configuration does not fit the experiment
    │   ├── StateError                     a state, stage or metric that cannot be stored
    │   │   └── UnsupportedDtypeError      also TypeError; an array type that cannot be stored
    │   └── StepError                      a step raised; step, stage, cause
    ├── PackageError                       the package is damaged, unsafe or not one
    │   ├── PackageFormatError             not a package: container, document or array form
    │   │   ├── UnsafeEntryError           a path or kind of entry that is never accepted
    │   │   └── LimitExceededError         limit, allowed, observed
    │   ├── SchemaError                    a document breaks its schema: every issue at once
    │   └── IntegrityError                 entries missing, unexpected or changed: all of them
    ├── UnsupportedVersionError            a format version, or a feature, of a later release
    ├── CouldNotRunError                   the run ended without an answer
    │   └── ConfinementUnavailableError    foreign code, and nothing to confine it with
    └── DivergenceError                    only from a report's ``raise_for_divergence()``

Messages say what, where, expected and observed on one line. ``code`` is public and stable; the
message is not. A divergence is a result and never raised by itself.
"""

from __future__ import annotations

from typing import ClassVar


class RepropackError(Exception):
    """Base of the tree: ``code`` for programs, ``message`` and ``hint`` for people."""

    code: ClassVar[str] = "error"

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        """Rebuild from the stored fields, so that errors survive a process pool."""
        return (_rebuild, (type(self), self.args, self.__dict__))


def _rebuild(
    kind: type[RepropackError], args: tuple[object, ...], fields: dict[str, object]
) -> RepropackError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(fields)
    return error


class UsageError(RepropackError):
    """Wrong use: a path that does not exist, a target that does, an unknown name."""

    code = "usage"


class ProjectError(UsageError):
    """The project file cannot be used; ``issues`` holds every fault as ``(key, problem)``."""

    code = "project.invalid"

    def __init__(self, file: str, issues: tuple[tuple[str, str], ...]) -> None:
        super().__init__(f"{file}: {_joined(issues)}")
        self.file = file
        self.issues = issues


class ExperimentError(RepropackError):
    """The experiment's own code failed, or handed over what cannot be recorded."""

    code = "experiment"


class ExperimentLoadError(ExperimentError):
    """The entry point cannot be imported or called, or lacks a method of the protocol."""

    code = "experiment.load"


class ConfigurationError(ExperimentError):
    """The configuration does not fit what the experiment declares."""

    code = "experiment.configuration"


class StateError(ExperimentError):
    """A state value, stage or metric cannot be stored; ``name`` says which."""

    code = "experiment.state"

    def __init__(self, name: str, problem: str, *, hint: str | None = None) -> None:
        super().__init__(f"{name!r}: {problem}", hint=hint)
        self.name = name
        self.problem = problem


class UnsupportedDtypeError(StateError, TypeError):
    """An array's NumPy type cannot be stored; ``name`` and ``dtype`` say which."""

    code = "experiment.unsupported-dtype"

    def __init__(self, name: str, dtype: str) -> None:
        super().__init__(
            name,
            f"array type {dtype} cannot be stored: expected bool, integer, float up to 64 bits "
            f"or complex up to 128 bits, observed {dtype}",
            hint="convert the array to one of those types before it is recorded",
        )
        self.dtype = dtype


class StepError(ExperimentError):
    """A step raised; ``step`` (from 1), the last ``stage`` recorded, and the ``cause``'s line."""

    code = "experiment.step"

    def __init__(self, run: str, step: int, stage: str | None, cause: str) -> None:
        after = f"after stage {stage!r}" if stage else "before its first stage"
        super().__init__(f"run {run!r}: step {step} raised {after}: {cause}")
        self.run = run
        self.step = step
        self.stage = stage
        self.cause = cause


class PackageError(RepropackError):
    """The package is damaged, unsafe, or not a package."""

    code = "package"


class PackageFormatError(PackageError):
    """Bytes that do not have the form of a package, one of its documents or arrays."""

    code = "package.format"


class UnsafeEntryError(PackageFormatError):
    """An entry whose path or kind is never accepted."""

    code = "package.unsafe-entry"

    def __init__(self, path: str, rule: str) -> None:
        super().__init__(f"entry {path!r}: {rule}")
        self.path = path
        self.rule = rule


class LimitExceededError(PackageFormatError):
    """A stated limit would be exceeded by reading on."""

    code = "package.limit-exceeded"

    def __init__(self, where: str, limit: str, allowed: int, observed: int) -> None:
        super().__init__(f"{where}: limit {limit} exceeded: allowed {allowed}, observed {observed}")
        self.where = where
        self.limit = limit
        self.allowed = allowed
        self.observed = observed


class SchemaError(PackageError):
    """A document breaks its schema; ``issues`` holds all ``(JSON pointer, problem)`` pairs."""

    code = "package.schema"

    def __init__(self, document: str, issues: tuple[tuple[str, str], ...]) -> None:
        super().__init__(f"document {document!r}: {_joined(issues)}")
        self.document = document
        self.issues = issues


class IntegrityError(PackageError):
    """The package contradicts its manifest or itself; ``issues`` holds ``(entry, problem)``."""

    code = "package.integrity"

    def __init__(self, issues: tuple[tuple[str, str], ...]) -> None:
        super().__init__("; ".join(f"entry {path!r}: {problem}" for path, problem in issues))
        self.issues = issues


class UnsupportedVersionError(RepropackError):
    """The package uses a format version or feature that this release does not know."""

    code = "package.unsupported-version"

    def __init__(self, what: str, found: str, supported: str) -> None:
        super().__init__(
            f"{what}: expected {supported}, observed {found}",
            hint="use a release of repropack that supports it",
        )
        self.what = what
        self.found = found
        self.supported = supported


class CouldNotRunError(RepropackError):
    """A run ended without an answer: the worker died, or a limit or the environment ended it."""

    code = "could-not-run"


class ConfinementUnavailableError(CouldNotRunError):
    """The package's code is foreign and nothing is there to confine it."""

    code = "confinement-unavailable"


class DivergenceError(RepropackError):
    """Raised by ``raise_for_divergence()`` of a report that is not ``identical``."""

    code = "divergence"


def _joined(issues: tuple[tuple[str, str], ...]) -> str:
    return "; ".join(f"{where or '/'}: {problem}" for where, problem in issues)
