"""Records are counted by who made them: once each, and nothing is averaged."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from repropack._compare.certificates import (
    breadth_of,
    common_verdict,
    count_outcomes,
    count_verifiers,
    counted_record,
    merged_claims,
)
from repropack._format.digests import digest_bytes
from repropack._format.statements import read_statement
from repropack.models.certificate import CountedRecord, OutcomeCounts
from repropack.models.claims import ClaimVerification, RecordedClaim
from repropack.models.reports import VerificationReport
from repropack.models.signatures import SignatureFinding, Signer
from repropack.models.statements import StatementOfRecord
from tests.support.claims import outcome_of
from tests.support.records import MACHINE, differing, partial, record, unanswered, verification

ANN, BOB, EVE = (f"SHA256:{letter * 43}" for letter in "ABE")
OTHER = MACHINE.model_copy(update={"cpu_vendor": "AuthenticAMD", "numpy": "1.26.4"})
NUMBERS = itertools.count()
NO_ANSWER = unanswered()


def signed(key: str, standing: Any = "known", *names: str) -> SignatureFinding:
    return SignatureFinding(file="r.sig", standing=standing, key=key, names=names)


def one(report: VerificationReport, *signatures: SignatureFinding) -> CountedRecord:
    data = record(report)
    statement = read_statement(StatementOfRecord, data)
    return counted_record([f"{next(NUMBERS)}.json"], digest_bytes(data), statement, signatures)


def outcomes(*records: CountedRecord) -> dict[str, str]:
    return {verifier.id: verifier.outcome for verifier in count_verifiers(records)}


def test_each_key_counts_once() -> None:
    """However many records and names it has."""
    ann = signed(ANN, "known", "ann")
    again = signed(ANN, "known", "ann", "a.n.other")
    (found,) = count_verifiers([one(verification(), ann), one(partial(), again)])
    assert (found.id, found.authenticity) == (ANN, "known")
    assert found.signers == (Signer(key=ANN, names=("a.n.other", "ann")),)
    assert (found.outcome, len(found.records)) == ("identical", 2)


def test_who_did_not_sign_counts_once_a_machine() -> None:
    """Two unsigned records of one kind of machine may be one and the same."""
    found = count_verifiers(
        [one(verification()), one(verification()), one(verification(machine=OTHER))]
    )
    assert sorted(len(row.records) for row in found) == [1, 2]
    assert {(row.authenticity, row.outcome) for row in found} == {("unsigned", "identical")}


def test_a_known_signer_comes_before_an_unknown_key_and_a_bad_signature_is_none() -> None:
    """Whose record it is does not depend on the order of the files."""
    ann, bob = signed(ANN, "known", "ann"), signed(BOB, "unknown")
    bad = SignatureFinding(file="x.sig", standing="not-valid")
    assert set(outcomes(one(verification(), bob, ann))) == {ANN}
    assert set(outcomes(one(verification(), bad, bob))) == {BOB}
    (unsigned,) = count_verifiers([one(verification(), bad)])
    assert unsigned.authenticity == "not-valid"
    (unknown,) = count_verifiers([one(verification(), signed(ANN, "not-accepted"))])
    assert (unknown.authenticity, unknown.signers) == (
        "unknown-key",
        (Signer(key=ANN, names=()),),
    )


def test_who_signs_together_is_one_verifier_in_every_order() -> None:
    """All are named, sorted; a record that one of them signed alone is the same verifier's."""
    ann, bob, eve = signed(ANN, "known", "ann"), signed(BOB, "known", "bob"), signed(EVE, "known")
    both, alone = one(verification(), bob, ann), one(verification(machine=OTHER), ann)
    other = one(verification(), eve)
    told = set()
    for rows in itertools.permutations([both, alone, other]):
        pair, single = count_verifiers(rows)
        told.add((pair, single))
        assert [row.key for row in pair.signers] == [ANN, BOB]
        assert [row.names for row in pair.signers] == [("ann",), ("bob",)]
        assert (pair.id, len(pair.records), single.id) == (ANN, 2, EVE)
    assert len(told) == 1


def test_two_unknown_keys_of_one_record_are_one_verifier_and_join_no_known_one() -> None:
    """Whatever the order of the signatures; a key that nobody knows takes no record over."""
    keys = [signed(EVE, "unknown"), signed(BOB, "unknown")]
    for order in itertools.permutations(keys):
        (found,) = count_verifiers([one(verification(), *order)])
        assert [row.key for row in found.signers] == [BOB, EVE]
    known = one(verification(), signed(ANN, "known", "ann"), *keys)
    rows = count_verifiers([known, one(differing(), *keys)])
    assert [(row.id, row.outcome) for row in rows] == [(ANN, "identical"), (BOB, "differs")]


def test_who_also_signed_the_package_is_known_by_key() -> None:
    """Known or not; it still counts, and nobody else is taken for one."""
    rows = [
        one(verification(), signed(ANN, "known", "ann")),
        one(verification(), signed(BOB, "unknown")),
        one(verification(), signed(EVE, "unknown")),
        one(verification()),
    ]
    found = count_verifiers(rows, {ANN, EVE})
    assert {row.id: row.signed_package for row in found} == {
        ANN: True, BOB: False, EVE: True, rows[3].environment: False,
    }  # fmt: skip
    assert count_outcomes(found) == OutcomeCounts(identical=4)


