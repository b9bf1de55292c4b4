"""One run read from a tree: its log, checkpoints and kept arrays, and what is refused in them."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from repropack._format import log
from repropack._format.archive_writer import ArchiveWriter
from repropack._format.canonical import encode_canonical
from repropack._format.checkpoints import checkpoint_bytes, describe_state
from repropack._format.limits import Limits
from repropack._format.log import CHAIN_START, chain_step, encode_line, read_line
from repropack._format.npz import write_npz
from repropack._format.state import encode_state
from repropack._read.container import open_container
from repropack._read.run import RunReader, read_stored
from repropack.errors import (
    IntegrityError,
    LimitExceededError,
    PackageFormatError,
    SchemaError,
    UsageError,
)
from repropack.models.log import HeaderLine, StartLine
from repropack.models.plan import Plan
from tests.support.logs import digest_of

FOLDER = "runs/reference"
STATE: dict[str, Any] = {"weights": np.arange(3, dtype="<f4"), "rng": {"key": np.uint64([1, 2])}}  # type: ignore[arg-type]
KEPT = {"weights": np.arange(6, dtype="<f4").reshape(2, 3), "flag": np.array([True, False])}


def log_bytes(run: str = "reference", steps: int = 2, stages_every: int = 0) -> bytes:
    header = HeaderLine(run=run, config=digest_of("c"), constants=(), first_step=1, stages=())
    lines = [encode_line(header), encode_line(StartLine(chain=CHAIN_START, state=()))]
    chain = CHAIN_START
    for number in range(1, steps + 1):
        record: dict[str, Any] = {"step": number, "metrics": {}, "printed": {}}
        if stages_every and number % stages_every == 0:
            record["stages"] = []
        line, chain = chain_step(chain, record)
        lines.append(line)
    return b"".join(lines)


def npz(arrays: dict[str, Any]) -> bytes:
    stream = BytesIO()
    write_npz(stream, arrays)
    return stream.getvalue()


def checkpoint(step: int) -> dict[str, bytes]:
    encoded = encode_state(STATE)
    place = f"{FOLDER}/checkpoints/step-{step:09d}"
    return {
        f"{place}.json": checkpoint_bytes(describe_state(encoded), step=step, chain=CHAIN_START),
        f"{place}.npz": npz(dict(encoded.arrays)),
    }


FILES = {
    "manifest.json": b"{}\n",
    f"{FOLDER}/fingerprints.jsonl": log_bytes(),
    f"{FOLDER}/kept.npz": npz(KEPT),
    **checkpoint(0),
    **checkpoint(20),
    "runs/other/fingerprints.jsonl": log_bytes("other", 0),
}


def make_tree(folder: Path, **changes: bytes | None) -> Path:
    for name, content in {**FILES, **changes}.items():
        if content is not None:
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
    return folder


def make_zip(path: Path, *, deflate: bool) -> Path:
    with path.open("wb") as stream:
        writer = ArchiveWriter(stream)
        for name in ("manifest.json", *sorted(set(FILES) - {"manifest.json"})):
            writer.add(name, FILES[name], deflate=deflate)
        writer.finish()
    return path


@pytest.fixture(params=["directory", "stored", "deflated"])
def package(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The tree in each of its forms."""
    if request.param == "directory":
        return make_tree(tmp_path / "tree")
    return make_zip(tmp_path / "tree.zip", deflate=request.param == "deflated")


# ---------------------------------------------------------------- what a run holds


def test_a_run_gives_its_lines(package: Path) -> None:
    """Header and start line are known at once, steps are streamed each time anew."""
    with open_container(package) as container:
        run = RunReader(container, "reference")
        assert (run.header.run, run.start.chain) == ("reference", CHAIN_START)
        assert [line.step for line in run.steps()] == [line.step for line in run.steps()] == [1, 2]
        assert list(RunReader(container, "other").steps()) == []


def test_a_run_gives_its_checkpoints(package: Path) -> None:
    """Every array and component is recomputed while it is read."""
    with open_container(package) as container:
        run = RunReader(container, "reference")
        assert run.checkpoint_steps() == (0, 20)
        document, state = run.checkpoint(20)
        assert document == run.checkpoint_document(20)
        assert (document.step, document.chain) == (20, CHAIN_START)
        assert sorted(state.arrays) == ["rng#1", "weights"]
        assert state.values == {"rng": {"key": {"$array": "rng#1"}}}
        assert state.arrays["weights"].tolist() == [0, 1, 2]


