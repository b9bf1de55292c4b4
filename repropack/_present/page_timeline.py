"""The timeline as data for the page's script: the cells that the page's tables are made of."""

from __future__ import annotations

from typing import Any

from repropack._compare.timeline import Timelines


def ulp_text(ulp: int) -> str:
    """A distance in units in the last place."""
    return f"{ulp:,} ulp"


def timeline_data(timelines: Timelines, last_step: int) -> dict[str, Any]:
    """What hover and focus show, column by column.

    Args:
        timelines: The comparisons.
        last_step: The reference's last step.

    Returns:
        ``width`` of a column and ``last_step`` of all, in steps; for each comparison its name,
        the first kept stage, and one row for each column it has: the column, counted from 0, the
        steps compared and differing; where any differs also the first such step, what differs
        first in it, the largest difference and its step, and the largest distance in units in the
        last place and its step. Numbers beyond JSON's integers are texts.
    """
    width = timelines.ended(last_step)
    last = max([last_step, *(run.last_step for run in timelines.runs)])
    return {
        "width": width,
        "last_step": last,
        "runs": [
            {
                "name": run.run,
                "subject": run.subject,
                "cells": [
                    [column, cell.compared, cell.differing]
                    + (
                        [
                            cell.first_step,
                            cell.first_name,
                            repr(cell.absolute) if cell.absolute_step else None,
                            cell.absolute_step,
                            ulp_text(cell.ulp) if cell.ulp_step else None,
                            cell.ulp_step,
                        ]
                        if cell.differing
                        else []
                    )
                    for column, cell in sorted(run.cells.items())
                ],
            }
            for run in timelines.runs
        ],
    }
