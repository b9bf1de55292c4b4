"""Start a worker: import this very copy of repropack, whatever else the interpreter can find.

Run by path with ``-P``, so that neither this folder nor the working directory is importable.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path


def _import_own_package() -> None:
    package = Path(__file__).resolve().parents[1]
    spec = spec_from_file_location(
        "repropack", package / "__init__.py", submodule_search_locations=[str(package)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import repropack from {package}")
    module = module_from_spec(spec)
    sys.modules["repropack"] = module
    spec.loader.exec_module(module)


def _begin_again_with(variables: str) -> None:
    """Become this script with more variables, a JSON object: some count from the very start."""
    command = [sys.executable, "-P", "-B", __file__]
    environment = {**os.environ, **json.loads(variables)}  # noqa: TID251 - before repropack is there
    os.execve(sys.executable, command, environment)  # noqa: S606 - the same program


if __name__ == "__main__":
    if sys.argv[1:2] == ["with"]:
        _begin_again_with(sys.argv[2])
    _import_own_package()
    if sys.argv[1:] == ["observe"]:
        from repropack._run.environment import main
    elif sys.argv[1:] == ["locate"]:
        from repropack._run.origins import main
    else:
        from repropack._run.worker import main

    sys.exit(main())
