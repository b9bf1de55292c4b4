"""Check that a reproducibility package is intact, with nothing but Python 3.9 or later.

    python package.zip           check the package that this file lies in, as __main__.py
    python package-directory/    the same, unpacked
    python checker.py PACKAGE    check another one, zip or directory

Exit status: 0 intact, 3 damaged or unsafe, 2 wrong use, 4 no answer (a newer format version).

This file stands alone. It is packed into every package, so that the package can still be checked
when the project that made it is forgotten. Numbers such as 7.3 are clauses of the package format,
version 1 (docs/format.md of the project "repropack"), which says what must be so, and why.

It reads and compares, and runs, imports or unpickles nothing of a package (9.7). Whoever changes a
package can change the checker in it: for one that a stranger gave you, use a copy from elsewhere.
"""

import contextlib
import hashlib
import io
import json
import math
import os
import re
import stat
import struct
import sys
import textwrap
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import Any, BinaryIO

if sys.version_info < (3, 9):  # noqa: UP036 - it meets whatever Python is there
    sys.stderr.write("This checker needs Python 3.9 or later.\n")
    sys.exit(4)

FORMAT, UNSAFE, LIMIT = "package.format", "package.unsafe-entry", "package.limit-exceeded"  # 9.1-3
INTEGRITY, NEWER = "package.integrity", "package.unsupported-version"  # 9.5, 9.6
MANIFEST, LOG = "manifest.json", "fingerprints.jsonl"
DOCUMENTS = {"plan.json", "results.json", "environment.json"}
REQUIRED = {"README.md", "LICENSE", f"runs/reference/{LOG}", *DOCUMENTS}  # 1.3, but for schemas
MEBIBYTE, SAFE_INTEGER, LARGE_ZIP = 1 << 20, 2**53 - 1, 0xFFFFFFFF
CHAIN = b"repropack.chain.v1\n"
FOREIGN = re.compile(r"""["$'*:;<>?\\^`|]|[^ -~\w\u0300-\U0001ffff]""")  # 7.10, roughly
UNSAFE_PART = re.compile(r"(|\.git|git~1| .*|.*[ .]|(CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|"
                         r"(COM|LPT)[1-9\xb9\xb2\xb3]) *(\..*)?)", re.IGNORECASE)  # 7.9  # fmt: skip
ARRAY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*(?:#[1-9][0-9]*)?\.npy")  # 4.6
NPY = re.compile(r"\{'descr': '([|][biu]1|<(?:[iu][248]|f[248]|c8|c16))', "
                 r"'fortran_order': False, 'shape': \(([0-9, ]*)\), \} *\n")  # 4.1, 4.4  # fmt: skip
MALFORMED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, LookupError, ValueError, TypeError,
             AttributeError, ArithmeticError, RuntimeError)  # fmt: skip
NOT_LOOKED_AT = """Nothing of the package was executed. Not looked at: the documents' JSON Schemas,
whether the results follow from the logs, and whether the logs record all that the plan says. Intact
means that these are the bytes that were packed; whether they can be reproduced is for `repropack
verify` to find out."""


class DamageError(Exception):
    """A fault: the entry it is in, what is wrong there, and its code (chapter 9)."""


def need(holds: object, entry: str, problem: str, code: str = INTEGRITY) -> None:
    """Unless it holds, that is a fault."""
    if not holds:
        raise DamageError(entry, problem, code)


def digest(*parts: bytes) -> str:
    """3.1: SHA-256 of bytes, as text."""
    return "sha256:" + hashlib.sha256(b"".join(parts)).hexdigest()


