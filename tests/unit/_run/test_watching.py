"""What a watcher sees of an experiment, and what it must not do to it."""

from __future__ import annotations

import importlib.util
import itertools
import random
import re
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from repropack._format.state import encode_state
from repropack._run import watching
from repropack._run.watching import Watcher
from repropack.models.plan import ExperimentPlan, RecordPlan
from repropack.models.worker import Job, Watched, WatchedRow


class Plain:
    """An object with attributes."""

    def __init__(self, **members: Any) -> None:
        self.__dict__.update(members)


def watcher_of(folder: Path) -> Watcher:
    job = Job(
        run="reference",
        source=str(folder),
        output=str(folder),
        experiment=ExperimentPlan(entry_point="lab:Lab", seed=1, steps=1),
        record=RecordPlan(),
        first_step=1,
    )
    return Watcher(job, folder)


def look(
    folder: Path, experiment: object, state: Mapping[str, Any] | None = None
) -> dict[str, WatchedRow]:
    """All rows of one look, those of the process's generators left out."""
    watcher = watcher_of(folder)
    watcher.state = encode_state(state or {})
    rows = {row.path: row for row in watcher.look(experiment, 0).rows}
    return {path: row for path, row in rows.items() if path.startswith("self") or "lab." in path}


def changed(folder: Path, experiment: object, change: Any) -> list[str]:
    """Paths that are other after a change."""
    watcher = watcher_of(folder)
    watcher.look(experiment, 0)
    change()
    message = watcher.look(experiment, 1)
    return [*(row.path for row in message.rows), *(f"-{path}" for path in message.gone)]


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Any]:
    """Import a source text as a module ``lab`` of the author's own."""
    made: list[str] = []

    def load(text: str) -> ModuleType:
        file = tmp_path / "lab.py"
        file.write_text(dedent(text), "utf-8")
        spec = importlib.util.spec_from_file_location("lab", file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["lab"] = module
        made.append("lab")
        spec.loader.exec_module(module)
        return module

    yield load
    for name in made:
        sys.modules.pop(name, None)


def test_values_are_seen_by_the_path_an_author_would_write(tmp_path: Path):
    """Attributes, keys and places; a list of numbers is one value."""
    rows = look(
        tmp_path,
        Plain(
            count=3,
            names=["a", "b"],
            table={"lr": 0.5, 7: None},
            mixed=[np.zeros(2), {"deep": 1}],
            pair=(1, np.float32(2.0)),
        ),
    )
    assert {path: (row.kind, row.shown) for path, row in rows.items()} == {
        "self.count": ("value", "3"),
        "self.names": ("value", "['a', 'b']"),
        "self.table": ("names", "2 names"),
        "self.mixed": ("value", "list of 2"),
        "self.pair": ("value", "tuple of 2"),
        "self.table['lr']": ("value", "0.5"),
        "self.table[7]": ("value", "None"),
    }


def test_parts_of_objects_in_containers_are_seen(tmp_path: Path):
    """A list that holds an object is looked at item by item, and so are its kin."""
    part = Plain(value=1)
    rows = look(
        tmp_path,
        Plain(
            listed=[part],
            queue=deque([Plain(value=2)]),
            tuple=(Plain(value=3),),
            ordered=OrderedDict(x=Plain(value=4)),
            default=defaultdict(list, x=[Plain(value=5)]),
            objects=np.array([Plain(value=6)], dtype=object),
        ),
    )
    assert {path: row.shown for path, row in rows.items() if row.kind == "value"} == {
        "self.listed[0].value": "1",
        "self.queue[0].value": "2",
        "self.tuple[0].value": "3",
        "self.ordered['x'].value": "4",
        "self.default['x'][0].value": "5",
        "self.objects.flat[0].value": "6",
    }


def test_slots_are_seen(tmp_path: Path):
    """Of the class and its bases; one without a value is left out."""

    class Base:
        __slots__ = ("first",)

    class Derived(Base):
        __slots__ = ("second", "third")

    value: Any = Derived()
    value.first, value.second = 1, 2
    rows = look(tmp_path, value)
    assert {path: row.shown for path, row in rows.items()} == {
        "self.second": "2",
        "self.first": "1",
    }


@pytest.mark.parametrize(
    "value",
    [
        random.Random(3),
        np.random.default_rng(3),
        np.random.PCG64(3),
        np.random.RandomState(3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_draw_changes_a_generator_and_nothing_else(tmp_path: Path, value: Any):
    """Looking draws nothing; a draw shows at the generator's own path."""
    experiment = Plain(rng=value, other=1)
    draw = value.random_raw if hasattr(value, "random_raw") else value.random
    assert changed(tmp_path, experiment, lambda: None) == []
    assert changed(tmp_path, experiment, draw) == ["self.rng"]
    assert look(tmp_path, experiment)["self.rng"].kind == "generator"


def test_the_generators_of_the_process_are_seen(tmp_path: Path):
    """A draw from ``random`` or ``numpy.random`` shows under their names."""
    assert changed(tmp_path, Plain(), random.random) == ["random"]
    assert changed(tmp_path, Plain(), np.random.random) == ["numpy.random"]


HELD: Mapping[str, tuple[Any, Any]] = {
    "number": (4, 4),
    "array": (np.arange(3.0), np.arange(3.0)),
    "array-as-list": (np.arange(3.0), [0.0, 1.0, 2.0]),
    "other-shape": (np.arange(1, 5).reshape(2, 2), np.arange(1, 5)),
    "wider-type": (np.arange(1, 5, dtype="<i4"), np.arange(1, 5, dtype="<i8")),
    "list-of-tuples": ([(1, 2), (3, 4)], [[1, 2], [3, 4]]),
    "deque": (deque([1, 2]), [1, 2]),
    "dict": ({"b": 1, "a": [2]}, {"a": [2], "b": 1}),
    "numpy-number": (np.int64(4), 4),
    "numpy-generator": (
        np.random.default_rng(3),
        np.random.default_rng(3).bit_generator.state,
    ),
    "random": (random.Random(3), [3, list(random.Random(3).getstate()[1]), None]),
    "random-state": (
        np.random.RandomState(3),
        np.random.RandomState(3).get_state(legacy=False),
    ),
}


@pytest.mark.parametrize("case", HELD, ids=str)
def test_a_value_that_the_state_holds_is_known_by_its_name(tmp_path: Path, case: str):
    """In whatever usual form; another value is not."""
    value, stored = HELD[case]
    row = look(tmp_path, Plain(value=value), {"part.x": stored})["self.value"]
    assert (row.held, row.narrowed) == (("part.x",), ())
    row = look(tmp_path, Plain(value=value), {"part.x": 99})["self.value"]
    assert row.held == ()


def test_a_part_of_a_value_of_the_state_is_known(tmp_path: Path):
    """A name in a nested value is given by its place in it."""
    rows = look(tmp_path, Plain(cursor=17), {"loader": {"inner": {"cursor": 17}}})
    assert rows["self.cursor"].held == ("loader/inner/cursor",)


def test_a_narrowed_array_is_told_from_one_that_is_held(tmp_path: Path):
    """Float32 kept as float16 loses something, unless every value fits."""
    thirds, halves = np.arange(4, dtype="<f4") / 3, np.arange(4, dtype="<f4") / 2
    rows = look(
        tmp_path,
        Plain(thirds=thirds, halves=halves),
        {"t": thirds.astype("<f2"), "h": halves.astype("<f2")},
    )
    assert (rows["self.thirds"].held, rows["self.thirds"].narrowed) == ((), ("t",))
    assert (rows["self.halves"].held, rows["self.halves"].narrowed) == (("h",), ())


def test_a_number_in_another_type_is_another_and_held_all_the_same(tmp_path: Path):
    """0.75 as float32 and as float64 are one value in a state, and two for a step."""
    rows = look(tmp_path, Plain(rate=np.float32(0.75)), {"rate": 0.75})
    other = look(tmp_path, Plain(rate=np.float64(0.75)), {"rate": 0.75})
    assert rows["self.rate"].held == other["self.rate"].held == ("rate",)
    assert rows["self.rate"].digest != other["self.rate"].digest
    assert rows["self.rate"].shown == "0.75 (numpy.float32)"


def test_two_names_of_one_object_are_told(tmp_path: Path):
    """Of an array, of a view of its memory, of a list and of an object; never of a number."""
    array, items, part = np.zeros(4), [1, 2], Plain(x=1)
    rows = look(
        tmp_path,
        Plain(a=array, b=array, view=array[1:], items=items, again=items, p=part, q=part, m=5, n=5),
    )
    assert {path: row.origin for path, row in rows.items() if row.kind == "shared"} == {
        "self.b": "self.a",
        "self.view": "self.a",
        "self.again": "self.items",
        "self.q": "self.p",
    }


def test_a_cycle_ends(tmp_path: Path):
    """An object that leads to itself is visited once."""
    first, second = Plain(x=1), Plain(y=2)
    first.second, second.first = second, first  # type: ignore[attr-defined]
    rows = look(tmp_path, first)
    assert rows["self.second.first"].origin == "self"
    assert list(rows) == ["self.x", "self.second.y", "self.second.first"]


def test_iterators_are_seen_by_how_far_they_are(tmp_path: Path):
    """A list's by the items left, a count by its number; zip and its kin by what they go over."""
    listed, counted, zipped = iter([1, 2, 3]), itertools.count(5), zip([1, 2], "ab", strict=True)
    experiment = Plain(listed=listed, counted=counted, zipped=zipped, cycled=itertools.cycle([1]))
    rows = look(tmp_path, experiment)
    assert rows["self.listed"].shown == "list_iterator with 3 items left"
    assert rows["self.counted"].shown == "count(5)"
    assert {path for path, row in rows.items() if row.kind == "opaque"} == {
        "self.zipped",
        "self.cycled",
    }
    assert changed(tmp_path, experiment, lambda: next(listed)) == ["self.listed"]
    assert changed(tmp_path, experiment, lambda: next(counted)) == ["self.counted"]
    assert "self.zipped.<1>" in changed(tmp_path, experiment, lambda: next(zipped))


def test_functions_classes_and_modules_of_the_source_are_seen(tmp_path: Path, lab: Any):
    """Closures, defaults, function attributes, class attributes, globals, generators, caches."""
    module = lab(
        """
        import functools
        import numpy as np

        calls = 0
        SEEN = {}

        def make():
            inner = 10
            def bump():
                nonlocal inner
                inner += 1
                return inner
            return bump

        def note(value, seen=[]):
            seen.append(value)

        def counted():
            counted.calls += 1
        counted.calls = 0

        @functools.lru_cache
        def square(x):
            return x * x

        class Lab:
            made = 0
            def __init__(self):
                self.bump = make()
                self.items = self.go()
            def go(self):
                place = 0
                while True:
                    place += 1
                    yield place
            @classmethod
            def make(cls):
                cls.made += 1

        def advance():
            global calls
            calls += 1
        """
    )
    experiment = module.Lab()
    next(experiment.items)
    for change, expected in (
        (experiment.bump, ["self.bump.<inner>"]),
        (lambda: module.note(1), ["lab.note.__defaults__[0]"]),
        (module.counted, ["lab.counted.calls"]),
        (lambda: module.square(3), ["lab.square"]),
        (module.Lab.make, ["lab.Lab.made"]),
        (module.advance, ["lab.calls"]),
        (lambda: next(experiment.items), ["self.items.<place>"]),
    ):
        assert changed(tmp_path, experiment, change) == expected
    assert look(tmp_path, experiment)["lab.square"].kind == "cache"


def test_code_of_libraries_is_not_looked_into(tmp_path: Path):
    """A function or class that is not of the source leads nowhere."""
    rows = look(tmp_path, Plain(function=look, kind=Plain, partial=partial(max, 3), module=np))
    assert list(rows) == ["self.partial.args", "self.partial.keywords"]


def test_no_method_of_the_experiment_is_called(tmp_path: Path):
    """Attributes, comparisons, hashes, lengths, iteration, and what a class says of itself."""

    def refuse(*_: object) -> Any:
        raise AssertionError

    methods = [
        "__getattr__",
        "__getattribute__",
        "__eq__",
        "__hash__",
        "__len__",
        "__iter__",
        "__getitem__",
        "__repr__",
        "__str__",
        "__bool__",
        "__contains__",
        "__reduce__",
        "__reduce_ex__",
        "__sizeof__",
        "__dir__",
        "__int__",
        "__float__",
        "__index__",
        "__array__",
    ]
    hostile: dict[str, Any] = dict.fromkeys(methods, refuse)
    hostile["__class__"] = property(refuse)
    kinds: list[Any] = [
        type("Hostile", (base,), hostile) for base in (object, dict, list, set, int, str)
    ]
    values = [object.__new__(kinds[0]), *(base.__new__(base) for base in kinds[1:])]
    object.__getattribute__(values[0], "__dict__")["inner"] = 4
    dict.__setitem__(values[1], "key", 1)
    list.append(values[2], 2)
    rows = look(tmp_path, Plain(**{f"v{k}": value for k, value in enumerate(values)}))
    assert rows["self.v0.inner"].shown == "4"
    assert rows["self.v1['key']"].shown == "1"
    assert rows["self.v2"].kind == "value"


def test_a_metaclass_is_not_called(tmp_path: Path):
    """Neither for names nor for bases."""

    class Meta(type):
        def __getattribute__(cls, name: str) -> Any:
            raise AssertionError(name)

    value = type.__call__(Meta("Odd", (), {}))
    object.__setattr__(value, "x", 7)
    assert look(tmp_path, Plain(odd=value))["self.odd.x"].shown == "7"


def test_a_class_that_refuses_to_be_compared_does_not_end_the_run(tmp_path: Path):
    """Nor does an array whose class refuses every attribute; each is told of or seen."""

    class Meta(type):
        def __eq__(cls, other: object) -> bool:
            raise AssertionError

        __hash__ = type.__hash__

    class Array(np.ndarray[Any, Any]):
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(name)

    rows = look(tmp_path, Plain(odd=Meta("Odd", (), {})(), array=np.zeros(2).view(Array)))
    assert rows["self.odd"].kind == "opaque"
    assert (rows["self.array"].kind, rows["self.array"].shown) == ("array", "<f8 [2]: 0.0, 0.0")


def test_no_address_is_shown(tmp_path: Path):
    """Objects are shown by their type, keys that are objects by their place."""
    experiment = Plain(
        objects={Plain(): 1, "x": Plain(y=object())}, lock=itertools.tee([1])[0], bound=Plain
    )
    message = watcher_of(tmp_path).look(experiment, 0).model_dump_json()
    assert not re.search(r"0x[0-9a-f]{6,}", message)
    assert "self.objects[key 1]" in message


def test_looks_are_bounded_and_say_what_they_leave_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Objects, depth and bytes."""
    deep = Plain(x=1)
    for _ in range(40):
        deep = Plain(inner=deep)
    watcher = watcher_of(tmp_path)
    assert "deeper than 30" in watcher.look(deep, 0).left_out[0]
    monkeypatch.setattr(watching, "MAX_ARRAY_BYTES", 100)
    message = watcher_of(tmp_path).look(Plain(big=np.zeros(100), small=np.zeros(2)), 0)
    assert "self.big: larger than is looked at (numpy.ndarray)" in message.left_out
    monkeypatch.setattr(watching, "MAX_OBJECTS", 10)
    message = watcher_of(tmp_path).look([Plain(x=k) for k in range(50)], 0)
    assert "more than 10 objects" in message.left_out[-1]


def test_only_what_changed_is_told(tmp_path: Path):
    """New rows, other rows, and paths that are gone."""
    experiment = Plain(count=1, fixed=2, seen={})
    watcher = watcher_of(tmp_path)
    assert isinstance(watcher.look(experiment, 0), Watched)

    def change() -> None:
        experiment.count = 5  # type: ignore[attr-defined]
        experiment.seen["a"] = 1  # type: ignore[attr-defined]
        del experiment.fixed  # type: ignore[attr-defined]

    change()
    message = watcher.look(experiment, 1)
    assert [row.path for row in message.rows] == ["self.count", "self.seen", "self.seen['a']"]
    assert message.gone == ("self.fixed",)


def test_an_open_file_is_seen_by_its_position(tmp_path: Path):
    """Reading on changes it; the file itself is left as it is."""
    (tmp_path / "data.txt").write_text("one\ntwo\nthree\n" * 9999, "utf-8")
    with (tmp_path / "data.txt").open("rb") as stream:
        experiment = Plain(stream=stream)
        assert look(tmp_path, experiment)["self.stream"].shown == "file at position 0"
        assert changed(tmp_path, experiment, lambda: stream.read(4)) == ["self.stream"]
        assert stream.read(3) == b"two"
    assert look(tmp_path, experiment)["self.stream"].shown == "a closed file"


def test_a_name_like_its_own_is_kept_of_many_that_hold_a_value(tmp_path: Path):
    """Forty counters are equal; the one that is meant is among those that are told."""
    state = {f"counter-{k:02}": 3 for k in range(40)} | {"x.made": 3}
    (held,) = (row.held for row in look(tmp_path, Plain(made=3), state).values())
    assert "x.made" in held
    assert len(held) == 12


def test_long_paths_are_cut_and_told(tmp_path: Path):
    """Whatever the names, a row can be sent."""
    part = Plain(x=1)
    rows = look(tmp_path, Plain(**{"n" * 500: part, "m" * 500: part, "\udc80": 1}))
    assert sorted(map(len, rows)) == [11, 400, 400]
    assert [len(row.origin or "") for row in rows.values()] == [400, 0, 0]


def test_many_small_arrays_fit_into_one_look(tmp_path: Path):
    """What is also compared as a list takes nothing of what is looked at."""
    watcher = watcher_of(tmp_path)
    message = watcher.look(Plain(arrays=[Plain(a=np.ones(500)) for _ in range(2500)]), 0)
    assert message.left_out == ("self.arrays: 500 of its parts",)
    assert sum(row.kind == "array" for row in message.rows) == 2000


def test_a_look_keeps_no_reference_to_an_array_of_a_function(tmp_path: Path, lab: Any):
    """Not even by the frame of a loop: an array that is referenced cannot be resized in place."""
    module = lab(
        """
        import sys

        import numpy as np

        def items():
            buffer = np.zeros(2)
            while True:
                yield sys.getrefcount(buffer)
        """
    )
    experiment = Plain(items=module.items())
    before = next(experiment.items)  # type: ignore[attr-defined]
    rows = look(tmp_path, experiment)
    assert rows["self.items.<buffer>"].shown == "<f8 [2]: 0.0, 0.0"
    assert next(experiment.items) == before  # type: ignore[attr-defined]


class FakeTensor:
    """What the watcher asks of a tensor of torch."""

    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def is_leaf(self) -> bool:
        return bool(self.array.size < 3)

    @property
    def grad(self) -> FakeTensor | None:
        return FakeTensor(np.zeros(9)) if self.array.size > 1 else None

    def detach(self) -> FakeTensor:
        return self

    def cpu(self) -> FakeTensor:
        return self

    def contiguous(self) -> FakeTensor:
        return self

    def numel(self) -> int:
        return int(self.array.size)

    def element_size(self) -> int:
        return int(self.array.itemsize)

    def numpy(self) -> Any:
        return self.array


class FakeGenerator:
    """What the watcher asks of a generator of torch."""

    def __init__(self) -> None:
        self.state = np.zeros(4, np.uint8)

    def get_state(self) -> FakeTensor:
        return FakeTensor(self.state)


def test_tensors_their_gradients_and_generators_of_torch_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """As arrays by their elements; its global generator under its name."""
    torch = ModuleType("torch")
    generator = FakeGenerator()
    torch.__dict__.update(Tensor=FakeTensor, Generator=FakeGenerator, default_generator=generator)
    monkeypatch.setitem(sys.modules, "torch", torch)
    weights, one = FakeTensor(np.arange(2.0)), FakeTensor(np.ones(1))
    experiment = Plain(weights=weights, one=one, rng=FakeGenerator())
    rows = look(tmp_path, experiment, {"model.w": np.arange(2.0)})
    assert {path: (row.kind, row.held) for path, row in rows.items()} == {
        "self.weights": ("array", ("model.w",)),
        "self.one": ("array", ()),
        "self.rng": ("generator", ()),
        "self.weights.grad": ("array", ()),
    }

    def draw() -> None:
        generator.state = generator.state + np.uint8(1)

    assert changed(tmp_path, experiment, draw) == ["torch"]
