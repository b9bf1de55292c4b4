"""Everything that ``check`` looks at, without running anything of a package.

Three passes, each on what the one before found whole: the file set against the manifest, every
entry against its digest, and the contents against each other. Faults are gathered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from repropack._compare.notebooks import is_executed
from repropack._compare.timeline import Timelines
from repropack._format.canonical import decode_strict
from repropack._format.contents import ContentBudget
from repropack._format.digests import digest_bytes
from repropack._format.layout import (
    AFTER,
    CHECKER,
    CONFIG_SCHEMA,
    CRATE,
    ENVIRONMENT,
    LOCK,
    MANIFEST,
    NOTEBOOK,
    PLAN,
    REFERENCE_RUN,
    RESULTS,
    RUNS,
    SCHEMAS,
    checkpoint_folder,
    log_path,
    run_folder,
)
from repropack._format.paths import check_entry_path, check_path_set
from repropack._format.released import is_released_checker
from repropack._format.schemas import PACKAGED_SCHEMAS, schema_bytes
from repropack._read.consistency import check_consistency, check_environment, check_plan
from repropack._read.described import check_described
from repropack._read.entries import check_entry, check_given, check_reference
from repropack._read.findings import Findings
from repropack._read.lock import check_lock
from repropack._read.outputs import check_matches, check_outputs, stored_paths
from repropack._read.package import REQUIRED_PATHS, Package
from repropack._read.run import RunReader
from repropack.errors import (
    IntegrityError,
    PackageError,
    PackageFormatError,
    UnsupportedVersionError,
)
from repropack.models.manifest import RESERVED_ROLES
from repropack.models.results import Results
from repropack.refusals import refusal


def check_package_whole(
    package: Package,
    findings: Findings,
    *,
    fast: bool = False,
    expect_digest: str | None = None,
    timelines: Timelines | None = None,
) -> dict[str, RunReader]:
    """All that can be said of a package without running anything; faults go to ``findings``.

    Contents are parsed only where every entry has its digest.

    Args:
        package: The open package.
        findings: Filled with counts and faults.
        fast: Stop after the entries' digests.
        expect_digest: The package digest it must have.
        timelines: Filled with what the runs look like step by step.

    Returns:
        Readers of the runs, the reference among them, where contents were read; they know places
        in their logs. They can be used while the package is open.

    Raises:
        UnsupportedVersionError: an entry has a role that is reserved for later releases.
    """
    runs: dict[str, RunReader] = {}
    if expect_digest is not None and expect_digest != package.package_digest:
        place, observed = "package digest differs", package.package_digest
        findings.add(
            "package.another", refusal("digest.package", MANIFEST, place, expect_digest, observed)
        )
    check_entries(package, findings)
    if not fast and not findings.faults:
        runs = check_contents(package, findings, timelines)
    findings.trying(MANIFEST, package.container.check_unchanged)
    return runs


def check_entries(package: Package, findings: Findings) -> None:
    """Compare the file set and every entry's size and digest with the manifest.

    Args:
        package: The open package.
        findings: Filled with counts and faults.

    Raises:
        UnsupportedVersionError: an entry has a role that is reserved for later releases.
    """
    _check_file_set(package, findings)
    held = set(package.container.paths)
    for entry in package.manifest.entries:
        if entry.role in RESERVED_ROLES:
            found, known = f"role {entry.role}", "a role that this release knows"
            raise UnsupportedVersionError("version.role", f"entry {entry.path!r}", found, known)
        if not entry.included:
            findings.trying(entry.path, lambda entry=entry: check_reference(entry))  # type: ignore[misc]
        elif entry.path in held:
            findings.trying(entry.path, lambda entry=entry: check_entry(package, entry))  # type: ignore[misc]
            findings.entries += 1


def check_contents(
    package: Package, findings: Findings, timelines: Timelines | None = None
) -> dict[str, RunReader]:
    """Read every document, log, checkpoint and kept array, and hold them against each other.

    Args:
        package: The open package, whose entries have their digests.
        findings: Filled with counts and faults.
        timelines: Filled with what the runs look like step by step.

    Returns:
        Readers of the runs that could be opened.

    Raises:
        UnsupportedVersionError: a checkpoint uses a member reserved for later releases.
    """
    runs: dict[str, RunReader] = {}
    _check_released(package, findings)
    environment = findings.trying(ENVIRONMENT, lambda: package.environment)
    if environment is not None:
        check_environment(environment, findings.report)
        findings.trying(LOCK, lambda: check_lock(package, environment, findings.report))
    plan = findings.trying(PLAN, lambda: package.plan)
    results = findings.trying(RESULTS, lambda: package.results)
    if plan is None or results is None:
        return runs
    findings.trying(PLAN, lambda: check_plan(plan, findings.report))
    findings.trying(NOTEBOOK, lambda: _check_notebook(package, plan.notebook, findings))
    expected = [REFERENCE_RUN, *(comparison.name for comparison in plan.comparisons)]
    stored = {path.split("/")[1] for path in package.container.paths if path.startswith(f"{RUNS}/")}
    for name in sorted(stored - set(expected)):
        findings.report("run.unplanned", run_folder(name), "", "a run of the plan", "another")
    for name in dict.fromkeys(expected):
        run = findings.trying(log_path(name), lambda name=name: _open_run(package, name))  # type: ignore[misc]
        if run is not None:
            findings.trying(run.log_path, lambda run=run: _check_run(package, run, findings))  # type: ignore[misc]
            runs[name] = run
    if not findings.faults:
        findings.trying(
            RESULTS, lambda: check_consistency(plan, results, runs, findings.report, timelines)
        )
    if not findings.faults:
        _check_outputs(package, results, runs, findings)
    if not findings.faults:
        findings.trying(CRATE, lambda: check_described(package, findings.report))
    return runs


def _check_outputs(
    package: Package, results: Results, runs: dict[str, RunReader], findings: Findings
) -> None:
    """What commands wrote, against logs and plan; a run identical to the reference stores none."""
    budget = ContentBudget(package.limits.max_inflated_bytes)
    identical = {outcome.run for outcome in results.comparisons if outcome.identical}
    for name, run in runs.items():
        findings.trying(
            run.log_path,
            lambda name=name, run=run: check_outputs(  # type: ignore[misc]
                package.plan,
                package.container,
                run,
                findings.report,
                whole=name not in identical,
                budget=budget,
            ),
        )
    patterns = tuple(pattern for after in package.plan.after for pattern in after.outputs)
    check_matches(patterns, stored_paths(package.container, AFTER), AFTER, findings.report)


def _check_released(package: Package, findings: Findings) -> None:
    """Checker and schemas of a package's documents are the released ones, byte for byte."""
    released = {f"{SCHEMAS}/{name}.schema.json": name for name in PACKAGED_SCHEMAS}
    for entry in package.manifest.entries:
        if entry.path in released:
            expected = digest_bytes(schema_bytes(released[entry.path]))
            if entry.digest != expected:
                released_as = f"the released schema {expected}"
                findings.report("released.schema", entry.path, "", released_as, entry.digest)
        elif entry.path == CHECKER and not is_released_checker(entry.digest):
            shipped = "a checker that repropack ships"
            findings.report("released.checker", CHECKER, "", shipped, entry.digest)
        elif entry.path == CONFIG_SCHEMA:
            findings.trying(CONFIG_SCHEMA, lambda: _read_config_schema(package))


