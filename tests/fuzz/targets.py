"""What the fuzzers feed: one function a reader, and what has to hold for any bytes at all.

Each target takes bytes. It returns where they were refused by an error of our tree, or were read
and mean exactly one thing: written again they are the same bytes. Anything else raises, and that
is a finding. ``seeds`` gives honest inputs to begin from.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from repropack import checker
from repropack._compare.contents import compare_outputs
from repropack._format.archive_reader import ArchiveReader
from repropack._format.archive_writer import ArchiveWriter
from repropack._format.canonical import decode_strict, encode_canonical
from repropack._format.contents import contents_of, output_stage
from repropack._format.limits import DEFAULT_LIMITS
from repropack._format.log import LogReader, encode_line, read_line, step_record
from repropack._format.npy import npy_header, parse_npy_header
from repropack._format.npz import read_npz, write_npz
from repropack._format.paths import check_entry_path, check_path_set
from repropack._read.container import ZipContainer
from repropack._read.findings import Findings
from repropack._read.integrity import check_package_whole
from repropack._read.package import Package
from repropack._read.run import read_stored
from repropack.errors import RepropackError
from repropack.models.checkpoint import Checkpoint
from repropack.models.environment import EnvironmentRecord
from repropack.models.log import HeaderLine, StartLine, StepLine
from repropack.models.manifest import Manifest
from repropack.models.plan import Plan
from repropack.models.results import Results
from tests.fuzz.programs import forge
from tests.support.contents import chunk, jpeg, npy, npz, rgb_png
from tests.support.hostile import Forgery, take_apart

Target = Callable[[bytes], None]

DOCUMENTS: tuple[tuple[str, Any], ...] = (
    ("manifest.json", Manifest),
    ("plan.json", Plan),
    ("environment.json", EnvironmentRecord),
    ("results.json", Results),
    ("checkpoint", Checkpoint),
)


OUTPUTS = ("a.npz", "b.npz", "a.npy", "a.json", "a.csv", "a.png", "a.jpg")


class MisreadError(AssertionError):
    """A reader accepted bytes and read something else than they say."""


def demand(holds: object, what: str) -> None:
    """Raise ``MisreadError`` unless it holds; never left out, as ``assert`` may be."""
    if not holds:
        raise MisreadError(what)


# ---------------------------------------------------------------- one reader each


def fuzz_zip(data: bytes) -> None:
    """A zip that is read is the one that the writer makes of what was read."""
    try:
        reader = ArchiveReader(io.BytesIO(data), where="f.zip")
        found = [(m, reader.open(name).read()) for name, m in reader.members.items()]
    except RepropackError:
        return
    for member, content in found:
        demand(len(content) == member.size, "an entry has another size than it says")
    with zipfile.ZipFile(io.BytesIO(data)) as other:
        names = [info.orig_filename for info in other.infolist()]
        demand(names == [m.name for m, _ in found], "another reader sees another tree")
    if any(member.deflated for member, _ in found):
        return  # deflate has several spellings of one content
    stream = io.BytesIO()
    writer = ArchiveWriter(stream)
    for member, content in found:
        writer.add(member.name, content, executable=member.executable)
    writer.finish()
    demand(stream.getvalue() == data, "a zip in another than the pinned form was read")


def fuzz_npz(data: bytes) -> None:
    """Arrays that are read give the same npz again."""
    try:
        arrays = read_npz(io.BytesIO(data), where="f.npz")
    except RepropackError:
        return
    stream = io.BytesIO()
    write_npz(stream, arrays)
    demand(stream.getvalue() == data, "an npz in another than the pinned form was read")


def fuzz_npy(data: bytes) -> None:
    """One array in an otherwise honest npz: header and elements are the fuzzer's."""
    fuzz_npz(_single("w.npy", data))
    try:
        dtype, shape = parse_npy_header("f.npy", "", data)
    except RepropackError:
        return
    demand(npy_header(dtype, shape) == data, "a header in another spelling was read")


def fuzz_json(data: bytes) -> None:
    """What strict JSON reads, another reader reads alike, and it can be written again."""
    try:
        value = decode_strict(data, where="f.json")
    except RepropackError:
        return
    demand(repr(json.loads(data.decode("utf-8"))) == repr(value), "another reader reads otherwise")
    again = decode_strict(encode_canonical(value), where="f.json")
    demand(repr(again) == repr(value) or _ordered(again) == _ordered(value), "changed by writing")


