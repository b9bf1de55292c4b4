#!/usr/bin/env python3
"""Tell every case of the hostile corpus to a real process, and measure its time and memory.

Each package is written to disk, and ``repropack check CASE --format json`` and the checker that
lies in every package are run on it. Ends with status 1 where a case did not end as expected, took
longer or more than it may, or was accepted by the checker and refused by ``check``, unless it is
known that the checker does not look there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from repropack import checker  # noqa: E402 - the root has to be found first
from repropack._format.limits import MEBIBYTE  # noqa: E402
from tests.hostile.corpus.bases import BUILDERS, Base  # noqa: E402
from tests.hostile.corpus.case import Variant  # noqa: E402
from tests.hostile.corpus.catalogue import VARIANTS, Fault, complaint  # noqa: E402
from tests.hostile.corpus.checker import NOT_LOOKED_AT, NOT_YET  # noqa: E402

SECONDS_MAX, MEBIBYTES_MAX = 2.0, 256.0
GIVE_UP_SECONDS = 30
CHECKER_ADDRESS_SPACE_BYTES = 4096 * MEBIBYTE
BETWEEN = """
import os, resource, signal, sys
writing, seconds, space = map(int, sys.argv[1:4])
child = os.fork()
if not child:
    os.close(writing)
    if space >= 0:
        resource.setrlimit(resource.RLIMIT_AS, (space, space))
    os.execv(sys.argv[4], sys.argv[4:])
signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
signal.alarm(seconds)
_, status, usage = os.wait4(child, 0)
seconds = usage.ru_utime + usage.ru_stime
os.write(writing, b"%d %f %d" % (os.waitstatus_to_exitcode(status), seconds, usage.ru_maxrss))
"""


@dataclass(frozen=True)
class Ended:
    """How a process ended: seconds of processor time, its peak of resident memory in MiB.

    It neither sleeps nor waits, so that on an idle machine it takes as long by the clock; on a busy
    one the clock says nothing. One that hangs is ended by the clock all the same.
    """

    status: int
    output: bytes
    error: bytes
    seconds: float
    mebibytes: float


@dataclass(frozen=True)
class Row:
    """One variant, and what is wrong with how it ended; nothing where ``problems`` is empty."""

    variant: Variant
    check: Ended
    packed: Ended
    problems: tuple[str, ...]


def run(command: list[str], *, address_space_bytes: int = -1) -> Ended:
    """Run one process and measure it alone.

    A small process stands between: the peak of a process begins with that of the one that it was
    forked from, and this one is large.

    Args:
        command: What is run.
        address_space_bytes: Limit on its address space; none where it is negative.

    Returns:
        How it ended; status -9 where it was killed for taking too long.
    """
    between = [sys.executable, "-I", "-S", "-c", BETWEEN]
    between += [str(GIVE_UP_SECONDS), str(address_space_bytes), *command]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as error:
        reading, writing = os.pipe()
        os.set_inheritable(writing, True)  # noqa: FBT003
        subprocess.run(  # noqa: S603
            [*between[:5], str(writing), *between[5:]],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=error,
            close_fds=False,
            check=True,
        )
        os.close(writing)
        with os.fdopen(reading) as stream:
            status, seconds, kibibytes = stream.read().split()
        output.seek(0)
        error.seek(0)
        return Ended(
            int(status), output.read(), error.read(), float(seconds), int(kibibytes) / 1024
        )


def faults_of(ended: Ended) -> list[Fault]:
    """Return the faults of a report, or the error that ``check`` ended with.

    Raises:
        ValueError: the output is no document.
    """
    document = json.loads(ended.output)  # noqa: TID251 - the output of another process
    if "message" in document:  # it ended with an error; the faults in it are told by the message
        return [(document["code"], "", document["message"], None)]
    return [(f["code"], f["entry"], f["problem"], f.get("rule")) for f in document["faults"]]


def problems_of(variant: Variant, check: Ended, packed: Ended) -> Iterator[str]:
    """Yield everything that is not as it has to be."""
    try:
        problem = complaint(variant.case, check.status, faults_of(check))
    except (ValueError, KeyError) as error:
        problem = f"no document on standard output: {error!r}"
    if problem:
        yield problem
    if b"Traceback" in check.error + packed.error:
        yield "a traceback"
    if not check.output.isascii() or b"\x1b" in check.output + check.error + packed.output:
        yield "text of the package got out unescaped"
    if check.seconds > SECONDS_MAX:
        yield f"took {check.seconds:.1f} s"
    if check.mebibytes > MEBIBYTES_MAX:
        yield f"took {check.mebibytes:.0f} MiB"
    if packed.status == 0 and check.status != 0 and variant.case.name not in NOT_LOOKED_AT:
        known = "known: " if variant.case.name in NOT_YET else ""
        yield f"{known}the packed checker accepts it"
    if packed.status != 0 and variant.case.code is None:
        yield f"the packed checker refuses it: {packed.output[:200]!r}"


def judge(variant: Variant, base: Base, folder: Path) -> Row:
    """Write one variant below a folder and run both programs on it."""
    place = folder / variant.name.replace("/", "-")
    place.mkdir(parents=True)
    path = str(variant.case.write(base, variant.form, place))
    check = run([sys.executable, "-P", "-m", "repropack", "check", path, "--format", "json"])
    packed = run(
        [sys.executable, "-I", checker.__file__, path],
        address_space_bytes=CHECKER_ADDRESS_SPACE_BYTES,
    )
    return Row(variant, check, packed, tuple(problems_of(variant, check, packed)))


def chosen(options: argparse.Namespace) -> list[Variant]:
    """Return the variants that were asked for and that this machine can make."""
    return [
        one
        for one in VARIANTS
        if one.base in options.bases
        and (not options.names or any(name in one.name for name in options.names))
        and (not one.case.needs or os.geteuid() == 0)
    ]


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line.

    Returns:
        ``names``, ``bases``, ``jobs``, ``write``, ``quiet``.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="parts of names of cases; all where none is given")
    names = list(BUILDERS)
    parser.add_argument("--bases", nargs="+", default=names, choices=names)
    parser.add_argument("--jobs", type=int, default=1, help="processes at once (default: 1)")
    parser.add_argument("--write", type=Path, help="keep the packages below this new folder")
    parser.add_argument("--quiet", action="store_true", help="only rows with a problem")
    return parser.parse_args(arguments)


def describe(row: Row) -> str:
    """Return one line of the table."""
    case, check = row.variant.case, row.check
    line = (
        f"{row.variant.name:<48} {case.threat or '-':<4} {check.status:>2} {row.packed.status:>3} "
        f"{check.seconds:6.2f} s {check.mebibytes:6.1f} MiB  {case.code or 'accepted'}"
    )
    return "\n".join([line, *(f"    {problem}" for problem in row.problems)])


def summarise(rows: list[Row]) -> str:
    """Return the last line."""
    bad = [row for row in rows if any(not one.startswith("known: ") for one in row.problems)]
    known = [row for row in rows if row not in bad and row.problems]  # the packed checker's alone
    return (
        f"{len({row.variant.case.name for row in rows})} cases, {len(rows)} packages: "
        f"{len(rows) - len(bad) - len(known)} as expected, {len(known)} known to be wrong, "
        f"{len(bad)} not as expected; "
        f"check at most {max(row.check.seconds for row in rows):.2f} s, "
        f"{max(row.check.mebibytes for row in rows):.1f} MiB; "
        f"packed checker at most {max(row.packed.seconds for row in rows):.2f} s, "
        f"{max(row.packed.mebibytes for row in rows):.1f} MiB"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the script.

    Returns:
        1 where a case did not end as expected.
    """
    options = parse(arguments)
    with tempfile.TemporaryDirectory(prefix="repropack-corpus-") as scratch:
        built = Path(scratch) / "bases"
        bases = {name: build(built) for name, build in BUILDERS.items()}
        folder = options.write or Path(scratch) / "cases"
        rows: list[Row] = []
        with ThreadPoolExecutor(options.jobs) as pool:
            for row in pool.map(lambda one: judge(one, bases[one.base], folder), chosen(options)):
                rows.append(row)
                if row.problems or not options.quiet:
                    sys.stdout.write(describe(row) + "\n")
        if not rows:
            sys.stderr.write("no case has such a name\n")
            return 1
        sys.stdout.write(summarise(rows) + "\n")
    return int(any(not one.startswith("known: ") for row in rows for one in row.problems))


if __name__ == "__main__":
    sys.exit(main())
