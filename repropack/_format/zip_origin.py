"""Which zip a member lies in, so that each refusal names an entry of the package.

A package may be a zip itself, and holds npz files, which are zips too. A member of the first is an
entry; a member of the second is a place in one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from repropack.errors import LimitExceededError
from repropack.refusals import Refusal, refusal


@dataclass(frozen=True, slots=True)
class Origin:
    """One zip: ``where`` is its name, ``nested`` whether it is an entry of a package."""

    where: str
    nested: bool = False

    def refusal(
        self, rule: str, member: str | None, place: str, expected: Any, observed: Any
    ) -> Refusal:
        """Compose a refusal of the zip, or of one of its members.

        Args:
            rule: Id of the rule that is broken.
            member: Name of the member; ``None`` for the zip.
            place: Where in it; may be empty.
            expected: What the rule asks for.
            observed: What was found instead.

        Returns:
            The refusal; its entry is the member of a package's zip, else the zip.
        """
        entry, place = self._located(member, place)
        return refusal(rule, entry, place, expected, observed)

    def limit(
        self, limit: str, member: str | None, place: str, bounds: tuple[int, int]
    ) -> LimitExceededError:
        """Return the error for a limit; arguments as of ``refusal`` and ``LimitExceededError``."""
        entry, place = self._located(member, place)
        return LimitExceededError(limit, entry, place, bounds, self.where)

    def _located(self, member: str | None, place: str) -> tuple[str, str]:
        if member is None:
            return self.where, place
        if not self.nested:
            return member, place
        return self.where, f"entry {member!r}: {place}" if place else f"entry {member!r}"
