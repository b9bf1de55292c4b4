"""A certificate as text for a terminal: the verdict, how wide it holds, and each verifier."""

from __future__ import annotations

from repropack._present import certificate_words as words
from repropack._present.escape import escape_text
from repropack._present.layout import ended, listing, wrap
from repropack._present.text import identity_lines
from repropack._present.text_signatures import finding_text
from repropack.models.certificate import Certificate, CountedRecord, CountedVerifier

_MAX_VERIFIERS = 100


def certificate_text(certificate: Certificate) -> str:
    """What several verifications say together, for people.

    Returns:
        The text; ends in a newline.
    """
    lines = wrap(escape_text(certificate.path), first=f"{certificate.verdict}  ")
    lines += wrap(f"{words.headline(certificate).capitalize()}.")
    lines += wrap(words.authenticity(certificate))
    lines += wrap(words.not_valid(certificate)) if certificate.not_valid else []
    equal = words.equal_machines(certificate)
    lines += wrap(equal) if equal else []
    lines += wrap(f"{words.claims(certificate.claims)}.") if certificate.claims else []
    lines += [
        "",
        *identity_lines(
            certificate.package, certificate.package_digest, certificate.evidence_digest
        ),
    ]
    for where, rows in words.environments(certificate):
        lines += [
            "",
            *wrap(f"identical in {where}:"),
            *listing([escape_text(row, 400) for row in rows]),
        ]
    lines += ["", "verifiers:"]
    for verifier in certificate.verifiers[:_MAX_VERIFIERS]:
        lines += _verifier(verifier)
    if len(certificate.verifiers) > _MAX_VERIFIERS:
        lines.append(f"- and {len(certificate.verifiers) - _MAX_VERIFIERS} more")
    return ended([*lines, "", *wrap(words.SCOPE)])


def _verifier(verifier: CountedVerifier) -> list[str]:
    outcome = words.OUTCOMES[verifier.outcome]
    also = f"; {words.ALSO_SIGNED}" if verifier.signed_package else ""
    lines = wrap(f"{escape_text(words.who(verifier))}: {outcome}{also}", first="- ")
    for record in verifier.records:
        lines += _record(record)
    return lines


def _record(record: CountedRecord) -> list[str]:
    told = (
        f"{escape_text(record.file)}: {record.verdict}, {words.coverage(record)}, "
        f"{record.created[:10]}"
    )
    lines = wrap(told, first="    ", rest="      ")
    lines += wrap(escape_text(words.machine(record.machine), 400), first="      ")
    if record.claims:
        lines += wrap(words.claims(record.claims), first="      ", rest="        ")
    if record.first_difference is not None:
        place = escape_text(words.first_difference(record.first_difference))
        lines += wrap(f"first difference: {place}", first="      ")
    for found in record.signatures:
        if found.standing != "known":
            lines += wrap(finding_text(found), first="      ", rest="        ")
    return lines
