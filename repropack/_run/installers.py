"""The installers of Python distributions, uv and pip: where they are, and how one is run.

An installer runs under a supervisor, which ends it with everything that came of it, also where
this process is killed. What it prints is quoted in errors and decides nothing.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from repropack._format.layout import WHEEL_NAME
from repropack._run.confinement.sandbox import UNCONFINED, Places, Sandbox, compose_policy
from repropack._run.confinement.supervised import Supervised
from repropack._run.confinement.view import View
from repropack._run.launch import beyond_limit
from repropack.errors import CouldNotRunError

InstallerName = Literal["uv", "pip"]

_OWN_PLACE = frozenset(
    {
        "PIP_CONSTRAINT",
        "PIP_PREFIX",
        "PIP_PYTHON",
        "PIP_REQUIREMENT",
        "PIP_REQUIRE_VIRTUALENV",
        "PIP_ROOT",
        "PIP_TARGET",
        "PIP_USER",
        "PYTHONHOME",
        "PYTHONPATH",
        "UV_COMPILE_BYTECODE",
        "UV_CONSTRAINT",
        "UV_OVERRIDE",
        "UV_PYTHON",
        "UV_SYSTEM_PYTHON",
        "UV_TARGET",
    }
)
"""Variables that would send an installer to another place, or to other versions, or have it start
the interpreter that it installs for."""
_QUIET = {
    "NO_COLOR": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "UV_NO_PROGRESS": "1",
    "UV_PYTHON_DOWNLOADS": "never",
}
_TOLD = re.compile(r"(WARNING|DEPRECATION|Using Python|Resolved|Prepared|hint|\[notice\])")
_CAUSE_CHARACTERS = 400


@dataclass(frozen=True)
class Installer:
    """uv or pip.

    Attributes:
        name: Which of them.
        command: How it is called; the first word is an absolute path.
        variables: What it needs besides.
    """

    name: InstallerName
    command: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)


def find_uv() -> Installer | None:
    """uv, beside this interpreter or on the search path, by its real path."""
    beside = Path(sysconfig.get_path("scripts")) / "uv"
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("uv")
    return None if found is None else Installer("uv", (str(Path(found).resolve()),))


def find_pip() -> Installer | None:
    """pip: the one that is installed here, or the one that Python itself brings."""
    command = (sys.executable, "-P", "-m", "pip")
    if importlib.util.find_spec("pip") is not None:
        return Installer("pip", command)
    spec = importlib.util.find_spec("ensurepip")
    folders = [sysconfig.get_config_var("WHEEL_PKG_DIR")]
    if spec is not None and spec.origin is not None:
        folders.append(str(Path(spec.origin).with_name("_bundled")))
    for folder in filter(None, folders):
        for wheel in sorted(Path(folder).glob("pip-*.whl")):
            if WHEEL_NAME.fullmatch(wheel.name):
                return Installer("pip", command, {"PYTHONPATH": str(wheel)})
    return None


def require_installer(*candidates: Installer | None) -> Installer:
    """The first installer that is there.

    Args:
        candidates: What was looked for, the preferred first.

    Returns:
        One of them.

    Raises:
        CouldNotRunError: none is.
    """
    for candidate in candidates:
        if candidate is not None:
            return candidate
    raise CouldNotRunError(
        "environment: expected uv or pip to install with, observed neither",
        hint="install uv: the extra `env` of repropack-replay brings it",
    )


def index_environment(installer: Installer, folder: Path) -> dict[str, str]:
    """Variables of an installer that uses the caller's own index, by the caller's own settings."""
    own = {name: value for name, value in os.environ.items() if name not in _OWN_PLACE}
    return {**own, **_QUIET, "TMPDIR": str(folder), **installer.variables}


def offline_environment(installer: Installer, folder: Path) -> dict[str, str]:
    """Variables of an installer that is to know of no index and of no settings."""
    path = {"PATH": os.environ["PATH"]} if "PATH" in os.environ else {}
    places = {"TMPDIR": str(folder), "HOME": str(folder), "PIP_CONFIG_FILE": os.devnull}
    return {"LC_ALL": "C.UTF-8", **path, **_QUIET, **places, **installer.variables}


def run_installer(
    command: Sequence[str],
    environment: Mapping[str, str],
    places: Places,
    *,
    names: Collection[str],
    sandbox: Sandbox = UNCONFINED,
    view: View | None = None,
) -> None:
    """Run an installer to its end.

    Args:
        command: The whole command; the first word is an absolute path.
        environment: All of its variables.
        places: Working directory, and what it reads and writes.
        names: Distributions that it handles, to be named where it fails.
        sandbox: Confinement and limits.
        view: What a confined one sees of this machine.

    Raises:
        CouldNotRunError: it failed or reached a limit; says which distribution, and why.
        beyond_limit: how such an error is made where a limit was reached.
    """
    folder = places.folder
    policy = compose_policy(sandbox, command, environment, places, view=view)
    with Supervised(policy, folder=folder, environment=environment, prints=True) as running:
        running.stdin.close()
        report = running.wait(None) or {}
        running.end()
        printed = running.printed().decode("utf-8", "replace")
    if "limit" in report:
        raise beyond_limit(report, "environment: installing")
    if report.get("status") == 0:
        return
    cause = failure_cause(printed, folder) or str(report.get("problem", "it said nothing"))
    named = named_distributions(printed, names)
    which = f"distribution {', '.join(named)}: " if named else ""
    raise CouldNotRunError(f"environment: {which}{Path(command[0]).name} failed: {cause}")


def failure_cause(printed: str, folder: Path) -> str:
    r"""What an installer said of its failure, on one line of visible characters.

    Args:
        printed: All that it printed.
        folder: Where it worked; its path is left out.

    Returns:
        The lines that tell of the failure; empty where there are none.

    Example:
        >>> failure_cause("Resolved 2 packages\nerror: no such file /tools/a.whl", Path("/tools"))
        'error: no such file a.whl'
    """
    lines = [line.strip() for line in printed.replace(f"{folder}/", "").splitlines()]
    said = "; ".join(line for line in lines if line and not _TOLD.match(line))
    return ascii(said)[1:-1][:_CAUSE_CHARACTERS]


def named_distributions(printed: str, names: Collection[str]) -> list[str]:
    """Which distributions a text names.

    Args:
        printed: What an installer printed.
        names: Distributions, in normal form.

    Returns:
        Those that are named, sorted, five at most.

    Example:
        >>> named_distributions("no wheel of typing_extensions==9", ["typing-extensions", "typing"])
        ['typing-extensions']
    """
    words = set(re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.sub(r"[-_.]+", "-", printed.lower())))
    return sorted(words.intersection(names))[:5]
