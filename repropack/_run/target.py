"""What may be replaced at a target, and how: never anything but what repropack makes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from repropack._format.layout import MANIFEST
from repropack._format.zip_layout import LOCAL_SIGNATURE, LOCAL_STRUCT
from repropack.errors import UsageError
from repropack.models.manifest import FORMAT_NAME


def check_target(target: Path, *, force: bool, directory: bool) -> None:
    """Refuse a target that exists, unless it is to be replaced and is a package itself.

    Args:
        target: The zip or directory to make.
        force: Whether a package that stands there may be replaced.
        directory: Whether a directory is to be made.

    Raises:
        UsageError: something stands there that may not be replaced.
    """
    if not target.exists() and not target.is_symlink():
        return
    kind = "folder" if directory else "path"
    if not force:
        raise UsageError(
            f"{target.name}: expected a {kind} that does not exist, observed one that does",
            hint="give another, or --force to replace a package",
        )
    if target.is_symlink() or not (_is_directory(target) if directory else _is_zip(target)):
        expected = "a package directory" if directory else "a package's zip"
        raise UsageError(
            f"{target.name}: expected {expected} to replace, observed something else",
            hint="only a package is ever replaced: give another path",
        )


def replace_directory(tree: Path, target: Path) -> None:
    """Put ``tree`` in the place of ``target``; where that fails, ``target`` is put back.

    What stood there waits beside the target, outside the work folder, until the new one stands: a
    process that is killed in between leaves it there whole.
    """
    if not target.exists():
        tree.rename(target)
        return
    former = target.with_name(f"{tree.parent.name}.former")
    try:
        target.rename(former)
        tree.rename(target)
    except BaseException:
        if former.exists() and not target.exists():
            former.rename(target)
        raise
    shutil.rmtree(former, ignore_errors=True)


def _is_zip(target: Path) -> bool:
    """Whether a file begins as every package does: with the entry ``manifest.json``."""
    if not target.is_file():
        return False
    name = MANIFEST.encode("ascii")
    with target.open("rb") as stream:
        head = stream.read(LOCAL_STRUCT.size + len(name))
    return head.startswith(LOCAL_SIGNATURE) and head.endswith(name)


def _is_directory(target: Path) -> bool:
    """Whether a directory is empty or holds a package's manifest."""
    if not target.is_dir():
        return False
    if next(target.iterdir(), None) is None:
        return True
    try:
        manifest = json.loads((target / MANIFEST).read_bytes())  # noqa: TID251 - a look, no reading
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("format") == FORMAT_NAME
