"""PNG and JPEG files that others wrote, as pixels where a decoder cannot differ in them.

A PNG means one image, so its samples are its content. What a JPEG looks like depends on the
decoder's arithmetic, so its content is the file without what only tells about it. Decoders are
given what they need and nothing else: no texts, profiles, previews or further frames.
"""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from repropack._format.content_kinds import ContentLimits, NotOfKindError, extension_of

if TYPE_CHECKING:
    from PIL.Image import Image

_PNG = b"\x89PNG\r\n\x1a\n"
_DECODED = frozenset({b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS"})
_FRAMES = frozenset({b"acTL", b"fcTL", b"fdAT"})
_DEPTHS = {0: (1, 2, 4, 8), 2: (8,), 3: (1, 2, 4, 8), 4: (8,), 6: (8,)}
"""Bit depths by colour type; at 16 bits the decoder would lose some of them."""

_SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_PASSES = (
    ((0, 0, 1, 1),),
    (
        (0, 0, 8, 8),
        (4, 0, 8, 8),
        (0, 4, 4, 8),
        (2, 0, 4, 4),
        (0, 2, 2, 4),
        (1, 0, 2, 2),
        (0, 1, 1, 2),
    ),
)
"""Passes of a plain and of an interlaced picture: left, top, step to the right, step down."""

_STRIP_BYTES = 1 << 20
_SOI, _SOS, _EOI, _COMMENT, _JFIF, _ADOBE = 0xD8, 0xDA, 0xD9, 0xFE, 0xE0, 0xEE
_APPLICATION = range(0xE0, 0xF0)
_JFIF_BYTES = 14
_MAX_SCANS = 100
"""Scans of a JPEG that is decoded: each takes time for all pixels, and may have few bytes."""


@dataclass(frozen=True, slots=True)
class _Png:
    """The chunks of a PNG that make its picture."""

    width: int
    height: int
    depth: int
    colour: int
    palette: bytes
    transparency: bytes
    data: bytes


def image_content(path: str, file: BinaryIO, size: int, limits: ContentLimits) -> Iterator[bytes]:
    """Yield what an image is compared by, in pieces (docs/format.md, 11.10 and 11.11).

    Args:
        path: Its path, whose end says whether it is a PNG or a JPEG.
        file: The file, at its beginning.
        size: Its size in bytes.
        limits: Limits on images.

    Yields:
        Bytes, the same in all for equal images.

    Raises:
        NotOfKindError: it is no such image, is damaged, has several frames, or is beyond a limit.
    """
    data = _read(file, size, limits)
    if extension_of(path) != "png":
        yield b"jpeg\n"
        for marker, part in _jpeg_parts(data):
            yield part[:2] if marker == _JFIF else part
        return
    png = _parse_png(data, limits)
    yield f"png\n{png.width} {png.height} {png.depth} {png.colour}\n".encode("ascii")
    for part in (png.palette, png.transparency):
        yield f"{part.hex()}\n".encode("ascii")
    image = _decode("PNG", png.data)
    for strip in iter_strips(image):
        yield (strip.convert("L") if strip.mode == "1" else strip).tobytes()


def open_image(path: str, file: BinaryIO, size: int, limits: ContentLimits) -> Image:
    """Decode an image, to look at its pixels.

    Args:
        path: Its path, whose end says whether it is a PNG or a JPEG.
        file: The file, at its beginning.
        size: Its size in bytes.
        limits: Limits on images.

    Returns:
        The image, decoded.

    Raises:
        NotOfKindError: it cannot be decoded, or is beyond a limit.
    """
    data = _read(file, size, limits)
    if extension_of(path) == "png":
        return _decode("PNG", _parse_png(data, limits).data)
    bare = b"".join(part for _, part in _jpeg_parts(data))
    scans = bare.count(bytes((0xFF, _SOS)))
    if scans > _MAX_SCANS:
        raise NotOfKindError(f"it has {scans} scans, more than are decoded")
    return _decode("JPEG", bare, limits)


def iter_strips(image: Image) -> Iterator[Image]:
    """Yield an image as strips of its whole width, from the top, of a mebibyte or one row."""
    rows = max(1, _STRIP_BYTES // (4 * image.width))
    for top in range(0, image.height, rows):
        yield image.crop((0, top, image.width, min(top + rows, image.height)))


def expanded_png_bytes(file: BinaryIO, limits: ContentLimits) -> int:
    """How many bytes of samples a PNG says that it becomes.

    Args:
        file: The file, seekable.
        limits: Limits on what is read.

    Returns:
        At most so many; 0 where it is no PNG, or one that is not decoded.
    """
    file.seek(0)
    head = file.read(len(_PNG) + 16)
    if not head.startswith(_PNG) or len(head) < len(_PNG) + 16:
        return 0
    width, height = struct.unpack(">2I", head[-8:])
    return 4 * width * height if width * height <= limits.max_image_pixels else 0


def _read(file: BinaryIO, size: int, limits: ContentLimits) -> bytes:
    if size > limits.max_image_bytes:
        raise NotOfKindError(f"it has {size} bytes, more than are decoded")
    return file.read(limits.max_image_bytes + 1)


def _decode(form: str, data: bytes, limits: ContentLimits | None = None) -> Image:
    """Decode with the one decoder that is meant, after a look at the size that is declared."""
    from PIL import Image as Pillow  # noqa: PLC0415 - takes time, and few need it

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Pillow.open(io.BytesIO(data), formats=(form,))
            if limits is not None:
                _check_pixels(image.width, image.height, limits)
            image.load()
    except NotOfKindError:
        raise
    except Exception as error:  # hostile bytes end in exceptions of all kinds
        raise NotOfKindError(f"it cannot be decoded as {form}") from error
    return image


def _check_pixels(width: int, height: int, limits: ContentLimits) -> None:
    if not 0 < width * height <= limits.max_image_pixels:
        raise NotOfKindError(f"it has {width} x {height} pixels, none or more than are decoded")


def _parse_png(data: bytes, limits: ContentLimits) -> _Png:
    """Take a PNG apart and put it together again without what makes no picture."""
    found: dict[bytes, bytes] = {}
    kept = [_PNG]
    names = []
    for name, content, chunk in _chunks(data):
        names.append(name)
        if name in _DECODED:
            if name != b"IDAT" and name in found:
                raise NotOfKindError("it has a chunk twice that may come once")
            found[name] = content
            kept.append(chunk)
        elif name[:1].isupper() or name in _FRAMES:
            raise NotOfKindError("it has several frames, or chunks that are not known")
    _check_order(names)
    header = found[b"IHDR"]
    if len(header) != 13:
        raise NotOfKindError("its header is not that of a PNG")
    width, height, depth, colour, *methods = struct.unpack(">2I5B", header)
    if depth not in _DEPTHS.get(colour, ()):
        raise NotOfKindError(f"its samples of type {colour} have {depth} bits")
    if methods[0] or methods[1] or methods[2] > 1:
        raise NotOfKindError("its header is not that of a PNG")
    _check_pixels(width, height, limits)
    samples = [content for name, content, _ in _chunks(data) if name == b"IDAT"]
    bits = depth * _SAMPLES[colour]
    needed = sum(_pass_bytes(width, height, bits, one) for one in _PASSES[methods[2]])
    _check_samples(samples, needed)
    palette = found.get(b"PLTE", b"") if colour == 3 else b""
    return _Png(width, height, depth, colour, palette, found.get(b"tRNS", b""), b"".join(kept))


def _pass_bytes(width: int, height: int, bits: int, one: tuple[int, int, int, int]) -> int:
    """Bytes of one pass over a picture, filters included: where it starts, and its steps."""
    left, top, step_x, step_y = one
    columns = (width - left + step_x - 1) // step_x
    rows = (height - top + step_y - 1) // step_y
    return rows * (1 + (columns * bits + 7) // 8) if columns > 0 and rows > 0 else 0


def _check_samples(pieces: list[bytes], needed: int) -> None:
    """Refuse deflated samples that are not as many as are needed: decoders fill in the rest."""
    inflater = zlib.decompressobj()
    found, more = 0, False
    try:
        for piece in pieces:
            rest = piece
            while rest and found <= needed and not inflater.eof:
                found += len(inflater.decompress(rest, _STRIP_BYTES))
                rest = inflater.unconsumed_tail
            more = more or bool(rest)
        found += 0 if more else len(inflater.flush())
    except zlib.error as error:
        raise NotOfKindError("its samples are damaged") from error
    if found != needed or more or inflater.unused_data or not inflater.eof:
        raise NotOfKindError(f"its samples are not the {needed} bytes that its size needs")


def _check_order(names: list[bytes]) -> None:
    """Chunks stand where no two decoders could read them differently."""
    data = [place for place, name in enumerate(names) if name == b"IDAT"]
    ends = names[:1] == [b"IHDR"] and names[-1:] == [b"IEND"] and bool(data)
    if not ends or data[-1] - data[0] + 1 != len(data):
        raise NotOfKindError("its chunks are not in the order of a PNG")
    before = names[: data[0]]
    for name in (b"PLTE", b"tRNS"):
        if name in names and name not in before:
            raise NotOfKindError("its chunks are not in the order of a PNG")


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Each chunk's name, its content, and the whole of it; checksums are held against it."""
    if not data.startswith(_PNG):
        raise NotOfKindError("it is no PNG")
    place = len(_PNG)
    while place < len(data):
        (length,) = struct.unpack(">I", data[place : place + 4].ljust(4, b"\0"))
        chunk = data[place : place + length + 12]
        if len(chunk) != length + 12:
            raise NotOfKindError("it is cut short")
        if struct.pack(">I", zlib.crc32(chunk[4:-4])) != chunk[-4:]:
            raise NotOfKindError("the checksum of a chunk does not fit it")
        yield chunk[4:8], chunk[8:-4], chunk
        place += len(chunk)


def _jpeg_parts(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield a JPEG's segments with their markers; its first scan and all that follows is one."""
    # Comments and applications' segments before it are left out, but for the two that decide which
    # colours its components are: a JFIF header, and Adobe's.
    if data[:2] != bytes((0xFF, _SOI)):
        raise NotOfKindError("it is no JPEG")
    yield _SOI, data[:2]
    place = 2
    while True:
        if len(data) < place + 4 or data[place] != 0xFF:
            raise NotOfKindError("it is cut short, or is no JPEG")
        marker = data[place + 1]
        if marker == _SOS:
            yield _SOS, data[place:]
            return
        if marker in {_SOI, _EOI, 0x00, 0x01, 0xFF} or 0xD0 <= marker <= 0xD7:
            raise NotOfKindError("its segments are not those of a JPEG")
        (length,) = struct.unpack(">H", data[place + 2 : place + 4])
        segment = data[place : place + 2 + length]
        is_application = marker in _APPLICATION and marker != _ADOBE
        if _is_jfif(segment) or not (is_application or marker == _COMMENT):
            yield marker, segment
        place += 2 + length


def _is_jfif(segment: bytes) -> bool:
    return segment[1] == _JFIF and segment[4:9] == b"JFIF\0" and len(segment) >= 4 + _JFIF_BYTES
