"""A file that is kept beside an answer: written aside, read back, then renamed.

Where it may lie, and what it may replace, is settled before anything runs. A package is never
touched.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from repropack._read.beside import observed_at
from repropack._run.documents import REPORT, DocumentKind, check_document
from repropack._run.durable import forget_cached, os_problem
from repropack._run.target import publish_file
from repropack.errors import CouldNotRunError, UsageError

_WORDS = {
    "--report": "report",
    "--figure": "figure",
    "--save": "zoom",
    "--record": "record",
    "--page": "page",
    "--output": "table",
    "-o": "page",
}


class ReportFile:
    """A target that is outside the package and can be written."""

    def __init__(
        self,
        file: str,
        *packages: str | Path,
        kind: DocumentKind = REPORT,
        option: str = "--report",
        force: bool = False,
    ) -> None:
        """Settle where the report goes.

        Args:
            file: The path that was asked for.
            packages: What is read, which is never changed.
            kind: What it will be.
            option: The option that names the file, and what is said of it when that fails.
            force: Whether one of the same kind that stands there is replaced.

        Raises:
            UsageError: inside the package or the package itself, no such folder, one that cannot
                be written in, or something is there that may not be replaced.
        """
        self._target = Path(file).resolve()
        self._what = _WORDS[option]
        self._kind = kind
        self._force = force
        if any(_is_within(self._target, Path(package)) for package in packages):
            raise UsageError(
                f"{file}: expected a {self._what} file outside the package, observed one inside",
                hint=f"a package is never changed; give another path with {option}",
            )
        if not self._target.parent.is_dir():
            raise UsageError(f"{file}: expected an existing folder, observed none")
        if os.path.lexists(self._target) and not self._target.is_file():
            raise UsageError(f"{file}: expected a file, observed {observed_at(self._target)}")
        check_document(Path(file).absolute(), kind, force=force)
        try:
            handle, aside = self._aside()
        except OSError as error:
            raise UsageError(f"{file}: cannot be written there: {error.strerror}") from error
        os.close(handle)
        aside.unlink()

    def write(self, content: bytes) -> None:
        """Put ``content`` in place at once, or leave what was there.

        Args:
            content: The report, or whatever the file is to hold.

        Raises:
            CouldNotRunError: it cannot be written, or is not what was written when it is read back.
        """
        try:
            self._write(content)
        except OSError as error:
            raise CouldNotRunError(f"the {self._what} was not kept: {os_problem(error)}") from error
        except UsageError as error:  # something came there meanwhile
            raise CouldNotRunError(f"the {self._what} was not kept: {error.message}") from error

    def _aside(self) -> tuple[int, Path]:
        prefix = f".{self._target.name}."
        handle, name = tempfile.mkstemp(prefix=prefix, dir=self._target.parent)
        return handle, Path(name)

    def _write(self, content: bytes) -> None:
        handle, aside = self._aside()
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fchmod(handle, 0o644)
                os.fsync(handle)
                forget_cached(handle)
            if aside.read_bytes() != content:
                raise OSError(f"{self._target}: it was read back and is not what was written")
            check_document(self._target, self._kind, force=self._force)
            publish_file(aside, self._target, force=self._force)
        finally:
            aside.unlink(missing_ok=True)


def _is_within(target: Path, package: Path) -> bool:
    """Whether a path is the package or lies in it, by whatever name a file system knows it."""
    places = filter(os.path.lexists, (target, *target.parents))
    return os.path.lexists(package) and any(place.samefile(package) for place in places)
