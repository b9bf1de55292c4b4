"""Installers are found where they are, run to their end, and quoted where they fail."""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
from pathlib import Path

import pytest

from repropack._format.limits import RunLimits
from repropack._run.confinement.sandbox import Places, Sandbox
from repropack._run.installers import (
    Installer,
    failure_cause,
    find_pip,
    find_uv,
    index_environment,
    named_distributions,
    offline_environment,
    require_installer,
    run_installer,
)
from repropack.errors import CouldNotRunError

UV = Installer("uv", ("/opt/uv",))
PIP = Installer("pip", ("/opt/python", "-m", "pip"), {"PYTHONPATH": "/opt/pip.whl"})


def program(folder: Path, name: str) -> Path:
    """A program that does nothing."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_uv_beside_the_interpreter_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the one on the search path; then there is none."""
    own, other = tmp_path / "own", program(tmp_path / "path", "uv")
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(own))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert find_uv() == Installer("uv", (str(other),))
    beside = program(own, "uv")
    assert find_uv() == Installer("uv", (str(beside),))
    beside.unlink()
    other.unlink()
    assert find_uv() is None


def test_pip_is_the_installed_one_or_the_one_that_python_brings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An environment that uv made has no pip of its own."""
    command = (sys.executable, "-P", "-m", "pip")
    specs: dict[str, object] = {"pip": object(), "ensurepip": None}
    monkeypatch.setattr(importlib.util, "find_spec", specs.__getitem__)
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: str(tmp_path))
    assert find_pip() == Installer("pip", command)
    specs["pip"] = None
    assert find_pip() is None
    (tmp_path / "pip-notes.whl").touch()
    wheel = tmp_path / "pip-23.2.1-py3-none-any.whl"
    wheel.touch()
    assert find_pip() == Installer("pip", command, {"PYTHONPATH": str(wheel)})


def test_the_first_installer_that_is_there() -> None:
    """Where none is, the error says what to install."""
    assert require_installer(None, UV, PIP) == UV
    with pytest.raises(CouldNotRunError, match="expected uv or pip") as caught:
        require_installer(None, None)
    assert caught.value.hint == "install uv: the extra `env` of repropack-replay brings it"


def test_variables_with_an_index_are_the_callers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """His settings count, but for those that lead to another place or version."""
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1/simple")
    monkeypatch.setenv("PIP_TARGET", "/elsewhere")
    monkeypatch.setenv("UV_CONSTRAINT", "/elsewhere.txt")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    given = index_environment(PIP, tmp_path)
    assert given["PIP_INDEX_URL"] == "http://127.0.0.1/simple"
    assert not {"PIP_TARGET", "UV_CONSTRAINT"} & set(given)
    assert (given["PYTHONPATH"], given["TMPDIR"]) == ("/opt/pip.whl", str(tmp_path))
    assert "PYTHONPATH" not in index_environment(UV, tmp_path)


def test_variables_without_an_index_know_of_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No setting, no proxy, no home folder of the caller."""
    for name in ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "HTTPS_PROXY", "SECRET_TOKEN"):
        monkeypatch.setenv(name, "http://127.0.0.1/")
    monkeypatch.setenv("PATH", "/usr/bin")
    given = offline_environment(UV, tmp_path)
    assert sorted(given) == [
        "HOME", "LC_ALL", "NO_COLOR", "PATH", "PIP_CONFIG_FILE", "PIP_DISABLE_PIP_VERSION_CHECK",
        "PIP_NO_INPUT", "PYTHONDONTWRITEBYTECODE", "TMPDIR", "UV_NO_PROGRESS",
        "UV_PYTHON_DOWNLOADS",
    ]  # fmt: skip
    assert (given["HOME"], given["PIP_CONFIG_FILE"]) == (str(tmp_path), "/dev/null")


def run(folder: Path, code: str, limits: RunLimits | None = None) -> None:
    """Run Python code in the place of an installer."""
    run_installer(
        [sys.executable, "-I", "-c", code],
        {"LC_ALL": "C.UTF-8"},
        Places(folder, writable=(folder,)),
        names=["numpy", "typing-extensions"],
        sandbox=Sandbox("none", limits),
    )


def test_an_installer_that_ends_well(tmp_path: Path) -> None:
    """It works in its folder, and has no input to wait for."""
    run(tmp_path, "import sys; open('done', 'w').write(sys.stdin.read() + 'x')")
    assert (tmp_path / "done").read_text() == "x"


def test_an_installer_that_fails_says_which_distribution_and_why(tmp_path: Path) -> None:
    """On one line, without the folder that it worked in, and without what moves a cursor."""
    code = (
        "import os, sys\n"
        "print('Resolved 3 packages')\n"
        "print(f'error: no wheel of Typing_Extensions in {os.getcwd()}/wheels \\x1b[2J')\n"
        "print('cause: none', file=sys.stderr)\n"
        "sys.exit(1)"
    )
    with pytest.raises(CouldNotRunError) as caught:
        run(tmp_path, code)
    said = caught.value.message
    assert said.startswith("environment: distribution typing-extensions: ")
    assert f"{Path(sys.executable).name} failed: " in said
    assert "error: no wheel of Typing_Extensions in wheels \\x1b[2J" in said
    assert "cause: none" in said
    assert "Resolved" not in said
    assert str(tmp_path) not in said


def test_an_installer_that_says_nothing(tmp_path: Path) -> None:
    """There is a sentence all the same."""
    with pytest.raises(CouldNotRunError, match="failed: it said nothing"):
        run(tmp_path, "raise SystemExit(3)")


def test_an_installer_is_under_limits(tmp_path: Path) -> None:
    """A wheel that unpacks without end is ended by the limit on files."""
    code = (
        "import os\nfor k in range(10000): open(f'f{k}', 'w').close()\nimport time; time.sleep(60)"
    )
    with pytest.raises(CouldNotRunError, match="installing: limit max_run_files exceeded"):
        run(tmp_path, code, RunLimits(max_run_files=500))


def test_a_cause_is_cut() -> None:
    """What an installer says may be long; what its names are is told first."""
    assert failure_cause("ERROR: " + "x" * 1000, Path("/tools")) == "ERROR: " + "x" * 393
    assert failure_cause("\n WARNING: old\n", Path("/tools")) == ""


def test_named_distributions_are_whole_words() -> None:
    """A name within another name is not named."""
    names = ["numpy", "six", "typing-extensions"]
    assert named_distributions("numpydoc six==1.0 typing.extensions", names) == [
        "six",
        "typing-extensions",
    ]
