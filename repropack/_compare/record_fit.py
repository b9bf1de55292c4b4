"""Which records no verification wrote: they contradict themselves, or are none of a package's.

A record is a stranger's word, and everything in it that can be held against something is.
"""

from __future__ import annotations

from calendar import monthrange
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from repropack._compare.records import shown_properties
from repropack._format.statements import subject_digest
from repropack.models.reports import RunClaim
from repropack.models.statements import (
    FirstDifference,
    StatementOfRecord,
    VerificationRecord,
    VerificationResult,
)

_WITHOUT_STAGE = frozenset({"metric", "length", None})
_OF_A_STAGE = frozenset({"output", "undetermined"})
_ANSWERS = frozenset({"identical", "differs"})
_FIELDS = ((0, 4), (5, 2), (8, 2), (11, 2), (14, 2), (17, 2))
"""Where year, month, day, hour, minute and second stand in a moment, and how long they are."""
_EPOCH = 1970
_VERIFIER = "urn:repropack:verify:"
_Place = tuple[str, int]


@dataclass(frozen=True)
class ClaimFacts:
    """What of a claim its outcome in records has to agree with.

    Attributes:
        runs: The runs that it rests on, sorted; none where the plan alone is asked.
        held: Whether it holds in the package.
        of_equality: Whether it says that the runs are identical to each other.
    """

    runs: tuple[str, ...] = ()
    held: bool = True
    of_equality: bool = False


@dataclass(frozen=True)
class PackageFacts:
    """What of a package its records have to agree with.

    Attributes:
        package_digest: Digest of its manifest.
        archive_digest: Digest of the zip; ``None`` where it is a folder.
        name: Its name, and so on.
        version: Its version.
        evidence_digest: Its evidence digest.
        runs: What repeating each of its runs shows.
        added: The name of the resume that ``verify`` adds, if it does.
        expectations_failed: As the package itself says.
        claims: Its claims by id, in the order of the plan.
        has_outputs: Whether its runs write files, which may be equal and have other bytes.
        notebook_executed: Whether its notebook was executed when it was built.
        parts: What is made of the runs again, such as ``figures``, and what it has of that.
        stages: Of the steps that records name: the stages that the log has there. A step that it
            does not have is left out.
    """

    package_digest: str
    archive_digest: str | None
    name: str
    version: str
    evidence_digest: str
    runs: Mapping[str, RunClaim]
    added: str | None = None
    expectations_failed: tuple[str, ...] = ()
    claims: Mapping[str, ClaimFacts] = field(default_factory=dict)
    has_outputs: bool = False
    notebook_executed: bool = True
    parts: frozenset[str] = frozenset({"run", "notebook"})
    stages: Mapping[_Place, frozenset[str]] = field(default_factory=dict)


def contradiction(statement: StatementOfRecord) -> str | None:
    """Whether a record contradicts itself: whoever wrote it, no verification did.

    Args:
        statement: The record.

    Returns:
        Where, and what was expected and observed; ``None`` where each part follows from the others.
    """
    return _first(
        lambda: _frame(statement),
        lambda: _properties(statement.predicate),
        lambda: _numbers(statement.predicate.repropack),
        lambda: _verdict(statement.predicate.repropack),
        lambda: _runs(statement.predicate.repropack),
        lambda: _difference(statement.predicate.repropack),
    )


def misfit(statement: StatementOfRecord, package: PackageFacts) -> str | None:
    """Whether a record that does not contradict itself is none of a package.

    Args:
        statement: The record.
        package: What it has to agree with.

    Returns:
        Where, and what was expected and observed; ``None`` where it agrees.
    """
    record = statement.predicate.repropack
    return _first(
        lambda: _subject(statement, package),
        lambda: _names(record, package),
        lambda: _recorded(record, package),
        lambda: _of_runs(record, package),
        lambda: _of_claims(record, package),
        lambda: _of_notebook(record, package),
        lambda: _of_difference(record, package),
    )


def places_named(statements: Iterable[StatementOfRecord]) -> frozenset[_Place]:
    """Runs and steps at which records say that something differs, and the steps before."""
    named: set[_Place] = set()
    for statement in statements:
        found = statement.predicate.repropack.first_difference
        if found is not None and found.run is not None and found.step is not None:
            named |= {(found.run, found.step), (found.run, found.step - 1)}
    return frozenset(named)


def _first(*checks: Callable[[], str | None]) -> str | None:
    return next(filter(None, (check() for check in checks)), None)


def _told(where: str, expected: object, observed: object) -> str:
    return f"{where}: expected {expected}, observed {observed}"


