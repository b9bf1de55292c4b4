"""Arrays in files that others wrote: npy and npz as NumPy and its kin write them.

Our own reader (``npz_reader``) accepts one form alone. Here compression, Fortran order, big-endian
elements and every version of the header are taken, since a layout is no content. Nothing is
evaluated or unpickled: a header is text that a pattern matches or does not, and sizes are held
against those that are there before memory is asked for.
"""

from __future__ import annotations

import hashlib
import io
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from repropack._format.content_kinds import CONTENT_DOMAIN, ContentLimits, NotOfKindError
from repropack._format.fingerprints import array_hasher
from repropack._format.npy import STORABLE_TYPES, SUFFIX

_Zip = zipfile.ZipFile  # noqa: TID251 - for others' npz, which our own reader refuses
_MAGIC = b"\x93NUMPY"
_LENGTHS = {b"\x01\x00": "<H", b"\x02\x00": "<I", b"\x03\x00": "<I"}
_NUMBER = r"[0-9]{1,19}"
_HEADER = re.compile(
    r" *\{ *'descr' *: *'(?P<type>[<>|][biufcSUMm][0-9]{1,9}(?:\[[0-9]{0,9}[a-zA-Z]{1,2}\])?)' *,"
    r" *'fortran_order' *: *(?P<fortran>True|False) *,"
    rf" *'shape' *: *\((?P<shape>|{_NUMBER},|{_NUMBER}(?:, ?{_NUMBER})+,?)\) *,? *\}} *\n?"
)
_END_RECORD = struct.Struct("<4s4H2LH")
_END_SIGNATURE = b"PK\x05\x06"
_ZIP64_LOCATOR_BYTES = 20
_ZIP64_LOCATOR_SIGNATURE = b"PK\x06\x07"
_ENCRYPTED = 0x1
_BLOCK_BYTES = 1 << 18
_OTHER_KINDS = frozenset("SUMm")
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,  # what zipfile raises for a form of zip that it does not read
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
)


@dataclass(frozen=True, slots=True)
class ArrayForm:
    """What an array's header says; ``dtype`` is little-endian, whatever is stored.

    ``member`` is ``None`` in an npy; ``start`` is the size of the header, in bytes.
    """

    member: str | None
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    swapped: bool
    fortran: bool
    start: int

    @property
    def type(self) -> str:
        """The type as NumPy writes it, little-endian, such as ``<f4`` or ``<M8[ns]``."""
        return self.dtype.str

    @property
    def is_number(self) -> bool:
        """Whether the type is one that a checkpoint can hold: neither text nor time."""
        return self.type in STORABLE_TYPES

    @property
    def element_bytes(self) -> int:
        """Bytes of all elements together."""
        return math.prod(self.shape) * self.dtype.itemsize


