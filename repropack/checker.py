"""Check that a reproducibility package is intact, with nothing but Python 3.9 or later.

    python package.zip              check the package that this file lies in, as __main__.py
    python unpacked/__main__.py     the same, unpacked (not "python unpacked/", which adds a file)
    python checker.py PACKAGE       check another one, zip or directory

Exit status: 0 intact, 3 damaged or unsafe, 2 wrong use, 4 no answer (a newer format version).

This file stands alone: it lies in every package, for the day when the project that made it is
forgotten. Numbers such as 7.3 are clauses of the package format (repropack, docs/format.md).

It reads and compares, and runs, imports or unpickles nothing of a package (9.7). Whoever changes a
package can change the checker in it: for one that a stranger gave you, use a copy from elsewhere.
"""

import contextlib
import hashlib
import io
import json
import math
import re
import struct
import sys
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator
from itertools import islice, repeat
from pathlib import Path
from typing import Any, BinaryIO

if sys.version_info < (3, 9):  # noqa: UP036 - it meets whatever Python is there
    sys.stderr.write("This checker needs Python 3.9 or later.\n")
    sys.exit(4)

FORMAT, UNSAFE, LIMIT = "package.format", "package.unsafe-entry", "package.limit-exceeded"  # 9.1-3
INTEGRITY, NEWER, UNREADABLE = "package.integrity", "package.unsupported-version", "unreadable"
MANIFEST, DOCUMENTS = "manifest.json", ("environment.json", "plan.json", "results.json")
REFERENCE_LOG = "runs/reference/fingerprints.jsonl"
REQUIRED = {"README.md", "LICENSE", "index.html", REFERENCE_LOG, *DOCUMENTS}  # 1.3
MEBIBYTE, SAFE_INTEGER, ELSEWHERE, MOST_ENTRIES = 1 << 20, 2**53 - 1, 0xFFFFFFFF, 20_000
RESERVED = {"scope", "claims"}  # 1.7
UNFIT = re.compile(
    r"(?i)|\.git|git~1| .*|.*[ .]|(con(in\$|out\$)?|prn|aux|nul|(com|lpt)[1-9¹²³]) *(\..*)?"
)
ARRAY_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*(#[1-9][0-9]*)?\.npy")  # 4.6
ARRAY_TYPE = re.compile(r"[|][biu]1|<([iu][248]|f[248]|c8|c16)")  # 4.1
NPY = re.compile(r"\{'descr': '(.*)', 'fortran_order': False, 'shape': \(([0-9, ]*)\), \} *\n")
# 2.4: where JSON names an array. No text looks like it, for a quote in a text is escaped.
ARRAY_IN_JSON = re.compile(rb'(?<=\{"\$array":")[^"]*')
NOT_LOOKED_AT = """
Nothing of the package was executed. Not looked at: schemas, roles and media types, locks, whether
results follow from the logs, claims hold, and page, crate and citation follow from the rest,
whether logs, checkpoints, kept arrays and outputs are all that the plan asks for, and inputs that
are held elsewhere.
Whether the package can be reproduced is for `repropack verify` to find out.
"""


class DamageError(Exception):
    """A fault: the entry it is in, what is wrong there, and its code (chapter 9)."""


def need(holds: object, entry: str, problem: str, code: str = INTEGRITY) -> None:
    """Unless it holds, that is a fault."""
    if not holds:
        raise DamageError(entry, problem, code)


def digest(*parts: bytes, blocks: Iterable[bytes] = ()) -> str:
    """3.1: SHA-256 of bytes, as text."""
    hasher = hashlib.sha256(b"".join(parts))
    for block in blocks:
        hasher.update(block)
    return "sha256:" + hasher.hexdigest()


def canonical(value: Any) -> bytes:
    """2.1: the one spelling of a JSON value."""
    text = json.dumps(  # noqa: TID251 - this file stands alone
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode("utf-8") + b"\n"


def parse(data: bytes, entry: str, *, canonically: bool = True) -> Any:
    """2.2, 2.3: JSON in its one spelling, in which no member comes twice and no number is NaN."""
    need(len(data) <= 16 * MEBIBYTE, entry, "larger than 16 MiB", LIMIT)
    few = data.count(b"[") + data.count(b"{") <= 100_000 and data.count(b",") <= 1_000_000
    need(few, entry, "more lists, objects or members than can be read safely", LIMIT)
    try:
        value = json.loads(data.decode("utf-8"), parse_int=_integer)  # noqa: TID251 - as above
        same = canonical(value) == data or not canonically
    except (ValueError, RecursionError) as error:
        raise DamageError(entry, f"expected strict JSON, observed: {error}", FORMAT) from error
    need(same, entry, "expected canonical JSON, observed another spelling", FORMAT)
    return value


def _integer(text: str) -> int:  # one that not all readers take alike becomes another
    return max(-SAFE_INTEGER, min(SAFE_INTEGER, int(text[:20])))


def check_path(path: str) -> None:
    """7.9, 7.10: a path that is safe, and the same on every system."""
    data = path.encode("utf-8", "surrogatepass")
    fits = len(data) <= 1024 and max(map(len, data.split(b"/"))) <= 200 and path.count("/") < 32
    authored = re.match(r"(source|inputs|after|runs/[^/]+/outputs)/", path)
    foreign = r"""["$'*:;<>?\\^`|]""" if authored else r"[^A-Za-z0-9._+/-]"
    plain = path.isprintable() and not re.search(foreign, path)
    safe = fits and plain and not any(map(UNFIT.fullmatch, path.split("/")))
    safe = safe and unicodedata.normalize("NFC", path) == path
    need(safe, path, "a path that is not safe on every system", UNSAFE)


def zip64(values: Any) -> bytes:
    """7.6: the extra field, where a size or an offset needs it."""
    return struct.pack(f"<2H{len(values)}Q", 1, 8 * len(values), *values) if values else b""


def check_zip(archive: Any, entry: str = "") -> None:
    """7.1-7.7: members back to back, directory, end; zipfile alone would let much pass."""
    offset, headers, members, stream = 0, [], archive.infolist(), archive.fp
    count, place = len(members), entry or archive.filename
    need(count <= MOST_ENTRIES, place, f"more than {MOST_ENTRIES} entries", LIMIT)
    need(len(set(archive.namelist())) == count, place, "two entries of one name", UNSAFE)
    for info in members:
        name, size, stored = info.filename.encode("utf-8"), info.file_size, info.compress_size
        large, far = max(size, stored) >= ELSEWHERE, offset >= ELSEWHERE
        version, extra = 45 if large or far else 20, (size, stored) * large
        sizes = (ELSEWHERE, ELSEWHERE) if large else (stored, size)
        fixed = struct.pack("<5H3I", version, 0x800, info.compress_type, 0, 0x21, info.CRC, *sizes)
        local, extra = zip64(extra), zip64((*extra, offset) if far else extra)
        mode = (0o100755 if info.external_attr >> 22 & 1 else 0o100644) << 16
        rest = struct.pack("<3H2I", 0, 0, 0, mode, ELSEWHERE if far else offset) + name + extra
        lengths = [struct.pack("<2H", len(name), len(field)) for field in (local, extra)]
        headers.append(b"PK\1\2" + bytes([version, 3]) + fixed + lengths[1] + rest)
        header = b"PK\3\4" + fixed + lengths[0] + name + local
        stream.seek(offset)
        same = stream.read(len(header)) == header
        same = same and {0: stored == size, 8: stored < size}.get(info.compress_type)
        need(same, entry or info.filename, f"zip: header at byte {offset}", FORMAT)
        need(size <= max(MEBIBYTE, 200 * stored), entry or info.filename, "deflated too far", LIMIT)
        offset += len(header) + stored
    directory = b"".join(headers)
    length, at, end = len(directory), offset, b""
    if max(length, at) >= ELSEWHERE:  # 7.7
        end = struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 813, 45, 0, 0, count, count, length, at)
        end += struct.pack("<4sIQI", b"PK\6\7", 0, at + length, 1)
    short = [min(number, ELSEWHERE) for number in (length, at)]
    end += struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count, count, *short, 0)
    stream.seek(offset)
    same = stream.read(length + len(end) + 1) == directory + end
    need(same, place, f"zip: directory or end, from byte {offset} on", FORMAT)


