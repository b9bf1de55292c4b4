"""What fails while a step is looked at is told, and is no verdict."""

from __future__ import annotations

import errno
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest

from repropack import _zooming_here
from repropack._zooming import Source
from repropack._zooming_here import zoom_here
from repropack.errors import CouldNotRunError
from repropack.models.results import Divergence

PARTED: Any = SimpleNamespace(
    divergence=Divergence(kind="output", step=3, last_equal_step=2, stage="batch"),
    claim="independent-replay",
    repeats=False,
)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (CouldNotRunError("run 'zoom': the worker died"), "run 'zoom': the worker died"),
    ],
    ids=["full-disk", "worker"],
)
def test_a_step_that_cannot_be_made_again_leaves_the_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
):
    """The runs differ, whether or not their elements can be shown."""

    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    monkeypatch.setattr(_zooming_here, "zoom_into", fail)
    run: Any = SimpleNamespace(name="reference")
    launcher: Any = SimpleNamespace(scratch=tmp_path)
    found = zoom_here(PARTED, Source(run, run), Source(run, run), launcher, None)
    assert found is not None
    assert (found.step, found.name) == (3, "batch")
    assert found.problem == f"making the step again failed: {told}"
