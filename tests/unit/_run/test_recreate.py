"""An environment is made again from what a package names, and nothing of it is started here."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

import pytest

from repropack import __version__
from repropack._format.digests import digest_bytes
from repropack._format.limits import RunLimits
from repropack._run import recreate as module
from repropack._run.confinement.bubblewrap import find_bubblewrap
from repropack._run.confinement.sandbox import Sandbox
from repropack._run.distributions import wheel_fingerprint
from repropack._run.installers import Installer, find_pip, find_uv
from repropack._run.launch import observe_here
from repropack._run.recreate import RUNNER_NEEDS, find_interpreter, recreate_environment
from repropack.errors import CouldNotRunError
from repropack.models.environment import Interpreter
from repropack.models.manifest import Entry
from repropack.models.reports import UsedEnvironment
from tests.support.wheels import simple_index, tiny_wheel

pytestmark = pytest.mark.slow

LIMITED = Sandbox("none", RunLimits(max_run_seconds=120))
MINOR = f"{sys.version_info.major}.{sys.version_info.minor}"


class Given:
    """As much of a package as is asked: a lock, and wheels where they are packed."""

    def __init__(self, wheels: list[Path], *, packed: bool, lock: bool = True) -> None:
        self.environment = observe_here()
        rows = sorted((wheel.name.split("-")[:2], wheel) for wheel in wheels)
        text = "".join(
            f"{name.replace('_', '-')}=={version} \\\n"
            f"    --hash={digest_bytes(wheel.read_bytes())}\n"
            for (name, version), wheel in rows
        )
        self.files = {"requirements.lock": text.encode()} if lock else {}
        self.files |= {f"wheels/{w.name}": w.read_bytes() for w in wheels if packed}
        self.container = set(self.files)
        self.manifest = SimpleNamespace(entries=[self.entry(path) for path in self.files])

    def entry(self, path: str) -> Entry:
        data, role = self.files[path], "wheel" if path.startswith("wheels/") else "lock"
        return Entry(
            path=path,
            size=len(data),
            digest=digest_bytes(data),
            role=role,  # type: ignore[arg-type]
            media_type="application/zip",
        )

    def read(self, path: str) -> bytes:
        return self.files[path]

    def copy_entry(self, entry: Entry, target: BinaryIO) -> None:
        target.write(self.files[entry.path])


def house(folder: Path, files: Mapping[str, str] | None = None) -> list[Path]:
    """Tiny wheels under the names of what a worker needs; the first has ``files`` as well."""
    folder.mkdir()
    first, *rest = RUNNER_NEEDS
    return [tiny_wheel(folder, first, "1.0", files), *(tiny_wheel(folder, one) for one in rest)]


def only(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Leave one installer; skip where it is not there."""
    finders: dict[str, Any] = {"uv": find_uv, "pip": find_pip}
    if finders[name]() is None:
        pytest.skip(f"needs {name}")
    for other in set(finders) - {name}:
        monkeypatch.setattr(module, f"find_{other}", lambda: None)


@pytest.fixture
def no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every index that could be asked is one that nobody answers for."""
    for name in ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)


@pytest.mark.parametrize("name", ["uv", "pip"])
@pytest.mark.slow
def test_packed_wheels_are_installed_without_an_index(
    name: str, tmp_path: Path, no_index: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs begin in the environment, and repropack itself is named there."""
    only(monkeypatch, name)
    entry_points = {"numpy-1.0.dist-info/entry_points.txt": "[console_scripts]\nzz=os:getcwd\n"}
    wheels = house(tmp_path / "house", entry_points)
    made = recreate_environment(Given(wheels, packed=True), tmp_path, LIMITED)  # type: ignore[arg-type]
    home = tmp_path / f"environment-{name}" / "home"
    assert made.runtime.python == str(home / "bin" / "python")
    assert (
        made.used
        == UsedEnvironment(
            kind="recreated",
            origin="packed-wheels",
            installer=name,  # type: ignore[arg-type]
            installer_confined=False,
            python=".".join(map(str, sys.version_info[:3])),
            distributions=3,
        )
    )
    begin = (home / "bin" / "zz").read_text().splitlines()[0]
    assert begin == f"#!{home}/bin/python"
    asked = (
        "import importlib.metadata as m\n"
        "print(sorted((d.name, d.version) for d in m.distributions()))"
    )
    told = subprocess.run(
        [made.runtime.python, "-c", asked], capture_output=True, text=True, check=True
    ).stdout
    expected = [(needed, "1.0") for needed in RUNNER_NEEDS] + [("repropack-replay", __version__)]
    assert told == f"{sorted(expected)}\n"


