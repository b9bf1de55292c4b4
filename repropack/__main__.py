"""``python -m repropack`` and the ``repropack`` command: the only place where anything exits."""

from __future__ import annotations

import sys
from typing import NoReturn

from repropack._cli.main import main


def console() -> NoReturn:
    """Run the command line and exit with its status."""
    sys.exit(main())


if __name__ == "__main__":
    console()
