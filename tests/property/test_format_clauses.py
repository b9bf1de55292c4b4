"""The format, clause by clause, with the standard library on one side.

A first draft of a checker that knows `docs/format.md` and nothing of repropack: what it computes is
held against the package of the replay lab, and against repropack's own functions. Classes quote the
clause they stand for. NumPy is used to look at arrays with a reader that is not ours.
"""

from __future__ import annotations

import decimal
import hashlib
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repropack._format.canonical import decode_strict, encode_canonical
from repropack._format.fingerprints import fingerprint_array
from repropack._format.limits import Limits
from repropack._format.npz import write_npz
from repropack._format.paths import check_entry_path, check_path_set
from repropack._format.state import encode_state, encode_value, fingerprint_components
from repropack._version import __version__
from repropack.build import build_package
from repropack.check import check_package
from repropack.errors import PackageFormatError, UnsafeEntryError, UnsupportedVersionError
from tests.strategies import plain_arrays

Json = Any
Lines = list[dict[str, Json]]
REFERENCE = "reference"
START = "sha256:0c94987c9bce6fb99c7db8b4ea1711a6976727b5f199c989921639418903c40f"
SCHEMAS = ("checkpoint", "environment", "fingerprint-log", "manifest", "plan", "results")

# ---------------------------------------------------------------- a checker's tools, from the text


def digest(data: bytes) -> str:
    """3.1."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def write_json(value: Json) -> str:
    """2.1, without the newline, member by member and without ``json``."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return write_text(value)
    if isinstance(value, int):
        return f"{value:d}"
    if isinstance(value, float):
        return write_float(value)
    if isinstance(value, list):
        return f"[{','.join(map(write_json, value))}]"
    members = (f"{write_text(name)}:{write_json(value[name])}" for name in sorted(value))
    return f"{{{','.join(members)}}}"


def write_text(text: str) -> str:
    """2.1: what is escaped, and how."""
    short = {8: "b", 9: "t", 10: "n", 12: "f", 13: "r", 34: '"', 92: "\\"}
    written = ""
    for character in text:
        number = ord(character)
        if number in short:
            written += "\\" + short[number]
        else:
            written += f"\\u{number:04x}" if number < 0x20 else character
    return f'"{written}"'


def write_float(value: float) -> str:
    """2.1: the shortest digits, laid out by the rule of the text."""
    negative, digit_tuple, exponent = decimal.Decimal(repr(value)).normalize().as_tuple()
    digits = "".join(map(str, digit_tuple))
    assert isinstance(exponent, int)
    sign = "-" if negative else ""
    if digits == "0":
        return f"{sign}0.0"
    power = len(digits) - 1 + exponent
    if not -4 <= power <= 15:
        rest = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{rest}e{'-' if power < 0 else '+'}{abs(power):02d}"
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{digits}"
    whole = digits[: power + 1].ljust(power + 1, "0")
    return f"{sign}{whole}.{digits[power + 1 :] or '0'}"


def canonical(value: Json) -> bytes:
    """2.1, with the newline."""
    return write_json(value).encode("utf-8") + b"\n"


def array_fingerprint(dtype: str, shape: tuple[int, ...], elements: bytes) -> str:
    """4.3."""
    lengths = ",".join(str(length) for length in shape)
    return digest(b"repropack.array.v1\n" + f"{dtype}\n{lengths}\n".encode("ascii") + elements)


def component_fingerprint(rows: list[list[Json]]) -> str:
    """5.6."""
    return digest(b"repropack.state.v1\n" + canonical(sorted(rows, key=lambda row: str(row[0]))))


def chain(before: str, line: bytes) -> str:
    """6.8, of a stored line with its newline."""
    rest = line[len('{"chain":"",') + 71 : -1]
    return digest(b"repropack.chain.v1\n" + before[7:].encode("ascii") + b"\n{" + rest)


def npy_header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """4.4."""
    lengths = f"{shape[0]}," if len(shape) == 1 else ", ".join(map(str, shape))
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({lengths}), }}"
    blanks = -(10 + len(text) + 1) % 64
    body = f"{text}{' ' * blanks}\n".encode("ascii")
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(body)) + body


def zip_bytes(files: Mapping[str, bytes], executable: frozenset[str] = frozenset()) -> bytes:
    """7.2 to 7.5, for files in their order, stored, small enough to need no zip64."""
    body, directory = b"", b""
    for name, content in files.items():
        path = name.encode("utf-8")
        common = struct.pack("<5H3I2H", 20, 0x0800, 0, 0, 0x0021, zlib.crc32(content),
                             len(content), len(content), len(path), 0)  # fmt: skip
        mode = 0x81ED0000 if name in executable else 0x81A40000
        directory += b"PK\x01\x02" + struct.pack("<H", 0x0314) + common
        directory += struct.pack("<3H2I", 0, 0, 0, mode, len(body)) + path
        body += b"PK\x03\x04" + common + path + content
    counts = (len(files), len(files))
    end = struct.pack("<4H2IH", 0, 0, *counts, len(directory), len(body), 0)
    return body + directory + b"PK\x05\x06" + end


@dataclass(frozen=True)
class Array:
    """An array as it is stored."""

    dtype: str
    shape: tuple[int, ...]
    elements: bytes

    @property
    def fingerprint(self) -> str:
        return array_fingerprint(self.dtype, self.shape, self.elements)

    def rows(self) -> list[Array]:
        """The arrays along the first axis."""
        size = len(self.elements) // self.shape[0]
        return [
            Array(self.dtype, self.shape[1:], self.elements[k * size : (k + 1) * size])
            for k in range(self.shape[0])
        ]


