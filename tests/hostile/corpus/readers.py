"""T12: packages that attack whoever reads about them. ``check`` accepts most: they are escaped.

And the honest packages that must never be refused: a reader that refuses everything is no use.
"""

# ruff: noqa: E501 - one line a lie

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

from repropack._format.archive_writer import ArchiveWriter
from repropack.models.authored import Author
from tests.hostile.corpus.bases import Base
from tests.hostile.corpus.case import (
    BOTH,
    DIRECTORY,
    Case,
    Write,
    lie,
    placed,
    raw,
    rows,
    told,
)
from tests.hostile.corpus.logs import chained
from tests.hostile.corpus.manifests import about, author, replaced
from tests.hostile.corpus.raw_zip import unpinned
from tests.support.hostile import Forgery

SCRIPT = "<script>document.title='x'</script>"
SVG = b"""<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script>
<image href="https://example.org/pixel.png"/><foreignObject><iframe src="/"/></foreignObject></svg>
"""
PAGE = b"""# A title\n\n<script>alert(1)</script> <img src=x onerror=alert(1)>
[run](javascript:alert(1)) ![](https://example.org/pixel.png) \x1b[2J\x1b]0;x\x07 \xe2\x80\xae
"""


def in_environment(change: Callable[[Any], object]) -> Write:
    """Change the record of the machine, which is free to say anything."""
    return told(lambda base, forgery: forgery.edit("environment.json", change))


def output_cell(data: dict[str, Any]) -> Write:
    """A cell more in the notebook, with an output that a viewer would render."""

    def tell(base: Base, forgery: Forgery) -> None:
        notebook = json.loads(forgery.files["notebook.ipynb"])
        output = {"output_type": "display_data", "metadata": {}, "data": data}
        cell = {
            "cell_type": "code",
            "id": "zz",
            "metadata": {},
            "source": "",
            "execution_count": 1,
            "outputs": [output],
        }
        notebook["cells"].append(cell)
        forgery.files["notebook.ipynb"] = json.dumps(notebook, indent=1).encode()
        forgery.edit("plan.json", lambda plan: plan.update(notebook="executed"))

    return told(tell)


def figure(name: str, content: bytes) -> Write:
    """A figure more, or another."""
    return told(lambda base, forgery: forgery.files.update({f"figures/{name}": content}))


def finish(reason: str) -> Write:
    """The run ends for a reason that is its author's to word."""
    return chained(lambda base, line: line.update(finish=reason), step=0)


