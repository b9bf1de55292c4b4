"""Execute a notebook in a kernel of its own, and bring what comes back into one stable form.

The kernel, and the client that talks to it, run in processes that are not this one: their
environment is built from nothing, their folders are new and empty, their sockets are files that
only this user can reach, and they end with the call, however it ends. What they hand back is read
with suspicion, and refused where it tells of the machine it ran on.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from repropack._format.canonical import decode_strict, encode_canonical
from repropack._format.limits import DEFAULT_LIMITS
from repropack._run.confinement.sandbox import UNCONFINED, Places, Sandbox, compose_policy
from repropack._run.confinement.supervised import Supervised
from repropack._run.folders import new_folder, new_socket_folder, remove_tree
from repropack._run.launch import beyond_limit, last_printed_line
from repropack._run.notebook_form import normalise_notebook, notebook_bytes
from repropack._run.notebook_main import EXECUTED, FAILED
from repropack._run.variables import worker_environment
from repropack.errors import CouldNotRunError, PackageFormatError

_MAIN = Path(__file__).with_name("notebook_main.py")
_NEEDED = ("nbclient", "ipykernel", "matplotlib")


def execute_notebook(
    notebook: bytes | NotebookNode,
    *,
    folder: Path,
    scratch: Path,
    timeout_seconds: float | None = None,
    sandbox: Sandbox = UNCONFINED,
) -> bytes:
    """Execute a notebook from top to bottom in a copy of an unpacked package.

    Nothing is written below ``folder``. The kernel sees fixed and numeric variables, new folders
    for Jupyter, IPython and matplotlib, and no user's configuration. When this returns or raises,
    no process of it is left.

    Args:
        notebook: The notebook, as bytes or as a node; outputs in it are replaced.
        folder: The unpacked package: every entry that the notebook reads.
        scratch: An existing folder; what the kernel writes stays below it and is left there.
        timeout_seconds: Limit on the whole execution, or ``None``.
        sandbox: How the kernel is confined. At level ``landlock`` it is not executed: kernel and
            client talk through local sockets, which that level refuses.

    Returns:
        The executed notebook in its stable form: sorted members, one blank a level, a final
        newline, outputs kept, no timing, no version of the kernel's.

    Raises:
        CouldNotRunError: nbclient, ipykernel or matplotlib is missing; the sandbox has no local
            sockets; a cell failed, named by its
            number and the last line of its error; the kernel died or the time is over, or
            another limit; an output holds a path, a name or an address of this machine.
        PackageFormatError: ``notebook`` is no notebook.

    Determinism:
        Equal notebooks and folders give equal bytes in one environment, whatever the working
        directory, time zone, locale and hash seed of the caller; images depend on matplotlib.
    """
    _require_installed()
    if sandbox.level == "landlock":
        raise CouldNotRunError(
            "notebook: expected local sockets for its kernel, observed none at level landlock",
            hint="install the system package `bubblewrap`, or verify without --notebook",
        )
    source = notebook if isinstance(notebook, NotebookNode) else _read(notebook, "notebook")
    home = new_folder("notebook-", scratch)
    with _socket_folder() as sockets:
        copy = home / "package"
        shutil.copytree(folder, copy)
        (copy / "notebook.ipynb").unlink(missing_ok=True)  # the package's own, maybe read-only
        (copy / "notebook.ipynb").write_bytes(notebook_bytes(source))
        job = {
            "notebook": str(copy / "notebook.ipynb"),
            "folder": str(copy),
            "sockets": str(sockets),
        }
        client = _Client(_environment(home), home, sockets, sandbox, timeout_seconds)
        client.run(job)
        executed = _read_handed(sockets / EXECUTED)
    return normalise_notebook(executed, [*_places(folder, scratch, sockets), *_own_places()])


def _require_installed() -> None:
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise CouldNotRunError(
            f"notebook: expected {', '.join(_NEEDED)} to execute it, observed no "
            f"{', '.join(missing)}",
            hint="install the extra `notebook`, in repropack's checkout: pip install '.[notebook]'",
        )


def _read(data: bytes, where: str) -> NotebookNode:
    """Read a notebook strictly; what is not of format 4 is refused."""
    document = decode_strict(data, where=where)
    if not isinstance(document, dict) or document.get("nbformat") != 4:
        raise CouldNotRunError(f"{where}: expected a notebook of format 4, observed another")
    cells = document.get("cells")
    ids = [_id_of(cell) for cell in cells] if isinstance(cells, list) else [None]
    if None in ids or len(set(ids)) != len(ids):  # nbformat would make up random ones
        raise CouldNotRunError(f"{where}: expected cells with ids, each once, observed others")
    read: Any = nbformat.reads
    try:
        node: NotebookNode = read(data.decode("utf-8"), as_version=4)
        nbformat.validate(node)
    except Exception as error:  # nbformat trusts what it reads, and raises whatever comes of that
        reason = str(error).split("\n", 1)[0] or type(error).__name__
        raise CouldNotRunError(f"{where}: expected a valid notebook, observed {reason}") from error
    return node


def _id_of(cell: Any) -> str | None:
    found = cell.get("id") if isinstance(cell, dict) else None
    return found if isinstance(found, str) else None


@contextlib.contextmanager
def _socket_folder() -> Iterator[Path]:
    """A new folder for this user alone, with a path short enough for sockets in it."""
    folder = new_socket_folder("repropack-")
    try:
        yield folder
    finally:
        remove_tree(folder)


def _environment(home: Path) -> dict[str, str]:
    """The client's and the kernel's environment: a worker's, and folders that are new and empty."""
    folders = {
        "HOME": "home",
        "IPYTHONDIR": "ipython",
        "JUPYTER_CONFIG_DIR": "jupyter-config",
        "JUPYTER_DATA_DIR": "jupyter-data",
        "JUPYTER_RUNTIME_DIR": "jupyter-runtime",
        "MPLCONFIGDIR": "matplotlib",
        "TMPDIR": "temporary",
        "XDG_CACHE_HOME": "cache",
        "XDG_CONFIG_HOME": "config",
    }
    environment = worker_environment(dict(os.environ))
    for name, folder in folders.items():
        (home / folder).mkdir(mode=0o700)
        environment[name] = str(home / folder)
    return environment | {"JUPYTER_NO_CONFIG": "1", "JUPYTER_PLATFORM_DIRS": "1", "NO_COLOR": "1"}


