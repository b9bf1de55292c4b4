"""Forge packages: take a whole one apart, change anything, and seal it again with right digests.

A forger is free to recompute every digest, fingerprint and chain, so that is what this does; what
is left to find the lie is the package's own contradictions, and running it again.
"""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from repropack._compare.claims import evaluate_claims
from repropack._compare.outcomes import compute_results
from repropack._export.citation import citation_bytes
from repropack._export.crate import crate_bytes
from repropack._format.archive_writer import ArchiveWriter
from repropack._format.canonical import encode_canonical
from repropack._format.checkpoints import checkpoint_name, describe_state
from repropack._format.digests import digest_bytes
from repropack._format.layout import (
    CITATION,
    CRATE,
    ENVIRONMENT,
    MANIFEST,
    PAGE,
    PLAN,
    REFERENCE_RUN,
    RESULTS,
    checkpoint_folder,
    kept_path,
    log_path,
    media_type_of,
    role_of,
)
from repropack._format.log import CHAIN_START, chain_step
from repropack._format.npz import read_npz, write_npz
from repropack._format.page_head import page_head
from repropack._format.state import EncodedState
from repropack._format.swhid import HashedFile, content_id, directory_id, swhid_of
from repropack._paging import make_page, timelines_for
from repropack._read.container import open_container
from repropack._read.package import evidence_digest, open_package
from repropack._read.run import RunReader
from repropack.errors import RepropackError
from repropack.models.environment import EnvironmentRecord
from repropack.models.manifest import Entry, PackageMetadata
from repropack.models.plan import Plan
from repropack.models.results import Results

Json = dict[str, Any]

OTHER_PAGE = page_head("0.0.1") + b"<title>by another release</title>\n"


@dataclass
class Log:
    """A fingerprint log as values: header, start line, step lines with their chains."""

    header: Json
    start: Json
    steps: list[Json]

    def step(self, number: int) -> Json:
        line: Json = self.steps[number - self.header["first_step"]]
        return line

    def chain_at(self, step: int) -> str:
        """The chain after a step, or before the first one."""
        if step == self.header["first_step"] - 1:
            return str(self.start["chain"])
        return str(self.step(step)["chain"])


