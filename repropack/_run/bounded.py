"""Work on foreign text by other people's code: in a process of its own, with an end to it.

Renderers of Markdown, highlighters and cleaners of HTML take time with the square of some texts,
and none of them promises a bound. So the text goes to a process that is ended when its time is
over, and that gets no more memory than is said.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

from repropack._format.canonical import decode_strict
from repropack.errors import CouldNotRunError, PackageFormatError


def run_bounded(
    module: str, arguments: Sequence[str], data: bytes, *, what: str, seconds: float
) -> bytes:
    """Run a module of repropack in a process of its own.

    Args:
        module: Its dotted name. It reads standard input, writes what it makes to standard output,
            and bounds its own memory. Where it cannot, it ends with status 1 and writes JSON with
            ``message`` and ``hint`` instead.
        arguments: Words for it.
        data: What it reads.
        what: What it does, for the message of an error: ``"the notebook cannot be rendered"``.
        seconds: After how many seconds it is ended.

    Returns:
        What it made.

    Raises:
        CouldNotRunError: it could not, its time was over, or its memory was not enough.
    """
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-P", "-B", "-m", module, *arguments],
            input=data,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CouldNotRunError(
            f"{what}: expected to take at most {seconds:g} seconds, observed no end"
        ) from error
    except OSError as error:
        raise CouldNotRunError(f"{what}: no process could be started: {error.strerror}") from error
    if done.returncode == 0:
        return done.stdout
    try:
        told = decode_strict(done.stdout if done.returncode == 1 else b"", where=module)
        message, hint = str(told["message"]), told["hint"]
    except (PackageFormatError, KeyError, TypeError) as error:
        raise CouldNotRunError(
            f"{what}: its process ended with status {done.returncode}"
        ) from error
    raise CouldNotRunError(message, hint=hint)