@dataclass(frozen=True)
class _Client:
    environment: dict[str, str]
    home: Path
    sockets: Path
    sandbox: Sandbox
    timeout_seconds: float | None

    def run(self, job: dict[str, str]) -> None:
        """Run the client to its end; what it made lies in the folder of sockets then."""
        command = [sys.executable, "-P", "-B", str(_MAIN)]
        places = Places(self.home, writable=(self.home, self.sockets), loopback=True)
        policy = compose_policy(self.sandbox, command, self.environment, places)
        with Supervised(
            policy, folder=self.home, environment=self.environment, umask=0o077, prints=True
        ) as client:
            with contextlib.suppress(BrokenPipeError):
                client.stdin.write(encode_canonical(job))
                client.stdin.close()
            report = client.wait(self.timeout_seconds)
            if report is None:
                raise CouldNotRunError(
                    f"notebook: expected it to end within {self.timeout_seconds} seconds, "
                    "observed more"
                )
        if "limit" in report:
            raise beyond_limit(report, "notebook")
        self._require_result(report, client.printed())

    def _require_result(self, report: dict[str, Any], printed: bytes) -> None:
        if (self.sockets / FAILED).is_file():
            raise _failure(_handed(self.sockets / FAILED))
        if report.get("status") or not (self.sockets / EXECUTED).is_file():
            line = last_printed_line(printed) or str(report.get("problem", ""))
            raise CouldNotRunError(
                f"notebook: the client ended with status {report.get('status')}",
                hint=f"its last line: {line}" if line else None,
            )


def _handed(path: Path) -> bytes:
    """What the client handed over; anything but a regular file that may be read is refused."""
    allowed = DEFAULT_LIMITS.max_document_bytes
    if path.is_symlink() or not path.is_file() or path.stat().st_size > allowed:
        raise CouldNotRunError(
            f"notebook: expected a file {path.name} of at most {allowed} bytes, observed none"
        )
    return path.read_bytes()


def _read_handed(path: Path) -> NotebookNode:
    """The executed notebook; what is wrong with it is no damage of a package."""
    try:
        return _read(_handed(path), "the executed notebook")
    except PackageFormatError as error:
        raise CouldNotRunError(f"notebook: {error}") from error


def _failure(data: bytes) -> CouldNotRunError:
    try:
        told = decode_strict(data, where="the notebook's failure")
        cell, line = int(told["cell"]), str(told["line"])
    except (PackageFormatError, KeyError, TypeError, ValueError):
        return CouldNotRunError("notebook: the client told of a failure that cannot be read")
    return CouldNotRunError(f"notebook: cell {cell} failed: {ascii(line)[1:-1]:.400}")


def _places(*folders: Path) -> list[Path]:
    """Folders of this execution, as they were named and as they are."""
    return [place for folder in folders for place in (folder.absolute(), folder.resolve())]


def _own_places() -> list[Path]:
    """Folders that tell who executed it, and from where."""
    prefixes = [Path(sys.prefix), Path.cwd()]
    deep = [place for place in prefixes if len(place.parts) > 2]  # not /usr, not /
    with contextlib.suppress(RuntimeError):
        deep.append(Path.home())
    return deep