def _frame(statement: StatementOfRecord) -> str | None:
    """The moment is one; a record that names the manifest says what it says, and no other does."""
    result, record = statement.predicate, statement.predicate.repropack
    if not _is_moment(result.time_created):
        return _told("timeCreated", "a moment in UTC", result.time_created)
    read = subject_digest(statement, "manifest.json") is not None
    said = {record.name is not None, record.version is not None, record.evidence_digest is not None}
    if said != {read}:
        expected = "name, version and evidence digest" if read else "none of a manifest"
        return _told(
            "package", f"{expected}, for the manifest was {'' if read else 'not '}read", "others"
        )
    machine = record.machine if record.environment == "present" else None
    if machine is not None and result.verifier.id != f"{_VERIFIER}{machine.repropack}":
        return _told("verifier.id", f"{_VERIFIER}{machine.repropack}", result.verifier.id)
    if not read and record.verdict in _ANSWERS:
        return _told("verdict", "none of runs, for the manifest was not read", record.verdict)
    return None


def _is_moment(text: str) -> bool:
    """Whether a text in the form of a moment is one, in the calendar and after the epoch."""
    year, month, day, hour, minute, second = (int(text[k : k + n]) for k, n in _FIELDS)
    return (
        year >= _EPOCH
        and 1 <= month <= 12
        and 1 <= day <= monthrange(year, month)[1]
        and hour < 24
        and max(minute, second) < 60
    )


def _properties(result: VerificationResult) -> str | None:
    expected = shown_properties(result.repropack)
    if result.properties != expected:
        told = "the properties that follow from what it records: " + (", ".join(expected) or "none")
        return _told("properties", told, ", ".join(result.properties) or "none")
    return None


def _numbers(record: VerificationRecord) -> str | None:
    coverage, runs = record.coverage, record.runs
    beside = len(runs) - coverage.runs_executed
    complete = 0 < coverage.runs_recorded == coverage.runs_executed
    if (
        coverage.runs_executed > coverage.runs_recorded
        or beside not in {0, 1}
        or (beside and coverage.narrowed)
        or coverage.complete != complete
    ):
        return _told("coverage", "numbers that add up", coverage.model_dump(mode="json"))
    if record.verdict in _ANSWERS and not (complete or coverage.narrowed):
        return _told("coverage", "every run, for none was asked for alone", "fewer")
    for where, names in (
        ("runs", [run.run for run in runs]),
        ("claims", [claim.id for claim in record.claims]),
        ("expectations_failed", record.expectations_failed),
        ("rules", record.rules),
    ):
        twice = _twice(names)
        if twice is not None:
            return _told(where, "each once", f"{twice!r} again")
    return None


def _twice(names: Sequence[str]) -> str | None:
    return next((name for name, count in Counter(names).items() if count > 1), None)


def _verdict(record: VerificationRecord) -> str | None:
    """Each verdict has what it rests on, and no other's."""
    where = f"verdict {record.verdict}"
    for member, words, verdict in (
        ("problem", "problem", "could-not-run"),
        ("rules", "broken rule", "damaged"),
        ("first_difference", "first difference", "differs"),
    ):
        has = record.verdict == verdict
        if bool(getattr(record, member)) != has:
            return _told(where, f"{'a' if has else 'no'} {words}", "none" if has else "one")
    if record.verdict in _ANSWERS and not record.runs:
        return _told(where, "runs", "none")
    if record.verdict == "identical" and not all(run.equal for run in record.runs):
        return _told(where, "runs, all of them equal", "others")
    if (record.coverage.notebook == "differs") and record.verdict == "identical":
        return _told(where, "no part that differs", "a notebook that does")
    return None


def _runs(record: VerificationRecord) -> str | None:
    """What ran, ran on a machine, in an environment, and confined or not."""
    for member in ("machine", "environment", "confinement"):
        if record.runs and getattr(record, member) is None:
            return _told("runs", f"the {member} that they ran with", "none")
    for run in record.runs:
        if run.equal and run.repeats is not None:
            return _told(f"run {run.run!r}", "repeats null, for it is equal", run.repeats)
        if not run.equal and run.repeats is None and record.verdict in _ANSWERS:
            return _told(f"run {run.run!r}", "whether it repeats, for it differs", None)
    return None


def _difference(record: VerificationRecord) -> str | None:
    """A first difference is that of the first run that is not equal, else of a part."""
    found = record.first_difference
    if found is None:
        return None
    first = next((run.run for run in record.runs if not run.equal), None)
    if (found.run, found.part == "run") != (first, first is not None):
        expected = "a part beside the runs" if first is None else f"run {first!r}"
        return _told("first_difference", expected, _place(found))
    if (found.step is None) != (found.kind is None) or found.step == 0:
        return _told(
            "first_difference", "a step from 1 on with its kind, or neither", _place(found)
        )
    if found.stage is not None and found.kind in _WITHOUT_STAGE:
        return _told("first_difference", f"no stage, for its kind is {found.kind}", found.stage)
    if found.stage is None and found.kind in _OF_A_STAGE:
        return _told("first_difference", f"a stage, for its kind is {found.kind}", None)
    if found.part in {"figures", "after"} and record.coverage.narrowed:
        return _told(
            "first_difference", "none beside the runs, for some were asked for", found.part
        )
    if found.part == "notebook" and record.coverage.notebook != "differs":
        return _told("first_difference", "a notebook that differs", record.coverage.notebook)
    return None


