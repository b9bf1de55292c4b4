"""Entry points are found in the source, and configurations fit what they declare."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repropack._run.loading import (
    Configuration,
    check_origin,
    last_line,
    load_entry_point,
    make_experiment,
    one_line,
)
from repropack.errors import ConfigurationError, ExperimentLoadError, StateError
from tests.support.experiment_sources import DATACLASS, PYDANTIC, SOURCES, configured

DROPPED = "expected Config to read back what it writes, observed another value of rate"
GROWS = """rate: int = 1
    @pydantic.field_validator('rate')
    @classmethod
    def grow(cls, rate): return rate + 1"""
NAMES = map("tiny_{}".format, itertools.count())
Load = Callable[..., Any]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Write a source as a module of a name of its own, and load ``Experiment`` from it."""
    monkeypatch.syspath_prepend(tmp_path)

    def loaded(source: str, attribute: str = "Experiment") -> Any:
        name = next(NAMES)
        (tmp_path / f"{name}.py").write_text(source, "utf-8")
        return load_entry_point(f"{name}:{attribute}")

    return loaded


@pytest.mark.parametrize(
    ("attribute", "hint"),
    [
        ("Nett", "did you mean 'Net'?"),
        ("Dict", "'{m}' has Net, train"),
        ("Thing", "'{m}' has Net, train"),
        ("_hiden", "'{m}' has Net, train"),
    ],
)
def test_a_name_that_the_module_does_not_have(load: Load, attribute: str, hint: str) -> None:
    """The like one of its own public classes and functions, or all of them."""
    source = (
        "from collections import OrderedDict\nclass Net: pass\ndef train(): pass\n"
        "def _hidden(): pass\nNumber = 3\n"
    )
    with pytest.raises(ExperimentLoadError) as caught:
        load(source, attribute)
    module = caught.value.message.split("'")[1].partition(":")[0]
    assert caught.value.hint == hint.format(m=module)


def test_a_name_in_a_module_that_has_none(load: Load) -> None:
    """There is nothing to propose."""
    with pytest.raises(ExperimentLoadError) as caught:
        load("Number = 3", "Net")
    assert caught.value.hint is None


def declared(load: Load, kind: str, more: str = "") -> Any:
    """An entry point whose configuration is a dataclass with the members given."""
    source = (
        "import dataclasses, enum, math, pathlib, typing\nimport numpy\nimport pydantic\n"
        f"{more}\n@dataclasses.dataclass\nclass Config:\n    {kind}\n\n\n"
        "def Experiment(config: Config, seed: int): ...\n"
    )
    return load(source)


def declared_model(load: Load, kind: str) -> Any:
    """An entry point whose configuration is a pydantic model with the members given."""
    source = (
        f"import pydantic\nclass Config(pydantic.BaseModel):\n    {kind}\n\n\n"
        "def Experiment(config: Config, seed: int): ...\n"
    )
    return load(source)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (
            "lacks-class",
            "expected a class or function 'Experiment' in '{m}', observed nothing of that name",
        ),
        ("not-callable", "expected a class or function 'Experiment' in '{m}', observed int"),
        ("exits-on-import", "importing '{m}' failed: SystemExit: not today"),
        (
            "breaks-on-import",
            "importing '{m}' failed: ModuleNotFoundError: No module named 'no_such_module'",
        ),
        (
            "breaks-syntax",
            "importing '{m}' failed: SyntaxError: '(' was never closed ({m}.py, line 2)",
        ),
    ],
    ids=["lacks-class", "not-callable", "exits-on-import", "breaks-on-import", "breaks-syntax"],
)
def test_an_entry_point_that_cannot_be_loaded_says_why(load: Load, source: str, problem: str):
    """The message names the entry point, what was expected there and what was found."""
    with pytest.raises(ExperimentLoadError) as caught:
        load(SOURCES[source])
    module = caught.value.message.split("'")[1].split(":")[0]
    assert caught.value.message == f"entry point '{module}:Experiment': {problem.format(m=module)}"
    assert caught.value.code == "experiment.load"