def read_npz(data: bytes) -> dict[str, Array]:
    """4.4 and 4.5, refusing whatever is not in that form."""
    arrays: dict[str, Array] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as container:
        members = {info.filename: container.read(info) for info in container.infolist()}
    assert zip_bytes(members) == data
    assert list(members) == sorted(members)
    for member, content in members.items():
        end = 10 + int.from_bytes(content[8:10], "little")
        text = content[10:end].decode("ascii")
        dtype = text.split("'")[3]
        lengths = text[text.index("(") + 1 : text.index(")")]
        shape = tuple(int(length) for length in lengths.split(",") if length.strip())
        assert content[:end] == npy_header(dtype, shape)
        arrays[member.removesuffix(".npy")] = Array(dtype, shape, content[end:])
    return arrays


@dataclass(frozen=True)
class Lab:
    """The package of the replay lab, read with ``zipfile`` and ``json`` alone."""

    path: Path
    files: dict[str, bytes]

    def document(self, path: str) -> Json:
        return json.loads(self.files[path])

    @property
    def manifest(self) -> Json:
        return self.document("manifest.json")

    @property
    def plan(self) -> Json:
        return self.document("plan.json")

    @property
    def runs(self) -> list[str]:
        """The reference, then the comparisons in the plan's order."""
        return [REFERENCE, *(row["name"] for row in self.plan["comparisons"])]

    def lines(self, run: str) -> list[bytes]:
        return self.files[f"runs/{run}/fingerprints.jsonl"].splitlines(keepends=True)

    def log(self, run: str) -> tuple[dict[str, Json], dict[str, Json], Lines]:
        """Header, start line and step lines."""
        header, start, *steps = (json.loads(line) for line in self.lines(run))
        return header, start, steps

    def checkpoints(self, run: str) -> dict[int, tuple[Json, dict[str, Array]]]:
        """Companion and arrays by step."""
        folder = f"runs/{run}/checkpoints/step-"
        steps = [path[len(folder) : -5] for path in self.files
                 if path.startswith(folder) and path.endswith(".json")]  # fmt: skip
        return {
            int(step): (
                self.document(f"{folder}{step}.json"),
                read_npz(self.files[f"{folder}{step}.npz"]),
            )
            for step in steps
        }

    def kept(self, run: str) -> dict[str, Array]:
        path = f"runs/{run}/kept.npz"
        return read_npz(self.files[path]) if path in self.files else {}

    def outcome(self, run: str) -> Json:
        rows = self.document("results.json")["comparisons"]
        return next(row for row in rows if row["run"] == run)


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """Built once for all clauses."""
    path = tmp_path_factory.mktemp("format") / "lab.zip"
    build_package(None, path)
    with zipfile.ZipFile(path) as container:
        return Lab(path, {info.filename: container.read(info) for info in container.infolist()})


def entry_row(path: str, content: bytes, like: Json) -> Json:
    return {**like, "path": path, "size": len(content), "digest": digest(content)}


def pack(files: dict[str, bytes], target: Path, edit: Callable[[Json], None] | None = None) -> Path:
    """Write a package whose manifest has the right size and digest for every file."""
    manifest = json.loads(files["manifest.json"])
    rows = {row["path"]: row for row in manifest["entries"]}
    paths = sorted(set(files) - {"manifest.json"}, key=str.encode)
    like = next(iter(rows.values()))
    manifest["entries"] = [entry_row(p, files[p], rows.get(p, like)) for p in paths]
    if edit is not None:
        edit(manifest)
    contents = {"manifest.json": canonical(manifest)} | {path: files[path] for path in paths}
    target.write_bytes(zip_bytes(contents))
    return target


def codes(path: Path, **options: Any) -> set[str]:
    report = check_package(path, **options)
    assert report.verdict == "damaged"
    return {fault.code for fault in report.faults}


# ---------------------------------------------------------------- 1 Package


class TestRequiredEntries:
    """1.2, 1.3: the manifest lists every file but itself, and some entries are always there."""

    def test_every_file_is_listed_once(self, lab: Lab) -> None:
        """Listed entries and files are the same set."""
        listed = [row["path"] for row in lab.manifest["entries"]]
        assert sorted(listed) == sorted(set(lab.files) - {"manifest.json"})

    def test_required_entries_are_there(self, lab: Lab) -> None:
        """Documents, texts, schemas and a log for each run of the plan."""
        required = {"README.md", "LICENSE", "plan.json", "environment.json", "results.json",
                    "__main__.py", "notebook.ipynb", "index.html"}  # fmt: skip
        required |= {f"schemas/{name}.schema.json" for name in SCHEMAS}
        required |= {f"runs/{run}/fingerprints.jsonl" for run in lab.runs}
        assert required <= set(lab.files)

    def test_runs_are_those_of_the_plan(self, lab: Lab) -> None:
        """1.5: nothing lies below ``runs/`` that belongs to no run."""
        found = {path.split("/")[1] for path in lab.files if path.startswith("runs/")}
        assert found == set(lab.runs)


