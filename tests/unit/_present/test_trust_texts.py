"""What is said of signatures, certificates and published folders, word for word."""

from __future__ import annotations

import re

import pytest

from repropack._compare.certificates import (
    breadth_of,
    common_verdict,
    count_outcomes,
    count_verifiers,
    counted_record,
)
from repropack._format.statements import read_statement
from repropack._present.certificate_page import certificate_page
from repropack._present.certificate_words import (
    authenticity,
    claims,
    environments,
    equal_machines,
    not_valid,
)
from repropack._present.front_page import front_page
from repropack._present.html import file_link
from repropack._present.text_certify import certificate_text
from repropack._present.text_publish import publish_text
from repropack._present.text_signatures import missing_lines, sign_text, signature_lines
from repropack.models.certificate import Certificate
from repropack.models.claims import RecordedClaim
from repropack.models.published import LeftOut, PublishedFile, PublishReport
from repropack.models.signatures import PackageSignatures, SignatureFinding, Signer, SignReport
from repropack.models.statements import StatementOfRecord
from tests.support.records import MACHINE, differing, partial, record, verification
from tests.support.reports import EVIDENCE_DIGEST, PACKAGE_DIGEST, metadata

KEY = "SHA256:" + "k" * 43
DIGEST = "sha256:" + "0" * 64
CLAIMS = tuple(
    RecordedClaim(id=name, held=name != "final-msd") for name in ("a", "b", "c", "final-msd")
)
FAILS = "1 of 4 claims does not hold: final-msd."


def certificate(**changes: object) -> Certificate:
    other = MACHINE.model_copy(update={"cpu_vendor": "AuthenticAMD", "cpu": None, "numpy": "1.26"})
    known = SignatureFinding(file="a.sig", standing="known", key=KEY, names=("ann@x.org",))
    bad = SignatureFinding(file="b.sig", standing="not-valid", problem="expected a signature")
    rows = [
        ("a.json", verification(claims=()), (known,)),
        ("b.json", differing(machine=other, claims=()), (bad,)),
        ("c.json", partial(claims=()), ()),
    ]
    verifiers = count_verifiers(
        counted_record(
            [name], DIGEST, read_statement(StatementOfRecord, record(report)), signatures
        )
        for name, report, signatures in rows
    )
    counts = count_outcomes(verifiers)
    vouched = [one for one in verifiers if one.authenticity == "known"]
    others = [one for one in verifiers if one.authenticity != "known"]
    fields: dict[str, object] = {
        "path": "lab.zip",
        "package": metadata(),
        "package_digest": PACKAGE_DIGEST,
        "evidence_digest": EVIDENCE_DIGEST,
        "verdict": common_verdict(counts, verifiers),
        "counts": counts,
        "known_signers": 1,
        "listed": True,
        "breadth": breadth_of(verifiers),
        "known_breadth": breadth_of(vouched),
        "other_breadth": breadth_of(others),
        "not_valid": 1,
        "claims": CLAIMS,
        "verifiers": verifiers,
    }
    return Certificate.model_validate(fields | changes)


def test_the_text_of_a_certificate() -> None:
    """The verdict, how wide, and who found what; who is vouched for first."""
    assert (
        certificate_text(certificate())
        == f"""\
differs  lab.zip
Identical for 1 of 2 verifiers; 1 identical in part of the runs.
1 of 3 verifiers is vouched for by the list of signers.
1 verifier has a signature that is not valid and is not counted: 1 differing. The difference makes
the verdict all the same.
2 of 2 verifiers ran it on machines with equal facts, which may be one.
claims: 3 of 4 hold, does not hold: final-msd.

Identical printed losses, different weights
package           replay-lab 1.0.0
package digest    {PACKAGE_DIGEST}
evidence digest   {EVIDENCE_DIGEST}

identical in 1 environment of verifiers that are vouched for and 1 environment of verifiers that
nobody vouches for:
- 1 processor vendor: GenuineIntel
- 1 processor: Xeon
- 1 architecture: x86_64
- 1 system: debian 12
- 1 Python: 3.11.7
- 1 NumPy version: 2.3.1
- 1 BLAS: openblas 0.3.27 SkylakeX

verifiers:
- ann@x.org ({KEY}): identical
    a.json: identical, 6 of 6 runs, 2026-11-30
      Xeon · GenuineIntel 6/85 · x86_64 · debian 12 · glibc 2.36 · Python 3.11.7 · NumPy 2.3.1 ·
      openblas 0.3.27 SkylakeX · repropack 0.1.0
- not signed: machine sha256:2c667e2aabec...: identical in the runs that were executed, not in all
    c.json: identical, 1 of 6 runs, 2026-11-30
      Xeon · GenuineIntel 6/85 · x86_64 · debian 12 · glibc 2.36 · Python 3.11.7 · NumPy 2.3.1 ·
      openblas 0.3.27 SkylakeX · repropack 0.1.0
- signature not valid: machine sha256:ddebcb25c063...: differs
    b.json: differs, 6 of 6 runs, 2026-11-30
      AuthenticAMD 6/85 · x86_64 · debian 12 · glibc 2.36 · Python 3.11.7 · NumPy 1.26 · openblas
      0.3.27 SkylakeX · repropack 0.1.0
      first difference: run reference · step 1 · gradient
      b.sig: not valid: expected a signature

A verifier is a key, or where nobody signed a kind of machine; each counts once, and none is
outvoted. Anybody can make any number of records that nobody signed, and of keys. Nothing wider is
claimed than the environments that are named here.
"""
    )


