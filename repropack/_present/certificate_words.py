"""What a certificate says, in sentences that a terminal and a page share; nothing is escaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from repropack._format.contents import read_output_stage
from repropack._present.layout import join_names, plural
from repropack.models.certificate import (
    Breadth,
    Certificate,
    CountedRecord,
    CountedVerifier,
    Outcome,
)
from repropack.models.claims import RecordedClaim
from repropack.models.machine import MachineFacts
from repropack.models.statements import FirstDifference

OUTCOMES = {
    "identical": "identical",
    "partly": "identical in the runs that were executed, not in all",
    "differs": "differs",
    "mixed": "identical in one environment, different in another",
    "contradicts": "contradicts itself: identical and different in one environment",
    "no-answer": "no answer",
}
_COUNTED: dict[Outcome, str] = {
    "identical": "identical",
    "partly": "identical in part of the runs",
    "differs": "differing",
    "mixed": "of both verdicts in different environments",
    "contradicts": "contradicting itself",
    "no-answer": "without an answer",
}
ALSO_SIGNED = "also signed the package"
"""Said beside a verifier whose key did: it counts, and is no stranger's word."""
SCOPE = (
    "A verifier is a key, or where nobody signed a kind of machine; each counts once, and none is "
    "outvoted. Anybody can make any number of records that nobody signed, and of keys. Nothing "
    "wider is claimed than the environments that are named here."
)
_PARTED: tuple[Outcome, ...] = ("differs", "mixed", "contradicts")
_PARTS = {
    "figures": "the figures",
    "notebook": "the notebook",
    "after": "outputs of the commands after the runs",
}


def headline(certificate: Certificate) -> str:
    """How many verifiers found it identical."""
    counts, total = certificate.counts, len(certificate.verifiers) - certificate.not_valid
    told = f"identical for {counts.identical} of {plural(total, 'verifier')}"
    numbers: tuple[tuple[Outcome, int], ...] = (
        ("partly", counts.partly),
        ("differs", counts.differs),
        ("mixed", counts.mixed),
        ("contradicts", counts.contradicts),
        ("no-answer", counts.no_answer),
    )
    return "; ".join([told, *(_so_many(number, name) for name, number in numbers if number)])


def _so_many(number: int, outcome: Outcome) -> str:
    """A number of verifiers by their outcome: ``2 differing``."""
    if outcome == "contradicts" and number > 1:
        return f"{number} contradicting themselves"
    return f"{number} {_COUNTED[outcome]}"


def authenticity(certificate: Certificate) -> str:
    """How many verifiers are known."""
    total = plural(len(certificate.verifiers), "verifier")
    if not certificate.listed:
        return "No list of signers was given, so nobody is vouched for."
    known = certificate.known_signers
    verb = "is" if 1 in {known, len(certificate.verifiers)} else "are"
    return f"{known} of {total} {verb} vouched for by the list of signers."


def equal_machines(certificate: Certificate) -> str:
    """How many verifiers share the facts of a machine; empty where each has its own."""
    counted = [one for one in certificate.verifiers if one.authenticity != "not-valid"]
    places = [
        {row.environment for row in one.records if row.machine is not None} for one in counted
    ]
    every = Counter(environment for one in places for environment in one)
    shared = sum(any(every[environment] > 1 for environment in one) for one in places)
    if not shared:
        return ""
    told = f"{shared} of {plural(len(counted), 'verifier')} ran it on machines with equal facts"
    return f"{told}, which may be one."


def not_valid(certificate: Certificate) -> str:
    """How many verifiers have a signature that is none; empty where no one has."""
    count = certificate.not_valid
    if not count:
        return ""
    found: dict[Outcome, int] = {}
    for one in certificate.verifiers:
        if one.authenticity == "not-valid":
            found[one.outcome] = found.get(one.outcome, 0) + 1
    told = plural(count, "verifier has a signature", "verifiers have signatures")
    verb = "is" if count == 1 else "are"
    outcomes = ", ".join(_so_many(number, name) for name, number in found.items())
    text = f"{told} that {verb} not valid and {verb} not counted: {outcomes}"
    parted = sum(found.get(name, 0) for name in _PARTED)
    if not parted:
        return f"{text}."
    why = "The difference makes" if parted == 1 else "The differences make"
    return f"{text}. {why} the verdict all the same."


