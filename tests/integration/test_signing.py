"""Who signed a package: with keys, agents and lists, and every lie that was thought of."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from repropack import check_package, sign_package
from repropack._cli.main import main
from repropack._format.canonical import encode_canonical
from repropack._format.statements import RECORD_NAMESPACE
from repropack.errors import CouldNotRunError, IntegrityError, UsageError
from repropack.models.signatures import PackageSignatures
from tests.support.records import record
from tests.support.signing import list_of, make_key, public_key, sign_alone, verify_alone


@dataclass(frozen=True)
class Keys:
    """Keys of people; ``folder`` holds them."""

    folder: Path
    ann: Path
    bob: Path
    eve: Path


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    folder = tmp_path_factory.mktemp("keys")
    return Keys(folder, *(make_key(folder, name) for name in ("ann", "bob", "eve")))


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory, lab_package: Path, keys: Keys) -> Path:
    """The lab, signed by Ann; copy it, never write to it."""
    package = tmp_path_factory.mktemp("signed") / "lab.zip"
    shutil.copyfile(lab_package, package)
    sign_package(package, key=keys.ann)
    return package


@pytest.fixture
def lab(tmp_path: Path, signed: Path) -> Path:
    """A copy of the signed lab with its statement and signature."""
    for place in signed.parent.iterdir():
        shutil.copyfile(place, tmp_path / place.name)
    return tmp_path / "lab.zip"


@pytest.fixture
def signers(tmp_path: Path, keys: Keys) -> Path:
    return list_of(tmp_path / "signers", ("ann@x.org", keys.ann), ("bob@x.org", keys.bob))


def look(
    package: Path, signers: Path, *required: str, revoked: Path | None = None
) -> PackageSignatures:
    report = check_package(
        package, fast=True, signers=signers, revoked=revoked, require_signers=required
    )
    assert report.verdict == "intact"
    assert report.signatures is not None
    return report.signatures


def statement_of(lab: Path) -> Path:
    return lab.with_name("lab.zip.intoto.json")


def signature_of(lab: Path) -> Path:
    return lab.with_name("lab.zip.intoto.json.sig")


# ---------------------------------------------------------------- what is signed, and by whom


def test_a_signer_is_named(lab: Path, signers: Path, keys: Keys) -> None:
    """With the key; the zip is the very file; stock ssh-keygen agrees."""
    signatures = look(lab, signers, "ann@x.org")
    assert signatures.statement == "of-this-package"
    assert signatures.archive == "equal"
    assert [signer.names for signer in signatures.signers] == [("ann@x.org",)]
    assert signatures.missing == ()
    assert verify_alone(signers, "ann@x.org", statement_of(lab), signature_of(lab))
    listed = subprocess.run(
        ["ssh-keygen", "-lf", str(keys.ann)], capture_output=True, text=True, check=True
    )
    assert signatures.signers[0].key in listed.stdout


@pytest.mark.parametrize(
    ("kind", "options"), [("ed25519", ()), ("ecdsa", ("-b", "256")), ("rsa", ("-b", "2048"))]
)
def test_what_ssh_keygen_alone_signs_verifies_here(
    lab: Path, tmp_path: Path, kind: str, options: tuple[str, ...]
) -> None:
    """And the other way round, with keys of each kind that can be made without hardware."""
    key = make_key(tmp_path, "key", kind, *options)
    signers = list_of(tmp_path / "signers", ("carl", key))
    sign_alone(key, statement_of(lab))
    assert look(lab, signers, "carl").missing == ()
    signature_of(lab).unlink()
    report = sign_package(lab, key=key)
    assert report.signature is not None
    assert verify_alone(signers, "carl", statement_of(lab), Path(report.signature))


def test_a_statement_can_be_signed_elsewhere(tmp_path: Path, lab: Path, signers: Path) -> None:
    """Without a key the statement alone is written, the same bytes as with one."""
    before = statement_of(lab).read_bytes()
    statement_of(lab).unlink()
    signature_of(lab).unlink()
    report = sign_package(lab)
    assert (report.signature, report.key) == (None, None)
    assert statement_of(lab).read_bytes() == before
    assert look(lab, signers, "ann@x.org").missing == ("ann@x.org",)


@pytest.fixture
def agent(tmp_path: Path, keys: Keys, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An agent that holds Bob's key, and a copy of his public key without the private one."""
    if shutil.which("ssh-agent") is None:
        pytest.skip("needs ssh-agent, which is not installed")
    socket = tmp_path / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL)
    try:
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        for _ in range(1000):
            if socket.exists():
                break
            os.sched_yield()
            subprocess.run(["sleep", "0.01"], check=True)
        subprocess.run(["ssh-add", "-q", str(keys.bob)], check=True, stderr=subprocess.DEVNULL)
        public = tmp_path / "bob-alone.pub"
        shutil.copyfile(f"{keys.bob}.pub", public)
        yield public
    finally:
        process.terminate()
        process.wait()


