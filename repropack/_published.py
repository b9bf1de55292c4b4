"""What ``publish`` may replace: a folder that it made, as it made it, and nothing else.

A published folder lists its files with their digests. A list can be written anew by whoever edits
the folder, so that it is believed only of names that ``publish`` itself lays out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from repropack._format.digests import digest_bytes
from repropack._format.layout import MANIFEST
from repropack._format.limits import DEFAULT_LIMITS
from repropack._format.page_head import MAX_HEAD_BYTES, page_version
from repropack._format.statements import STATEMENT_SUFFIX
from repropack._present.front_page import AS_IT_IS, FRONT, NOTEBOOK_PAGE, REPORT_PAGE, SUMS
from repropack._read.beside import begin_of, read_beside
from repropack._run.listed import canonical_object, edited, first_unlisted, listed_in_manifest
from repropack.errors import UsageError

_SIGNATURE = re.compile(r"(?:\.[A-Za-z0-9_-]{1,40})?\.sig")
_HINT = "only what was published is ever replaced: give another folder, or remove this one yourself"


def sums_bytes(digests: Mapping[str, str]) -> bytes:
    """Write ``SHA256SUMS``, as ``sha256sum -c`` reads it.

    Args:
        digests: ``sha256:`` and 64 digits by path.

    Returns:
        A line a file, sorted by the bytes of its path.
    """
    paths = sorted(digests, key=lambda path: path.encode("utf-8", "surrogateescape"))
    lines = (f"{digests[path].removeprefix('sha256:')}  {path}\n" for path in paths)
    return "".join(lines).encode("utf-8", "surrogateescape")


def check_published_target(target: Path, package: Path, *, force: bool) -> None:
    """Refuse a folder that exists, unless it was published before and is as it was then.

    Args:
        target: The folder to make.
        package: What is published, which is never changed.
        force: Whether a folder that was published before may be replaced.

    Raises:
        UsageError: it may not be made there.
    """
    if target.name in {"", ".."}:
        raise UsageError(f"{target}: expected a path that ends in a name, observed none")
    resolved, source = target.resolve(), package.resolve()
    if source.is_relative_to(resolved) or (package.is_dir() and resolved.is_relative_to(source)):
        raise UsageError(
            f"{target.name}: expected a folder apart from the package, observed one with it",
            hint="a package is never changed; give another folder",
        )
    if not os.path.lexists(target):
        return
    if not force:
        raise UsageError(
            f"{target.name}: expected a folder that does not exist, observed one that does",
            hint="give another, or --force to replace what was published before",
        )
    if target.is_symlink() or not target.is_dir():
        raise UsageError(f"{target.name}: expected a folder to replace, observed something else")
    observed = _hindrance(target)
    if observed is not None:
        raise UsageError(
            f"{target.name}: expected a folder that `publish` made, observed {observed}", hint=_HINT
        )


def _hindrance(target: Path) -> str | None:
    """What would be lost with a folder; nothing where it is empty or as it was published."""
    if next(target.iterdir(), None) is None:
        return None
    sums = target / SUMS
    if not _has_pages(target) or sums.is_symlink() or not sums.is_file():
        return "another"
    data = read_beside(sums, "a list of digests", DEFAULT_LIMITS.max_manifest_bytes)
    text = data.decode("utf-8", "surrogateescape")
    listed = {line[66:]: f"sha256:{line[:64]}" for line in text.split("\n") if line}
    if sums_bytes(listed) != data:
        return f"{SUMS!a} in it, edited since: its lines are not ours"
    manifest = begin_of(target / MANIFEST, DEFAULT_LIMITS.max_manifest_bytes)
    entries = listed_in_manifest(manifest)
    if entries is None or MANIFEST not in listed:
        return "another"
    for path, digest in listed.items():
        if path in entries and path != FRONT:
            if digest != entries[path]:
                return edited(path, MANIFEST)
        elif not _is_laid_out(path, canonical_object(manifest).get("package")):
            return f"{path!a} in it, which `publish` never lays out"
    known = listed | {SUMS: digest_bytes(data), AS_IT_IS: digest_bytes(b"")}
    return first_unlisted(target, known, SUMS)


def _has_pages(target: Path) -> bool:
    """Whether a folder has both pages, each as repropack begins one."""
    pages = (target / FRONT, target / REPORT_PAGE)
    return not any(
        page.is_symlink() or page_version(begin_of(page, MAX_HEAD_BYTES)) is None for page in pages
    )


def _is_laid_out(path: str, about: Any) -> bool:
    """Whether a name beside the entries is one that ``publish`` gives."""
    if path in {FRONT, REPORT_PAGE, NOTEBOOK_PAGE}:
        return True
    if not isinstance(about, dict):
        return False
    package = f"{about.get('name')}-{about.get('version')}.zip"
    statement = package + STATEMENT_SUFFIX
    signature = path.removeprefix(statement)
    return path in {package, statement} or (
        signature != path and _SIGNATURE.fullmatch(signature) is not None
    )