@pytest.mark.hostile
@pytest.mark.parametrize("name", ["uv", "pip"])
@pytest.mark.slow
def test_nothing_that_is_installed_is_started(
    name: str, tmp_path: Path, no_index: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file ending in .pth, a site module and a hook of Python's own would all leave a trace."""
    only(monkeypatch, name)
    trace = tmp_path / "trace"
    code = f"import pathlib; pathlib.Path({str(trace)!r}).touch()"
    files = {
        "evil.pth": f"{code}\n",
        "sitecustomize.py": f"{code}\n",
        "usercustomize.py": f"{code}\n",
        "_manylinux.py": f"{code}\n",
        "keyring.py": f"{code}\n",
    }
    if name == "pip":  # uv refuses it
        files["numpy-1.0.data/scripts/python3"] = f"#!python\n{code}\n"
    wheels = house(tmp_path / "house", files)
    made = recreate_environment(Given(wheels, packed=True), tmp_path, LIMITED)  # type: ignore[arg-type]
    assert not trace.exists()
    subprocess.run([made.runtime.python, "-c", ""], check=True)
    assert trace.exists(), "the trace would have been left by an interpreter in the environment"


@pytest.mark.hostile
@pytest.mark.slow
def test_nothing_that_is_installed_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller's own setting has uv start the interpreter of the environment, unconfined."""
    only(monkeypatch, "uv")
    trace = tmp_path / "trace"
    code = f"import pathlib; pathlib.Path({str(trace)!r}).touch()"
    wheels = house(tmp_path / "house", {"evil.pth": f"{code}\n"})
    monkeypatch.setenv("UV_DEFAULT_INDEX", simple_index(tmp_path / "house", tmp_path / "simple"))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_COMPILE_BYTECODE", "1")
    made = recreate_environment(Given(wheels, packed=False), tmp_path, LIMITED)  # type: ignore[arg-type]
    assert not trace.exists()
    subprocess.run([made.runtime.python, "-c", ""], check=True)
    assert trace.exists(), "the trace would have been left by an interpreter in the environment"


@pytest.mark.parametrize("name", ["uv", "pip"])
@pytest.mark.slow
def test_without_wheels_the_index_in_use_is_asked(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files whose digest the lock does not have are not taken from it."""
    only(monkeypatch, name)
    wheels = house(tmp_path / "house")
    address = simple_index(tmp_path / "house", tmp_path / "simple")
    for variable in ("PIP_INDEX_URL", "UV_DEFAULT_INDEX"):
        monkeypatch.setenv(variable, address)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    given = Given(wheels, packed=False)
    (tmp_path / "a").mkdir()
    made = recreate_environment(given, tmp_path / "a", LIMITED)  # type: ignore[arg-type]
    assert (made.used.origin, made.used.installer) == ("index", name)
    lock = given.files["requirements.lock"].decode()
    numpy = lock.split("numpy==1.0 \\\n    --hash=sha256:")[1][:64]
    given.files["requirements.lock"] = lock.replace(numpy, "0" * 64).encode()
    (tmp_path / "b").mkdir()
    with pytest.raises(CouldNotRunError, match=r"environment: distribution .*numpy"):
        recreate_environment(given, tmp_path / "b", LIMITED)  # type: ignore[arg-type]


@pytest.mark.slow
def test_an_installer_that_knows_the_index_stands_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where neither does, what the first one said is told."""
    if find_uv() is None or find_pip() is None:
        pytest.skip("needs uv and pip")
    wheels = house(tmp_path / "house")
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "house"))
    given = Given(wheels, packed=False)
    (tmp_path / "a").mkdir()
    made = recreate_environment(given, tmp_path / "a", LIMITED)  # type: ignore[arg-type]
    assert made.used.installer == "pip"
    monkeypatch.delenv("PIP_FIND_LINKS")
    (tmp_path / "b").mkdir()
    with pytest.raises(CouldNotRunError, match="uv failed: "):
        recreate_environment(given, tmp_path / "b", LIMITED)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["uv", "pip"])
