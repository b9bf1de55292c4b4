"""The one place that asks what time it is: for a record, which is somebody's act.

No package, report or log holds a moment. What has to come out the same again sets
``SOURCE_DATE_EPOCH``.
"""

from __future__ import annotations

import datetime as dt
import os

from repropack.errors import UsageError

_VARIABLE = "SOURCE_DATE_EPOCH"
_MAX_SECONDS = 253_402_300_799
"""The last second of the year 9999."""


def present_moment() -> str:
    """The present moment in UTC, to the second.

    Returns:
        Such as ``2026-11-30T12:00:00Z``: that of ``SOURCE_DATE_EPOCH`` where it is set, else the
        clock's.

    Raises:
        UsageError: ``SOURCE_DATE_EPOCH`` is no number of seconds.
    """
    stated = os.environ.get(_VARIABLE)
    if stated is None:
        moment = dt.datetime.now(tz=dt.UTC)  # noqa: TID251 - the one place that may
    else:
        if not (stated.isascii() and stated.isdigit() and len(stated) <= 12):
            raise UsageError(
                f"{_VARIABLE}: expected whole seconds since 1970, observed {stated!a:.40}"
            )
        moment = dt.datetime.fromtimestamp(min(int(stated), _MAX_SECONDS), tz=dt.UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
