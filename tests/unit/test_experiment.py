"""What a step may tell the recorder, and what an experiment is asked for."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from repropack._format.fingerprints import fingerprint_array
from repropack.errors import StateError, UnsupportedDtypeError
from repropack.experiment import Experiment, Trace, close_experiment, constants_of

W = np.array([1, 2], "f4")
EARLIER = "expected a stage recorded earlier in this step (a, b) or state:<component>"


def message(action: Any) -> str:
    with pytest.raises(StateError) as caught:
        action()
    return str(caught.value)


# ---------------------------------------------------------------- stages


def test_stages_stand_in_the_order_of_execution() -> None:
    """Names, fingerprints and inputs are handed out as they were recorded."""
    trace = Trace(components=("w", "adam"))
    trace.record("batch", np.arange(3), of="state:w")
    trace.record("a", W, of=("batch", "state:adam"))
    trace.record("free", W, of=())
    trace.record("rest", np.float64(1))
    assert trace.stages == (
        ("batch", fingerprint_array("", np.arange(3))),
        ("a", fingerprint_array("", W)),
        ("free", fingerprint_array("", W)),
        ("rest", fingerprint_array("", np.float64(1))),
    )
    assert trace.declarations == {
        "batch": ("state:w",),
        "a": ("batch", "state:adam"),
        "free": (),
        "rest": None,
    }
    assert list(trace.declarations) == ["batch", "a", "free", "rest"]


def test_a_name_recorded_again_is_numbered() -> None:
    """The second ``loss`` of a step is ``loss#2``, and can be named as an input."""
    trace = Trace()
    for value in range(3):
        trace.record("g", np.int64(value))
    trace.record("h", W, of=("g", "g#2", "g#3"))
    trace.record("g", W, of="g#3")
    assert [name for name, _ in trace.stages] == ["g", "g#2", "g#3", "h", "g#4"]
    assert trace.stages[1][1] == fingerprint_array("", np.int64(1))
    assert trace.declarations["h"] == ("g", "g#2", "g#3")


def test_a_stage_and_a_metric_of_one_name_are_counted_apart() -> None:
    """Stages and metrics have name spaces of their own."""
    trace = Trace()
    trace.record("loss", W)
    trace.metric("loss", 1)
    trace.record("loss", W)
    assert [name for name, _ in trace.stages] == ["loss", "loss#2"]
    assert trace.metrics == {"loss": 1}


def test_a_refused_record_leaves_nothing_behind() -> None:
    """After an error the next record of the name is the first."""
    trace = Trace()
    bad: list[tuple[Any, Any]] = [(np.array(["x"]), None), (W, "nowhere"), ([1.0], None)]
    for array, inputs in bad:
        with pytest.raises(StateError):
            trace.record("g", array, of=inputs)
    assert list(trace.stages) == []
    assert trace.declarations == {}
    trace.record("g", W)
    assert [name for name, _ in trace.stages] == ["g"]


def test_arrays_changed_afterwards_change_nothing() -> None:
    """A live array is fingerprinted at once."""
    trace = Trace()
    live = np.zeros(3)
    trace.record("g", live)
    live += 1
    trace.record("g", live)
    assert trace.stages == (
        ("g", fingerprint_array("", np.zeros(3))),
        ("g#2", fingerprint_array("", np.ones(3))),
    )


def test_what_is_handed_out_is_not_the_trace_itself() -> None:
    """Changing a result changes nothing of the trace."""
    trace = Trace()
    trace.record("g", W)
    trace.metric("loss", 1.0)
    trace.declarations["g"] = ("x",)
    trace.metrics["loss"] = 2.0
    assert trace.declarations == {"g": None}
    assert trace.metrics == {"loss": 1.0}