ACTIVE = rows(
    "T12",
    "active",
    lie("title-markup", "A title that is a script.", about(title=SCRIPT), None, ""),
    lie("title-markdown", "A title that is a link.", about(title="[x](javascript:alert(1)) `id` $HOME %s {0}"), None, ""),
    lie("author-markup", "An author who is an image.", author(name="<img src=x onerror=alert(1)>"), None, ""),
    lie("description-formula", "A description that is a formula of a table.", about(description="=cmd|'/C calc'!A1"), None, ""),
    lie("title-marks", "A title with a tower of marks.", about(title="e" + "\u0301" * 60), None, ""),
    lie("title-lookalike", "A title with letters of another script.", about(title="id\u0435ntical"), None, ""),
    lie("environment-escape", "A compiler that clears the screen.", in_environment(lambda v: v["interpreter"].update(compiler="GCC\x1b[2J\x1b[Hidentical")), None, ""),
    lie("environment-c1", "A processor with an escape of one byte.", in_environment(lambda v: v["cpu"].update(model="CPU\x9b31m\u202e")), None, ""),
    lie("environment-lines", "A distribution's version of two lines.", in_environment(lambda v: v["distributions"][0].update(version="1\nidentical")), None, ""),
    lie("finish-escape", "A run ends with an escape.", finish("done\x1b[2J\ridentical"), None, ""),
    lie("finish-markup", "A run ends with a script.", finish(SCRIPT), None, ""),
    lie("finish-reversed", "A run ends backwards.", finish("\u202elacitnedi\u2066"), None, ""),
    lie("readme", "A README with scripts, links and escapes.", replaced("README.md", PAGE), None, "", forms=BOTH),
    lie("license", "A license of a hundred kilobytes of escapes.", replaced("LICENSE", b"\x1b[2J" * 25_000), None, ""),
    lie("source", "A source that is not text.", told(lambda b, f: f.files.update({"source/zz.bin": bytes(range(256))})), None, ""),
    lie("figure-script", "A figure with a script.", figure("agreement.svg", SVG), None, ""),
    lie("figure-entities", "A figure that expands without end.", figure("zz.svg", b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><svg>&b;</svg>'), None, ""),
    lie("figure-external", "A figure that reads the reader's files.", figure("zz.svg", b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg>&a;</svg>'), None, ""),
    lie("figure-kind", "A figure that is a page.", figure("zz.html", b"<script>alert(1)</script>"), None, ""),
    lie("notebook-script", "A notebook whose output is a script.", output_cell({"application/javascript": "alert(1)"}), None, ""),
    lie("notebook-markup", "A notebook whose output is a page.", output_cell({"text/html": SCRIPT}), None, ""),
    lie("notebook-plain", "A notebook whose text is an escape.", output_cell({"text/plain": "\x1b[2J"}), None, ""),
    lie("notebook-widget", "A notebook whose output is a widget.", output_cell({"application/vnd.jupyter.widget-view+json": {"model_id": "x"}}), None, ""),
)  # fmt: skip

# ---------------------------------------------------------------- controls


def honest(base: Base, form: str, folder: Path) -> Path:
    """Nothing was changed."""
    forgery = base.forgery()
    return (
        forgery.write_zip(folder / "case.zip")
        if form == "zip"
        else forgery.write_directory(folder / "case")
    )


def compressed(base: Base) -> bytes:
    """The same package as ``--compress`` writes it."""
    forgery = base.forgery()
    stream = BytesIO()
    writer = ArchiveWriter(stream)
    for name, content in [("manifest.json", forgery.seal()), *sorted(forgery.files.items())]:
        writer.add(name, content, executable=name in forgery.executables, deflate=True)
    writer.finish()
    return stream.getvalue()


def named_link(base: Base, folder: Path) -> Path:
    """The package under a link that the user named."""
    link = folder.parent / "link"
    link.symlink_to(folder)
    return link


def without_figures(base: Base, forgery: Forgery) -> None:
    for path in [path for path in forgery.files if path.startswith("figures/")]:
        del forgery.files[path]


def read_only(base: Base, folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            path.chmod(path.stat().st_mode & 0o555)


def empty_folders(base: Base, folder: Path) -> None:
    for number in range(3000):
        (folder / "source" / f"d{number}").mkdir()


def old_times(base: Base, folder: Path) -> None:
    for path in folder.rglob("*"):
        os.utime(path, (0, 0))


CONTROLS = rows(
    "",
    "honest",
    lie("as-built", "The package as it was built.", raw(lambda base: base.package.read_bytes()), None, ""),
    lie("rewritten", "The package, taken apart and written again.", honest, None, "", forms=BOTH),
    lie("unpinned", "The package, written by the corpus's own zip writer.", raw(lambda base: unpinned(base).pack()), None, ""),
    lie("compressed", "The package, deflated.", raw(compressed), None, ""),
    lie("other-name", "A package whose file has another name.", raw(lambda base: base.package.read_bytes(), "package without extension"), None, ""),
    lie("scripts", "Sources named in several scripts.", told(lambda b, f: f.files.update({"source/donn\u00e9es brutes.py": b"", "source/\u6570\u636e/\u30c7\u30fc\u30bf.py": b"", "source/\u0434\u0430\u043d\u043d\u044b\u0435.py": b""})), None, "", forms=BOTH),
    lie("punctuation", "Sources with usual punctuation in their names.", told(lambda b, f: f.files.update({"source/a (1), b=2 [c] {d} #e!~&%@-+_.py": b""})), None, "", forms=BOTH),
    lie("hidden-source", "A hidden source that is listed.", told(lambda b, f: f.files.update({"source/.flake8": b"[flake8]\n"})), None, ""),
    lie("like-a-device", "A name that only begins like a device.", told(lambda b, f: f.files.update({"source/console.py": b"", "source/com10.py": b"", "source/auxiliary.py": b""})), None, ""),
    lie("dots", "A name with three dots.", told(lambda b, f: f.files.update({"source/...a": b"", "source/a..b": b""})), None, ""),
    lie("longest-name", "The longest component that is allowed.", told(lambda b, f: f.files.update({"source/" + "a" * 200: b""})), None, ""),
    lie("deepest-name", "The deepest path that is allowed.", told(lambda b, f: f.files.update({"source/" + "/".join("d" * 31): b""})), None, ""),
    lie("input", "An input file.", told(lambda b, f: f.files.update({"inputs/data 1.csv": b"1,2\n"})), None, "", forms=BOTH),
    lie("empty-files", "Files of nothing.", told(lambda b, f: f.files.update({"source/__init__.py": b"", "LICENSE": b""})), None, ""),
    lie("executable-source", "A source that can be executed.", told(lambda b, f: f.executables.add(b.source)), None, "", forms=BOTH),
    lie("no-figures", "A package without figures.", told(without_figures), None, ""),
    lie("another-license", "Another license in the metadata.", about(license="MIT"), None, ""),
    lie("no-date", "A package without a date.", about(date=None), None, ""),
    lie("many-authors", "A package of two hundred authors.", about(authors=[Author(name=f"A{k} \u00c9").model_dump(mode="json") for k in range(200)]), None, ""),
    lie("long-title", "The longest title that is allowed.", about(title="\u00e9" * 500), None, ""),
    lie("ended-early", "A run that ended for a reason.", finish("converged"), None, ""),
    lie("other-machine", "A package of another machine.", in_environment(lambda v: v["platform"].update(machine="riscv64", libc=None)), None, ""),
)  # fmt: skip

FOLDERS = rows(
    "",
    "honest-folder",
    lie("named-by-a-link", "The user named a link.", placed(named_link), None, ""),
    lie("empty-folders", "Thousands of empty folders.", placed(empty_folders), None, ""),
    lie("read-only", "Nobody may write the files.", placed(read_only), None, ""),
    lie("old", "The files are older than zips can say.", placed(old_times), None, ""),
    lie("hard-link", "A file has a second name elsewhere.", placed(lambda b, f: (f.parent / "elsewhere").hardlink_to(f / "LICENSE")), None, ""),
)  # fmt: skip

CASES: tuple[Case, ...] = (
    *ACTIVE,
    *CONTROLS,
    *(replace(case, forms=DIRECTORY) for case in FOLDERS),
)