def test_a_run_gives_its_kept_rows(package: Path) -> None:
    """One array a recorded step, of the stage's own shape."""
    with open_container(package) as container:
        run = RunReader(container, "reference")
        assert run.kept_stages() == {"flag": ("|b1", (2,)), "weights": ("<f4", (2, 3))}
        rows = run.kept_rows("weights")
        assert rows is not None
        assert [row.tolist() for row in rows] == [[0, 1, 2], [3, 4, 5]]
        flags = run.kept_rows("flag")
        assert flags is not None
        assert [(row.shape, bool(row)) for row in flags] == [((), True), ((), False)]
        assert run.kept_rows("absent") is None


def test_a_run_is_read_from_any_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of a package may be entered thousands of times: what was read is not read again."""
    steps = 300
    rows = np.arange(steps // 2)
    make_tree(
        tmp_path,
        **{
            f"{FOLDER}/fingerprints.jsonl": log_bytes(steps=steps, stages_every=2),
            f"{FOLDER}/kept.npz": npz({"n": rows}),
        },
    )
    lines = 0

    def counted(*args: Any, **named: Any) -> Any:
        nonlocal lines
        lines += 1
        return read_line(*args, **named)

    monkeypatch.setattr(log, "read_line", counted)
    with open_container(tmp_path) as container:
        fresh, run = RunReader(container, "reference"), RunReader(container, "reference")
        assert len(list(run.steps())) == steps
        for first in (0, 1, 2, 63, 64, 65, 66, 128, 129, 130, 256, 257, 299, 300, 301):
            expected = list(range(max(first, 1), steps + 1))
            for reader in (fresh, run):
                assert [line.step for line in reader.steps(first)] == expected
                kept = reader.kept_rows("n", first)
                assert kept is not None
                assert [int(row) for row in kept] == list(range(max(first - 1, 0) // 2, steps // 2))
        lines = 0
        assert next(run.steps(190)).step == 190
        assert next(run.kept_rows("n", 190) or iter(())) == 94
    assert lines <= 2 * 64


def test_a_run_may_hold_its_log_alone(package: Path) -> None:
    """An identical run stores nothing else."""
    with open_container(package) as container:
        run = RunReader(container, "other")
        assert (run.checkpoint_steps(), run.kept_stages()) == ((), {})
        assert run.kept_rows("weights") is None


# ---------------------------------------------------------------- what is refused


def read_changed(folder: Path, **changes: bytes | None) -> RunReader:
    return RunReader(open_container(make_tree(folder, **changes)), "reference")


def test_a_run_that_is_not_there_is_wrong_use(tmp_path: Path) -> None:
    with (
        open_container(make_tree(tmp_path)) as container,
        pytest.raises(UsageError, match="no run named 'absent'"),
    ):
        RunReader(container, "absent")


def test_a_checkpoint_that_is_not_there_is_wrong_use(tmp_path: Path) -> None:
    """The steps that have one are named."""
    run = read_changed(tmp_path)
    with pytest.raises(UsageError, match="no checkpoint after step 7: expected one of 0, 20"):
        run.checkpoint(7)


def test_a_log_of_another_run_is_refused(tmp_path: Path) -> None:
    """A log says whose it is, so that it cannot be passed off as another's."""
    with pytest.raises(IntegrityError, match="run: expected 'reference', observed 'other'"):
        read_changed(tmp_path, **{f"{FOLDER}/fingerprints.jsonl": log_bytes("other")})


def test_a_broken_chain_is_refused_where_it_breaks(tmp_path: Path) -> None:
    data = log_bytes().replace(b'"step":2', b'"step":3')
    run = read_changed(tmp_path, **{f"{FOLDER}/fingerprints.jsonl": data})
    with pytest.raises(PackageFormatError, match="line 4: expected step 2, observed step 3"):
        list(run.steps())
    start, last = log_bytes().rsplit(b'"metrics":{}', 1)
    data = start + b'"metrics":{"a":1}' + last
    run = read_changed(tmp_path / "b", **{f"{FOLDER}/fingerprints.jsonl": data})
    with pytest.raises(PackageFormatError, match=r"line 4 \(step 2\): the chain is broken"):
        list(run.steps())