def test_copies_are_named_by_the_first_name_and_their_signatures_are_sorted() -> None:
    """In every order, each signature once."""
    data = record()
    statement = read_statement(StatementOfRecord, data)
    found = [signed(ANN, "known", "ann"), signed(BOB, "unknown"), signed(ANN, "known", "ann")]
    rows = {
        counted_record(files, digest_bytes(data), statement, signatures)
        for files in (["b.json", "a.json"], ["a.json", "b.json"])
        for signatures in itertools.permutations(found)
    }
    (row,) = rows
    assert (row.file, len(row.signatures)) == ("a.json", 2)


def test_a_signature_that_is_not_valid_is_counted_apart() -> None:
    """Not with what nobody signed, in no count and no breadth; a difference stays one."""
    bad = SignatureFinding(file="x.sig", standing="not-valid")
    found = count_verifiers([one(verification(), bad), one(verification())])
    assert [row.authenticity for row in found] == ["unsigned", "not-valid"]
    assert found[0].id == found[1].id
    assert count_outcomes(found) == OutcomeCounts(identical=1)
    assert breadth_of(found[1:]).environments == 0
    assert breadth_of(found).environments == 1
    parted = count_verifiers([one(differing(), bad)])
    assert count_outcomes(parted) == OutcomeCounts()
    assert common_verdict(OutcomeCounts(identical=9), parted) == "differs"
    assert common_verdict(OutcomeCounts(identical=9), found) == "identical"


def test_who_is_vouched_for_comes_first() -> None:
    """Before a difference that nobody vouches for."""
    found = count_verifiers(
        [
            one(differing(), signed(BOB, "unknown")),
            one(NO_ANSWER),
            one(verification(), signed(ANN, "known", "ann")),
        ]
    )
    assert [row.authenticity for row in found] == ["known", "unknown-key", "unsigned"]


def test_a_record_keeps_what_came_of_its_claims() -> None:
    """As it was evaluated there."""
    fields = ("id", "kind", "sentence", "expected", "held", "text", "value")
    seen = {name: getattr(outcome_of(), name) for name in fields}
    claim = ClaimVerification(**seen, held_here=False)
    assert one(verification(claims=(claim,))).claims == (
        RecordedClaim(id="final-loss", held=False),
    )


def test_a_claim_that_fails_anywhere_does_not_hold() -> None:
    """In the package or in one record; a claim that no record evaluated has no answer."""
    stored = [outcome_of(id=name, held=name != "d") for name in "abcde"]
    rows = [
        one(verification()).model_copy(update={"claims": claims})
        for claims in (
            (RecordedClaim(id="a", held=True), RecordedClaim(id="b", held=True)),
            (RecordedClaim(id="b", held=False), RecordedClaim(id="c", held=None)),
            (RecordedClaim(id="d", held=True), RecordedClaim(id="foreign", held=False)),
        )
    ]
    merged = merged_claims(stored, rows)
    assert {claim.id: claim.held for claim in merged} == {
        "a": True, "b": False, "c": None, "d": False, "e": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("reports", "outcome"),
    [
        ([verification()], "identical"),
        ([partial()], "partly"),
        ([partial(), verification()], "identical"),
        ([differing()], "differs"),
        ([NO_ANSWER], "no-answer"),
        ([NO_ANSWER, verification()], "identical"),
        ([NO_ANSWER, differing()], "differs"),
        ([verification(), differing()], "contradicts"),
        ([partial(), differing()], "contradicts"),
        ([verification(), differing(machine=OTHER)], "mixed"),
        ([verification(), differing(machine=OTHER), verification(machine=OTHER)], "contradicts"),
    ],
)
def test_the_outcome_of_a_verifier(reports: list[VerificationReport], outcome: str) -> None:
    """The same in every order; both verdicts are never averaged."""
    for order in itertools.permutations(reports):
        rows = [one(report, signed(ANN)) for report in order]
        assert outcomes(*rows) == {ANN: outcome}


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        (OutcomeCounts(identical=4), "identical"),
        (OutcomeCounts(identical=1, partly=3, no_answer=2), "identical"),
        (OutcomeCounts(identical=99, differs=1), "differs"),
        (OutcomeCounts(identical=99, mixed=1), "differs"),
        (OutcomeCounts(identical=99, contradicts=1), "differs"),
        (OutcomeCounts(partly=3), "could-not-run"),
        (OutcomeCounts(no_answer=1), "could-not-run"),
    ],
)
def test_the_verdict_of_all(counts: OutcomeCounts, verdict: str) -> None:
    """One difference is enough, and a part is not the whole."""
    assert common_verdict(counts) == verdict


def test_outcomes_are_counted_and_differences_come_first() -> None:
    """In the order in which a reader needs them."""
    found = count_verifiers(
        [
            one(verification(), signed(ANN)),
            one(differing(machine=OTHER), signed(BOB)),
            one(NO_ANSWER),
        ]
    )
    assert [row.outcome for row in found] == ["differs", "identical", "no-answer"]
    assert count_outcomes(found) == OutcomeCounts(identical=1, differs=1, no_answer=1)


def test_breadth_is_of_identical_records_alone() -> None:
    """A machine on which it differs does not widen what holds."""
    third = OTHER.model_copy(update={"numpy": "2.0.0"})
    found = breadth_of(
        count_verifiers(
            [
                one(verification(), signed(ANN)),
                one(verification(machine=OTHER), signed(BOB)),
                one(differing(machine=third)),
            ]
        )
    )
    assert found.environments == 2
    assert found.cpu_vendors == ("AuthenticAMD", "GenuineIntel")
    assert found.numpys == ("1.26.4", "2.3.1")
    assert found.systems == ("debian 12",)