class ArrayFile:
    """Reads the arrays of one file, block by block, as little-endian elements in C order."""

    def __init__(
        self, file: BinaryIO, size: int, limits: ContentLimits, *, container: bool
    ) -> None:
        """Read every header, and no element.

        Args:
            file: The file, seekable; must stay open while arrays are read.
            size: Its size in bytes.
            limits: Limits on arrays.
            container: Whether it is an npz; else it is an npy, whose array has the name ``""``.

        Raises:
            NotOfKindError: it is not in the form, or beyond a limit.
        """
        self._file = file
        self._limits = limits
        self._zip = _open_zip(file, size, limits) if container else None
        if self._zip is None:
            forms = {"": self._read_form(None, size)}
        else:
            members = _members(self._zip, limits)
            forms = {name: self._read_form(member, size) for name, (member, size) in members}
        self.arrays: Mapping[str, ArrayForm] = forms
        total = sum(form.element_bytes for form in forms.values())
        if total > limits.max_array_bytes:
            raise NotOfKindError(f"its arrays have {total} bytes, more than are compared")

    def blocks(self, name: str) -> Iterator[NDArray[Any]]:
        """Yield an array's elements in C order, as flat arrays of 128 KiB.

        Two arrays of one type and shape are divided alike.

        Args:
            name: One of ``arrays``.

        Yields:
            Arrays of rank 1, little-endian; none where the array is empty.

        Raises:
            NotOfKindError: the elements are cut or damaged.
        """
        form = self.arrays[name]
        with _reasons(name), self._open(form.member) as stream:
            _read_exactly(stream, form.start)
            if form.fortran:
                yield from _transposed_blocks(stream, form)
            else:
                yield from _stored_blocks(stream, form)
            _expect_end(stream)

    def fingerprint(self, name: str) -> str:
        """Fingerprint one array (docs/format.md, 11.6).

        Args:
            name: One of ``arrays``.

        Returns:
            ``sha256:`` and SHA-256 over domain, type, shape and elements.

        Raises:
            NotOfKindError: the elements are cut or damaged.
        """
        form = self.arrays[name]
        if form.is_number:
            hasher = array_hasher(form.type, form.shape)
        else:
            head = f"array\n{form.type}\n{','.join(map(str, form.shape))}\n"
            hasher = hashlib.sha256(CONTENT_DOMAIN + head.encode("ascii"))
        for block in self.blocks(name):
            hasher.update(block.view(np.uint8).data)
        return f"sha256:{hasher.hexdigest()}"

    def _open(self, member: str | None) -> AbstractContextManager[Any]:
        if self._zip is not None and member is not None:
            return self._zip.open(member)
        self._file.seek(0)
        return nullcontext(self._file)

    def _read_form(self, member: str | None, size: int) -> ArrayForm:
        place = "" if member is None else member.removesuffix(SUFFIX)
        with _reasons(place), self._open(member) as stream:
            form = _parse_form(stream, member, self._limits)
            if form.start + form.element_bytes != size:
                raise _ArrayError(
                    f"has not the {form.element_bytes} bytes of elements that it declares"
                )
            if form.fortran and form.element_bytes > self._limits.max_transposed_bytes:
                raise _ArrayError("is in Fortran order and too large to turn")
        return form


class _ArrayError(ValueError):
    """What is wrong with an array, as what would follow its name."""


def expanded_npz_bytes(file: BinaryIO, size: int, limits: ContentLimits) -> int:
    """How many bytes the members of an npz say that they become.

    Args:
        file: The file, seekable.
        size: Its size in bytes.
        limits: Limits on what is read.

    Returns:
        Their sum, no more than what is read of it; 0 where it is no npz that is read.
    """
    try:
        with _reasons("its directory"), _open_zip(file, size, limits) as archive:
            told = sum(one.file_size for one in archive.infolist())
            return min(told, limits.max_array_bytes)
    except NotOfKindError:
        return 0


@contextmanager
def _reasons(name: str) -> Iterator[None]:
    """Turn whatever a reader raises at damaged bytes into a reason that names the array."""
    what = f"its array {name!r}" if name else "it"
    try:
        yield
    except _ArrayError as error:
        raise NotOfKindError(f"{what} {error}") from error
    except _DAMAGE as error:
        raise NotOfKindError(f"{what} is damaged") from error


def _open_zip(file: BinaryIO, size: int, limits: ContentLimits) -> _Zip:
    """Open a zip after a look at its end: ``zipfile`` reads a directory of any size whole."""
    tail_bytes = _END_RECORD.size + _ZIP64_LOCATOR_BYTES
    file.seek(max(0, size - tail_bytes))
    tail = file.read(tail_bytes)
    end = tail[-_END_RECORD.size :]
    if len(end) != _END_RECORD.size or not end.startswith(_END_SIGNATURE) or end[-2:] != b"\0\0":
        raise NotOfKindError("it is no zip, or does not end as one without a comment")
    if tail.startswith(_ZIP64_LOCATOR_SIGNATURE):
        raise NotOfKindError("its directory is in zip64 form")
    directory_bytes = _END_RECORD.unpack(end)[5]
    if directory_bytes > limits.max_directory_bytes:
        raise NotOfKindError(f"its directory has {directory_bytes} bytes, more than are read")
    with _reasons(""):
        return _Zip(file)


def _members(archive: _Zip, limits: ContentLimits) -> Iterator[tuple[str, tuple[str, int]]]:
    """Array names with member names and sizes, sorted; nothing that could be read two ways."""
    found = archive.infolist()
    names = [info.filename for info in found]
    if len(found) > limits.max_arrays:
        raise NotOfKindError(f"it has {len(found)} members, more than are compared")
    if len(set(names)) != len(names):
        raise NotOfKindError("it has two members of one name")
    for info in sorted(found, key=lambda one: one.filename.removesuffix(SUFFIX)):
        name = info.filename
        if not name.endswith(SUFFIX):
            raise NotOfKindError(f"its member {name!r} is no array")
        if info.flag_bits & _ENCRYPTED or info.compress_type not in {
            zipfile.ZIP_STORED,
            zipfile.ZIP_DEFLATED,
        }:
            raise NotOfKindError(f"its member {name!r} is neither stored nor deflated")
        yield name.removesuffix(SUFFIX), (name, info.file_size)


