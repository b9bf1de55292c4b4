"""Two images pixel by pixel, as the decoder here gives them, strip by strip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from repropack._format.content_images import iter_strips, open_image
from repropack._format.content_kinds import ContentLimits
from repropack.models.differences import ImageDifference, PixelDifference

if TYPE_CHECKING:
    from PIL.Image import Image


def compare_images(
    path: str,
    expected: tuple[BinaryIO, int],
    observed: tuple[BinaryIO, int],
    limits: ContentLimits,
) -> ImageDifference:
    """Compare two images by size and by pixels, as colours with transparency of 8 bits.

    Args:
        path: The path of both.
        expected: What is recorded, and its size in bytes.
        observed: What was written now, and its size in bytes.
        limits: Limits on images.

    Returns:
        What differs. No pixel may: two palettes can show the same.

    Raises:
        NotOfKindError: one of them cannot be decoded.
    """
    for file, _ in (expected, observed):
        file.seek(0)
    left, right = (open_image(path, file, size, limits) for file, size in (expected, observed))
    same = left.size == right.size
    difference = ImageDifference(
        expected_form=_form(left),
        observed_form=_form(right),
        pixels=left.width * left.height,
        pixels_differing=0 if same else left.width * left.height,
    )
    return difference.model_copy(update=_pixels(left, right)) if same else difference


def _pixels(left: Image, right: Image) -> dict[str, Any]:
    count = largest = top = 0
    first: PixelDifference | None = None
    for strips in zip(iter_strips(left), iter_strips(right), strict=True):
        one, two = map(_values, strips)
        distance = np.abs(one - two)
        differs = distance.any(axis=2)
        if first is None and differs.any():
            y, x = np.unravel_index(int(differs.argmax()), differs.shape)
            first = PixelDifference(
                x=int(x),
                y=top + int(y),
                expected=tuple(one[y, x].tolist()),
                observed=tuple(two[y, x].tolist()),
            )
        count += int(differs.sum())
        largest = max(largest, int(distance.max()))
        top += one.shape[0]
    return {"pixels_differing": count, "largest_channel": largest, "first": first}


def _values(strip: Image) -> npt.NDArray[np.int16]:
    """Array of shape (rows, columns, 4)."""
    return np.asarray(strip.convert("RGBA")).astype(np.int16)


def _form(image: Image) -> str:
    return f"{image.mode} {image.width} x {image.height}"