@dataclass
class Forgery:
    """A package's files, the manifest apart.

    ``rows`` changes single manifest rows when sealed; ``elsewhere`` are listed and not stored. A
    page follows from all other entries: where any was changed and the page was not, it becomes one
    of another release, which nobody can make again; ``remake_page`` makes the right one.
    Crate and citation are made to follow again, unless they are the lie: then ``described`` is
    false.
    """

    files: dict[str, bytes]
    manifest: Json
    executables: set[str] = field(default_factory=set)
    rows: dict[str, Json] = field(default_factory=dict)
    elsewhere: set[str] = field(default_factory=set)
    described: bool = True

    def __post_init__(self) -> None:
        self._whole = dict(self.files)
        self._told = self._about()

    # ------------------------------------------------------------ documents

    def read(self, path: str) -> Any:
        return json.loads(self.files[path])

    def write(self, path: str, value: Any) -> None:
        self.files[path] = encode_canonical(value)

    def edit(self, path: str, change: Callable[[Any], object]) -> None:
        """Change a JSON document in place."""
        value = self.read(path)
        change(value)
        self.write(path, value)

    # ------------------------------------------------------------ logs

    def log(self, run: str = REFERENCE_RUN) -> Log:
        lines = [json.loads(line) for line in self.files[log_path(run)].splitlines()]
        return Log(lines[0], lines[1], lines[2:])

    def put_log(self, run: str, log: Log) -> None:
        """Store a log as its values say, right chain or not."""
        lines = [log.header, log.start, *log.steps]
        self.files[log_path(run)] = b"".join(map(encode_canonical, lines))

    def rechain(self, run: str, log: Log, start: str | None = None) -> None:
        """Store a log with the chain computed anew, and its checkpoints with that chain."""
        log.start["chain"] = start or log.start["chain"]
        chain = log.start["chain"]
        for line in log.steps:
            line.pop("chain", None)
            _, chain = chain_step(chain, line)
            line["chain"] = chain
        self.put_log(run, log)
        for step in self.checkpoint_steps(run):
            self.edit(
                self.companion(run, step),
                lambda document, step=step: document.update(chain=log.chain_at(step)),  # type: ignore[misc]
            )

    def rechain_all(self, start: str = CHAIN_START) -> None:
        """The reference's chain anew, then every comparison's from where it continues."""
        self.rechain(REFERENCE_RUN, self.log(), start)
        reference = self.log()
        for row in self.read(PLAN)["comparisons"]:
            resumed = row["resume_at"]
            chain = CHAIN_START if resumed is None else reference.chain_at(resumed)
            self.rechain(row["name"], self.log(row["name"]), chain)

    # ------------------------------------------------------------ checkpoints and kept arrays

    def checkpoint_steps(self, run: str) -> list[int]:
        folder = f"{checkpoint_folder(run)}/step-"
        paths = [path for path in self.files if path.startswith(folder) and path.endswith(".json")]
        return sorted(int(path.removeprefix(folder).removesuffix(".json")) for path in paths)

    def companion(self, run: str, step: int) -> str:
        return f"{checkpoint_folder(run)}/{checkpoint_name(step)}.json"

    def arrays(self, path: str) -> dict[str, Any]:
        return read_npz(BytesIO(self.files[path]), where=path)

    def put_arrays(self, path: str, arrays: dict[str, Any]) -> None:
        stream = BytesIO()
        write_npz(stream, arrays)
        self.files[path] = stream.getvalue()

    def edit_checkpoint(
        self, run: str, step: int, change: Callable[[dict[str, Any], Json], object]
    ) -> list[list[str]]:
        """Change a checkpoint's arrays and values, and its companion with them.

        Returns:
            The components' new fingerprints, as a log line would hold them.
        """
        companion = self.companion(run, step)
        npz = companion.removesuffix(".json") + ".npz"
        document, arrays = self.read(companion), self.arrays(npz)
        change(arrays, document["values"])
        self.put_arrays(npz, arrays)
        stored = describe_state(EncodedState(dict(sorted(arrays.items())), document["values"]))
        self.write(companion, {**document, **stored.model_dump(mode="json")})
        return [list(row) for row in stored.components]

    def edit_kept(self, run: str, change: Callable[[dict[str, Any]], object]) -> None:
        arrays = self.arrays(kept_path(run))
        change(arrays)
        self.put_arrays(kept_path(run), arrays)

    # ------------------------------------------------------------ results and seals

    def recompute_results(self) -> None:
        """Results as they follow from the logs and kept arrays as they are now."""
        plan = Plan.model_validate_json(self.files[PLAN])
        with tempfile.TemporaryDirectory() as folder:
            self.write_directory(Path(folder) / "package")
            with open_container(Path(folder) / "package") as container:
                runs = {row.name: RunReader(container, row.name) for row in plan.comparisons}
                reference = RunReader(container, REFERENCE_RUN)
                results = compute_results(plan, reference, runs)
                claims = evaluate_claims(
                    plan, results, {**runs, REFERENCE_RUN: reference}, 10**9
                ).outcomes
                results = results.model_copy(update={"claims": claims})
        self.write(RESULTS, results.model_dump(mode="json"))

    def remake_page(self) -> None:
        """The page as it follows from the other files as they are now."""
        with tempfile.TemporaryDirectory() as folder:
            self.files[PAGE] = OTHER_PAGE
            place = self.write_directory(Path(folder) / "package")
            self.files[PAGE] = page_of_package(place)

    def _about(self) -> str:
        """What a page follows from beside the files."""
        modes, elsewhere = sorted(self.executables), sorted(self.elsewhere)
        return json.dumps([self.manifest.get("package"), self.rows, modes, elsewhere])

    def _is_changed(self) -> bool:
        if self._about() != self._told:
            return True
        whole = {path: data for path, data in self._whole.items() if path != CRATE}
        files = {path: data for path, data in self.files.items() if path != CRATE}
        return files.keys() != whole.keys() or any(
            data is not whole[path] for path, data in files.items()
        )

    def seal(self) -> bytes:
        """The manifest of the files as they are now, every size and digest right."""
        page = self.files.get(PAGE)
        if page is not None and page is self._whole.get(PAGE) and self._is_changed():
            self.files[PAGE] = OTHER_PAGE
        if self.described and self.files.keys() >= {CITATION, CRATE}:
            self._describe()
        rows = [self._row(path) for path in sorted(self.files, key=str.encode)]
        return encode_canonical({**self.manifest, "entries": rows})

    def _describe(self) -> None:
        """Citation and crate of the files as they are now, where they can be made of them."""
        package = encode_canonical(self.manifest.get("package"))
        try:
            metadata = PackageMetadata.model_validate_json(package)
            plan = Plan.model_validate_json(self.files[PLAN])
            results = Results.model_validate_json(self.files[RESULTS])
            environment = EnvironmentRecord.model_validate_json(self.files[ENVIRONMENT])
            entries = self._entries()
            source = self._source_swhid()
            self.files[CITATION] = citation_bytes(metadata, evidence_digest(entries), source)
            crate = crate_bytes(metadata, self._entries(), plan, results, environment)
        except (ValidationError, LookupError, RepropackError, UnicodeError):
            return
        self.files[CRATE] = crate

    def _entries(self) -> tuple[Entry, ...]:
        return tuple(Entry(**self._row(path)) for path in sorted(self.files, key=str.encode))

    def _source_swhid(self) -> str | None:
        files = {
            path.removeprefix("source/"): HashedFile(
                content_id(len(data), [data]), path in self.executables
            )
            for path, data in self.files.items()
            if path.startswith("source/")
        }
        return swhid_of("dir", directory_id(files)) if files else None

    def _row(self, path: str) -> Json:
        data = self.files[path]
        row = {
            "path": path,
            "size": len(data),
            "digest": digest_bytes(data),
            "role": role_of(path) or "source",
            "media_type": media_type_of(path),
            "executable": path in self.executables,
            "included": True,
            "location": None,
        }
        return row | self.rows.get(path, {})

    def write_zip(
        self, path: Path, manifest: bytes | None = None, *, deflate: bool = False
    ) -> Path:
        """Write in the pinned form of a zip."""
        with path.open("wb") as stream:
            writer = ArchiveWriter(stream)
            writer.add(MANIFEST, manifest or self.seal())
            for name in sorted(self.files.keys() - self.elsewhere, key=str.encode):
                executable = name in self.executables
                writer.add(name, self.files[name], executable=executable, deflate=deflate)
            writer.finish()
        return path

    def write_directory(self, path: Path, manifest: bytes | None = None) -> Path:
        sealed = manifest or self.seal()
        stored = {name: self.files[name] for name in self.files.keys() - self.elsewhere}
        for name, data in {MANIFEST: sealed, **stored}.items():
            place = path / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            place.chmod(0o755 if name in self.executables else 0o644)
        return path


