"""Executing a notebook: what the kernel sees, how it fails, and that nothing of it is left."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from repropack._run import notebook as module
from repropack._run.notebook import execute_notebook
from repropack._run.variables import worker_environment
from repropack.errors import CouldNotRunError, PackageFormatError

pytest.importorskip("nbclient", reason="the extra `notebook` is not installed")
pytest.importorskip("ipykernel", reason="the extra `notebook` is not installed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="sockets that are files"),
]


@pytest.fixture(autouse=True)
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let coverage follow into the client, whose environment is built from nothing."""
    names = ("COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START")
    measuring = {name: os.environ[name] for name in names if name in os.environ}
    if measuring:
        monkeypatch.setattr(
            module, "worker_environment", lambda caller: worker_environment(caller) | measuring
        )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Stands for an unpacked package."""
    made = tmp_path / "tree"
    made.mkdir()
    (made / "plan.json").write_text("{}\n")
    return made


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    made = tmp_path / "scratch"
    made.mkdir()
    return made


def notebook(*sources: str) -> NotebookNode:
    cells = [new_code_cell(source, id=f"c{k}") for k, source in enumerate(sources)]
    made: NotebookNode = new_notebook(cells=[new_markdown_cell("# T", id="m"), *cells])
    return made


def outputs(data: bytes) -> list[str]:
    """What each code cell printed."""
    cells = nbformat.reads(data.decode(), as_version=4).cells
    return ["".join(o.get("text", "") for o in c.outputs) for c in cells if c.cell_type == "code"]


def processes(marker: str) -> list[int]:
    """Processes whose command line holds ``marker``."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker in place.read_bytes().decode("utf-8", "replace"):
                found.append(int(place.parent.name))
        except OSError:
            continue
    return found


def await_none(marker: str) -> list[int]:
    """Processes with ``marker`` that are left after a moment."""
    deadline = time.monotonic() + 5
    while processes(marker) and time.monotonic() < deadline:
        time.sleep(0.05)
    return processes(marker)


def test_cells_run_in_order_in_a_copy_of_the_folder(folder: Path, scratch: Path) -> None:
    """Outputs are kept; the folder itself stays as it is; the form is the stable one."""
    made = notebook(
        "from pathlib import Path; x = 1; print(Path('plan.json').read_text(), end='')",
        "Path('new.txt').write_text('x'); x = x + 1",
        "print(x, len(In), __name__)",
    )
    data = execute_notebook(made, folder=folder, scratch=scratch)
    assert outputs(data) == ["{}\n", "", "2 4 __main__\n"]
    assert [path.name for path in folder.iterdir()] == ["plan.json"]
    assert data == execute_notebook(nbformat.writes(made).encode(), folder=folder, scratch=scratch)
    assert b"version" not in data.split(b'"metadata"')[-1]


