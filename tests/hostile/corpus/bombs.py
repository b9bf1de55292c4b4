"""T5: little to download, much to read. Each has to end at once, and small."""

# ruff: noqa: E501 - one line a lie

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from typing import Any

from tests.hostile.corpus.arrays import checkpoint
from tests.hostile.corpus.bases import Base
from tests.hostile.corpus.case import (
    FORMAT,
    INTEGRITY,
    LIMIT,
    SCHEMA,
    Case,
    Tell,
    Write,
    lie,
    raw,
    rows,
    sealed,
    told,
)
from tests.hostile.corpus.documents import PLAN, companion
from tests.hostile.corpus.logs import LOG
from tests.hostile.corpus.raw_zip import Raw, RawZip, deflate, from_forgery, unpinned
from tests.support.hostile import Forgery

MEBIBYTE = 2**20


def zeros(size: int) -> tuple[bytes, int]:
    """The deflate stream of so many zeros, and their checksum, without having them."""
    packer, crc, block = zlib.compressobj(9, zlib.DEFLATED, -15), 0, bytes(MEBIBYTE)
    parts = []
    for _ in range(size // MEBIBYTE):
        parts.append(packer.compress(block))
        crc = zlib.crc32(block, crc)
    return b"".join(parts) + packer.flush(), crc


def inflating(name: str, size: int, claimed: int | None = None) -> Write:
    """An entry that inflates to so many zeros; it says so, or claims less."""

    def make(base: Base) -> bytes:
        archive = unpinned(base)
        one = archive.member(name)
        one.stored, crc = zeros(size)
        one.both(size=size if claimed is None else claimed, checksum=crc)
        return archive.pack()

    return raw(make)


def deflated_entry(path: str, content: Callable[[], bytes]) -> Write:
    """An entry with right digests that lies in the zip deflated, its ratio allowed."""

    def make(base: Base) -> bytes:
        forgery = base.forgery()
        forgery.files[path] = content()
        archive = from_forgery(forgery)
        one = archive.member(path)
        one.stored = deflate(one.content)
        return archive.pack()

    return raw(make)


def loose(size: int, opening: bytes = b"") -> bytes:
    """Text of so many bytes that deflates to about a hundredth, and no further."""
    parts, count = [opening], size // 30_000 + 1
    for index in range(count):
        noise = hashlib.shake_128(index.to_bytes(4, "big")).hexdigest(160).encode()
        parts += [noise, b"0" * (30_000 - len(noise))]
    return b"".join(parts)[:size]


def many_entries(base: Base) -> bytes:
    """More entries than are allowed, each of nothing."""
    return RawZip([Raw(b"source/%06d" % k, b"") for k in range(100_001)]).pack()


def many_listed(base: Base, forgery: Forgery) -> None:
    """Nearly as many entries as are allowed that are listed."""
    forgery.files |= {f"source/d{k // 1000}/{k:06d}": b"" for k in range(19_800)}


def many_arrays(base: Base, forgery: Forgery) -> None:
    """An npz of twenty thousand arrays that nothing describes."""
    header = forgery.arrays(checkpoint(base))[base.array].reshape(-1)[:0]
    forgery.put_arrays(checkpoint(base), {f"a{k:05d}": header for k in range(20_000)})


def many_kept(base: Base, forgery: Forgery) -> None:
    """Five hundred kept stages: a reader that opens the file for each reads it five hundred times."""
    rows_of = forgery.arrays("runs/reference/kept.npz")[base.kept]
    forgery.put_arrays("runs/reference/kept.npz", {f"s{k:04d}": rows_of for k in range(500)})
    forgery.edit(PLAN, lambda plan: plan["record"].update(keep=[f"s{k:04d}" for k in range(500)]))


def many_values(base: Base, forgery: Forgery) -> None:
    """A state of three hundred thousand numbers, none of them in an array."""
    forgery.edit(
        companion(base), lambda v: v["values"].update({f"{base.component}.zz": [0] * 300_000})
    )


def many_lines(base: Base, forgery: Forgery) -> None:
    """A log with fifty thousand lines that no chain holds together."""
    lines = forgery.files[LOG].splitlines(keepends=True)
    forgery.files[LOG] = b"".join(lines[:3]) + lines[3] * 50_000


def deep_config(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def planned(change: Callable[[Any], object]) -> Tell:
    return lambda base, forgery: forgery.edit(PLAN, change)


def overlapping(base: Base) -> bytes:
    """A thousand directory entries over one stream of zeros, as the well known bomb has them."""
    stored, crc = zeros(10 * MEBIBYTE)
    kernel = Raw(b"a0000", b"", stored=stored)
    kernel.both(size=10 * MEBIBYTE, checksum=crc, method=8)
    archive = RawZip([kernel])
    archive.pack()
    for k in range(1, 1000):
        one = Raw(b"a%04d" % k, b"", stored=stored, present=False)
        one.both(size=10 * MEBIBYTE, checksum=crc, method=8)
        archive.members.append(one)
    return archive.pack()


def quine(base: Base) -> bytes:
    """A package of packages of packages: nothing opens the inner ones."""
    data = base.package.read_bytes()
    for _ in range(5):
        data = RawZip([Raw(b"package.zip", data)]).pack()
    return data


CASES: tuple[Case, ...] = rows(
    "T5",
    "bomb",
    lie("ratio", "Half a megabyte becomes 512.", inflating("README.md", 512 * MEBIBYTE), LIMIT, "max_deflate_ratio"),
    lie("ratio-manifest", "The manifest becomes 256 megabytes.", inflating("manifest.json", 256 * MEBIBYTE), LIMIT, "max_deflate_ratio"),
    lie("ratio-small", "Just above the size from which the ratio counts.", inflating("README.md", 2 * MEBIBYTE), LIMIT, "max_deflate_ratio"),
    lie("size-lie", "An entry claims a megabyte and becomes 512 megabytes.", inflating("README.md", 512 * MEBIBYTE, MEBIBYTE), FORMAT, "observed more"),
    lie("size-claim", "An entry claims two gigabytes and is a kilobyte.", inflating("README.md", MEBIBYTE, 2**31), LIMIT, "max_deflate_ratio"),
    lie("overlap", "A thousand entries over one stream.", raw(overlapping), FORMAT, "end signature"),
    lie("nested", "A package in a zip, five times over.", raw(quine), FORMAT, "manifest.json"),
    lie("document", "A document of 65 megabytes.", deflated_entry("plan.json", lambda: loose(65 * MEBIBYTE, b'"')), LIMIT, "max_document_bytes"),
    lie("log-line", "A line of 30 megabytes without an end.", deflated_entry(LOG, lambda: loose(30 * MEBIBYTE, b'{"a":"')), LIMIT, "max_log_line_bytes"),
    lie("log-lines", "Fifty thousand lines that no chain holds together.", told(many_lines), FORMAT, "expected step"),
    lie("log-newlines", "Two hundred thousand empty lines.", deflated_entry(LOG, lambda: b"\n" * 200_000), FORMAT, "strict JSON"),
    lie("json-containers", "A million and one empty lists.", told(lambda b, f: f.files.update({PLAN: b"[" + b"[]," * 1_000_001 + b"[]]\n"})), LIMIT, "max_json_items"),
    lie("json-lists", "A hundred and fifty thousand empty lists.", told(lambda b, f: f.files.update({PLAN: b"[" + b"[]," * 150_000 + b"[]]\n"})), LIMIT, "max_json_containers"),
    lie("json-depth", "Configuration sixty-five deep.", told(planned(lambda p: p["experiment"]["config"].update(zz=deep_config(65)))), LIMIT, "max_json_depth"),
    lie("json-numbers", "Two million numbers in a list.", told(lambda b, f: f.files.update({PLAN: b"[" + b"0," * 2_000_000 + b"0]\n"})), SCHEMA, "plan.json", heavy=True),
    lie("json-keys", "Two hundred thousand members of a configuration.", told(planned(lambda p: p["experiment"]["config"].update({f"k{k}": 0 for k in range(200_000)}))), INTEGRITY, "configuration", faults=None, heavy=True),
    lie("json-text", "A text of twelve megabytes.", told(planned(lambda p: p["experiment"]["config"].update(zz="x" * 12_000_000))), INTEGRITY, "configuration", faults=None),
    lie("json-escapes", "A text of a million escapes.", told(lambda b, f: f.files.update({PLAN: b'"' + b"\\u0041" * 1_000_000 + b'"\n'})), SCHEMA, "plan.json"),
    lie("json-quotes", "A million quotes.", told(lambda b, f: f.files.update({PLAN: b'"' * 1_000_000})), FORMAT, "strict JSON"),
    lie("json-backslashes", "A million backslashes in a text without an end.", told(lambda b, f: f.files.update({PLAN: b'"' + b"\\" * 1_000_000})), FORMAT, "strict JSON"),
    lie("json-same-keys", "A hundred thousand members of one name.", told(lambda b, f: f.files.update({PLAN: b"{" + b'"a":1,' * 100_000 + b'"a":1}\n'})), FORMAT, "twice"),
    lie("values", "A state of three hundred thousand numbers.", told(many_values), INTEGRITY, "components", faults=None),
    lie("arrays", "An npz of twenty thousand arrays.", told(many_arrays), INTEGRITY, "array 'a00000'", faults=None, heavy=True),
    lie("kept-stages", "Five hundred kept stages.", told(many_kept), INTEGRITY, "row of step 1", faults=None, heavy=True),
    lie("entries", "More entries than are allowed.", raw(many_entries), LIMIT, "max_entries", heavy=True),
    lie("entries-listed", "Nearly as many entries as are allowed, all of them listed.", told(many_listed), None, "", heavy=True),
    lie("rows", "Fifty thousand rows of nothing.", sealed(lambda b, m: m["entries"].extend([{}] * 50_000)), SCHEMA, "entries", faults=1, heavy=True),
    lie("names-long", "A stage name of a megabyte.", told(planned(lambda p: p["record"].update(keep=["x" * 2**20]))), SCHEMA, "keep"),
)  # fmt: skip
