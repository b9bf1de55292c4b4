"""Documents drawn from a JSON Schema, and documents that are nearly valid.

Knows the keywords that pydantic writes and no others: a keyword that it does not know fails the
test that met it, so that no part of a schema is passed over.
"""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from tests.strategies import json_values, texts

ANNOTATIONS = {"$schema", "$defs", "title", "description", "default", "discriminator"}
NUMBERS = st.integers(-(2**53 - 1), 2**53 - 1)


def documents(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that are valid under ``schema``."""
    return _Drawer(schema.get("$defs", {})).values(schema)


class _Drawer:
    def __init__(self, definitions: dict[str, Any]) -> None:
        self._definitions = definitions

    def values(self, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
        schema = {key: value for key, value in schema.items() if key not in ANNOTATIONS}
        if "$ref" in schema:
            name = schema["$ref"].removeprefix("#/$defs/")
            return st.deferred(lambda: self.values(self._definitions[name]))
        if "anyOf" in schema:
            return st.one_of([self.values(part) for part in schema["anyOf"]])
        if "const" in schema:
            return st.just(schema["const"])
        if "enum" in schema:
            return st.sampled_from(schema["enum"])
        if not schema:
            return json_values(max_leaves=4)
        draw = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
            "integer": self._integer,
            "number": self._number,
            "boolean": self._boolean,
            "null": self._null,
        }[schema.pop("type")]
        made = draw(schema)
        assert not schema, f"keywords that this support does not know: {schema}"
        return made

    def _object(self, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
        members = schema.pop("properties", {})
        required = schema.pop("required", [])
        others = schema.pop("additionalProperties", {})
        names = schema.pop("propertyNames", {"type": "string"})
        least, most = schema.pop("minProperties", 0), schema.pop("maxProperties", None)
        if members:
            assert others is False
            return st.fixed_dictionaries(
                {name: self.values(members[name]) for name in required},
                optional={
                    name: self.values(part)
                    for name, part in members.items()
                    if name not in required
                },
            )
        values = json_values(max_leaves=4) if others is True else self.values(others)
        return st.dictionaries(
            self.values({"type": "string", **names}),
            values,
            min_size=least,
            max_size=least + 3 if most is None else min(most, least + 3),
        )

    def _array(self, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
        least, most = schema.pop("minItems", 0), schema.pop("maxItems", None)
        first = schema.pop("prefixItems", None)
        if first is not None:
            assert least == most == len(first)
            schema.pop("items", None)
            return st.tuples(*map(self.values, first)).map(list)
        items = self.values(schema.pop("items", {}))
        return st.lists(items, min_size=least, max_size=least + 2 if most is None else most)

    def _string(self, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
        least, most = schema.pop("minLength", 0), schema.pop("maxLength", None)
        pattern, form = schema.pop("pattern", None), schema.pop("format", None)
        if form is not None:
            assert form == "date"
            return st.dates().map(str)
        if pattern is None:
            return st.text(
                st.characters(exclude_categories=["Cs"]),
                min_size=least,
                max_size=least + 8 if most is None else min(most, least + 8),
            )
        words = st.from_regex(
            pattern.removesuffix("$") + r"\Z", alphabet=st.characters(codec="ascii")
        )
        return words.filter(lambda word: most is None or least <= len(word) <= most)

    def _integer(self, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
        bounds = schema.pop("minimum", -(2**53 - 1)), schema.pop("maximum", 2**53 - 1)
        return st.integers(*bounds)

    def _number(self, _: dict[str, Any]) -> st.SearchStrategy[Any]:
        return st.floats(allow_nan=False, allow_infinity=False) | NUMBERS

    def _boolean(self, _: dict[str, Any]) -> st.SearchStrategy[Any]:
        return st.booleans()

    def _null(self, _: dict[str, Any]) -> st.SearchStrategy[Any]:
        return st.none()


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place within a JSON value, the whole included."""
    found = [path]
    if isinstance(value, dict):
        for key, item in value.items():
            found += places(item, (*path, key))
    elif isinstance(value, list):
        for key, item in enumerate(value):
            found += places(item, (*path, key))
    return found


@st.composite
def nearly(draw: st.DrawFn, valid: Any) -> Any:
    """A valid document with one change that a careless or hostile writer could make."""
    document = copy.deepcopy(valid)
    path = draw(st.sampled_from(places(document)))
    if not path:
        return draw(st.just(document) | json_values(max_leaves=3))
    *way, last = path
    holder = document
    for key in way:
        holder = holder[key]
    kind = draw(st.sampled_from(["value", "drop", "add", "rename"]))
    if kind == "value":
        holder[last] = draw(_other_values(holder[last]))
    elif kind == "drop":
        del holder[last]
    elif isinstance(holder, list):
        holder.insert(draw(st.integers(0, len(holder))), copy.deepcopy(holder[last]))
    else:
        key = draw(_other_texts(last) | texts(3))
        holder[key] = holder.pop(last) if kind == "rename" else None
    return document


def _other_values(value: Any) -> st.SearchStrategy[Any]:
    """What could stand in a value's place and look like it."""
    others: list[st.SearchStrategy[Any]] = [json_values(max_leaves=3), st.just([value])]
    if isinstance(value, bool):
        others.append(st.just(int(value)))
    elif isinstance(value, int):
        others.append(st.sampled_from([float(value), -value, value + 1, value == 1, str(value)]))
    elif isinstance(value, float):
        others.append(st.sampled_from([-value, str(value), {"$float": str(value)}]))
    elif isinstance(value, str):
        others.append(_other_texts(value))
    elif isinstance(value, list):
        others.append(st.just({str(k): item for k, item in enumerate(value)}))
    elif isinstance(value, dict):
        others.append(st.just([list(item) for item in value.items()]))
    return st.one_of(others)


def _other_texts(text: str) -> st.SearchStrategy[str]:
    changed = [
        text + "\n",
        "\n" + text,
        text + " ",
        text[:-1],
        text.upper(),
        text.replace("_", "-"),
        text.replace("-", "_"),
        text.replace("schema", "schema_name"),
        text.replace("v1", "v2"),
        text.replace("0", "\u0660"),
        text * 40,
        "",
    ]
    return st.sampled_from(changed)
