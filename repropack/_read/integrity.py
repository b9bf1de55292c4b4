"""Everything that ``check`` looks at, without running anything of a package.

Three passes, each on what the one before found whole: the file set against the manifest, every
entry against its digest, and the contents against each other. Faults are gathered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from repropack._format.canonical import decode_strict
from repropack._format.digests import digest_bytes, digest_stream
from repropack._format.fingerprints import fingerprint_canonical
from repropack._format.layout import (
    CHECKER,
    CONFIG_SCHEMA,
    ENVIRONMENT,
    MANIFEST,
    PLAN,
    REFERENCE_RUN,
    RESULTS,
    RUNS,
    SCHEMAS,
    checkpoint_folder,
    log_path,
    media_type_of,
    role_of,
    run_folder,
)
from repropack._format.npy import canonical_array
from repropack._format.paths import check_entry_path, check_path_set
from repropack._format.released import is_released_checker
from repropack._format.schemas import PACKAGED_SCHEMAS, schema_bytes
from repropack._read.consistency import check_consistency, check_plan
from repropack._read.package import REQUIRED_PATHS, Package
from repropack._read.run import RunReader
from repropack.errors import (
    IntegrityError,
    PackageError,
    PackageFormatError,
    RepropackError,
    UnsupportedVersionError,
)
from repropack.models.manifest import RESERVED_ROLES, Entry
from repropack.models.reports import Fault

_Value = TypeVar("_Value")


@dataclass
class Findings:
    """What was looked at, and what was found wrong."""

    entries: int = 0
    steps: int = 0
    arrays: int = 0
    faults: list[Fault] = field(default_factory=list)

    def add(self, code: str, entry: str, problem: str) -> None:
        """Note one fault."""
        self.faults.append(Fault(code=code, entry=entry, problem=problem))

    def add_issue(self, entry: str, problem: str) -> None:
        """Note that the package contradicts itself at ``entry``."""
        self.add(IntegrityError.code, entry, problem)

    def add_error(self, error: RepropackError, entry: str) -> None:
        """Note an error; one that gathered several issues becomes several faults."""
        if isinstance(error, IntegrityError):
            for path, problem in error.issues:
                self.add(error.code, path, problem)
        else:
            self.add(error.code, entry, error.message.removeprefix(entry).removeprefix(":").strip())

    def trying(self, entry: str, action: Callable[[], _Value]) -> _Value | None:
        """Run ``action``; a package error becomes a fault of ``entry``."""
        try:
            return action()
        except PackageError as error:
            self.add_error(error, entry)
            return None


def check_package_whole(
    package: Package,
    findings: Findings,
    *,
    fast: bool = False,
    expect_digest: str | None = None,
) -> None:
    """All that can be said of a package without running anything; faults go to ``findings``.

    Contents are parsed only where every entry has its digest.

    Args:
        package: The open package.
        findings: Filled with counts and faults.
        fast: Stop after the entries' digests.
        expect_digest: The package digest it must have.

    Raises:
        UnsupportedVersionError: an entry is held by reference, which this release cannot read.
    """
    if expect_digest is not None and expect_digest != package.package_digest:
        findings.add(
            "package.another",
            MANIFEST,
            f"package digest differs: expected {expect_digest}, observed {package.package_digest}",
        )
    check_entries(package, findings)
    if not fast and not findings.faults:
        check_contents(package, findings)


def check_entries(package: Package, findings: Findings) -> None:
    """Compare the file set and every entry's size and digest with the manifest.

    Args:
        package: The open package.
        findings: Filled with counts and faults.

    Raises:
        UnsupportedVersionError: an entry is held by reference, or has a role that is reserved
            for later releases.
    """
    _check_file_set(package, findings)
    held = set(package.container.paths)
    for entry in package.manifest.entries:
        if not entry.included:
            raise UnsupportedVersionError(f"entry {entry.path!r}", "held by reference", "included")
        if entry.role in RESERVED_ROLES:
            raise UnsupportedVersionError(
                f"entry {entry.path!r}", f"role {entry.role}", "a role that this release knows"
            )
        if entry.path in held:
            findings.trying(entry.path, lambda entry=entry: _check_entry(package, entry))  # type: ignore[misc]
            findings.entries += 1


def check_contents(package: Package, findings: Findings) -> None:
    """Read every document, log, checkpoint and kept array, and hold them against each other.

    Args:
        package: The open package, whose entries have their digests.
        findings: Filled with counts and faults.

    Raises:
        UnsupportedVersionError: a checkpoint uses a member reserved for later releases.
    """
    _check_released(package, findings)
    findings.trying(ENVIRONMENT, lambda: package.environment)
    plan = findings.trying(PLAN, lambda: package.plan)
    results = findings.trying(RESULTS, lambda: package.results)
    if plan is None or results is None:
        return
    findings.trying(PLAN, lambda: check_plan(plan, findings.add_issue))
    expected = [REFERENCE_RUN, *(comparison.name for comparison in plan.comparisons)]
    stored = {path.split("/")[1] for path in package.container.paths if path.startswith(f"{RUNS}/")}
    for name in sorted(stored - set(expected)):
        findings.add_issue(run_folder(name), "a run that the plan does not have")
    runs: dict[str, RunReader] = {}
    for name in dict.fromkeys(expected):
        run = findings.trying(log_path(name), lambda name=name: _open_run(package, name))  # type: ignore[misc]
        if run is not None:
            findings.trying(run.log_path, lambda run=run: _check_run(package, run, findings))  # type: ignore[misc]
            runs[name] = run
    if not findings.faults:
        findings.trying(RESULTS, lambda: check_consistency(plan, results, runs, findings.add_issue))


def _check_released(package: Package, findings: Findings) -> None:
    """Checker and schemas of a package's documents are the released ones, byte for byte."""
    released = {f"{SCHEMAS}/{name}.schema.json": name for name in PACKAGED_SCHEMAS}
    for entry in package.manifest.entries:
        if entry.path in released:
            expected = digest_bytes(schema_bytes(released[entry.path]))
            if entry.digest != expected:
                findings.add_issue(
                    entry.path, f"expected the released schema {expected}, observed {entry.digest}"
                )
        elif entry.path == CHECKER and not is_released_checker(entry.digest):
            findings.add_issue(
                CHECKER, f"expected a checker that repropack ships, observed {entry.digest}"
            )
        elif entry.path == CONFIG_SCHEMA:
            findings.trying(CONFIG_SCHEMA, lambda: _read_config_schema(package))


