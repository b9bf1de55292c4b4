"""``python -m repropack`` and the ``repropack`` command: the only place where anything exits."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import NoReturn

from repropack._cli.main import main


def console() -> NoReturn:
    """Run the command line and exit with its status.

    A request to end (TERM, HUP) is an interrupt like Ctrl-C: workers end, and nothing is left.
    """
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _interrupt)
    sys.exit(main())


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
    raise KeyboardInterrupt


if __name__ == "__main__":
    console()