@pytest.mark.parametrize(
    ("of", "problem"),
    [
        (
            "later",
            f"'g': is declared to be made of 'later': {EARLIER}",
        ),
        (
            ("a", "g"),
            f"'g': is declared to be made of 'g': {EARLIER}",
        ),
        (
            "a#2",
            f"'g': is declared to be made of 'a#2': {EARLIER}",
        ),
        (
            "",
            f"'g': is declared to be made of '': {EARLIER}",
        ),
        (
            [1],
            f"'g': is declared to be made of 1: {EARLIER}",
        ),
        (
            [["a"]],
            f"'g': is declared to be made of ['a']: {EARLIER}",
        ),
        (
            "state:adam",
            "'g': is declared to be made of component 'adam': expected one of opt, w",
        ),
        (
            "state:w.first",
            "'g': is declared to be made of component 'w.first': expected one of opt, w",
        ),
        (
            "State:w",
            f"'g': is declared to be made of 'State:w': {EARLIER}",
        ),
        (
            "state:",
            (
                "'': is no component name: expected 1 to 200 of A-Z a-z 0-9 _ . + - (not starting "
                "with . + - or ending in .npy), observed ''"
            ),
        ),
    ],
    ids=[
        "unknown",
        "itself",
        "number",
        "empty",
        "integer",
        "list",
        "component",
        "name-in-component",
        "capital",
        "no-component",
    ],
)
def test_inputs_must_be_there(of: Any, problem: str) -> None:
    """A stage is made of earlier stages and of components that the state has."""
    trace = Trace(components=("w", "opt"))
    trace.record("a", W)
    trace.record("b", W)
    assert message(lambda: trace.record("g", W, of=of)) == problem


def test_the_first_stage_has_no_earlier_one() -> None:
    """The message says so."""
    assert "(none yet)" in message(lambda: Trace().record("g", W, of="a"))


def test_without_components_any_is_accepted() -> None:
    """Outside a run nobody knows the state's components; a component's name is still a name."""
    trace = Trace()
    trace.record("g", W, of="state:anything")
    assert trace.declarations == {"g": ("state:anything",)}
    with pytest.raises(StateError, match="is no component name"):
        trace.record("h", W, of="state:a b")
    assert "expected one of none" in message(
        lambda: Trace(components=()).record("g", W, of="state:w")
    )


@pytest.mark.parametrize("name", ["", "a#2", "a b", "state:w", ".a", None, 1], ids=repr)
def test_stage_names_are_names(name: Any) -> None:
    """A name that could be a number of another, or a component, is refused."""
    assert "is no stage name" in message(lambda: Trace().record(name, W))


@pytest.mark.parametrize(
    ("array", "problem"),
    [
        ([1.0], "'g': expected a NumPy array or scalar, observed list"),
        (1.0, "'g': expected a NumPy array or scalar, observed float"),
        (None, "'g': expected a NumPy array or scalar, observed NoneType"),
    ],
    ids=["list", "float", "none"],
)
def test_a_stage_is_a_numpy_array(array: Any, problem: str) -> None:
    """Lists and Python numbers have no type that a fingerprint could name."""
    assert message(lambda: Trace().record("g", array)) == problem


@pytest.mark.parametrize(
    "array",
    [np.array([None]), np.array(["x"]), np.ma.masked_array([1.0]), np.array(1, "M8[s]")],
    ids=["object", "text", "masked", "date"],
)
def test_a_stage_of_another_type_is_refused_by_name(array: Any) -> None:
    """The error names the stage."""
    trace = Trace()
    trace.record("g", W)
    with pytest.raises(UnsupportedDtypeError) as caught:
        trace.record("g", array)
    assert caught.value.name == "g#2"


def test_kept_stages_are_handed_on_in_canonical_form() -> None:
    """Every stage goes to ``keep`` once, little-endian and in C order, under its final name."""
    kept: list[tuple[str, Any]] = []

    def keep(name: str, array: Any) -> None:
        kept.append((name, array.copy()))

    trace = Trace(keep=keep)
    trace.record("g", np.asfortranarray(np.arange(4, dtype=">i4").reshape(2, 2)))
    trace.record("g", np.float32(1))
    assert [(name, array.dtype.str, array.shape) for name, array in kept] == [
        ("g", "<i4", (2, 2)),
        ("g#2", "<f4", ()),
    ]
    assert kept[0][1].flags.c_contiguous


def test_a_trace_without_stages_is_inert() -> None:
    """Where stages are not recorded, ``record`` is inert; metrics and finish count."""
    kept: list[str] = []
    trace = Trace(components=(), stages=False, keep=lambda name, _: kept.append(name))
    bad: Any = object()
    trace.record("g", W, of="nowhere")
    trace.record("a b", bad, of=bad)
    trace.metric("loss", 1.5)
    trace.finish("done")
    assert (trace.stages, trace.declarations, kept) == ((), {}, [])
    assert (trace.metrics, trace.finish_reason) == ({"loss": 1.5}, "done")