def _read_config_schema(package: Package) -> None:
    value = decode_strict(package.read(CONFIG_SCHEMA), where=CONFIG_SCHEMA, limits=package.limits)
    if not isinstance(value, dict):
        raise PackageFormatError(
            refusal("document.object", CONFIG_SCHEMA, "", "an object", f"{value!r:.80}")
        )


def _check_notebook(package: Package, planned: str, findings: Findings) -> None:
    """The notebook was executed if and only if the plan says so."""
    executed = is_executed(package.read(NOTEBOOK), NOTEBOOK, package.limits)
    observed = "executed" if executed else "unexecuted"
    if observed != planned:
        findings.report("plan.notebook", NOTEBOOK, "", f"{planned}, as the plan says", observed)


def _check_file_set(package: Package, findings: Findings) -> None:
    entries = package.manifest.entries
    listed = [entry.path for entry in entries]
    if listed != sorted(listed, key=str.encode) or len(set(listed)) != len(listed):
        expected = "each path once, sorted by its bytes"
        findings.report("manifest.order", MANIFEST, "entries", expected, "another order")
    held = set(package.container.paths) - {MANIFEST}
    for path in sorted(set(listed) - held):  # the container looked at the others
        findings.trying(path, lambda path=path: check_entry_path(path))  # type: ignore[misc]
    findings.trying(MANIFEST, lambda: check_path_set([MANIFEST, *listed]))
    findings.trying(MANIFEST, lambda: check_given(entries))
    stored = {entry.path for entry in entries if entry.included}
    for path in sorted(stored - held):
        expected = "what the manifest lists"
        findings.report("manifest.file-missing", path, "missing", expected, "nothing")
    for path in sorted(held - stored):
        expected = "nothing that the manifest does not list"
        findings.report("manifest.unlisted", path, "unexpected", expected, "this entry")
    required = [*REQUIRED_PATHS, *(f"schemas/{name}.schema.json" for name in PACKAGED_SCHEMAS)]
    for path in sorted(set(required) - set(listed)):
        expected = "an entry that every package has"
        findings.report("manifest.required", path, "missing", expected, "none")


