"""Say what the interpreter of a worker can import, and from where: one JSON document.

Run by path with ``-P -B`` in a worker's environment. It runs what the interpreter itself runs at
its start, finders of editable installs included, and nothing else.
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

_TABLES = ("MAPPING", "NAMESPACES")
_MEMBERS = ("known_source_files", "known_wheel_files")


def main() -> int:
    """Print search path, prefixes, and the files that finders of editable installs lead to.

    Returns:
        0.
    """
    told = {
        "path": [entry for entry in sys.path if pathlib.Path(entry).is_absolute()],
        "prefixes": sorted({sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}),
        "executable": sys.executable,
        "found": sorted(set(_found())),
    }
    sys.stdout.write(json.dumps(told))  # noqa: TID251 - imports nothing of repropack
    return 0


def _found() -> list[str]:
    """Absolute paths in the tables of finders, as setuptools and scikit-build-core write them."""
    places: list[str] = []
    for finder in sys.meta_path:
        kind = finder if isinstance(finder, type) else type(finder)
        module = sys.modules.get(kind.__module__)
        if kind.__module__.startswith(("_frozen_importlib", "importlib")):
            continue
        tables: list[Any] = [getattr(module, name, None) for name in _TABLES]
        tables += [getattr(finder, name, None) for name in _MEMBERS]
        for table in tables:
            for value in table.values() if isinstance(table, dict) else ():
                places += [value] if isinstance(value, str) else list(map(str, value))
    return [place for place in places if pathlib.Path(place).is_absolute()]


if __name__ == "__main__":
    sys.exit(main())
