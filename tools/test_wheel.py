#!/usr/bin/env python3
"""Build the wheel and run integration tests against it, with the sources out of the way.

The wheel is installed in a fresh virtual environment in a temporary folder. The tests and examples
are copied there, the package's sources are not, so what is tested is what people install. With
``--print`` it only prints, as options of pytest, which tests are left to it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
COPIED = ("tests", "examples", "pyproject.toml")
TEST_DISTRIBUTIONS = ("pytest", "pytest-xdist", "hypothesis")
ON_THE_WHEEL = tuple(
    f"tests/integration/test_{name}.py"
    for name in (
        "bad_input",
        "build",
        "commands",
        "confinement",
        "diff",
        "export",
        "init",
        "lint",
        "loop",
        "replay_lab",
        "sources",
        "static",
        "verify",
    )
)
"""What people do with an installed repropack. ``make test`` runs these tests here and nowhere else;
all others depend on the checkout, or not on how repropack is installed."""
INHERITED_AND_REMOVED = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")

WHERE_IS_IT = """
import sys, pathlib, repropack
place = pathlib.Path(repropack.__file__).resolve()
inside = place.is_relative_to(pathlib.Path(sys.prefix).resolve())
sys.exit(0 if inside else f"repropack was imported from {place}, not from the wheel")
"""


def run(command: list[str | Path], folder: Path) -> None:
    """Run ``command`` in ``folder``, without this process's Python; it has to succeed."""
    variables = {
        name: value
        for name, value in os.environ.items()
        if name not in INHERITED_AND_REMOVED and not name.startswith("COVERAGE_")
    }
    subprocess.run(command, cwd=folder, env=variables, check=True)  # noqa: S603  our own commands


def read_test_requirements() -> list[str]:
    """Return the requirements of the dev extra that running the tests needs."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))
    extra: list[str] = project["project"]["optional-dependencies"]["dev"]
    return [line for line in extra if re.split(r"[^\w-]", line)[0] in TEST_DISTRIBUTIONS]


def copy_tests(folder: Path) -> None:
    """Copy what the tests need to ``folder``; never the sources of the package."""
    for name in COPIED:
        if (CHECKOUT / name).is_dir():
            shutil.copytree(
                CHECKOUT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy2(CHECKOUT / name, folder / name)


def main(arguments: list[str]) -> int:
    """Build, install, copy and test; or print what is tested here alone.

    Args:
        arguments: ``--print`` or nothing.

    Returns:
        The exit status: 1 where any of these failed.
    """
    if arguments == ["--print"]:
        sys.stdout.write(" ".join(f"--ignore={test}" for test in ON_THE_WHEEL) + "\n")
        return 0
    with tempfile.TemporaryDirectory(prefix="repropack-wheel-") as temporary:
        folder = Path(temporary)
        wheels, place, python = folder / "wheels", folder / "checkout", folder / "venv/bin/python"
        place.mkdir()
        pip: list[str | Path] = ["-m", "pip", "--quiet", "--disable-pip-version-check"]
        try:
            run([sys.executable, *pip, "wheel", "--no-deps", "-w", wheels, CHECKOUT], folder)
            run([sys.executable, "-m", "venv", folder / "venv"], folder)
            wheel = next(wheels.iterdir())
            run([python, *pip, "install", f"{wheel}[notebook]", *read_test_requirements()], folder)
            copy_tests(place)
            run([python, "-c", WHERE_IS_IT], place)
            options = [
                "-n",
                "auto",
                "--dist",
                "loadfile",
                "--no-loadscope-reorder",
                "-p",
                "no:cacheprovider",
            ]
            run([python, "-m", "pytest", *options, *ON_THE_WHEEL], place)
        except subprocess.CalledProcessError as failure:
            sys.stderr.write(f"the wheel's test ended with status {failure.returncode}\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
