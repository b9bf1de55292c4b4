"""The start of a worker: this copy of repropack and no other."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

import repropack
from repropack._run import worker_main


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put every module back when the test is over."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "repropack":
            monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.usefixtures("modules")
def test_the_package_is_imported_from_where_the_script_lies():
    """The package is found beside the script, whatever the search path says."""
    worker_main._import_own_package()
    fresh = importlib.import_module("repropack")
    assert fresh is not repropack
    assert fresh.__file__ == repropack.__file__
    assert list(fresh.__path__) == [str(Path(worker_main.__file__).parents[1])]


@pytest.mark.usefixtures("modules")
def test_a_script_without_its_package_says_so(monkeypatch: pytest.MonkeyPatch):
    """A broken installation is named instead of another copy being used."""
    monkeypatch.setattr(worker_main, "spec_from_file_location", lambda *given, **named: None)
    with pytest.raises(ImportError, match=r"^cannot import repropack from /"):
        worker_main._import_own_package()