def test_a_record_tells_of_its_claims() -> None:
    """In the document, the text and the page; what was not evaluated is no failure."""
    whole = certificate()
    first = whole.verifiers[0]
    claims = (*CLAIMS, RecordedClaim(id="later", held=None))
    row = first.records[0].model_copy(update={"claims": claims})
    verifiers = (first.model_copy(update={"records": (row,)}), *whole.verifiers[1:])
    told = whole.model_copy(update={"verifiers": verifiers})
    line = "3 of 5 hold, does not hold: final-msd, not verified: 1"
    assert f"\n      claims: {line}\n" in certificate_text(told)
    assert f"<dd>{line}</dd>" in certificate_page(told).decode()


def test_who_also_signed_the_package_is_said_to_have() -> None:
    """Beside the verifier, in the text and on the page, and beside nobody else."""
    whole = certificate()
    first = whole.verifiers[0].model_copy(update={"signed_package": True})
    told = whole.model_copy(update={"verifiers": (first, *whole.verifiers[1:])})
    assert f"- ann@x.org ({KEY}): identical; also signed the package\n" in certificate_text(told)
    assert certificate_text(told).count("also signed") == 1
    assert certificate_page(told).count(b">also signed the package</p>") == 1
    assert b"also signed" not in certificate_page(whole)


def test_machines_of_their_own_are_not_said_to_be_equal() -> None:
    """One verifier on one machine shares it with nobody; a signature that is none is no one's."""
    whole = certificate()
    alone = whole.model_copy(update={"verifiers": (whole.verifiers[0], whole.verifiers[2])})
    assert equal_machines(alone) == ""
    again = whole.verifiers[2].model_copy(update={"id": KEY})
    both = whole.model_copy(update={"verifiers": (whole.verifiers[2], again)})
    assert equal_machines(both) == ""


def test_environments_that_are_not_alike_are_told_apart() -> None:
    """With a list of signers, whose they are."""
    other = certificate().other_breadth.model_copy(update={"numpys": ("1.26",)})
    told = [where for where, _ in environments(certificate(other_breadth=other))]
    assert told == [
        "1 environment of verifiers that are vouched for",
        "1 environment of verifiers that nobody vouches for",
    ]


@pytest.mark.parametrize(
    ("known", "total", "said"),
    [
        (0, 1, "0 of 1 verifier is"),
        (1, 1, "1 of 1 verifier is"),
        (0, 2, "0 of 2 verifiers are"),
        (1, 2, "1 of 2 verifiers is"),
        (2, 2, "2 of 2 verifiers are"),
    ],
)
def test_verbs_agree_with_their_numbers(known: int, total: int, said: str) -> None:
    """Of the verifiers that are vouched for."""
    rows = certificate().verifiers[:1] * total
    told = authenticity(certificate(known_signers=known, verifiers=rows))
    assert told == f"{said} vouched for by the list of signers."


def test_signatures_that_are_not_valid_are_counted_in_words() -> None:
    """One and several of each outcome."""
    bad = certificate().verifiers[2]
    rows = [
        bad.model_copy(update={"outcome": outcome})
        for outcome in ("contradicts", "contradicts", "no-answer")
    ]
    assert not_valid(certificate(not_valid=3, verifiers=tuple(rows))) == (
        "3 verifiers have signatures that are not valid and are not counted: 2 contradicting "
        "themselves, 1 without an answer. The differences make the verdict all the same."
    )
    assert not_valid(certificate(not_valid=1, verifiers=(rows[2],))) == (
        "1 verifier has a signature that is not valid and is not counted: 1 without an answer."
    )


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ((True,), "claims: 1 of 1 holds"),
        ((False,), "claims: 0 of 1 holds, does not hold: c0"),
        ((True, False), "claims: 1 of 2 holds, does not hold: c1"),
        ((False, False), "claims: 0 of 2 hold, do not hold: c0, c1"),
        ((True, True, None), "claims: 2 of 3 hold, not verified: 1"),
    ],
)
def test_claims_agree_with_their_numbers(held: tuple[bool | None, ...], said: str) -> None:
    """Those that hold, and those that do not."""
    assert claims([RecordedClaim(id=f"c{k}", held=one) for k, one in enumerate(held)]) == said