def _read_config_schema(package: Package) -> None:
    value = decode_strict(package.read(CONFIG_SCHEMA), where=CONFIG_SCHEMA, limits=package.limits)
    if not isinstance(value, dict):
        raise PackageFormatError(f"{CONFIG_SCHEMA}: expected an object, observed {value!r:.80}")


def _check_file_set(package: Package, findings: Findings) -> None:
    entries = package.manifest.entries
    listed = [entry.path for entry in entries]
    if listed != sorted(listed, key=str.encode) or len(set(listed)) != len(listed):
        findings.add_issue(
            MANIFEST,
            "entries: expected each path once, sorted by its bytes, observed another order",
        )
    for path in listed:
        findings.trying(path, lambda path=path: check_entry_path(path))  # type: ignore[misc]
    findings.trying(MANIFEST, lambda: check_path_set([MANIFEST, *listed]))
    held = set(package.container.paths) - {MANIFEST}
    for path in sorted(set(listed) - held):
        findings.add_issue(path, "missing: listed in the manifest, observed nowhere")
    for path in sorted(held - set(listed)):
        findings.add_issue(path, "unexpected: present, but not in the manifest")
    required = [*REQUIRED_PATHS, *(f"schemas/{name}.schema.json" for name in PACKAGED_SCHEMAS)]
    for path in sorted(set(required) - set(listed)):
        findings.add_issue(path, "missing: every package has this entry")


def _check_entry(package: Package, entry: Entry) -> None:
    role = role_of(entry.path)
    problems = []
    if entry.location is not None:
        problems.append(f"location: expected none beside the bytes, observed {entry.location!a}")
    if role is None:
        problems.append("no entry may stand at this path")
    elif role != entry.role or entry.media_type != media_type_of(entry.path):
        problems.append(
            f"expected role {role} and type {media_type_of(entry.path)}, "
            f"observed {entry.role} and {entry.media_type}"
        )
    if package.container.executable(entry.path) != entry.executable:
        problems.append(f"expected executable {entry.executable}, observed the contrary")
    with package.container.open(entry.path) as stream:
        digest, size = digest_stream(stream)
    if (digest, size) != (entry.digest, entry.size):
        problems.append(
            f"digest differs: expected {entry.digest} ({entry.size} bytes), "
            f"observed {digest} ({size} bytes)"
        )
    if problems:
        raise IntegrityError(tuple((entry.path, problem) for problem in problems))