def test_an_agent_signs(lab: Path, signers: Path, agent: Path) -> None:
    """A public key is enough where its private one is with an agent."""
    report = sign_package(lab, key=agent)
    assert report.signature is not None
    assert report.signature.endswith("lab.zip.intoto.json.2.sig")
    signatures = look(lab, signers, "ann@x.org", "bob@x.org")
    assert [signer.names for signer in signatures.signers] == [("ann@x.org",), ("bob@x.org",)]
    assert signatures.missing == ()


def test_a_locked_key_does_not_sign(
    lab: Path, keys: Keys, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nobody can be asked: status 4, and nothing new beside the package."""
    public = lab.with_name("lonely.pub")
    shutil.copyfile(f"{keys.eve}.pub", public)
    before = sorted(place.name for place in lab.parent.iterdir())
    with pytest.raises(CouldNotRunError, match="ssh-keygen did not sign"):
        sign_package(lab, key=public)
    assert sorted(place.name for place in lab.parent.iterdir()) == before
    assert capfd.readouterr().err


def test_the_same_signer_twice_is_one(lab: Path, signers: Path, keys: Keys) -> None:
    """He signs once; a copy of his signature, or another one by his key, counts for nothing."""
    report = sign_package(lab, key=keys.ann)
    assert report.already
    assert len(list(lab.parent.glob("*.sig"))) == 1
    shutil.copyfile(signature_of(lab), lab.with_name("lab.zip.intoto.json.7.sig"))
    signatures = look(lab, signers)
    assert [row.standing for row in signatures.signatures] == ["known", "known"]
    assert len(signatures.signers) == 1


def test_a_key_under_two_names_counts_once(lab: Path, tmp_path: Path, keys: Keys) -> None:
    """And both names are shown."""
    rows = (("ann@x.org", keys.ann), ("a.other@x.org", keys.ann), ("*@lab.org", keys.ann))
    signatures = look(lab, list_of(tmp_path / "s", *rows), "carl@lab.org")
    (signer,) = signatures.signers
    assert signer.names == ("ann@x.org", "a.other@x.org", "*@lab.org", "carl@lab.org")


def test_a_certificate_of_an_authority_signs(lab: Path, tmp_path: Path, keys: Keys) -> None:
    """A list may name an authority; the principals are those of the certificate."""
    work = tmp_path / "certificates"
    work.mkdir()
    for suffix in ("", ".pub"):
        shutil.copyfile(f"{keys.bob}{suffix}", work / f"carl{suffix}")
    (work / "carl").chmod(0o600)
    command = ["ssh-keygen", "-q", "-s", str(keys.eve), "-I", "1", "-n", "carl@x.org"]
    subprocess.run([*command, str(work / "carl.pub")], check=True)
    signature_of(lab).unlink()
    signers = list_of(tmp_path / "s", ("*@x.org cert-authority", keys.eve))
    (work / "carl-cert.pub").rename(work / "both.pub")
    shutil.copyfile(work / "carl", work / "both")
    (work / "both").chmod(0o600)
    sign_alone(work / "both", statement_of(lab))
    armored = signature_of(lab).read_bytes().split(b"\n")[1:-2]
    assert b"ssh-ed25519-cert-v01@openssh.com" in base64.b64decode(b"".join(armored))
    assert look(lab, signers, "carl@x.org").missing == ()


# ---------------------------------------------------------------- attacks


Attack = Callable[[Path, Keys, Path], object]


def strip(lab: Path, keys: Keys, signers: Path) -> None:
    """The signature is taken away."""
    signature_of(lab).unlink()


def strip_all(lab: Path, keys: Keys, signers: Path) -> None:
    """The statement as well."""
    signature_of(lab).unlink()
    statement_of(lab).unlink()


def unlisted(lab: Path, keys: Keys, signers: Path) -> None:
    """A stranger signs."""
    sign_alone(keys.eve, statement_of(lab))


def other_namespace(lab: Path, keys: Keys, signers: Path) -> None:
    """Ann signed these bytes as a file, and not as a package."""
    sign_alone(keys.ann, statement_of(lab), "file")


def record_namespace(lab: Path, keys: Keys, signers: Path) -> None:
    """Ann signed these bytes as a record."""
    sign_alone(keys.ann, statement_of(lab), RECORD_NAMESPACE)


def of_something_else(lab: Path, keys: Keys, signers: Path) -> None:
    """Ann signed another file."""
    other = lab.with_name("other")
    other.write_bytes(b"other\n")
    sign_alone(keys.ann, other).rename(signature_of(lab))


def edit(lab: Path, keys: Keys, signers: Path) -> None:
    """The statement says another version now."""
    text = statement_of(lab).read_text()
    statement_of(lab).write_text(text.replace('"version":"1.0.0"', '"version":"1.0.1"'))


def respell(lab: Path, keys: Keys, signers: Path) -> None:
    """The same values in another spelling, signed by Ann."""
    value = json.loads(statement_of(lab).read_text())
    statement_of(lab).write_text(json.dumps(value, indent=1))
    sign_alone(keys.ann, statement_of(lab))


def add_subject(lab: Path, keys: Keys, signers: Path) -> None:
    """One subject more, signed by Ann."""
    value = json.loads(statement_of(lab).read_text())
    value["subject"].append({"name": "package.zip", "digest": {"sha256": "0" * 64}})
    statement_of(lab).write_bytes(encode_canonical(value))
    sign_alone(keys.ann, statement_of(lab))


def rename_subject(lab: Path, keys: Keys, signers: Path) -> None:
    """The subject is called after the file, signed by Ann."""
    value = json.loads(statement_of(lab).read_text())
    value["subject"][0]["name"] = "lab.zip"
    statement_of(lab).write_bytes(encode_canonical(value))
    sign_alone(keys.ann, statement_of(lab))


def two_manifests(lab: Path, keys: Keys, signers: Path) -> None:
    """This package's manifest is the second of two, signed by Ann."""
    value = json.loads(statement_of(lab).read_text())
    value["subject"][0]["name"] = "manifest.json"
    statement_of(lab).write_bytes(encode_canonical(value))
    sign_alone(keys.ann, statement_of(lab))


def older(lab: Path, keys: Keys, signers: Path) -> None:
    """Ann signed an older version under this name, and all of that lies here."""
    value = json.loads(statement_of(lab).read_text())
    value["predicate"]["version"] = "0.9.0"
    value["subject"][1]["digest"]["sha256"] = "1" * 64
    statement_of(lab).write_bytes(encode_canonical(value))
    sign_alone(keys.ann, statement_of(lab))


def older_signature(lab: Path, keys: Keys, signers: Path) -> None:
    """The statement is this package's, the signature that of the older version."""
    mine = statement_of(lab).read_bytes()
    older(lab, keys, signers)
    statement_of(lab).write_bytes(mine)


def more(lab: Path, keys: Keys, signers: Path) -> None:
    """Something stands behind the signature."""
    with signature_of(lab).open("ab") as stream:
        stream.write(b"and more\n")


def as_authority(lab: Path, keys: Keys, signers: Path) -> None:
    """Ann's key may sign the keys of others, and nothing itself."""
    list_of(signers, ("ann@x.org cert-authority", keys.ann))


def swap(lab: Path, keys: Keys, signers: Path) -> None:
    """Statement and signature are those of another package."""
    value = json.loads(statement_of(lab).read_text())
    value["subject"][1]["digest"]["sha256"] = "0" * 64
    statement_of(lab).write_bytes(encode_canonical(value))
    sign_alone(keys.ann, statement_of(lab))


def replay(lab: Path, keys: Keys, signers: Path) -> None:
    """The package is another now, and its statement was made anew; the signature is the old one."""
    old = signature_of(lab).read_bytes()
    swap(lab, keys, signers)
    sign_package(lab, force=True)
    signature_of(lab).write_bytes(old.replace(b"A", b"B", 1))


def huge(lab: Path, keys: Keys, signers: Path) -> None:
    """The signature is followed by a gigabyte of nothing."""
    with signature_of(lab).open("ab") as stream:
        stream.truncate(1 << 30)


def huge_statement(lab: Path, keys: Keys, signers: Path) -> None:
    """So is the statement."""
    with statement_of(lab).open("ab") as stream:
        stream.truncate(1 << 30)


def pipe(lab: Path, keys: Keys, signers: Path) -> None:
    """The signature is a pipe that nobody writes to."""
    signature_of(lab).unlink()
    os.mkfifo(signature_of(lab))


def dangling(lab: Path, keys: Keys, signers: Path) -> None:
    """The statement is a link to nothing."""
    statement_of(lab).unlink()
    statement_of(lab).symlink_to("nothing")


def expired(lab: Path, keys: Keys, signers: Path) -> None:
    """Ann's key was for use before this year."""
    list_of(signers, ('ann@x.org valid-before="20200101Z"', keys.ann))


def not_yet(lab: Path, keys: Keys, signers: Path) -> None:
    """Ann's key is for use later."""
    list_of(signers, ('ann@x.org valid-after="20990101Z"', keys.ann))


def for_files(lab: Path, keys: Keys, signers: Path) -> None:
    """Ann's key is for another use."""
    list_of(signers, ('ann@x.org namespaces="file,git"', keys.ann))


def ruled_out(lab: Path, keys: Keys, signers: Path) -> None:
    """Ann's key is for everybody but her."""
    list_of(signers, ("*@y.org,!ann@x.org", keys.eve))


def other_key(lab: Path, keys: Keys, signers: Path) -> None:
    """Under Ann's name stands Bob's key."""
    list_of(signers, ("ann@x.org", keys.bob))


@pytest.mark.parametrize(
    ("attack", "statement", "standings"),
    [
        (strip, "of-this-package", []),
        (strip_all, "none", []),
        (unlisted, "of-this-package", ["unknown"]),
        (other_namespace, "of-this-package", ["not-valid"]),
        (record_namespace, "of-this-package", ["not-valid"]),
        (of_something_else, "of-this-package", ["not-valid"]),
        (edit, "of-another-package", []),
        (respell, "not-readable", []),
        (add_subject, "not-readable", []),
        (rename_subject, "not-readable", []),
        (two_manifests, "not-readable", []),
        (older, "of-another-package", []),
        (older_signature, "of-this-package", ["not-valid"]),
        (more, "of-this-package", ["not-valid"]),
        (as_authority, "of-this-package", ["not-accepted"]),
        (swap, "of-another-package", []),
        (replay, "of-this-package", ["not-valid"]),
        (huge, "of-this-package", ["not-valid"]),
        (huge_statement, "not-readable", []),
        (pipe, "of-this-package", ["not-valid"]),
        (dangling, "not-readable", []),
        (expired, "of-this-package", ["not-accepted"]),
        (not_yet, "of-this-package", ["not-accepted"]),
        (for_files, "of-this-package", ["not-accepted"]),
        (ruled_out, "of-this-package", ["unknown"]),
        (other_key, "of-this-package", ["unknown"]),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_an_attack_leaves_nobody_who_signed(
    lab: Path, keys: Keys, signers: Path, attack: Attack, statement: str, standings: list[str]
) -> None:
    """The required signer is missing, and the finding says why."""
    attack(lab, keys, signers)
    signatures = look(lab, signers, "ann@x.org")
    assert signatures.statement == statement
    assert [row.standing for row in signatures.signatures] == standings
    assert signatures.signers == ()
    assert signatures.missing == ("ann@x.org",)
    assert statement in {"of-this-package", "none"} or signatures.problem


def test_reasons_are_those_of_ssh_keygen(lab: Path, keys: Keys, signers: Path) -> None:
    """With the line of the list, and without any path of ours."""
    expired(lab, keys, signers)
    (row,) = look(lab, signers).signatures
    assert str(row.problem).startswith("line 1: key has expired: verify time ")
    for_files(lab, keys, signers)
    (row,) = look(lab, signers).signatures
    assert row.problem == (
        'line 1: key is not permitted for use in signature namespace "repropack-package@v1"'
    )


def test_a_name_that_the_list_excludes_is_nobodys(lab: Path, keys: Keys, signers: Path) -> None:
    """Neither shown as a signer's nor met as a requirement, though a pattern would fit it."""
    list_of(signers, ("*,!bob@x.org", keys.ann))
    signatures = look(lab, signers, "ann@x.org", "bob@x.org", "!bob@x.org")
    assert [row.names for row in signatures.signers] == [("*", "ann@x.org")]
    assert signatures.missing == ("bob@x.org", "!bob@x.org")


def test_a_list_of_very_many_names_is_refused_at_once(
    lab: Path, keys: Keys, signers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is started for any of them; the line is named."""
    list_of(signers, (",".join(f"n{k}" for k in range(2000)), keys.ann))
    assert main(["check", str(lab), "--fast", "--signers", str(signers)]) == 2
    assert "line 1: expected at most 64 names for one key, observed more" in capsys.readouterr().err
    required = [word for k in range(65) for word in ("--require-signer", f"n{k}")]
    list_of(signers, ("ann@x.org", keys.ann))
    assert main(["check", str(lab), "--fast", "--signers", str(signers), *required]) == 2
    assert "at most 64 required signers, observed 65" in capsys.readouterr().err


def test_a_certificate_of_very_many_names_counts_for_nothing(
    lab: Path, keys: Keys, signers: Path, tmp_path: Path
) -> None:
    """Each name would be asked of ssh-keygen; the finding says how many there are."""
    key = make_key(tmp_path, "key")
    names = ",".join(f"n{k}@x.org" for k in range(65))
    certify = ["ssh-keygen", "-q", "-s", str(keys.ann), "-I", "id", "-n", names, f"{key}.pub"]
    subprocess.run(certify, check=True)
    sign_alone(tmp_path / "key-cert.pub", statement_of(lab))
    list_of(signers, ("*@x.org cert-authority", keys.ann))
    (row,) = look(lab, signers, "n1@x.org").signatures
    assert (row.standing, row.problem) == (
        "not-accepted",
        "expected at most 64 names, observed 65",
    )


def test_options_of_a_list_are_kept(lab: Path, keys: Keys, signers: Path) -> None:
    """A key for this use, and now, is accepted."""
    options = 'namespaces="repropack-*",valid-after="20200101Z",valid-before="20990101Z"'
    list_of(signers, (f"ann@x.org {options}", keys.ann))
    assert look(lab, signers, "ann@x.org").missing == ()


def test_a_revoked_key_is_not_accepted(
    lab: Path, tmp_path: Path, keys: Keys, signers: Path
) -> None:
    """Whether it stands in a list of keys or in a KRL."""
    plain = tmp_path / "revoked"
    plain.write_text(public_key(keys.ann) + "\n")
    krl = tmp_path / "krl"
    command = ["ssh-keygen", "-q", "-k", "-f", str(krl), f"{keys.ann}.pub"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    for revoked in (plain, krl):
        signatures = look(lab, signers, "ann@x.org", revoked=revoked)
        assert signatures.missing == ("ann@x.org",)
        assert [row.standing for row in signatures.signatures] == ["not-accepted"]


def test_a_package_that_was_zipped_anew_is_signed_and_said_to_be_another_file(
    lab: Path, signers: Path
) -> None:
    """Its manifest, and with it every entry, is what was signed."""
    from repropack._format.archive_writer import ArchiveWriter
    from repropack._read.container import open_container

    again = lab.with_name("again.zip")
    with open_container(lab) as container, again.open("wb") as stream:
        writer = ArchiveWriter(stream)
        for path in container.paths:
            content = container.open(path).read()
            writer.add(path, content, executable=container.executable(path), deflate=True)
        writer.finish()
    again.replace(lab)
    signatures = look(lab, signers, "ann@x.org")
    assert (signatures.archive, signatures.missing) == ("another", ())


# ---------------------------------------------------------------- the verbs


def test_the_verbs_and_their_statuses(
    lab: Path, signers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A requirement that is not met is 1; wrong use is 2; without a requirement it only tells."""
    check = ["check", str(lab), "--fast"]
    assert main([*check, "--signers", str(signers), "--require-signer", "ann@x.org"]) == 0
    assert "\nsigned by         ann@x.org (SHA256:" in capsys.readouterr().out
    assert main([*check, "--signers", str(signers), "--require-signer", "bob@x.org"]) == 1
    assert "\nNot signed by whom it has to be: bob@x.org.\n" in capsys.readouterr().out
    strip_all(lab, None, signers)  # type: ignore[arg-type]
    assert main([*check, "--signers", str(signers)]) == 0
    assert "\nsigned by         nobody: no statement lies beside it\n" in capsys.readouterr().out
    assert main([*check, "--require-signer", "ann@x.org"]) == 2
    assert main([*check, "--signers", str(tmp_path / "none")]) == 2
    assert main(["sign", str(lab), "--key", str(tmp_path / "none")]) == 2
    assert main(["sign", str(signers)]) == 3
    captured = capsys.readouterr()
    assert "none: expected a list of signers, observed 'No such file or directory'" in captured.err


def test_a_damaged_package_is_damaged_whoever_signed_it(
    lab: Path, signers: Path, keys: Keys
) -> None:
    """Nothing is said of signatures then, and it is not signed."""
    data = bytearray(lab.read_bytes())
    data[len(data) // 2] ^= 1
    lab.write_bytes(data)
    assert main(["check", str(lab), "--signers", str(signers), "--require-signer", "x"]) == 3
    with pytest.raises(IntegrityError):
        sign_package(lab, key=keys.ann)


def test_without_ssh_keygen_there_is_no_answer(
    lab: Path,
    signers: Path,
    keys: Keys,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Status 4, with what to install; nothing is taken for a signature."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["check", str(lab), "--fast", "--signers", str(signers)]) == 4
    assert "install OpenSSH" in capsys.readouterr().err
    assert main(["sign", str(lab), "--key", str(keys.ann)]) == 4


def test_nothing_but_a_statement_is_ever_replaced(lab: Path, keys: Keys, tmp_path: Path) -> None:
    """A statement of another package with --force, other files never, nothing within a package."""
    other = tmp_path / "notes"
    other.write_text("{}")
    with pytest.raises(UsageError, match="observed something else"):
        sign_package(lab, output=other, force=True)
    swap(lab, keys, other)
    with pytest.raises(UsageError, match="the statement about this very package"):
        sign_package(lab, key=keys.ann)
    sign_package(lab, force=True)
    folder = tmp_path / "folder"
    main(["unpack", str(lab), str(folder)])
    with pytest.raises(UsageError, match="outside the package, observed one inside"):
        sign_package(folder, output=folder / "a.json")
    report = sign_package(folder, key=keys.ann)
    assert (report.archive_digest, report.statement) == (None, f"{folder}.intoto.json")


def test_signatures_of_the_statement_that_was_there_go_with_it(lab: Path, keys: Keys) -> None:
    """After the new one stands; nothing else goes, and nothing where it cannot be written."""
    swap(lab, keys, lab)
    base = statement_of(lab).name
    shutil.copyfile(signature_of(lab), lab.with_name(f"{base}.9.sig"))
    lab.with_name(f"{base}.notes.sig").write_text("mine")
    before = {place.name: place.read_bytes() for place in lab.parent.iterdir()}

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("repropack.sign.replace_document", full)
        with pytest.raises(CouldNotRunError, match="No space left"):
            sign_package(lab, key=keys.ann, force=True)
    assert {place.name: place.read_bytes() for place in lab.parent.iterdir()} == before
    report = sign_package(lab, key=keys.bob, force=True)
    gone = [f"{statement_of(lab)}{label}" for label in (".sig", ".9.sig")]
    assert (report.signature, list(report.removed)) == (gone[0], gone)
    assert {place.name for place in lab.parent.glob("*.sig")} == {
        f"{base}.sig",
        f"{base}.notes.sig",
    }
    signers = list_of(lab.with_name("list"), ("bob", keys.bob))
    assert verify_alone(signers, "bob", statement_of(lab), signature_of(lab))
    assert sign_package(lab, key=keys.bob, force=True).removed == ()


def test_a_public_key_is_no_list_of_signers(
    lab: Path, keys: Keys, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line to write is shown; it is one."""
    assert main(["check", str(lab), "--fast", "--signers", f"{keys.ann}.pub"]) == 2
    told = capsys.readouterr().err
    assert "ann.pub: line 1: expected a name in front of the key" in told
    line = f"NAME {public_key(keys.ann)}"
    assert f"\nhint: the line to write: {line}\n" in told
    signers = lab.with_name("signers")
    signers.write_text(f"{line}\n")
    assert look(lab, signers, "NAME").missing == ()


def test_a_record_is_signed_as_it_is(tmp_path: Path, keys: Keys) -> None:
    """In a namespace of its own; its signature lies beside it."""
    place = tmp_path / "record.json"
    place.write_bytes(record())
    report = sign_package(place, key=keys.ann)
    assert (report.kind, report.signature) == ("record", f"{place}.sig")
    signers = list_of(tmp_path / "signers", ("ann", keys.ann))
    signature = tmp_path / "record.json.sig"
    assert verify_alone(signers, "ann", place, signature, RECORD_NAMESPACE)
    assert not verify_alone(signers, "ann", place, signature)
    with pytest.raises(UsageError, match="expected --key"):
        sign_package(place)
    place.write_bytes(record().replace(b'"identical"', b'"differs"'))
    with pytest.raises(UsageError, match="properties that follow"):
        sign_package(place, key=keys.ann)


def test_nobody_waits_for_a_pipe(
    tmp_path: Path, keys: Keys, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is to be signed, its key and the list are regular files, or refused by their kind."""
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    place = tmp_path / "record.json"
    place.write_bytes(record())
    for line in (["sign", pipe, "--key", str(keys.ann)], ["sign", str(place), "--key", pipe]):
        assert main(line) == 2
        assert "observed a fifo" in capsys.readouterr().err


def test_hostile_names_reach_a_terminal_as_escapes(
    lab: Path, tmp_path: Path, keys: Keys, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names of a list may hold anything but what ends a line."""
    signers = tmp_path / "signers"
    hostile = b"\x1b[2Jann\xe2\x80\xae\xff"
    signers.write_bytes(b'"' + hostile + b'" ' + public_key(keys.ann).encode() + b"\n")
    assert main(["check", str(lab), "--fast", "--signers", str(signers)]) == 0
    told = capsys.readouterr().out
    assert "\\x1b[2Jann\\u202e" in told
    assert "\x1b" not in told
    arguments = ["check", str(lab), "--fast", "--signers", str(signers), "--format", "json"]
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["signatures"]["signers"]
