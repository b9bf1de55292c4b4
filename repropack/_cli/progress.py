"""A progress bar for long work: on standard error, only on a terminal, gone when it is done."""

# ruff: noqa: PLC0415 - rich takes a tenth of a second

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from repropack._cli.streams import is_terminal, standard_stream

OnStep = Callable[[str, int, int], None]
_SHOWN_RUNS = 12
"""Runs that are shown at once, the latest ones."""


@contextmanager
def progress() -> Iterator[OnStep | None]:
    """Show each run's name and step while the block runs.

    Yields:
        What a use case calls after each step, or ``None`` where nothing can be shown.
    """
    if not is_terminal(standard_stream("stderr")):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

    from repropack._present.escape import escape_text

    tasks: dict[str, TaskID] = {}
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("step"),
        MofNCompleteColumn(),
    )
    console = Console(stderr=True)
    with Progress(
        *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as bars:

        def on_step(run: str, step: int, last_step: int) -> None:
            if run not in tasks:
                tasks[run] = bars.add_task(escape_text(run, 80), total=last_step)
                for older in list(tasks.values())[:-_SHOWN_RUNS]:
                    bars.update(older, visible=False)
            bars.update(tasks[run], completed=step, total=last_step)

        yield on_step