class TestRoles:
    """1.3, 1.4: role and media type follow from the path."""

    def test_role_and_media_type(self, lab: Lab) -> None:
        """Each row has the role and the type of the tables."""
        fixed = {"README.md": "readme", "LICENSE": "license", "plan.json": "plan",
                 "environment.json": "environment", "results.json": "results",
                 "__main__.py": "checker", "notebook.ipynb": "notebook",
                 "index.html": "report", "ro-crate-metadata.json": "crate",
                 "CITATION.cff": "citation"}  # fmt: skip
        folders = {"schemas": "schema", "source": "source", "inputs": "input",
                   "figures": "figure"}  # fmt: skip
        names = {"fingerprints.jsonl": "log", "kept.npz": "kept"}
        types = {".json": "application/json", ".jsonl": "application/jsonl",
                 ".npz": "application/vnd.numpy.npz", ".md": "text/markdown",
                 ".py": "text/x-python", "": "text/plain",
                 ".ipynb": "application/x-ipynb+json", ".svg": "image/svg+xml",
                 ".png": "image/png", ".html": "text/html",
                 ".cff": "application/yaml"}  # fmt: skip
        for row in lab.manifest["entries"]:
            path = PurePosixPath(row["path"])
            role = fixed.get(row["path"]) or folders.get(path.parts[0])
            if role is None:
                assert path.parts[0] == "runs"
                role = names.get("/".join(path.parts[2:]), "checkpoint")
            assert (row["role"], row["media_type"]) == (role, types[path.suffix]), row["path"]


class TestPage:
    """1.11: the page begins with fixed lines, fetches nothing, and follows from the rest."""

    def test_its_first_lines(self, lab: Lab) -> None:
        """They name the version that made it."""
        assert lab.files["index.html"].decode("utf-8").split("\n")[:5] == [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta name="generator" content="repropack {__version__}">',
        ]

    def test_it_fetches_nothing(self, lab: Lab) -> None:
        """No element has an address to load from, and the policy forbids it besides."""
        html = lab.files["index.html"].decode("utf-8")
        assert "Content-Security-Policy" in html
        assert "default-src &#39;none&#39;" in html
        for attribute in ("src", "srcset", "data", "poster", "action"):
            assert re.search(rf"<[a-z][^<>]* {attribute}=", html.split("<script>")[0]) is None

    def test_it_lists_every_other_entry(self, lab: Lab) -> None:
        """With its digest in full; itself it cannot."""
        html = lab.files["index.html"].decode("utf-8")
        rows = {row["path"]: row["digest"] for row in lab.manifest["entries"]}
        own = rows.pop("index.html")
        rows.pop("ro-crate-metadata.json", None)
        assert own not in html
        assert [path for path, digest in rows.items() if digest not in html] == []


class TestNothingOfTheMachine:
    """1.8: no entry names a folder of the machine that built it."""

    def test_no_path_of_the_build(self, lab: Lab, home: Path) -> None:
        """Neither the target's folder nor the home folder nor the project's is in any entry."""
        for place in (lab.path.parent, home, Path(__file__).resolve().parents[2]):
            found = [path for path, data in lab.files.items() if str(place).encode() in data]
            assert found == []


# ---------------------------------------------------------------- 2 Canonical JSON

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


class TestCanonicalForm:
    """2.1, 2.2: every value has one text, and documents and log lines are that text."""

    @given(JSON_VALUES)
    def test_bytes_follow_from_the_clause(self, value: Json) -> None:
        """An encoder written from the clause gives the same bytes, and they read back."""
        assert encode_canonical(value) == canonical(value)
        assert canonical(json.loads(canonical(value))) == canonical(value)

    def test_documents_and_lines_are_canonical(self, lab: Lab) -> None:
        """Every JSON of a package but the six published schemas."""
        published = {f"schemas/{name}.schema.json" for name in SCHEMAS}
        for path, data in lab.files.items():
            if path.endswith(".json") and path not in published:
                assert data == canonical(json.loads(data)), path
        for run in lab.runs:
            assert all(line == canonical(json.loads(line)) for line in lab.lines(run))


class TestStrictReading:
    """2.3: what two readers could read differently is refused."""

    @pytest.mark.parametrize(
        "data",
        [
            b'{"a":1,"a":2}',
            b"NaN",
            b"-Infinity",
            b"1e999",
            b"9007199254740992",
            b"-0",
            b'"\\ud800"',
            b'"\xff"',
            b"\xef\xbb\xbf1",
            b"[1,]",
            b"1 2",
            b"",
        ],
    )
    def test_refused(self, data: bytes) -> None:
        """Each of these is refused as a format fault."""
        with pytest.raises(PackageFormatError):
            decode_strict(data, where="x.json")


class TestEncodedValues:
    """2.4 to 2.7: numbers that JSON cannot hold have one encoding each."""

    @given(st.integers())
    def test_integers(self, value: int) -> None:
        """Plain up to 2^53 - 1, as text beyond."""
        expected = value if abs(value) < 2**53 else {"$int": f"{value:d}"}
        assert encode_value("v", value) == expected

    @given(st.binary(min_size=8, max_size=8))
    def test_floats(self, bits: bytes) -> None:
        """By exponent and fraction: finite, infinite, the plain NaN, any other NaN."""
        number = int.from_bytes(bits, "big")
        exponent, fraction = number >> 52 & 0x7FF, number & (1 << 52) - 1
        (value,) = struct.unpack(">d", bits)
        expected: Json = value
        if exponent == 0x7FF and fraction == 0:
            expected = {"$float": "-inf" if number >> 63 else "inf"}
        elif exponent == 0x7FF:
            plain = number == 0x7FF8000000000000
            expected = {"$float": "nan" if plain else f"nan:{bits.hex()}"}
        assert canonical(encode_value("v", value)) == canonical(expected)


# ---------------------------------------------------------------- 3 Digests


