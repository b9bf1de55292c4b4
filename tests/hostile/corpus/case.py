"""What a case of the corpus is, and the few ways in which one is written to disk.

Every case changes one thing of an honest package and makes everything else right again: sizes,
digests, chains, results and the zip around them, so that only its lie is left to be found.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from repropack._format.canonical import encode_canonical
from tests.hostile.corpus.bases import Base
from tests.support.hostile import OTHER_PAGE, Forgery

FORMAT = "package.format"
UNSAFE = "package.unsafe-entry"
LIMIT = "package.limit-exceeded"
SCHEMA = "package.schema"
INTEGRITY = "package.integrity"
NEWER = "package.unsupported-version"

Form = str
"""``zip`` or ``directory``."""
Write = Callable[[Base, Form, Path], Path]
"""Write the case below a folder that is empty, and return the package's path."""
Tell = Callable[[Base, Forgery], object]
"""Change a package that was taken apart; digests are made right again afterwards."""


@dataclass(frozen=True)
class Case:
    """One lie, told to both bases, and what ``check`` has to say.

    ``word`` stands in the entry or the problem of a fault with ``code``; ``code`` is ``None`` where
    the package has to be accepted. ``faults`` is how many faults are expected, ``None`` where their
    number says nothing. ``needs`` names what a machine must have for it. ``heavy`` cases take
    seconds to make.
    """

    name: str
    threat: str
    lie: str
    write: Write
    code: str | None
    word: str = ""
    forms: tuple[Form, ...] = ("zip",)
    bases: tuple[str, ...] = ("own", "lab")
    faults: int | None = 1
    rule: str | None = None
    needs: str = ""
    heavy: bool = False

    @property
    def family(self) -> str:
        """The part of the name before the slash."""
        return self.name.partition("/")[0]

    @property
    def status(self) -> int:
        """The exit status of ``check``."""
        return {None: 0, NEWER: 4}.get(self.code, 3)


@dataclass(frozen=True)
class Variant:
    """A case as it is told to one base in one form."""

    case: Case
    base: str
    form: Form

    @property
    def name(self) -> str:
        """Name of the case, the base and the form."""
        return f"{self.case.name}-{self.base}-{self.form}"


def variants(case: Case) -> Iterator[Variant]:
    """Every form of a case for a user's package; its first form only for the lab's."""
    for base in case.bases:
        for form in case.forms if base == case.bases[0] else case.forms[:1]:
            yield Variant(case, base, form)


# ---------------------------------------------------------------- ways to write a case


def told(tell: Tell) -> Write:
    """Take the package apart, change it, seal it with right digests."""

    def write(base: Base, form: Form, folder: Path) -> Path:
        forgery = base.forgery()
        tell(base, forgery)
        return seal(forgery, form, folder)

    return write


def sealed(change: Callable[[Base, Any], object]) -> Write:
    """Change the manifest's values after everything was sealed."""

    def write(base: Base, form: Form, folder: Path) -> Path:
        forgery = base.forgery()
        forgery.files["index.html"] = OTHER_PAGE  # the right one is of the manifest as it was
        manifest = json.loads(forgery.seal())
        change(base, manifest)
        return seal(forgery, form, folder, encode_canonical(manifest))

    return write


def spelled(change: Callable[[bytes], bytes]) -> Write:
    """Change the manifest's bytes after everything was sealed."""

    def write(base: Base, form: Form, folder: Path) -> Path:
        forgery = base.forgery()
        return seal(forgery, form, folder, change(forgery.seal()))

    return write


def raw(make: Callable[[Base], bytes], name: str = "case.zip") -> Write:
    """A file of bytes."""

    def write(base: Base, form: Form, folder: Path) -> Path:
        path = folder / name
        path.write_bytes(make(base))
        return path

    return write


def placed(change: Callable[[Base, Path], object]) -> Write:
    """An honest directory in which something is changed; may return another path to it."""

    def write(base: Base, form: Form, folder: Path) -> Path:
        path = base.forgery().write_directory(folder / "case")
        moved = change(base, path)
        return moved if isinstance(moved, Path) else path

    return write


def seal(forgery: Forgery, form: Form, folder: Path, manifest: bytes | None = None) -> Path:
    """Write a forged package as a zip or as a directory."""
    if form == "zip":
        return forgery.write_zip(folder / "case.zip", manifest)
    return forgery.write_directory(folder / "case", manifest)


BOTH: tuple[Form, ...] = ("zip", "directory")
DIRECTORY: tuple[Form, ...] = ("directory",)


def rows(threat: str, family: str, *cases: Case) -> tuple[Case, ...]:
    """Name the family and threat of cases that were written without."""
    return tuple(
        replace(case, name=f"{family}/{case.name}", threat=case.threat or threat) for case in cases
    )


def lie(name: str, text: str, write: Write, code: str | None, word: str, **more: Any) -> Case:
    """A case whose family and threat ``rows`` fills in."""
    return Case(name, more.pop("threat", ""), text, write, code, word, **more)
