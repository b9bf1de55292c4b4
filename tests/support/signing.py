"""Keys made for one test run, and what signs with them without repropack."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from repropack._format.statements import PACKAGE_NAMESPACE

MISSING = "needs ssh-keygen, which is not installed"


def make_key(folder: Path, name: str, kind: str = "ed25519", *options: str) -> Path:
    """A new key without a passphrase; its public one beside it ends in ``.pub``."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip(MISSING)
    key = folder / name
    command = ["ssh-keygen", "-q", "-t", kind, *options, "-N", "", "-C", name, "-f", str(key)]
    subprocess.run(command, check=True)
    return key


def public_key(key: Path) -> str:
    """Kind and base64 of a public key, as they stand in a list of signers."""
    return " ".join(key.with_name(f"{key.name}.pub").read_text().split()[:2])


def list_of(path: Path, *rows: tuple[str, Path]) -> Path:
    """A list of signers: principals, with options after a blank, and the key of each line."""
    path.write_text("".join(f"{names} {public_key(key)}\n" for names, key in rows))
    return path


def sign_alone(key: Path, file: Path, namespace: str = PACKAGE_NAMESPACE) -> Path:
    """What ``ssh-keygen`` alone writes beside a file; replaces a signature that is there."""
    signature = file.with_name(f"{file.name}.sig")
    signature.unlink(missing_ok=True)
    command = ["ssh-keygen", "-q", "-Y", "sign", "-f", str(key), "-n", namespace, str(file)]
    subprocess.run(command, check=True)
    return signature


def verify_alone(
    signers: Path, name: str, file: Path, signature: Path, namespace: str = PACKAGE_NAMESPACE
) -> bool:
    """What ``ssh-keygen`` alone says of a signature."""
    command = ["ssh-keygen", "-Y", "verify", "-f", str(signers), "-I", name, "-n", namespace]
    with file.open("rb") as message:
        done = subprocess.run(
            [*command, "-s", str(signature)], stdin=message, capture_output=True, check=False
        )
    return done.returncode == 0
