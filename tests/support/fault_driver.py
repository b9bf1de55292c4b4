"""Publishes and unpacks in child processes that stop before they begin, to be traced from there.

Started as a process of its own. Reads one JSON line a case, answers with the child's process id,
and when the child has ended with its status. The imports are paid for once, and no call that fails
is one of an import.
"""

from __future__ import annotations

import fcntl  # noqa: F401 - for the children
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy.ma  # noqa: F401 - for the children

from repropack._read.package import open_package
from repropack._run.assemble import Supplement, check_written, link_files, publish, write_package
from repropack._run.workplace import clear_work, work_alone
from repropack.errors import RepropackError
from repropack.unpack import unpack_package


def publish_again(package: str, tree: str, target: str, *, directory: bool) -> None:
    """Do with the files of a package what a build does when it has recorded everything."""
    with open_package(package) as opened:
        metadata = opened.manifest.package
    place = Path(target)
    with work_alone(place, lambda _: False) as work:
        clear_work(work)
        link_files(Path(tree), work / "assembled")
        written = write_package(
            work / "assembled", Supplement(metadata), directory=directory, compress=False
        )
        check_written(written)
        publish(written, place, force=True, directory=directory)


def run(case: dict[str, Any]) -> int:
    """Run one case; an error that a command line would tell on one line is status 4."""
    arguments = case["arguments"]
    try:
        if case["what"] == "unpack":
            unpack_package(arguments[0], arguments[1], force=True)
        else:
            publish_again(*arguments, directory=case["what"] == "directory")
    except (RepropackError, OSError) as error:
        Path(case["said"]).write_text(f"{type(error).__name__}: {error}", "utf-8")
        return 4
    return 0


def tell(number: int) -> None:
    """Answer with one number."""
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def main() -> None:
    """Fork once a line of standard input."""
    for line in sys.stdin:
        case = json.loads(line)
        child = os.fork()
        if child == 0:
            status = 70
            try:
                os.kill(os.getpid(), signal.SIGSTOP)
                status = run(case)
            except BaseException as error:  # noqa: BLE001 - a test looks for it
                Path(case["said"]).write_text(f"traceback: {error!r}", "utf-8")
            finally:
                os._exit(status)
        os.waitpid(child, os.WUNTRACED)  # it has stopped
        tell(child)
        _, ended = os.waitpid(child, 0)
        tell(os.waitstatus_to_exitcode(ended))


if __name__ == "__main__":
    main()