@pytest.mark.slow
def test_a_wheel_of_another_machine_is_named(
    name: str, tmp_path: Path, no_index: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is nothing else to install it from."""
    only(monkeypatch, name)
    wheels = house(tmp_path / "house")
    numpy = next(wheel for wheel in wheels if wheel.name.startswith("numpy"))
    wheels.remove(numpy)
    wheels.append(numpy.rename(numpy.with_name("numpy-1.0-cp27-cp27m-win32.whl")))
    with pytest.raises(CouldNotRunError, match="environment: distribution numpy: "):
        recreate_environment(Given(wheels, packed=True), tmp_path, LIMITED)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["uv", "pip"])
@pytest.mark.hostile
@pytest.mark.slow
def test_a_wheel_of_another_distribution_is_not_installed(
    name: str, tmp_path: Path, no_index: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name on the outside and another within."""
    only(monkeypatch, name)
    wheels = house(tmp_path / "house")
    numpy = next(wheel for wheel in wheels if wheel.name.startswith("numpy"))
    (tmp_path / "other").mkdir()
    numpy.write_bytes(tiny_wheel(tmp_path / "other", "evil").read_bytes())
    with pytest.raises(CouldNotRunError, match=r"environment: distribution .*numpy"):
        recreate_environment(Given(wheels, packed=True), tmp_path, LIMITED)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["uv", "pip"])
