"""Start a worker: import this very copy of repropack, whatever else the interpreter can find.

Run by path with ``-P``, so that neither this folder nor the working directory is importable.
"""

from __future__ import annotations

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


if __name__ == "__main__":
    _import_own_package()
    if sys.argv[1:] == ["observe"]:
        from repropack._run.environment import main
    else:
        from repropack._run.worker import main

    sys.exit(main())
