#!/usr/bin/env python3
"""Write ``schemas/v1/`` from the models, or say where the committed files differ from them.

The schemas are never edited by hand. ``--check`` writes nothing and ends with status 1 when a file
is missing, unexpected or different.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from repropack._format.schemas import generate_schemas

SCHEMA_FOLDER = Path(__file__).resolve().parent.parent / "schemas" / "v1"
SUFFIX = ".schema.json"


def find_differences(generated: dict[str, bytes], folder: Path) -> list[str]:
    """Return one line for each file of ``folder`` that is not what the models generate."""
    committed = {path.name.removesuffix(SUFFIX): path for path in folder.glob(f"*{SUFFIX}")}
    differences = []
    for name in sorted(generated.keys() | committed.keys()):
        if name not in committed:
            differences.append(f"{name}{SUFFIX}: missing")
        elif name not in generated:
            differences.append(f"{name}{SUFFIX}: unexpected, no model generates it")
        elif committed[name].read_bytes() != generated[name]:
            differences.append(f"{name}{SUFFIX}: differs from its model")
    return differences


def write_schemas(generated: dict[str, bytes], folder: Path) -> None:
    """Make ``folder`` hold the generated schemas and no other."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob(f"*{SUFFIX}"):
        if path.name.removesuffix(SUFFIX) not in generated:
            path.unlink()
    for name, content in generated.items():
        (folder / f"{name}{SUFFIX}").write_bytes(content)


def main(arguments: list[str] | None = None) -> int:
    """Run the script.

    Returns:
        The exit status: 1 where ``--check`` found a difference.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; list differences")
    parser.add_argument("--folder", type=Path, default=SCHEMA_FOLDER, help="where schemas lie")
    options = parser.parse_args(arguments)
    generated = generate_schemas()
    differences = find_differences(generated, options.folder)
    if options.check:
        for difference in differences:
            sys.stderr.write(f"{options.folder.name}/{difference}\n")
        if differences:
            sys.stderr.write("run `make schemas` and look at what changed\n")
        return 1 if differences else 0
    write_schemas(generated, options.folder)
    for difference in differences:
        sys.stdout.write(f"{options.folder.name}/{difference}: now as generated\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
