"""The tree of errors: its drawing, its codes, and that errors survive a journey."""

from __future__ import annotations

import copy
import pickle
import re
import textwrap
from collections.abc import Callable
from functools import partial

import pytest

from repropack import errors
from repropack.errors import RepropackError
from repropack.refusals import Refusal, refusal

ISSUES = (("/steps", "expected an integer"), ("/seed", "missing"))
REFUSED = refusal("path.traversal", "../a", "component", "a name", "'..'")
SAMPLES: dict[type[RepropackError], RepropackError] = {
    errors.ProjectError: errors.ProjectError("repropack.toml", ISSUES),
    errors.StateError: errors.StateError("adam", "holds a set", hint="hand over a list"),
    errors.UnsupportedDtypeError: errors.UnsupportedDtypeError("weights", "object"),
    errors.StepError: errors.StepError("reference", 3, None, "ValueError: no"),
    errors.CommandError: errors.CommandError("reference", "it ended with 3", hint="do the other"),
    errors.InexactResumeError: errors.InexactResumeError("reference", 40, "step 41 differs"),
    errors.BusyError: errors.BusyError("lab.zip"),
    errors.PackageError: errors.PackageError(REFUSED),
    errors.PackageFormatError: errors.PackageFormatError(REFUSED, container="lab.zip", hint="no"),
    errors.UnsafeEntryError: errors.UnsafeEntryError(REFUSED),
    errors.LimitExceededError: errors.LimitExceededError("max_depth", "plan.json", "", (64, 65)),
    errors.SchemaError: errors.SchemaError("plan.json", ISSUES),
    errors.IntegrityError: errors.IntegrityError(REFUSED, REFUSED),
    errors.LintError: errors.LintError(
        Refusal("secret", "train.py:3", "a token of GitHub", "", "")
    ),
    errors.UnsupportedVersionError: errors.UnsupportedVersionError(
        "version.format", "format version", "2", "1"
    ),
}
BRANCH = re.compile(r"^(?P<indent>(?:│   |    )*)(?:[├└]── )?(?P<name>\w+)\s{2,}(?P<note>.+)$")


def all_classes(root: type[RepropackError] = RepropackError) -> list[type[RepropackError]]:
    """The tree, depth first, as the package itself defines it."""
    below = [cls for cls in root.__subclasses__() if cls.__module__ == errors.__name__]
    return [root, *(found for cls in below for found in all_classes(cls))]


CLASSES = all_classes()


def read_drawing() -> dict[str, tuple[str | None, str]]:
    """Parent and note of each name in the drawing that opens the module."""
    assert errors.__doc__ is not None
    block = errors.__doc__.split(".. code-block:: text", 1)[1].split("\n\n", 2)[1]
    drawing: dict[str, tuple[str | None, str]] = {}
    path: list[str] = []
    for line in textwrap.dedent(block).strip("\n").splitlines():
        match = BRANCH.match(line)
        assert match, line
        depth = 0
        if re.search("[├└]", line):
            depth = len(match["indent"]) // 4 + 1
        assert depth <= len(path), line
        path[depth:] = [match["name"]]
        assert match["name"] not in drawing
        drawing[match["name"]] = (path[depth - 1] if depth else None, match["note"])
    return drawing


def make(cls: type[RepropackError]) -> RepropackError:
    if "__init__" in vars(cls) and cls is not RepropackError:
        assert cls in SAMPLES, f"add an example of {cls.__name__} to SAMPLES"
    return SAMPLES.get(cls) or cls("expected this, observed that", hint="do the other")


def test_the_drawing_is_the_tree() -> None:
    """Every class stands in the drawing, below the class that it inherits from."""
    drawn = {name: parent for name, (parent, _) in read_drawing().items()}
    defined = {
        cls.__name__: None if cls is RepropackError else cls.__mro__[1].__name__ for cls in CLASSES
    }
    assert drawn == defined


def test_the_drawing_names_every_second_base() -> None:
    """A class that is also a built-in error says so in the drawing, and no other class does."""
    for name, (_, note) in read_drawing().items():
        bases = [base.__name__ for base in getattr(errors, name).__bases__[1:]]
        assert re.findall(r"also (\w+)", note) == bases, name


def test_the_module_holds_no_error_outside_the_tree() -> None:
    """Whatever is raised can be caught as one class."""
    defined = {
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, BaseException)
    }
    assert defined == set(CLASSES)


def test_every_class_has_a_code_of_its_own() -> None:
    """Codes are public: each class defines one, no two share one."""
    codes = [vars(cls)["code"] for cls in CLASSES]
    assert len(set(codes)) == len(codes)
    for code in codes:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*(\.[a-z]+(-[a-z]+)*)*", code)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_a_message_is_one_line(cls: type[RepropackError]) -> None:
    """A message fits on one line and does not end in a full stop."""
    message = str(make(cls))
    assert message == make(cls).message
    assert "\n" not in message
    assert not message.endswith(".")


def through_pickle(protocol: int, error: RepropackError) -> RepropackError:
    arrived: RepropackError = pickle.loads(pickle.dumps(error, protocol))
    return arrived


JOURNEYS: dict[str, Callable[[RepropackError], RepropackError]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{
        f"pickle-{protocol}": partial(through_pickle, protocol)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    },
}


@pytest.mark.parametrize("journey", JOURNEYS)
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_an_error_survives_the_journey(cls: type[RepropackError], journey: str) -> None:
    """Copied or sent through a process pool, an error keeps type, text, hint and data."""
    error = make(cls)
    arrived = JOURNEYS[journey](error)
    assert type(arrived) is cls
    assert arrived is not error
    assert str(arrived) == str(error)
    assert arrived.args == error.args
    assert vars(arrived) == vars(error)
    assert (arrived.code, arrived.message, arrived.hint) == (error.code, error.message, error.hint)


MESSAGES = {
    errors.PackageError: "../a: component: expected a name, observed '..'",
    errors.PackageFormatError: "lab.zip: entry '../a': component: expected a name, observed '..'",
    errors.UnsafeEntryError: "entry '../a': component: expected a name, observed '..'",
    errors.LimitExceededError: "plan.json: limit max_depth exceeded: allowed 64, observed 65",
    errors.SchemaError: "document 'plan.json': /steps: expected an integer; /seed: missing",
}


@pytest.mark.parametrize("cls", MESSAGES, ids=lambda cls: cls.__name__)
def test_a_refusal_is_data_and_a_message(cls: type[errors.PackageError]) -> None:
    """What is refused names its rule and entry, what was expected and what was observed."""
    error = SAMPLES[cls]
    assert isinstance(error, errors.PackageError)
    assert str(error) == MESSAGES[cls]
    assert (error.rule, error.entry, error.expected, error.observed) == {
        errors.LimitExceededError: ("limit.max_depth", "plan.json", "at most 64", "65"),
        errors.SchemaError: ("document.schema", "plan.json", "what its schema says", "2 issues"),
    }.get(cls, ("path.traversal", "../a", "a name", "'..'"))


def test_a_limit_says_how_to_raise_it() -> None:
    """The hint of a limit names the flag and what would do."""
    assert SAMPLES[errors.LimitExceededError].hint == (
        "give --limit max_depth=65 or more, if you know that this is no attack"
    )


def test_an_error_of_several_refusals_tells_all() -> None:
    """Every refusal stands in the message and in the data."""
    error = SAMPLES[errors.IntegrityError]
    assert isinstance(error, errors.IntegrityError)
    assert error.refusals == (REFUSED, REFUSED)
    assert str(error) == "; ".join(["entry '../a': component: expected a name, observed '..'"] * 2)
