"""What ``tests/conftest.py`` promises to every other test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.thinning import part_of

CONFTEST = Path(__file__).resolve().parents[1] / "conftest.py"


def run_pytest(folder: Path, source: str, *options: str, **variables: str) -> tuple[int, str]:
    """Run one small test file below a copy of the real conftest."""
    shutil.copy2(CONFTEST, folder / "conftest.py")
    (folder / "test_small.py").write_text(source, "utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider"),
            *("--rootdir", str(folder), *options),
        ],
        cwd=folder,
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_zone_locale_and_home_are_fixed(home: Path) -> None:
    """Time zone, locale and home directory do not come from the machine."""
    assert time.tzname == ("UTC", "UTC")
    assert os.environ["LC_ALL"] == "C.UTF-8"
    assert Path.home() == home
    assert list(home.glob(".ssh")) == []


def test_secrets_and_settings_of_the_machine_are_kept_out(tmp_path: Path) -> None:
    """Variables that hold secrets or steer output do not reach a test; threads do."""
    source = (
        "import os\n"
        "def test_small():\n"
        "    assert 'MY_API_TOKEN' not in os.environ\n"
        "    assert 'NO_COLOR' not in os.environ\n"
        "    assert 'SOURCE_DATE_EPOCH' not in os.environ\n"
        "    assert os.environ['OMP_NUM_THREADS'] == '3'\n"
        "    assert 'MKL_NUM_THREADS' not in os.environ\n"
    )
    status, output = run_pytest(
        tmp_path,
        "import os\nos.environ['MKL_NUM_THREADS'] = '1'\n" + source,
        MY_API_TOKEN="s",
        NO_COLOR="1",
        SOURCE_DATE_EPOCH="1",
        OMP_NUM_THREADS="3",
    )
    assert status == 0, output


@pytest.mark.parametrize("processes", part_of(["2", "0"]))
@pytest.mark.parametrize(
    ("skip", "status"),
    [
        ("pytest.skip('not on this system')", 0),
        ("pytest.skip('')", 1),
        ("pytest.skip()", 1),
    ],
)
def test_a_skip_without_a_reason_fails_the_run(
    tmp_path: Path, skip: str, status: int, processes: str
) -> None:
    """A test that is skipped says why, or the whole run fails, in however many processes."""
    source = f"import pytest\ndef test_small():\n    {skip}\n"
    found, output = run_pytest(tmp_path, source, "-n", processes)
    assert found == status, output
    assert ("skipped without a reason" in output) is bool(status)


@pytest.mark.parametrize("processes", part_of(["2", "0"]))
@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("@pytest.mark.skip\ndef test_small(): ...\n", 1),
        ("@pytest.mark.skip(reason='why')\ndef test_small(): ...\n", 0),
        ("pytest.skip('', allow_module_level=True)\n", 1),
    ],
    ids=["mark", "mark-with-reason", "module"],
)
def test_marks_and_modules_are_seen_too(
    tmp_path: Path, source: str, status: int, processes: str
) -> None:
    """A mark, or a whole module, that skips without a reason fails the run as well."""
    source = f"import pytest\ndef test_other(): ...\n{source}"
    found, output = run_pytest(tmp_path, source, "-n", processes)
    assert found == status, output


@pytest.mark.parametrize(
    ("variables", "examples", "derandomised"),
    [
        ({"CI": "true"}, 100, True),
        ({"CI": "", "HYPOTHESIS_PROFILE": "ci"}, 100, True),
        ({"CI": "", "HYPOTHESIS_PROFILE": ""}, 100, False),
        ({"CI": "true", "HYPOTHESIS_PROFILE": "quick"}, 100, False),
    ],
    ids=["ci", "ci-by-name", "quick", "quick-by-name"],
)
def test_the_profile_follows_the_environment(
    tmp_path: Path, variables: dict[str, str], examples: int, derandomised: bool
) -> None:
    """CI draws the same examples each time, a developer new ones."""
    source = (
        "from hypothesis import settings\n"
        "def test_small():\n"
        "    current = settings.default\n"
        f"    assert current.max_examples == {examples}\n"
        f"    assert current.derandomize is {derandomised}\n"
        "    assert current.database is None\n"
        "    assert current.deadline is None\n"
    )
    status, output = run_pytest(tmp_path, source, **variables)
    assert status == 0, output


def test_no_profile_has_a_database_or_a_deadline() -> None:
    """Neither an earlier run nor a slow machine decides whether a test passes."""
    assert settings.default is not None
    assert settings.default.database is None
    assert settings.default.deadline is None
