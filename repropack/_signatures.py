"""Whose word something has: signature files judged by ``ssh-keygen`` and a list of signers.

``ssh-keygen`` is given copies that were read once, under limits, so that what was judged is what is
said to be signed. Trust comes from the list alone, which the reader brings; never from the package.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from repropack._compare.certificates import count_signers
from repropack._format.paths import shown_path
from repropack._format.sshsig import (
    MAX_NAMES,
    MAX_SIGNATURE_BYTES,
    MAX_SIGNERS_BYTES,
    check_signer_list,
    is_name,
    key_without_name,
    names_listed,
    read_signature,
)
from repropack._format.statements import (
    MAX_STATEMENT_BYTES,
    PACKAGE_NAMESPACE,
    archive_signed,
    read_statement,
    subject_digest,
)
from repropack._read.beside import read_beside, read_unnamed, signature_files, statement_place
from repropack._read.package import Package
from repropack._run.folders import new_folder, remove_tree
from repropack._run.ssh_keygen import Starts, fingerprint_of, names_found, refusal_by_list
from repropack.errors import UsageError
from repropack.models.signatures import PackageSignatures, SignatureFinding
from repropack.models.statements import StatementOfPackage


@dataclass(frozen=True)
class SignerList:
    """A list of signers as ssh-keygen(1) describes it, and keys that are revoked."""

    signers: bytes
    revoked: bytes | None = None


def read_signer_list(signers: str | Path, revoked: str | Path | None = None) -> SignerList:
    """Read a list of signers.

    Args:
        signers: A file in the form that ssh-keygen(1) describes under "ALLOWED SIGNERS".
        revoked: A list of revoked keys, or a KRL.

    Returns:
        The list.

    Raises:
        UsageError: one of the files cannot be read, or is too large; or the list has more lines,
            longer ones, or more names for one key than are asked for, or a key without a name.
    """
    data = read_beside(Path(signers), "a list of signers", MAX_SIGNERS_BYTES)
    try:
        check_signer_list(data)
    except ValueError as error:
        raise UsageError(f"{shown_path(signers)}: {error}") from error
    bare = key_without_name(data)
    if bare is not None:
        number, key = bare
        raise UsageError(
            f"{shown_path(signers)}: line {number}: expected a name in front of the key, observed "
            f"its type {key.split()[0]!a} there",
            hint=f"the line to write: NAME {key}",
        )
    if revoked is None:
        return SignerList(data)
    return SignerList(data, read_beside(Path(revoked), "a list of revoked keys", MAX_SIGNERS_BYTES))


def judge_signatures(
    statement: bytes,
    namespace: str,
    files: Iterable[Path],
    listed: SignerList | None,
    required: Sequence[str] = (),
    *,
    starts: Starts | None = None,
) -> tuple[SignatureFinding, ...]:
    """Judge signature files of one statement.

    Args:
        statement: The bytes that should be signed.
        namespace: What the signatures should be for.
        files: Signature files.
        listed: The list of signers; without one nobody is known.
        required: Names that are asked for, whether the list spells them out or has a pattern.
        starts: How often ``ssh-keygen`` may still be started, where one answer takes several calls.

    Returns:
        One finding a file, in the order of the files.

    Raises:
        CouldNotRunError: there is no ``ssh-keygen``, it does not end, or is started too often.
    """
    asked = tuple(filter(is_name, required))
    return tuple(
        found
        for _, found in _judged(statement, namespace, files, listed, asked, starts or Starts())
    )


def valid_signatures(
    statement: bytes, namespace: str, files: Iterable[Path]
) -> tuple[dict[Path, bytes], tuple[SignatureFinding, ...]]:
    """Tell signature files that hold of a statement, by whomever, from those that do not.

    Args:
        statement: The bytes that should be signed.
        namespace: What the signatures should be for.
        files: Signature files.

    Returns:
        Those that hold, with the bytes that were judged; and what was found of the others.

    Raises:
        CouldNotRunError: as ``judge_signatures`` raises.
    """
    places = tuple(files)
    rows = _judged(statement, namespace, places, None, (), Starts())
    held = {
        place: data
        for place, (data, found) in zip(places, rows, strict=True)
        if found.standing != "not-valid"
    }
    return held, tuple(found for _, found in rows if found.standing == "not-valid")


def keys_beside(package: Package, starts: Starts) -> frozenset[str]:
    """Fingerprints of the keys whose signatures beside a package hold, whoever they are.

    Args:
        package: An open package, which was checked.
        starts: How often ``ssh-keygen`` may still be started.

    Returns:
        They; none where no statement about this package lies there.

    Raises:
        CouldNotRunError: as ``judge_signatures`` raises.
    """
    place = statement_place(package.path)
    try:
        data = read_unnamed(place, "a statement", MAX_STATEMENT_BYTES)
    except ValueError:
        return frozenset()
    facts = (package.manifest.package, package.package_digest, package.evidence_digest)
    if not archive_signed(data, *facts)[0]:
        return frozenset()
    files = signature_files(place)
    found = judge_signatures(data, PACKAGE_NAMESPACE, files, None, starts=starts)
    return frozenset(one.key for one in found if one.key and one.standing != "not-valid")


def _judged(
    statement: bytes,
    namespace: str,
    files: Iterable[Path],
    listed: SignerList | None,
    asked: tuple[str, ...],
    starts: Starts,
) -> list[tuple[bytes, SignatureFinding]]:
    """Each file as it was read, once, and what was found of it."""
    places = tuple(files)
    if not places:
        return []
    folder = new_folder("repropack-signatures-")
    try:
        signed = folder / "statement"
        signed.write_bytes(statement)
        judge = _Judge(folder, signed, namespace, listed, asked, starts)
        return list(map(judge.judge, places))
    finally:
        remove_tree(folder)


def signatures_beside(
    package: Package, listed: SignerList, required: Sequence[str] = ()
) -> PackageSignatures:
    """What the signature files beside a package say of it.

    Args:
        package: An open package, which was checked.
        listed: The list of signers.
        required: Names that must have signed.

    Returns:
        What was found; a signature counts only where it is one of this package.

    Raises:
        UsageError: more names are required than are asked for.
        PackageFormatError: the zip changed while it was read.
        CouldNotRunError: there is no ``ssh-keygen``, it does not end, or is started too often.
    """
    if len(required) > MAX_NAMES:
        raise UsageError(f"expected at most {MAX_NAMES} required signers, observed {len(required)}")
    place = statement_place(package.path)
    asked = tuple(map(_storable, required))
    nobody = PackageSignatures(statement="none", required=asked, missing=asked)
    if not place.exists() and not place.is_symlink():
        return nobody
    try:
        data = read_unnamed(place, "a statement", MAX_STATEMENT_BYTES)
    except ValueError as error:
        return _unusable(nobody, str(error))
    facts = (package.manifest.package, package.package_digest, package.evidence_digest)
    is_ours, archive = archive_signed(data, *facts)
    if not is_ours:
        return _of_another(data, package.package_digest, nobody)
    findings = judge_signatures(data, PACKAGE_NAMESPACE, signature_files(place), listed, required)
    signers = count_signers(findings)
    named = {name for signer in signers for name in signer.names}
    observed = None if archive is None else package.container.whole_digest()
    return PackageSignatures(
        statement="of-this-package",
        archive="not-signed"
        if archive is None or observed is None
        else ("equal" if archive == observed else "another"),
        signatures=findings,
        signers=signers,
        required=asked,
        missing=tuple(name for name in asked if name not in named),
    )


def _unusable(nobody: PackageSignatures, problem: str) -> PackageSignatures:
    return nobody.model_copy(update={"statement": "not-readable", "problem": problem})


def _of_another(data: bytes, package_digest: str, nobody: PackageSignatures) -> PackageSignatures:
    """Why a statement is not the one about this package."""
    try:
        other = read_statement(StatementOfPackage, data)
    except ValueError as error:
        return _unusable(nobody, str(error))
    observed = subject_digest(other, "manifest.json")
    problem = f"expected package digest {package_digest}, observed {observed}"
    if observed == package_digest:
        problem = (
            "expected what the package's manifest says, observed other facts beside its digest"
        )
    return nobody.model_copy(update={"statement": "of-another-package", "problem": problem})


@dataclass(frozen=True)
class _Judge:
    """One statement in a folder of ours, and what signatures of it are judged by."""

    folder: Path
    signed: Path
    namespace: str
    listed: SignerList | None
    required: tuple[str, ...]
    starts: Starts

    def judge(self, place: Path) -> tuple[bytes, SignatureFinding]:
        """One file; no bytes of one that cannot be read."""
        shown, data = shown_path(place.name), b""
        try:
            data = read_unnamed(place, "a signature", MAX_SIGNATURE_BYTES)
            return data, self._judge_data(shown, data)
        except ValueError as error:
            return data, SignatureFinding(file=shown, standing="not-valid", problem=str(error))

    def _judge_data(self, shown: str, data: bytes) -> SignatureFinding:
        signature = read_signature(data)
        if signature.namespace != self.namespace:
            return SignatureFinding(
                file=shown,
                standing="not-valid",
                problem=f"expected a signature for {self.namespace}, observed one for "
                f"{signature.namespace[:80]!a}",
            )
        copy = self.folder / "signature"
        copy.write_bytes(data)
        self.starts.take()
        key = fingerprint_of(self.signed, copy, self.namespace)
        if key is None:
            return SignatureFinding(
                file=shown,
                standing="not-valid",
                problem="expected a signature of this statement, observed one of something else",
            )
        return self._judge_key(shown, key, copy, signature.key)

    def _judge_key(self, shown: str, key: str, copy: Path, encoded: bytes) -> SignatureFinding:
        """A valid signature: does the list know its key?"""
        if self.listed is None:
            return SignatureFinding(file=shown, standing="unvouched", key=key)
        signers, revoked = self._lists()
        self.starts.take()
        found = filter(is_name, names_found(copy, signers))
        candidates = dict.fromkeys((*names_listed(self.listed.signers, encoded), *found))
        if len(candidates) > MAX_NAMES:  # a certificate may have names of its own
            problem = f"expected at most {MAX_NAMES} names, observed {len(candidates)}"
            return SignatureFinding(file=shown, standing="not-accepted", key=key, problem=problem)
        refusals = {}
        for name in dict.fromkeys((*candidates, *self.required)):
            self.starts.take()
            refusals[name] = refusal_by_list(
                self.signed, copy, self.namespace, signers=signers, revoked=revoked, name=name
            )
        accepted = tuple(map(_storable, (name for name, why in refusals.items() if why is None)))
        if accepted:
            return SignatureFinding(file=shown, standing="known", key=key, names=accepted)
        if not candidates:
            return SignatureFinding(file=shown, standing="unknown", key=key)
        why = next((refusals[name] for name in candidates if refusals.get(name)), None)
        problem = _storable(why or "no reason is known")
        return SignatureFinding(file=shown, standing="not-accepted", key=key, problem=problem)

    def _lists(self) -> tuple[Path, Path | None]:
        """The lists as files that nobody else writes to."""
        assert self.listed is not None  # noqa: S101 - for the type checker
        signers, revoked = self.folder / "signers", self.folder / "revoked"
        signers.write_bytes(self.listed.signers)
        if self.listed.revoked is None:
            return signers, None
        revoked.write_bytes(self.listed.revoked)
        return signers, revoked


def _storable(text: str) -> str:
    """Text that JSON can hold: bytes that are no UTF-8 are shown as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
