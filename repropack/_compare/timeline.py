"""What a page shows of each comparison step by step, in memory that does not grow with the run.

Steps lie in columns of equal width: one step each as long as there is room, then two, four, and so
on. It is gathered while outcomes are computed (``outcomes``), from the same walk and the same
measured rows, so that a page cannot show other numbers than the results, and costs no second walk.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from repropack._compare.logs import StepPair, as_stored
from repropack.models.base import Number
from repropack.models.log import HeaderLine, NamedDigest, StartLine, StepLine
from repropack.models.plan import ComparisonPlan

MAX_COLUMNS = 400
"""Most columns of a run."""
MAX_RUNS = 24
"""Most comparisons that are followed step by step."""
MAX_NAMES = 24
"""Most stages, and most components, that are followed in one comparison."""
MAX_METRICS = 4
"""Most printed metrics that are followed in one comparison."""
MAX_PRINTED = 100
"""Most rows of printed values of one metric."""
MAX_FINGERPRINTS = 8_000
"""Most fingerprints of all runs together that are held whole."""


@dataclass(frozen=True)
class Measured:
    """How far the first kept stage parts in one step: in float64, and in units in the last place.

    ``absolute`` is ``None`` where no element differs in value; ``ulp`` 0 for types without any.
    """

    absolute: float | None
    ulp: int


@dataclass(slots=True)
class Cell:
    """The steps of one column.

    ``compared`` counts those at which both runs recorded stages or state, ``differing`` those of
    them that differ in anything. ``first_step`` is the first that does, ``first_name`` the first
    stage that differs there, else a component, ``None`` where only a metric does. ``absolute`` and
    ``ulp`` are the largest, each with the first step that attains it. ``stages`` and
    ``components`` have the names that were recorded; of those, ``differing_names`` differ.
    """

    compared: int = 0
    differing: int = 0
    first_step: int = 0
    first_name: str | None = None
    absolute: float = 0.0
    absolute_step: int = 0
    ulp: int = 0
    ulp_step: int = 0
    names: set[str] = field(default_factory=set)
    differing_names: set[str] = field(default_factory=set)

    def measure(self, step: int, measured: Measured) -> None:
        """Note how far a step parts."""
        if measured.absolute is not None and measured.absolute > self.absolute:
            self.absolute, self.absolute_step = measured.absolute, step
        if measured.ulp > self.ulp:
            self.ulp, self.ulp_step = measured.ulp, step

    def merge(self, later: Cell) -> None:
        """Take over what a cell of later steps has."""
        if not self.differing:
            self.first_step, self.first_name = later.first_step, later.first_name
        self.compared += later.compared
        self.differing += later.differing
        if later.absolute > self.absolute:
            self.absolute, self.absolute_step = later.absolute, later.absolute_step
        if later.ulp > self.ulp:
            self.ulp, self.ulp_step = later.ulp, later.ulp_step
        self.names |= later.names
        self.differing_names |= later.differing_names


@dataclass(frozen=True)
class PrintedRow:
    """One metric at one step: what both print, and what both hold in full."""

    step: int
    reference_printed: str
    run_printed: str
    reference: Number
    run: Number

    @property
    def equal(self) -> bool:
        """Whether the full values are stored alike."""
        return as_stored(self.reference) == as_stored(self.run)


@dataclass
class PrintedRows:
    """Rows of one metric at evenly spaced steps, and at how many steps the full values are equal.

    A row stands for ``width`` steps and is the first of them that has both texts.
    """

    width: int = 1
    compared: int = 0
    equal: int = 0
    rows: dict[int, PrintedRow] = field(default_factory=dict)

    def add(self, row: PrintedRow) -> None:
        """Note one step."""
        self.compared += 1
        self.equal += row.equal
        while (row.step - 1) // self.width >= MAX_PRINTED:
            self.width *= 2
            kept: dict[int, PrintedRow] = {}
            for column, held in self.rows.items():
                kept.setdefault(column // 2, held)
            self.rows = kept
        self.rows.setdefault((row.step - 1) // self.width, row)


@dataclass
class Timeline:
    """One comparison, column by column; ``column k`` holds ``k * width + 1 .. (k + 1) * width``.

    ``stages`` in order of execution and ``components`` as they came, at most ``MAX_NAMES`` each;
    ``names_left_out`` says whether there were more.
    """

    run: str
    resume_at: int | None
    subject: str | None
    width: int = 1
    last_step: int = 0
    chain: str | None = None
    cells: dict[int, Cell] = field(default_factory=dict)
    stages: dict[str, None] = field(default_factory=dict)
    components: dict[str, None] = field(default_factory=dict)
    names_left_out: bool = False
    printed: dict[str, PrintedRows] = field(default_factory=dict)

    def add(self, pair: StepPair, measured: Measured | None) -> None:
        """Note one step that both runs have.

        Args:
            pair: The step, after it was compared.
            measured: How far the first kept stage parts; ``None`` where it was not measured.
        """
        left, right = pair.left, pair.right
        self.last_step, self.chain = right.step, right.chain
        for name in left.printed.keys() & right.printed.keys():
            self._add_printed(name, left, right)
        cell = self._cell(left.step)
        both_stages = left.stages is not None and right.stages is not None
        if not both_stages and pair.state is None:
            return
        cell.compared += 1
        if both_stages:
            self._note(cell, self.stages, _names(left, right))
        if pair.state is not None:
            self._note(cell, self.components, (*pair.state.equal, *pair.state.differing))
        if left.chain == right.chain or not _differs(pair):
            return
        self._add_difference(cell, pair)
        if measured is not None:
            cell.measure(left.step, measured)

    def widen(self, width: int) -> None:
        """Merge columns until each holds ``width`` steps, a power of two."""
        while self.width < width:
            self.width *= 2
            merged: dict[int, Cell] = {}
            for column in sorted(self.cells):
                merged.setdefault(column // 2, Cell()).merge(self.cells[column])
            self.cells = merged

    def _cell(self, step: int) -> Cell:
        if (step - 1) // self.width >= MAX_COLUMNS:
            self.widen(width_for(step))
        column = (step - 1) // self.width
        cell = self.cells.get(column)
        if cell is None:
            cell = self.cells[column] = Cell()
        return cell

    def _note(self, cell: Cell, known: dict[str, None], names: Iterable[str]) -> None:
        for name in names:
            if name not in known:
                if len(known) >= MAX_NAMES:
                    self.names_left_out = True
                    continue
                known[name] = None
            # a component may have a stage's name
            cell.names.add(name if known is self.stages else f"state:{name}")

    def _add_difference(self, cell: Cell, pair: StepPair) -> None:
        components = pair.state.differing if pair.state is not None else ()
        if not cell.differing:
            cell.first_step = pair.left.step
            stages = _names(pair.left, pair.right)
            first = (name for name in stages if name in pair.differing_stages)
            cell.first_name = next(first, f"state:{components[0]}" if components else None)
        cell.differing += 1
        cell.differing_names |= pair.differing_stages & self.stages.keys()
        cell.differing_names |= {f"state:{name}" for name in components if name in self.components}

    def _add_printed(self, name: str, left: StepLine, right: StepLine) -> None:
        rows = self.printed.get(name)
        if rows is None:
            if len(self.printed) >= MAX_METRICS:
                return
            rows = self.printed[name] = PrintedRows()
        texts = left.printed[name], right.printed[name]
        rows.add(PrintedRow(left.step, *texts, left.metrics[name], right.metrics[name]))


@dataclass
class Fingerprints:
    """Every fingerprint of runs whose steps all record the same names, while they are few."""

    stages: tuple[str, ...] = ()
    components: tuple[str, ...] = ()
    rows: dict[str, bytearray] = field(default_factory=dict)
    whole: bool = True
    _count: int = 0

    def add(self, run: str, line: StepLine) -> None:
        """Note one line; one of other names, or one too many, ends it all."""
        if not self.whole:
            return
        stages = tuple(name for name, _ in line.stages or ())
        components = tuple(name for name, _ in line.state or ())
        if not self.rows:
            self.stages, self.components = stages, components
        self._count += len(stages) + len(components)
        same = (stages, components) == (self.stages, self.components)
        self.whole = same and self._count <= MAX_FINGERPRINTS
        row = self.rows.setdefault(run, bytearray())
        for _, digest in (*(line.stages or ()), *(line.state or ())):
            row += bytes.fromhex(digest.removeprefix("sha256:"))


@dataclass
class Timelines:
    """All comparisons of a package, followed while their outcomes are computed.

    Args:
        keep_fingerprints: Whether fingerprints are held whole, while they are few.
    """

    keep_fingerprints: bool = False
    runs: list[Timeline] = field(default_factory=list)
    left_out: int = 0
    fingerprints: Fingerprints = field(default_factory=Fingerprints)
    constants: tuple[NamedDigest, ...] = ()
    starts: dict[str, tuple[str, tuple[NamedDigest, ...]]] = field(default_factory=dict)

    def begin(self, comparison: ComparisonPlan, keep: tuple[str, ...]) -> Timeline | None:
        """Begin to follow one comparison; ``None`` where there are too many."""
        if len(self.runs) >= MAX_RUNS:
            self.left_out += 1
            return None
        subject = keep[0] if keep else None
        self.runs.append(Timeline(comparison.name, comparison.resume_at, subject))
        return self.runs[-1]

    def add_start(self, run: str, header: HeaderLine, start: StartLine) -> None:
        """Note with what a run begins, where its fingerprints are asked for."""
        if self.keep_fingerprints:
            self.constants = self.constants or header.constants
            self.starts[run] = (start.chain, start.state)

    def add_line(self, run: str, line: StepLine) -> None:
        """Note one line of a run, for its fingerprints."""
        if self.keep_fingerprints:
            self.fingerprints.add(run, line)

    def ended(self, last_step: int) -> int:
        """Bring all comparisons to columns of one width.

        Args:
            last_step: The reference's last step.

        Returns:
            The width, in steps.
        """
        width = width_for(max([1, last_step, *(run.last_step for run in self.runs)]))
        for run in self.runs:
            run.widen(width)
        return width


def width_for(last_step: int) -> int:
    """Steps of a column, a power of two, so that ``last_step`` is in one of the columns."""
    width = 1
    while (last_step - 1) // width >= MAX_COLUMNS:
        width *= 2
    return width


def _names(left: StepLine, right: StepLine) -> dict[str, None]:
    """Stages of both lines, in the order of the left."""
    return dict.fromkeys(name for name, _ in (*(left.stages or ()), *(right.stages or ())))


def _differs(pair: StepPair) -> bool:
    """Whether anything that both recorded of a step differs."""
    if pair.differing_stages or (pair.state is not None and pair.state.differing):
        return True
    left, right = pair.left, pair.right
    return _told(left) != _told(right)


def _told(line: StepLine) -> str:
    names = [name for name, _ in line.stages or ()]
    return as_stored(line.metrics, line.printed, line.finish, names)