class TestDigests:
    """3.1 to 3.6: the digests of a package and the bytes they are of."""

    def test_entries(self, lab: Lab) -> None:
        """3.2: size and digest are of the content."""
        for row in lab.manifest["entries"]:
            content = lab.files[row["path"]]
            assert (row["size"], row["digest"]) == (len(content), digest(content))

    def test_package_evidence_and_source(self, lab: Lab) -> None:
        """3.3 to 3.5: recomputed from the stored manifest alone."""
        entries = lab.manifest["entries"]
        covered = [row for row in entries if row["path"] == "plan.json"
                   or row["path"].split("/")[0] in {"source", "inputs", "runs"}]  # fmt: skip
        report = check_package(lab.path, fast=True)
        assert report.package_digest == digest(lab.files["manifest.json"])
        assert report.evidence_digest == digest(b"repropack.evidence.v1\n" + canonical(covered))
        assert report.evidence_digest in lab.files["README.md"].decode("utf-8")

    def test_configuration(self, lab: Lab) -> None:
        """3.6, 8.7: the plan's configuration with the comparison's replacements."""
        changes = {row["name"]: row["config"] for row in lab.plan["comparisons"]}
        for run in lab.runs:
            config = lab.plan["experiment"]["config"] | changes.get(run, {})
            assert lab.log(run)[0]["config"] == digest(canonical(config))


# ---------------------------------------------------------------- 4 Arrays


class TestArrayFingerprint:
    """4.2, 4.3: type, shape and elements, and nothing else."""

    @given(plain_arrays())
    def test_bytes_follow_from_the_clause(self, array: np.ndarray) -> None:
        """Of every storable type and shape."""
        expected = array_fingerprint(array.dtype.str, array.shape, array.tobytes())
        assert fingerprint_array("a", array) == expected

    def test_worked_example(self) -> None:
        """The literal of the document."""
        elements = struct.pack("<6f", 0, 1, 2, 3, 4, 5)
        expected = "sha256:5c00cf7e3d93d15577b6c26dd99ec8b19058747968e41f89f6bc9716cf581b18"
        assert array_fingerprint("<f4", (2, 3), elements) == expected


class TestNpz:
    """4.4, 4.5: an npz is one file for given arrays, and NumPy reads it."""

    @given(st.dictionaries(st.sampled_from(["a", "a-b", "a.b", "a#1", "b"]), plain_arrays()))
    def test_bytes_follow_from_the_clauses(self, arrays: dict[str, np.ndarray]) -> None:
        """Built from the text with ``struct`` alone, it is the file that is written."""
        stream = io.BytesIO()
        write_npz(stream, arrays)
        members = {
            f"{name}.npy": npy_header(array.dtype.str, array.shape) + array.tobytes()
            for name, array in arrays.items()
        }
        assert stream.getvalue() == zip_bytes(dict(sorted(members.items())))

    def test_numpy_reads_every_npz(self, lab: Lab) -> None:
        """NumPy finds the names, types, shapes and bytes that the text says."""
        paths = [path for path in lab.files if path.endswith(".npz")]
        assert paths
        for path in paths:
            ours = read_npz(lab.files[path])
            with np.load(io.BytesIO(lab.files[path]), allow_pickle=False) as loaded:
                assert sorted(loaded.files) == sorted(ours)
                for name, array in ours.items():
                    found = loaded[name]
                    observed = Array(found.dtype.str, found.shape, found.tobytes())
                    assert observed == array


# ---------------------------------------------------------------- 5 State and checkpoints


def with_fingerprints(value: Json, arrays: Mapping[str, Array]) -> Json:
    if isinstance(value, list):
        return [with_fingerprints(item, arrays) for item in value]
    if isinstance(value, dict) and "$array" in value:
        return {"$array": arrays[value["$array"]].fingerprint}
    if isinstance(value, dict):
        return {name: with_fingerprints(item, arrays) for name, item in value.items()}
    return value


def components(values: Mapping[str, Json], arrays: Mapping[str, Array]) -> list[list[str]]:
    """5.3 and 5.6, of a whole state."""
    state = {name: {"$array": array.fingerprint} for name, array in arrays.items()
             if "#" not in name}  # fmt: skip
    state |= {name: with_fingerprints(value, arrays) for name, value in values.items()}
    rows: dict[str, list[list[Json]]] = {}
    for name, value in state.items():
        rows.setdefault(name.split(".")[0], []).append([name, value])
    return [[name, component_fingerprint(rows[name])] for name in sorted(rows)]


class TestComponents:
    """5.4, 5.6: what a component's fingerprint is of."""

    def test_nested_arrays_are_numbered_by_sorted_members(self) -> None:
        """Depth first; the marker holds a name in a state and a fingerprint in a digest."""
        first, second = np.arange(2, dtype="<i4"), np.float64(1.5)
        state = {"g": {"b": [second], "a": {"x": first}}, "g.k": 3, "h": first}
        encoded = encode_state(state)
        assert encoded.values["g"] == {"a": {"x": {"$array": "g#1"}}, "b": [{"$array": "g#2"}]}
        arrays = {
            "g#1": Array("<i4", (2,), struct.pack("<2i", 0, 1)),
            "g#2": Array("<f8", (), struct.pack("<d", 1.5)),
            "h": Array("<i4", (2,), struct.pack("<2i", 0, 1)),
        }
        expected = components(encoded.values, arrays)
        assert [list(row) for row in fingerprint_components(encoded)] == expected

    def test_checkpoints_hold_what_they_say(self, lab: Lab) -> None:
        """5.8, 5.9: arrays, values and components of every stored checkpoint."""
        for run in lab.runs:
            for step, (companion, arrays) in lab.checkpoints(run).items():
                assert companion["step"] == step
                described = {
                    name: (row["dtype"], tuple(row["shape"]), row["fingerprint"])
                    for name, row in companion["arrays"].items()
                }
                assert described == {
                    name: (array.dtype, array.shape, array.fingerprint)
                    for name, array in arrays.items()
                }
                assert companion["components"] == components(companion["values"], arrays)

    def test_checkpoints_are_states_of_the_log(self, lab: Lab) -> None:
        """5.9: components and chain are those that the log has after that step."""
        for run in lab.runs:
            header, start, steps = lab.log(run)
            after = {line["step"]: line for line in steps} | {header["first_step"] - 1: start}
            for step, (companion, _) in lab.checkpoints(run).items():
                assert companion["components"] == after[step]["state"]
                assert companion["chain"] == after[step]["chain"]


