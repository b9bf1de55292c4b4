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
    │   ├── StepError                      a step raised; step, stage, cause
    │   ├── CommandError                   a command failed, or broke a rule of clean copies
    │   └── InexactResumeError             an interrupted run does not continue as it was recorded
    ├── PackageError                       the package is damaged, unsafe or not one: refusals
    │   ├── PackageFormatError             not a package: container, document or array form
    │   │   ├── UnsafeEntryError           a path or kind of entry that is never accepted
    │   │   └── LimitExceededError         a stated limit; limit, allowed, observed
    │   ├── SchemaError                    a document breaks its schema: every issue at once
    │   └── IntegrityError                 entries missing, unexpected or changed: all of them
    ├── LintError                          what is to be packed must not be: every finding
    ├── UnsupportedVersionError            a format version, or a feature, of a later release
    ├── CouldNotRunError                   the run ended without an answer
    │   ├── ConfinementUnavailableError    foreign code, and nothing to confine it with
    │   └── BusyError                      another process works on the same target
    └── DivergenceError                    only from a report's ``raise_for_divergence()``

Messages say what, where, expected and observed on one line. ``code`` is public and stable, and so
are the rules that refusals name; the message is not. A divergence is a result and never raised by
itself.
"""

from __future__ import annotations

from typing import ClassVar

from repropack.refusals import Refusal

_Issues = tuple[tuple[str, str], ...]


class RepropackError(Exception):
    """Base of the tree: ``code`` for programs, ``message`` and ``hint`` for people.

    ``printed`` holds the last lines that a run of the caller's own code printed before it failed.
    """

    code: ClassVar[str] = "error"
    printed: tuple[str, ...] = ()

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
    """The project file cannot be used; ``issues`` holds every fault as ``(key, problem)``.

    ``lines`` says each as people read it: of ``shown``, where keys name more than the file does.
    """

    code = "project.invalid"

    def __init__(self, file: str, issues: _Issues, shown: _Issues = ()) -> None:
        self.lines = _lines(shown or issues)
        super().__init__(f"{file}: {'; '.join(self.lines)}")
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


class CommandError(ExperimentError):
    """A command failed, did not write its outputs, or changed what it was given."""

    code = "experiment.command"

    def __init__(self, run: str, problem: str, *, hint: str | None = None) -> None:
        super().__init__(f"run {run!r}: {problem}", hint=hint)
        self.run = run
        self.problem = problem


class InexactResumeError(ExperimentError):
    """A run that was interrupted and continues gives other bytes than it gave before."""

    code = "experiment.inexact-resume"

    def __init__(self, run: str, checkpoint: int, problem: str) -> None:
        super().__init__(
            f"run {run!r}: continuing from checkpoint {checkpoint} is not exact: {problem}",
            hint="build again with --discard, which begins anew",
        )
        self.run = run
        self.checkpoint = checkpoint
        self.problem = problem


class PackageError(RepropackError):
    """The package is damaged, unsafe, or not a package; ``refusals`` says what is wrong, as data.

    ``rule``, ``entry``, ``expected`` and ``observed`` are those of the first refusal.
    """

    code = "package"

    def __init__(
        self, first: Refusal, *more: Refusal, container: str = "", hint: str | None = None
    ) -> None:
        """Compose the message.

        Args:
            first: What is wrong.
            more: What else is.
            container: The package, for the message, where the entry does not name it.
            hint: What to do about it.
        """
        self.refusals = (first, *more)
        before = f"{container}: " if container and container != first.entry else ""
        super().__init__(before + "; ".join(self._told(one, before) for one in self.refusals))
        self.hint = hint

    @property
    def rule(self) -> str:
        """Id of the first rule that is broken."""
        return self.refusals[0].rule

    @property
    def entry(self) -> str:
        """Path of the first refusal's entry, or the package's name."""
        return self.refusals[0].entry

    @property
    def expected(self) -> str:
        """What the first rule asks for."""
        return self.refusals[0].expected

    @property
    def observed(self) -> str:
        """What was found instead."""
        return self.refusals[0].observed

    def _told(self, one: Refusal, before: str) -> str:
        if not one.entry:
            return one.problem
        return f"entry {one.entry!r}: {one.problem}" if before else f"{one.entry}: {one.problem}"


class PackageFormatError(PackageError):
    """Bytes that do not have the form of a package, one of its documents or arrays."""

    code = "package.format"


class UnsafeEntryError(PackageFormatError):
    """An entry whose path or kind is never accepted."""

    code = "package.unsafe-entry"

    def _told(self, one: Refusal, before: str) -> str:  # noqa: ARG002
        return f"entry {one.entry!r}: {one.problem}"


class LimitExceededError(PackageFormatError):
    """A stated limit would be exceeded by reading on."""

    code = "package.limit-exceeded"

    def __init__(
        self, limit: str, entry: str, place: str, bounds: tuple[int, int], container: str = ""
    ) -> None:
        """Compose the message.

        Args:
            limit: The limit's name.
            entry: As in ``refusal``.
            place: As in ``refusal``.
            bounds: What is allowed, and what was observed.
            container: As in ``PackageError``.
        """
        self.limit = limit
        self.allowed, observed = bounds
        told = f"limit {limit} exceeded: allowed {self.allowed}, observed {observed}"
        problem = f"{place}: {told}" if place else told
        super().__init__(
            Refusal(f"limit.{limit}", entry, problem, f"at most {self.allowed}", str(observed)),
            container=container,
            hint=f"give --limit {limit}={observed} or more, if you know that this is no attack",
        )


class SchemaError(PackageError):
    """A document breaks its schema; ``issues`` holds all ``(JSON pointer, problem)`` pairs."""

    code = "package.schema"

    def __init__(self, document: str, issues: _Issues) -> None:
        problem = "; ".join(_lines(issues))
        observed = f"{len(issues)} issues" if len(issues) > 1 else "one issue"
        super().__init__(
            Refusal("document.schema", document, problem, "what its schema says", observed)
        )
        self.issues = issues

    def _told(self, one: Refusal, before: str) -> str:  # noqa: ARG002
        return f"document {one.entry!r}: {one.problem}"


class IntegrityError(PackageError):
    """The package contradicts its manifest or itself: every refusal at once."""

    code = "package.integrity"

    def _told(self, one: Refusal, before: str) -> str:  # noqa: ARG002
        return f"entry {one.entry!r}: {one.problem}"


class LintError(RepropackError):
    """What is to be packed breaks rules of ``lint`` that stop a build.

    ``refusals`` says which, as data: ``rule`` is one of docs/lint.md, ``entry`` a file and line.
    """

    code = "lint"

    def __init__(self, first: Refusal, *more: Refusal) -> None:
        self.refusals = (first, *more)
        rules = ", ".join(f'"{rule}"' for rule in dict.fromkeys(one.rule for one in self.refusals))
        super().__init__(
            f"lint: expected no errors, observed {len(self.refusals)}: "
            + "; ".join(f"{one.entry}: {one.problem} [{one.rule}]" for one in self.refusals),
            hint=f"mend what is found, or let it pass with allow = [{rules}] in [lint]",
        )


class UnsupportedVersionError(RepropackError):
    """The package uses a format version or feature that this release does not know."""

    code = "package.unsupported-version"

    def __init__(self, rule: str, what: str, found: str, supported: str) -> None:
        super().__init__(
            f"{what}: expected {supported}, observed {found}",
            hint="use a release of repropack that supports it",
        )
        self.rule = rule
        self.what = what
        self.found = found
        self.supported = supported


class CouldNotRunError(RepropackError):
    """A run ended without an answer: the worker died, or a limit or the environment ended it."""

    code = "could-not-run"


class ConfinementUnavailableError(CouldNotRunError):
    """The package's code is foreign and nothing is there to confine it."""

    code = "confinement-unavailable"


class BusyError(CouldNotRunError):
    """Another process builds or unpacks at the same target."""

    code = "busy"

    def __init__(self, target: str) -> None:
        super().__init__(
            f"{target}: expected to be alone at it, observed another build or unpack under way",
            hint="wait until it has ended, or give another target",
        )
        self.target = target


class DivergenceError(RepropackError):
    """Raised by ``raise_for_divergence()`` of a report that is not ``identical``."""

    code = "divergence"


def _lines(issues: _Issues) -> tuple[str, ...]:
    return tuple(f"{where or '/'}: {problem}" for where, problem in issues)
