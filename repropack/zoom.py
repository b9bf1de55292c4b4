"""Look at the elements of the step at which two runs part, and repeat that step.

What a package stores is read first; only where that is not enough its code runs, confined as
``verify`` confines it, and after everything in it was checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy.typing as npt

from repropack._checking import check_intact
from repropack._compare.logs import STATE_PREFIX
from repropack._compare.patterns import difference_with_zoom, packages_with_zoom
from repropack._compare.zoomed import StepArrays, Wanted
from repropack._format.layout import REFERENCE_RUN
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.paths import shown_path
from repropack._format.state import component_of
from repropack._read.package import Package, open_package
from repropack._read.sides import Side, read_side
from repropack._repeating import repeat_apart
from repropack._run.chosen_sources import check_source_names
from repropack._run.confinement.consent import (
    BY_DEFAULT,
    ConfinementReason,
    Consent,
    confine,
    require_unseen,
)
from repropack._run.distributions import check_own_name
from repropack._run.execute import Launcher, OnStep
from repropack._run.folders import new_folder, remove_tree
from repropack._run.materials import unpack_materials
from repropack._zooming import Found, Source, without, zoom_into
from repropack.errors import CouldNotRunError, ExperimentError, UsageError
from repropack.models.package_difference import PackageDifference
from repropack.models.results import Divergence
from repropack.models.run_difference import RunDifference
from repropack.models.zoom import RanCode, Repetition, SandboxLevel, Zoom, ZoomSideName

Arrays = Mapping[str, npt.NDArray[Any]]
MAX_REPEATS = 1000
_Difference = TypeVar("_Difference", RunDifference, PackageDifference)


@dataclass(frozen=True)
class ZoomOptions:
    """What is looked at, and what the packages' code is allowed.

    Attributes:
        keep: The arrays of both sides are wanted, with those that they were made of.
        repeat: How often the step is repeated under each variation; 0: not at all.
        consent: How the code of the packages may run. ``trust`` is not used here.
        trust: Digests of the packages whose code may run unconfined; each speaks for its package
            alone, and another one's foreign code is confined beside it.
        inputs: Where inputs lie that the packages hold by reference, by their path there.
        on_step: Called after each step of a replay.
        limits: Limits on reading.
    """

    keep: bool = False
    repeat: int = 0
    consent: Consent = BY_DEFAULT
    trust: frozenset[str] = frozenset()
    inputs: Mapping[str, str | Path] = field(default_factory=dict)
    on_step: OnStep | None = None
    limits: Limits = DEFAULT_LIMITS


BY_DEFAULT_OPTIONS = ZoomOptions()


def zoom_difference(
    difference: _Difference,
    left: str | Path,
    right: str | Path,
    options: ZoomOptions = BY_DEFAULT_OPTIONS,
) -> tuple[_Difference, Arrays]:
    """Add the elements of the step at which two runs part to what is known of them.

    Args:
        difference: What ``diff_runs`` found of two runs, or ``diff_packages`` of two packages,
            whose references are meant.
        left: What is expected, as it was given to them.
        right: What is held against it.
        options: What is looked at, and what is allowed.

    Returns:
        The difference with its zoom, and with the patterns that follow from both; as it is where
        the runs do not part. And the arrays, as ``zoom_runs`` gives them.

    Raises:
        RepropackError: as ``zoom_runs`` raises it.
    """
    if isinstance(difference, PackageDifference):
        results = difference.results
        divergence = None if results is None else results.reference.divergence
    else:
        divergence = difference.divergence
    if divergence is None:
        return difference, {}
    zoom, arrays = zoom_runs(left, right, divergence, options)
    if isinstance(difference, PackageDifference):
        return packages_with_zoom(difference, zoom), arrays
    return difference_with_zoom(difference, zoom), arrays


def zoom_runs(
    left: str | Path,
    right: str | Path,
    divergence: Divergence,
    options: ZoomOptions = BY_DEFAULT_OPTIONS,
) -> tuple[Zoom, Arrays]:
    """Look at the elements of the step at which two runs part.

    Args:
        left: What is expected: ``PACKAGE::runs/NAME``, or a package, whose reference is meant. Of
            a log without its package no array is known.
        right: What is held against it.
        divergence: Where they part, as ``diff_runs`` found it.
        options: What is looked at, and what is allowed.

    Returns:
        The elements, or why there are none; and, where they are to be kept, the arrays of both
        sides: ``left.<stage>``, ``left.before.<name>`` and ``left.after.<name>`` of the states
        before and after the step, and ``right...`` alike.

    Raises:
        UsageError: no such path or run; or a trusted digest is neither package's.
        IntegrityError: a package is damaged; holds every fault. Nothing of it was executed.
        ConfinementUnavailableError: its code is foreign, and nothing is there to confine it.
        CouldNotRunError: a replay ended without an answer.
        ExperimentError: the experiment failed in a replay.
    """
    if not 0 <= options.repeat <= MAX_REPEATS:
        raise UsageError(f"repeat: expected 0 to {MAX_REPEATS}, observed {options.repeat}")
    sides = read_side(left), read_side(right)
    for side in sides:
        if side.kind not in {"package", "run"}:
            path = shown_path(side.path)
            return without(
                divergence, f"{path} is a log without its package: no array is known"
            ), {}
    with ExitStack() as stack:
        scratch = new_folder("repropack-zoom-")
        stack.callback(remove_tree, scratch)
        opened: dict[Path, _Opened] = {}
        pair = [_open(side, options, opened, scratch, stack) for side in sides]
        unknown = options.trust - {one.package.package_digest for one in pair}
        if unknown:
            raise UsageError(
                f"trusted package: expected one of the two, observed {min(unknown)}",
                hint="compare the digest with the one that its author published",
            )
        folder = scratch / "replays"
        folder.mkdir()
        sources = [one.source(side) for one, side in zip(pair, sides, strict=True)]
        whole = options.keep or options.repeat > 0
        found = zoom_into(divergence, sources[0], sources[1], folder, stack, whole=whole)
        zoom = found.zoom
        if options.repeat:
            repetition = _repeat(found, sources, options.repeat)
            zoom = zoom.model_copy(update={"repetition": repetition})
        zoom = zoom.model_copy(update={"ran": _ran(*pair)})
        return zoom, _kept(found) if options.keep else {}


def _ran(left: _Opened, right: _Opened) -> tuple[RanCode, ...]:
    """Whose code was run, and how."""
    names: tuple[ZoomSideName, ZoomSideName] = ("expected", "observed")
    rows = [(names, left)] if left is right else [(names[:1], left), (names[1:], right)]
    return tuple(
        RanCode(sides=sides, level=one.ran[0], reason=one.ran[1])
        for sides, one in rows
        if one.ran is not None
    )


@dataclass
class _Opened:
    """A package that is open, whole, and ready to be executed when that is needed.

    ``ran`` is how its code is confined, once it was made ready.
    """

    package: Package
    path: Path
    options: ZoomOptions
    scratch: Path
    ran: tuple[SandboxLevel, ConfinementReason | None] | None = None

    def source(self, side: Side) -> Source:
        """The run that a side names."""
        package, name = self.package, side.run or REFERENCE_RUN
        run = package.run(name)
        stored = run if run.checkpoint_steps() else package.run(REFERENCE_RUN)
        rows = [row for row in package.plan.comparisons if row.name == name]
        return Source(run, stored, lambda: self.launcher, rows[0] if rows else None)

    @cached_property
    def launcher(self) -> Launcher:
        """How its runs are executed: as ``verify`` does."""
        package, options = self.package, self.options
        check_own_name()
        check_source_names(package.plan, package.manifest.entries)
        trusted = package.package_digest in options.trust
        consent = replace(options.consent, trust=package.package_digest if trusted else None)
        sandbox, reason = confine(package, consent)
        require_unseen(self.path, sandbox)
        self.scratch.mkdir()
        self.ran = sandbox.level, reason
        return Launcher(
            package.plan,
            unpack_materials(package, self.scratch, dict(options.inputs)),
            self.scratch / "tree",
            self.scratch,
            sandbox=sandbox,
            on_step=options.on_step,
        )


def _open(
    side: Side,
    options: ZoomOptions,
    opened: dict[Path, _Opened],
    scratch: Path,
    stack: ExitStack,
) -> _Opened:
    """Open a side's package, once, and check all of it."""
    if side.path in opened:
        return opened[side.path]
    package = stack.enter_context(open_package(side.path, limits=options.limits))
    check_intact(package)
    one = _Opened(package, side.path, options, scratch / f"package-{len(opened)}")
    opened[side.path] = one
    return one


