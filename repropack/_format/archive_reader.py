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

from repropack._format.entry_stream import MAX_BUFFER_BYTES, SharedFile, open_entry
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.zip_layout import (
    DEFLATED,
    DIRECTORY_FIELDS,
    DIRECTORY_SIGNATURE,
    END_SIGNATURE,
    LOCAL_FIELDS,
    LOCAL_SIGNATURE,
    LOCAL_STRUCT,
    RULE_OF_FIELD,
    SIZE_ELSEWHERE,
    STORED,
    Difference,
    ZipMember,
    directory_header,
    end_fields,
    end_records,
    first_difference,
    local_header,
)
from repropack._format.zip_origin import Origin
from repropack._format.zip_peek import sketch_directory
from repropack.errors import PackageFormatError, UnsafeEntryError, UsageError
from repropack.refusals import Refusal

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

    def __init__(
        self,
        stream: BinaryIO,
        *,
        where: str,
        limits: Limits = DEFAULT_LIMITS,
        nested: bool = False,
        members: Mapping[str, ZipMember] | None = None,
    ) -> None:
        """Read and verify every header, once.

        Args:
            stream: The zip from byte 0 to its end, seekable; must stay open while entries are
                read, and may not be read by others at the same time.
            where: Name of the file; used in error messages only.
            limits: Limits on entries, names and deflate ratio.
            nested: Whether the zip is an entry of a package, and not the package.
            members: What another reader of this very file found, which is then not read again.

        Raises:
            PackageFormatError: The file is no zip, is damaged, or is not in the pinned form.
            UnsafeEntryError: A name comes twice.
            LimitExceededError: There are too many entries, or a name is too long.
        """
        self._stream = stream
        self._where = where
        self._origin = Origin(where, nested)
        self._limits = limits
        self._size = stream.seek(0, io.SEEK_END)
        self._members: Mapping[str, ZipMember] = (
            MappingProxyType(self._read_members()) if members is None else members
        )
        self._file = SharedFile(stream)

    @property
    def members(self) -> Mapping[str, ZipMember]:
        """Every entry by name, in stored order."""
        return self._members

    def open(self, name: str, buffer_bytes: int = MAX_BUFFER_BYTES) -> io.BufferedReader:
        """Open the content of an entry; see ``open_entry`` for what its stream verifies.

        Args:
            name: One of ``members``.
            buffer_bytes: Size of the stream's buffer, in bytes.

        Returns:
            A seekable read-only stream of exactly the entry's size.

        Raises:
            UsageError: There is no such entry.
            LimitExceededError: The entry would expand too much.
            PackageFormatError: The entry is empty, and its checksum is not.
        """
        member = self.member(name)
        return open_entry(self._file, member, self._origin, self._limits, buffer_bytes)

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

    def _read_members(self) -> dict[str, ZipMember]:
        members: dict[str, ZipMember] = {}
        directory_offset = self._read_entries(members)
        inflated = sum(member.size for member in members.values() if member.deflated)
        if inflated > self._limits.max_inflated_bytes:
            bounds = (self._limits.max_inflated_bytes, inflated)
            raise self._origin.limit("max_inflated_bytes", None, "", bounds)
        return self._read_directory(members, directory_offset)

    def _read_entries(self, members: dict[str, ZipMember]) -> int:
        """Read all local headers, and return where the directory begins."""
        offset = 0
        while self._begins_entry(offset, members):
            if len(members) == self._limits.max_entries:
                bounds = (self._limits.max_entries, self._limits.max_entries + 1)
                raise self._origin.limit("max_entries", None, "", bounds)
            member, offset = self._read_entry(offset)
            if member.name in members:
                observed = f"another at byte {member.offset}"
                one = self._refusal(
                    "zip.name-twice", member.name, "", "one entry of this name", observed
                )
                raise UnsafeEntryError(one, container=self._where)
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
            difference = ("signature", LOCAL_SIGNATURE.hex(), observed)
            self._refuse_header(sketch.names[offset], offset, difference)
        if offset == 0:
            expected = f"a local file header ({LOCAL_SIGNATURE.hex()}) at byte 0"
            observed = observed if signature else "an empty file"
            raise PackageFormatError(
                self._refusal("zip.not-a-zip", None, "not a zip archive", expected, observed)
            )
        last = list(members.values())[-1]
        name = sketch.names.get(last.offset, last.name)
        expected = f"another entry or the directory at byte {offset}, where this one ends"
        return self._refuse("zip.gap", name, "", expected, observed)

    def _read_entry(self, offset: int) -> tuple[ZipMember, int]:
        """Read the local header at ``offset``; return the entry and where the next begins."""
        self._stream.seek(offset)
        header = self._stream.read(LOCAL_STRUCT.size)
        if len(header) < LOCAL_STRUCT.size:
            self._refuse_cut(offset)
        fields = LOCAL_STRUCT.unpack(header)
        method, crc, stored_size, size, name_bytes, extra_bytes = (fields[3], *fields[6:])
        if name_bytes > self._limits.max_name_bytes:
            bounds = (self._limits.max_name_bytes, name_bytes)
            raise self._origin.limit("max_name_bytes", None, self._entry_at(offset), bounds)
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
            observed = f"the end of the file {end - self._size} bytes earlier"
            self._refuse("zip.cut", name, "", f"{stored_size} bytes of content", observed)
        return member, end

    def _check_local_header(self, member: ZipMember, method: int, observed: bytes) -> None:
        """Demand that the header is what the writer makes of the values in it."""
        if method not in {STORED, DEFLATED}:
            difference = ("method", "0 (stored) or 8 (deflated)", str(method))
            self._refuse_header(member.name, member.offset, difference)
        expected = local_header(member)
        if observed != expected:
            difference = first_difference(expected, observed, LOCAL_FIELDS)
            self._refuse_header(member.name, member.offset, difference)
        lying = (
            member.stored_size >= member.size
            if member.deflated
            else (member.stored_size != member.size)
        )
        if lying:
            expected_size = f"less than {member.size}" if member.deflated else f"{member.size}"
            difference = ("stored size", expected_size, str(member.stored_size))
            self._refuse_header(member.name, member.offset, difference)

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
                difference = first_difference(expected, observed, DIRECTORY_FIELDS)
                self._refuse_header(name, position, difference, kind="directory")
            position += len(expected)
        self._check_end(end_records(len(members), offset, position - offset), position)
        return result

    def _check_end(self, expected: bytes, position: int) -> None:
        """Demand that the file ends with these records."""
        observed = self._stream.read(len(expected))
        if observed != expected:
            field, right, wrong = first_difference(expected, observed, end_fields(expected))
            place = f"end of the zip at byte {position} is not in the pinned form: {field}"
            self._refuse(RULE_OF_FIELD.get(field, "zip.end"), None, place, right, wrong)
        surplus = self._size - position - len(expected)
        if surplus:
            end = f"the end of the file at byte {position + len(expected)}"
            self._refuse("zip.trailing-bytes", None, "", end, f"{surplus} bytes more")

    def _decode(self, name: bytes, offset: int) -> str:
        try:
            return name.decode("utf-8")
        except UnicodeDecodeError:
            sketch = sketch_directory(self._stream, self._limits)
            shown = sketch.names.get(offset, name.decode("utf-8", "backslashreplace"))
            self._refuse_header(shown, offset, ("name", "UTF-8", repr(name[:100])))

    def _entry_at(self, offset: int) -> str:
        """Name the entry whose local header is too damaged to say its name."""
        name = sketch_directory(self._stream, self._limits).names.get(offset)
        return f"entry at byte {offset}" if name is None else f"entry {name!r} at byte {offset}"

    def _refuse_cut(self, offset: int) -> NoReturn:
        observed = f"the end of the file at byte {self._size}"
        one = self._refusal(
            "zip.cut", None, self._entry_at(offset), "a whole local header", observed
        )
        raise PackageFormatError(one)

    def _refuse_header(
        self, name: str, offset: int, difference: Difference, *, kind: str = "local"
    ) -> NoReturn:
        field, expected, observed = difference
        place = f"{kind} header at byte {offset} is not in the pinned form: {field}"
        self._refuse(
            RULE_OF_FIELD.get(field, f"zip.{kind}-header"), name, place, expected, observed
        )

    def _refuse(
        self, rule: str, name: str | None, place: str, expected: str, observed: str
    ) -> NoReturn:
        one = self._refusal(rule, name, place, expected, observed)
        raise PackageFormatError(one, container=self._where, hint=_RE_ZIPPED)

    def _refusal(
        self, rule: str, name: str | None, place: str, expected: str, observed: str
    ) -> Refusal:
        return self._origin.refusal(rule, name, place, expected, observed)
