"""The interpreter of workers: this one, or one of an environment whose programs come first."""

from __future__ import annotations

import sys
from pathlib import Path

from repropack._run.runtime import PRESENT, Runtime


def test_the_present_environment_changes_nothing() -> None:
    """Its interpreter is this one, and its search path the worker's."""
    assert PRESENT.python == sys.executable
    assert PRESENT.with_programs({"PATH": "/usr/bin", "TZ": "UTC"}) == {
        "PATH": "/usr/bin",
        "TZ": "UTC",
    }


def test_programs_of_another_environment_come_first() -> None:
    """Also where there is no search path."""
    runtime = Runtime("/env/bin/python", Path("/env"))
    assert runtime.with_programs({"PATH": "/usr/bin"}) == {"PATH": "/env/bin:/usr/bin"}
    assert runtime.with_programs({}) == {"PATH": "/env/bin"}
