"""Render one notebook, in a process that may be ended: what is rendered is a stranger's.

Standard input holds the title, as long as the first argument says, and the notebook after it.
Standard output gets the page; where there is none, why, as JSON, and the status is 1.
"""

from __future__ import annotations

import contextlib
import resource
import sys

from repropack._format.canonical import encode_canonical
from repropack._present.notebook_page import notebook_page
from repropack.errors import CouldNotRunError


def main() -> int:
    """Render the notebook that standard input holds.

    Returns:
        0 where it was rendered, else 1.
    """
    length, memory = (int(word) for word in sys.argv[1:])
    with contextlib.suppress(ValueError, OSError):  # a lower limit stands already
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    request = sys.stdin.buffer.read()
    try:
        made, status = (
            notebook_page(request[length:], request[:length].decode("utf-8", "surrogatepass")),
            0,
        )
    except CouldNotRunError as error:
        made, status = encode_canonical({"message": str(error), "hint": error.hint}), 1
    sys.stdout.buffer.write(made)
    return status


if __name__ == "__main__":
    sys.exit(main())
