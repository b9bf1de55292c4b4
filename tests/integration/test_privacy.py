"""No byte of a package tells who built it, where, or with which secrets.

Projects are built by the command itself, in a process whose account, home folder, host and
variables tell a lot, by code that looks at all of them and prints what it sees.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import zlib
from base64 import b64encode
from pathlib import Path

import numpy as np
import pytest

from tests.support.experiments import TINY, write_project
from tests.support.leaks import leaks_in, leaks_in_package, spellings
from tests.support.thinning import part_of

USER, HOST = "telltale-ursula", "vesuvius-lab"
SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI" + "K7MDENGbPxRfiCY",
    "GITHUB_TOKEN": "gh" + "p_" + "q1W2e3R4t5Y6u7I8o9P0a1S2d3F4g5H6j7K8",
    "DB_PASSWORD": "correct-horse-42",
    "MY_SETTING": "telltale-value",
}
TEXTS = (USER, HOST, *SECRETS, *SECRETS.values())

LOOKING = '''\
"""Looks at everything that tells of account and machine, and hands over none of it."""

import getpass
import os
import platform
import socket
import sys
import tempfile
import traceback
import warnings


def look():
    seen = [os.getcwd(), __file__, os.path.expanduser("~"), socket.gethostname(), sys.executable]
    seen += [getpass.getuser(), platform.node(), tempfile.gettempdir(), *sys.path, str(os.environ)]
    try:
        raise RuntimeError(" ".join(seen))
    except RuntimeError:
        seen.append(traceback.format_exc())
    return "\\n".join(seen)


'''
STEPWISE = LOOKING + TINY.replace(
    "        self.updates += 1\n",
    "        self.updates += 1\n        {telling}\n",
)
LOUD = STEPWISE.replace("{telling}", "print(look()); sys.stderr.write(look())")
FAILING = STEPWISE.replace("{telling}", "raise RuntimeError(look())")
COMMAND = (
    LOOKING
    + """\
import json

print(look())
sys.stderr.write(look())
{more}
with open("out.json", "w") as file:
    json.dump({"loss": 0.5}, file)
"""
)
COMPARISONS = [{"name": "restart", "hash-seed": 1, "expect": "identical"},
               {"name": "resume", "resume-at": 4, "expect": "identical"}]  # fmt: skip


def in_uts(*command: str) -> list[str]:
    """The same command under another host name, where that can be given."""
    script = f'hostname {HOST} && exec "$@"'
    given = ["unshare", "--uts", "sh", "-c", script, "sh"]
    able = shutil.which("unshare") and shutil.which("hostname")
    if able and subprocess.run([*given, "true"], capture_output=True, check=False).returncode == 0:
        return [*given, *command]
    return list(command)


def build(project: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Build from within the project's folder, as an account that tells a lot."""
    home = project.parents[1]
    environment = {**os.environ, **SECRETS, "HOME": str(home), "USER": USER, "LOGNAME": USER}
    environment["FLEXIBLAS"] = str(home / "lib" / "libblas.so")  # a variable that is recorded
    environment |= {"HOSTNAME": HOST, "XDG_CACHE_HOME": str(home / ".cache"), "PWD": str(project)}
    command = in_uts(sys.executable, "-m", "repropack", "build", ".", "-o", "made.zip", *options)
    return subprocess.run(
        command,
        cwd=project,
        env=environment,
        capture_output=True,
        check=False,
        text=True,
        timeout=500,
    )


def place(tmp_path: Path) -> Path:
    """A project's folder in a home that has the account's name."""
    return tmp_path / "home" / USER / "projects" / "tiny"


def texts(tmp_path: Path) -> tuple[str, ...]:
    return (*TEXTS, str(tmp_path), tmp_path.parent.name)


