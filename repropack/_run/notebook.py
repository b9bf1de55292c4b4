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
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from repropack._format.canonical import decode_strict, encode_canonical
from repropack._run.notebook_form import normalise_notebook, notebook_bytes
from repropack._run.notebook_main import EXECUTED, FAILED
from repropack._run.variables import worker_environment
from repropack.errors import CouldNotRunError

_MAIN = Path(__file__).with_name("notebook_main.py")
_NEEDED = ("nbclient", "ipykernel", "matplotlib")
_MAX_SOCKET_CHARACTERS = 80
"""A socket's path may be some 100 bytes long; its file's name takes the rest."""


def execute_notebook(
    notebook: bytes | NotebookNode,
    *,
    folder: Path,
    scratch: Path,
    timeout_seconds: float | None = None,
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

    Returns:
        The executed notebook in its stable form: sorted members, one blank a level, a final
        newline, outputs kept, no timing, no version of the kernel's.

    Raises:
        CouldNotRunError: nbclient, ipykernel or matplotlib is missing; a cell failed, named by its
            number and the last line of its error; the kernel died or the time is over; an output
            holds a path, a name or an address of this machine.
        PackageFormatError: ``notebook`` is no notebook.

    Determinism:
        Equal notebooks and folders give equal bytes in one environment, whatever the working
        directory, time zone, locale and hash seed of the caller; images depend on matplotlib.
    """
    _require_installed()
    source = notebook if isinstance(notebook, NotebookNode) else _read(notebook, "notebook")
    home = Path(tempfile.mkdtemp(prefix="notebook-", dir=scratch)).absolute()
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
        _run_client(job, _environment(home), home, sockets, timeout_seconds)
        executed = _read(_handed(sockets / EXECUTED), "the executed notebook")
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
    ids = [cell.get("id") for cell in cells if isinstance(cell, dict)] if cells else []
    if None in ids or len(set(map(str, ids))) != len(ids):  # nbformat would make up random ones
        raise CouldNotRunError(f"{where}: expected cells with ids, each once, observed others")
    read: Any = nbformat.reads
    try:
        node: NotebookNode = read(data.decode("utf-8"), as_version=4)
        nbformat.validate(node)
    except (ValueError, nbformat.ValidationError) as error:
        reason = str(error).split("\n", 1)[0]
        raise CouldNotRunError(f"{where}: expected a valid notebook, observed {reason}") from error
    return node


@contextlib.contextmanager
def _socket_folder() -> Iterator[Path]:
    """A new folder for this user alone, with a path short enough for sockets in it."""
    usual = tempfile.gettempdir()
    place = usual if len(usual) < _MAX_SOCKET_CHARACTERS else "/tmp"  # noqa: S108 - mkdtemp in it
    folder = Path(tempfile.mkdtemp(prefix="repropack-", dir=place))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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


def _run_client(
    job: dict[str, str],
    environment: dict[str, str],
    home: Path,
    sockets: Path,
    timeout_seconds: float | None,
) -> None:
    with (home / "client.log").open("w+b") as log:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and script
            [sys.executable, "-P", "-B", str(_MAIN)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            cwd=home,
            env=environment,
            umask=0o077,
            start_new_session=True,
        )
        try:
            process.communicate(encode_canonical(job), timeout=timeout_seconds)
        except subprocess.TimeoutExpired as error:
            raise CouldNotRunError(
                f"notebook: expected it to end within {timeout_seconds} seconds, observed more"
            ) from error
        finally:
            _end(process)
        if (sockets / FAILED).is_file():
            failure = decode_strict(_handed(sockets / FAILED), where="the notebook's failure")
            raise CouldNotRunError(
                f"notebook: cell {failure['cell']} failed: {ascii(str(failure['line']))[1:-1]:.400}"
            )
        if process.returncode or not (sockets / EXECUTED).is_file():
            log.seek(0)
            lines = log.read().decode("utf-8", "replace").strip().splitlines()
            hint = f"its last line: {ascii(lines[-1])[1:-1][:300]}" if lines else None
            raise CouldNotRunError(
                f"notebook: the client ended with status {process.returncode}", hint=hint
            )


def _handed(path: Path) -> bytes:
    """What the client handed over; anything but a regular file is refused."""
    if path.is_symlink() or not path.is_file():
        raise CouldNotRunError(f"notebook: expected a file {path.name}, observed none")
    return path.read_bytes()


def _end(process: subprocess.Popen[Any]) -> None:
    """End the client with its kernel and everything that they started, and collect it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


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