def canonical(value: Any) -> bytes:
    """2.1: the one spelling of a JSON value."""
    text = json.dumps(  # noqa: TID251 - this file stands alone
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode("utf-8") + b"\n"


def parse(data: bytes, entry: str, *, canonically: bool = True) -> Any:
    """2.2, 2.3: JSON in its one spelling, in which no member comes twice and no number is NaN."""
    need(len(data) <= 64 * MEBIBYTE, entry, "larger than 64 MiB", LIMIT)
    try:
        value = json.loads(data.decode("utf-8"), parse_int=_integer)  # noqa: TID251 - as above
        same = canonical(value) == data or not canonically
        deep = data.count(b"[") + data.count(b"{") > 64 and _depth(value) > 64
    except (ValueError, RecursionError) as error:
        raise DamageError(entry, f"expected strict JSON, observed: {error}", FORMAT) from error
    need(same, entry, "expected canonical JSON, observed another spelling", FORMAT)
    need(not deep, entry, "nested deeper than 64", LIMIT)
    return value


def _integer(text: str) -> int:  # beyond what all readers take alike it becomes another one
    return max(-SAFE_INTEGER, min(SAFE_INTEGER, int(text[:20])))


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max(map(_depth, inner), default=0) if isinstance(value, (dict, list)) else 0


def check_path(path: str) -> None:
    """7.9, 7.10: a path that is safe, and the same on every system."""
    data = path.encode("utf-8", "surrogatepass")
    fits = len(data) <= 1024 and max(map(len, data.split(b"/"))) <= 200 and path.count("/") < 32
    plain = re.fullmatch(r"[A-Za-z0-9._+/-]+", path)
    if path.startswith(("source/", "inputs/")):
        plain = path.isprintable() and not re.search(r"""["$'*:;<>?\\^`|]""", path)
    safe = plain and not any(map(UNSAFE_PART.fullmatch, path.split("/")))
    same = unicodedata.normalize("NFC", path) == path
    need(fits and safe and same, path, "a path that is not safe on every system", UNSAFE)


def check_zip(archive: zipfile.ZipFile, stream: BinaryIO, entry: str = "") -> None:
    """7.1-7.5: members back to back, directory, end; zipfile alone would let much pass."""
    offset, directory, members = 0, bytearray(), archive.infolist()
    count, names = len(members), set(archive.namelist())
    need(count <= 100_000, entry, "more than 100,000 entries", LIMIT)
    need(count == len(names), entry, "two entries of one name", UNSAFE)
    if count >= 0xFFFF or stream.seek(0, os.SEEK_END) >= LARGE_ZIP:
        return  # 7.6, 7.7: zip64 is left to zipfile
    for info in members:
        where, size, stored = entry or info.filename, info.file_size, info.compress_size
        name, mode = info.filename.encode("utf-8"), 0o100755 if executable(info) else 0o100644
        fixed = struct.pack("<5H3I2H", 20, 0x0800, info.compress_type, 0, 0x21, info.CRC, stored,
                            size, len(name), 0)  # fmt: skip
        directory += (
            b"PK\1\2\x14\3" + fixed + struct.pack("<3H2I", 0, 0, 0, mode << 16, offset) + name
        )
        stream.seek(offset)
        same = stream.read(30 + len(name)) == b"PK\3\4" + fixed + name
        need(same, where, f"zip: header at byte {offset} not in the form of 7.3", FORMAT)
        same = (
            stored == size if info.compress_type == 0 else info.compress_type == 8 and stored < size
        )
        need(same, where, "zip: impossible method or size (7.8)", FORMAT)
        need(size <= max(MEBIBYTE, 200 * stored), where, "deflated to less than a 200th", LIMIT)
        offset += 30 + len(name) + stored
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count, count, len(directory), offset, 0)
    stream.seek(offset)
    same = stream.read(len(directory) + 23) == bytes(directory) + end
    need(same, entry, f"zip: what follows byte {offset} is not in the form of 7.4 and 7.5", FORMAT)


def executable(file: Any) -> bool:
    """7.4, 7.12: whether its owner may execute a file."""
    mode = file.stat().st_mode if isinstance(file, Path) else file.external_attr >> 16
    return bool(mode & 0o100)


