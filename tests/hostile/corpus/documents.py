"""T8: JSON that two readers read differently, that a parser breaks on, or that is no such document."""

# ruff: noqa: E501 - one line a lie

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.hostile.corpus.bases import Base
from tests.hostile.corpus.case import (
    BOTH,
    FORMAT,
    INTEGRITY,
    LIMIT,
    NEWER,
    SCHEMA,
    Case,
    Write,
    lie,
    rows,
    told,
)
from tests.support.hostile import Forgery

PLAN, RESULTS, ENVIRONMENT = "plan.json", "results.json", "environment.json"
CONFIG = "schemas/config.schema.json"
Respell = Callable[[bytes], bytes]
Path = str | Callable[[Base], str]


def companion(base: Base) -> str:
    """Path of a checkpoint's document in the middle of the reference."""
    return f"runs/reference/checkpoints/step-{base.middle:09d}.json"


def respelled(path: Path, change: Respell) -> Write:
    """Change a document's bytes."""

    def tell(base: Base, forgery: Forgery) -> None:
        place = path if isinstance(path, str) else path(base)
        before = forgery.files[place]
        forgery.files[place] = change(before)
        assert forgery.files[place] != before, "the lie was not told"

    return told(tell)


def edited(path: Path, change: Callable[[Any], object]) -> Write:
    """Change a document's values; it is canonical again."""

    def tell(base: Base, forgery: Forgery) -> None:
        forgery.edit(path if isinstance(path, str) else path(base), change)

    return told(tell)


def seed(text: bytes) -> Respell:
    """Another spelling of the seed, which is 7."""
    return lambda data: data.replace(b'"seed":7', b'"seed":' + text)


def added(text: bytes) -> Respell:
    """A member more, in front of the others."""
    return lambda data: b"{" + text + b"," + data[1:]


def pretty(data: bytes) -> bytes:
    return json.dumps(json.loads(data), indent=1, sort_keys=True).encode() + b"\n"


def backwards(data: bytes) -> bytes:
    value = json.loads(data)
    text = json.dumps({key: value[key] for key in reversed(value)}, separators=(",", ":"))
    return text.encode() + b"\n"


def escaped(data: bytes) -> bytes:
    """The first letter of a key as an escape."""
    return data.replace(b'"seed"', b'"\\u0073eed"')


def nested(depth: int, opening: bytes = b"[", closing: bytes = b"]") -> bytes:
    return opening * depth + closing * depth


def config(text: bytes) -> Respell:
    """A value more in the experiment's configuration."""
    return configured(b'"aa":' + text)


def configured(text: bytes) -> Respell:
    """A member more in the experiment's configuration."""

    def change(data: bytes) -> bytes:
        start, opening, rest = data.partition(b'"config":{')
        return start + opening + text + (b"" if rest.startswith(b"}") else b",") + rest

    return change