def test_a_certificate_without_a_list_says_so() -> None:
    """Nobody is vouched for then."""
    told = certificate_text(certificate(listed=False, known_signers=0))
    assert "\nNo list of signers was given, so nobody is vouched for.\n" in told


def test_the_page_of_a_certificate_says_the_same() -> None:
    """Verdict, verifiers, environments, differences; no script."""
    page = certificate_page(certificate()).decode("utf-8")
    for part in (
        ">Differs</span> Identical for 1 of 2 verifiers;",
        ">1 verifier has a signature that is not valid and is not counted: 1 differing.",
        ">2 of 2 verifiers ran it on machines with equal facts, which may be one.</p>",
        ">Claims: 3 of 4 hold, does not hold: final-msd.</p>",
        "ann@x.org (SHA256:",
        "run reference · step 1 · gradient",
        "b.sig: not valid: expected a signature",
        "<li>1 NumPy version: 2.3.1</li>",
    ):
        assert part in page
    assert "<script" not in page
    assert "script-src" not in page


NOBODY = "signed by         nobody"


@pytest.mark.parametrize(
    ("found", "lines"),
    [
        (None, []),
        (PackageSignatures(statement="none"), [f"{NOBODY}: no statement lies beside it"]),
        (
            PackageSignatures(statement="not-readable", problem="\x1b"),
            [f"{NOBODY}: the statement beside it cannot be used: \\x1b"],
        ),
        (
            PackageSignatures(statement="of-this-package"),
            ["signed by         nobody that the list of signers vouches for"],
        ),
        (
            PackageSignatures(
                statement="of-this-package",
                archive="another",
                signers=(Signer(key=KEY, names=("a", "b")),),
                signatures=(
                    SignatureFinding(file="a.sig", standing="known", key=KEY, names=("a", "b")),
                    SignatureFinding(file="b.sig", standing="unknown", key=KEY),
                ),
            ),
            [
                f"signed by         a, b ({KEY})",
                f"{'zip':<18}another file than the one that was signed, with the same entries",
                "",
                "signature files that count for nothing:",
                "- b.sig: valid, by a key that is not in the list of signers",
                f"  ({KEY})",
            ],
        ),
    ],
)
def test_what_is_said_of_signatures(found: PackageSignatures | None, lines: list[str]) -> None:
    """Who signed, whether it is the file, and what counts for nothing."""
    assert signature_lines(found) == lines


def test_who_is_missing_is_said() -> None:
    """By name, escaped."""
    found = PackageSignatures(statement="none", required=("a", "b\x1b"), missing=("b\x1b",))
    assert missing_lines(found) == ["Not signed by whom it has to be: b\\x1b."]
    assert missing_lines(None) == []


def test_the_text_of_sign() -> None:
    """What was written, and the command that verifies it without repropack."""
    report = SignReport(
        path="a b.zip",
        kind="package",
        namespace="repropack-package@v1",
        statement="a b.zip.intoto.json",
        statement_digest=DIGEST,
        package_digest=DIGEST,
        archive_digest=DIGEST,
        signature="a b.zip.intoto.json.sig",
        key=KEY,
    )
    told = sign_text(report)
    assert told.startswith("signed  a b.zip\n")
    assert told.endswith(
        "  ssh-keygen -Y verify -f SIGNERS -I NAME -n repropack-package@v1 \\\n"
        "    -s 'a b.zip.intoto.json.sig' < 'a b.zip.intoto.json'\n"
    )
    alone = sign_text(report.model_copy(update={"signature": None, "key": None}))
    assert alone.startswith("stated  a b.zip\n")
    assert alone.endswith(
        "  ssh-keygen -Y sign -f KEY -n repropack-package@v1 'a b.zip.intoto.json'\n"
    )


def test_signatures_that_were_taken_away_are_told_by_sign() -> None:
    """By name, and which name the new one has."""
    report = SignReport(
        path="p.zip", kind="package", namespace="n", statement="s", statement_digest=DIGEST,
        removed=("s.sig",),
    )  # fmt: skip
    before = "1 signature of the statement that was there before: s.sig"
    assert f"\ntaken away        {before}\n" in sign_text(report)
    signed = report.model_copy(update={"signature": "s.sig", "key": KEY})
    told = " ".join(sign_text(signed).split())
    assert f"{before} (the new one has its name)" in told


