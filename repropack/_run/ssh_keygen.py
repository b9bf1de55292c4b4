"""``ssh-keygen``, started to sign or to judge a signature. No private key is ever read here.

It is found on ``PATH``, in absolute folders alone, and never started through a shell. Where it
signs, its questions reach the terminal: for a passphrase, or to touch a hardware key.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from repropack._format.paths import shown_path
from repropack._read.beside import observed_at
from repropack.errors import CouldNotRunError, UsageError

_NAME = "ssh-keygen"
_FINGERPRINT = re.compile(rb" key (SHA256:[A-Za-z0-9+/]{43})\s*\Z")
MAX_SECONDS: Final = 20
"""How long one start that judges may take."""
MAX_SIGNING_SECONDS: Final = 600
"""How long one that signs may take: a passphrase is typed, a hardware key is touched."""
MAX_STARTS: Final = 10_000
"""How often it is started to judge, for one answer."""
_MAX_SAID = 300
_MISSING = "install OpenSSH 8.2 or newer (on Debian and Ubuntu: openssh-client)"


@dataclass
class Starts:
    """How often ``ssh-keygen`` may still be started for one answer."""

    left: int = MAX_STARTS

    def take(self) -> None:
        """Count one start.

        Raises:
            CouldNotRunError: there were as many as there may be.
        """
        if self.left <= 0:
            raise CouldNotRunError(
                f"{_NAME}: expected at most {MAX_STARTS} starts for one answer, observed more",
                hint="give fewer records at a time, or a list with fewer names for a key",
            )
        self.left -= 1


def find_ssh_keygen() -> str:
    """Where ``ssh-keygen`` is.

    Returns:
        Its absolute path.

    Raises:
        CouldNotRunError: it is in none of the folders of ``PATH``; says what to install.
    """
    for folder in os.get_exec_path():
        place = Path(folder, _NAME)
        if place.is_absolute() and place.is_file() and os.access(place, os.X_OK):
            return str(place)
    raise CouldNotRunError(
        f"{_NAME}: expected on PATH, for it makes and verifies signatures, observed none",
        hint=_MISSING,
    )


def sign_file(file: Path, key: Path, namespace: str) -> Path:
    """Have a file signed.

    Args:
        file: What is signed, in a folder of ours.
        key: A private key, or a public key whose private one an agent or a hardware key holds.
        namespace: What the signature is for.

    Returns:
        The signature, beside the file.

    Raises:
        UsageError: there is no such key.
        CouldNotRunError: there is no ``ssh-keygen``, it did not sign, or it did not end. It says
            why on standard error, which is ours as well.
    """
    if not key.is_file():
        raise UsageError(
            f"{shown_path(key)}: expected a key, observed {observed_at(key)}",
            hint="give a private key, or a public key whose private one is with an agent",
        )
    command = [find_ssh_keygen(), "-q", "-Y", "sign", "-f", str(key.absolute())]
    status = _wait([*command, "-n", namespace, str(file)])
    signature = file.with_name(f"{file.name}.sig")
    if status != 0 or not signature.is_file():
        raise CouldNotRunError(
            f"{_NAME} did not sign: status {status}; what it said of it stands above",
            hint="a locked or missing private key has to be unlocked, or be with an agent "
            "(ssh-add -l lists those)",
        )
    return signature


def fingerprint_of(file: Path, signature: Path, namespace: str) -> str | None:
    """Whether a signature is one of these very bytes, in this namespace, by whomever.

    Args:
        file: What should be signed.
        signature: The signature file.
        namespace: What it should be for.

    Returns:
        Fingerprint of the key that signed, ``SHA256:...``; of a certificate, that of its key.
        ``None`` where the signature is not valid.

    Raises:
        CouldNotRunError: there is no ``ssh-keygen``, or it does not end.
    """
    done = _ask(["check-novalidate"], file, signature, namespace)
    found = _FINGERPRINT.search(done.stdout)
    return found[1].decode("ascii") if done.returncode == 0 and found else None


def refusal_by_list(
    file: Path, signature: Path, namespace: str, *, signers: Path, revoked: Path | None, name: str
) -> str | None:
    """Why a list of signers does not accept a valid signature under a name.

    Args:
        file: What is signed.
        signature: The signature file.
        namespace: What it should be for.
        signers: The list, as ssh-keygen(1) describes it under "ALLOWED SIGNERS".
        revoked: A list of revoked keys, or a KRL.
        name: The name under which it should be accepted.

    Returns:
        ``None`` where it is accepted; else what ``ssh-keygen`` says, on one line. Times in the list
        are held against the present time.

    Raises:
        CouldNotRunError: there is no ``ssh-keygen``, or it does not end.
    """
    options = [] if revoked is None else ["-r", str(revoked)]
    listed = ["-f", str(signers), "-I", name, *options]
    done = _ask(["verify", *listed], file, signature, namespace)
    if done.returncode == 0:
        return None
    said = done.stderr.decode("utf-8", "replace").replace(f"{signers}:", "line ").strip()
    first = said.splitlines()[0] if said else ""
    return first[:_MAX_SAID] or "it is not accepted, and may be revoked"


def names_found(signature: Path, signers: Path) -> tuple[str, ...]:
    """Names that ``ssh-keygen`` itself finds for a signature: those of a certificate, above all.

    Args:
        signature: The signature file.
        signers: The list of signers.

    Returns:
        The names, none where it finds none.

    Raises:
        CouldNotRunError: there is no ``ssh-keygen``, or it does not end.
    """
    command = ["-Y", "find-principals", "-s", str(signature), "-f", str(signers)]
    done = _run(command, subprocess.DEVNULL)
    if done.returncode != 0:
        return ()
    said = done.stdout.decode("utf-8", "surrogateescape")
    return tuple(name for line in said.splitlines() for name in line.split(",") if name)


def _wait(command: list[str]) -> int:
    """Wait for a signature; whatever ends the waiting ends the process that was waited for."""
    with subprocess.Popen(  # noqa: S603 - its path is absolute, its arguments are ours
        command, stdout=subprocess.DEVNULL
    ) as process:
        try:
            return process.wait(MAX_SIGNING_SECONDS)
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise CouldNotRunError(
                f"{_NAME}: expected a signature within {MAX_SIGNING_SECONDS} seconds, "
                "observed none",
                hint="it may wait for an agent, a passphrase or a touch",
            ) from error
        except BaseException:
            process.kill()
            process.wait()
            raise


def _ask(
    verb: list[str], file: Path, signature: Path, namespace: str
) -> subprocess.CompletedProcess[bytes]:
    with file.open("rb") as message:
        return _run(["-Y", *verb, "-n", namespace, "-s", str(signature)], message.fileno())


def _run(arguments: list[str], message: int) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(  # noqa: S603 - its path is absolute, and there is no shell
            [find_ssh_keygen(), *arguments],
            stdin=message,
            capture_output=True,
            timeout=MAX_SECONDS,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CouldNotRunError(
            f"{_NAME}: expected an answer within {MAX_SECONDS} seconds, observed none"
        ) from error