def arrays(stream: BinaryIO, entry: str) -> Iterator[tuple[str, str, list[int], Any]]:
    """4.4-4.6: name, type, shape and content of each array of an npz, behind its header."""
    archive = zipfile.ZipFile(stream)  # noqa: TID251 - this file stands alone
    check_zip(archive, entry)
    need(archive.namelist() == sorted(archive.namelist()), entry, "arrays not sorted", FORMAT)
    for info in archive.infolist():
        name, content = info.filename, archive.open(info)
        plain = len(name) <= 214 and ARRAY_NAME.fullmatch(name) and not info.external_attr >> 22 & 1
        need(plain and not info.compress_type, entry, f"{name!a}: no plain <name>.npy", FORMAT)
        head = content.read(10)
        head += content.read(min(4096, int.from_bytes(head[8:], "little")))
        found = NPY.fullmatch(head[10:].decode("latin-1"))
        dtype, axes = found.groups() if found else ("", "")
        need(ARRAY_TYPE.fullmatch(dtype), entry, f"{name}: no array of 4.1 and 4.4", FORMAT)
        shape = [int(axis) for axis in axes.rstrip(",").split(", ") if axis]
        axes = ", ".join(map(str, shape)) + "," * (len(shape) == 1)
        text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({axes}), }}"
        text += " " * (-(len(text) + 11) % 64) + "\n"
        same = head == b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode("ascii")
        size, most = (math.prod(axes) * int(dtype[2:]) for axes in (shape, [n or 1 for n in shape]))
        same = same and most < 2**63 and info.file_size == len(head) + size
        need(same and len(shape) <= 32, entry, f"{name}: header or size not as 4.4 has it", FORMAT)
        yield name[:-4], dtype, shape, content


