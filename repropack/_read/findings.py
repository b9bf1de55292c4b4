"""What a check looked at and what it found: gathered, and never stopped at the first fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from repropack._format.layout import MANIFEST
from repropack._format.limits import DEFAULT_LIMITS
from repropack.errors import IntegrityError, LimitExceededError, PackageError
from repropack.models.reports import Fault, fault_of
from repropack.refusals import Refusal, refusal

_Value = TypeVar("_Value")


@dataclass
class Findings:
    """What was looked at, what was found wrong, and what could not be compared by this release."""

    entries: int = 0
    steps: int = 0
    arrays: int = 0
    faults: list[Fault] = field(default_factory=list)
    not_compared: list[str] = field(default_factory=list)
    max_faults: int = DEFAULT_LIMITS.max_faults

    def add(self, code: str, one: Refusal) -> None:
        """Note one fault; beyond the limit, once, that there are more."""
        if len(self.faults) < self.max_faults:
            self.faults.append(fault_of(code, one))
        elif len(self.faults) == self.max_faults:
            bounds = (self.max_faults, self.max_faults + 1)
            error = LimitExceededError("max_faults", MANIFEST, "faults of the package", bounds)
            self.faults.append(fault_of(error.code, error.refusals[0]))

    def report(self, rule: str, entry: str, place: str, expected: object, observed: object) -> None:
        """Note that the package contradicts itself at ``entry``."""
        self.add(IntegrityError.code, refusal(rule, entry, place, expected, observed))

    def add_error(self, error: PackageError, entry: str, *, container: str = "") -> None:
        """Note an error, one fault for each of its refusals.

        Args:
            error: The error.
            entry: The entry of refusals that do not name one, or name the container.
            container: Path of the package.
        """
        for one in error.refusals:
            known = one.entry not in {"", container}
            self.add(error.code, one if known else replace(one, entry=entry))

    def trying(self, entry: str, action: Callable[[], _Value]) -> _Value | None:
        """Run ``action``; a package error becomes a fault of ``entry``."""
        try:
            return action()
        except PackageError as error:
            self.add_error(error, entry)
            return None