def test_a_missing_module_is_a_load_error():
    """A module that is not there is named."""
    with pytest.raises(ExperimentLoadError) as caught:
        load_entry_point("no_such_module_anywhere:Experiment")
    assert caught.value.message == (
        "entry point 'no_such_module_anywhere:Experiment': importing 'no_such_module_anywhere' "
        "failed: ModuleNotFoundError: No module named 'no_such_module_anywhere'"
    )


def test_an_object_without_the_methods_is_a_load_error(load: Load):
    """Every method that is missing is named at once."""
    with pytest.raises(ExperimentLoadError) as caught:
        make_experiment(load(SOURCES["lacks-methods"]), {}, 7, "tiny:Experiment")
    assert caught.value.message == (
        "entry point 'tiny:Experiment': expected an object with step, state_dict, "
        "load_state_dict, observed Experiment without state_dict, load_state_dict"
    )


def test_a_constructor_that_raises_is_a_load_error(load: Load):
    """What the constructor raised stands at the message's end, and is the cause."""
    with pytest.raises(ExperimentLoadError) as caught:
        make_experiment(load(SOURCES["raises-in-constructor"]), {}, 7, "tiny:Experiment")
    assert caught.value.message == (
        "entry point 'tiny:Experiment': calling it with (config, seed) failed: "
        "RuntimeError: no seed like that"
    )
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_a_function_is_an_entry_point(load: Load):
    """An entry point is anything that makes an experiment of configuration and seed."""
    made = make_experiment(load(SOURCES["factory"]), {"a": 1}, 7, "tiny:Experiment")
    assert (made.config, made.seed) == ({"a": 1}, 7)


def test_an_entry_point_of_the_standard_library_is_not_the_source(tmp_path: Path):
    """What runs is what is packed: a module of that name elsewhere is refused."""
    (tmp_path / "json.py").write_text(SOURCES["calm"], "utf-8")
    load_entry_point("json:loads")
    with pytest.raises(ExperimentLoadError) as caught:
        check_origin("json:loads", tmp_path)
    assert caught.value.message == (
        "entry point 'json:loads': expected module 'json' in the experiment's source, "
        "observed one of that name elsewhere"
    )
    assert caught.value.hint == (
        "list the module's files under source, relative to the folder it is imported from"
    )


def test_an_entry_point_in_the_source_is_accepted(load: Load, tmp_path: Path):
    """A module of the source passes, and one without a file does not."""
    module = load(SOURCES["calm"]).__module__
    check_origin(f"{module}:Experiment", tmp_path)
    with pytest.raises(ExperimentLoadError, match="observed one of that name elsewhere"):
        check_origin("sys:exit", tmp_path)


def test_a_dataclass_is_completed_and_has_a_schema(load: Load):
    """Defaults are filled in, tuples become lists, and the schema says what may be given."""
    target = load(configured("Config", DATACLASS))
    found = Configuration(target, {"rate": 0.25})
    assert (found.value.rate, found.value.layers) == (0.25, (4, 2))
    assert found.encoded == {"rate": 0.25, "layers": [4, 2]}
    assert found.schema is not None
    assert found.schema["properties"]["rate"] == {"default": 0.5, "title": "Rate", "type": "number"}


def test_a_pydantic_model_is_completed(load: Load):
    """A model is validated by its own rules."""
    target = load(configured("Config", PYDANTIC))
    found = Configuration(target, {"name": "wild"})
    assert found.encoded == {"rate": 0.5, "name": "wild"}
    assert type(found.value).__name__ == "Config"


@pytest.mark.parametrize(
    "annotation", ["dict", "dict[str, float]", "int", "'Config | None'", "NoSuchName"]
)
def test_other_annotations_get_the_mapping(load: Load, annotation: str):
    """What is no dataclass and no model declares nothing and gets the plain values."""
    found = Configuration(load(configured(annotation, DATACLASS)), {"rate": 2})
    assert (found.value, found.encoded, found.schema) == ({"rate": 2}, {"rate": 2}, None)


