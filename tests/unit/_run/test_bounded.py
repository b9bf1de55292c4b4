"""Other people's code on foreign text ends: in time, or with a word of why it did not."""

from __future__ import annotations

import pytest

from repropack import publish
from repropack._run.bounded import run_bounded
from repropack.errors import CouldNotRunError

RENDERER = "repropack._present.notebook_page_main"


def test_a_process_is_ended_when_its_time_is_over() -> None:
    """Whatever it does; here it does not even begin."""
    with pytest.raises(CouldNotRunError, match=r"^it stands: expected to take at most 0.01 second"):
        run_bounded(RENDERER, ["0", "1000000000"], b"{}", what="it stands", seconds=0.01)


def test_a_process_without_a_word_is_told_by_its_status() -> None:
    """A module that there is not; one that does nothing."""
    with pytest.raises(CouldNotRunError, match=r"^it fails: its process ended with status 1$"):
        run_bounded("repropack._present.none", [], b"", what="it fails", seconds=60)
    assert run_bounded("repropack._version", [], b"", what="it stands", seconds=60) == b""


def test_publish_bounds_time_and_memory_of_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the renderer says of a notebook arrives; and neither bound can be had by a notebook."""
    with pytest.raises(CouldNotRunError, match="the notebook cannot be rendered: Validation"):
        publish._rendered(b"{}", "a \ud800 title")
    monkeypatch.setattr(publish, "_RENDERING_BYTES", 1_000_000)
    with pytest.raises(CouldNotRunError, match="the notebook cannot be rendered"):
        publish._rendered(b"{}", "t")
    monkeypatch.setattr(publish, "_RENDERING_SECONDS", 0.01)
    with pytest.raises(CouldNotRunError, match=r"expected to take at most 0.01 seconds"):
        publish._rendered(b"{}", "t")
