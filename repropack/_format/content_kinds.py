"""As what a file that a command wrote is compared, and the limits within which it is looked at.

The limits decide fingerprints, so they belong to the format and no caller can change them for a
package: a file beyond one is compared by its bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from repropack._format.limits import MEBIBYTE
from repropack.models.differences import ContentKind

CONTENT_DOMAIN = b"repropack.content.v1\n"

_KINDS: dict[str, ContentKind] = {
    "npz": "npz",
    "npy": "npy",
    "json": "json",
    "csv": "csv",
    "tsv": "csv",
    "png": "image",
    "jpg": "image",
    "jpeg": "image",
}


class NotOfKindError(ValueError):
    """Why a file is not read as what its name says: a reason in words, and nothing of an error."""


@dataclass(frozen=True, slots=True)
class ContentLimits:
    """Upper bounds, each inclusive, beyond which a file is compared by its bytes."""

    max_array_bytes: int = 1024 * MEBIBYTE
    """Bytes of the elements of all arrays of a file together."""

    max_transposed_bytes: int = 256 * MEBIBYTE
    """Bytes of the elements of an array in Fortran order, which is read whole."""

    max_element_bytes: int = 64 * 1024
    """Bytes of one element: texts may be long."""

    max_arrays: int = 10_000
    """Arrays of an npz."""

    max_directory_bytes: int = 4 * MEBIBYTE
    """Bytes of an npz's directory."""

    max_header_bytes: int = 4096
    """Bytes of an array's header text."""

    max_array_rank: int = 32
    """Dimensions of an array."""

    max_array_stages: int = 256
    """Arrays of an npz that have a stage each; where there are more the file has one alone."""

    max_json_bytes: int = 32 * MEBIBYTE
    """Bytes of a JSON file."""

    max_json_depth: int = 64
    """Nesting depth of objects and lists."""

    max_json_containers: int = 500_000
    """Objects and lists."""

    max_json_items: int = 2_000_000
    """Commas outside texts."""

    max_integer_digits: int = 4300
    """Characters of an integer in JSON."""

    max_cell_characters: int = 128 * 1024
    """Characters of a cell."""

    max_row_characters: int = MEBIBYTE
    """Characters of a row of a table, with all that separates and quotes its cells."""

    max_image_bytes: int = 256 * MEBIBYTE
    """Bytes of an image file."""

    max_image_pixels: int = 64 * MEBIBYTE
    """Pixels of an image."""


CONTENT_LIMITS = ContentLimits()
"""The limits of the format."""


def kind_of(path: str) -> ContentKind:
    """Return what a file's name says that it is.

    Args:
        path: Its path; what stands after the last dot of the last component decides, in capitals
            or not.

    Returns:
        The kind; ``bytes`` where the name says nothing.

    Example:
        >>> kind_of("out/Loss.CSV"), kind_of("out/.csv")
        ('csv', 'bytes')
    """
    return _KINDS.get(extension_of(path), "bytes")


def extension_of(path: str) -> str:
    """Return what follows the last dot of a path's last component, in small letters."""
    stem, _, extension = path.rpartition("/")[2].rpartition(".")
    return extension.lower() if stem else ""