STRICT = rows(
    "T8",
    "json",
    lie("key-twice", "A member comes twice.", respelled(PLAN, lambda d: d.replace(b'"seed":7', b'"seed":7,"seed":8')), FORMAT, "twice", forms=BOTH),
    lie("key-twice-escaped", "A member comes twice, once as an escape.", respelled(PLAN, lambda d: d.replace(b'"seed":7', b'"seed":7,"\\u0073eed":8')), FORMAT, "twice"),
    lie("key-twice-inside", "A member comes twice in the configuration.", respelled(PLAN, config(b'1,"aa":2')), FORMAT, "twice"),
    lie("nan", "A number that is none.", respelled(PLAN, seed(b"NaN")), FORMAT, "NaN"),
    lie("infinity", "A number without end.", respelled(PLAN, seed(b"Infinity")), FORMAT, "Infinity"),
    lie("minus-infinity", "A number below all.", respelled(PLAN, seed(b"-Infinity")), FORMAT, "Infinity"),
    lie("overflow", "A number that becomes infinity.", respelled(PLAN, seed(b"1e999")), FORMAT, "beyond a 64-bit float"),
    lie("integer-too-large", "An integer that half of all readers round.", respelled(PLAN, seed(b"9007199254740992")), FORMAT, "beyond 2^53-1"),
    lie("integer-4301", "An integer that Python refuses to read.", respelled(PLAN, seed(b"9" * 4301)), FORMAT, "beyond 2^53-1"),
    lie("integer-million", "An integer of a million digits.", respelled(PLAN, seed(b"7" * 1_000_000)), FORMAT, "beyond 2^53-1"),
    lie("float-million", "A fraction of a million digits.", respelled(PLAN, seed(b"0." + b"7" * 1_000_000)), SCHEMA, "seed"),
    lie("minus-zero", "An integer that some read as a float.", respelled(PLAN, seed(b"-0")), FORMAT, "-0"),
    lie("leading-zero", "A number with a zero in front.", respelled(PLAN, seed(b"07")), FORMAT, "strict JSON"),
    lie("plus", "A number with a sign.", respelled(PLAN, seed(b"+7")), FORMAT, "strict JSON"),
    lie("hexadecimal", "A number in hexadecimal.", respelled(PLAN, seed(b"0x7")), FORMAT, "strict JSON"),
    lie("fraction", "An integer with a fraction of nothing.", respelled(PLAN, seed(b"7.0")), SCHEMA, "seed"),
    lie("exponent", "An integer with an exponent.", respelled(PLAN, seed(b"7e0")), SCHEMA, "seed"),
    lie("true-for-one", "A truth for a number.", respelled(PLAN, seed(b"true")), SCHEMA, "seed"),
    lie("text-for-number", "A text for a number.", respelled(PLAN, seed(b'"7"')), SCHEMA, "seed"),
    lie("null-for-number", "Nothing for a number.", respelled(PLAN, seed(b"null")), SCHEMA, "seed"),
    lie("list-for-number", "A list for a number.", respelled(PLAN, seed(b"[7]")), SCHEMA, "seed"),
    lie("surrogate", "Half a character.", respelled(PLAN, config(b'"\\ud800"')), FORMAT, "lone surrogate"),
    lie("surrogate-key", "Half a character in a key.", respelled(PLAN, configured(b'"\\udfff":1')), FORMAT, "lone surrogate"),
    lie("surrogates-swapped", "Two halves in the wrong order.", respelled(PLAN, config(b'"\\udc00\\ud800"')), FORMAT, "lone surrogate"),
    lie("utf-16", "The document in UTF-16.", respelled(PLAN, lambda d: d.decode().encode("utf-16")), FORMAT, "expected UTF-8"),
    lie("utf-16-plain", "The document in UTF-16 without a mark.", respelled(PLAN, lambda d: d.decode().encode("utf-16-le")), FORMAT, "strict JSON"),
    lie("utf-32", "The document in UTF-32.", respelled(PLAN, lambda d: d.decode().encode("utf-32")), FORMAT, "expected UTF-8"),
    lie("byte-order-mark", "A byte order mark in front.", respelled(PLAN, lambda d: b"\xef\xbb\xbf" + d), FORMAT, "byte order mark"),
    lie("latin-1", "A letter in another encoding.", respelled(PLAN, config(b'"\xe9"')), FORMAT, "expected UTF-8"),
    lie("overlong", "A quote spelled in two bytes.", respelled(PLAN, config(b'"\xc0\xa2"')), FORMAT, "expected UTF-8"),
    lie("encoded-surrogate", "Half a character in bytes.", respelled(PLAN, config(b'"\xed\xa0\x80"')), FORMAT, "expected UTF-8"),
    lie("beyond-unicode", "A character behind the last one.", respelled(PLAN, config(b'"\xf4\x90\x80\x80"')), FORMAT, "expected UTF-8"),
    lie("control", "A line end inside a text.", respelled(PLAN, config(b'"a\nb"')), FORMAT, "strict JSON"),
    lie("nul", "A NUL inside a text.", respelled(PLAN, config(b'"a\0b"')), FORMAT, "strict JSON"),
    lie("bad-escape", "An escape that JSON lacks.", respelled(PLAN, config(b'"\\x41"')), FORMAT, "strict JSON"),
    lie("bad-unicode-escape", "An escape of blanks.", respelled(PLAN, config(b'"\\u 41"')), FORMAT, "strict JSON"),
    lie("trailing-comma", "A comma behind the last.", respelled(PLAN, lambda d: d.replace(b"}\n", b",}\n")), FORMAT, "strict JSON"),
    lie("comment", "A comment.", respelled(PLAN, lambda d: b"/* ok */" + d), FORMAT, "strict JSON"),
    lie("single-quotes", "Other quotes.", respelled(PLAN, lambda d: d.replace(b'"', b"'")), FORMAT, "strict JSON"),
    lie("bare-key", "A key without quotes.", respelled(PLAN, lambda d: d.replace(b'"seed"', b"seed")), FORMAT, "strict JSON"),
    lie("cut", "The end is missing.", respelled(PLAN, lambda d: d[:-20]), FORMAT, "strict JSON"),
    lie("two-documents", "A second document behind the first.", respelled(PLAN, lambda d: d + d), FORMAT, "strict JSON"),
    lie("zeros", "Zeros behind the document.", respelled(PLAN, lambda d: d + bytes(512)), FORMAT, "strict JSON"),
    lie("all-zeros", "A document that never reached the disk.", respelled(PLAN, lambda d: bytes(len(d))), FORMAT, "strict JSON"),
    lie("empty", "A document of nothing.", respelled(PLAN, lambda d: b""), FORMAT, "strict JSON"),
    lie("blank", "A document of a line end.", respelled(PLAN, lambda d: b"\n"), FORMAT, "strict JSON"),
    lie("list", "A list instead of an object.", respelled(PLAN, lambda d: b"[" + d[:-1] + b"]\n"), SCHEMA, "plan.json: /:"),
    lie("null", "Nothing instead of an object.", respelled(PLAN, lambda d: b"null\n"), SCHEMA, "object"),
    lie("text", "A text instead of an object.", respelled(PLAN, lambda d: b'"plan"\n'), SCHEMA, "object"),
    lie("depth", "Deeper than is allowed, by one.", respelled(PLAN, config(nested(65))), LIMIT, "max_json_depth"),
    lie("depth-objects", "Objects deeper than is allowed.", respelled(PLAN, config(nested(80, b'{"a":', b"}").replace(b":}", b":1}"))), LIMIT, "max_json_depth"),
    lie("depth-million", "A million brackets.", respelled(PLAN, config(nested(1_000_000))), LIMIT, "max_json_depth"),
    lie("depth-open", "A hundred thousand brackets without an end.", respelled(PLAN, lambda d: b"[" * 100_000), LIMIT, "max_json_depth"),
    lie("depth-hidden", "Brackets behind a text that never ends.", respelled(PLAN, lambda d: b'"\\"' + b"[" * 100_000), FORMAT, "strict JSON"),
    lie("containers", "A million empty lists.", respelled(PLAN, config(b"[" + b"[]," * 1_000_000 + b"[]]")), LIMIT, "max_json_items"),
)  # fmt: skip