def page_of_package(place: Path) -> bytes:
    """The page that follows from a package's other entries, whatever its own is."""
    with open_package(place) as package:
        plan = package.plan
        timelines = timelines_for(package.manifest.entries)
        runs = {row.name: package.run(row.name) for row in plan.comparisons}
        compute_results(plan, package.run(), runs, timelines)
        told = (package.manifest.package, plan, package.results, package.environment)
        return make_page(*told, package.manifest.entries, timelines, runs)


def take_apart(package: Path) -> Forgery:
    """Every file of a zip, read with other eyes than repropack's."""
    with zipfile.ZipFile(package) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
        modes = {info.filename: info.external_attr >> 16 for info in archive.infolist()}
    manifest = json.loads(files.pop(MANIFEST))
    executables = {name for name in files if modes[name] & 0o100}
    rows = {row["path"]: row for row in manifest["entries"] if not row["included"]}
    files |= dict.fromkeys(rows, b"")  # their rows say what they are
    return Forgery(files, manifest, executables, rows, set(rows))


def nudge(array: Any, *index: int) -> None:
    """Move one element of a float array to its neighbour, in place."""
    array[index] = np.nextafter(array[index], array.dtype.type(np.inf))


def replace_row(rows: list[list[Any]], name: str, value: Any) -> None:
    """Replace the value of one ``[name, value]``, in place."""
    for row in rows:
        if row[0] == name:
            row[1] = value