def test_the_kernel_sees_a_workers_environment(
    folder: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fixed variables, no secret, no user's configuration, another home; sockets that are files."""
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    monkeypatch.setenv("API_TOKEN", "secret")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    monkeypatch.setenv("IPYTHONDIR", str(scratch / "users"))
    users = scratch / "users" / "profile_default" / "startup"
    users.mkdir(parents=True)
    (users / "00.py").write_text("print('hello from a startup file')")
    made = notebook(
        "import os, sys, socket; from pathlib import Path; e = os.environ",
        "print(e['TZ'], e['LC_ALL'], e['PYTHONHASHSEED'], hash('a') == hash('a'))",
        "print('API_TOKEN' in e, 'PYTHONPATH' in e, 'USER' in e, Path.home().name)",
        "print(list(Path.home().iterdir()), Path(e['IPYTHONDIR']).name)",
        "from ipykernel.kernelapp import IPKernelApp; print(IPKernelApp.instance().transport)",
        "tcp = Path('/proc/net/tcp').read_text().splitlines()[1:]\n"
        "mine = {os.readlink(f) for f in Path('/proc/self/fd').iterdir() if f.is_symlink() "
        "and os.path.exists(f)}\n"
        "addresses = {row.split()[1].partition(':')[0] for row in tcp "
        "if row.split()[3] == '0A' and f'socket:[{row.split()[9]}]' in mine}\n"
        "print(addresses <= {'0100007F'})",
    )
    data = execute_notebook(made, folder=folder, scratch=scratch)
    said = outputs(data)
    assert said[1] == "UTC C.UTF-8 0 True\n"
    assert said[2] == "False False False home\n"
    assert said[3] == "[] ipython\n"
    assert said[4] == "ipc\n"
    assert said[5] == "True\n"
    assert b"startup file" not in data


def test_a_cell_that_fails_is_named(folder: Path, scratch: Path) -> None:
    """By its number among all cells and the last line of its error."""
    made = notebook("print(1)", "raise ValueError('the bytes differ:\\x1b[31m first at 3')", "1/0")
    expected = re.escape(r"notebook: cell 3 failed: ValueError: the bytes differ:\x1b[31m first")
    with pytest.raises(CouldNotRunError, match=expected):
        execute_notebook(made, folder=folder, scratch=scratch)


def test_a_kernel_that_dies_is_named(folder: Path, scratch: Path) -> None:
    """The cell that was under way."""
    made = notebook("print(1)", "import os; os._exit(3)")
    with pytest.raises(CouldNotRunError, match="cell 3 failed: the kernel died"):
        execute_notebook(made, folder=folder, scratch=scratch)


def test_an_output_with_a_path_of_the_run_is_refused(folder: Path, scratch: Path) -> None:
    """The scratch folder is of this machine alone."""
    made = notebook("import os; print(os.getcwd())")
    with pytest.raises(CouldNotRunError, match="cell 2: expected an output without a path"):
        execute_notebook(made, folder=folder, scratch=scratch)


MARKER = "notebook-test-child"
CHILD = (
    "import subprocess, sys\n"
    "sleeps = [sys.executable, '-c', 'import time; time.sleep(99)']\n"
    f"child = subprocess.Popen([*sleeps, '{MARKER}-%d'])\n"
)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("how", ["ends", "fails", "dies", "times-out"])
def test_no_process_is_left(folder: Path, scratch: Path, how: str) -> None:
    """Neither the client nor the kernel nor what a cell started, however it ends."""
    last = {
        "ends": "print(1)",
        "fails": "1/0",
        "dies": "import os; os._exit(1)",
        "times-out": "import time; time.sleep(99)",
    }[how]
    made = notebook(CHILD % os.getpid(), last)
    try:
        execute_notebook(made, folder=folder, scratch=scratch, timeout_seconds=15)
    except CouldNotRunError as error:
        assert how != "ends"
        assert ("seconds" in str(error)) == (how == "times-out")  # noqa: PT017 - both ways
    else:
        assert how == "ends"
    assert await_none(f"{MARKER}-{os.getpid()}") == []
    assert await_none(str(scratch)) == []


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
def test_an_interrupt_leaves_no_process(folder: Path, scratch: Path) -> None:
    """Control-C in the process that executes the notebook ends everything below it."""
    program = (
        "import signal, sys; from pathlib import Path; from nbformat.v4 import *\n"
        "from repropack._run.notebook import execute_notebook\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background\n"
        f"cell = new_code_cell({CHILD % os.getpid()!r} + 'import time; time.sleep(99)')\n"
        "execute_notebook(new_notebook(cells=[cell]), folder=Path(sys.argv[1]), "
        "scratch=Path(sys.argv[2]))\n"
    )
    marker = f"{MARKER}-{os.getpid()}"
    file = scratch / "program.py"  # its text, which holds the marker, is on no command line
    file.write_text(program)
    process = subprocess.Popen(
        [sys.executable, str(file), str(folder), str(scratch)], stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    while not processes(marker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes(marker)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert b"KeyboardInterrupt" in stderr
    assert await_none(marker) == []


def test_a_missing_extra_is_named(
    folder: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With how to install it from the checkout; the name on an index is someone else's."""
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name: None if name == "nbclient" else find_spec(name),
    )
    with pytest.raises(CouldNotRunError, match="observed no nbclient") as caught:
        execute_notebook(notebook("1"), folder=folder, scratch=scratch)
    assert caught.value.hint is not None
    assert "pip install '.[notebook]'" in caught.value.hint
    assert "install repropack" not in caught.value.hint


@pytest.mark.parametrize("broken", [b"", b"{}", b'{"cells":[],"nbformat":4}'])
def test_what_is_no_notebook_is_refused(folder: Path, scratch: Path, broken: bytes) -> None:
    """Before anything is started."""
    with pytest.raises((CouldNotRunError, PackageFormatError)):
        execute_notebook(broken, folder=folder, scratch=scratch)


def _with_cells(cells: Any, **members: Any) -> Any:
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells, **members}


def _with_output(**output: Any) -> Any:
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "a",
        "metadata": {},
        "source": "",
        "execution_count": None,
    }
    return _with_cells([{**cell, "outputs": [output]}])


@pytest.mark.parametrize(
    "document",
    [
        [],
        _with_cells(5),
        _with_cells(None),
        _with_cells([1]),
        _with_cells([{"cell_type": 5, "id": "a"}]),
        _with_cells([{"cell_type": "code", "id": ["a"]}]),
        _with_cells([], nbformat=4.0),
        _with_cells([], nbformat_minor="5"),
        _with_cells([], nbformat_minor=None),
        _with_cells([], metadata=[]),
        _with_output(output_type="stream", name="stdout", text=[1, 2]),
        _with_output(output_type="display_data", metadata={}, data={"image/png": {"a": 1}}),
    ],
)
def test_whatever_a_client_hands_back_is_an_answer(tmp_path: Path, document: Any) -> None:
    """A kernel can write in its client's place; what it writes is refused, and crashes nobody."""
    path = tmp_path / "executed.ipynb"
    path.write_bytes(json.dumps(document).encode())
    with pytest.raises(CouldNotRunError, match="the executed notebook: expected"):
        module._read_handed(path)


@pytest.fixture
def long_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder whose path is too long for sockets in it."""
    folder = tmp_path / ("x" * 100)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_a_long_temporary_folder_does_not_matter(
    folder: Path, scratch: Path, long_temporary: Path
) -> None:
    """Sockets have short paths whatever TMPDIR is."""
    data = execute_notebook(notebook("print(1)"), folder=folder, scratch=scratch)
    assert outputs(data) == ["1\n"]
    assert list(long_temporary.iterdir()) == []
