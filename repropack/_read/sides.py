"""What is given to ``diff``: a package, a run in one, a fingerprint log, or a file of arrays.

A side is told apart by what lies there and never by trying: text after ``::`` names a run, a suffix
or the first bytes tell a file's kind. Nothing is read beyond that here.
"""

from __future__ import annotations

import io
import os
import re
import stat
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NoReturn, cast

from repropack._format.layout import MANIFEST, REFERENCE_RUN, RUNS, log_path
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.paths import shown_path
from repropack._read.directory import KINDS, OPEN_FLAGS
from repropack._read.entries import check_entry
from repropack._read.package import Package, open_package
from repropack.errors import IntegrityError, UsageError
from repropack.models.log import HeaderLine
from repropack.refusals import refusal

Kind = Literal["package", "run", "log", "arrays"]
LOG_NAME = "fingerprints.jsonl"
EXPECTED = "a package, a run in one (PACKAGE::RUN), a fingerprint log, or a file of arrays"
_RUN = re.compile(rf"(?:{RUNS}/)?([a-z0-9][a-z0-9-]{{0,63}})/?")
ARRAY_SUFFIXES = (".npz", ".npy")
"""How the name of a file of arrays ends, in any case."""

_NPY_MAGIC = b"\x93NUMPY"
_LOG_STARTS = (b"{", b"\xef\xbb\xbf{")


@dataclass(frozen=True)
class Side:
    """One of the two that are compared.

    Attributes:
        given: The text that names it.
        kind: What it is.
        path: The file or folder; of a run, its package; of a log, the log itself.
        run: The run's name where ``given`` names one.
    """

    given: str
    kind: Kind
    path: Path
    run: str | None = None


def read_side(given: str | Path) -> Side:
    """Tell what one side is.

    Args:
        given: A path, or ``PACKAGE::runs/NAME``, or ``PACKAGE::NAME``. What exists under the whole
            text is meant as it stands.

    Returns:
        What it names.

    Raises:
        UsageError: nothing is there, or nothing of a kind that can be compared; or no name of a run
            stands behind ``::``.
    """
    text = str(given)
    package, separator, name = text.rpartition("::")
    if not separator or os.path.lexists(text):
        path = Path(given)
        kind = _kind_of(path)
        folder = kind == "log" and path.is_dir()
        return Side(text, kind, path / LOG_NAME if folder else path)
    found = _RUN.fullmatch(name)
    if found is None or not package:
        raise UsageError(
            f"{shown_path(text)}: expected PACKAGE::RUN, observed {name!r} behind '::'",
            hint="`repropack inspect PACKAGE` lists the runs of a package",
        )
    path = Path(package)
    if _kind_of(path) != "package":
        raise UsageError(f"{shown_path(package)}: expected a package before '::'")
    return Side(text, "run", path, found[1])


def _kind_of(path: Path) -> Kind:
    """What lies at a path, by its kind, its suffix and its first bytes."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise UsageError(
            f"{shown_path(path)}: no such file or directory: expected {EXPECTED}"
        ) from error
    except OSError as error:
        _refuse_unreadable(path, error)
    if stat.S_ISDIR(mode):
        bare = not (path / MANIFEST).exists() and (path / LOG_NAME).is_file()
        return "log" if bare else "package"
    if not stat.S_ISREG(mode):
        observed = KINDS.get(stat.S_IFMT(mode), "something else")
        raise UsageError(f"{shown_path(path)}: expected {EXPECTED}, observed {observed}")
    if path.suffix.lower() in ARRAY_SUFFIXES:
        return "arrays"
    begin = _begin_of(path)
    if begin.startswith(_NPY_MAGIC):
        return "arrays"
    is_log = begin.startswith(_LOG_STARTS) or path.suffix == ".jsonl"
    return "log" if is_log else "package"


def _begin_of(path: Path) -> bytes:
    try:
        with _open(path) as stream:
            return stream.read(len(_NPY_MAGIC)) or b""
    except OSError as error:
        _refuse_unreadable(path, error)


def _refuse_unreadable(path: Path, error: OSError) -> NoReturn:
    problem = f"{shown_path(path)}: expected {EXPECTED}, observed {error.strerror!r}"
    raise UsageError(problem) from error


def _open(path: Path) -> io.FileIO:
    """Open a regular file that the user named; a link is followed."""
    stream = io.FileIO(os.open(path, OPEN_FLAGS & ~os.O_NOFOLLOW), "rb")
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise UsageError(f"{shown_path(path)}: expected a file, observed something else")
    return stream


@dataclass(frozen=True)
class OpenLog:
    """A log, opened once.

    Attributes:
        stream: The log from byte 0, unbuffered.
        where: Its path, for error messages.
        random_access: Whether any part is read without what lies before it.
        package: The package that it lies in.
        run: The name that its run has there.
    """

    stream: io.RawIOBase
    where: str
    random_access: bool
    package: Package | None = None
    run: str | None = None


def open_log(side: Side, stack: ExitStack, *, limits: Limits = DEFAULT_LIMITS) -> OpenLog:
    """Open a side's log.

    Args:
        side: A log, a run, or a package, whose reference is meant.
        stack: Closes what is opened.
        limits: Limits on reading.

    Returns:
        The open log, of which nothing was read.

    Raises:
        UsageError: it cannot be opened, or the package has no such run.
        PackageError: the package is none that can be opened.
    """
    if side.kind == "log":
        try:
            stream = stack.enter_context(_open(side.path))
        except OSError as error:
            _refuse_unreadable(side.path, error)
        return OpenLog(stream, shown_path(side.path), random_access=True)
    package = stack.enter_context(open_package(side.path, limits=limits))
    name = side.run or REFERENCE_RUN
    entry = log_path(name)
    if entry not in package.container:
        raise UsageError(
            f"{shown_path(side.path)}: expected one of its runs "
            f"({', '.join(package.run_names())}), observed {name!r}"
        )
    buffered = cast("io.BufferedReader", package.container.open(entry))
    raw = stack.enter_context(buffered.detach())
    return OpenLog(raw, entry, package.container.random_access(entry), package, name)


def check_listed(log: OpenLog) -> None:
    """Hold a log in a package against the package's manifest.

    Args:
        log: Any open log.

    Raises:
        IntegrityError: it is not listed, or has another digest.
        PackageFormatError: the stored bytes are damaged.
    """
    if log.package is None:
        return
    rows = [row for row in log.package.manifest.entries if row.path == log.where]
    if not rows:
        raise IntegrityError(
            refusal("manifest.unlisted", log.where, "unexpected", "a listed entry", "this entry")
        )
    check_entry(log.package, rows[0])


def check_run(log: OpenLog, header: HeaderLine) -> None:
    """Demand that a log in a package is the one of its run.

    Args:
        log: Any open log.
        header: Its header.

    Raises:
        IntegrityError: it is another run's.
    """
    if log.run is not None and header.run != log.run:
        raise IntegrityError(refusal("run.name", log.where, "run", repr(log.run), repr(header.run)))