def _repeat(found: Found, sources: list[Source], times: int) -> Repetition | None:
    """Repeat the step of the expected run; what fails is told and no error."""
    if found.sides is None:
        return None
    source, zoom = sources[0], found.zoom
    name = zoom.name or f"{STATE_PREFIX}{min(found.wanted.after)}"
    repetition = Repetition(run=source.run.name, side="expected", step=zoom.step, name=name)
    before = found.sides[0].state(after=False)
    if before is None or source.prepare is None:
        return repetition.model_copy(update={"problem": "the state before the step is not known"})
    recorded = next(source.run.steps(zoom.step), None)
    try:
        launcher = source.prepare()
        return repeat_apart(repetition, launcher, source.comparison, before, recorded, times)
    except (ExperimentError, CouldNotRunError) as error:
        return repetition.model_copy(update={"problem": error.message})


def _kept(found: Found) -> dict[str, npt.NDArray[Any]]:
    """The arrays of both sides under the names that they are kept by."""
    kept: dict[str, npt.NDArray[Any]] = {}
    for side, arrays in zip(("left", "right"), found.sides or (), strict=False):
        wanted = found.wanted
        for stage in (*wanted.stages, *wanted.input_stages):
            array = arrays.stage(stage)
            if array is not None:
                kept[f"{side}.{stage}"] = array
        for after, word in ((False, "before"), (True, "after")):
            components = _components(wanted, after=after)
            kept |= _of_state(arrays, components, f"{side}.{word}", after=after)
    return kept


def _components(wanted: Wanted, *, after: bool) -> frozenset[str]:
    if after:
        return frozenset(wanted.after)
    names = (item.name for item in wanted.inputs)
    return frozenset(
        name.removeprefix(STATE_PREFIX) for name in names if name.startswith(STATE_PREFIX)
    )


def _of_state(
    arrays: StepArrays, components: frozenset[str], prefix: str, *, after: bool
) -> dict[str, npt.NDArray[Any]]:
    state = arrays.state(after=after) if components else None
    if state is None:
        return {}
    return {
        f"{prefix}.{name}": array
        for name, array in state.arrays.items()
        if component_of(name) in components
    }
