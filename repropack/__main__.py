"""``python -m repropack`` and the ``repropack`` command: the only place where anything exits."""

from __future__ import annotations

import sys

if __name__ == "__main__" and not getattr(sys.flags, "safe_path", False):
    del sys.path[0]  # the working directory: a numpy.py in it is not ours, and may be a stranger's

import signal
from types import FrameType
from typing import NoReturn

from repropack._cli.main import main


def console() -> NoReturn:
    """Run the command line and exit with its status.

    A request to end (TERM, HUP) is an interrupt like Ctrl-C, with the same status: workers end, and
    nothing is left but what a build can go on from. Who ignores one (``nohup``) is not interrupted.
    """
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)
    sys.exit(main())


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
    raise KeyboardInterrupt


if __name__ == "__main__":
    console()