SPELLING = rows(
    "T8",
    "spelling",
    lie("pretty", "Indented for people.", respelled(PLAN, pretty), FORMAT, "canonical", forms=BOTH),
    lie("blank", "A blank behind a colon.", respelled(PLAN, lambda d: d.replace(b":", b": ", 1)), FORMAT, "canonical"),
    lie("order", "Members in another order.", respelled(PLAN, backwards), FORMAT, "canonical"),
    lie("no-newline", "No line end.", respelled(PLAN, lambda d: d[:-1]), FORMAT, "canonical"),
    lie("two-newlines", "Two line ends.", respelled(PLAN, lambda d: d + b"\n"), FORMAT, "canonical"),
    lie("return", "The line end of another system.", respelled(PLAN, lambda d: d[:-1] + b"\r\n"), FORMAT, "canonical"),
    lie("escape", "A letter as an escape.", respelled(PLAN, escaped), FORMAT, "canonical"),
    lie("slash", "A slash as an escape.", respelled(PLAN, lambda d: d.replace(b"repropack/plan", b"repropack\\/plan")), FORMAT, "canonical"),
    lie("not-ascii", "A letter as an escape that is stored as itself.", respelled(PLAN, config(b'"\\u00e9"')), FORMAT, "canonical"),
    lie("float", "A float in another spelling.", respelled(PLAN, config(b"1E2")), FORMAT, "canonical"),
    lie("float-digits", "A float with more digits than it has.", respelled(PLAN, config(b"0.10000000000000000001")), FORMAT, "canonical"),
    lie("default-left-out", "A member with its default left out.", edited(PLAN, lambda v: v["record"].pop("keep")), FORMAT, "every member"),
    lie("results", "Results, indented.", respelled(RESULTS, pretty), FORMAT, "canonical"),
    lie("environment", "The environment, indented.", respelled(ENVIRONMENT, pretty), FORMAT, "canonical"),
    lie("checkpoint", "A checkpoint's document, indented.", respelled(companion, pretty), FORMAT, "canonical"),
)  # fmt: skip