def _place(found: FirstDifference) -> str:
    told = (("run", found.run), ("step", found.step), ("stage", found.stage), ("kind", found.kind))
    words = [f"{name} {value}" for name, value in told if value is not None]
    return ", ".join(words) or found.part


def _subject(statement: StatementOfRecord, package: PackageFacts) -> str | None:
    expected, observed = package.package_digest, subject_digest(statement, "manifest.json")
    if observed is None:  # whoever verified could not read the manifest
        expected = package.archive_digest or expected
        observed = subject_digest(statement, "package.zip")
    if observed != expected:
        return f"expected a record about {expected}, observed one about {observed}"
    return None


def _names(record: VerificationRecord, package: PackageFacts) -> str | None:
    if record.name is None:
        return None
    for member in ("name", "version", "evidence_digest"):
        expected, observed = getattr(package, member), getattr(record, member)
        if expected != observed:
            return _told(member, expected, observed)
    return None


def _recorded(record: VerificationRecord, package: PackageFacts) -> str | None:
    """Where the runs were compared the package was read whole; else it may not have been."""
    read = record.coverage.runs_recorded > 0 or record.verdict in _ANSWERS
    runs = len(package.runs) if read else 0
    if record.coverage.runs_recorded != runs:
        return _told("coverage.runs_recorded", runs, record.coverage.runs_recorded)
    failed = package.expectations_failed if read else ()
    if record.expectations_failed != failed:
        observed = ", ".join(record.expectations_failed) or "none"
        return _told("expectations_failed", ", ".join(failed) or "none", observed)
    return None


def _of_runs(record: VerificationRecord, package: PackageFacts) -> str | None:
    claims = dict(package.runs)
    if package.added is not None:
        claims[package.added] = "exact-resume"
    for run in record.runs:
        if run.run not in claims:
            return _told("runs", f"runs of the package ({', '.join(claims)})", run.run)
        if run.claim != claims[run.run]:
            return _told(f"run {run.run!r}", f"the claim {claims[run.run]}", run.claim)
    executed = sum(run.run in package.runs for run in record.runs)
    if record.coverage.runs_executed != executed:
        return _told("coverage.runs_executed", executed, record.coverage.runs_executed)
    return None


def _of_claims(record: VerificationRecord, package: PackageFacts) -> str | None:
    """All claims in their order, each evaluated only where its runs were executed."""
    ids = [claim.id for claim in record.claims]
    if ids != list(package.claims) and (ids or record.verdict in _ANSWERS):
        foreign = [name for name in ids if name not in package.claims]
        lacking = [name for name in package.claims if name not in ids]
        observed = foreign or [f"without {name}" for name in lacking] or ["another order"]
        return _told("claims", f"the package's {len(package.claims)}", observed[0])
    equal = {run.run: run.equal for run in record.runs}
    for claim in record.claims:
        facts = package.claims[claim.id]
        missing = [run for run in facts.runs if run not in equal]
        if claim.held is not None and missing:
            expected = f"held null, for run {missing[0]!r} was not executed"
            return _told(f"claim {claim.id!r}", expected, claim.held)
        certain = _certain(facts, [equal.get(run, False) for run in facts.runs], record, package)
        if certain is not None and claim.held not in certain:
            expected = " or ".join(map(str, certain))
            return _told(f"claim {claim.id!r}", f"held {expected}, as follows", claim.held)
    return None


def _certain(
    facts: ClaimFacts, equal: Sequence[bool], record: VerificationRecord, package: PackageFacts
) -> tuple[bool | None, ...] | None:
    """What a claim can only have come out as; ``None`` where that depends on what ran."""
    if not facts.runs:
        return (facts.held,)
    if package.has_outputs or not record.coverage.complete:  # outputs: equal, with other bytes
        return None
    if all(equal):
        return (facts.held,)
    # one run that is equal and one that is not are not identical, where the package's are
    if facts.of_equality and facts.held and any(equal):
        return (False, None)
    return None


def _of_notebook(record: VerificationRecord, package: PackageFacts) -> str | None:
    if record.coverage.notebook == "identical" and not package.notebook_executed:
        expected = "no execution, for it is packed unexecuted"
        return _told("coverage.notebook", expected, record.coverage.notebook)
    return None


def _of_difference(record: VerificationRecord, package: PackageFacts) -> str | None:
    found = record.first_difference
    if found is None:
        return None
    if found.part not in package.parts:
        return _told("first_difference", f"one of {', '.join(sorted(package.parts))}", found.part)
    if found.run is None or found.step is None:
        return None
    where = f"first_difference, run {found.run!r}"
    here = package.stages.get((found.run, found.step))
    if here is None:
        before = package.stages.get((found.run, found.step - 1))
        if before is None or found.kind != "length":
            return _told(where, "a step that the package has", found.step)
        return None
    if found.stage is not None and found.stage not in here and found.kind != "structure":
        return _told(f"{where}, step {found.step}", "a stage that the package has", found.stage)
    return None
