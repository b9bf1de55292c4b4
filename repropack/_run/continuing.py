"""What a build notes of its runs, so that it can be continued after any interruption.

A run that has ended has a marker with the digests of its files. One that has not is continued from
its last whole checkpoint: what it had recorded after that is put aside, and each line that is
computed again has to be the one that was recorded before. Nothing here believes a file that was
written before the interruption: it may be torn, or never have reached the disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

from pydantic import ValidationError

from repropack._compare.logs import split
from repropack._format.canonical import decode_strict, encode_canonical
from repropack._format.layout import RUNS, checkpoint_folder, log_path, run_folder
from repropack._format.log import read_line
from repropack._format.state import EncodedState
from repropack._run.durable import replace_document, sync_path, sync_tree
from repropack._run.folders import digest_files
from repropack._run.left_over import LeftOver, find_left_over, put_back, step_of
from repropack._run.workplace import clear_place
from repropack.errors import InexactResumeError, PackageError, UsageError
from repropack.models.base import Model
from repropack.models.environment import EnvironmentRecord
from repropack.models.log import Declaration, StepLine
from repropack.models.work import FinishedRun, KeptForm, RecordedRun, RunProgress
from repropack.models.worker import Ready

PROGRESS, FINISHED, BEFORE = "progress.json", "finished.json", "before.jsonl"
_MAY_DIFFER = frozenset({"thread_pools", "probe_card_at_end"})
"""Members of the record that depend on how far a run is, and not on the machine alone."""
_Model = TypeVar("_Model", bound=Model)


@dataclass
class Continuation:
    """Where a run goes on: after ``step``, with that step's state, ``rows`` recorded so far."""

    name: str
    step: int
    chain: str
    rows: int
    state: EncodedState
    components: tuple[tuple[str, str], ...]
    declared: tuple[Declaration, ...]
    progress: RunProgress
    before: Path
    _lines: Iterator[bytes] | None = None
    _recorded: bytes | None = None

    def check_start(self, observed: Ready) -> None:
        """Hold a continued run's first state against the checkpoint that it was given.

        Args:
            observed: What its worker says before its first step.

        Raises:
            InexactResumeError: state, configuration or constants are others.
            UsageError: it runs in another environment.
        """
        expected = self.progress.ready
        check_environment(expected.environment, observed.environment)
        if encode_canonical(expected.config) != encode_canonical(observed.config):
            raise self._inexact("the configuration differs")
        for what, left, right in (
            ("constant", expected.constants, observed.constants),
            ("component", self.components, observed.state),
        ):
            differing = split(dict(left), dict(right)).differing
            if differing:
                raise self._inexact(f"{what} {differing[0]!r} differs before step {self.step + 1}")

    def check_line(self, step: int, line: bytes) -> None:
        """Hold a line of the log against the one that the interrupted run had recorded.

        Args:
            step: Its step; asked for every step, in order.
            line: As it is stored.

        Raises:
            InexactResumeError: it had recorded another.
        """
        if self._lines is None:
            self._lines = _lines_of(self.before)
            self._recorded = next(self._lines, None)
        recorded = self._recorded
        if recorded is None or step_of(recorded) != step:
            return
        if recorded != line:
            raise self._inexact(
                f"step {step}, {_first_difference(recorded, line)} differs from what was recorded "
                "before the interruption"
            )
        self._recorded = next(self._lines, None)

    def _inexact(self, problem: str) -> InexactResumeError:
        return InexactResumeError(self.name, self.step, problem)


