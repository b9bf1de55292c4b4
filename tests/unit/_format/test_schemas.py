"""Schemas and documents: what is generated, where it is found, and what reading refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from repropack._format import schema_validator, schemas
from repropack._format.canonical import encode_canonical
from repropack._format.limits import Limits
from repropack._format.schemas import (
    PACKAGED_SCHEMAS,
    generate_schemas,
    read_document,
    schema_bytes,
    schema_names,
)
from repropack.errors import (
    LimitExceededError,
    PackageFormatError,
    SchemaError,
    UnsupportedVersionError,
    UsageError,
)
from repropack.models.checkpoint import Checkpoint
from repropack.models.manifest import Manifest
from repropack.models.plan import Plan
from repropack.models.reports import ErrorReport

ROOT = Path(__file__).resolve().parents[3]
NAMES = (
    "arrays-difference",
    "audit-report",
    "build-report",
    "certificate",
    "check-report",
    "checkpoint",
    "environment",
    "error",
    "export-report",
    "fingerprint-log",
    "init-report",
    "inspection",
    "limits",
    "lint-report",
    "manifest",
    "package-difference",
    "package-statement",
    "page-report",
    "plan",
    "project",
    "proofread-report",
    "publish-report",
    "results",
    "run-difference",
    "sign-report",
    "unpack-report",
    "values",
    "verification-record",
    "verification-report",
)
DIGEST = "sha256:" + "0" * 64


# ---------------------------------------------------------------- generated and committed


def test_the_published_schemas_are_these() -> None:
    """The names that ``repropack schema`` knows are public."""
    assert schema_names() == NAMES
    assert set(PACKAGED_SCHEMAS) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_committed_schema_is_the_generated_one(name: str) -> None:
    """Nobody edits a schema: it is what its model generates."""
    committed = (ROOT / "schemas" / "v1" / f"{name}.schema.json").read_bytes()
    assert committed == generate_schemas()[name]
    assert schema_bytes(name) == committed


def test_no_other_schema_is_committed() -> None:
    """A schema without a model would be a lie."""
    assert {path.name for path in (ROOT / "schemas" / "v1").iterdir()} == {
        f"{name}.schema.json" for name in NAMES
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_a_schema(name: str) -> None:
    """Each is valid under its dialect, has a title, and is readable text."""
    data = schema_bytes(name)
    schema = json.loads(data)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"] == f"repropack/{name}/v1"
    assert data.endswith(b"}\n")
    assert b"\n  " in data


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for part in schema.values():
            yield from objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects(part)


@pytest.mark.parametrize("name", NAMES)
def test_every_object_of_a_schema_is_closed(name: str) -> None:
    """No object lets members through that nobody looked at."""
    for part in objects(json.loads(schema_bytes(name))):
        assert "additionalProperties" in part
        assert "patternProperties" not in part
        assert ("properties" in part) == (part["additionalProperties"] is False)


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"project", "fingerprint-log"}))
def test_every_document_must_name_its_schema(name: str) -> None:
    """The first duty of a document is to say what it is."""
    schema = json.loads(schema_bytes(name))
    assert schema["required"][0] == "schema"
    assert schema["properties"]["schema"]["const"] == f"repropack/{name}/v1"


def test_a_manifest_must_say_its_format_and_version() -> None:
    """What a reader decides by is never a default."""
    required = json.loads(schema_bytes("manifest"))["required"]
    assert {"schema", "format", "format_version"} <= set(required)


def test_an_unknown_schema_is_wrong_use() -> None:
    """The message lists the names that there are."""
    with pytest.raises(UsageError) as caught:
        schema_bytes("manifests")
    assert str(caught.value) == (f"no schema named 'manifests': expected one of {', '.join(NAMES)}")


@pytest.mark.parametrize("name", ["../v1/plan", "", "plan.schema.json", "Plan"])
def test_a_schema_name_is_no_path(name: str) -> None:
    """Nothing outside the schemas can be read by name."""
    with pytest.raises(UsageError):
        schema_bytes(name)


# ---------------------------------------------------------------- where they are found


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in which the package seems to lie."""
    package = tmp_path / "site-packages" / "repropack"
    (package / "_format").mkdir(parents=True)
    monkeypatch.setattr(schemas, "__file__", str(package / "_format" / "schemas.py"))
    schemas._schema_folder.cache_clear()
    yield package
    schemas._schema_folder.cache_clear()


def write(folder: Path, content: bytes) -> None:
    folder.mkdir(parents=True)
    (folder / "plan.schema.json").write_bytes(content)