class TestWhichCheckpoints:
    """5.7, 5.10: before the first step, at each multiple, after the last, or none at all."""

    def test_steps(self, lab: Lab) -> None:
        """A run that is identical to the reference stores only its log."""
        every = lab.plan["record"]["checkpoint_every"]
        for run in lab.runs:
            header, _, steps = lab.log(run)
            first, last = header["first_step"], steps[-1]["step"]
            due = {first - 1, last, *(n for n in range(first, last) if n % every == 0)}
            if run != REFERENCE and lab.outcome(run)["identical"]:
                below = [path for path in lab.files if path.startswith(f"runs/{run}/")]
                assert below == [f"runs/{run}/fingerprints.jsonl"]
            else:
                assert set(lab.checkpoints(run)) == due


class TestResume:
    """5.11: a resume starts from the reference's checkpoint, reset components from step 0."""

    def test_start_states(self, lab: Lab) -> None:
        """Each start line is composed of two checkpoints of the reference."""
        stored = lab.checkpoints(REFERENCE)
        for row in lab.plan["comparisons"]:
            header, start, _ = lab.log(row["name"])
            at = row["resume_at"] or 0
            now, then = (dict(stored[step][0]["components"]) for step in (at, 0))
            expected = now | {name: then[name] for name in row["reset"]}
            assert header["first_step"] == at + 1
            assert start["state"] == [[name, expected[name]] for name in sorted(expected)]


class TestKept:
    """5.12: a row for each line that has stages, with the fingerprint of its line."""

    def test_rows(self, lab: Lab) -> None:
        """Every row of every kept stage."""
        for run in lab.runs:
            kept = lab.kept(run)
            whole = run == REFERENCE or not lab.outcome(run)["identical"]
            assert sorted(kept) == (sorted(lab.plan["record"]["keep"]) if whole else [])
            recorded = [dict(line["stages"]) for line in lab.log(run)[2] if "stages" in line]
            for stage, array in kept.items():
                rows = [row.fingerprint for row in array.rows()]
                assert rows == [stages[stage] for stages in recorded]


# ---------------------------------------------------------------- 6 Fingerprint log


class TestLines:
    """6.1 to 6.6: a header, a start line, and one line a step."""

    def test_header_and_start(self, lab: Lab) -> None:
        """Their members, and that names are sorted and come once."""
        for run in lab.runs:
            header, start, _ = lab.log(run)
            assert set(header) == {"schema", "run", "config", "constants", "first_step", "stages"}
            assert header["run"] == run
            assert set(start) == {"chain", "state"}
            for rows in (header["constants"], start["state"]):
                names = [name for name, _ in rows]
                assert names == sorted(set(names))

    def test_steps(self, lab: Lab) -> None:
        """Numbered without a gap; no member is null; every stage is declared."""
        for run in lab.runs:
            header, _, steps = lab.log(run)
            last = lab.plan["experiment"]["steps"]
            assert [line["step"] for line in steps] == list(range(header["first_step"], last + 1))
            for line in steps:
                assert {"chain", "step", "metrics", "printed"} <= set(line)
                assert None not in line.values()
                declared = {name for name, _ in [*header["stages"], *line.get("declares", [])]}
                assert {name for name, _ in line["stages"]} <= declared
                assert list(dict(line["state"])) == sorted(dict(line["state"]))

    def test_resumed_headers(self, lab: Lab) -> None:
        """6.7: the header of a resumed run declares what the reference's declares."""
        for row in lab.plan["comparisons"]:
            if row["resume_at"] is not None:
                assert lab.log(row["name"])[0]["stages"] == lab.log(REFERENCE)[0]["stages"]

    def test_printed(self, lab: Lab) -> None:
        """What is printed is the metric in the plan's format."""
        for run in lab.runs:
            for line in lab.log(run)[2]:
                for name, spec in lab.plan["record"]["printed"].items():
                    assert line["printed"][name] == format(line["metrics"][name], spec)


class TestChain:
    """6.8, 6.9: each chain covers the chain before and the stored line."""

    def test_worked_example(self) -> None:
        """The literals of the document."""
        matrix = "sha256:5c00cf7e3d93d15577b6c26dd99ec8b19058747968e41f89f6bc9716cf581b18"
        expected = "sha256:eab299471d03b60cd70de99e18f04ff19e35cbcf9a798d4d806e823b00ec4892"
        record = {"step": 1, "metrics": {"loss": 0.5}, "printed": {}, "stages": [["w", matrix]]}
        assert digest(b"repropack.chain.v1\n") == START
        assert chain(START, canonical({"chain": expected, **record})) == expected

    def test_every_log(self, lab: Lab) -> None:
        """From the start line on, over the stored bytes."""
        for run in lab.runs:
            _, start, *lines = lab.lines(run)
            before = json.loads(start)["chain"]
            for line in lines:
                before = chain(before, line)
                assert json.loads(line)["chain"] == before

    def test_where_chains_begin(self, lab: Lab) -> None:
        """A fresh run from the constant, a resumed one from the checkpoint's chain."""
        stored = lab.checkpoints(REFERENCE)
        resumes = {row["name"]: row["resume_at"] for row in lab.plan["comparisons"]}
        for run in lab.runs:
            at = resumes.get(run)
            expected = START if at is None else stored[at][0]["chain"]
            assert lab.log(run)[1]["chain"] == expected

    def test_an_exact_resume_ends_with_the_chain_of_the_reference(self, lab: Lab) -> None:
        """Equal chains mean equal histories, so its lines are the reference's own."""
        resumed = lab.lines("full-checkpoint")[2:]
        assert resumed == lab.lines(REFERENCE)[-len(resumed) :]