@pytest.mark.slow
def test_under_bubblewrap_the_installer_is_confined(
    name: str, tmp_path: Path, no_index: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sees no network and writes nowhere but into the environment."""
    only(monkeypatch, name)
    if find_bubblewrap() is None:
        pytest.skip("needs bubblewrap")
    sandbox = Sandbox("bubblewrap", RunLimits(max_run_seconds=120))
    wheels = house(tmp_path / "house")
    try:
        made = recreate_environment(Given(wheels, packed=True), tmp_path, sandbox)  # type: ignore[arg-type]
    except CouldNotRunError as error:
        if "bwrap" in error.message:
            pytest.skip("needs namespaces for bubblewrap")
        raise
    assert made.used.installer_confined is True
    assert made.runtime.view is not None
    assert made.runtime.view.shows(made.runtime.python) is not None


def test_a_package_without_a_lock(tmp_path: Path) -> None:
    """There is nothing to make it from."""
    with pytest.raises(CouldNotRunError, match=r"expected a package with requirements\.lock"):
        recreate_environment(Given([], packed=False, lock=False), tmp_path, LIMITED)  # type: ignore[arg-type]


def test_a_lock_without_what_a_worker_needs(tmp_path: Path) -> None:
    """Nothing is installed that no worker could run in."""
    wheels = [wheel for wheel in house(tmp_path / "house") if "numpy" not in wheel.name]
    with pytest.raises(CouldNotRunError, match=r"what a worker needs, observed none of numpy$"):
        recreate_environment(Given(wheels, packed=True), tmp_path, LIMITED)  # type: ignore[arg-type]


@pytest.mark.slow
def test_what_a_worker_needs() -> None:
    """The list is what a worker imports from other distributions, and nothing else."""
    code = (
        "import importlib.metadata as m, sys\n"
        "before = set(sys.modules)\n"
        "import repropack._run.worker, repropack._run.environment, threadpoolctl\n"
        "tops = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "found = {d for t in tops for d in m.packages_distributions().get(t, [])}\n"
        "print(sorted(found))"
    )
    told = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, cwd="/"
    ).stdout
    through_pydantic = {"annotated-types", "pydantic_core", "typing-inspection"}
    through_pydantic |= {"typing_extensions", "repropack-replay"}
    assert set(ast.literal_eval(told)) - through_pydantic == set(RUNNER_NEEDS)


def interpreter(version: str, implementation: str = "CPython", flags: str = "") -> Interpreter:
    """An interpreter as a package records it."""
    return observe_here().interpreter.model_copy(
        update={"version": version, "implementation": implementation, "abi_flags": flags}
    )


def pretend(folder: Path, minor: str, *lines: str) -> Path:
    """A program on the search path that answers like an interpreter."""
    folder.mkdir(exist_ok=True)
    path = folder / f"python{minor}"
    path.write_text("#!/bin/sh\ncat <<'X'\n" + "\n".join(lines) + "\nX\n")
    path.chmod(0o755)
    return path


def test_the_interpreter_below_this_one_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Out of its virtual environment, and by an absolute path."""
    monkeypatch.setenv("PATH", "")
    version = ".".join(map(str, sys.version_info[:3]))
    found = find_interpreter(interpreter(version, flags=sys.abiflags))
    assert (Path(found.path).samefile(sys.executable), found.version) == (True, version)
    assert found.path == sys._base_executable  # type: ignore[attr-defined]


def test_another_minor_version_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the search path, its relative folders left out; what does not answer is passed over."""
    monkeypatch.setattr(module, "find_uv", lambda: None)
    shim, real = tmp_path / "shims", tmp_path / "bin"
    shim.mkdir()
    (shim / "python9.9").write_text("#!/bin/sh\nexit 127\n")
    (shim / "python9.9").chmod(0o755)
    pretend(real, "9.9", "cpython 9.9 ", "9.9.4", "/opt/9.9/bin/python9.9")
    pretend(tmp_path / "relative", "9.9", "cpython 9.9 ", "9.9.0", "/evil/python")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"relative:{shim}:{real}:/usr/bin:/bin")
    found = find_interpreter(interpreter("9.9.1"))
    assert (found.path, found.version) == ("/opt/9.9/bin/python9.9", "9.9.4")


def test_of_several_the_recorded_version_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though another one is nearer."""
    for folder, version in (("a", "9.9.4"), ("b", "9.9.1"), ("c", "9.9.1")):
        pretend(tmp_path / folder, "9.9", "cpython 9.9 ", version, f"/opt/{folder}")
    places = [str(tmp_path / folder) for folder in ("a", "b", "c")]
    monkeypatch.setenv("PATH", ":".join([*places, "/usr/bin", "/bin"]))
    assert find_interpreter(interpreter("9.9.1")).path == "/opt/b"


def test_uv_is_asked_for_interpreters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that it manages are on no search path."""
    real = pretend(tmp_path / "managed", "9.9", "cpython 9.9 ", "9.9.4", "/opt/managed")
    uv = tmp_path / "uv"
    uv.write_text(f'#!/bin/sh\n[ "$*" = "python find --no-project --system 9.9" ] && echo {real}\n')
    uv.chmod(0o755)
    monkeypatch.setattr(module, "find_uv", lambda: Installer("uv", (str(uv),)))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert find_interpreter(interpreter("9.9.1")).path == "/opt/managed"


@pytest.mark.parametrize(
    ("recorded", "words"),
    [
        (("9.9.1",), "CPython 9.9 on this machine"),
        ((f"{MINOR}.1", "PyPy"), f"PyPy {MINOR} on"),
        ((f"{MINOR}.1", "CPython", "t"), f"CPython {MINOR}t on"),
        (("latest",), "CPython None on"),
    ],
)
def test_no_interpreter(
    recorded: tuple[str, ...], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another minor version, implementation or kind of build is no stand-in."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(module, "find_uv", lambda: None)
    with pytest.raises(CouldNotRunError, match=words):
        find_interpreter(interpreter(*recorded))


def test_an_interpreter_that_makes_no_environment(tmp_path: Path) -> None:
    """What it said last is told."""
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no module named venv >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(CouldNotRunError, match="did not make one: no module named venv"):
        module._make_environment(str(broken), tmp_path / "env")
    with pytest.raises(CouldNotRunError, match="did not make one: "):
        module._make_environment(str(tmp_path / "none"), tmp_path / "env")


def test_the_fingerprint_of_a_wheel_is_that_of_its_installed_files(tmp_path: Path) -> None:
    """Files that are spread elsewhere are told apart, and what is no wheel has none."""
    wheel = tiny_wheel(tmp_path, "zz", "1.0", {"zz-1.0.data/purelib/a.py": "", "zz/b.py": ""})
    same = tiny_wheel(
        tmp_path, "zz", "1.0", {"a.py": "", "zz/b.py": "", "zz-1.0.data/scripts/c": "x"}
    )
    assert wheel_fingerprint(wheel) == wheel_fingerprint(same) is not None
    (tmp_path / "no.whl").write_bytes(b"no zip")
    assert wheel_fingerprint(tmp_path / "no.whl") is None