def fuzz_document(data: bytes) -> None:
    """Documents of a package: the first byte chooses which one."""
    if not data:
        return
    path, model = DOCUMENTS[data[0] % len(DOCUMENTS)]
    try:
        document = read_stored(model, data[1:], where=path)
    except RepropackError:
        return
    again = encode_canonical(document.model_dump(mode="json"))
    demand(again == data[1:], "a document in another spelling was read")


def fuzz_log(data: bytes) -> None:
    """A log that is read is, line by line, what would be written."""
    try:
        reader = LogReader(io.BytesIO(data), where="f.jsonl")
        steps = list(reader.steps())
    except RepropackError:
        return
    lines = [encode_line(reader.header), encode_line(reader.start)]
    lines += [encode_canonical({**step_record(line), "chain": line.chain}) for line in steps]
    demand(b"".join(lines) == data, "a log in another spelling was read")


def fuzz_line(data: bytes) -> None:
    """Single lines, so that the chain does not hide what is behind it."""
    for model in (HeaderLine, StartLine, StepLine):
        try:
            line = read_line(model, data, where="f.jsonl line 1")
        except RepropackError:
            continue
        demand(isinstance(line, model), "another line than was asked for")
        decode_strict(data, where="f.jsonl line 1")


def fuzz_path(data: bytes) -> None:
    """Paths that pass stay inside on every system; the packed checker passes no other."""
    paths = data.decode("utf-8", "surrogateescape").split("\n")
    passed = []
    for path in paths:
        try:
            check_entry_path(path)
        except RepropackError:
            continue
        passed.append(path)
        demand(not set(path) & set('\\:*?"<>|\0\n\x1b\u202e'), f"unsafe character passed: {path!a}")
        demand(not {"", ".", ".."} & set(path.split("/")), f"left the folder: {path!a}")
    try:
        check_path_set(passed)
    except RepropackError:
        return
    folded = {path.casefold() for path in passed}
    demand(len(folded) == len(passed), f"two paths meet: {passed!a}")


def fuzz_contents(data: bytes) -> None:
    """An output of any kind, which the first byte chooses: it has content, and always the same."""
    path = OUTPUTS[data[0] % len(OUTPUTS)] if data else "a.txt"
    body = data[1:]
    found = contents_of(path, io.BytesIO(body), len(body))
    demand(found.stages[-1][0] == output_stage(path), "the file has no stage")
    demand(found == contents_of(path, io.BytesIO(body), len(body)), "read again, another content")
    demand(found.kind == "bytes" or found.reason is None, "a reason for what is no exception")
    one, two = ((io.BytesIO(part), len(part)) for part in (body, body + b"\n"))
    demand(compare_outputs(path, one, two) is not None, "a byte more is no difference")


def fuzz_package(data: bytes) -> None:
    """A whole package as it comes: every fault is one of ours."""
    check_bytes(data)


def fuzz_program(data: bytes, base: Forgery | None = None) -> None:
    """A program of changes to an honest package, digests and chains made right again after it."""
    packed = forge(base or base_forgery(), data)
    fuzz_zip(packed)
    check_bytes(packed)


def fuzz_checker(data: bytes) -> None:
    """The packed checker on the same programs: no exception, and no zip that we call unsafe."""
    packed = forge(base_forgery(), data)
    path = _CHECKED_FILE
    path.write_bytes(packed)
    package = checker.Package(path)
    package.check()
    ours = check_bytes(packed)
    unsafe = {"package.unsafe-entry", "package.limit-exceeded"} & set(ours)
    demand(not unsafe or package.faults, f"the checker accepts what check calls {unsafe}")


def check_bytes(data: bytes) -> list[str]:
    """Check a zip in memory as ``check`` does, and return the codes of its faults."""
    findings = Findings()
    try:
        container = ZipContainer(io.BytesIO(data), where="f.zip")
        with Package(Path("f.zip"), container, DEFAULT_LIMITS) as package:
            check_package_whole(package, findings)
    except RepropackError as error:
        return [error.code]
    return [fault.code for fault in findings.faults]