def _open_run(package: Package, name: str) -> RunReader:
    if log_path(name) not in package.container:
        raise IntegrityError(
            refusal("run.missing", run_folder(name), "missing", "a run of the plan", "none")
        )
    return package.run(name)


def _check_run(package: Package, run: RunReader, findings: Findings) -> None:
    """Log, checkpoints and kept arrays of one run, each against the others."""
    checkpoints = dict.fromkeys(run.checkpoint_steps(), False)
    expected_files = {path for step in checkpoints for path in run.checkpoint_paths(step)}
    folder = checkpoint_folder(run.name)
    for name in package.container.names_in(folder):
        path = f"{folder}/{name}"
        if path not in expected_files:
            pairs = "pairs step-<9 digits>.json and .npz"
            findings.report("checkpoint.pair", path, "", pairs, "one alone")
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
        companion = run.checkpoint_paths(step)[0]
        findings.report("checkpoint.unlogged", companion, "", "a step of the log", f"step {step}")


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
    document = findings.trying(companion, lambda: run.check_checkpoint(step))
    if document is None:
        return
    findings.arrays += len(document.arrays)
    if document.chain != chain:
        place = "chain, against the log's"
        findings.report("checkpoint.chain", companion, place, chain, document.chain)
    if state is None:
        expected = f"a state in the log after step {step}"
        findings.report("checkpoint.state", companion, "", expected, "none")
        return
    recorded, stored = dict(state), dict(document.components)
    for name in sorted({*recorded, *stored}):
        if recorded.get(name) != stored.get(name):
            place = f"component {name!r} after step {step}, against the log's"
            expected, observed = recorded.get(name, "none"), stored.get(name, "none")
            findings.report("checkpoint.state", companion, place, expected, observed)


class _KeptCheck:
    """Holds each row of a kept stage against that step's fingerprint in the log."""

    def __init__(self, run: RunReader, keep: Collection[str], findings: Findings) -> None:
        self._run = run
        self._findings = findings
        self._rows: dict[str, Iterator[str]] = {}
        stages = findings.trying(run.kept_path, run.kept_stages) or {}
        unplanned = sorted(set(stages) - set(keep))
        if unplanned:
            place, expected = f"array {unplanned[0]!r}", "stages that the plan keeps"
            findings.report("kept.unplanned", run.kept_path, place, expected, "another")
        for stage in sorted(set(stages) & set(keep)):
            self._rows[stage] = run.kept_fingerprints(stage)

    def add(self, step: int, stages: tuple[tuple[str, str], ...] | None) -> None:
        """Compare one step."""
        if stages is None:
            return
        recorded = dict(stages)
        for stage in list(self._rows):
            observed = self._next(stage)
            if stage not in self._rows:
                continue
            if observed is None:
                self._fault("kept.rows", stage, "", f"a row for step {step}", "none")
                continue
            self._findings.arrays += 1
            if observed != recorded.get(stage):
                place = f": row of step {step}, against the log's"
                self._fault("kept.row", stage, place, recorded.get(stage, "none"), observed)

    def end(self) -> None:
        """No row may be left."""
        for stage in list(self._rows):
            if self._next(stage) is not None:
                self._fault("kept.rows", stage, "", "a row for each recorded step", "more")

    def _next(self, stage: str) -> str | None:
        """The next row's fingerprint; where it is damaged, that is the stage's only fault."""
        try:
            return next(self._rows[stage], None)
        except PackageError as error:
            self._findings.add_error(error, self._run.kept_path)
            del self._rows[stage]
            return None

    def _fault(self, rule: str, stage: str, place: str, expected: str, observed: str) -> None:
        """Note the first fault of a stage and let it be."""
        place = f"array {stage!r}{place}"
        self._findings.report(rule, self._run.kept_path, place, expected, observed)
        del self._rows[stage]