# ---------------------------------------------------------------- 7 Container


class TestZip:
    """7.1 to 7.5: the file follows from names, contents and modes, every byte of it."""

    def test_every_byte(self, lab: Lab) -> None:
        """Built from the text with ``struct`` alone, it is the file that was written."""
        executable = frozenset(r["path"] for r in lab.manifest["entries"] if r["executable"])
        assert zip_bytes(lab.files, executable) == lab.path.read_bytes()

    def test_order(self, lab: Lab) -> None:
        """The manifest first, in the file and nowhere in its own list; the rest by bytes."""
        first, *rest = lab.files
        assert first == "manifest.json"
        assert rest == sorted(rest, key=str.encode)
        assert [row["path"] for row in lab.manifest["entries"]] == rest


class TestPaths:
    """7.9 to 7.11: which paths an entry may have."""

    @pytest.mark.parametrize(
        "path", ["a", "a/b.c", "source/é e.py", "inputs/[1] (a)=b, c&d%.csv", "x" * 200]
    )
    def test_accepted(self, path: str) -> None:
        """Usual names, and other scripts where names are the author's."""
        check_entry_path(path)

    @pytest.mark.parametrize(
        "path",
        [
            *("", "/a", "a//b", "a/", "./a", "a/../b", "a\\b", "a:b", "a b", "é", "x" * 201),
            *("source/a ", "source/ a", "source/a.", "source/e\u0301", "source/a\u202eb"),
            *("source/a\u00adb", "source/a\u200db", "source/a\tb", "source/a\U000e0101b"),
            *("source/con", "source/NUL.txt", "source/com1 .a", "source/lpt\u00b2", "source/.GIT"),
            *("/".join(["a"] * 33), "/".join(["abcdefg"] * 32) + "/" + "b" * 900),
        ],
    )
    def test_refused(self, path: str) -> None:
        """Whatever could be another path, or none, on some system."""
        with pytest.raises(UnsafeEntryError):
            check_entry_path(path)

    @pytest.mark.parametrize(
        "paths",
        [
            ("a", "A"),
            ("source/ß", "source/ss"),
            ("a", "a/b"),
            ("A/x", "a/y"),
            ("manifest.json", "Manifest.json"),
        ],
    )
    def test_paths_that_meet(self, paths: tuple[str, ...]) -> None:
        """Two paths that are one where case does not count."""
        with pytest.raises(UnsafeEntryError):
            check_path_set(paths)


class TestDirectory:
    """1.1, 7.12: the directory form is the same package."""

    def test_same_answer(self, lab: Lab, tmp_path: Path) -> None:
        """Written file by file it is intact, with the same digests."""
        for path, content in lab.files.items():
            place = tmp_path / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            place.chmod(0o644)
        zipped, folder = check_package(lab.path), check_package(tmp_path)
        assert (zipped.verdict, zipped.faults) == ("intact", ())
        assert folder.model_copy(update={"path": zipped.path}) == zipped


# ---------------------------------------------------------------- 8 Documents


class TestDocuments:
    """8.1: each document names its schema and has the form that the packaged schema gives."""

    def test_packaged_schemas(self, lab: Lab) -> None:
        """Every document and every log line, by the package's own schemas."""
        documents = {
            f"{name}.json": name for name in ("manifest", "plan", "environment", "results")
        }
        documents |= {path: "checkpoint" for path in lab.files
                      if "/checkpoints/" in path and path.endswith(".json")}  # fmt: skip
        for path, name in documents.items():
            document = lab.document(path)
            assert document["schema"] == f"repropack/{name}/v1"
            validator = jsonschema.Draft202012Validator(lab.document(f"schemas/{name}.schema.json"))
            assert list(validator.iter_errors(document)) == []
        validator = jsonschema.Draft202012Validator(
            lab.document("schemas/fingerprint-log.schema.json")
        )
        for run in lab.runs:
            assert lab.log(run)[0]["schema"] == "repropack/fingerprint-log/v1"
            assert all(validator.is_valid(json.loads(line)) for line in lab.lines(run)[:4])

    def test_all_members_are_there(self, lab: Lab) -> None:
        """A document has every member of its schema, also those that are null."""
        for name in ("manifest", "plan", "environment", "results"):
            schema = lab.document(f"schemas/{name}.schema.json")
            assert set(lab.document(f"{name}.json")) == set(schema["properties"])
        row_schema = lab.document("schemas/manifest.schema.json")["$defs"]["Entry"]
        for row in lab.manifest["entries"]:
            assert set(row) == set(row_schema["properties"])

    def test_format(self, lab: Lab) -> None:
        """8.3: what makes the file a package, and which version."""
        manifest = lab.manifest
        assert (manifest["format"], manifest["format_version"]) == ("replay-package", 1)
        assert manifest["package"]["date"] == "2026-11-30"