# ---------------------------------------------------------------- seeds

_CHECKED_FILE = Path("/nonexistent")
_BASE: list[Forgery] = []


def use_base(package: Path, scratch: Path) -> None:
    """Name the honest package that programs change, and a folder for the checker's files."""
    global _CHECKED_FILE  # noqa: PLW0603 - set once, before the first input
    _CHECKED_FILE = scratch / "fuzzed.zip"
    _BASE[:] = [slim(take_apart(package))]


def base_forgery() -> Forgery:
    """A copy of the base to be changed."""
    base = _BASE[0]
    return Forgery(dict(base.files), base.manifest, set(base.executables))


def slim(forgery: Forgery) -> Forgery:
    """Leave out what is large and says nothing: figures, and most of the prose."""
    for path in [path for path in forgery.files if path.startswith("figures/")]:
        del forgery.files[path]
    forgery.files["README.md"] = b"# Small\n"
    return forgery


def seeds(name: str) -> list[bytes]:
    """Honest inputs of a target."""
    files = base_forgery().files
    logs = [data for path, data in files.items() if path.endswith(".jsonl")]
    npzs = [data for path, data in files.items() if path.endswith(".npz")]
    companions = [d for p, d in files.items() if p.endswith(".json") and "/checkpoints/" in p]
    members = [zipfile.ZipFile(io.BytesIO(data)) for data in npzs[:4]]
    arrays = [one.read(info) for one in members for info in one.infolist()]
    documents = [files["plan.json"], files["results.json"], companions[0]]
    made = {
        "zip": [*npzs[:4], _small_zip(deflate=False), _small_zip(deflate=True)],
        "npz": npzs[:6],
        "npy": arrays,
        "json": [*documents, b'[1,-1.5e3,"\\u00e9",null,true,{"$float":"nan"}]'],
        "document": [
            bytes([index]) + data
            for index, data in enumerate(
                [
                    base_forgery().seal(),
                    files["plan.json"],
                    files["environment.json"],
                    files["results.json"],
                    companions[0],
                ]
            )
        ],
        "log": logs,
        "line": [line + b"\n" for data in logs for line in data.splitlines()],
        "contents": [bytes([k]) + data for k, data in enumerate(_outputs())],
        "path": ["source/données.py\nsource/a b.py".encode(), *map(str.encode, files)],
        "package": [forge(base_forgery(), b"")],
    }
    return made.get(name, [b"", bytes(range(64)), bytes(range(255, 0, -3))])


def _small_zip(*, deflate: bool) -> bytes:
    stream = io.BytesIO()
    writer = ArchiveWriter(stream)
    for name, content in (("manifest.json", b"{}"), ("a", b""), ("b/c.txt", b"abc" * 40)):
        writer.add(name, content, executable=name == "a", deflate=deflate)
    writer.finish()
    return stream.getvalue()


def _outputs() -> Iterator[bytes]:
    """An honest file for each of ``OUTPUTS``."""
    yield npz(w=np.arange(3, dtype="<i2"), s=np.array(["a"]))
    yield npz(compressed=True, w=np.zeros((2, 3), order="F"))
    yield npy(np.array(["2020-01-01"], "M8[D]"))
    yield b'{"a": [1, 2.5, NaN], "b": "x"}'
    yield b'a,"b"\r\n1,2\r\n'
    yield rgb_png([[(1, 2, 3), (4, 5, 6)]], before=chunk(b"tEXt", b"a\0b"))
    yield jpeg()


def _single(name: str, content: bytes) -> bytes:
    stream = io.BytesIO()
    writer = ArchiveWriter(stream)
    writer.add(name, content)
    writer.finish()
    return stream.getvalue()


def _ordered(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


TARGETS: dict[str, Target] = {
    "zip": fuzz_zip,
    "npz": fuzz_npz,
    "npy": fuzz_npy,
    "json": fuzz_json,
    "document": fuzz_document,
    "log": fuzz_log,
    "line": fuzz_line,
    "path": fuzz_path,
    "contents": fuzz_contents,
    "package": fuzz_package,
    "program": fuzz_program,
    "checker": fuzz_checker,
}
"""Every target by the name under which a command asks for it."""