@dataclass(frozen=True)
class RunJournal:
    """Notes of one run, in a folder of its own beside the tree that is recorded.

    Attributes:
        name: The run's name.
        tree: Root below which ``runs/<run>/`` is recorded.
        folder: The run's folder for notes; made where it is missing.
    """

    name: str
    tree: Path
    folder: Path

    def finished(self) -> RecordedRun | None:
        """The run as its marker describes it, where it has ended and all its files are whole.

        Returns:
            What the run told; ``None`` where it has to be run, or run on.
        """
        marker = _read(FinishedRun, self.folder / FINISHED)
        if marker is None or marker.run.name != self.name or marker.files != self._digests():
            (self.folder / FINISHED).unlink(missing_ok=True)
            return None
        return marker.run

    def begin(
        self, keep: tuple[str, ...], last_step: int, *, whole: bool = False
    ) -> Continuation | None:
        """Find where the run goes on, and bring its files to that place.

        Args:
            keep: Stages that are kept whole.
            last_step: The last step planned.
            whole: It cannot go on, whatever is left of it: files that it writes beside its
                steps would be those of a part.

        Returns:
            ``None`` where it begins anew: nothing is left of it then.

        Raises:
            OSError: something cannot be read or written.
        """
        progress = None if whole else _read(RunProgress, self.folder / PROGRESS)
        left = None
        if progress is not None and (self.tree / log_path(self.name)).is_file():
            left = find_left_over(self.tree, self.folder, self.name, progress, keep, last_step)
        if progress is None or left is None:
            clear_place(self.tree / run_folder(self.name))
            clear_place(self.folder)
            self.folder.mkdir(parents=True)
            return None
        progress = progress.model_copy(
            update={"continued_after": (*progress.continued_after, left.step)}
        )
        before = self.folder / BEFORE
        put_back(left, self.tree, self.folder, before)
        self._write(PROGRESS, progress)
        return _continuation(self.name, left, progress, before)

    def note(
        self, ready: Ready, kept: tuple[KeptForm, ...], continued: Continuation | None
    ) -> None:
        """Note what a checkpoint needs beside itself to be continued from.

        Args:
            ready: What the run's first worker said.
            kept: The rows taken over so far.
            continued: Where the run was continued, if it was.

        Raises:
            OSError: it cannot be written.
        """
        after = () if continued is None else continued.progress.continued_after
        for folder in (run_folder(self.name), RUNS, "."):
            sync_path(self.tree / folder)
        self._write(PROGRESS, RunProgress(ready=ready, kept=kept, continued_after=after))
        sync_path(self.folder.parent)

    def finish(self, run: RecordedRun) -> None:
        """Mark the run as ended, once all of it is on the disk.

        Args:
            run: What it told.

        Raises:
            OSError: it cannot be written.
        """
        sync_tree(self.tree / run_folder(self.name))
        self._write(FINISHED, FinishedRun(run=run, files=self._digests()))
        for place in self.folder.iterdir():
            if place.name not in {FINISHED, PROGRESS}:
                clear_place(place)

    def _digests(self) -> dict[str, str]:
        folder = run_folder(self.name)
        found = digest_files(self.tree / folder)
        return {f"{folder}/{path}": digest for path, digest in found.items()}

    def _write(self, name: str, document: Model) -> None:
        replace_document(self.folder / name, encode_canonical(document.model_dump(mode="json")))


def check_environment(expected: EnvironmentRecord, observed: EnvironmentRecord) -> None:
    """Refuse to put runs of two environments into one package.

    Args:
        expected: Of the first worker of the build.
        observed: Of a worker after the interruption.

    Raises:
        UsageError: a member differs that does not follow from the run itself.
    """
    left, right = expected.model_dump(mode="json"), observed.model_dump(mode="json")
    names = [name for name in left if name not in _MAY_DIFFER and left[name] != right[name]]
    if names:
        raise UsageError(
            "the environment is not the one that the build began in: expected the same "
            f"{', '.join(names)}, observed another",
            hint="go back to that environment, or begin again with --discard",
        )


def has_something(work: Path) -> bool:
    """Whether an interrupted build left something to continue from.

    Args:
        work: Its work folder.

    Returns:
        Whether a run has ended, or has a checkpoint after its first state.

    Raises:
        OSError: a folder cannot be read; then it may hold something.
    """
    for name in _names(work / "runs"):
        folder = work / "runs" / name
        if (folder / FINISHED).is_file():
            return True
        stored = _names(work / "recorded" / checkpoint_folder(name))
        if (folder / PROGRESS).is_file() and sum(one.endswith(".json") for one in stored) > 1:
            return True
    return False


def _names(folder: Path) -> list[str]:
    """What lies in a folder; nothing where there is none."""
    try:
        return [place.name for place in folder.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _continuation(name: str, left: LeftOver, progress: RunProgress, before: Path) -> Continuation:
    return Continuation(
        name=name,
        step=left.step,
        chain=left.chain,
        rows=left.rows,
        state=left.state,
        components=left.components,
        declared=left.declared,
        progress=progress,
        before=before,
    )


def _read(model: type[_Model], path: Path) -> _Model | None:
    """Read a note; one that is torn is none, one that cannot be read is an error."""
    try:
        data = path.read_bytes()
        decode_strict(data, where=path.name)
        return model.model_validate_json(data)
    except (FileNotFoundError, ValidationError, PackageError):
        return None


def _lines_of(path: Path) -> Iterator[bytes]:
    stream: BinaryIO
    with path.open("rb") as stream:
        yield from stream


def _first_difference(expected: bytes, observed: bytes) -> str:
    """What differs first in two lines of one step: a stage, a component, or a metric."""
    left = read_line(StepLine, expected, where="the line recorded before")
    right = read_line(StepLine, observed, where="the line recorded now")
    stages = dict(right.stages or ())
    for stage, digest in left.stages or ():
        if stages.get(stage) != digest:
            return f"stage {stage!r}"
    for what, one, other in (
        ("stage", left.stages, right.stages),
        ("component", left.state, right.state),
    ):
        differing = split(dict(one or ()), dict(other or ())).differing
        if differing:
            return f"{what} {differing[0]!r}"
    for name in sorted({*left.metrics, *right.metrics}):
        if left.metrics.get(name) != right.metrics.get(name):
            return f"metric {name!r}"
    return "what it declares or how it ends"
