"""Merge records of several verifications of one package into a certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from repropack._checking import check_intact
from repropack._compare.certificates import (
    breadth_of,
    common_verdict,
    count_outcomes,
    count_verifiers,
    counted_record,
    merged_claims,
)
from repropack._compare.record_fit import PackageFacts, contradiction, misfit, places_named
from repropack._format.digests import digest_bytes
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.paths import shown_path
from repropack._format.statements import (
    MAX_STATEMENT_BYTES,
    RECORD_NAMESPACE,
    read_statement,
)
from repropack._read.beside import read_unnamed, signature_files
from repropack._read.mistaken import RECORD_KIND, refuse_mistaken
from repropack._read.package import open_package
from repropack._read.recorded import package_facts
from repropack._run.ssh_keygen import Starts
from repropack._signatures import SignerList, judge_signatures, keys_beside, read_signer_list
from repropack.errors import UsageError
from repropack.models.certificate import Certificate, CountedRecord
from repropack.models.statements import StatementOfRecord

MAX_RECORDS = 1000
_LEFT_OUT = "no verification of this package wrote it; nothing is counted until it is left out"


def certify_package(
    path: str | Path,
    records: Sequence[str | Path],
    *,
    signers: str | Path | None = None,
    revoked: str | Path | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Certificate:
    """Count what several verifications of one package found.

    The package is checked first. Each verifier counts once: by the key that signed, else by the
    facts of the machine. A record that comes twice counts once, with the signatures of all copies.
    Of a verifier by whose key a signature beside the package holds, this is said.

    Args:
        path: The package, zip or directory.
        records: Files of ``verify --record``, 1 to 1000; their signatures lie beside them.
        signers: A list of signers, as ssh-keygen(1) describes it under "ALLOWED SIGNERS".
        revoked: A list of revoked keys, or a KRL; with ``signers``.
        limits: Limits on reading the package.

    Returns:
        The certificate. Who differs or contradicts himself is shown, never outvoted.

    Raises:
        UsageError: no such file; a file that is no record; a record that contradicts itself or the
            package.
        PackageError: not a package.
        IntegrityError: the package is damaged.
        UnsupportedVersionError: a format version or feature of a later release.
        CouldNotRunError: there are signatures, and no ``ssh-keygen``; or it does not end, or would
            be started too often.

    Determinism:
        The certificate depends on the files and, where a list has times, on the present time; the
        order of ``records`` does not matter.
    """
    if not 1 <= len(records) <= MAX_RECORDS:
        raise UsageError(f"expected 1 to {MAX_RECORDS} records, observed {len(records)}")
    if revoked is not None and signers is None:
        raise UsageError("expected --signers with --revoked, observed none")
    listed = None if signers is None else read_signer_list(signers, revoked)
    starts = Starts()
    read = _read(records)
    with open_package(path, limits=limits) as package:
        check_intact(package)
        facts = package_facts(package, places_named(one.statement for one in read.values()))
        counted = [_counted(digest, one, facts, listed, starts) for digest, one in read.items()]
        signed = any(found.key for row in counted for found in row.signatures)
        authors = keys_beside(package, starts) if signed else frozenset()
        verifiers = count_verifiers(counted, authors)
        counts = count_outcomes(verifiers)
        known = [one for one in verifiers if one.authenticity == "known"]
        others = [one for one in verifiers if one.authenticity != "known"]
        return Certificate(
            path=shown_path(path),
            package=package.manifest.package,
            package_digest=package.package_digest,
            evidence_digest=package.evidence_digest,
            verdict=common_verdict(counts, verifiers),
            counts=counts,
            known_signers=len(known),
            not_valid=sum(one.authenticity == "not-valid" for one in verifiers),
            listed=listed is not None,
            breadth=breadth_of(verifiers),
            known_breadth=breadth_of(known),
            other_breadth=breadth_of(others),
            claims=merged_claims(package.results.claims, counted),
            verifiers=verifiers,
        )


@dataclass
class _Copies:
    """One record, and the files that hold it."""

    data: bytes
    statement: StatementOfRecord
    places: list[Path] = field(default_factory=list)


def _read(records: Sequence[str | Path]) -> dict[str, _Copies]:
    """The records by their digests, each once; nothing is known of the package yet."""
    copies: dict[str, _Copies] = {}
    for place in map(Path, records):
        try:
            data = read_unnamed(place, "a verification record", MAX_STATEMENT_BYTES)
            statement = read_statement(StatementOfRecord, data)
        except ValueError as error:
            refuse_mistaken(place, (RECORD_KIND,), RECORD_KIND)
            raise UsageError(f"{shown_path(place)}: {error}") from error
        problem = contradiction(statement)
        if problem is not None:
            raise UsageError(f"{shown_path(place)}: {problem}", hint=_LEFT_OUT)
        copies.setdefault(digest_bytes(data), _Copies(data, statement)).places.append(place)
    return copies


def _counted(
    digest: str, copies: _Copies, facts: PackageFacts, listed: SignerList | None, starts: Starts
) -> CountedRecord:
    problem = misfit(copies.statement, facts)
    if problem is not None:
        raise UsageError(f"{shown_path(copies.places[0])}: {problem}", hint=_LEFT_OUT)
    files = {file for place in copies.places for file in signature_files(place.absolute())}
    found = judge_signatures(copies.data, RECORD_NAMESPACE, sorted(files), listed, starts=starts)
    names = {shown_path(place.name) for place in copies.places}
    return counted_record(names, digest, copies.statement, found)
