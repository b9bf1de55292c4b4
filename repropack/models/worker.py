"""What judge and worker say to each other: one job in, one JSON line a message out.

Private to one release, so without published schemas. The judge reads every message with the same
suspicion as a package: through these models, under limits.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from repropack.models.base import (
    Count,
    Digest,
    JsonObject,
    Model,
    Name,
    Number,
    RecordedName,
    RunName,
    StageName,
    StepNumber,
)
from repropack.models.checkpoint import ArrayType
from repropack.models.environment import EnvironmentRecord
from repropack.models.log import Declaration, NamedDigest, Printed, StageDigest
from repropack.models.plan import ExperimentPlan, RecordPlan

KeptFile = Annotated[str, StringConstraints(pattern=r"^(kept|zoom)-[0-9]+\.raw$", max_length=32)]
"""A name in the worker's output folder; no path leads out of it."""

Line = Annotated[str, StringConstraints(max_length=400)]
"""A line in words, as long as a worker makes one."""

FailureReason = Literal["load", "configuration", "state", "dtype", "environment", "step", "command"]


class Job(Model):
    """What a worker is to run. Paths are absolute and private to this run.

    ``copy_folder`` is the clean copy that the run works in: source and inputs of a command, the
    inputs of an entry point. ``start`` is the folder of a complete starting state (``start.npz``,
    ``start.json``) or null for a fresh run. ``trial``: nothing is recorded, one step is made, and
    it is tried whether the first state comes back when it is loaded; the only message is
    ``Finished`` or ``Failed``. After the steps of ``watch_at`` it tells what is reached from the
    experiment, those of ``store_at`` are followed by a checkpoint as well. ``zoom_step``: the step
    whose arrays and states are handed over. ``repeat``: how often the step ``first_step``, the only
    one, is made from the starting state; then there is a ``Repeated`` for each time, and no
    ``Stepped``.
    """

    run: RunName
    source: str
    output: str
    copy_folder: str | None = None
    experiment: ExperimentPlan
    record: RecordPlan
    first_step: StepNumber
    start: str | None = None
    trial: bool = False
    watch_at: tuple[StepNumber, ...] = ()
    store_at: tuple[StepNumber, ...] = ()
    zoom_step: StepNumber | None = None
    repeat: Count = 0


class LoopJob(Model):
    """The job file of a script with its own loop: its job, and where its process finds things.

    ``messages`` is the pipe that it writes to, ``folder`` the clean copy that it works in.
    """

    job: Job
    messages: str
    folder: str


class Ready(Model):
    """The experiment stands at its first state. ``config`` is complete and encoded."""

    kind: Literal["ready"] = "ready"
    config: JsonObject
    config_schema: JsonObject | None
    constants: tuple[NamedDigest, ...]
    state: tuple[NamedDigest, ...]
    environment: EnvironmentRecord


class Stepped(Model):
    """One step was made; members that were not recorded are null."""

    kind: Literal["stepped"] = "stepped"
    step: StepNumber
    stages: tuple[StageDigest, ...] | None
    declarations: tuple[Declaration, ...] | None
    state: tuple[NamedDigest, ...] | None
    metrics: dict[RecordedName, Number]
    printed: dict[RecordedName, Printed]
    finish: Annotated[str, Field(min_length=1, max_length=400)] | None


class KeptStage(Model):
    """A stage kept whole: ``rows`` arrays of one type and shape, raw in ``file``."""

    stage: RecordedName
    file: KeptFile
    dtype: ArrayType
    shape: tuple[Count, ...]
    rows: Count


class Checkpointed(Model):
    """A state was stored in the output folder under ``checkpoint_name(step)``.

    ``kept`` describes the rows of kept stages since the checkpoint before, in files that the
    worker has closed and touches no more.
    """

    kind: Literal["checkpointed"] = "checkpointed"
    step: StepNumber
    kept: tuple[KeptStage, ...] = ()


WatchedKind = Literal[
    "generator", "array", "value", "names", "shared", "file", "iterator", "cache", "opaque"
]
"""What is seen of an object: its state, its value, the names in it, that it is another's, or how
far it has got; of an opaque one nothing but its type."""


class WatchedRow(Model):
    """One object that is reached from an experiment, by its path.

    ``digest`` is of its value; ``shown`` says it in few words, without any address. ``held`` are
    names of the state that hold the same value, ``narrowed`` those that hold it in a type that
    loses some of it. ``origin`` is the path of the object that a ``shared`` one is.
    """

    path: Line
    kind: WatchedKind
    digest: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{0,64}$", max_length=64)]
    shown: Line
    held: tuple[Line, ...] = ()
    narrowed: tuple[Line, ...] = ()
    origin: Line | None = None


class Watched(Model):
    """What is reached from the experiment after ``step``: rows that are new or other than before.

    ``gone`` are paths that are no more; ``left_out`` says what was not looked at, and why.
    """

    kind: Literal["watched"] = "watched"
    step: StepNumber
    rows: tuple[WatchedRow, ...]
    gone: tuple[Line, ...] = ()
    left_out: tuple[Line, ...] = ()


class Zoomed(Model):
    """The step that is looked at was made, and this is what it recorded, one row a stage.

    The states before and after it lie in the output folder as ``zoom-before`` and ``zoom-after``.
    """

    kind: Literal["zoomed"] = "zoomed"
    step: StepNumber
    stages: tuple[KeptStage, ...]


class Repeated(Model):
    """A step was made once more, from the same state; ``state`` is that after it."""

    kind: Literal["repeated"] = "repeated"
    number: Count
    stages: tuple[StageDigest, ...]
    state: tuple[NamedDigest, ...]


class Finished(Model):
    """The run has ended as planned, or by the experiment's own ``finish``.

    ``changed_families`` holds the families of the probe card whose digests are others than at the
    start; null where none are.
    """

    kind: Literal["finished"] = "finished"
    changed_families: dict[Name, Digest] | None = None


class Failed(Model):
    """The run cannot go on. ``reason`` names the kind of error that the judge raises.

    ``name`` is the state value, stage or metric at fault and ``dtype`` its array's type, where it
    is about one; ``step`` the step under way, or the step before the first.
    """

    kind: Literal["failed"] = "failed"
    reason: FailureReason
    name: Line
    message: Line
    hint: Line | None = None
    step: StepNumber = 0
    stage: StageName | None = None
    dtype: Line | None = None


Message = Annotated[
    Ready | Stepped | Checkpointed | Watched | Zoomed | Repeated | Finished | Failed,
    Field(discriminator="kind"),
]
