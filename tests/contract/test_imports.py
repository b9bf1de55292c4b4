"""What is not imported: heavy distributions stay out until something needs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"jsonschema", "matplotlib", "nbformat", "numpy", "pydantic", "rich"}


def imported_by(*arguments: str) -> set[str]:
    """Names of the top-level modules that a fresh interpreter imports for these arguments."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


def test_a_heavy_import_would_be_seen() -> None:
    """The measurement itself works: an import that is made is found."""
    assert {"json", "pydantic"} <= imported_by("-c", "import json, pydantic")


@pytest.mark.parametrize(
    "arguments",
    [("-c", "import repropack"), ("-m", "repropack", "--help")],
    ids=["import", "help"],
)
def test_nothing_heavy_is_imported_before_it_is_needed(arguments: tuple[str, ...]) -> None:
    """Importing the package, and asking for help, cost the standard library alone."""
    imported = imported_by(*arguments)
    assert "repropack" in imported
    assert imported & HEAVY == set()


def test_no_public_name_is_that_of_a_module() -> None:
    """A module that was imported stands in the place of a function of its name."""
    import repropack

    folder = Path(repropack.__file__).parent
    modules = {path.stem for path in folder.glob("*.py")} | {path.name for path in folder.iterdir()}
    assert modules.isdisjoint(repropack.__all__)
