"""The gates that the project announces are switched on, and one command runs them all."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

RUFF_RULES = {
    "A", "ANN", "ARG", "B", "BLE", "C4", "C90", "D", "DTZ", "E", "ERA", "F", "FBT", "I", "ISC",
    "N", "NPY", "PERF", "PL", "PT", "PTH", "RET", "RUF", "S", "SIM", "SLF", "T20", "TID", "TRY",
    "UP", "W", "DOC201", "DOC402", "DOC501",
}  # fmt: skip
BANNED_CALLS = {
    "pickle", "numpy.load", "numpy.save", "numpy.savez", "zipfile.ZipFile", "json.dumps",
    "json.loads", "time.time", "datetime.datetime.now",
}  # fmt: skip
CONTRACTS = {"layers", "pure", "no-pickle", "judge-runs-nothing", "one-painter"}
GATES = (
    "ruff format --check",
    "ruff check",
    "mypy",
    "lint-imports",
    "tools/generate_schemas.py --check",
    '-m "not slow" tests/unit\n',
    "coverage report",
    '-m "slow or not unit"',
    "tools/test_wheel.py\n",
)


@pytest.fixture(scope="module")
def tools() -> dict[str, Any]:
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    section: dict[str, Any] = configuration["tool"]
    return section


def test_ruff_selects_every_announced_rule_and_ignores_none_of_them(tools: dict[str, Any]) -> None:
    """A rule is neither dropped from the selection nor put on the list of ignored ones."""
    lint = tools["ruff"]["lint"]
    assert set(lint["select"]) >= RUFF_RULES
    assert not RUFF_RULES & set(lint["ignore"])


def test_ruff_bans_the_calls_that_have_one_home(tools: dict[str, Any]) -> None:
    """Calls that only one module may make are banned everywhere else."""
    tidy = tools["ruff"]["lint"]["flake8-tidy-imports"]
    assert set(tidy["banned-api"]) >= BANNED_CALLS
    assert tidy["ban-relative-imports"] == "all"


def test_ruff_keeps_its_strictest_rules_for_the_package(tools: dict[str, Any]) -> None:
    """Exceptions by file never cover the package; printing, and only that, is for the CLI."""
    exceptions = tools["ruff"]["lint"]["per-file-ignores"]
    for pattern, rules in exceptions.items():
        if pattern.startswith("repropack"):
            assert (pattern, rules) == ("repropack/_cli/**", ["T20"])


def test_mypy_is_strict_for_package_tests_and_examples(tools: dict[str, Any]) -> None:
    """Types are checked strictly, and unreachable code and bare ignores are reported."""
    mypy = tools["mypy"]
    assert mypy["strict"] is True
    assert mypy["warn_unreachable"] is True
    assert {"repropack", "tests", "examples"} <= set(mypy["files"])
    assert "ignore-without-code" in mypy["enable_error_code"]
    for override in mypy.get("overrides", []):
        modules = override["module"]
        for module in [modules] if isinstance(modules, str) else modules:
            assert not module.startswith("repropack")


def test_every_import_contract_is_there(tools: dict[str, Any]) -> None:
    """The contracts that make "points downwards only" true are all configured."""
    contracts = {contract["id"]: contract for contract in tools["importlinter"]["contracts"]}
    assert set(contracts) >= CONTRACTS
    assert contracts["layers"]["exhaustive"] is True
    assert {"time", "random", "subprocess"} <= set(contracts["pure"]["forbidden_modules"])
    assert "pickle" in contracts["no-pickle"]["forbidden_modules"]


def test_coverage_has_a_floor_and_sees_branches(tools: dict[str, Any]) -> None:
    """The pure rooms by fast unit tests; everything, workers included, by all tests."""
    rooms = [f"repropack.{name}" for name in ("_compare", "_format", "_read", "models")]
    whole = tomllib.loads((ROOT / "tools/coverage_of_all.toml").read_text("utf-8"))["tool"]
    for section, measured, floor in ((tools, rooms, 96), (whole, ["repropack"], 90)):
        run, report = section["coverage"]["run"], section["coverage"]["report"]
        assert run["branch"] is True
        assert run["source_pkgs"] == measured
        assert report["fail_under"] >= floor
        assert not {"omit", "include"} & {*run, *report}
    assert "subprocess" in whole["coverage"]["run"]["patch"]


def test_pytest_is_strict_and_turns_every_warning_into_an_error(tools: dict[str, Any]) -> None:
    """Unknown markers, unexpected passes and warnings all fail."""
    options = tools["pytest"]["ini_options"]
    assert options["strict"] is True
    assert options["filterwarnings"][0] == "error"
    assert options["testpaths"] == ["tests"]
    assert not any(option.startswith(("-m", "-k", "--ignore")) for option in options["addopts"])


@pytest.fixture(scope="module")
def test_recipe() -> str:
    """The commands of ``make test`` as make itself resolves them; nothing is run."""
    variables = {name: text for name, text in os.environ.items() if not name.startswith("MAKE")}
    variables.pop("MFLAGS", None)
    done = subprocess.run(
        ["make", "--dry-run", "test"],
        cwd=ROOT,
        env=variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_make_test_runs_every_gate_in_order(test_recipe: str) -> None:
    """``make test`` runs each gate, in the order in which faults are cheapest to find."""
    places = [test_recipe.find(gate) for gate in GATES]
    assert -1 not in places, dict(zip(GATES, places, strict=True))
    assert places == sorted(places)


def test_make_test_forgives_nothing(test_recipe: str) -> None:
    """No gate's status is swallowed, and no test is left out: what one gate skips the next runs."""
    assert "|| true" not in test_recipe
    assert re.findall(r'-m ["\'](.+?)["\']', test_recipe) == ["not slow", "slow or not unit"]
    assert "--ignore" not in test_recipe
    recipe = (ROOT / "Makefile").read_text("utf-8")
    assert not [line for line in recipe.splitlines() if line.startswith(("\t-", "\t@-"))]
    assert ".IGNORE" not in recipe


def test_what_is_left_to_the_wheel_is_tested_on_the_wheel() -> None:
    """The tests that the recipe leaves to the wheel's gate are files that this gate runs."""
    tool = ROOT / "tools/test_wheel.py"
    printed = subprocess.run(
        [sys.executable, tool, "--print"], capture_output=True, text=True, check=True
    ).stdout.split()
    files = [option.removeprefix("--ignore=") for option in printed]
    assert files == sorted(set(files))
    assert all((ROOT / file).is_file() for file in files)
    assert "*ON_THE_WHEEL], place)" in tool.read_text("utf-8")
    assert files == list(runpy.run_path(str(tool))["ON_THE_WHEEL"])


def test_continuous_integration_calls_make_test_and_make_demo() -> None:
    """CI runs the command that a developer runs, and stops where it fails."""
    script = ROOT / ".ci" / "run"
    lines = [line.strip() for line in script.read_text("utf-8").splitlines()]
    assert "set -euo pipefail" in lines
    tests = [n for n, line in enumerate(lines) if line.startswith("make test")]
    demos = [n for n, line in enumerate(lines) if line.startswith("make demo")]
    assert tests
    assert demos
    assert tests[0] < demos[0]
    assert "|| true" not in script.read_text("utf-8")
    assert script.stat().st_mode & 0o111
