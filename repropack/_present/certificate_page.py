"""A certificate as one self-contained page, which runs nothing and fetches nothing."""

from __future__ import annotations

from collections.abc import Iterable

from repropack._present import certificate_words as words
from repropack._present.html import Content, Markup, element, lines
from repropack._present.still_page import still_page
from repropack._present.text_signatures import finding_text
from repropack.models.certificate import Certificate, CountedRecord, CountedVerifier

_VERDICTS = {
    "identical": ("Identical", "badge yes"),
    "differs": ("Differs", "badge no"),
    "could-not-run": ("No answer", "badge"),
    "damaged": ("Damaged", "badge no"),
}
_BADGES = {"identical": "badge yes", "partly": "badge", "no-answer": "badge"}
_SHORT = {
    "identical": "identical",
    "partly": "in part",
    "differs": "differs",
    "mixed": "both",
    "contradicts": "contradicts",
    "no-answer": "no answer",
}


def certificate_page(certificate: Certificate) -> bytes:
    """The page of a certificate.

    Args:
        certificate: What ``certify`` made of records.

    Returns:
        HTML, UTF-8; it needs no other file and no network.

    Determinism:
        The bytes depend on the certificate and on this version of repropack alone.
    """
    package = certificate.package
    verdict, badge = _VERDICTS[certificate.verdict]
    title = f"{verdict}: {package.name} {package.version}"
    equal = words.equal_machines(certificate)
    header = element(
        "header",
        element("p", "What several verifications of one package found", class_="kind"),
        element("h1", package.title),
        element(
            "p",
            element("span", verdict, class_=badge),
            f" {capital(words.headline(certificate))}. {words.authenticity(certificate)}",
            class_="verdict authors",
        ),
        element("p", words.not_valid(certificate), class_="bad") if certificate.not_valid else None,
        element("p", equal, class_="authors") if equal else None,
        _claims(certificate),
        _facts(certificate),
        class_="masthead",
    )
    main = element(
        "main",
        element("section", element("h2", "Where it was identical"), _breadth(certificate)),
        element("section", element("h2", "Verifiers"), _verifiers(certificate)),
        element("section", element("p", words.SCOPE, class_="scope")),
    )
    return still_page(title, lines([header, main]))


def _claims(certificate: Certificate) -> Markup | None:
    if not certificate.claims:
        return None
    failed = any(claim.held is False for claim in certificate.claims)
    told = f"{capital(words.claims(certificate.claims))}."
    return element("p", told, class_="bad" if failed else "authors")


def _facts(certificate: Certificate) -> Markup:
    package = certificate.package
    return facts(
        (
            ("Package", f"{package.name} {package.version}"),
            ("Package digest", element("code", certificate.package_digest)),
            ("Evidence digest", element("code", certificate.evidence_digest)),
        )
    )


def capital(sentence: str) -> str:
    """A sentence with a capital at its beginning."""
    return sentence[:1].upper() + sentence[1:]


def facts(rows: Iterable[tuple[str, Content]]) -> Markup:
    """Labels and what belongs to them."""
    return element(
        "dl",
        (element("div", element("dt", label), element("dd", value)) for label, value in rows),
        class_="facts",
    )


def _breadth(certificate: Certificate) -> Markup:
    found = words.environments(certificate)
    if not found:
        return element("p", "In no environment.")
    return element("div", (_environments(where, rows) for where, rows in found))


def _environments(where: str, rows: list[str]) -> Markup:
    listed = element("ul", (element("li", row) for row in rows))
    return element("div", element("p", f"In {where}, with"), listed)


def _verifiers(certificate: Certificate) -> Markup:
    return element("ul", map(_verifier, certificate.verifiers), class_="claims")


def _verifier(verifier: CountedVerifier) -> Markup:
    badge = _BADGES.get(verifier.outcome, "badge no")
    outcome = words.OUTCOMES[verifier.outcome]
    return element(
        "li",
        element("span", _SHORT[verifier.outcome], class_=badge),
        element(
            "div",
            element("p", words.who(verifier), class_="sentence"),
            element("p", outcome, class_="note") if outcome != verifier.outcome else None,
            element("p", words.ALSO_SIGNED, class_="note") if verifier.signed_package else None,
            map(_record, verifier.records),
        ),
        class_="claim",
    )


def _record(record: CountedRecord) -> Markup:
    difference = record.first_difference
    rows: list[tuple[str, Content]] = [
        ("Record", f"{record.file}, {record.created[:10]}"),
        ("Verdict", f"{record.verdict}, {words.coverage(record)}"),
        ("Environment", words.machine(record.machine)),
    ]
    if record.claims:
        rows.append(("Claims", words.claims(record.claims).removeprefix("claims: ")))
    if difference is not None:
        rows.append(("First difference", words.first_difference(difference)))
    rows += [
        ("Signature", finding_text(found))
        for found in record.signatures
        if found.standing != "known"
    ]
    return facts(rows)
