"""The graph of a crate: entities by their id, and how values and ids are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

Entity = dict[str, Any]


class Graph:
    """Entities of a crate, one an id; the first that is given an id keeps it."""

    def __init__(self) -> None:
        self._entities: dict[str, Entity] = {}

    def add(self, entity_id: str, kind: str | list[str], **members: object) -> str:
        """Add an entity, unless its id is taken.

        Args:
            entity_id: Its ``@id``.
            kind: Its ``@type``.
            members: Its other members; what is ``None`` or empty is left out.

        Returns:
            The id.
        """
        told = {name: value for name, value in members.items() if value not in (None, [], "")}
        self._entities.setdefault(entity_id, {"@id": entity_id, "@type": kind, **told})
        return entity_id

    def extend(self, entity_id: str, **members: object) -> None:
        """Add members to an entity that is there, and keep those that it has."""
        entity = self._entities[entity_id]
        for name, value in members.items():
            entity.setdefault(name, value)

    def sorted(self) -> Iterator[Entity]:
        """All entities, sorted by id."""
        for entity_id in sorted(self._entities):
            yield self._entities[entity_id]


def refer(ids: Iterable[str]) -> Entity | list[Entity] | None:
    """Refer to entities: one reference bare, several as a list, none as ``None``.

    Args:
        ids: Their ids, in order; one that comes again is left out.

    Returns:
        The value of a property.

    Example:
        >>> refer(["#a"]), refer(["#a", "#b", "#a"]), refer([])
        ({'@id': '#a'}, [{'@id': '#a'}, {'@id': '#b'}], None)
    """
    value: Entity | list[Entity] | None = bare([{"@id": one} for one in dict.fromkeys(ids)])
    return value


def bare(values: list[Any]) -> Any:
    """Write a list as the value of a property; a list of one draws a warning of validators.

    Args:
        values: The values.

    Returns:
        One value bare, several as a list, none as ``None``.
    """
    return (values[0] if len(values) == 1 else values) or None


def encoded(text: str) -> str:
    """Percent-encode text for an id.

    Args:
        text: Any text.

    Returns:
        It, with all but letters and digits of ASCII and ``-._~/`` as ``%`` and capital digits.

    Example:
        >>> encoded("source/a b.py"), encoded("é")
        ('source/a%20b.py', '%C3%A9')
    """
    return quote(text, safe="/")
