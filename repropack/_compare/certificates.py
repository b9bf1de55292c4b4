"""Records of verifications, counted: each verifier once, and nothing averaged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from repropack._format.statements import machine_digest
from repropack.models.certificate import (
    Authenticity,
    Breadth,
    CountedRecord,
    CountedVerifier,
    Outcome,
    OutcomeCounts,
)
from repropack.models.claims import ClaimOutcome, RecordedClaim
from repropack.models.machine import MachineFacts
from repropack.models.reports import Verdict
from repropack.models.signatures import SignatureFinding
from repropack.models.statements import StatementOfRecord

_ORDER: tuple[Outcome, ...] = (
    "contradicts",
    "differs",
    "mixed",
    "identical",
    "partly",
    "no-answer",
)


def counted_record(
    file: str, statement: StatementOfRecord, signatures: Sequence[SignatureFinding]
) -> CountedRecord:
    """A record as it is counted.

    Args:
        file: Its name.
        statement: What it says.
        signatures: What was found of its signatures.

    Returns:
        The facts that are counted.
    """
    record = statement.predicate.repropack
    return CountedRecord(
        file=file,
        verdict=record.verdict,
        created=statement.predicate.time_created,
        environment=machine_digest(record.machine),
        coverage=record.coverage,
        machine=record.machine,
        first_difference=record.first_difference,
        claims=record.claims,
        signatures=tuple(signatures),
    )


def count_verifiers(records: Iterable[CountedRecord]) -> tuple[CountedVerifier, ...]:
    """Put records together by who made them.

    A record belongs to the first known signer among its valid signatures, else to the first valid
    key, else to the kind of machine that it names; there, those beside which a signature lies that
    is not valid are apart from those that nobody signed.

    Args:
        records: Records of one package, each once.

    Returns:
        Verifiers, those that are vouched for first and those whose signature is not valid last;
        among them those that found a difference first, then by outcome and id.
    """
    groups: dict[tuple[str, Authenticity], list[CountedRecord]] = {}
    signed: dict[tuple[str, Authenticity], dict[str, None]] = {}
    for record in records:
        identifier, authenticity, names = _who(record)
        groups.setdefault((identifier, authenticity), []).append(record)
        before = signed.setdefault((identifier, authenticity), {})
        before.update(dict.fromkeys(names))
    counted = [
        CountedVerifier(
            id=identifier,
            authenticity=authenticity,
            names=tuple(signed[identifier, authenticity]),
            outcome=_outcome(rows),
            records=tuple(sorted(rows, key=lambda row: (row.created, row.file))),
        )
        for (identifier, authenticity), rows in groups.items()
    ]
    return tuple(sorted(counted, key=_place))


def _place(verifier: CountedVerifier) -> tuple[int, int, str, str]:
    rank = {"known": 0, "not-valid": 2}.get(verifier.authenticity, 1)
    return rank, _ORDER.index(verifier.outcome), verifier.id, verifier.authenticity


def count_outcomes(verifiers: Iterable[CountedVerifier]) -> OutcomeCounts:
    """How many verifiers came to each outcome, without those whose signature is not valid."""
    counts: dict[str, int] = {}
    for verifier in verifiers:
        if verifier.authenticity == "not-valid":
            continue
        name = verifier.outcome.replace("-", "_")
        counts[name] = counts.get(name, 0) + 1
    return OutcomeCounts(**counts)


def common_verdict(counts: OutcomeCounts, verifiers: Iterable[CountedVerifier] = ()) -> Verdict:
    """What all say together: one difference is enough for ``differs``.

    Args:
        counts: Those that are counted.
        verifiers: All of them: a signature that is not valid makes no difference disappear.

    Returns:
        The verdict.
    """
    if any(one.outcome in {"differs", "mixed", "contradicts"} for one in verifiers):
        return "differs"
    if counts.differs or counts.mixed or counts.contradicts:
        return "differs"
    return "identical" if counts.identical else "could-not-run"


def breadth_of(verifiers: Iterable[CountedVerifier]) -> Breadth:
    """In how different environments records are identical, in whole or in part."""
    machines: dict[str, MachineFacts] = {
        record.environment: record.machine
        for verifier in verifiers
        for record in verifier.records
        if verifier.authenticity != "not-valid"
        and record.verdict == "identical"
        and record.machine is not None
    }
    facts = machines.values()
    return Breadth(
        environments=len(machines),
        cpu_vendors=_each(one.cpu_vendor for one in facts),
        cpu_models=_each(one.cpu for one in facts),
        architectures=_each(one.architecture for one in facts),
        systems=_each(one.system for one in facts),
        pythons=_each(one.python for one in facts),
        numpys=_each(one.numpy for one in facts),
        blases=_each(one.blas for one in facts),
    )


def merged_claims(
    claims: Iterable[ClaimOutcome], records: Iterable[CountedRecord]
) -> tuple[RecordedClaim, ...]:
    """The claims of a package over all records: one that fails anywhere does not hold.

    Args:
        claims: Those of the package, as they came out on what it stores.
        records: What was found elsewhere.

    Returns:
        Each claim; null where it holds in the package and no record evaluated it.
    """
    found: dict[str, set[bool]] = {}
    for record in records:
        for told in record.claims:
            if told.held is not None:
                found.setdefault(told.id, set()).add(told.held)
    merged = []
    for claim in claims:
        here = found.get(claim.id, set())
        held = False if not claim.held or False in here else (True if here else None)
        merged.append(RecordedClaim(id=claim.id, held=held))
    return tuple(merged)


def _each(values: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({value for value in values if value is not None}))


def _who(record: CountedRecord) -> tuple[str, Authenticity, tuple[str, ...]]:
    valid = [found for found in record.signatures if found.standing != "not-valid"]
    for found in valid:
        if found.standing == "known" and found.key is not None:
            return found.key, "known", found.names
    for found in valid:
        if found.key is not None:
            return found.key, "unknown-key", ()
    return record.environment, "not-valid" if record.signatures else "unsigned", ()


def _outcome(records: Sequence[CountedRecord]) -> Outcome:
    equal = [record for record in records if record.verdict == "identical"]
    other = [record for record in records if record.verdict == "differs"]
    if not equal and not other:
        return "no-answer"
    if not other:
        complete = any(record.coverage.complete for record in equal)
        return "identical" if complete else "partly"
    if not equal:
        return "differs"
    places = {record.environment for record in equal}
    return "contradicts" if places & {record.environment for record in other} else "mixed"