def write_command(folder: Path, more: str = "") -> Path:
    folder.mkdir(parents=True)
    (folder / "run.py").write_text(COMMAND.replace("{more}", more))
    (folder / "repropack.toml").write_text(
        'package = { name = "tiny", version = "1.0.0", title = "Tiny", license = "CC0-1.0", '
        'authors = [{ name = "Nobody" }] }\n'
        '[experiment]\ncommand = ["python", "run.py"]\noutputs = ["out.*"]\nsource = ["run.py"]\n'
        '[[comparisons]]\nname = "restart"\nhash-seed = 1\nexpect = "identical"\n'
    )
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("options", part_of([(), ("--directory",), ("--compress",)]), ids=str)
def test_a_package_of_a_stepwise_experiment_tells_nothing(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """Its notebook executed, and whatever it printed; as a zip, as a folder, and deflated."""
    project = write_project(
        place(tmp_path), source=LOUD, record={"checkpoint-every": 2, "keep": ["x"]},
        comparisons=COMPARISONS,
    )  # fmt: skip
    (project / "README.md").write_text("It takes 2 seconds. The loss should fall.\n")
    done = build(project, *options)
    assert done.returncode == 0, done.stderr
    assert leaks_in_package(project / "made.zip", texts(tmp_path)) == []


@pytest.mark.slow
def test_a_package_of_a_command_tells_nothing(tmp_path: Path) -> None:
    """Neither what it printed nor the clean copy in which it ran."""
    project = write_command(place(tmp_path))
    done = build(project)
    assert done.returncode == 0, done.stderr
    assert leaks_in_package(project / "made.zip", texts(tmp_path)) == []


LEAKING_OUTPUTS = {
    "text": "open('out.txt', 'w').write(os.getcwd())",
    "traceback": "open('out.log', 'w').write(look())",
    "npz": "import numpy; numpy.savez('out.npz', where=numpy.array(os.getcwd()))",
    "notebook": "open('out.ipynb', 'w').write(json.dumps({'cells': [{'outputs': [look()]}]}))",
    "svg": "open('out.svg', 'w').write('<svg><metadata>' + __file__ + '</metadata></svg>')",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", part_of(LEAKING_OUTPUTS))
def test_a_command_that_writes_where_it_ran_makes_no_package(kind: str, tmp_path: Path) -> None:
    """The output is named, and nothing is published."""
    project = write_command(place(tmp_path), LEAKING_OUTPUTS[kind])
    done = build(project, "--unexecuted-notebook")
    assert done.returncode == 1, done.stderr
    assert "runs/reference/outputs/out." in done.stderr
    assert "[personal-path]" in done.stderr
    assert not (project / "made.zip").exists()


@pytest.mark.slow
def test_an_experiment_that_fails_makes_no_package(tmp_path: Path) -> None:
    """Its author may read where it failed; nobody else gets anything."""
    project = write_project(place(tmp_path), source=FAILING)
    done = build(project)
    assert done.returncode == 4
    assert "RuntimeError" in done.stderr
    assert not (project / "made.zip").exists()
    assert not list(project.glob("*.zip"))


def test_the_host_is_another_one(tmp_path: Path) -> None:
    """The tests above look for a name that the machine really has."""
    command = in_uts(sys.executable, "-c", "import socket; print(socket.gethostname())")
    if command[0] != "unshare":
        pytest.skip("needs unshare, hostname and the right to name a host")
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    assert done.stdout == f"{HOST}\n"


# ---------------------------------------------------------------- the search itself


def saved(text: str) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, a=np.array([text]), b=np.frombuffer(text.encode(), np.uint8))
    return stream.getvalue()


def png(kind: bytes, content: bytes) -> bytes:
    end = b"\0\0\0\0IEND\0\0\0\0"
    return b"\x89PNG\r\n\x1a\n" + len(content).to_bytes(4) + kind + content + bytes(4) + end


HIDDEN = {
    "a.txt": f"x{USER.upper()}y".encode(),
    "16.txt": USER.encode("utf-16-be"),
    "a.npz": saved(USER),
    "a.gz": gzip.compress(USER.encode()),
    "text.png": png(b"tEXt", b"k\0" + USER.encode()),
    "deflated.png": png(b"zTXt", b"k\0\0" + zlib.compress(USER.encode())),
    "a.json": json.dumps("".join(f"\\u{ord(one):04x}" for one in USER))
    .replace("\\\\", "\\")
    .encode(),
    "a.ipynb": json.dumps({"image": b64encode(png(b"tEXt", USER.encode())).decode()}).encode(),
    "a.svg": "".join(f"&#{ord(one)};" for one in USER).encode(),
    "percent.md": "".join(f"%{ord(one):02X}" for one in USER).encode(),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_the_search_finds_what_is_hidden(name: str) -> None:
    """In every spelling and wrapping that it claims to know."""
    assert leaks_in(name, HIDDEN[name], (USER,)) != []
    assert leaks_in(name, HIDDEN[name], ("somebody-else",)) == []


@pytest.mark.parametrize("shift", range(3))
def test_the_search_finds_base64_at_any_place(shift: int) -> None:
    """Where a text begins decides how base64 spells it."""
    encoded = b64encode(b"abc"[:shift] + USER.encode() + b"xyz").lower()
    assert any(one in encoded for one in spellings(USER))