class TestResults:
    """8.9 to 8.15: the results follow from the logs and kept arrays."""

    def test_reference(self, lab: Lab) -> None:
        """How the reference ended, by its last line."""
        _, start, steps = lab.log(REFERENCE)
        last = steps[-1]
        states = [dict(line["state"]) for line in (start, *steps) if line.get("state")]
        assert lab.document("results.json")["reference"] == {
            "last_step": last["step"],
            "finish": None,
            "chain": last["chain"],
            "final_state": last["state"],
            "final_metrics": last["metrics"],
            "first_nan": {},
            "unchanged": sorted(
                name for name in states[0] if len({state.get(name) for state in states}) == 1
            ),
        }

    def test_first_divergence(self, lab: Lab) -> None:
        """8.11, 8.12: step, stage, kind and inputs, by a plain walk."""
        header, _, reference = lab.log(REFERENCE)
        for run in lab.runs[1:]:
            _, start, steps = lab.log(run)
            left = reference[-len(steps) :]
            pairs = zip(left, steps, strict=True)
            pair = next((p for p in pairs if p[0]["stages"] != p[1]["stages"]), None)
            divergence = lab.outcome(run)["divergence"]
            if pair is None:
                assert divergence is None
                continue
            assert pair[0]["step"] == steps[0]["step"]
            stage = next(
                a for a, b in zip(pair[0]["stages"], pair[1]["stages"], strict=True) if a != b
            )
            before = dict(lab.checkpoints(REFERENCE)[steps[0]["step"] - 1][0]["components"])
            inputs = [
                {"name": name, "equal": not name.startswith("state:")
                 or before[name[6:]] == dict(start["state"])[name[6:]]}
                for name in dict(header["stages"])[stage[0]]
            ]  # fmt: skip
            kind = "output" if all(item["equal"] for item in inputs) else "state"
            observed = [divergence[name] for name in ("step", "stage", "kind", "inputs")]
            assert observed == [pair[0]["step"], stage[0], kind, inputs]

    def test_counts(self, lab: Lab) -> None:
        """8.10: stages, components, printed values and final metrics."""
        reference = lab.log(REFERENCE)[2]
        for run in lab.runs[1:]:
            steps = lab.log(run)[2]
            pairs = list(zip(reference[-len(steps) :], steps, strict=True))
            outcome = lab.outcome(run)
            for kind, member in (("stages", "stages"), ("components", "state")):
                for row in outcome[kind]:
                    name = row["name"]
                    parting = [a["step"] for a, b in pairs
                               if dict(a[member])[name] != dict(b[member])[name]]  # fmt: skip
                    assert row == {
                        "name": name,
                        "compared": len(pairs),
                        "differing": len(parting),
                        "first_step": parting[0] if parting else None,
                    }
            equal = sum(a["printed"]["loss"] == b["printed"]["loss"] for a, b in pairs)
            assert outcome["printed"] == [
                {"metric": "loss", "compared": len(pairs), "equal": equal}
            ]
            last = pairs[-1]
            losses = {"reference": last[0]["metrics"]["loss"], "run": last[1]["metrics"]["loss"]}
            assert outcome["final_metrics"] == [{"metric": "loss", **losses}]

    def test_kept_differences(self, lab: Lab) -> None:
        """8.14: the largest difference of the kept weights and the step that attains it."""
        reference = lab.kept(REFERENCE)["weights"].rows()
        for run in lab.runs[1:]:
            rows = lab.kept(run)["weights"].rows() if lab.kept(run) else []
            (kept,) = lab.outcome(run)["kept"]
            best, ulps = (0.0, 0), (0, 0)
            first = lab.log(run)[0]["first_step"]
            pairs = zip(reference[len(reference) - len(rows) :], rows, strict=True)
            for step, (left, right) in enumerate(pairs, first):
                numbers = [struct.unpack("<24f", array.elements) for array in (left, right)]
                far = max(abs(a - b) for a, b in zip(*numbers, strict=True))
                best = max(best, (far, step), key=lambda found: found[0])
                bits = [struct.unpack("<24i", array.elements) for array in (left, right)]
                places = [[n if n >= 0 else -(n & 0x7FFFFFFF) for n in side] for side in bits]
                far_ulps = max(abs(a - b) for a, b in zip(*places, strict=True))
                ulps = max(ulps, (far_ulps, step), key=lambda found: found[0])
            for name, (value, step) in (("largest_absolute", best), ("largest_ulp", ulps)):
                assert kept[name] == ({"value": value, "first_step": step} if value else None)


# ---------------------------------------------------------------- 9 What a checker must refuse