def test_schemas_are_found_in_the_installed_package(installed: Path) -> None:
    """A wheel carries the schemas within the package."""
    write(installed / "_schema_files" / "v1", b"wheel")
    assert schema_bytes("plan") == b"wheel"


def test_schemas_are_found_in_the_checkout(installed: Path) -> None:
    """An editable install has them beside the package."""
    write(installed.parent / "schemas" / "v1", b"checkout")
    assert schema_bytes("plan") == b"checkout"


def test_the_installed_package_comes_first(installed: Path) -> None:
    """A folder ``schemas`` that someone else put beside the package is not looked at."""
    write(installed.parent / "schemas" / "v1", b"checkout")
    write(installed / "_schema_files" / "v1", b"wheel")
    assert schema_bytes("plan") == b"wheel"


# ---------------------------------------------------------------- reading


def error_report(**changes: Any) -> dict[str, Any]:
    members = {
        "schema": "repropack/error/v1",
        "code": "usage",
        "message": "m",
        "hint": None,
        "status": 2,
        **changes,
    }
    return {name: value for name, value in members.items() if value is not ...}


def issues(value: Any, model: Any = ErrorReport) -> tuple[tuple[str, str], ...]:
    with pytest.raises(SchemaError) as caught:
        read_document(model, encode_canonical(value), where="e.json")
    assert caught.value.entry == "e.json"
    return caught.value.issues


def test_a_valid_document_becomes_its_model() -> None:
    """What is valid is handed out as a frozen model."""
    document = read_document(ErrorReport, encode_canonical(error_report()), where="e.json")
    assert document == ErrorReport(code="usage", message="m", status=2)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"schema": ...}, (("", "'schema' is a required property"),)),
        (
            {"schema": "repropack/error/v1\n"},
            (("/schema", "'repropack/error/v1' was expected"),),
        ),
        ({"schema": "repropack/plan/v1"}, (("/schema", "'repropack/error/v1' was expected"),)),
        (
            {"extra": 1},
            (("", "Additional properties are not allowed ('extra' was unexpected)"),),
        ),
        ({"status": 2.0}, (("/status", "2.0 is not of type 'integer'"),)),
        ({"status": True}, (("/status", "True is not of type 'integer'"),)),
        ({"status": "2"}, (("/status", "'2' is not of type 'integer'"),)),
        ({"status": ...}, (("", "'status' is a required property"),)),
        (
            {"status": None, "code": 1},
            (
                ("/code", "1 is not of type 'string'"),
                ("/status", "None is not of type 'integer'"),
            ),
        ),
    ],
    ids=[
        "no-schema",
        "schema-newline",
        "other-schema",
        "extra",
        "float",
        "bool",
        "text",
        "missing",
        "two",
    ],
)
def test_every_issue_is_reported_with_its_place(
    changes: dict[str, Any], expected: tuple[tuple[str, str], ...]
) -> None:
    """Issues are gathered, each with the JSON pointer of its place."""
    assert issues(error_report(**changes)) == expected


@pytest.mark.parametrize("version", ["2", "10", "0002", "9999"])
def test_a_later_version_asks_for_a_later_release(version: str) -> None:
    """A document of a later version is not damaged: this release cannot read it."""
    later = encode_canonical({"schema": f"repropack/error/v{version}"})
    with pytest.raises(UnsupportedVersionError) as caught:
        read_document(ErrorReport, later, where="e.json")
    assert str(caught.value) == (
        f"document 'e.json': expected repropack/error/v1, observed repropack/error/v{version}"
    )


@pytest.mark.parametrize(
    "schema",
    [
        "repropack/error/v",
        "repropack/error/v0",
        "repropack/error/v01",
        "repropack/error/v2\n",
        "repropack/error/v99999",
        "repropack/plan/v2",
        "x/repropack/error/v2",
        2,
        None,
        ["repropack/error/v2"],
    ],
    ids=repr,
)
def test_another_schema_is_no_later_version(schema: Any) -> None:
    """Whatever else stands there breaks the schema."""
    found = issues(error_report(schema=schema))
    assert ("/schema", "'repropack/error/v1' was expected") in found
    assert {place for place, _ in found} == {"/schema"}


def test_the_python_name_of_a_member_is_no_name() -> None:
    """``schema_name`` is the model's own word and stands in no document."""
    renamed = error_report(schema=..., schema_name="repropack/error/v1")
    assert [place for place, _ in issues(renamed)] == ["", ""]


@pytest.mark.parametrize("value", [None, [], "x", 1, {}], ids=repr)
def test_a_document_is_an_object(value: Any) -> None:
    """Anything else has an issue at the root."""
    assert issues(value)[0][0] == ""


