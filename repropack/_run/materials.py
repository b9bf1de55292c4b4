"""What every run of a project is given: its source and inputs, copied once into a work folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from repropack._format.digests import digest_stream
from repropack._format.layout import INPUTS, SOURCE, media_type_of
from repropack._read.beside import open_regular
from repropack._read.package import Package
from repropack._read.project import InputFile, Project
from repropack._run.folders import files_below
from repropack.errors import CouldNotRunError, ProjectError, UsageError
from repropack.models.manifest import Entry


@dataclass(frozen=True)
class Materials:
    """What every run of a plan is given.

    Attributes:
        source: Folder of the experiment's source.
        inputs: Folder of its input files, by their path in the project; ``None`` where it has none.
    """

    source: Path
    inputs: Path | None = None

    def source_paths(self) -> dict[str, Path]:
        """Every file of the source by its path in the project."""
        return files_below(self.source)

    def input_paths(self) -> dict[str, Path]:
        """Every input by its path in the project."""
        return {} if self.inputs is None else files_below(self.inputs)


def copy_materials(
    project: Project, sources: Iterable[tuple[str, Path]], work: Path
) -> tuple[Materials, tuple[Entry, ...]]:
    """Copy source and inputs of a project into a work folder.

    Args:
        project: The project.
        sources: The files that are its source: path in the project, and place.
        work: The work folder; what it holds of them is replaced.

    Returns:
        Where they lie, and the manifest's rows of inputs that are not packed.

    Raises:
        ProjectError: a file is missing, or an input is not the one that the project file says.
        OSError: a file cannot be copied.
    """
    for path, place in sources:
        _copy(place, work / SOURCE / path)
    references = []
    for file in project.input_files():
        _copy(file.place, work / INPUTS / file.path)
        entry = _described(project, file, work / INPUTS / file.path)
        if not file.row.include:
            references.append(entry)
    inputs = work / INPUTS
    return Materials(work / SOURCE, inputs if inputs.is_dir() else None), tuple(references)


def unpack_materials(package: Package, folder: Path, given: Mapping[str, str | Path]) -> Materials:
    """Copy what a package's runs are given; every byte is held against its digest once more.

    Args:
        package: The package, checked.
        folder: Where they go, below ``source`` and ``inputs``.
        given: Where inputs lie that the package holds by reference, by their path in it.

    Returns:
        Where they lie.

    Raises:
        CouldNotRunError: an input that is held by reference is not given.
        UsageError: what is given is not what the package means, or the package holds no such
            input by reference.
        PackageError: the package has changed since it was checked.
        OSError: a file cannot be copied.
    """
    wanted = {str(path).removeprefix(f"{INPUTS}/"): Path(place) for path, place in given.items()}
    (folder / SOURCE).mkdir()
    for entry in package.manifest.entries:
        if entry.role not in {"source", "input"}:
            continue
        copy = folder / entry.path
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not entry.included:
            _fetch(entry, wanted.pop(entry.path.removeprefix(f"{INPUTS}/"), None), copy)
            continue
        with copy.open("xb") as stream:
            package.copy_entry(entry, stream)
        copy.chmod(0o755 if entry.executable else 0o644)
    if wanted:
        held = [row.path for row in package.manifest.entries if not row.included]
        names = ", ".join(path.removeprefix(f"{INPUTS}/") for path in held) or "none"
        raise UsageError(
            f"--input {min(wanted)}: expected an input that is held by reference ({names})"
        )
    inputs = folder / INPUTS
    return Materials(folder / SOURCE, inputs if inputs.is_dir() else None)


def _fetch(entry: Entry, place: Path | None, copy: Path) -> None:
    """Copy an input that the package does not hold from where the caller has it."""
    name = entry.path.removeprefix(f"{INPUTS}/")
    if place is None:
        raise CouldNotRunError(
            f"input {name!r} is held by reference ({entry.digest}, {entry.size} bytes): "
            f"expected the file, observed none given; where to get it: {entry.location}",
            hint=f"get it and give --input {name}=PATH",
        )
    try:
        with open_regular(place, "a file") as source, copy.open("xb") as target:
            size = os.fstat(source.fileno()).st_size
            if size == entry.size:  # else it is another, however large
                shutil.copyfileobj(source, target)
    except OSError as error:
        raise UsageError(f"--input {name}: {place}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"--input {name}: {place}: {error}") from error
    if size != entry.size:
        raise UsageError(
            f"--input {name}: {place}: expected {entry.digest} ({entry.size} bytes), "
            f"observed {size} bytes"
        )
    with copy.open("rb") as stream:
        digest, size = digest_stream(stream)
    if (digest, size) != (entry.digest, entry.size):
        raise UsageError(
            f"--input {name}: {place}: expected {entry.digest} ({entry.size} bytes), "
            f"observed {digest} ({size} bytes)"
        )


def _described(project: Project, file: InputFile, copy: Path) -> Entry:
    """The input's row in a manifest, once it is what the project file says of it."""
    with copy.open("rb") as stream:
        digest, size = digest_stream(stream)
    row = file.row
    for name, expected, observed in (("digest", row.digest, digest), ("size", row.size, size)):
        if expected not in {None, observed}:
            key = f"experiment.inputs {file.path!r}"
            problem = f"expected {name} {expected}, as it says there; the file has {observed}"
            raise ProjectError(str(project.file), ((key, problem),))
    path = f"{INPUTS}/{file.path}"
    return Entry(
        path=path,
        size=size,
        digest=digest,
        role="input",
        media_type=media_type_of(path),
        included=row.include,
        location=row.location,
    )


def _copy(place: Path, copy: Path) -> None:
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(place, copy)
    copy.chmod(0o755 if place.stat().st_mode & 0o100 else 0o644)