def claims(found: Sequence[RecordedClaim]) -> str:
    """How many claims hold, and which do not; empty where there is none."""
    if not found:
        return ""
    held = sum(claim.held is True for claim in found)
    told = f"claims: {held} of {len(found)} {'holds' if 1 in {held, len(found)} else 'hold'}"
    failed = [claim.id for claim in found if claim.held is False]
    silent = len(found) - held - len(failed)
    if failed:
        told += f", {'does' if len(failed) == 1 else 'do'} not hold: {join_names(failed)}"
    return f"{told}, not verified: {silent}" if silent else told


def environments(certificate: Certificate) -> list[tuple[str, list[str]]]:
    """Where it was identical: with a list of signers, those vouched for apart from the others."""
    if not certificate.listed:
        every = certificate.breadth
        return (
            [(plural(every.environments, "environment"), breadth(every))]
            if every.environments
            else []
        )
    kinds = (
        (certificate.known_breadth, "of verifiers that are vouched for"),
        (certificate.other_breadth, "of verifiers that nobody vouches for"),
    )
    lists = [breadth(found) for found, _ in kinds]
    if lists[0] and lists[0] == lists[1]:
        known, other = (f"{plural(n.environments, 'environment')} {whose}" for n, whose in kinds)
        return [(f"{known} and {other}", lists[0])]
    return [
        (f"{plural(found.environments, 'environment')} {whose}", breadth(found))
        for found, whose in kinds
        if found.environments
    ]


def breadth(found: Breadth) -> list[str]:
    """Each kind of fact of environments with its values."""
    rows: Sequence[tuple[str, str | None, tuple[str, ...]]] = (
        ("processor vendor", None, found.cpu_vendors),
        ("processor", None, found.cpu_models),
        ("architecture", None, found.architectures),
        ("system", None, found.systems),
        ("Python", "Pythons", found.pythons),
        ("NumPy version", None, found.numpys),
        ("BLAS", "BLASes", found.blases),
    )
    return [
        f"{plural(len(values), noun, nouns)}: {', '.join(values)}"
        for noun, nouns, values in rows
        if values
    ]


def who(verifier: CountedVerifier) -> str:
    """A verifier's names and keys, or that nobody signed."""
    if verifier.authenticity == "known":
        return ", ".join(f"{', '.join(one.names)} ({one.key})" for one in verifier.signers)
    if verifier.authenticity == "unknown-key":
        keys = ", ".join(one.key for one in verifier.signers)
        return f"unknown key{'s' if len(verifier.signers) > 1 else ''} {keys}"
    machine_of = f"machine {verifier.id[:19]}..."
    if verifier.authenticity == "not-valid":
        return f"signature not valid: {machine_of}"
    return f"not signed: {machine_of}"


def coverage(record: CountedRecord) -> str:
    """How much was run."""
    found = record.coverage
    if found.runs_recorded == 0:
        return "nothing was run"
    ran = f"{found.runs_executed} of {plural(found.runs_recorded, 'run')}"
    notebook = "" if found.notebook == "not-executed" else f", notebook {found.notebook}"
    return f"{ran}{notebook}"


def machine(facts: MachineFacts | None) -> str:
    """A machine on one line."""
    if facts is None:
        return "no machine is known: no run came to its end"
    cpu = " ".join(filter(None, (facts.cpu_vendor, facts.family)))
    parts = (
        facts.cpu or cpu,
        facts.cpu and cpu,
        facts.architecture,
        facts.system,
        facts.libc,
        f"Python {facts.python}",
        f"NumPy {facts.numpy}",
        facts.blas,
        f"repropack {facts.repropack}",
    )
    return " · ".join(part for part in parts if part)


def first_difference(found: FirstDifference) -> str:
    """Where a verification parted from the package."""
    if found.run is None:
        return _PARTS.get(found.part, found.part)
    place = [f"run {found.run}"]
    output = None if found.stage is None else read_output_stage(found.stage)
    if output is None and found.step is not None:
        place.append(f"step {found.step}")
    if found.stage is not None:
        stage = found.stage if output is None else f"output {output[0]}"
        place.append(stage if output is None or not output[1] else f"{stage} · {output[1]}")
    elif found.kind is not None:
        place.append(found.kind)
    return " · ".join(place)