class TestRefusals:
    """9.1 to 9.6: each fault, also where every digest is right, has its code."""

    def test_our_own_packer_makes_a_package(self, lab: Lab, tmp_path: Path) -> None:
        """Packed again by these tests it is the same file: the refusals below are of the fault."""
        assert pack(lab.files, tmp_path / "x.zip").read_bytes() == lab.path.read_bytes()

    @pytest.mark.parametrize("surplus", [b"\0", b"PK\x05\x06"])
    def test_bytes_beyond_the_end(self, lab: Lab, tmp_path: Path, surplus: bytes) -> None:
        """9.1: nothing stands after the zip."""
        (tmp_path / "x.zip").write_bytes(lab.path.read_bytes() + surplus)
        assert codes(tmp_path / "x.zip") == {"package.format"}

    def test_order_of_entries(self, lab: Lab, tmp_path: Path) -> None:
        """9.1: the manifest stands first."""
        (tmp_path / "x.zip").write_bytes(zip_bytes(dict(sorted(lab.files.items()))))
        assert codes(tmp_path / "x.zip") == {"package.format"}

    @pytest.mark.parametrize(
        ("old", "new"), [(b'"loss":0', b'"loss":1'), (b'"step":50}', b'"step":51}')]
    )
    def test_broken_chain(self, lab: Lab, tmp_path: Path, old: bytes, new: bytes) -> None:
        """9.1: a changed line does not follow from the one before."""
        path = "runs/full-checkpoint/fingerprints.jsonl"
        files = lab.files | {path: lab.files[path].replace(old, new, 1)}
        assert codes(pack(files, tmp_path / "x.zip")) == {"package.format"}

    def test_cut_log(self, lab: Lab, tmp_path: Path) -> None:
        """9.5: a log that ends too early contradicts plan and checkpoints."""
        path = "runs/reference/fingerprints.jsonl"
        files = lab.files | {path: b"".join(lab.lines(REFERENCE)[:-1])}
        assert codes(pack(files, tmp_path / "x.zip")) == {"package.integrity"}

    def test_unsafe_path(self, lab: Lab, tmp_path: Path) -> None:
        """9.2: a path that leaves its folder."""
        files = lab.files | {"source/../x.py": b""}
        assert codes(pack(files, tmp_path / "x.zip")) == {"package.unsafe-entry"}

    def test_limit(self, lab: Lab) -> None:
        """9.3: more entries than allowed."""
        assert codes(lab.path, limits=Limits(max_entries=3)) == {"package.limit-exceeded"}

    def test_schema(self, lab: Lab, tmp_path: Path) -> None:
        """9.4: a member that the schema does not have."""
        files = lab.files | {"plan.json": canonical(lab.plan | {"surplus": 1})}
        assert codes(pack(files, tmp_path / "x.zip")) == {"package.schema"}

    @pytest.mark.parametrize("kind", ["changed", "missing", "unlisted", "role", "mode", "path"])
    def test_file_set(self, lab: Lab, tmp_path: Path, kind: str) -> None:
        """9.5: files and rows that do not fit each other."""
        files = dict(lab.files)
        manifest = lab.manifest
        if kind == "changed":
            files["README.md"] = files["README.md"][:-1] + b" "
        elif kind == "missing":
            del files["README.md"]
        elif kind == "unlisted":
            files["source/z.py"] = b""
        elif kind == "path":
            files["notes.txt"] = b""
            manifest["entries"] = sorted([*manifest["entries"], entry_row("notes.txt", b"", {
                "role": "source", "media_type": "text/plain", "executable": False,
                "included": True, "location": None})], key=lambda row: row["path"])  # fmt: skip
        else:
            member, value = ("role", "source") if kind == "role" else ("executable", True)
            manifest["entries"][0][member] = value
        files["manifest.json"] = canonical(manifest)
        rest = sorted(set(files) - {"manifest.json"}, key=str.encode)
        (tmp_path / "x.zip").write_bytes(zip_bytes({n: files[n] for n in ["manifest.json", *rest]}))
        assert codes(tmp_path / "x.zip") == {"package.integrity"}

    @pytest.mark.parametrize("document", ["manifest.json", "plan.json", "results.json"])
    def test_another_spelling(self, lab: Lab, tmp_path: Path, document: str) -> None:
        """9.1: a document that says the same in other bytes."""
        files = dict(lab.files)
        if document != "manifest.json":
            files[document] = json.dumps(lab.document(document), indent=1).encode()
        pack(files, tmp_path / "x.zip")
        if document == "manifest.json":
            files[document] = json.dumps(lab.manifest, indent=1).encode()
            (tmp_path / "x.zip").write_bytes(zip_bytes(files))
        assert codes(tmp_path / "x.zip") == {"package.format"}

    def test_false_plan(self, lab: Lab, tmp_path: Path) -> None:
        """9.5: two comparisons of one name, which would hide what is found of them."""
        plan = lab.plan
        plan["comparisons"].append(plan["comparisons"][0])
        files = lab.files | {"plan.json": canonical(plan)}
        assert codes(pack(files, tmp_path / "x.zip")) == {"package.integrity"}

    def test_false_schema(self, lab: Lab, tmp_path: Path) -> None:
        """9.5: a packaged schema that allows everything."""
        files = lab.files | {"schemas/plan.schema.json": b"{}\n"}
        assert codes(pack(files, tmp_path / "x.zip")) == {"package.integrity"}

    def test_false_results(self, lab: Lab, tmp_path: Path) -> None:
        """9.5: results that say anything else than the logs."""
        results = lab.document("results.json")
        results["comparisons"][2]["printed"][0]["equal"] -= 1
        files = lab.files | {"results.json": canonical(results)}
        assert codes(pack(files, tmp_path / "x.zip")) == {"package.integrity"}

    def test_false_array(self, lab: Lab, tmp_path: Path) -> None:
        """9.5: a kept array that is not the one whose fingerprint the log has."""
        path = "runs/reference/kept.npz"
        array = lab.kept(REFERENCE)["weights"]
        elements = array.elements[:-1] + bytes([array.elements[-1] ^ 1])
        content = npy_header(array.dtype, array.shape) + elements
        files = lab.files | {path: zip_bytes({"weights.npy": content})}
        assert codes(pack(files, tmp_path / "x.zip")) == {"package.integrity"}

    def test_unsupported(self, lab: Lab, tmp_path: Path) -> None:
        """9.6, 10.4: what a later release may know is no damage, and no answer either."""

        def edit(manifest: Json) -> None:
            manifest["format_version"] = 2
            manifest["surplus"] = True

        path = pack(lab.files, tmp_path / "x.zip", edit)
        with pytest.raises(UnsupportedVersionError):
            check_package(path)

    def test_held_elsewhere(self, lab: Lab, tmp_path: Path) -> None:
        """9.5: what is held by reference is an input."""

        def edit(manifest: Json) -> None:
            manifest["entries"][0] |= {"included": False, "location": "elsewhere"}

        assert codes(pack(lab.files, tmp_path / "x.zip", edit)) == {"package.integrity"}
