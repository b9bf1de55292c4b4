"""JSON Schemas: generated from the models, found in the wheel or the checkout, and applied.

Reading a document means, in this order: strict JSON, its format version, the JSON Schema on the
raw value, then the model. Schema and model each catch what the other lets through.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import jsonschema
from pydantic import TypeAdapter, ValidationError

from repropack._format.canonical import decode_strict
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack.errors import SchemaError, UsageError
from repropack.models.base import Document
from repropack.models.checkpoint import Checkpoint
from repropack.models.environment import EnvironmentRecord
from repropack.models.log import HeaderLine, StartLine, StepLine
from repropack.models.manifest import Manifest
from repropack.models.plan import Plan
from repropack.models.project import ProjectFile
from repropack.models.reports import (
    BuildReport,
    CheckReport,
    ErrorReport,
    Inspection,
    UnpackReport,
    VerificationReport,
)
from repropack.models.results import Results

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_DOCUMENTS: dict[str, Any] = {
    "manifest": Manifest,
    "plan": Plan,
    "environment": EnvironmentRecord,
    "checkpoint": Checkpoint,
    "results": Results,
    "fingerprint-log": HeaderLine | StartLine | StepLine,
    "project": ProjectFile,
    "build-report": BuildReport,
    "check-report": CheckReport,
    "verification-report": VerificationReport,
    "inspection": Inspection,
    "unpack-report": UnpackReport,
    "error": ErrorReport,
}
PACKAGED_SCHEMAS = ("checkpoint", "environment", "fingerprint-log", "manifest", "plan", "results")
"""Schemas that every package carries: those of its own documents."""

_Document = TypeVar("_Document", bound=Document)


def schema_names() -> tuple[str, ...]:
    """Names of all published schemas, sorted."""
    return tuple(sorted(_DOCUMENTS))


def generate_schemas() -> dict[str, bytes]:
    """Generate every schema from its model, as committed under ``schemas/v1``.

    Returns:
        File content by schema name: JSON indented by two spaces with a final newline.
    """
    return {name: _generate(name) for name in schema_names()}


def schema_bytes(name: str) -> bytes:
    """The published schema ``name``: from the installed package, else from the checkout.

    Raises:
        UsageError: no schema has that name.
    """
    if name not in _DOCUMENTS:
        raise UsageError(f"no schema named {name!r}: expected one of {', '.join(schema_names())}")
    return (_schema_folder() / f"{name}.schema.json").read_bytes()


def read_document(
    model: type[_Document], data: bytes, *, where: str, limits: Limits = DEFAULT_LIMITS
) -> _Document:
    """Read one document strictly: JSON, then its JSON Schema, then its model.

    Args:
        model: The document's model; its ``schema`` default names the JSON Schema.
        data: The stored bytes.
        where: The entry's path, for error messages.
        limits: Limits on size and depth.

    Returns:
        The frozen model.

    Raises:
        PackageFormatError: not strict JSON.
        LimitExceededError: larger or deeper than allowed.
        SchemaError: the document breaks its schema; holds every issue.
    """
    value = decode_strict(data, where=where, limits=limits)
    name = str(model.model_fields["schema_name"].default).split("/")[1]
    issues = tuple(
        (_pointer(error.absolute_path), _shortened(error.message))
        for error in sorted(_validator(name).iter_errors(value), key=lambda e: list(map(str, e.absolute_path)))
    )
    if issues:
        raise SchemaError(where, issues)
    try:
        return model.model_validate_json(data)
    except ValidationError as error:
        raise SchemaError(
            where,
            tuple(
                (_pointer(issue["loc"]), _shortened(issue["msg"]))
                for issue in error.errors(include_url=False)
            ),
        ) from error


def _generate(name: str) -> bytes:
    schema = TypeAdapter(_DOCUMENTS[name]).json_schema(
        mode="validation" if name == "project" else "serialization", by_alias=True
    )
    schema = {"$schema": _DIALECT, **schema, "title": f"repropack/{name}/v1"}
    return _indented(schema)


def _indented(schema: dict[str, Any]) -> bytes:
    """Schemas are for people: indented, not canonical."""
    text = json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False)  # noqa: TID251
    return text.encode("utf-8") + b"\n"


@cache
def _schema_folder() -> Path:
    package = Path(__file__).resolve().parents[1]
    installed = package / "_schema_files" / "v1"
    return installed if installed.is_dir() else package.parent / "schemas" / "v1"


@cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    schema = decode_strict(schema_bytes(name), where=f"schema {name}")
    return jsonschema.Draft202012Validator(schema)


def _pointer(path: Any) -> str:
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:200]}..."