def _open_run(package: Package, name: str) -> RunReader:
    if name not in package.run_names():
        raise IntegrityError(((run_folder(name), "missing: the plan has this run"),))
    return package.run(name)


def _check_run(package: Package, run: RunReader, findings: Findings) -> None:
    """Log, checkpoints and kept arrays of one run, each against the others."""
    checkpoints = dict.fromkeys(run.checkpoint_steps(), False)
    expected_files = {path for step in checkpoints for path in run.checkpoint_paths(step)}
    folder = f"{checkpoint_folder(run.name)}/"
    for path in package.container.paths:
        if path.startswith(folder) and path not in expected_files:
            findings.add_issue(path, "expected pairs step-<9 digits>.json and .npz")
    kept = _KeptCheck(run, package.plan.record.keep, findings)
    state: tuple[tuple[str, str], ...] | None = run.start.state
    chain, step = run.start.chain, run.header.first_step - 1
    _check_checkpoint(run, step, state, chain, checkpoints, findings)
    for line in run.steps():
        findings.steps += 1
        step, state, chain = line.step, line.state, line.chain
        kept.add(line.step, line.stages)
        _check_checkpoint(run, step, state, chain, checkpoints, findings)
    kept.end()
    for step in (step for step, seen in checkpoints.items() if not seen):
        findings.add_issue(run.checkpoint_paths(step)[0], f"the log has no step {step}")


def _check_checkpoint(
    run: RunReader,
    step: int,
    state: tuple[tuple[str, str], ...] | None,
    chain: str,
    checkpoints: dict[int, bool],
    findings: Findings,
) -> None:
    if step not in checkpoints:
        return
    checkpoints[step] = True
    companion = run.checkpoint_paths(step)[0]
    found = findings.trying(companion, lambda: run.checkpoint(step))
    if found is None:
        return
    document, encoded = found
    findings.arrays += len(encoded.arrays)
    if document.chain != chain:
        findings.add_issue(companion, f"chain: the log has {chain}, observed {document.chain}")
    if state is None:
        findings.add_issue(companion, f"the log records no state after step {step}")
        return
    recorded, stored = dict(state), dict(document.components)
    for name in sorted({*recorded, *stored}):
        if recorded.get(name) != stored.get(name):
            findings.add_issue(
                companion,
                f"component {name!r} after step {step}: the log has {recorded.get(name)}, "
                f"observed {stored.get(name)}",
            )


class _KeptCheck:
    """Holds each row of a kept stage against that step's fingerprint in the log."""

    def __init__(self, run: RunReader, keep: Collection[str], findings: Findings) -> None:
        self._run = run
        self._findings = findings
        self._rows: dict[str, Iterator[object]] = {}
        stages = findings.trying(run.kept_path, run.kept_stages) or {}
        unplanned = sorted(set(stages) - set(keep))
        if unplanned:
            problem = (
                f"array {unplanned[0]!r}: expected stages that the plan keeps, observed another"
            )
            findings.add_issue(run.kept_path, problem)
        for stage in sorted(set(stages) & set(keep)):
            self._rows[stage] = run.kept_rows(stage) or iter(())

    def add(self, step: int, stages: tuple[tuple[str, str], ...] | None) -> None:
        """Compare one step."""
        if stages is None:
            return
        recorded = dict(stages)
        for stage in list(self._rows):
            row = self._next(stage)
            if stage not in self._rows:
                continue
            if row is None:
                self._fault(stage, f"expected a row for step {step}, observed none")
                continue
            self._findings.arrays += 1
            observed = fingerprint_canonical(canonical_array(stage, row))
            if observed != recorded.get(stage):
                self._fault(
                    stage,
                    f"row of step {step}: the log has {recorded.get(stage)}, observed {observed}",
                )

    def end(self) -> None:
        """No row may be left."""
        for stage in list(self._rows):
            if self._next(stage) is not None:
                self._fault(stage, "expected a row for each recorded step, observed more")

    def _next(self, stage: str) -> object | None:
        """The next row of a stage; where it is damaged, that stage's only fault."""
        try:
            return next(self._rows[stage], None)
        except PackageError as error:
            self._findings.add_error(error, self._run.kept_path)
            del self._rows[stage]
            return None

    def _fault(self, stage: str, problem: str) -> None:
        """Note the first fault of a stage and let it be."""
        self._findings.add_issue(self._run.kept_path, f"array {stage!r}: {problem}")
        del self._rows[stage]