@pytest.mark.parametrize("target", [dict, print, lambda: None], ids=["type", "builtin", "none"])
def test_an_entry_point_without_a_signature_gets_the_mapping(target: Any):
    """A class or function that cannot be inspected is no error here."""
    assert Configuration(target, {"rate": 2}).value == {"rate": 2}


def test_values_are_decoded_before_they_are_given(load: Load):
    """An experiment sees numbers, not their encoding, and the record keeps the encoding."""
    target = load(configured("dict", ""))
    encoded = {"big": {"$int": "36893488147419103232"}, "rate": {"$float": "inf"}}
    found = Configuration(target, encoded)
    assert found.value == {"big": 2**65, "rate": float("inf")}
    assert found.encoded == encoded


@pytest.mark.parametrize(
    ("declaration", "given", "message"),
    [
        (
            DATACLASS,
            {"rat": 1.0, "seed": 3},
            (
                "configuration: unknown name 'rat', did you mean 'rate'; "
                "unknown name 'seed', expected one of rate, layers"
            ),
        ),
        (PYDANTIC, {"nam": "x"}, "configuration: unknown name 'nam', did you mean 'name'"),
        (
            DATACLASS,
            {"rate": "fast", "layers": [1.5]},
            (
                "configuration: rate: Input should be a valid number, unable to parse string as a "
                "number, observed 'fast'; layers.0: Input should be a valid integer, got a number "
                "with a fractional part, observed 1.5"
            ),
        ),
        (
            PYDANTIC,
            {"rate": -1.0},
            "configuration: rate: Input should be greater than 0, observed -1.0",
        ),
    ],
    ids=["unknown", "unknown-model", "types", "rule"],
)
def test_a_configuration_that_does_not_fit_names_every_fault(
    load: Load, declaration: str, given: dict[str, Any], message: str
):
    """All faults stand in one message, each with its place, the rule and the value."""
    with pytest.raises(ConfigurationError) as caught:
        Configuration(load(configured("Config", declaration)), given)
    assert caught.value.message == message
    assert caught.value.code == "experiment.configuration"


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        ("ValueError('rate is odd')", "configuration: Value error, rate is odd"),
        ("RuntimeError('no\\nway')", "configuration: validating it raised RuntimeError: no"),
    ],
    ids=["value-error", "other"],
)
def test_a_rule_of_the_whole_configuration_says_itself(load: Load, raised: str, message: str):
    """What ``__post_init__`` raises becomes a configuration error, whatever its type."""
    rule = f"rate: int = 1\n    def __post_init__(self):\n        raise {raised}"
    with pytest.raises(ConfigurationError) as caught:
        Configuration(declared(load, rule), {})
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("member", "given", "encoded"),
    [
        ("rate: float = math.inf", {}, {"rate": {"$float": "inf"}}),
        ("rate: float = 1", {}, {"rate": 1.0}),
        ("kind: Kind = Kind.FAST", {}, {"kind": "fast"}),
        ("place: pathlib.Path = pathlib.Path('a/b')", {}, {"place": "a/b"}),
        ("sizes: tuple[int, ...] = (1,)", {"sizes": [3, 4]}, {"sizes": [3, 4]}),
        (
            "made: int = dataclasses.field(init=False, default=3)\n    rate: int = 1",
            {},
            {"rate": 1},
        ),
        ("big: int = 2**60", {}, {"big": {"$int": "1152921504606846976"}}),
    ],
    ids=["infinity", "integer-default", "enum", "path", "tuple", "not-init", "big"],
)
def test_what_is_recorded_can_be_given_again(
    load: Load, member: str, given: dict[str, Any], encoded: dict[str, Any]
):
    """A comparison starts from the recorded configuration, so it has to read back the same."""
    target = declared(load, member, "class Kind(enum.Enum):\n    FAST = 'fast'\n")
    first = Configuration(target, given)
    again = Configuration(target, first.encoded)
    assert first.encoded == again.encoded == encoded
    assert first.value == again.value
    json.dumps(first.schema, allow_nan=False)


