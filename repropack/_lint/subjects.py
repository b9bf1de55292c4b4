"""A project or a package as what the rules look at."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from repropack._format.canonical import encode_canonical
from repropack._format.layout import AUTHOR_READMES, INPUTS, LICENSE, PLAN, SCHEMAS, SOURCE
from repropack._lint.subject import FileKind, LintedFile, Subject
from repropack._read.package import Package
from repropack._read.project import README_FILES, Project
from repropack._read.project_sources import is_own_file, is_pattern_inside
from repropack.errors import PackageFormatError, ProjectError
from repropack.models.manifest import Entry
from repropack.refusals import refusal

SourceFiles = tuple[tuple[str, Path], ...]
LOCK_FILES = (
    "requirements.lock", "pylock.toml", "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock",
    "conda-lock.yml", "pixi.lock",
)  # fmt: skip
_README = re.compile(r"readme(\.(md|rst|txt|markdown|org))?", re.IGNORECASE)
_FOLDER_OF_KIND: dict[str, FileKind] = {"source": "source", "input": "input", "output": "output"}


def project_subject(project: Project, sources: SourceFiles, *, locked: bool = False) -> Subject:
    """Look at a project as its package will be: source, inputs, licence, settings.

    Args:
        project: The project.
        sources: The files that are packed as its source, as path and place.
        locked: Whether the package will lock its distributions.

    Returns:
        What the rules look at. The README counts as one also where it is not packed.

    Raises:
        ProjectError: inputs cannot be listed, a file cannot be read, or the
            configuration cannot be encoded.
    """
    plan, metadata = project.plan(), project.metadata()
    settings = project.file.name
    inputs = project.input_files()
    text = project.license_text()
    try:
        listed = [
            *(_own_file(path, place, "source") for path, place in sources),
            *(_own_file(row.path, row.place, "input") for row in inputs if row.row.include),
        ]
        packed = {file.path for file in listed}
        names = sorted(
            item.name for item in os.scandir(project.root) if _README.fullmatch(item.name)
        )
        listed += [
            _own_file(name, project.root / name, "readme", packed=name in README_FILES)
            for name in names
            if name not in packed and is_own_file(project.root, name)
        ]
    except OSError as error:
        problem = f"{error.filename!r} cannot be read: {error.strerror}"
        raise ProjectError(str(project.file), (("experiment.source", problem),)) from error
    values = [plan.model_dump(mode="json"), metadata.model_dump(mode="json")]
    listed.append(_held_file(settings, encode_canonical(values)))
    if text is not None and LICENSE not in packed:
        listed.append(_held_file(LICENSE, text))
    seen = {row.path for row in inputs} | packed
    return Subject(
        kind="project",
        settings=settings,
        metadata=metadata,
        plan=plan,
        files=tuple(listed),
        inputs=tuple(row.path for row in inputs),
        license_text=text,
        locked=locked or any(is_own_file(project.root, name) for name in LOCK_FILES),
        left_out=lambda name: name not in seen and _is_there(project.root, name),
    )


def package_subject(package: Package) -> Subject:
    """Look at a package's entries, but those that are published elsewhere as they are.

    Left out are schemas and the checker, which are repropack's own, and wheels, which an index has
    under the same digest: what others wrote in them is no finding about this package.

    Args:
        package: The open package.

    Returns:
        What the rules look at, usable while the package is open.

    Raises:
        PackageError: plan or licence cannot be read, or an entry is not there.
    """
    entries = package.manifest.entries
    held = package.read(LICENSE) if LICENSE in package.container else b""
    identifier = re.fullmatch(rb"SPDX-License-Identifier: [^\n]*\n", held)
    return Subject(
        kind="package",
        settings=PLAN,
        metadata=package.manifest.package,
        plan=package.plan,
        files=tuple(_entries(package)),
        inputs=tuple(row.path.removeprefix(f"{INPUTS}/") for row in entries if row.role == "input"),
        license_text=None if identifier or not held else held,
        locked=any(row.role == "lock" for row in entries),
        limits=package.limits,
    )


def made_by_runs(subject: Subject) -> Subject:
    """A package as its project did not show it: entries that are no source, input or licence.

    Args:
        subject: A package.

    Returns:
        The same with those files alone.
    """
    shown = {
        LICENSE,
        *AUTHOR_READMES,
        *(file.path for file in subject.files if file.kind in {"source", "input"}),
    }
    shown |= {file.path for file in subject.files if file.path.startswith(f"{SOURCE}/")}
    return replace(subject, files=tuple(one for one in subject.files if one.path not in shown))


def _entries(package: Package) -> Iterator[LintedFile]:
    for entry in package.manifest.entries:
        elsewhere = entry.role in {"checker", "wheel"} or entry.path.startswith(f"{SCHEMAS}/")
        if entry.included and not elsewhere:
            if entry.path not in package.container:
                rule = "manifest.file-missing"
                raise PackageFormatError(refusal(rule, entry.path, "missing", "this entry", "none"))
            yield LintedFile(
                path=entry.path,
                kind=_kind_of(entry),
                size=package.container.size(entry.path),
                open=partial(package.container.open, entry.path),
                name=_name_of(entry),
            )


def _name_of(entry: Entry) -> str:
    """The path under which the experiment knows an entry."""
    folder, _, rest = entry.path.partition("/")
    if entry.role == "output":
        return entry.path.split("/", 3)[3]
    return rest if folder in {SOURCE, INPUTS} else entry.path


def _kind_of(entry: Entry) -> FileKind:
    if entry.path in AUTHOR_READMES or (
        entry.role == "source" and _README.fullmatch(_name_of(entry))
    ):
        return "readme"
    return _FOLDER_OF_KIND.get(entry.role, "other")


def _own_file(path: str, place: Path, kind: FileKind, *, packed: bool = True) -> LintedFile:
    is_readme = kind == "source" and _README.fullmatch(path)
    return LintedFile(
        path=path,
        kind="readme" if is_readme else kind,
        size=place.stat().st_size,
        open=_opener(place),
        name=path,
        packed=packed,
    )


def _opener(place: Path) -> Callable[[], BinaryIO]:
    return lambda: place.open("rb")


def _held_file(path: str, data: bytes) -> LintedFile:
    return LintedFile(path, "other", len(data), partial(BytesIO, data), path)


def _is_there(root: Path, name: str) -> bool:
    """Whether a regular file lies in the project folder under this name."""
    if not is_pattern_inside(name):
        return False
    try:
        return stat.S_ISREG((root / name).stat().st_mode)
    except (OSError, ValueError):
        return False
