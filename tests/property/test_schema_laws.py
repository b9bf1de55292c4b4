"""Schema and model accept the same documents."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from repropack._format import schemas
from repropack._format.canonical import encode_canonical
from repropack._format.schema_validator import schema_validator
from repropack._format.schemas import generate_schemas, schema_names
from tests.support.from_schema import documents, nearly
from tests.support.thinning import EVERY_CASE

pytestmark = pytest.mark.slow

SCHEMAS = {name: json.loads(content) for name, content in generate_schemas().items()}
MODELS: dict[str, TypeAdapter[Any]] = {
    name: TypeAdapter(schemas._DOCUMENTS[name]) for name in SCHEMAS
}
CHANGES_A_DOCUMENT = 8
NAMING = ("schema", "format", "format_version")
"""Members that say what a document is. Models fill them in; only the schema asks for them."""


def schema_issues(name: str, value: Any) -> list[Any]:
    return list(schema_validator(name, schemas.schema_bytes(name)).iter_errors(value))


def model_accepts(name: str, value: Any) -> bool:
    try:
        MODELS[name].validate_json(encode_canonical(value))
    except ValidationError:
        return False
    return True


def is_about_naming(issue: Any) -> bool:
    """Whether the schema misses a member that names the document, or meets its Python name."""
    parts = [
        part
        for whole in (issue, *(issue.context or ()))
        for part in (whole, *(whole.context or ()))
    ]
    return any(
        (part.validator == "required" and any(f"'{name}'" in part.message for name in NAMING))
        or (part.validator == "additionalProperties" and "'schema_name'" in part.message)
        for part in parts
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", schema_names())
@given(data=st.data())
@settings(
    suppress_health_check=list(HealthCheck), deadline=None, max_examples=25 if EVERY_CASE else 12
)
def test_model_and_schema_accept_the_same_documents(name: str, data: st.DataObject) -> None:
    """A valid document is valid for both; a nearly valid one is refused by both or by neither."""
    value = data.draw(documents(SCHEMAS[name]))
    assert schema_issues(name, value) == []
    assert model_accepts(name, value)
    for _ in range(CHANGES_A_DOCUMENT):
        changed = data.draw(nearly(value))
        issues = schema_issues(name, changed)
        if model_accepts(name, changed):
            assert all(map(is_about_naming, issues)), issues
        else:
            assert issues, changed


@pytest.mark.parametrize("name", schema_names())
def test_every_schema_can_be_drawn_from(name: str) -> None:
    """The support knows every keyword of every schema, so that no part is passed over."""
    strategy = documents(SCHEMAS[name])
    strategy.validate()
    assert not strategy.is_empty
