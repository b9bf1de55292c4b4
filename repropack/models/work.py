"""What a build writes into its work folder, to be continued after an interruption.

Private to one release, so without published schemas. None of it gets into a package.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from repropack.models.base import (
    Count,
    Digest,
    JsonObject,
    Model,
    RecordedName,
    RunName,
    StepNumber,
)
from repropack.models.checkpoint import ArrayType
from repropack.models.environment import EnvironmentRecord
from repropack.models.worker import Ready


class BuildIdentity(Model):
    """What is being built; a build is continued only where all of it is the same.

    ``project`` holds metadata and plan by dotted key, ``sources`` and
    ``inputs`` digests by path,
    ``distributions`` versions by name, ``variables`` those that steer numbers.
    """

    project: dict[str, str]
    sources: dict[str, Digest]
    inputs: dict[str, Digest]
    license: Digest | None
    repropack: Digest
    interpreter: str
    distributions: dict[str, str]
    variables: dict[str, str]


class KeptForm(Model):
    """Type and shape of each row of a kept stage, and its rows taken over so far in ``file``."""

    stage: RecordedName
    file: Annotated[str, Field(pattern=r"^kept-[0-9]+\.raw$")]
    dtype: ArrayType
    shape: tuple[Count, ...]


class RunProgress(Model):
    """A run that has begun: what its first worker said, and after which steps it was continued."""

    ready: Ready
    kept: tuple[KeptForm, ...] = ()
    continued_after: tuple[StepNumber, ...] = ()


class RecordedRun(Model):
    """What a run told besides its files.

    ``config`` is complete and encoded; ``last_step`` is where the run ended; ``continued_after``
    holds the steps after whose checkpoints it was continued, none where it was never interrupted;
    ``not_compared`` what a command wrote and no pattern of outputs matches.
    """

    name: RunName
    first_step: StepNumber
    last_step: StepNumber
    config: JsonObject
    config_schema: JsonObject | None
    environment: EnvironmentRecord
    continued_after: tuple[StepNumber, ...] = ()
    not_compared: tuple[str, ...] = ()


class FinishedRun(Model):
    """The marker of a run that has ended: its files with their digests, by path in a package."""

    run: RecordedRun
    files: dict[str, Digest] = Field(min_length=1)