EACH = rows(
    "T8",
    "document",
    lie("results-key-twice", "Results with a member twice.", respelled(RESULTS, lambda d: d.replace(b'"held":true', b'"held":false,"held":true', 1)), FORMAT, "twice"),
    lie("results-nan", "A result that is no number.", respelled(RESULTS, lambda d: d.replace(b'"last_step":', b'"last_step":NaN,"x":', 1)), FORMAT, "NaN"),
    lie("results-member", "Results with a member that nobody knows.", edited(RESULTS, lambda v: v.update(note="ok")), SCHEMA, "note"),
    lie("results-lacks", "Results without a member.", edited(RESULTS, lambda v: v.pop("reference")), SCHEMA, "reference"),
    lie("results-schema", "Results that call themselves a plan.", edited(RESULTS, lambda v: v.update(schema="repropack/plan/v1")), SCHEMA, "schema"),
    lie("results-newer", "Results of a later version.", edited(RESULTS, lambda v: v.update(schema="repropack/results/v2")), NEWER, "repropack/results/v2"),
    lie("results-are-plan", "The plan in place of the results.", told(lambda b, f: f.files.update({RESULTS: f.files[PLAN]})), SCHEMA, "", faults=None),
    lie("plan-member", "A plan with a member that nobody knows.", edited(PLAN, lambda v: v.update(command=["sh"])), SCHEMA, "command"),
    lie("plan-lacks", "A plan without its experiment.", edited(PLAN, lambda v: v.pop("experiment")), SCHEMA, "experiment"),
    lie("plan-newer", "A plan of a later version.", edited(PLAN, lambda v: v.update(schema="repropack/plan/v2")), NEWER, "repropack/plan/v2"),
    lie("plan-no-schema", "A plan that does not say what it is.", edited(PLAN, lambda v: v.pop("schema")), SCHEMA, "schema"),
    lie("plan-entry-point", "An entry point that is a path.", edited(PLAN, lambda v: v["experiment"].update(entry_point="../evil:main")), SCHEMA, "entry_point"),
    lie("plan-entry-point-newline", "An entry point with a line end.", edited(PLAN, lambda v: v["experiment"].update(entry_point=v["experiment"]["entry_point"] + "\n")), SCHEMA, "entry_point"),
    lie("plan-steps-none", "A plan of no step.", edited(PLAN, lambda v: v["experiment"].update(steps=0)), SCHEMA, "steps"),
    lie("plan-steps-many", "A plan of more steps than a run may have.", edited(PLAN, lambda v: v["experiment"].update(steps=10**9)), SCHEMA, "steps"),
    lie("plan-seed-negative", "A negative seed.", edited(PLAN, lambda v: v["experiment"].update(seed=-1)), SCHEMA, "seed"),
    lie("plan-comparison-name", "A comparison named like a path.", edited(PLAN, lambda v: v["comparisons"][0].update(name="../x")), SCHEMA, "name"),
    lie("plan-comparison-empty", "A comparison without a name.", edited(PLAN, lambda v: v["comparisons"][0].update(name="")), SCHEMA, "name"),
    lie("plan-print-format", "A print format that takes a gigabyte.", edited(PLAN, lambda v: v["record"]["printed"].update(loss=".999999999f")), SCHEMA, "printed"),
    lie("plan-print-code", "A print format that looks into objects.", edited(PLAN, lambda v: v["record"]["printed"].update(loss="{0.__class__}")), SCHEMA, "printed"),
    lie("plan-keep-path", "A kept stage named like a path.", edited(PLAN, lambda v: v["record"].update(keep=["../../x"])), SCHEMA, "keep"),
    lie("plan-hash-seed", "A hash seed that Python refuses.", edited(PLAN, lambda v: v["comparisons"][0].update(hash_seed=2**32)), SCHEMA, "hash_seed"),
    lie("plan-notebook", "A notebook that is neither executed nor not.", edited(PLAN, lambda v: v.update(notebook="perhaps")), SCHEMA, "notebook"),
    lie("plan-issues", "Two thousand faults in one document.", edited(PLAN, lambda v: v["experiment"]["config"].clear() or v["record"].update(keep=["?"] * 2000)), SCHEMA, "keep"),
    lie("environment-key-twice", "An environment with a member twice.", respelled(ENVIRONMENT, lambda d: d.replace(b'"schema":', b'"schema":1,"schema":', 1)), FORMAT, "twice"),
    lie("environment-member", "An environment with a host name.", edited(ENVIRONMENT, lambda v: v["platform"].update(host="laptop")), SCHEMA, "host"),
    lie("environment-card", "A probe card of another digest.", edited(ENVIRONMENT, lambda v: v["probe_card"].update({next(iter(v["probe_card"])): "sha256:1"})), SCHEMA, "probe_card"),
    lie("environment-list", "An environment that is a list.", respelled(ENVIRONMENT, lambda d: b"[]\n"), SCHEMA, "object"),
    lie("environment-twice", "A distribution comes twice.", edited(ENVIRONMENT, lambda v: v["distributions"].append(v["distributions"][0])), INTEGRITY, "distributions"),
    lie("environment-order", "Instruction sets in another order.", edited(ENVIRONMENT, lambda v: v["cpu"].update(features=["B", "A"])), INTEGRITY, "features"),
    lie("environment-no-change", "A card that is said to have changed, and did not.", edited(ENVIRONMENT, lambda v: v.update(probe_card_at_end=dict([next(iter(v["probe_card"].items()))]))), INTEGRITY, "probe_card_at_end"),
    lie("environment-newer", "An environment of a later version.", edited(ENVIRONMENT, lambda v: v.update(schema="repropack/environment/v7")), NEWER, "environment/v7"),
    lie("environment-threads", "A number of threads that is a truth.", edited(ENVIRONMENT, lambda v: v["cpu"].update(usable=True)), SCHEMA, "usable"),
    lie("checkpoint-key-twice", "A checkpoint's document with a member twice.", respelled(companion, lambda d: d.replace(b'"step":', b'"step":1,"step":', 1)), FORMAT, "twice"),
    lie("checkpoint-member", "A checkpoint's document with a member more.", edited(companion, lambda v: v.update(pickle="gASV")), SCHEMA, "pickle"),
    lie("checkpoint-lacks", "A checkpoint's document without its arrays.", edited(companion, lambda v: v.pop("arrays")), SCHEMA, "arrays"),
    lie("checkpoint-step", "A checkpoint of a negative step.", edited(companion, lambda v: v.update(step=-1)), SCHEMA, "step"),
    lie("checkpoint-shape", "An array with a negative length.", edited(companion, lambda v: next(iter(v["arrays"].values())).update(shape=[-1])), SCHEMA, "shape"),
    lie("checkpoint-type", "An array of objects.", edited(companion, lambda v: next(iter(v["arrays"].values())).update(dtype="|O")), SCHEMA, "dtype"),
    lie("checkpoint-digest", "A fingerprint in capitals.", edited(companion, lambda v: next(iter(v["arrays"].values())).update(fingerprint="sha256:" + "A" * 64)), SCHEMA, "fingerprint"),
    lie("checkpoint-newer", "A checkpoint of a later version.", edited(companion, lambda v: v.update(schema="repropack/checkpoint/v2")), NEWER, "checkpoint/v2"),
    lie("checkpoint-logical-type", "An array whose type a later release knows.", edited(companion, lambda v: next(iter(v["arrays"].values())).update(logical_type="bfloat16")), NEWER, "logical_type"),
    lie("checkpoint-same-as", "An array that lies in another checkpoint.", edited(companion, lambda v: next(iter(v["arrays"].values())).update(same_as="step-000000000")), NEWER, "same_as"),
    lie("checkpoint-depth", "A state deeper than is allowed.", respelled(companion, lambda d: d.replace(b'"values":{', b'"values":{"a":' + nested(66) + b",")), LIMIT, "max_json_depth"),
    lie("config-schema-array", "A configuration's schema that is no object.", told(lambda b, f: f.files.update({CONFIG: b"[]\n"})), FORMAT, "expected an object"),
    lie("config-schema-twice", "A configuration's schema with a member twice.", told(lambda b, f: f.files.update({CONFIG: b'{"a":1,"a":2}\n'})), FORMAT, "twice"),
    lie("config-schema-depth", "A configuration's schema of ten thousand brackets.", told(lambda b, f: f.files.update({CONFIG: nested(10_000)})), LIMIT, "max_json_depth"),
)  # fmt: skip


