"""JSON Schemas applied with jsonschema, as strictly as the models: to put in words what is wrong.

An integer is written as one, ``$`` ends a pattern at the end of the text and not before a newline,
a date is a date. Only a document that is no canonical form of its model comes here, and whoever
reads none such need not wait for jsonschema.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Any

import jsonschema
from jsonschema.protocols import Validator

from repropack._format.canonical import decode_strict
from repropack._format.schema_places import pointer, shortened

_FORMATS = jsonschema.FormatChecker(["date"])
_MAX_ISSUES = 1000


def find_issues(name: str, schema: bytes, value: Any) -> tuple[tuple[str, str], ...]:
    """Apply a schema to a document.

    Args:
        name: Name of the schema.
        schema: Its bytes.
        value: The document as it was parsed.

    Returns:
        ``(JSON pointer, problem)`` in the order of their places, up to 1,000 of them.
    """
    return _in_order(schema_validator(name, schema).iter_errors(value))


@cache
def schema_validator(name: str, schema: bytes) -> Validator:
    """Make the validator of a schema, once; arguments as of ``find_issues``."""
    value = decode_strict(schema, where=f"schema {name}")
    validator: Validator = _StrictValidator(value, format_checker=_FORMATS)
    return validator


def _check_pattern(
    _: Validator, pattern: str, instance: object, __: object
) -> Iterator[jsonschema.ValidationError]:
    """Patterns as ECMA-262 has them: Python's ``$`` also matches before a final newline."""
    expression = pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern
    if isinstance(instance, str) and not re.search(expression, instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


def _is_integer(_: object, instance: object) -> bool:
    return isinstance(instance, int) and not isinstance(instance, bool)


_StrictValidator = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
    jsonschema.Draft202012Validator,
    {"pattern": _check_pattern},
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)


def _in_order(errors: Iterable[jsonschema.ValidationError]) -> tuple[tuple[str, str], ...]:
    """Issues in the order of their places; a hostile document has more than anyone reads."""
    found = list(islice(errors, _MAX_ISSUES + 1))
    shown = sorted(found[:_MAX_ISSUES], key=lambda error: [str(k) for k in error.absolute_path])
    issues = [(pointer(error.absolute_path), shortened(error.message)) for error in shown]
    if len(found) > _MAX_ISSUES:
        issues.append(("", f"more than {_MAX_ISSUES} issues; the others are not listed"))
    return tuple(issues)