def fingerprint(dtype: str, shape: list[int], content: BinaryIO) -> str:
    """4.3: read the elements of an array, and give its fingerprint."""
    head = f"repropack.array.v1\n{dtype}\n{','.join(map(str, shape))}\n".encode("ascii")
    size = math.prod(shape) * int(dtype[2:])
    starts = range(0, size, MEBIBYTE)
    blocks = (content.read(min(MEBIBYTE, size - start)) for start in starts)
    return digest(head, blocks=map(_bools, blocks) if dtype == "|b1" else blocks)


def _bools(block: bytes) -> bytes:  # 4.5
    need(not block.translate(None, b"\0\1"), "bool", "bytes other than 0 and 1", FORMAT)
    return block


def components(values: dict[str, Any], prints: dict[str, str], entry: str) -> list[list[str]]:
    """5.5, 5.6: the fingerprint of each component, from the values and the arrays'."""
    state = {**{name: {"$array": name} for name in prints if "#" not in name}, **values}
    rows: dict[str, list[Any]] = {}
    for name in sorted(state):
        rows.setdefault(name.split(".")[0], []).append([name, state[name]])
    text, known = canonical(rows), {name.encode(): prints[name].encode() for name in prints}
    need(sorted(ARRAY_IN_JSON.findall(text)) == sorted(known), entry, "arrays not named once (5.5)")
    rows = parse(ARRAY_IN_JSON.sub(lambda found: known[found[0]], text), entry)
    return [[c, digest(b"repropack.state.v1\n", canonical(rows[c]))] for c in sorted(rows)]


