"""What an export may replace: an earlier one of its kind; never a package."""

from __future__ import annotations

from pathlib import Path

from repropack._export.codecheck import is_draft
from repropack._export.identifiers import are_identifiers
from repropack._export.zenodo import is_deposit
from repropack._format.archive_reader import ArchiveReader
from repropack._read.beside import open_regular
from repropack._run.bag_target import bag_hindrance
from repropack._run.documents import DocumentKind, check_document, whole_kind
from repropack._run.listed import canonical_object
from repropack._run.target import Replaced, check_free
from repropack.errors import PackageError, UsageError
from repropack.models.export import ExportFormat

_DOCUMENTS: dict[ExportFormat, DocumentKind] = {
    "zenodo": whole_kind("a deposit's metadata", lambda data: is_deposit(canonical_object(data))),
    "codecheck": whole_kind("a draft that nobody has filled in", is_draft),
    "swhid": whole_kind("a list of identifiers", are_identifiers),
}


def check_export_target(target: Path, package: Path, *, to: ExportFormat, force: bool) -> None:
    """Refuse a target that is the package or lies in it, or that exists and may not be replaced.

    Args:
        target: What is to be made: for a bag a zip where its name ends in ``.zip``, else a folder.
        package: What is exported, which is never changed.
        to: What is made: a bag, or one kind of document.
        force: Whether an earlier export that stands there may be replaced.

    Raises:
        UsageError: it may not be made there.
    """
    held = package.resolve()
    if target.resolve() == held or (package.is_dir() and target.resolve().is_relative_to(held)):
        raise UsageError(
            f"{target.name}: expected a path outside the package, observed one inside",
            hint="a package is never changed; give another path with -o",
        )
    if to in _DOCUMENTS:
        check_document(target, _DOCUMENTS[to], force=force)
    elif target.suffix == ".zip":
        zipped = Replaced("a bag", "the zip of a bag as repropack writes it")
        check_free(target, zipped, _zip_hindrance, force=force, directory=False)
    else:
        if force and held.is_relative_to(target.resolve()):
            raise UsageError(
                f"{target.name}: expected a folder apart from the package, observed one that holds "
                "it"
            )
        bag = Replaced("a bag", "a bag as repropack writes it")
        check_free(target, bag, _folder_hindrance, force=force, directory=True)


def _zip_hindrance(target: Path) -> str | None:
    """A zip in the form of a package's, with one folder in it, which is a bag of a package."""
    if target.is_symlink() or not target.is_file():
        return "something else"
    with open_regular(target, "the zip of a bag") as stream:
        try:
            reader = ArchiveReader(stream, where=target.name)
            folders = {name.partition("/")[0] for name in reader.members}
            if len(folders) != 1 or any(one.deflated for one in reader.members.values()):
                return "something else"
            (folder,) = folders
            paths = [name.removeprefix(f"{folder}/") for name in reader.members]
            return bag_hindrance(paths, lambda path: reader.open(f"{folder}/{path}"), folder)
        except PackageError:
            return "something else"


def _folder_hindrance(target: Path) -> str | None:
    """A folder that is empty, or a bag of a package as it was written."""
    if target.is_symlink() or not target.is_dir():
        return "something else"
    paths = []
    for place in sorted(target.rglob("*")):
        path = place.relative_to(target).as_posix()
        if place.is_symlink() or not (place.is_file() or place.is_dir()):
            return f"{path!a} in it, which is no file"
        if place.is_file():
            paths.append(path)
    if not paths:
        return None
    return bag_hindrance(paths, lambda path: open_regular(target / path, "a file"))