def test_a_pointer_escapes_what_it_must() -> None:
    """RFC 6901: ``~`` and ``/`` within a name are escaped."""
    document = {
        "schema": "repropack/checkpoint/v1",
        "components": [["w", DIGEST], ["w", "sha256:x"], ["a"]],
        "arrays": {"w": {"dtype": "<f4", "shape": [1.0], "fingerprint": DIGEST}},
        "values": {},
        "step": 1,
        "chain": DIGEST + "\n",
    }
    places = [place for place, _ in issues(document, Checkpoint)]
    assert "/components/1/1" in places
    assert "/components/2" in places
    assert "/arrays/w/shape/0" in places
    assert "/chain" in places
    plan = {
        "schema": "repropack/plan/v1",
        "experiment": {"entry_point": "a:b", "seed": 1, "steps": 1},
        "record": {"printed": {"a~b/c": 1}},
    }
    assert ("/record/printed/a~0b~1c", "1 is not of type 'string'") in issues(plan, Plan)


@pytest.mark.hostile
@pytest.mark.parametrize("name", ["a b", "", "-w", "w\n", "w#0", "w" * 211, "\u0660"])
def test_names_of_arrays_are_names(name: str) -> None:
    """A mapping's keys are held against their pattern, whatever stands under them."""
    row = {"dtype": "<f4", "shape": [1], "fingerprint": DIGEST}
    document = {
        "schema": "repropack/checkpoint/v1",
        "components": [],
        "arrays": {name: row},
        "values": {},
        "step": 1,
        "chain": DIGEST,
    }
    with pytest.raises(SchemaError) as caught:
        read_document(Checkpoint, encode_canonical(document), where="c.json")
    assert caught.value.issues[0][0] == "/arrays"
    document["arrays"] = {"w": row}
    assert read_document(Checkpoint, encode_canonical(document), where="c").step == 1


@pytest.mark.parametrize("date", ["2026-13-01", "20261129", "2026-11-29T00:00:00", "", "2026-1-2"])
def test_a_date_is_a_calendar_date(date: str) -> None:
    """A date is written in one way and exists."""
    package = {
        "name": "a",
        "version": "1",
        "title": "t",
        "license": "l",
        "authors": [{"name": "n"}],
    }
    document: dict[str, Any] = {
        "schema": "repropack/manifest/v1",
        "format": "replay-package",
        "format_version": 1,
        "package": {**package, "date": "2026-11-29"},
        "entries": [],
    }
    assert str(read_document(Manifest, encode_canonical(document), where="m").package.date) == (
        "2026-11-29"
    )
    document["package"] = {**package, "date": date}
    validator = schema_validator.schema_validator("manifest", schema_bytes("manifest"))
    assert not validator.is_valid(document)
    assert issues(document, Manifest)[0][0] == "/package/date"


def test_messages_are_short_and_on_one_line() -> None:
    """A huge value is quoted in part."""
    ((place, problem),) = issues(error_report(code=["x\n" * 100_000]))
    assert place == "/code"
    assert len(problem) == 203
    assert "\n" not in problem


@pytest.mark.hostile
def test_issues_are_gathered_up_to_a_thousand() -> None:
    """A document of a million faults is refused without listing them all."""
    found = issues(
        {
            "schema": "repropack/plan/v1",
            "experiment": {"entry_point": "a:b", "seed": 1, "steps": 1},
            "record": {"keep": [1] * 100_000},
        },
        Plan,
    )
    assert len(found) == 1001
    assert found[0] == ("/record/keep/0", "1 is not of type 'string'")
    assert found[-1] == ("", "more than 1000 issues; the others are not listed")


@pytest.mark.parametrize("data", [b"", b"{", b'{"a":1,"a":1}', b"NaN", b"\xff"], ids=repr)
def test_what_is_no_strict_json_is_no_document(data: bytes) -> None:
    """The first look is that of the strict parser."""
    with pytest.raises(PackageFormatError, match=r"^e\.json: expected "):
        read_document(ErrorReport, data, where="e.json")


def test_limits_apply() -> None:
    """A document larger than the caller allows is not read."""
    with pytest.raises(LimitExceededError):
        read_document(ErrorReport, b" " * 11, where="e", limits=Limits(max_document_bytes=10))


def test_what_the_model_alone_refuses_is_an_issue_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a schema lets something through, the model's issues are reported in the same form."""
    monkeypatch.setattr(schema_validator, "find_issues", lambda *_: ())
    assert issues(error_report(status="2", code=...)) == (
        ("/code", "Field required"),
        ("/status", "Input should be a valid integer"),
    )
