"""What is drawn from a package's runs: the figures, from evidence alone.

``build`` draws from what it recorded, ``verify`` from what it ran again: the same function.
matplotlib is imported here and late.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import metadata

from repropack._compare.rows import RunEvidence
from repropack._compare.series import run_series
from repropack._present.layout import is_command
from repropack.errors import CouldNotRunError
from repropack.models.plan import Plan


def render_figures(
    plan: Plan, reference: RunEvidence, runs: Mapping[str, RunEvidence], *, last_step: int
) -> dict[str, bytes]:
    """Draw the figures of a package.

    Args:
        plan: The plan.
        reference: The reference run.
        runs: The comparisons' runs by name.
        last_step: The reference's last step.

    Returns:
        Figures by entry path; a figure that would show nothing is left out.

    Raises:
        CouldNotRunError: matplotlib cannot be imported as it is configured here.

    Determinism:
        The bytes depend on the evidence and matplotlib's version, not on its configuration.
    """
    if is_command(plan.experiment):  # one step: nothing to see that a sentence does not say
        return {}
    draw_figures = load_painter()
    series = [run_series(reference, runs[row.name], row, plan.record) for row in plan.comparisons]
    return draw_figures(series, last_step=last_step)


def load_painter() -> Callable[..., dict[str, bytes]]:
    """Import matplotlib: before a long run, so that its refusal costs nothing.

    Returns:
        ``draw_figures``.

    Raises:
        CouldNotRunError: it cannot be imported as it is configured here.
    """
    try:
        from repropack._present.figures import draw_figures  # noqa: PLC0415 - brings matplotlib
    except ValueError as error:  # a configuration file or backend that it refuses
        raise CouldNotRunError(
            f"matplotlib cannot be imported: {error}",
            hint="look at MPLBACKEND and at matplotlibrc in the working directory",
        ) from error
    return draw_figures


def painter_version() -> str:
    """Version of the matplotlib that ``render_figures`` uses."""
    return metadata.version("matplotlib")
