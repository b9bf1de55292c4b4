"""The fingerprint of an array: its type, shape and elements, and nothing else.

Memory layout and byte order leave no trace; shape, type, the sign of zero and NaN payloads do.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from repropack._format.npy import array_bytes, array_type, canonical_array

ARRAY_DOMAIN = b"repropack.array.v1\n"


def fingerprint_array(name: str, array: npt.NDArray[Any] | np.generic) -> str:
    """Fingerprint one array (docs/format.md, chapter 4).

    Args:
        name: The array's name, for error messages only.
        array: Array or scalar of any shape, layout and byte order; dtype bool, integer, float up
            to 64 bits or complex up to 128 bits.

    Returns:
        ``sha256:`` and SHA-256 over the domain line, the little-endian NumPy type string, the
        shape as comma-separated decimals, each with a newline, then the elements' bytes in C
        order, little-endian.

    Raises:
        UnsupportedDtypeError: not a NumPy array or scalar, masked, or of a type that cannot be
            stored.

    Determinism:
        Equal bits give equal fingerprints on every machine. ``-0.0`` differs from ``0.0``, NaNs
        differ by payload, and a scalar equals an array of rank 0.

    Example:
        >>> fingerprint_array("w", np.float32(0.0)) == fingerprint_array("w", np.float32(-0.0))
        False
    """
    return fingerprint_canonical(canonical_array(name, array))


def fingerprint_canonical(array: npt.NDArray[Any]) -> str:
    """Fingerprint an array that ``canonical_array`` returned, without looking at its form again.

    Args:
        array: Array of any shape, little-endian, of a type that can be stored.

    Returns:
        The fingerprint, as ``fingerprint_array`` gives it.

    Raises:
        UnsupportedDtypeError: the array's type cannot be stored.
    """
    hasher = array_hasher(array_type(array), array.shape)
    hasher.update(array_bytes(array))
    return f"sha256:{hasher.hexdigest()}"


def array_hasher(dtype: str, shape: tuple[int, ...]) -> hashlib._Hash:
    """Begin a fingerprint; the elements' bytes are the caller's to add.

    Args:
        dtype: One of ``STORABLE_TYPES``.
        shape: Lengths of the axes.

    Returns:
        SHA-256 over what stands before the elements.
    """
    head = f"{dtype}\n{','.join(map(str, shape))}\n".encode("ascii")
    return hashlib.sha256(ARRAY_DOMAIN + head)
