"""What several verifications of one package say together."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from repropack.models.base import Count, Digest, Document, Model
from repropack.models.claims import RecordedClaim
from repropack.models.machine import MachineFacts
from repropack.models.manifest import PackageMetadata
from repropack.models.reports import Verdict
from repropack.models.signatures import KeyFingerprint, SignatureFinding, Signer
from repropack.models.statements import Coverage, FirstDifference, Moment

Outcome = Literal["identical", "partly", "differs", "mixed", "contradicts", "no-answer"]
"""What one verifier found, over all records of his:

``identical``    every run of the package, and all records that have an answer say so
``partly``       identical in the runs that were executed, and never in all of them
``differs``      it differs in every record that has an answer
``mixed``        identical in one environment and different in another
``contradicts``  identical and different in one and the same environment
``no-answer``    could not run, or the copy was damaged
"""
Authenticity = Literal["known", "unknown-key", "unsigned", "not-valid"]
"""``known``: signed by a key that the list of signers vouches for; ``unknown-key``: signed, by a
key of which nothing is known; ``unsigned``: whoever wrote it, nothing ties them to it;
``not-valid``: a signature lies beside it, and none that does is one of these bytes."""


class CountedRecord(Model):
    """One record. ``file`` is the first name of its copies, ``digest`` that of its bytes.

    ``signatures`` are of all files that lay beside its copies, each once, by their names.
    ``claims`` are the package's, as they came out there; null where one was not evaluated.
    """

    file: str
    digest: Digest
    verdict: Verdict
    created: Moment
    environment: Digest
    coverage: Coverage
    machine: MachineFacts | None
    first_difference: FirstDifference | None = None
    claims: tuple[RecordedClaim, ...] = ()
    signatures: tuple[SignatureFinding, ...] = ()


class CountedVerifier(Model):
    """One verifier, counted once: a key; or, where nobody signed, a kind of machine.

    Keys that signed one record together are one verifier. ``id`` is the first key's fingerprint, or
    the digest of the machine's facts; with ``authenticity`` it names the verifier. ``signers`` are
    the keys in their order, with the names under which the list accepts each.
    ``signed_package`` says that a signature beside the package by one of these keys holds: who made
    the package, or stands for it, verified it too.
    """

    id: KeyFingerprint | Digest
    authenticity: Authenticity
    signers: tuple[Signer, ...] = ()
    signed_package: bool = False
    outcome: Outcome
    records: tuple[CountedRecord, ...]


class Breadth(Model):
    """In how different environments it was identical: each list without repetitions, sorted.

    ``environments`` counts kinds of machines, told apart by all of their facts.
    """

    environments: Count = 0
    cpu_vendors: tuple[str, ...] = ()
    cpu_models: tuple[str, ...] = ()
    architectures: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    pythons: tuple[str, ...] = ()
    numpys: tuple[str, ...] = ()
    blases: tuple[str, ...] = ()


class OutcomeCounts(Model):
    """How many verifiers came to each outcome, without those whose signature is not valid."""

    identical: Count = 0
    partly: Count = 0
    differs: Count = 0
    mixed: Count = 0
    contradicts: Count = 0
    no_answer: Count = 0


class Certificate(Document):
    """What ``certify`` makes of records.

    ``verdict`` is ``differs`` where any record differs, ``identical`` where none does and one at
    least covers every run, else ``could-not-run``: there is no answer. ``known_signers`` of the
    verifiers are vouched for by the list of signers; ``listed`` says whether there was one.
    ``breadth`` counts the environments of records that are identical, in whole or in part;
    ``known_breadth`` those of verifiers that the list vouches for, ``other_breadth`` those of all
    others. ``not_valid`` counts the verifiers whose signatures are none of their records: they are
    in neither ``counts`` nor a breadth, and where one differs, ``verdict`` does too.
    ``claims`` are those of the package: false where one fails in the package or in any record, null
    where no record evaluated it.
    """

    schema_name: Literal["repropack/certificate/v1"] = Field(
        default="repropack/certificate/v1", alias="schema"
    )
    path: str
    package: PackageMetadata
    package_digest: Digest
    evidence_digest: Digest
    verdict: Verdict
    counts: OutcomeCounts
    known_signers: Count
    not_valid: Count = 0
    listed: bool
    breadth: Breadth
    known_breadth: Breadth = Breadth()
    other_breadth: Breadth = Breadth()
    claims: tuple[RecordedClaim, ...] = ()
    verifiers: tuple[CountedVerifier, ...]
