"""Whose word a package has, and what ``sign`` wrote, as text for a terminal."""

from __future__ import annotations

import shlex

from repropack._present.claims import held_line
from repropack._present.escape import escape_text
from repropack._present.layout import ended, field, join_names, listing, plural, wrap
from repropack.models.signatures import PackageSignatures, SignatureFinding, SignReport

_NOT_SIGNED = {
    "none": "nobody: no statement lies beside it",
    "of-another-package": "nobody: the statement beside it is not about this package",
    "not-readable": "nobody: the statement beside it cannot be used",
}
_STANDINGS = {
    "not-accepted": "valid, and not accepted by the list of signers",
    "unknown": "valid, by a key that is not in the list of signers",
    "unvouched": "valid, by a key of which nothing is known",
    "not-valid": "not valid",
}
_MEANING = (
    "A signature says whose key signed this very package. It does not say that the package is "
    "right, or that anybody ran it."
)
_RECORD_MEANING = (
    "A signature says whose key signed this record. That what it says took place is the signer's "
    "word."
)


def signature_lines(found: PackageSignatures | None) -> list[str]:
    """What signature files beside a package say of it.

    Args:
        found: What was found; ``None`` where nobody asked.

    Returns:
        Lines, beginning with who signed.
    """
    if found is None:
        return []
    lines = _who(found)
    if found.archive == "another":
        lines += field("zip", "another file than the one that was signed, with the same entries")
    others = [one for one in found.signatures if one.standing != "known"]
    if others:
        lines += ["", "signature files that count for nothing:"]
        lines += listing(list(map(finding_text, others)))
    return lines


def missing_lines(found: PackageSignatures | None) -> list[str]:
    """Required signers that did not sign; no line where there are none."""
    if found is None or not found.missing:
        return []
    return wrap(f"Not signed by whom it has to be: {join_names(found.missing)}.")


def finding_text(found: SignatureFinding) -> str:
    """One signature file in words, escaped."""
    text = f"{escape_text(found.file)}: "
    if found.standing == "known":
        return text + f"valid, {join_names(found.names)}"
    text += _STANDINGS[found.standing]
    if found.key is not None:
        text += f" ({found.key})"
    return text if found.problem is None else f"{text}: {escape_text(found.problem)}"


def sign_text(report: SignReport) -> str:
    """What ``sign`` wrote, for people.

    Returns:
        The text; ends in a newline, after the command that verifies or makes the signature.
    """
    verdict = "stated" if report.signature is None else "signed"
    lines = wrap(escape_text(report.path), first=f"{verdict}  ")
    lines += [*held_line(report.claims), ""]
    lines += field("statement", escape_text(report.statement))
    if report.signature is not None:
        before = " (this key had signed already; nothing was written)" if report.already else ""
        lines += field("signature", escape_text(report.signature) + before)
        lines += field("key", report.key or "")
    if report.removed:
        count = plural(len(report.removed), "signature")
        gone = ", ".join(map(escape_text, report.removed))
        told = f"{count} of the statement that was there before: {gone}"
        if report.signature in report.removed:
            whose = "its name" if len(report.removed) == 1 else "the name of the first"
            told += f" (the new one has {whose})"
        lines += field("taken away", told)
    if report.package_digest is not None:
        lines += field("package digest", report.package_digest)
    if report.archive_digest is not None:
        lines += field("zip digest", report.archive_digest)
    lines += ["", *wrap(_MEANING if report.kind == "package" else _RECORD_MEANING)]
    return ended([*lines, *_command(report)])


def _who(found: PackageSignatures) -> list[str]:
    if found.statement != "of-this-package":
        problem = "" if found.problem is None else f": {escape_text(found.problem)}"
        return field("signed by", _NOT_SIGNED[found.statement] + problem)
    if not found.signers:
        return field("signed by", "nobody that the list of signers vouches for")
    return [
        line
        for signer in found.signers
        for line in field("signed by", f"{join_names(signer.names)} ({signer.key})")
    ]


def _command(report: SignReport) -> list[str]:
    """The command that does the same, or the rest, without repropack."""
    statement = shlex.quote(escape_text(report.statement))
    if report.signature is None:
        return [
            "Sign it where the key is, then put the signature beside the statement:",
            f"  ssh-keygen -Y sign -f KEY -n {report.namespace} {statement}",
        ]
    signature = shlex.quote(escape_text(report.signature))
    return [
        "Verify it without repropack:",
        f"  ssh-keygen -Y verify -f SIGNERS -I NAME -n {report.namespace} \\",
        f"    -s {signature} < {statement}",
    ]