def test_a_stage_recorded_many_times_takes_linear_time() -> None:
    """Numbering does not search from the beginning."""
    trace = Trace()
    for _ in range(20_000):
        trace.record("g", np.False_)
    assert trace.stages[-1][0] == "g#20000"


# ---------------------------------------------------------------- metrics

NUMBERS: dict[str, tuple[Any, Any]] = {
    "float": (0.5, 0.5),
    "minus-zero": (-0.0, -0.0),
    "int": (3, 3),
    "large-int": (2**64, {"$int": "18446744073709551616"}),
    "nan": (math.nan, {"$float": "nan"}),
    "nan-payload": (
        struct.unpack(">d", bytes.fromhex("fff8000000000001"))[0],
        {"$float": "nan:fff8000000000001"},
    ),
    "infinity": (-math.inf, {"$float": "-inf"}),
    "float16": (np.float16(0.1), 0.0999755859375),
    "float32": (np.float32(0.1), 0.10000000149011612),
    "float64": (np.float64(0.1), 0.1),
    "int8": (np.int8(-3), -3),
    "uint64": (np.uint64(2**64 - 1), {"$int": "18446744073709551615"}),
    "rank-0": (np.array(2.5, "f4"), 2.5),
    "big-endian": (np.array(2, ">i4"), 2),
}


@pytest.mark.parametrize(("value", "expected"), NUMBERS.values(), ids=NUMBERS.keys())
def test_metrics_are_numbers_in_full(value: Any, expected: Any) -> None:
    """Python and NumPy numbers are noted exactly, as Python's own types."""
    trace = Trace()
    trace.metric("loss", value)
    assert repr(trace.metrics) == repr({"loss": expected})
    assert type(trace.metrics["loss"]) is type(expected)


NO_NUMBERS: dict[str, tuple[Any, str]] = {
    "bool": (True, "bool"),
    "numpy-bool": (np.True_, type(np.True_).__name__),
    "none": (None, "NoneType"),
    "text": ("1", "str"),
    "numpy-text": (np.str_("1"), "str_"),
    "complex": (1j, "complex"),
    "numpy-complex": (np.complex64(1), "complex64"),
    "list": ([1.0], "list"),
    "array": (np.zeros(2), "an array of type float64 and shape (2,)"),
    "one-element": (np.zeros(1), "an array of type float64 and shape (1,)"),
    "no-element": (np.zeros(0), "an array of type float64 and shape (0,)"),
    "rank-0-bool": (np.array(1, "?"), "an array of type bool and shape ()"),
    "masked": (np.ma.masked, "an array of type float64 and shape ()"),
    "date": (np.datetime64(5, "ns"), "datetime64"),
    "duration": (np.timedelta64(5, "ns"), "timedelta64"),
    "rank-0-object": (np.array(1, object), "an array of type object and shape ()"),
}
if np.dtype(np.longdouble).itemsize > 8:
    NO_NUMBERS["longdouble"] = (np.longdouble(1), "longdouble")


@pytest.mark.parametrize(("value", "observed"), NO_NUMBERS.values(), ids=NO_NUMBERS.keys())
def test_a_metric_is_one_number(value: Any, observed: str) -> None:
    """Whatever is no number, or holds more than 64 bits, is refused by its type."""
    trace = Trace()
    assert message(lambda: trace.metric("loss", value)) == (
        f"'loss': expected one number, observed {observed}"
    )
    assert trace.metrics == {}


def test_a_metric_noted_again_is_numbered() -> None:
    """The second of a step is ``loss#2``; a refused one does not count."""
    trace = Trace()
    trace.metric("loss", 1)
    bad: Any = "x"
    assert "'loss#2'" in message(lambda: trace.metric("loss", bad))
    trace.metric("loss", 2)
    trace.metric("accuracy", 3)
    assert trace.metrics == {"loss": 1, "loss#2": 2, "accuracy": 3}


