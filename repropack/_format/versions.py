"""Documents of a later release: told apart from damaged ones, for they are neither."""

from __future__ import annotations

import re

from repropack.errors import UnsupportedVersionError


def refuse_later_version(value: object, own: str, where: str) -> None:
    """Refuse a document whose schema has a later version than this release knows.

    Args:
        value: The document as it was parsed.
        own: Name of the schema that this release has for it, such as ``repropack/plan/v1``.
        where: The entry's path, for error messages.

    Raises:
        UnsupportedVersionError: The document names a later version of that schema.
    """
    found = value.get("schema") if isinstance(value, dict) else None
    stem, _, version = own.rpartition("/v")
    later = re.fullmatch(rf"{stem}/v([0-9]{{1,4}})", found) if isinstance(found, str) else None
    if later is not None and int(later[1]) > int(version):
        raise UnsupportedVersionError("version.document", f"document {where!r}", str(found), own)