def arrays(stream: BinaryIO, entry: str) -> Iterator[tuple[str, str, list[int], Any]]:
    """4.4-4.6: name, type, shape and content of each array of an npz, behind its header."""
    archive = zipfile.ZipFile(stream)  # noqa: TID251 - this file stands alone
    check_zip(archive, stream, entry)
    need(archive.namelist() == sorted(archive.namelist()), entry, "arrays not sorted", FORMAT)
    for info in archive.infolist():
        name, content = info.filename, archive.open(info)
        plain = len(name) <= 214 and ARRAY.fullmatch(name) and not executable(info)
        need(plain and not info.compress_type, entry, f"{name!a}: no plain <name>.npy", FORMAT)
        head = content.read(10)
        head += content.read(min(4096, int.from_bytes(head[8:], "little")))
        found = NPY.fullmatch(head[10:].decode("latin-1"))
        dtype, axes = found.groups() if found else ("|b1", "")
        shape = [int(axis) for axis in axes.rstrip(",").split(", ") if axis]
        axes = ", ".join(map(str, shape)) + "," * (len(shape) == 1)
        text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({axes}), }}"
        text += " " * (-(len(text) + 11) % 64) + "\n"
        same = head == b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode("ascii")
        most = math.prod(max(axis, 1) for axis in shape) * int(dtype[2:])
        need(same and most < 2**63, entry, f"{name}: not a header as 4.4 has it", FORMAT)
        need(len(shape) <= 32, entry, f"{name}: more than 32 axes", LIMIT)
        same = info.file_size == len(head) + math.prod(shape) * int(dtype[2:])
        need(same, entry, f"{name}: size differs from that of type and shape", FORMAT)
        yield name[:-4], dtype, shape, content


def fingerprint(dtype: str, shape: list[int], content: BinaryIO) -> str:
    """4.3: read the elements of an array, and give its fingerprint."""
    text = f"repropack.array.v1\n{dtype}\n{','.join(map(str, shape))}\n"
    hasher, left = hashlib.sha256(text.encode("ascii")), math.prod(shape) * int(dtype[2:])
    while left:
        block = content.read(min(left, MEBIBYTE)) or b"?" * left  # it cannot end before its size
        hasher.update(block)
        left -= len(block)
    return f"sha256:{hasher.hexdigest()}"


def components(values: dict[str, Any], prints: dict[str, str]) -> list[list[str]]:
    """5.6: the fingerprint of each component, from the values and the arrays' fingerprints."""
    state = {name: {"$array": prints[name]} for name in prints if "#" not in name}
    state |= json.loads(  # noqa: TID251 - as above
        canonical(values),
        object_hook=lambda each: {"$array": prints[each["$array"]]} if "$array" in each else each,
    )
    rows: dict[str, list[Any]] = {}
    for name in sorted(state):
        rows.setdefault(name.split(".")[0], []).append([name, state[name]])
    return [[c, digest(b"repropack.state.v1\n", canonical(rows[c]))] for c in sorted(rows)]