class Package:
    """A package as it is found, and what is found wrong with it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files: dict[str, zipfile.ZipInfo] = {}
        self.archive: Any = None  # a zipfile.ZipFile, unless the package is a directory
        self.faults: list[tuple[str, ...]] = []
        self.about, self.package_digest, self.evidence_digest = ["", "", ""], "", ""
        self.entries = self.steps = self.arrays = 0

    @contextlib.contextmanager
    def trying(self, entry: str) -> Iterator[None]:
        """Note a fault that is met inside, and go on behind it."""
        try:
            yield
        except DamageError as fault:
            self.faults.append(fault.args)
        except Exception as error:  # noqa: BLE001 - hostile bytes end in exceptions of all kinds
            code = UNREADABLE if isinstance(error, (PermissionError, MemoryError)) else FORMAT
            self.faults.append((entry, f"malformed: {type(error).__name__}: {error}", code))

    def check(self) -> None:
        """Chapter 9: container and manifest, then files and digests, then what is in them."""
        with self.trying(self.path.name):
            if self.path.is_dir():
                self.list_folder()
            else:
                self.archive = zipfile.ZipFile(self.path)  # noqa: TID251 - this file stands alone
                check_zip(self.archive)
                self.files = {info.filename: info for info in self.archive.infolist()}
            rows = self.read_manifest()
            self.check_files([row["path"] for row in rows])
            for row in (row for row in rows if row["path"] in self.files):
                with self.trying(row["path"]):
                    self.check_entry(row["path"], row)
            if not self.faults:
                self.check_runs()

    def list_folder(self) -> None:
        """7.12: regular files and folders, nothing else; no link is followed."""
        for item in self.path.rglob("*"):
            path, plain = item.relative_to(self.path).as_posix(), not item.is_symlink()
            check_path(path)
            need(plain and (item.is_file() or item.is_dir()), path, "no file or folder", UNSAFE)
            if item.is_file():
                self.files[path] = zipfile.ZipInfo.from_file(item, path, strict_timestamps=False)

    def open(self, path: str) -> BinaryIO:
        """Open a file; where a zip's member ends, zipfile compares its size and CRC-32."""
        need(path in self.files, path, "missing")
        if self.archive is None:
            return (self.path / path).open("rb")
        return io.BufferedReader(self.archive.open(self.files[path]))

    def read(self, path: str, *, canonically: bool = True) -> Any:
        """Read a document."""
        with self.open(path) as stream:
            return parse(stream.read(16 * MEBIBYTE + 1), path, canonically=canonically)

    def read_manifest(self) -> list[Any]:
        """8.3-8.5: the manifest's rows; format and version come before anything else (10.4)."""
        manifest = self.read(MANIFEST, canonically=False)
        form, version = manifest["format"], manifest["format_version"]
        need(form == "replay-package", MANIFEST, f"of another format: {form!a:.80}", FORMAT)
        need(not version > 1, MANIFEST, f"format version {version}: this checker knows 1", NEWER)
        manifest = self.read(MANIFEST)
        need(version is not True and version == 1, MANIFEST, "no format version", FORMAT)
        self.about = [str(manifest["package"][name]) for name in ("title", "name", "version")]
        self.package_digest = digest(canonical(manifest))  # 3.3
        rows = list(manifest["entries"])
        folders = ("source/", "inputs/", "runs/")
        covered = [x for x in rows if x["path"] == "plan.json" or x["path"].startswith(folders)]
        self.evidence_digest = digest(b"repropack.evidence.v1\n", canonical(covered))  # 3.4
        known = not RESERVED & {row["role"] for row in rows}
        need(known, MANIFEST, "an entry of a reserved role (1.7)", NEWER)
        away = [row for row in rows if not row["included"]]  # 8.8
        known = all(row["path"].startswith("inputs/") and row["location"] for row in away)
        need(known, MANIFEST, "an entry held elsewhere that is no input, or without a location")
        return [row for row in rows if row["included"]]

    def check_files(self, listed: list[str]) -> None:
        """1.2, 7.1, 7.11: the files are those that are listed, in order, and safe to store."""
        need(listed == sorted(set(listed)), MANIFEST, "entries not sorted, or one twice (8.3)")
        found = sorted(self.files, key=lambda path: (path != MANIFEST, path))
        need(found == [*self.files] or not self.archive, MANIFEST, "zip out of order (7.1)", FORMAT)
        for path in found:
            check_path(path)
        folded = {unicodedata.normalize("NFC", path.casefold()) for path in found}
        need(len(folded) == len(found), MANIFEST, "two paths that differ in case alone", UNSAFE)
        for path in sorted({MANIFEST, *listed} ^ set(found) | REQUIRED - set(listed)):
            problem = "unexpected: not in the manifest" if path in self.files else "missing"
            hint = " (put there by Python: remove it)" * path.startswith("__pycache__/")
            self.faults.append((path, problem + hint, INTEGRITY))

    def check_entry(self, path: str, row: dict[str, Any]) -> None:
        """8.4: mode, size and digest of a file are those that are listed."""
        same = self.files[path].external_attr >> 22 & 1 == int(row["executable"])
        need(same or sys.platform == "win32", path, "executable, or not, against the manifest")
        with self.open(path) as stream:
            blocks = iter(lambda: stream.read(MEBIBYTE), b"")  # no further than is listed
            found = digest(blocks=islice(blocks, row["size"] // MEBIBYTE + 2))
        observed = f"{found} ({self.files[path].file_size} bytes)"
        expected = f"{row['digest']} ({row['size']} bytes)"
        need(observed == expected, path, f"digest: expected {expected}, observed {observed}")
        self.entries += 1

    def check_runs(self) -> None:
        """1.3, 8.7: the runs are those of the plan, and each agrees with itself."""
        plan = [self.read(path) for path in DOCUMENTS][1]
        runs = {"reference": 0, **{x["name"]: x["resume_at"] or 0 for x in plan["comparisons"]}}
        self.unread = {path for path in self.files if re.match("runs/(?![^/]+/outputs/)", path)}
        stored = {path.split("/")[1] for path in self.files if path.startswith("runs/")}
        for run in sorted(stored ^ set(runs)):
            self.faults.append((f"runs/{run}", "in the plan or in the package alone", INTEGRITY))
        chains = {0: digest(b"repropack.chain.v1\n")}  # 6.9: what a run after this step continues
        self.resets = {x["name"]: x["reset"] for x in plan["comparisons"] if x["resume_at"]}
        self.states: dict[int, Any] = {}  # of the reference, by step
        for run, after in runs.items():
            if after in chains or not self.faults:  # else the reference is damaged before it
                with self.trying(f"runs/{run}"):
                    self.check_run(run, after, plan["experiment"]["steps"], chains)
        for path in sorted(self.unread) if not self.faults else ():
            self.faults.append((path, "belongs to no step of the log", INTEGRITY))

    def check_run(self, run: str, after: int, steps: int, chains: dict[int, str]) -> None:
        """6.1-6.10, 5.12: a log's order and chain; checkpoints and kept arrays are the log's."""
        path, kept = f"runs/{run}/fingerprints.jsonl", f"runs/{run}/kept.npz"
        empty = io.BytesIO(b"PK\5\6".ljust(22, b"\0"))  # an npz of no arrays, where there is none
        with self.open(path) as log, self.open(kept) if kept in self.files else empty as stream:
            rows = {  # by kept stage, the fingerprints of its rows, made when they are asked for
                name: map(fingerprint, repeat(dtype), repeat(shape[1:]), repeat(content, shape[0]))
                for name, dtype, shape, content in arrays(stream, kept)
            }
            lines: Any = (parse(raw, path) for raw in iter(lambda: log.readline(MEBIBYTE + 1), b""))
            header, line = islice(lines, 2)
            observed = (header["run"], header["first_step"], line["chain"])
            expected = (run, after + 1, chains.get(after))
            need(observed == expected, path, f"begin: expected {expected}, observed {observed}")
            if run in self.resets:  # 6.9
                first, stored, reset = self.states[0], self.states[after], self.resets[run]
                due = {n: first.get(n) if n in reset else stored[n] for n in stored}
                same = dict(line["state"]) == due and {*reset} <= {*first} & {*stored}
                need(same, path, "start: not the state that plan and checkpoints give")
            step, chain = after, line["chain"]
            self.check_checkpoint(run, step, line)
            self.states.setdefault(0, dict(line["state"]))
            for following in lines:
                need("finish" not in line, path, f"step {step}: a line behind the end", FORMAT)
                line, step, self.steps = following, step + 1, self.steps + 1
                need(line["step"] == step, path, f"expected step {step}: the log was cut", FORMAT)
                body = canonical({name: line[name] for name in line if name != "chain"})[:-1]
                chain = digest(b"repropack.chain.v1\n", chain[7:].encode(), b"\n", body)  # 6.8
                need(line["chain"] == chain, path, f"step {step}: the chain is broken here", FORMAT)
                stages = dict(line.get("stages", []))
                for name in rows if stages else ():
                    same = next(rows[name], "none") == stages.get(name)
                    need(same, kept, f"array {name!a}: row of step {step} is not the log's")
                    self.arrays += 1
                if self.check_checkpoint(run, step, line) and run == "reference":
                    self.states[step] = dict(line["state"])
                    chains[step] = chain
            more = [name for name in rows if next(rows[name], None)]
            need(not more, kept, f"arrays with more rows than the log has: {more}")
        need(step == steps or ("finish" in line and step < steps), path, f"ends with step {step}")
        self.unread -= {path, kept}

    def check_checkpoint(self, run: str, step: int, line: dict[str, Any]) -> bool:
        """5.7-5.9: the checkpoint after a step, if there is one, is what it and the log say."""
        path, npz = (f"runs/{run}/checkpoints/step-{step:09d}.{end}" for end in ("json", "npz"))
        if path not in self.files:
            return False
        stored, prints = self.read(path), dict[str, str]()
        for row in stored["arrays"].values():  # 1.7
            need(row["same_as"] is row["logical_type"] is None, path, "a reserved member", NEWER)
        with self.open(npz) as stream:
            for name, dtype, shape, content in arrays(stream, npz):
                prints[name] = fingerprint(dtype, shape, content)
                row = {"dtype": dtype, "shape": shape, "fingerprint": prints[name]}
                same = {**row, "same_as": None, "logical_type": None} == stored["arrays"].get(name)
                need(same, npz, f"array {name!a}: not as {path} describes it")
        need(set(prints) == set(stored["arrays"]), npz, "other arrays than its companion has")
        known = components(stored["values"], prints, npz)
        same = stored["components"] == known == line["state"]
        need(same, path, "components are not the state's, or not the log's")
        same = (stored["step"], stored["chain"]) == (step, line["chain"])
        need(same, path, f"step or chain: the log has {step}, {line['chain']}")
        self.arrays += len(prints)
        self.unread -= {path, npz}
        return True

    def report(self) -> int:
        """Say what was found, the verdict first, and return the exit status."""
        unknown = {NEWER, UNREADABLE} & {code for *_, code in self.faults}
        status = 4 if unknown else 3 if self.faults else 0
        verdict = {0: "intact", 3: "damaged", 4: "could-not-run"}[status]
        counts = f"{self.entries} entries, {self.steps} steps of fingerprint logs and {self.arrays}"
        lines = [f"{counts} arrays are what the package says they are."]
        if self.faults:
            lines = [f"Nothing of the package was executed. Faults: {len(self.faults)}"]
        lines += [f"- {escape(e)}: {escape(problem)} [{c}]" for e, problem, c in self.faults[:20]]
        lines += [f"- and {len(self.faults) - 20} more"] * (len(self.faults) > 20)
        title, name, version = map(escape, self.about)
        lines.append("")
        if self.faults and self.package_digest:
            lines.append("Its manifest says, and nothing here confirms:")
        lines += [title, f"package           {name} {version}"]
        lines += [f"package digest    {self.package_digest or 'not known'}"]
        lines += [f"evidence digest   {self.evidence_digest or 'not known'}"]
        lines.append("" if self.faults else NOT_LOOKED_AT)
        try:
            if sys.stdout is not None:
                sys.stdout.write("\n".join([f"{verdict}  {escape(str(self.path))}", *lines]))
                sys.stdout.flush()
        except OSError as error:  # who stops reading has the status; on a full disk nobody has it
            sys.stdout = None
            return status if isinstance(error, BrokenPipeError) else 4
        return status


def escape(text: str) -> str:
    """Text of a package as printable ASCII, at most 240 characters of it."""
    return text[:240].encode("unicode_escape").decode("ascii") + "..." * (len(text) > 240)


def main(arguments: list[str]) -> int:
    """Check a package, say what was found, and return the exit status."""
    if not arguments and Path(__file__).name == "__main__.py":
        arguments = [str(Path(__file__).parent)]
    path = Path(*arguments[:1])
    if len(arguments) != 1 or not (path.is_file() or path.is_dir()):
        asked = arguments in (["-h"], ["--help"])
        (sys.stdout if asked else sys.stderr).write(__doc__ or "usage: checker.py PACKAGE\n")
        return 0 if asked else 2
    package = Package(path)
    package.check()
    return package.report()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
