"""A work folder for what is written in one go, without anything to continue from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from repropack._run.continuing import has_something
from repropack._run.durable import os_problem
from repropack._run.workplace import clear_work, work_alone
from repropack.errors import CouldNotRunError, UsageError


@contextmanager
def fresh_work(target: Path) -> Iterator[Path]:
    """Hold an empty work folder beside a target while the block runs.

    Args:
        target: What is being made; missing parent folders are made.

    Yields:
        The folder. It is removed with its contents when the block ends.

    Raises:
        UsageError: an interrupted build of the target is there, or it cannot be made there.
        BusyError: another process works on the target.
        CouldNotRunError: the disk is full or fails, in the block as well.
    """
    try:
        with work_alone(target, has_something) as work:
            if has_something(work):
                raise UsageError(
                    f"{target.name}: an interrupted build of it is in {work.name}",
                    hint="continue it with `repropack build --resume`, or give another target",
                )
            clear_work(work)
            yield work
    except OSError as error:
        raise CouldNotRunError(os_problem(error)) from error
