"""Reads zips of exactly the form that the writer makes, and accounts for every byte of them.

Local headers are read back to back from byte 0, then the directory and the end records are built
from what was read and compared with the rest of the file. So there is no second tree that another
reader could see: no prefix, suffix, gap, overlap, comment, descriptor or repeated name.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from struct import unpack_from
from types import MappingProxyType
from typing import BinaryIO, NoReturn

from repropack._format.entry_stream import SharedFile, open_entry
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.zip_layout import (
    DEFLATED,
    DIRECTORY_FIELDS,
    DIRECTORY_SIGNATURE,
    END_SIGNATURE,
    LOCAL_FIELDS,
    LOCAL_SIGNATURE,
    LOCAL_STRUCT,
    SIZE_ELSEWHERE,
    STORED,
    ZipMember,
    describe_difference,
    directory_header,
    end_fields,
    end_records,
    local_header,
)
from repropack._format.zip_peek import sketch_directory
from repropack.errors import LimitExceededError, PackageFormatError, UnsafeEntryError, UsageError

_ZIP64_SIZES_BYTES = 20
_RE_ZIPPED = "use the original file: this one is damaged or has been zipped again"


class ArchiveReader:
    """One zip, opened once and read from that handle.

    What ``members`` says was verified when the reader was made, but for the contents: those are
    verified while they are read. Names are unique Unicode; whether they are safe paths is the
    caller's to check.

    Example:
        >>> from io import BytesIO
        >>> from repropack._format.archive_writer import ArchiveWriter
        >>> stream = BytesIO()
        >>> writer = ArchiveWriter(stream)
        >>> _ = writer.add("a.txt", b"hello", executable=True)
        >>> writer.finish()
        >>> reader = ArchiveReader(stream, where="a.zip")
        >>> reader.members["a.txt"].executable, reader.open("a.txt").read()
        (True, b'hello')
    """

    def __init__(self, stream: BinaryIO, *, where: str, limits: Limits = DEFAULT_LIMITS) -> None:
        """Read and verify every header.

        Args:
            stream: The zip from byte 0 to its end, seekable; must stay open while entries are
                read, and may not be read by others at the same time.
            where: Name of the file; used in error messages only.
            limits: Limits on entries, names and deflate ratio.

        Raises:
            PackageFormatError: The file is no zip, is damaged, or is not in the pinned form.
            UnsafeEntryError: A name comes twice.
            LimitExceededError: There are too many entries, or a name is too long.
        """
        self._stream = stream
        self._where = where
        self._limits = limits
        self._size = stream.seek(0, io.SEEK_END)
        members: dict[str, ZipMember] = {}
        directory_offset = self._read_entries(members)
        self._members = self._read_directory(members, directory_offset)
        self._file = SharedFile(stream)

    @property
    def members(self) -> Mapping[str, ZipMember]:
        """Every entry by name, in stored order."""
        return MappingProxyType(self._members)

    def open(self, name: str) -> io.BufferedReader:
        """Open the content of an entry; see ``open_entry`` for what its stream verifies.

        Args:
            name: One of ``members``.

        Returns:
            A seekable read-only stream of exactly the entry's size.

        Raises:
            UsageError: There is no such entry.
            LimitExceededError: The entry would expand too much.
            PackageFormatError: The entry is empty, and its checksum is not.
        """
        member = self.member(name)
        return open_entry(self._file, member, f"{self._where}: entry {name!r}", self._limits)

    def member(self, name: str) -> ZipMember:
        """Return one entry.

        Args:
            name: One of ``members``.

        Returns:
            The entry.

        Raises:
            UsageError: There is no such entry.
        """
        if name not in self._members:
            raise UsageError(
                f"{self._where}: entry: expected one of its {len(self._members)} entries, "
                f"observed {name!r}"
            )
        return self._members[name]

    def _read_entries(self, members: dict[str, ZipMember]) -> int:
        """Read all local headers, and return where the directory begins."""
        offset = 0
        while self._begins_entry(offset, members):
            if len(members) == self._limits.max_entries:
                allowed = self._limits.max_entries
                raise LimitExceededError(self._where, "max_entries", allowed, allowed + 1)
            member, offset = self._read_entry(offset)
            if member.name in members:
                raise UnsafeEntryError(
                    member.name,
                    f"{self._where}: expected one entry of this name, observed another at byte "
                    f"{member.offset}",
                )
            members[member.name] = member
        return offset

    def _begins_entry(self, offset: int, members: Mapping[str, ZipMember]) -> bool:
        """Whether an entry begins here and not the directory; refuse anything else."""
        self._stream.seek(offset)
        signature = self._stream.read(4)
        if signature == LOCAL_SIGNATURE:
            return True
        if signature == (DIRECTORY_SIGNATURE if members else END_SIGNATURE):
            return False
        observed = signature.hex() if signature else "the end of the file"
        sketch = sketch_directory(self._stream, self._limits)
        if members and offset == sketch.directory_offset:
            return False
        if offset in sketch.names:
            problem = f"signature: expected {LOCAL_SIGNATURE.hex()}, observed {observed}"
            self._refuse_header(sketch.names[offset], offset, problem)
        if offset == 0:
            raise PackageFormatError(
                f"{self._where}: not a zip archive: expected a local file header (504b0304) at "
                f"byte 0, observed {observed if signature else 'an empty file'}"
            )
        last = list(members.values())[-1]
        name = sketch.names.get(last.offset, last.name)
        raise PackageFormatError(
            f"{self._where}: entry {name!r}: expected another entry or the directory at byte "
            f"{offset}, where this one ends, observed {observed}",
            hint=_RE_ZIPPED,
        )

    def _read_entry(self, offset: int) -> tuple[ZipMember, int]:
        """Read the local header at ``offset``; return the entry and where the next begins."""
        self._stream.seek(offset)
        header = self._stream.read(LOCAL_STRUCT.size)
        if len(header) < LOCAL_STRUCT.size:
            self._refuse_cut(offset)
        fields = LOCAL_STRUCT.unpack(header)
        method, crc, stored_size, size, name_bytes, extra_bytes = (fields[3], *fields[6:])
        if name_bytes > self._limits.max_name_bytes:
            where, allowed = self._entry_at(offset), self._limits.max_name_bytes
            raise LimitExceededError(where, "max_name_bytes", allowed, name_bytes)
        rest = self._stream.read(name_bytes + extra_bytes)
        if len(rest) < name_bytes + extra_bytes:
            self._refuse_cut(offset)
        name = self._decode(rest[:name_bytes], offset)
        if SIZE_ELSEWHERE in {size, stored_size} and extra_bytes == _ZIP64_SIZES_BYTES:
            size, stored_size = unpack_from("<2Q", rest, name_bytes + 4)
        member = ZipMember(
            name, size, stored_size, crc, method == DEFLATED, executable=False, offset=offset
        )
        self._check_local_header(member, method, header + rest)
        end = offset + len(header) + len(rest) + stored_size
        if end > self._size:
            raise PackageFormatError(
                f"{self._where}: entry {name!r}: expected {stored_size} bytes of content, "
                f"observed the end of the file {end - self._size} bytes earlier"
            )
        return member, end

    def _check_local_header(self, member: ZipMember, method: int, observed: bytes) -> None:
        """Demand that the header is what the writer makes of the values in it."""
        if method not in {STORED, DEFLATED}:
            problem = f"method: expected 0 (stored) or 8 (deflated), observed {method}"
            self._refuse_header(member.name, member.offset, problem)
        expected = local_header(member)
        if observed != expected:
            problem = describe_difference(expected, observed, LOCAL_FIELDS)
            self._refuse_header(member.name, member.offset, problem)
        lying = (
            member.stored_size >= member.size
            if member.deflated
            else (member.stored_size != member.size)
        )
        if lying:
            expected_size = f"less than {member.size}" if member.deflated else f"{member.size}"
            problem = f"stored size: expected {expected_size}, observed {member.stored_size}"
            self._refuse_header(member.name, member.offset, problem)

    def _read_directory(
        self, members: Mapping[str, ZipMember], offset: int
    ) -> dict[str, ZipMember]:
        """Demand that directory and end records are what the writer makes of the entries."""
        self._stream.seek(offset)
        result: dict[str, ZipMember] = {}
        position = offset
        for name, member in members.items():
            executable = replace(member, executable=True)
            expected = directory_header(member)
            observed = self._stream.read(len(expected))
            if observed == expected:
                result[name] = member
            elif observed == directory_header(executable):
                result[name] = executable
            else:
                problem = describe_difference(expected, observed, DIRECTORY_FIELDS)
                self._refuse_header(name, position, problem, kind="directory")
            position += len(expected)
        self._check_end(end_records(len(members), offset, position - offset), position)
        return result

    def _check_end(self, expected: bytes, position: int) -> None:
        """Demand that the file ends with these records."""
        observed = self._stream.read(len(expected))
        if observed != expected:
            problem = describe_difference(expected, observed, end_fields(expected))
            raise PackageFormatError(
                f"{self._where}: end of the zip at byte {position} is not in the pinned form: "
                f"{problem}",
                hint=_RE_ZIPPED,
            )
        surplus = self._size - position - len(expected)
        if surplus:
            raise PackageFormatError(
                f"{self._where}: expected the end of the file at byte {position + len(expected)}, "
                f"observed {surplus} bytes more",
                hint=_RE_ZIPPED,
            )

    def _decode(self, name: bytes, offset: int) -> str:
        try:
            return name.decode("utf-8")
        except UnicodeDecodeError:
            sketch = sketch_directory(self._stream, self._limits)
            shown = sketch.names.get(offset, name.decode("utf-8", "backslashreplace"))
            self._refuse_header(shown, offset, f"name: expected UTF-8, observed {name[:100]!r}")

    def _entry_at(self, offset: int) -> str:
        """Name the entry whose local header is too damaged to say its name."""
        name = sketch_directory(self._stream, self._limits).names.get(offset)
        return (
            f"{self._where}: entry at byte {offset}"
            if name is None
            else (f"{self._where}: entry {name!r} at byte {offset}")
        )

    def _refuse_cut(self, offset: int) -> NoReturn:
        raise PackageFormatError(
            f"{self._entry_at(offset)}: expected a whole local header, observed the end of the "
            f"file at byte {self._size}"
        )

    def _refuse_header(
        self, name: str, offset: int, problem: str, *, kind: str = "local"
    ) -> NoReturn:
        raise PackageFormatError(
            f"{self._where}: entry {name!r}: {kind} header at byte {offset} is not in the pinned "
            f"form: {problem}",
            hint=_RE_ZIPPED,
        )