def _parse_form(stream: Any, member: str | None, limits: ContentLimits) -> ArrayForm:
    prefix = _read_exactly(stream, len(_MAGIC) + 2)
    length_form = _LENGTHS.get(prefix[len(_MAGIC) :])
    if not prefix.startswith(_MAGIC) or length_form is None:
        raise _ArrayError("has no header of version 1, 2 or 3")
    width = struct.calcsize(length_form)
    (length,) = struct.unpack(length_form, _read_exactly(stream, width))
    if length > limits.max_header_bytes:
        raise _ArrayError(f"has a header of {length} bytes, more than are read")
    text = _read_exactly(stream, length).decode("latin-1")
    match = _HEADER.fullmatch(text)
    if match is None:
        raise _ArrayError("is of a type that is not compared by its elements")
    shape = tuple(int(number) for number in re.findall(_NUMBER, match["shape"]))
    if len(shape) > limits.max_array_rank:
        raise _ArrayError(f"has {len(shape)} dimensions, more than are compared")
    dtype = _parse_type(match["type"], limits)
    return ArrayForm(
        member=member,
        dtype=dtype,
        shape=shape,
        swapped=match["type"].startswith(">") and dtype.str[0] == "<",
        fortran=match["fortran"] == "True" and len(shape) > 1,
        start=len(prefix) + width + length,
    )


def _parse_type(text: str, limits: ContentLimits) -> np.dtype[Any]:
    try:
        dtype = np.dtype(text).newbyteorder("<")
    except (TypeError, ValueError) as error:
        raise _ArrayError(f"has the type {text!r}, which NumPy has not") from error
    known = dtype.str in STORABLE_TYPES or dtype.kind in _OTHER_KINDS
    if not known or dtype.str[1:] != text[1:]:
        raise _ArrayError(f"has the type {text!r}, which is not compared by elements")
    if not 0 < dtype.itemsize <= limits.max_element_bytes:
        raise _ArrayError(f"has elements of {dtype.itemsize} bytes")
    return dtype


def _stored_blocks(stream: Any, form: ArrayForm) -> Iterator[NDArray[Any]]:
    count = math.prod(form.shape)
    block_count = _block_count(form)
    for start in range(0, count, block_count):
        size = min(block_count, count - start) * form.dtype.itemsize
        block: NDArray[Any] = np.frombuffer(_read_exactly(stream, size), form.dtype)
        yield _sound(block.byteswap() if form.swapped else block)


def _transposed_blocks(stream: Any, form: ArrayForm) -> Iterator[NDArray[Any]]:
    parts = list(_stored_blocks(stream, form))
    if not parts:
        return
    turned = np.concatenate(parts).reshape(form.shape[::-1]).T
    parts.clear()
    flat = np.ascontiguousarray(turned).reshape(-1)
    for start in range(0, flat.size, _block_count(form)):
        yield flat[start : start + _block_count(form)]


def _block_count(form: ArrayForm) -> int:
    return _BLOCK_BYTES // form.dtype.itemsize


def _sound(block: NDArray[Any]) -> NDArray[Any]:
    if block.dtype.kind == "b" and block.view(np.uint8).max() > 1:
        raise _ArrayError("holds a bool that is neither 0 nor 1 in its byte")
    return block


def _expect_end(stream: Any) -> None:
    """Read on where nothing may follow; a zip member's checksum is known then."""
    if stream.read(1):
        raise _ArrayError("is followed by something else")


def _read_exactly(stream: Any, size: int) -> bytes:
    """Read so many bytes, in pieces: no more memory than is there in the file."""
    if size <= _BLOCK_BYTES and len(whole := stream.read(size)) == size:
        return bytes(whole)
    buffer = io.BytesIO()
    if size <= _BLOCK_BYTES:
        buffer.write(whole)
    while (missing := size - buffer.tell()) > 0:
        piece = stream.read(min(missing, _BLOCK_BYTES))
        if not piece:
            raise _ArrayError("is cut short")
        buffer.write(piece)
    return buffer.getvalue()
