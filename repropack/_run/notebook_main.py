"""Execute one notebook: nbclient and a kernel, in a process that is neither the judge nor trusted.

Run by path with ``-P``; it imports nothing of repropack. One JSON job on standard input names the
notebook, the folder to run in, and a folder for sockets and results. The kernel, and whatever it
starts, stays in this process's group. Nothing is shut down here: whoever started this process ends
the whole group when it has ended, so there is no order of events in which a kernel is left over.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

EXECUTED, FAILED = "executed.ipynb", "failed.json"


def main() -> int:
    """Execute the notebook that standard input names.

    Returns:
        0 where every cell ran; 1 where one failed or the kernel died.
    """
    job = json.loads(sys.stdin.read())  # noqa: TID251 - imports nothing of repropack
    import nbformat  # noqa: PLC0415 - an extra; not needed to import this module
    from matplotlib import font_manager  # noqa: F401, PLC0415 - builds its cache, not in a cell
    from nbclient.exceptions import CellExecutionError, DeadKernelError  # noqa: PLC0415

    formats: Any = nbformat
    notebook = formats.read(job["notebook"], as_version=4)
    here, begun = Path(job["sockets"]), [0]
    try:
        _execute(notebook, job["folder"], here, begun)
    except CellExecutionError as error:
        line = f"{error.ename}: {error.evalue}".strip().splitlines()[0]
    except DeadKernelError:
        line = "the kernel died"
    else:
        formats.write(notebook, here / EXECUTED)
        return 0
    failure = json.dumps({"cell": begun[-1] + 1, "line": line})  # noqa: TID251 - as above
    (here / FAILED).write_text(failure, "utf-8")
    return 1


def _execute(notebook: Any, folder: str, here: Path, begun: list[int]) -> None:
    """Run every cell in place; ``begun`` grows by the index of each that begins."""
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager  # noqa: PLC0415
    from jupyter_client.manager import AsyncKernelManager  # noqa: PLC0415
    from jupyter_client.provisioning import local_provisioner  # noqa: PLC0415
    from nbclient import NotebookClient  # noqa: PLC0415

    class ThisInterpreter(KernelSpecManager):
        """Knows one kernel, whatever is installed: this interpreter, by its absolute path."""

        def get_kernel_spec(self, kernel_name: str) -> Any:
            return KernelSpec(
                argv=[sys.executable, "-P", "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                name=kernel_name,
                display_name="Python 3",
                language="python",
            )

    starting: Any = local_provisioner
    starting.launch_kernel = _launch
    manager = AsyncKernelManager(
        kernel_name="python3",
        kernel_spec_manager=ThisInterpreter(),
        transport="ipc",
        connection_file=str(here / "k.json"),
    )
    client = NotebookClient(
        notebook,
        km=manager,
        timeout=None,
        startup_timeout=300,
        record_timing=False,
        allow_errors=False,
        coalesce_streams=True,
        store_widget_state=False,
        on_cell_start=lambda cell, cell_index: begun.append(cell_index),  # noqa: ARG005
        resources={"metadata": {"path": folder}},
    )
    client.execute(cleanup_kc=False)


def _launch(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start the kernel in this process's own group; Jupyter would give it a session of its own."""
    environment = {**options["env"], "JPY_PARENT_PID": str(os.getpid())}
    return subprocess.Popen(  # noqa: S603 - this interpreter
        command, stdin=subprocess.DEVNULL, env=environment, cwd=options["cwd"]
    )


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # the kernel runs on; what is registered to end it would end this group