def of_value(value: Any) -> Write:
    """Put an encoded value into the state of a checkpoint, in a component that is there."""

    def tell(base: Base, forgery: Forgery) -> None:
        def change(document: Any) -> None:
            document["values"][f"{base.component}.extra"] = value

        forgery.edit(companion(base), change)

    return told(tell)


ENCODED = rows(
    "T8",
    "value",
    lie("int-small", "A small integer in the spelling of large ones.", of_value({"$int": "7"}), FORMAT, "encoded value"),
    lie("int-plus", "A large integer with a sign.", of_value({"$int": "+99999999999999999999"}), FORMAT, "encoded value"),
    lie("int-zeros", "A large integer with zeros in front.", of_value({"$int": "099999999999999999999"}), FORMAT, "encoded value"),
    lie("int-text", "A large integer in words.", of_value({"$int": "many"}), FORMAT, "encoded value"),
    lie("int-script", "A large integer in the digits of another script.", of_value({"$int": "\u0669" * 20}), FORMAT, "encoded value"),
    lie("int-underscore", "A large integer with underscores.", of_value({"$int": "9_9999999999999999999"}), FORMAT, "encoded value"),
    lie("float-plain", "A plain float in the spelling of odd ones.", of_value({"$float": "1.5"}), FORMAT, "encoded value"),
    lie("float-infinity", "Infinity in another spelling.", of_value({"$float": "Infinity"}), FORMAT, "encoded value"),
    lie("float-bits", "A NaN whose bits are infinity's.", of_value({"$float": "nan:7ff0000000000000"}), FORMAT, "encoded value"),
    lie("float-canonical", "The usual NaN by its bits.", of_value({"$float": "nan:7ff8000000000000"}), FORMAT, "encoded value"),
    lie("float-capitals", "Bits in capitals.", of_value({"$float": "nan:7FF8000000000001"}), FORMAT, "encoded value"),
    lie("two-marks", "A value with two marks.", of_value({"$float": "nan", "$int": "1"}), FORMAT, "encoded value"),
    lie("unknown-mark", "A value with a mark that nobody knows.", of_value({"$pickle": "gASV"}), FORMAT, "encoded value"),
    lie("mark-beside", "A mark beside a plain member.", of_value({"$int": "99999999999999999999", "a": 1}), FORMAT, "encoded value"),
    lie("array-of-nothing", "A reference to an array that is not there.", told(lambda b, f: f.edit(companion(b), lambda v: v["values"].update({f"{b.component}.zz": {"$array": f"{b.component}.zz#1"}}))), FORMAT, "zz#1"),
    lie("array-of-another", "A reference to another value's array.", told(lambda b, f: f.edit(companion(b), lambda v: v["values"].update({f"{b.component}.extra": {"$array": b.array}}))), FORMAT, "encoded value"),
    lie("name", "A value whose name is none.", told(lambda b, f: f.edit(companion(b), lambda v: v["values"].update({"../x": 1}))), FORMAT, "expected a state name"),
    lie("name-control", "A value whose name clears the screen.", told(lambda b, f: f.edit(companion(b), lambda v: v["values"].update({"\x1b[2J": 1}))), FORMAT, "expected a state name"),
    lie("name-twice", "A value and an array of one name.", told(lambda b, f: f.edit(companion(b), lambda v: v["values"].update({b.array: 1}))), FORMAT, "observed an array too"),
    lie("depth", "A value deeper than values may be.", of_value(json.loads(nested(49))), FORMAT, "levels"),
    lie("unlisted", "A value in no component.", of_value(1), INTEGRITY, "components"),
)  # fmt: skip

CASES: tuple[Case, ...] = (*STRICT, *SPELLING, *EACH, *ENCODED)
