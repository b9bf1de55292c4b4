"""A project that says everything which archives ask for, around two small scripts."""

from __future__ import annotations

from pathlib import Path

from repropack.build import build_package
from tests.support.commands import write_files

PROJECT = """\
[package]
name = "lake"
version = "1.2.0"
title = 'A lake: "cold" & deep'
license = "MIT OR Apache-2.0"
date = 2026-11-29
description = "Levels of a lake: counted # and summed."
type = "dataset"
keywords = ["lake", "level: daily"]
repository = "https://example.org/lake"
doi = "10.5281/zenodo.1234"
contact = { name = "Ada Lovelace", email = "ada@example.org" }
publisher = { name = "An archive", url = "https://archive.example.org/" }
funding = [{ funder = "A fund", award = "F-1" }]

[package.article]
title = "Lakes"
doi = "10.1000/182"
authors = [{ name = "Ada Lovelace", orcid = "0000-0002-1825-0097" }]

[[package.authors]]
name = "Ada Lovelace"
given-names = "Ada"
family-names = "Lovelace"
orcid = "0000-0002-1825-0097"
affiliation = "An institute"
affiliation-ror = "https://ror.org/05dxps055"
[[package.authors]]
name = "Somebody"
[[package.authors]]
name = "The group"
kind = "organization"

[experiment]
command = ["python", "levels.py"]
source = ["levels.py", "tools/sum it.sh", "draw.py"]
inputs = ["levels.csv", { path = "deep.csv", include = false, location = "ask the authors" }]
outputs = ["levels.json"]
environment = { MODE = "daily mean" }

[[comparisons]]
name = "again"
hash-seed = 1
expect = "identical"

[[after]]
command = ["python", "draw.py"]
outputs = ["table.csv"]
"""
LEVELS = """\
import json

counts = {name: len(open(name).readlines()) for name in ("levels.csv", "deep.csv")}
with open("levels.json", "w") as stream:
    json.dump(counts, stream)
"""
DRAW = """\
with open("table.csv", "w") as stream:
    stream.write("lake,level\\n")
"""


def write_described(folder: Path) -> Path:
    """Write the project; one of its source files may be executed."""
    write_files(
        folder,
        {
            "repropack.toml": PROJECT,
            "levels.py": LEVELS,
            "draw.py": DRAW,
            "tools/sum it.sh": "#!/bin/sh\ncat levels.json\n",
            "levels.csv": "0.5\n1.5\n",
            "deep.csv": "7\n",
            "README.md": "Takes a second. Writes levels.json and table.csv.\n",
            "LICENSE": "MIT or Apache-2.0\n",
        },
    )
    (folder / "tools" / "sum it.sh").chmod(0o755)
    return folder


def build_lake(folder: Path) -> Path:
    """Build its package as a zip that nothing may write to."""
    path = folder / "lake.zip"
    build_package(write_described(folder / "project"), path, unexecuted_notebook=True)
    path.chmod(0o444)
    return path