def test_a_checkpoint_of_another_step_is_refused(tmp_path: Path) -> None:
    """Path and document must name one step."""
    place = f"{FOLDER}/checkpoints/step-000000020.json"
    other = checkpoint(0)[f"{FOLDER}/checkpoints/step-000000000.json"]
    with pytest.raises(IntegrityError, match="expected step 20, observed 0"):
        read_changed(tmp_path, **{place: other}).checkpoint_document(20)


def test_a_companion_without_its_arrays_is_refused(tmp_path: Path) -> None:
    run = read_changed(tmp_path, **{f"{FOLDER}/checkpoints/step-000000020.npz": None})
    with pytest.raises(IntegrityError, match=r"step-000000020.npz': missing"):
        run.checkpoint(20)


def test_arrays_without_their_companion_are_no_checkpoint(tmp_path: Path) -> None:
    run = read_changed(tmp_path, **{f"{FOLDER}/checkpoints/step-000000020.json": None})
    assert run.checkpoint_steps() == (0,)


def test_kept_arrays_without_rows_are_refused(tmp_path: Path) -> None:
    """A stage of rank 0 has rows of rank 0, so its kept array has rank 1 at least."""
    data = npz({"weights": np.float32(1)})
    run = read_changed(tmp_path, **{f"{FOLDER}/kept.npz": data})
    with pytest.raises(IntegrityError, match="observed rank 0"):
        run.kept_rows("weights")


def test_limits_hold_for_every_part(tmp_path: Path) -> None:
    """What is longer than allowed is refused by the limit's name."""
    tree = make_tree(tmp_path)
    with open_container(tree) as container:
        with pytest.raises(LimitExceededError, match="max_log_line_bytes"):
            RunReader(container, "reference", limits=Limits(max_log_line_bytes=50))
        run = RunReader(container, "reference", limits=Limits(max_document_bytes=400))
        with pytest.raises(LimitExceededError, match="max_document_bytes"):
            run.checkpoint(20)


# ---------------------------------------------------------------- the one spelling of a document

PLAN: Any = {
    "after": [],
    "claims": [],
    "comparisons": [],
    "experiment": {"command": None, "config": {"rate": 0.5}, "entry_point": "a:b",
                   "environment": {}, "import_from": [],
                   "loop": False, "outputs": [], "seed": 1, "steps": 2,
                   "timeout_seconds": None},
    "record": {"checkpoint_every": None, "keep": [], "printed": {}, "stages_every": 1,
               "state_every": 1},
    "notebook": "executed",
    "schema": "repropack/plan/v1",
}  # fmt: skip


def test_a_document_in_its_one_spelling_is_read() -> None:
    plan = read_stored(Plan, encode_canonical(PLAN), where="plan.json")
    assert plan.experiment.config == {"rate": 0.5}


@pytest.mark.parametrize(
    "spelling",
    [
        pytest.param(json.dumps(PLAN, sort_keys=True).encode() + b"\n", id="blanks"),
        pytest.param(encode_canonical(PLAN)[:-1], id="no-newline"),
        pytest.param(encode_canonical(PLAN) + b"\n", id="two-newlines"),
        pytest.param(encode_canonical(PLAN).replace(b"0.5", b"0.50"), id="another-number"),
        pytest.param(encode_canonical(PLAN).replace(b'"a:b"', b'"\\u0061:b"'), id="an-escape"),
        pytest.param(
            encode_canonical({name: PLAN[name] for name in PLAN if name != "comparisons"}),
            id="a-member-left-out",
        ),
    ],
)
def test_another_spelling_of_a_document_is_refused(spelling: bytes) -> None:
    """One document has one digest: what a reader would fill in or reorder is not accepted."""
    with pytest.raises(PackageFormatError, match=r"plan\.json: expected canonical JSON"):
        read_stored(Plan, spelling, where="plan.json")


def test_a_document_that_breaks_its_schema_is_refused() -> None:
    with pytest.raises(SchemaError, match="/record"):
        read_stored(Plan, encode_canonical({**PLAN, "record": []}), where="plan.json")