def test_a_claim_that_fails_is_told_by_sign_and_publish() -> None:
    """On one line, and on the front page."""
    report = SignReport(
        path="p.zip", kind="package", namespace="n", statement="s", statement_digest=DIGEST,
        claims=CLAIMS,
    )  # fmt: skip
    assert sign_text(report).startswith(f"stated  p.zip\n{FAILS}\n\n")
    assert f"\n{FAILS}\n\npackage " in publish_text(published(claims=CLAIMS))
    page = front_page(published(claims=CLAIMS)).decode()
    assert f'<p class="bad">{FAILS}</p>' in page
    assert "claim" not in publish_text(published())


def published(**changes: object) -> PublishReport:
    paths = ("LICENSE", "notebook.html", "replay-lab-1.0.0.zip", "source/a b.py")
    fields: dict[str, object] = {
        "path": "lab.zip",
        "directory": "site",
        "package": metadata(),
        "package_digest": PACKAGE_DIGEST,
        "evidence_digest": EVIDENCE_DIGEST,
        "package_file": "replay-lab-1.0.0.zip",
        "files": tuple(PublishedFile(path=path, size=1000, digest=DIGEST) for path in paths),
        "left_out": tuple(LeftOut(path=f"runs/{k}.npz", reason="large") for k in range(5)),
    }
    return PublishReport.model_validate(fields | changes)


def test_the_text_of_publish() -> None:
    """How much, where the digests are, and what is in the package alone."""
    assert (
        publish_text(published())
        == f"""\
published  site
4 files of 4.0 kB, their digests in SHA256SUMS; index.html leads to each of them

package           replay-lab-1.0.0.zip
package digest    {PACKAGE_DIGEST}
signatures        none lay beside the package

in the package alone:
- runs/0.npz, runs/1.npz, runs/2.npz and 2 more: large

Put the folder where you like; all links are relative. Publish the package digest in the article
itself: it is what readers hold the package against.
"""
    )


def test_signatures_that_are_not_laid_out_are_told() -> None:
    """With the reason."""
    dead = SignatureFinding(file="p.\x1b.sig", standing="not-valid", problem="expected one")
    told = publish_text(published(signatures_left_out=(dead,)))
    assert (
        "signatures        none that holds\n\n"
        "signature files beside the package that are not laid out:\n"
        "- p.\\x1b.sig: not valid: expected one\n"
    ) in told


def test_the_front_page_links_to_every_file() -> None:
    """By relative paths; a hostile title is text."""
    page = front_page(published(package=metadata(title="<script>x</script>"))).decode("utf-8")
    for path in ("LICENSE", "notebook.html", "replay-lab-1.0.0.zip", "source/a%20b.py"):
        assert f'<a href="./{path}">' in page
    assert '<a href="./SHA256SUMS">' in page
    assert "<script" not in page
    assert "report.html" not in page
    assert 'href="/' not in page


@pytest.mark.parametrize("path", ["", "/a", "../a", "a/../b", "a//b", "./a", "a\\b"])
def test_a_link_never_leaves_the_folder(path: str) -> None:
    """To ask for that is a fault of the caller."""
    with pytest.raises(ValueError, match="no file beside a page"):
        file_link(path)


def test_a_link_cannot_be_a_scheme_or_markup() -> None:
    """Whatever the file is called."""
    assert file_link('javascript:"><b>').html == (
        '<a href="./javascript%3A%22%3E%3Cb%3E">javascript:&quot;&gt;&lt;b&gt;</a>'
    )


def test_the_front_page_says_what_each_file_is_and_how_to_verify() -> None:
    """Before the list, and beside each name; an author's file is not taken for one of ours."""
    author = "README.author.md"
    paths = (
        "LICENSE",
        author,
        "manifest.json",
        "replay-lab-1.0.0.zip",
        "source/plan.json",
        "source/a.zip",
    )
    files = tuple(PublishedFile(path=path, size=1, digest=DIGEST) for path in paths)
    page = front_page(published(files=files)).decode("utf-8")
    assert "Begin with the report. To verify it, download the package and give it to" in page
    told = re.findall(r'"\./([^"]*)">[^<]*</a>(?:<span class="what">: ([^<]*)</span>)?<div', page)
    assert dict(told) == {
        "LICENSE": "what you may do with it",
        author: "what its author says of it, in their own words",
        "manifest.json": "every entry of the package with size and digest; its SHA-256 is the "
        "package digest",
        "replay-lab-1.0.0.zip": "the package, in one file",
        "source/plan.json": "",
        "source/a.zip": "",
    }