@pytest.mark.parametrize("name", ["", "a#2", "a b", None], ids=repr)
def test_metric_names_are_names(name: Any) -> None:
    """A metric has a name as stages have."""
    assert "is no metric name" in message(lambda: Trace().metric(name, 1))


@pytest.mark.parametrize(
    ("value", "spec", "text"),
    [
        (0.123456, ".4f", "0.1235"),
        (2.5, ".0f", "2"),
        (-0.00001, ".4f", "-0.0000"),
        (3, ".2e", "3.00e+00"),
        (np.float32(0.1), ".9g", "0.100000001"),
        (math.nan, ".4f", "nan"),
        (-math.inf, "8.1f", "    -inf"),
        (10**400, ".4f", "inf"),
        (-(10**400), ".1e", "-inf"),
        (2**53 + 1, ".1f", "9007199254740992.0"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_metric_is_printed_as_a_log_would(value: Any, spec: str, text: str) -> None:
    """Printed text is Python's own formatting of the number."""
    trace = Trace()
    trace.metric("loss", value)
    assert trace.printed({"loss": spec}) == {"loss": text}


def test_only_noted_metrics_are_printed() -> None:
    """A format for a metric that this step did not note prints nothing."""
    trace = Trace()
    trace.metric("loss", 1.0)
    trace.metric("loss", 2.0)
    assert trace.printed({"loss": ".1f", "accuracy": ".1f"}) == {"loss": "1.0"}
    assert trace.printed({}) == {}


# ---------------------------------------------------------------- finish


def test_a_run_goes_on_unless_told() -> None:
    """Without ``finish`` there is no reason; with several the last counts."""
    trace = Trace()
    assert trace.finish_reason is None
    trace.finish("a" * 400)
    trace.finish("patience is at its end — é")
    assert trace.finish_reason == "patience is at its end — é"


@pytest.mark.parametrize(
    "reason",
    ["", "a" * 401, "a\nb", "a\tb", "a\u2028b", "\x1b[31m", "\u202e", "\ud800", None, 1, b"a"],
    ids=ascii,
)
def test_a_reason_is_one_printable_line(reason: Any) -> None:
    """A reason goes into the log and onto terminals: one line, nothing that steers them."""
    trace = Trace()
    problem = message(lambda: trace.finish(reason))
    assert problem.startswith("'finish': expected one line of 1 to 400 characters, observed ")
    assert trace.finish_reason is None


# ---------------------------------------------------------------- the experiment


class _Whole:
    """Has everything that an experiment may have."""

    def __init__(self) -> None:
        self.closed = 0

    def step(self, trace: Trace) -> None:
        trace.finish("at once")

    def state_dict(self) -> Mapping[str, Any]:
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        pass

    def constants(self) -> Mapping[str, Any]:
        return {"x": W}

    def close(self) -> None:
        self.closed += 1


def test_an_experiment_need_not_import_anything() -> None:
    """Any object with the three methods is an experiment, to a type checker too."""
    experiment: Experiment = _Whole()
    trace = Trace()
    experiment.step(trace)
    assert trace.finish_reason == "at once"


def test_constants_and_close_are_called_where_they_are() -> None:
    """The optional methods are used."""
    experiment = _Whole()
    assert constants_of(experiment) == {"x": W}
    close_experiment(experiment)
    assert experiment.closed == 1


class _Bare:
    constants = None
    close = 101.5


def test_constants_and_close_are_optional() -> None:
    """An experiment without them has no constants and nothing to close."""
    for experiment in (object(), _Bare()):
        assert constants_of(experiment) == {}
        close_experiment(experiment)


def test_constants_that_are_no_method_are_an_error() -> None:
    """Constants that would silently stay unrecorded are pointed out."""
    experiment = _Whole()
    experiment.constants = {"x": W}  # type: ignore[assignment, method-assign]
    assert message(lambda: constants_of(experiment)) == (
        "'constants': is an attribute of type dict: expected a method"
    )


class _Delegating:
    def __init__(self) -> None:
        self._inner = _Whole()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def test_methods_may_be_delegated() -> None:
    """A wrapper that hands attributes on is asked like the experiment itself."""
    experiment = _Delegating()
    assert constants_of(experiment) == {"x": W}
    close_experiment(experiment)
    assert experiment._inner.closed == 1
