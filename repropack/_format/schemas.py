"""JSON Schemas: generated from the models, found in the wheel or the checkout, and applied.

Reading a document means, in this order: strict JSON, the JSON Schema on the raw value, then the
model. The schemas are applied as strictly as the models: an integer is written as one, ``$`` ends
a pattern at the end of the text and not before a newline, a date is a date.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from repropack._format.canonical import decode_strict
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.schema_places import pointer, shortened
from repropack._format.versions import refuse_later_version
from repropack.errors import SchemaError, UsageError
from repropack.models.arrays_difference import ArraysDifference
from repropack.models.audit import AuditReport
from repropack.models.base import Document
from repropack.models.certificate import Certificate
from repropack.models.checkpoint import Checkpoint
from repropack.models.environment import EnvironmentRecord
from repropack.models.export import ExportReport
from repropack.models.inspection import Inspection
from repropack.models.limit_list import LimitList
from repropack.models.lint import LintReport
from repropack.models.log import HeaderLine, StartLine, StepLine
from repropack.models.manifest import Manifest
from repropack.models.package_difference import PackageDifference
from repropack.models.page import PageReport
from repropack.models.plan import Plan
from repropack.models.project import ProjectFile
from repropack.models.project_words import PROJECT_WORDS
from repropack.models.proofreading import ProofreadReport, Values
from repropack.models.published import PublishReport
from repropack.models.reports import (
    BuildReport,
    CheckReport,
    ErrorReport,
    InitReport,
    UnpackReport,
    VerificationReport,
)
from repropack.models.results import Results
from repropack.models.run_difference import RunDifference
from repropack.models.signatures import SignReport
from repropack.models.statements import PackageStatement, VerificationRecord

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
    "init-report": InitReport,
    "check-report": CheckReport,
    "verification-report": VerificationReport,
    "inspection": Inspection,
    "package-difference": PackageDifference,
    "run-difference": RunDifference,
    "arrays-difference": ArraysDifference,
    "unpack-report": UnpackReport,
    "page-report": PageReport,
    "export-report": ExportReport,
    "lint-report": LintReport,
    "audit-report": AuditReport,
    "package-statement": PackageStatement,
    "verification-record": VerificationRecord,
    "sign-report": SignReport,
    "certificate": Certificate,
    "publish-report": PublishReport,
    "values": Values,
    "proofread-report": ProofreadReport,
    "limits": LimitList,
    "error": ErrorReport,
}
PACKAGED_SCHEMAS = ("checkpoint", "environment", "fingerprint-log", "manifest", "plan", "results")
"""Schemas that every package carries: those of its own documents."""

_MAX_EXPLAINED = 1024 * 1024
"""Bytes of a document that jsonschema looks at; for a longer one the model has to do alone."""
_REQUIRED_MEMBERS = ("schema", "format", "format_version")
"""Members of a document that say what it is: present although the models know their values."""
_Document = TypeVar("_Document", bound=Document)


def schema_names() -> tuple[str, ...]:
    """Names of all published schemas.

    Returns:
        The names that ``repropack schema`` accepts, sorted.
    """
    return tuple(sorted(_DOCUMENTS))


def generate_schemas() -> dict[str, bytes]:
    """Generate every schema from its model, as committed under ``schemas/v1``.

    Returns:
        File content by schema name: JSON indented by two spaces with a final newline.

    Determinism:
        Equal within one version of pydantic.
    """
    return {name: _generate(name) for name in schema_names()}


def schema_bytes(name: str) -> bytes:
    """The published schema ``name``: from the installed package, else from the checkout.

    Args:
        name: One of ``schema_names()``.

    Returns:
        The file's bytes.

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
        SchemaError: the document breaks its schema; holds every issue, up to 1,000 of them.
        UnsupportedVersionError: the document names a later version of its schema.
    """
    value = decode_strict(data, where=where, limits=limits)
    own = str(model.model_fields["schema_name"].default)
    name = own.split("/")[1]
    refuse_later_version(value, own, where)
    from repropack._format.schema_validator import find_issues  # noqa: PLC0415 - takes its time

    issues = find_issues(name, schema_bytes(name), value) if len(data) <= _MAX_EXPLAINED else ()
    if issues:
        raise SchemaError(where, issues)
    try:
        return model.model_validate_json(data)
    except ValidationError as error:
        found = error.errors(include_url=False)
        issues = tuple((pointer(issue["loc"]), shortened(issue["msg"])) for issue in found)
        raise SchemaError(where, issues) from error


def _generate(name: str) -> bytes:
    schema = TypeAdapter(_DOCUMENTS[name]).json_schema(
        mode="validation" if name == "project" else "serialization",
        by_alias=True,
        schema_generator=_SchemaGenerator,
    )
    if name == "project":
        _describe_keys(schema)
    schema = {"$schema": _DIALECT, **schema, "title": f"repropack/{name}/v1"}
    return _indented(schema)


def _describe_keys(schema: dict[str, Any]) -> None:
    """Put a line on each key of the project file beside its type, for editors to show."""
    for model, words in PROJECT_WORDS.items():
        table = schema if model == ProjectFile.__name__ else schema["$defs"][model]
        for key, line in words.items():
            table["properties"][key]["description"] = line


class _SchemaGenerator(GenerateJsonSchema):
    """Closes two doors that pydantic leaves open."""

    def dict_schema(self, schema: core_schema.DictSchema) -> dict[str, Any]:
        """A mapping refuses keys that are no names, instead of not looking at their values."""
        made = super().dict_schema(schema)
        for pattern, values in made.pop("patternProperties", {}).items():
            made["propertyNames"] = {**made.get("propertyNames", {}), "pattern": pattern}
            made["additionalProperties"] = values
        return made

    def model_schema(self, schema: core_schema.ModelSchema) -> dict[str, Any]:
        """A document names its schema and version; a default is no substitute."""
        made = super().model_schema(schema)
        members = made.get("properties", {})
        if "const" in members.get("schema", {}):
            named = [name for name in _REQUIRED_MEMBERS if name in members]
            made["required"] = [*named, *made.get("required", ())]
        return made


def _indented(schema: dict[str, Any]) -> bytes:
    """Schemas are for people: indented, not canonical."""
    text = json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False)  # noqa: TID251
    return text.encode("utf-8") + b"\n"


@cache
def _schema_folder() -> Path:
    package = Path(__file__).resolve().parents[1]
    installed = package / "_schema_files" / "v1"
    return installed if installed.is_dir() else package.parent / "schemas" / "v1"
