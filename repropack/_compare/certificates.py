"""Records of verifications, counted: each verifier once, and nothing averaged."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

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
from repropack.models.signatures import SignatureFinding, Signer
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
    files: Iterable[str],
    digest: str,
    statement: StatementOfRecord,
    signatures: Iterable[SignatureFinding],
) -> CountedRecord:
    """A record as it is counted; the order of files and signatures does not matter.

    Args:
        files: Names of its copies, one at least.
        digest: That of its bytes.
        statement: What it says.
        signatures: What was found of the signatures of all copies.

    Returns:
        The facts that are counted.
    """
    record = statement.predicate.repropack
    return CountedRecord(
        file=min(files),
        digest=digest,
        verdict=record.verdict,
        created=statement.predicate.time_created,
        environment=machine_digest(record.machine),
        coverage=record.coverage,
        machine=record.machine,
        first_difference=record.first_difference,
        claims=record.claims,
        signatures=tuple(sorted(set(signatures), key=lambda found: found.model_dump_json())),
    )


def count_signers(findings: Iterable[SignatureFinding]) -> tuple[Signer, ...]:
    """Known signers, each key once with all names under which it is accepted."""
    names: dict[str, dict[str, None]] = {}
    for found in findings:
        if found.standing == "known" and found.key is not None:
            names.setdefault(found.key, {}).update(dict.fromkeys(found.names))
    return tuple(Signer(key=key, names=tuple(given)) for key, given in names.items())


def count_verifiers(
    records: Iterable[CountedRecord], authors: Collection[str] = ()
) -> tuple[CountedVerifier, ...]:
    """Put records together by who made them, whatever order they come in.

    A record belongs to all known signers among its valid signatures together, else to all valid
    keys, else to the kind of machine that it names; there, those beside which a signature lies that
    is not valid are apart from those that nobody signed. Who signed one record together is one
    verifier, so that one verification never counts twice.

    Args:
        records: Records of one package, each once.
        authors: Fingerprints of the keys that signed the package itself.

    Returns:
        Verifiers, those that are vouched for first and those whose signature is not valid last;
        among them those that found a difference first, then by outcome and id.
    """
    rows = sorted(records, key=lambda row: (row.created, row.file, row.digest))
    groups: list[_Group] = []
    for record in rows:
        group = _Group([record], *_who(record))
        apart = []
        for other in groups:
            if other.authenticity == group.authenticity and other.ids & group.ids:
                group = other.joined(group)
            else:
                apart.append(other)
        groups = [*apart, group]
    return tuple(sorted((_verifier(group, authors) for group in groups), key=_place))


@dataclass(frozen=True)
class _Group:
    """Records of one verifier, and the keys, or the machine, that they are known by."""

    records: list[CountedRecord]
    authenticity: Authenticity
    ids: frozenset[str]

    def joined(self, other: _Group) -> _Group:
        return _Group([*self.records, *other.records], self.authenticity, self.ids | other.ids)


def _verifier(group: _Group, authors: Collection[str]) -> CountedVerifier:
    signers: tuple[Signer, ...] = ()
    if group.authenticity == "known":
        given = count_signers(found for row in group.records for found in row.signatures)
        named = (Signer(key=one.key, names=tuple(sorted(one.names))) for one in given)
        signers = tuple(sorted(named, key=lambda one: one.key))
    elif group.authenticity == "unknown-key":
        signers = tuple(Signer(key=key, names=()) for key in sorted(group.ids))
    rows = sorted(group.records, key=lambda row: (row.created, row.file, row.digest))
    return CountedVerifier(
        id=min(group.ids),
        authenticity=group.authenticity,
        signers=signers,
        signed_package=any(one.key in authors for one in signers),
        outcome=_outcome(rows),
        records=tuple(rows),
    )


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


def _who(record: CountedRecord) -> tuple[Authenticity, frozenset[str]]:
    valid = [found for found in record.signatures if found.standing != "not-valid"]
    known = frozenset(found.key for found in valid if found.standing == "known" and found.key)
    if known:
        return "known", known
    keys = frozenset(found.key for found in valid if found.key)
    if keys:
        return "unknown-key", keys
    return "not-valid" if record.signatures else "unsigned", frozenset({record.environment})


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