class Package:
    """A package as it is found, and what is found wrong with it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files: dict[str, Any] = {}  # by path: a Path, or what zipfile knows of a member
        self.archive: Any = None
        self.faults: list[tuple[str, str, str]] = []
        self.about, self.package_digest, self.evidence_digest = ["", "", ""], "", ""
        self.entries = self.steps = self.arrays = 0

    @contextlib.contextmanager
    def trying(self, entry: str) -> Iterator[None]:
        """Note a fault that is met inside, and go on behind it."""
        try:
            yield
        except DamageError as fault:
            self.faults.append(fault.args)  # type: ignore[arg-type]
        except MALFORMED as error:
            self.faults.append((entry, f"malformed: {type(error).__name__}: {error}", FORMAT))

    def check(self) -> None:
        """Chapter 9: container and manifest, then files and digests, then what is in them."""
        with contextlib.ExitStack() as stack, self.trying(self.path.name):
            if self.path.is_dir():
                self.list_folder()
            else:
                stream = stack.enter_context(self.path.open("rb"))
                self.archive = zipfile.ZipFile(stream)  # noqa: TID251 - this file stands alone
                self.files = {info.filename: info for info in self.archive.infolist()}
            rows = self.read_manifest()
            if self.archive:
                with self.trying(self.path.name):
                    check_zip(self.archive, stream)
            self.check_files([row["path"] for row in rows])
            for row in rows:
                with self.trying(row["path"]):
                    self.check_entry(row["path"], row)
            if not self.faults:
                self.check_runs()

    def list_folder(self) -> None:
        """7.12: regular files and folders, nothing else; no link is followed."""
        for folder, names, files in os.walk(self.path):
            for item in (Path(folder, name) for name in (*names, *files)):
                path, mode = item.relative_to(self.path).as_posix(), item.lstat().st_mode
                check_path(path)
                need(stat.S_ISREG(mode) or stat.S_ISDIR(mode), path, "no file or folder", UNSAFE)
                if stat.S_ISREG(mode):
                    self.files[path] = item
            need(len(self.files) <= 100_000, folder, "more than 100,000 files", LIMIT)

    def open(self, path: str) -> BinaryIO:
        """Open a file; where a zip's member ends, zipfile compares its size and CRC-32."""
        file = self.files[path]
        return io.BufferedReader(self.archive.open(file)) if self.archive else file.open("rb")

    def read(self, path: str, *, canonically: bool = True) -> Any:
        """Read a document."""
        with self.open(path) as stream:
            return parse(stream.read(64 * MEBIBYTE + 1), path, canonically=canonically)

    def read_manifest(self) -> list[Any]:
        """8.3-8.5: the manifest's rows; format and version come before anything else (10.4)."""
        need(MANIFEST in self.files, MANIFEST, "there is none: this is no package", FORMAT)
        manifest = self.read(MANIFEST, canonically=False)
        form, version = manifest["format"], manifest["format_version"]
        need(form != "repropack", MANIFEST, "another tool's, also called ReproPack (8.5)", FORMAT)
        need(form == "replay-package", MANIFEST, f"of another format: {form!a:.80}", FORMAT)
        need(not version > 1, MANIFEST, f"format version {version}: this checker knows 1", NEWER)
        manifest = self.read(MANIFEST)
        self.about = [str(manifest["package"][name]) for name in ("title", "name", "version")]
        covered = [row for row in manifest["entries"] if row["path"] == "plan.json"
                   or row["path"].startswith(("source/", "inputs/", "runs/"))]  # fmt: skip
        self.package_digest = digest(canonical(manifest))  # 3.3
        self.evidence_digest = digest(b"repropack.evidence.v1\n", canonical(covered))  # 3.4
        return list(manifest["entries"])

    def check_files(self, listed: list[str]) -> None:
        """1.2, 7.1, 7.11: the files are those that are listed, in order, and safe to store."""
        need(listed == sorted(set(listed)), MANIFEST, "entries not sorted, or one twice (8.3)")
        found = sorted(self.files, key=lambda path: (path != MANIFEST, path))
        same = self.archive is None or found == list(self.files)
        need(same, self.path.name, "entries not sorted behind the manifest (7.1)", FORMAT)
        for path in found:
            check_path(path)
        folded = {unicodedata.normalize("NFC", path.casefold()) for path in found}
        need(len(folded) == len(found), MANIFEST, "two paths that differ in case alone", UNSAFE)
        for path in sorted({MANIFEST, *listed} ^ set(found) | REQUIRED - set(listed)):
            problem = "unexpected: not in the manifest" if path in self.files else "missing"
            self.faults.append((path, problem, INTEGRITY))

    def check_entry(self, path: str, row: dict[str, Any]) -> None:
        """8.4: mode, size and digest of a file are those that are listed."""
        need(row["included"] is True, path, "is held elsewhere: this checker knows no such", NEWER)
        if path not in self.files:
            return
        same = os.name != "posix" or executable(self.files[path]) is row["executable"]
        need(same, path, f"expected executable {row['executable']}, observed the contrary")
        hasher, size = hashlib.sha256(), 0
        with self.open(path) as stream:
            for block in iter(lambda: stream.read(MEBIBYTE), b""):
                hasher.update(block)
                size += len(block)
        observed = f"sha256:{hasher.hexdigest()} ({size} bytes)"
        expected = f"{row['digest']} ({row['size']} bytes)"
        need(observed == expected, path, f"digest: expected {expected}, observed {observed}")
        self.entries += 1

    def check_runs(self) -> None:
        """1.3, 8.7: the runs are those of the plan."""
        plan = {path: self.read(path) for path in sorted(DOCUMENTS)}["plan.json"]
        runs = [
            ("reference", 0),
            *((one["name"], one["resume_at"] or 0) for one in plan["comparisons"]),
        ]
        need(len(dict(runs)) == len(runs), "plan.json", "two runs of one name")
        stored = {path.split("/")[1] for path in self.files if path.startswith("runs/")}
        for run in sorted(stored ^ set(dict(runs))):
            self.faults.append((f"runs/{run}", "in the plan or in the package alone", INTEGRITY))
        chains = {0: digest(CHAIN)}  # 6.9: by step, the chain that a run after it continues
        for run, after in runs:
            with self.trying(f"runs/{run}"):
                self.check_run(run, after, plan["experiment"]["steps"], chains)

    def check_run(self, run: str, after: int, steps: int, chains: dict[int, str]) -> None:
        """6.1-6.10, 5.12: a log's order and chain; checkpoints and kept arrays are the log's."""
        path, kept = f"runs/{run}/{LOG}", f"runs/{run}/kept.npz"
        empty = io.BytesIO(b"PK\5\6".ljust(22, b"\0"))  # an npz of no arrays, where there is none
        with self.open(path) as log, self.open(kept) if kept in self.files else empty as stream:
            rows = {  # of each kept stage the fingerprints of its rows, made when they are asked for
                name: map(fingerprint, repeat(dtype), repeat(shape[1:]), repeat(content, shape[0]))
                for name, dtype, shape, content in arrays(stream, kept)
            }
            lines = (parse(raw, path) for raw in iter(lambda: log.readline(MEBIBYTE + 1), b""))
            header, line = next(lines, {}), next(lines, {})
            observed = (header["run"], header["first_step"], line["chain"])
            expected = (run, after + 1, chains.get(after))
            need(observed == expected, path, f"begin: expected {expected}, observed {observed}")
            step, chain, used = after, line["chain"], {path, kept}
            used |= self.check_checkpoint(run, step, line)
            for following in lines:
                need("finish" not in line, path, f"step {step}: a line behind the end", FORMAT)
                line, step, self.steps = following, step + 1, self.steps + 1
                need(line["step"] == step, path, f"expected step {step}: the log was cut", FORMAT)
                body = canonical({name: line[name] for name in line if name != "chain"})
                chain = digest(b"repropack.chain.v1\n", chain[7:].encode(), b"\n", body[:-1])  # 6.8
                need(line["chain"] == chain, path, f"step {step}: the chain is broken here", FORMAT)
                recorded = dict(line.get("stages", []))
                for name in rows if "stages" in line else ():
                    same = next(rows[name], "none") == recorded.get(name)
                    need(same, kept, f"array {name!a}: row of step {step} is not the log's")
                    self.arrays += 1
                found = self.check_checkpoint(run, step, line)
                used |= found
                if run == "reference" and found:
                    chains[step] = chain
            more = [name for name in rows if next(rows[name], None)]
            need(not more, kept, f"arrays with more rows than the log has: {more}")
        need(step == steps or ("finish" in line and step < steps), path, f"ends with step {step}")
        for other in sorted(path for path in self.files if path.startswith(f"runs/{run}/")):
            need(other in used, other, "belongs to no step of the log")

    def check_checkpoint(self, run: str, step: int, line: dict[str, Any]) -> set[str]:
        """5.7-5.9: a checkpoint after this step, if there is one, is what it and the log say."""
        path, npz = (f"runs/{run}/checkpoints/step-{step:09d}.{end}" for end in ("json", "npz"))
        if path not in self.files:
            return set()
        stored, prints, found = self.read(path), {}, {}
        for row in stored["arrays"].values():  # 1.7
            need(row["same_as"] is row["logical_type"] is None, path, "a reserved member", NEWER)
        with self.open(npz) as stream:
            for name, dtype, shape, content in arrays(stream, npz):
                prints[name] = fingerprint(dtype, shape, content)
                found[name] = {"dtype": dtype, "shape": shape, "fingerprint": prints[name],
                               "same_as": None, "logical_type": None}  # fmt: skip
                same = canonical(found[name]) == canonical(stored["arrays"].get(name))
                need(same, npz, f"array {name!a}: not as {path} describes it")
        need(set(found) == set(stored["arrays"]), npz, "other arrays than its companion has")
        known = components(stored["values"], prints)
        need(stored["components"] == known, path, "components do not follow from the state")
        need(line["state"] == known, path, f"not the state that the log has after step {step}")
        same = (stored["step"], stored["chain"]) == (step, line["chain"])
        need(same, path, f"step or chain: the log has {step}, {line['chain']}")
        self.arrays += len(prints)
        return {path, npz}

    def report(self) -> str:
        """Say what was found: the verdict first, on one screen."""
        lines = [f"{self.verdict()[0]}  {escape(str(self.path))}"]
        if self.faults:
            lines.append(f"Nothing of the package was executed. Faults: {len(self.faults)}")
        else:
            lines.append(f"{self.entries} entries, {self.steps} steps of fingerprint logs and "
                         f"{self.arrays} arrays are what the package says they are.")  # fmt: skip
        lines += [
            f"- {escape(entry)}: {escape(problem)} [{code}]"
            for entry, problem, code in self.faults[:20]
        ]
        lines += [f"- and {len(self.faults) - 20} more"] * (len(self.faults) > 20)
        title, name, version = map(escape, self.about)
        lines += ["", title, f"package           {name} {version}"]
        lines.append(f"package digest    {self.package_digest or 'not known'}")
        lines.append(f"evidence digest   {self.evidence_digest or 'not known'}")
        lines += ["", NOT_LOOKED_AT] if not self.faults else []
        return "\n".join(textwrap.fill(line, 100, break_on_hyphens=False) for line in lines) + "\n"

    def verdict(self) -> tuple[str, int]:
        """Return the verdict in a word, and as exit status."""
        if any(code == NEWER for *_, code in self.faults):
            return "could-not-run", 4
        return ("damaged", 3) if self.faults else ("intact", 0)


def escape(text: str) -> str:
    """Text of a package as printable ASCII, at most 240 characters of it."""
    return text[:240].encode("unicode_escape").decode("ascii") + "..." * (len(text) > 240)


def main(arguments: list[str]) -> int:
    """Check a package, say what was found, and return the exit status."""
    if not arguments and Path(__file__).name == "__main__.py":
        arguments = [str(Path(__file__).parent)]
    if arguments in (["-h"], ["--help"]):
        sys.stdout.write(__doc__)
        return 0
    if len(arguments) != 1 or not os.path.exists(arguments[0]):
        sys.stderr.write("usage: python checker.py PACKAGE (an existing zip or directory)\n")
        return 2
    package = Package(Path(arguments[0]))
    try:
        package.check()
    except (OSError, MemoryError) as error:
        sys.stderr.write(f"{escape(arguments[0])}: cannot be read: {error!a}\n")
        return 2
    sys.stdout.write(package.report())
    return package.verdict()[1]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
