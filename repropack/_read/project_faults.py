"""Faults of a project file in words: pydantic's errors as ``(dotted key, problem)``.

Every problem says what was expected and what was observed, in the words of TOML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from typing import TYPE_CHECKING

from pydantic import ValidationError

from repropack._format.expressions import advice
from repropack.models.authored import LINE_PATTERN, Contact, Funding, Organization
from repropack.models.base import Model
from repropack.models.project import (
    ProjectAfter,
    ProjectArticle,
    ProjectAuthor,
    ProjectClaim,
    ProjectComparison,
    ProjectDivergence,
    ProjectExperiment,
    ProjectFile,
    ProjectInput,
    ProjectLint,
    ProjectPackage,
    ProjectRecord,
)

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Key = tuple[str | int, ...]
"""Where in the file: names of tables and keys, and places in arrays counted from 0."""
Issue = tuple[str, str]

_TABLES: Mapping[tuple[str, ...], type[Model]] = {
    (): ProjectFile,
    ("package",): ProjectPackage,
    ("package", "authors"): ProjectAuthor,
    ("package", "contact"): Contact,
    ("package", "publisher"): Organization,
    ("package", "article"): ProjectArticle,
    ("package", "article", "authors"): ProjectAuthor,
    ("package", "funding"): Funding,
    ("experiment",): ProjectExperiment,
    ("record",): ProjectRecord,
    ("comparisons",): ProjectComparison,
    ("comparisons", "expect"): ProjectDivergence,
    ("experiment", "inputs"): ProjectInput,
    ("after",): ProjectAfter,
    ("claims",): ProjectClaim,
    ("lint",): ProjectLint,
}
_IDENTICAL = "literal['identical']"
_DIVERGENCE = ProjectDivergence.__name__
_INPUT, _PATTERN = ProjectInput.__name__, "constrained-str"
_BRANCHES = (_IDENTICAL, _DIVERGENCE, _INPUT, _PATTERN, "[key]")
"""What pydantic puts into a place beside keys: branches of ``expect`` and of an input, and a key
itself."""

_EXPECTED: Mapping[str, str] = {
    "missing": "a value",
    "string_type": "text",
    "int_type": "a whole number",
    "date_type": "a date such as 2026-11-30",
    "tuple_type": "an array",
    "dict_type": "a table",
    "model_type": "a table",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "string_too_short": "text that is not empty",
    "string_too_long": "at most {max_length} characters",
    "too_short": "at least {min_length} item",
    "too_long": "at most {max_length} items",
}
_FORMS: Mapping[str, str] = {
    "entry-point": "module:name, such as lab:Lab",
    "name": "lower-case letters, digits and '-'",
    "version": "a version such as 1.0.0",
    "orcid": "an ORCID iD such as 0000-0002-1825-0097",
    "affiliation-ror": "an identifier of ROR such as https://ror.org/05dxps055",
    "ror": "an identifier of ROR such as https://ror.org/05dxps055",
    "doi": "a DOI such as 10.5281/zenodo.1234, without an address before it",
    "url": "an address that begins with https:// or http://",
    "repository": "an address that begins with https:// or http://",
    "email": "an address of mail",
    "printed": "a format such as '.4f'",
    "digest": "sha256: and 64 hexadecimal digits",
    "supersedes": "sha256: and 64 hexadecimal digits",
    "allow": "the id of a rule of lint",
    "id": "an id of a-z, 0-9 and single '-', such as final-loss",
    "rounding": "exact, d or a format such as '.4f'",
    "expression": "an expression in ASCII, on one line",
    "sentence": "one line without control characters",
    "states": "one line without control characters",
    "run": "the name of a run",
    "environment": "a name of letters, digits and '_'",
}
_NAMED = re.compile(r"^(tool\.repropack\.)?(?P<table>comparisons|claims)\[(?P<place>[0-9]+)\]")
_NAME_KEYS = {"comparisons": "name", "claims": "id"}
_LITERALS: Mapping[str, str] = {
    "type": "'software' or 'dataset'",
    "kind": "'person' or 'organization'",
    "expect": "'identical' or a table with diverges-at",
}
_NAME_FORM = "a name of A-Z a-z 0-9 _ . + - (not starting with . + -)"


def dotted(key: Key) -> str:
    """Return a place as TOML would spell it.

    Example:
        >>> dotted(("comparisons", 1, "config", "a b"))
        'comparisons[1].config."a b"'
    """
    text = ""
    for part in key:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            bare = re.fullmatch(r"[A-Za-z0-9_-]+", part)
            text += ("." if text else "") + (part if bare else f'"{part}"')
    return text


def shown(value: object) -> str:
    """Return a value of a project file in few words.

    Example:
        >>> shown(True), shown([1]), shown("a"), shown(1.5)
        ('true', 'an array', "'a'", '1.5')
    """
    match value:
        case bool():
            return str(value).lower()
        case Mapping():
            return "a table"
        case list() | tuple():
            return "an array"
        case str():
            return repr(value if len(value) <= 80 else f"{value[:77]}...")
        case int() if value.bit_length() > 256:
            return f"a number of {value.bit_length()} bits"
        case datetime() | date() | time():
            return f"the date or time {value.isoformat()}"
    return repr(value)


def with_names(issues: tuple[Issue, ...], document: object) -> tuple[Issue, ...]:
    """Return faults whose keys name the comparison or claim that they lie in, for people.

    Args:
        issues: The faults, by dotted key.
        document: The project file, or its tables of any form.

    Example:
        >>> tables = {"comparisons": [{"name": "resume"}]}
        >>> with_names((("comparisons[0].expect", "wrong"),), tables)
        (("comparisons[0] ('resume').expect", 'wrong'),)
    """

    def named(found: re.Match[str]) -> str:
        rows = _member(document, found["table"])
        place = int(found["place"])
        row = rows[place] if isinstance(rows, list | tuple) and place < len(rows) else None
        name = _member(row, _NAME_KEYS[found["table"]])
        return f"{found[0]} ({shown(name)})" if isinstance(name, str) else found[0]

    return tuple((_NAMED.sub(named, key), problem) for key, problem in issues)


def _member(table: object, name: str) -> object:
    return table.get(name) if isinstance(table, Mapping) else getattr(table, name, None)


def readable_faults(error: ValidationError) -> Iterator[tuple[Key, str]]:
    """Yield every fault that pydantic found in a ``ProjectFile``, in the order of its fields."""
    for detail in error.errors(include_url=False):
        if not _is_repetition(detail):
            key = tuple(part for part in detail["loc"] if part not in _BRANCHES)
            yield key, _problem(key, detail)


def _is_repetition(detail: ErrorDetails) -> bool:
    """Return whether a fault follows from another one, which is reported.

    ``expect`` is at fault for the form that the author did not choose, too; and an array is
    called too short for the items in it that are themselves at fault.
    """
    if detail["type"] == "too_short":
        return bool(detail["input"])
    if _IDENTICAL in detail["loc"]:
        return isinstance(detail["input"], Mapping)
    if _PATTERN in detail["loc"]:
        return isinstance(detail["input"], Mapping)
    return {_DIVERGENCE, _INPUT} & set(detail["loc"]) != set() and detail["type"] == "model_type"


def _problem(key: Key, detail: ErrorDetails) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown_key(key)
    if kind == "missing":
        return f"expected {_EXPECTED[kind]}, observed none"
    if kind == "too_short":
        return f"expected {_EXPECTED[kind].format(**context)}, observed {context['actual_length']}"
    observed = shown(detail["input"])
    if kind == "literal_error" and key[-1] != "expect":
        told = advice(str(detail["input"]), re.findall("'([^']*)'", context["expected"]))
        return f"expected {context['expected']}, observed {observed}{told}"
    if _PATTERN in detail["loc"] and kind == "string_type":
        return f"expected text or a table with path, observed {observed}"
    if kind == "string_pattern_mismatch" or (
        kind.startswith("string_too") and key[-1] in {"digest", "supersedes"}
    ):
        return f"expected {_form(key, detail)}, observed {observed}"
    if kind == "literal_error":
        return f"expected {_LITERALS[str(key[-1])]}, observed {observed}"
    if kind in _EXPECTED:
        return f"expected {_EXPECTED[kind].format(**context)}, observed {observed}"
    return f"{detail['msg'][0].lower()}{detail['msg'][1:]}, observed {observed}"


def _form(key: Key, detail: ErrorDetails) -> str:
    names = [part for part in key if isinstance(part, str)]
    if names[:2] == ["record", "printed"]:
        return _NAME_FORM if detail["loc"][-1] == "[key]" else _FORMS["printed"]
    if detail.get("ctx", {}).get("pattern") == LINE_PATTERN:
        return "one line without control, format or bidirectional characters"
    if "environment" in names:
        return _FORMS["environment"]
    return _FORMS.get(names[-1], _NAME_FORM)


def _unknown_key(key: Key) -> str:
    *tables, unknown = (part for part in key if isinstance(part, str))
    fields = _TABLES[tuple(tables)].model_fields
    known = [field.alias or name for name, field in fields.items()]
    told = advice(unknown.replace("_", "-"), known)
    if told:
        return f"unknown key{told}"
    return f"unknown key; expected one of {', '.join(known)}"