def test_an_alias_is_the_name(load: Load):
    """A model's alias is what an author writes, what is recorded and what is read back."""
    target = declared_model(load, "rate: float = pydantic.Field(0.5, alias='learning-rate')")
    found = Configuration(target, {"learning-rate": 0.25})
    assert found.encoded == {"learning-rate": 0.25}
    assert Configuration(target, found.encoded).value.rate == 0.25


def test_a_model_that_allows_extra_names_keeps_them(load: Load):
    """Only a closed set of names is held against what is given."""
    target = declared_model(
        load, "model_config = pydantic.ConfigDict(extra='allow')\n    a: int = 1"
    )
    assert Configuration(target, {"b": 2}).encoded == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("member", "given", "message"),
    [
        (
            "rate: int = pydantic.Field(1, exclude=True)",
            {"rate": 3},
            f"configuration: {DROPPED}",
        ),
        (
            GROWS,
            {"rate": 3},
            f"configuration: {DROPPED}",
        ),
        (
            "names: set[str] = {'a', 'b'}",
            {},
            "configuration: names: expected a value with an order, observed a set",
        ),
        (
            "names: dict[str, list[frozenset[str]]] = {}",
            {"names": {"a": [["b"]]}},
            "configuration: names: expected a value with an order, observed a set",
        ),
    ],
    ids=["excluded", "grows", "set", "inner-set"],
)
def test_a_configuration_that_does_not_read_back_is_refused(
    load: Load, member: str, given: dict[str, Any], message: str
):
    """Otherwise a second run would silently have another configuration than the first."""
    with pytest.raises(ConfigurationError) as caught:
        Configuration(declared_model(load, member), given)
    assert caught.value.message == message


def test_an_annotation_that_pydantic_does_not_know_is_refused(load: Load):
    """A member of a foreign type is a configuration error, not a crash."""
    with pytest.raises(ConfigurationError) as caught:
        Configuration(declared(load, "rate: numpy.ndarray"), {"rate": [1]})
    assert caught.value.message.startswith(
        "configuration: Config cannot be validated: PydanticSchemaGenerationError: "
    )


def test_a_value_that_cannot_be_stored_is_refused(load: Load):
    """A configuration is stored as a state's values are, by the same rules."""
    with pytest.raises(StateError) as caught:
        Configuration(declared_model(load, "names: dict[str, int] = {'$a': 3}"), {})
    assert caught.value.name == "names"


def test_a_value_that_is_no_encoding_is_refused():
    """A hand-made plan with a malformed value is a configuration error."""
    with pytest.raises(ConfigurationError, match=r"^configuration: value 'rate': expected an enc"):
        Configuration(lambda config, seed: None, {"rate": {"$int": 3}})


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("a\nb"), "ValueError: a"),
        (ValueError("  \n"), "ValueError"),
        (KeyError("a"), "KeyError: 'a'"),
        (ValueError("a\rb"), "ValueError: a"),
        (ValueError("\x1b[31m\udc80"), r"ValueError: \x1b[31m\udc80"),
        (ValueError("a" * 500), "ValueError: " + "a" * 385 + "..."),
    ],
    ids=["two-lines", "empty", "key", "return", "unprintable", "long"],
)
def test_an_exception_is_told_in_one_printable_line(error: Exception, line: str):
    """Whatever an experiment raises becomes one line that any terminal can show."""
    assert last_line(error) == line


def test_an_exception_that_cannot_be_shown_is_told_by_its_type():
    """An exception whose text raises is no reason to lose the failure."""

    class SilentError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert last_line(SilentError()) == "SilentError"


def test_a_line_is_at_most_400_characters():
    """A line of 400 characters stays; one more, or one that escapes make longer, is cut."""
    assert one_line("a" * 400) == "a" * 400
    assert one_line("a" * 401) == "a" * 397 + "..."
    assert one_line("\n" * 399) == "\\n" * 198 + "\\..."
