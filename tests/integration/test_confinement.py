"""Foreign code, confined: the same bytes as outside, wherever Python lies, and no trace."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import repropack
from repropack._cli.main import main
from repropack._format.layout import log_path
from repropack._format.limits import DEFAULT_RUN_LIMITS, RunLimits
from repropack._read.project import load_project
from repropack._run.confinement.consent import Consent
from repropack._run.confinement.probing import probe_level
from repropack._run.confinement.sandbox import Sandbox
from repropack._run.execute import Launcher
from repropack._run.materials import Materials
from repropack.build import build_package
from repropack.errors import ConfinementUnavailableError, UsageError
from repropack.lab import LAB_PROJECT
from repropack.models.reports import VerificationReport
from repropack.verify import verify_package
from tests.support.experiment_sources import SOURCES, experiment, make_launcher, write_project
from tests.support.hostile import take_apart

pytestmark = pytest.mark.slow
LEVELS = ("bubblewrap", "landlock")


def require(level: Any) -> None:
    found = probe_level(level)
    if isinstance(found, ConfinementUnavailableError):
        pytest.skip(f"needs {level}: {found.message}")


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest) -> Any:
    require(request.param)
    return request.param


def build(folder: Path, source: str, **options: Any) -> Path:
    build_package(write_project(folder / "project", source, **options), folder / "built.zip")
    return folder / "built.zip"


def verify(path: Path, level: Any, **limits: int) -> VerificationReport:
    consent = Consent(sandbox=level, run_limits=RunLimits(**limits))
    return verify_package(path, consent=consent)


# ---------------------------------------------------------------- the same bytes


WIDE = experiment(
    """
    def update(self, trace):
        generator = np.random.Generator(np.random.PCG64(self.count))
        a = generator.standard_normal((150, 150)).astype(np.float32)
        b = generator.standard_normal((150, 150))
        trace.record("product", a @ a.T)
        trace.record("spectrum", np.linalg.svd(b, compute_uv=False))
        trace.record("sum", np.array([b.sum(), np.exp(b).sum(), np.sin(b).mean()]))
        self.weights = self.weights + float(b[0, 0])
    """
)
"""Products, decompositions and transcendental functions: what a kernel or threads would change."""


def test_an_environment_is_the_same_inside_as_outside(tmp_path: Path, level: Any) -> None:
    """BLAS kernel, threads, processor, distributions, variables, probe card: the whole record."""
    records, logs = [], []
    for name, sandbox in (("out", Sandbox()), ("in", Sandbox(level, DEFAULT_RUN_LIMITS))):
        launcher = make_launcher(tmp_path / name, WIDE, sandbox=sandbox)
        records.append(launcher.run_reference().environment)
        logs.append((launcher.tree / log_path("reference")).read_bytes())
    assert records[0] == records[1]
    assert logs[0] == logs[1]


def test_the_labs_bytes_are_the_same_inside_as_outside(
    lab_package: Path, tmp_path: Path, level: Any
) -> None:
    """The reference's log, to the last chain."""
    project = load_project(LAB_PROJECT)
    source, scratch = tmp_path / "source", tmp_path / "scratch"
    scratch.mkdir()
    forgery = take_apart(lab_package)
    for path, data in forgery.files.items():
        if path.startswith("source/"):
            place = source / path.removeprefix("source/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
    sandbox = Sandbox(level, DEFAULT_RUN_LIMITS)
    materials = Materials(source)
    launcher = Launcher(project.plan(), materials, tmp_path / "tree", scratch, sandbox=sandbox)
    launcher.run_reference()
    log = (tmp_path / "tree" / log_path("reference")).read_bytes()
    assert log == forgery.files[log_path("reference")]


def test_a_foreign_package_is_verified_confined(tmp_path: Path, level: Any) -> None:
    """Identical, and the report says at which level, with what held and which limits."""
    report = verify(build(tmp_path, SOURCES["generators"]), level, max_run_seconds=60)
    assert report.verdict == "identical"
    assert [run.run for run in report.runs] == ["reference", "resume-at-2"]
    confinement = report.confinement
    assert confinement is not None
    assert (confinement.level, confinement.reason) == (level, None)
    assert {row.name: row.status for row in confinement.guarantees}["network"] == "held"
    assert confinement.limits["max_run_seconds"] == 60
    assert report.environment is not None
    assert report.environment.differences == ()


def test_a_run_beyond_the_recorded_end_is_a_difference(tmp_path: Path, level: Any) -> None:
    """It is stopped one step later, however many the plan would allow."""
    ending = experiment(
        "def update(self, trace):\n    super().update(trace)\n"
        "    if self.count == 4: trace.finish('enough')"
    )
    path = build(tmp_path, ending, steps=100_000)
    forgery = take_apart(path)
    endless = forgery.files["source/tiny_lab.py"].replace(b"self.count == 4", b"False")
    forgery.files["source/tiny_lab.py"] = endless
    report = verify(forgery.write_zip(tmp_path / "forged.zip"), level)
    assert report.verdict == "differs"
    (reference, *_) = report.runs
    assert reference.divergence is not None
    assert (reference.divergence.kind, reference.divergence.step) == ("length", 4)


def test_a_lying_source_differs_confined_as_well(tmp_path: Path, level: Any) -> None:
    """What is recorded is not there to be copied."""
    path = build(tmp_path, SOURCES["calm"])
    forgery = take_apart(path)
    changed = forgery.files["source/tiny_lab.py"].replace(b"0.1 * self", b"0.2 * self")
    forgery.files["source/tiny_lab.py"] = changed
    report = verify(forgery.write_zip(tmp_path / "forged.zip"), level)
    assert report.verdict == "differs"
    assert report.runs[0].divergence is not None
    assert (report.runs[0].divergence.step, report.runs[0].divergence.stage) == (1, "weights")
    assert report.runs[0].repeats is True


# ---------------------------------------------------------------- consent


def test_trust_runs_one_package_unconfined(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the digest that was typed; the text says plainly that nothing confined it."""
    built = build_package(
        write_project(tmp_path / "project", SOURCES["calm"]), tmp_path / "built.zip"
    )
    trust = ["--no-sandbox", "--trust", built.package_digest]
    assert main(["verify", built.path, *trust]) == 0
    assert "\nconfinement:      NOT CONFINED: by --trust" in capsys.readouterr().out
    assert main(["verify", built.path, "--no-sandbox", "--trust", "sha256:" + "0" * 64]) == 2
    assert "trusted package: expected sha256:000" in capsys.readouterr().err
    with pytest.raises(UsageError):
        verify_package(built.path, consent=Consent(trust="sha256:" + "0" * 64))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--no-sandbox"], "expected --no-sandbox and --trust together"),
        (["--trust", "sha256:" + "0" * 64], "expected --no-sandbox and --trust together"),
        (
            ["--no-sandbox", "--trust", "sha256:" + "0" * 64, "--sandbox", "landlock"],
            "expected --sandbox or --no-sandbox, observed both",
        ),
        (["--trust", "yes"], "expected `sha256:` and 64 lower-case"),
        (["--sandbox", "firejail"], "invalid choice"),
    ],
)
def test_half_a_consent_is_wrong_use(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", "absent.zip", *options]) == 2
    assert message in capsys.readouterr().err


def test_without_confinement_foreign_code_has_status_4(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what to install, and the way to trust this very package."""
    unfit = ConfinementUnavailableError("bubblewrap: observed none", hint="install bubblewrap")
    monkeypatch.setattr("repropack._run.confinement.probing.probe_level", lambda level: unfit)
    path = build(tmp_path, SOURCES["calm"])
    assert main(["verify", str(path)]) == 4
    shown = capsys.readouterr().out
    assert "[confinement-unavailable]" in shown
    assert "install bubblewrap" in shown
    assert "--no-sandbox --trust PACKAGE-DIGEST" in shown
    assert main(["verify", str(path), "--sandbox", "landlock"]) == 4


# ---------------------------------------------------------------- interpreters in homes


MODULE = "import numpy as np\nFACTOR = np.float64(0.125)\n"
IMPORTING = (
    SOURCES["calm"]
    .replace("import numpy as np\n", "import numpy as np\nfrom offset import FACTOR\n")
    .replace("0.1 * self.count", "FACTOR * self.count")
)


def make_home(folder: Path, kind: str) -> Path:
    """A virtual environment in a home folder that has ``offset`` in one of several ways.

    It sees the distributions of this interpreter, through a ``.pth`` file as an editable install
    writes it.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
    site = next((folder / "env/lib").glob("python*/site-packages"))
    here = Path(np.__file__).parents[1]
    lines = [str(here), str(Path(repropack.__file__).parents[1])]
    project = folder / "project"
    (project / "src").mkdir(parents=True)
    for name in (".env", "results.json", "src/secret.txt"):
        (project / name).write_text("secret", "utf-8")
    if kind == "installed":
        (site / "offset.py").write_text(MODULE, "utf-8")
        told = site / "offset-1.0.dist-info"
        told.mkdir()
        (told / "METADATA").write_text("Name: offset\nVersion: 1.0\n", "utf-8")
        (told / "RECORD").write_text("offset.py,,\noffset-1.0.dist-info/WHEEL,,\n", "utf-8")
    elif kind == "editable":
        (project / "src/offset").mkdir()
        (project / "src/offset/__init__.py").write_text(MODULE, "utf-8")
        lines.append(str(project / "src"))
    elif kind == "finder":
        (project / "src/offset.py").write_text(MODULE, "utf-8")
        (site / "__editable___offset_finder.py").write_text(
            FINDER.format(mapping={"offset": str(project / "src/offset.py")}), "utf-8"
        )
        lines.append("import __editable___offset_finder; __editable___offset_finder.install()")
    (site / "all.pth").write_text("\n".join(lines) + "\n", "utf-8")
    return folder / "env/bin/python"


FINDER = """
import sys
from importlib.util import spec_from_file_location
MAPPING = {mapping!r}
class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in MAPPING:
            return spec_from_file_location(name, MAPPING[name])
def install():
    sys.meta_path.append(Finder)
"""


@pytest.mark.parametrize("kind", ["installed", "editable", "finder"])
def test_an_interpreter_in_a_home_folder_works(tmp_path: Path, level: Any, kind: str) -> None:
    """A virtual environment and editable installs in a home, of which nothing else is seen.

    What an experiment imports has to be packed or installed; an editable install is neither.
    """
    python = make_home(tmp_path / "home", kind)
    environment = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"], "TZ": "UTC"}

    def call(*arguments: str) -> dict[str, Any]:
        command = [str(python), "-P", "-m", "repropack", *arguments, "--format", "json"]
        done = subprocess.run(
            command, env=environment, capture_output=True, cwd=tmp_path, check=False
        )
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    project = str(write_project(tmp_path / "project", IMPORTING))
    path = str(tmp_path / "built.zip")
    if kind != "installed":
        refused = call("build", project, "-o", path, "--unexecuted-notebook")
        assert "imports 'offset': expected it packed or installed" in refused["message"]
        own = IMPORTING.replace("from offset import FACTOR", "FACTOR = np.float64(0.125)")
        project = str(write_project(tmp_path / "own", own))
    call("build", project, "-o", path, "--unexecuted-notebook")
    hidden = [str(tmp_path / "home/project" / name) for name in (".env", "src/secret.txt")]
    forgery = take_apart(Path(path))
    forgery.files["source/tiny_lab.py"] += (
        f"for hidden in {hidden!r}:\n"
        "    try:\n        FACTOR = FACTOR + len(open(hidden).read())\n"
        "    except OSError:\n        pass\n"
    ).encode()
    looking = str(forgery.write_zip(tmp_path / "looking.zip"))
    for package in (path, looking):
        report = call("verify", package, "--sandbox", level)
        assert (report["verdict"], report["problem"]) == ("identical", None)


# ---------------------------------------------------------------- no trace


SLEEPS = experiment(
    """
    def update(self, trace):
        super().update(trace)
        import time
        if os.fork() == 0:
            os.setsid()
            time.sleep(60)
            os._exit(0)
        time.sleep(self.config.get("pause", 0))
    """
)


def running(marker: str) -> list[str]:
    """Command lines of processes with ``marker`` in their environment."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (place / "environ").read_bytes():
                found.append((place / "cmdline").read_text("utf-8", "replace"))
        except OSError:
            continue
    return found


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
@pytest.mark.parametrize("at", [*LEVELS, "none"])
def test_an_interrupted_verification_leaves_nothing(tmp_path: Path, at: Any, how: str) -> None:
    """No process, and no temporary folder either, but after SIGKILL, which nobody can catch."""
    if at != "none":
        require(at)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    built = build_package(write_project(tmp_path / "project", SLEEPS), tmp_path / "built.zip")
    forgery = take_apart(Path(built.path))
    slow = forgery.files["source/tiny_lab.py"].replace(b'.get("pause", 0)', b'.get("pause", 60)')
    forgery.files["source/tiny_lab.py"] = slow
    path = forgery.write_zip(tmp_path / "slow.zip")
    options = ["--sandbox", str(at)]
    if at == "none":
        with repropack.open_package(path) as package:
            options = ["--no-sandbox", "--trust", package.package_digest]
    starting = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from repropack.__main__ import console; console()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", starting, "verify", str(path), *options],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    marker = f"TMPDIR={temporary}/repropack-verify-"
    deadline = time.monotonic() + 60
    while not [line for line in running(marker) if "worker_main" in line]:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(1.0)  # until it sleeps in its step
    process.send_signal(getattr(signal, how))
    _, error = process.communicate(timeout=60)
    if how == "SIGKILL":
        assert process.returncode == -9
    else:
        assert (process.returncode, error.strip()) == (130, b"repropack: interrupted")
        assert list(temporary.iterdir()) == []
    deadline = time.monotonic() + 5
    while running(marker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running(marker) == []


# ---------------------------------------------------------------- the notebook


@pytest.mark.notebook
def test_a_foreign_notebook_runs_under_bubblewrap_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its kernel needs local sockets; at level landlock that is said, and no answer given."""
    require("bubblewrap")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = build(tmp_path, SOURCES["calm"])
    consent = Consent(sandbox="bubblewrap")
    report = verify_package(path, notebook=True, consent=consent)
    assert report.problem is None
    assert report.verdict == "identical"
    assert report.notebook is not None
    assert (report.notebook.executed, report.notebook.differences) == (True, ())
    require("landlock")
    refused = verify_package(path, notebook=True, consent=Consent(sandbox="landlock"))
    assert refused.verdict == "could-not-run"
    assert refused.problem is not None
    assert refused.problem.message == (
        "notebook: expected local sockets for its kernel, observed none at level landlock"
    )
