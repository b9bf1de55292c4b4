"""Where a run executed here parts from the recorded one: whose elements are looked at, and when.

The second run that is made here anyway is looked at while it is made. A recorded run is made again
only where that can give what is recorded, and never for longer than the verification itself took.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from repropack._compare.zoomed import wanted_of
from repropack._present.layout import is_command
from repropack._read.run import RunReader
from repropack._run.execute import Launcher
from repropack._run.zoom import SeenStep
from repropack._zooming import Source, without, zoom_into
from repropack.errors import RepropackError
from repropack.models.differences import CHECKPOINT_PREFIX, KEPT_PREFIX
from repropack.models.reports import RunVerification
from repropack.models.results import Divergence
from repropack.models.zoom import Zoom


def step_to_see(verification: RunVerification, launcher: Launcher) -> SeenStep | None:
    """The step of a second run here that is to be looked at while it is made.

    Args:
        verification: A run that does not equal the recorded one.
        launcher: How it was executed.

    Returns:
        The step at which they part; ``None`` where that has no arrays, or they are compared
        already.
    """
    divergence = verification.divergence
    if divergence is None or is_command(launcher.plan.experiment):
        return None
    wanted = wanted_of(divergence)
    if isinstance(wanted, str) or wanted.empty or _is_compared(verification, divergence):
        return None
    return SeenStep(divergence.step, launcher.scratch / "seen")


def _is_compared(verification: RunVerification, divergence: Divergence) -> bool:
    """Whether what diverged is among the arrays that were compared anyway."""
    for array in verification.arrays:
        of_state = divergence.stage is None and array.array.startswith(CHECKPOINT_PREFIX)
        if array.step == divergence.step and (
            of_state or array.array == f"{KEPT_PREFIX}{divergence.stage}"
        ):
            return True
    return False


def zoom_here(
    verification: RunVerification,
    recorded: Source,
    here: Source,
    launcher: Launcher,
    reference: RunReader | None,
) -> Zoom | None:
    """Look at the elements of a recorded run and of the one that was executed here.

    The recorded run's step is made again only where that can give what is recorded: where it begins
    from another state than the run here did, where two runs here differ, and where a resume is held
    against a run that was never interrupted.

    Args:
        verification: How they differ, with whether the run here repeats.
        recorded: The run of the package.
        here: The run executed here, with the step of a second one that was looked at.
        launcher: How they are executed.
        reference: The package's reference run, where this is another.

    Returns:
        The elements; or why there are none. What fails in a replay is no verdict. ``None`` where
        they do not part.
    """
    divergence = verification.divergence
    if divergence is None:
        return None
    uninterrupted = verification.claim == "exact-resume" and reference is not None
    if uninterrupted and reference is not None:
        recorded = Source(reference, reference)
    worthwhile = (
        uninterrupted
        or verification.repeats is False
        or _begins_otherwise(recorded.stored, here.stored, divergence.step)
    )
    expected = replace(
        recorded,
        prepare=(lambda: launcher) if worthwhile else None,
        tries=2 if uninterrupted else 1,
        why_not="making it again gives what the run here gave, and the package does not hold its "
        "arrays: keep, in [record], stores those of a stage",
    )
    scratch = launcher.scratch / "zoom"
    scratch.mkdir()
    with ExitStack() as stack:
        try:
            observed = replace(here, prepare=lambda: launcher, tries=1)
            found = zoom_into(divergence, expected, observed, scratch, stack)
        except (RepropackError, OSError) as error:
            told = error.message if isinstance(error, RepropackError) else error.strerror
            return without(divergence, f"making the step again failed: {told}")
    return found.zoom


def _begins_otherwise(recorded: RunReader, here: RunReader, step: int) -> bool:
    """Whether the last state stored before a step is another here than the recorded one."""
    held = [k for k in recorded.checkpoint_steps() if k < step]
    if not held or held[-1] not in here.checkpoint_steps():
        return False
    documents = (run.checkpoint_document(held[-1]) for run in (recorded, here))
    one, two = (document.components for document in documents)
    return one != two
