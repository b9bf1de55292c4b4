"""Tiny experiments, each one source text, and the projects and runs that they are put into.

Every text is a module of its own with a class ``Experiment``: the calm one below, with one thing
changed. What a verifier cannot tell from the calm one is what it would miss.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

from repropack._format.layout import REFERENCE_RUN
from repropack._read.container import open_container
from repropack._read.run import RunReader
from repropack._run.confinement.sandbox import UNCONFINED, Sandbox
from repropack._run.execute import Launcher
from repropack._run.materials import Materials
from repropack._run.recorder import RecordedRun
from repropack.models.plan import ComparisonPlan, ExperimentPlan, Plan, RecordPlan

CALM = '''\
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np


class Calm:
    """Drifts: the weights depend on seed and count of steps, and on nothing else."""

    def __init__(self, config, seed):
        self.config = config
        self.seed = seed
        self.count = 0
        self.weights = np.array([seed, seed + 0.5, -0.0])

    def step(self, trace):
        self.count += 1
        self.update(trace)
        trace.record("weights", self.weights, of=("state:weights", "state:count"))
        trace.metric("loss", float(self.weights[0]))

    def update(self, trace):
        self.weights = self.weights + 0.1 * self.count

    def state_dict(self):
        return {"weights": self.weights, "count": self.count}

    def load_state_dict(self, state):
        self.weights = state["weights"]
        self.count = state["count"]


'''


def experiment(body: str = "pass") -> str:
    """The calm experiment with ``body`` as the class body of a variation, from line 36 on."""
    return f"{CALM}class Experiment(Calm):\n{indent(dedent(body).strip(), '    ')}\n"


def _then(method: str, first: str, lines: tuple[str, ...], last: str = "") -> str:
    body = "\n".join(f"    {line}" for line in (first, *lines, last) if line)
    return experiment(f"def {method}:\n{body}")


def updating(*lines: str) -> str:
    """Do ``lines`` at every step, before its stage."""
    return _then("update(self, trace)", "super().update(trace)", lines)


def at_step(step: int, *lines: str) -> str:
    """Do ``lines`` in the middle of one step, before its stage."""
    return updating(f"if self.count == {step}:", *(f"    {line}" for line in lines))


def with_state(*lines: str) -> str:
    """Do ``lines`` with ``state``, the calm experiment's own, before it is handed over."""
    return _then("state_dict(self)", "state = super().state_dict()", lines, "return state")


def configured(annotation: str, declared: str) -> str:
    """Take a configuration of a declared kind and make a stage of its rate."""
    source = experiment(
        f"""
        def __init__(self, config: {annotation}, seed: int):
            super().__init__(config, seed)

        def update(self, trace):
            given = self.config
            self.weights = self.weights + (given["rate"] if isinstance(given, dict) else given.rate)
        """
    )
    return source.replace(
        "import os\n", "from __future__ import annotations\nimport os\n", 1
    ).replace("class Calm:", f"{declared}\n\nclass Calm:", 1)


DATACLASS = (
    "@dataclass\nclass Config:\n    rate: float = 0.5\n    layers: tuple[int, ...] = (4, 2)\n"
)
PYDANTIC = (
    "import pydantic\n\n\nclass Config(pydantic.BaseModel):\n"
    '    rate: float = pydantic.Field(0.5, gt=0)\n    name: str = "calm"\n'
)

BEHAVING: Mapping[str, str] = {
    "calm": experiment(),
    "constant": experiment("def update(self, trace): pass"),
    "generators": experiment(
        """
        def __init__(self, config, seed):
            super().__init__(config, seed)
            self.generators = [np.random.PCG64(seed), np.random.MT19937(seed)]

        def update(self, trace):
            words = [int(generator.random_raw()) >> 40 for generator in self.generators]
            trace.record("words", np.array(words), of="state:generators")
            self.weights = self.weights + np.array([*words, 0], dtype=np.float64)

        def state_dict(self):
            states = [generator.state for generator in self.generators]
            return {**super().state_dict(), "generators.all": states}

        def load_state_dict(self, state):
            super().load_state_dict(state)
            for generator, own in zip(self.generators, state["generators.all"]):
                generator.state = own
        """
    ),
    "live-views": experiment(
        """
        def update(self, trace):
            self.weights += 0.1 * self.count

        def state_dict(self):
            return {"weights": self.weights[:], "count": self.count}

        def load_state_dict(self, state):
            self.count = state["count"]
            self.weights[:] = state["weights"]
        """
    ),
    "mutates-stage": experiment(
        """
        def step(self, trace):
            super().step(trace)
            self.weights += 1024.0
            self.weights -= 1024.0
        """
    ),
    "finishes": at_step(3, 'trace.finish("good enough")'),
    "evaluates": updating('if self.count % 2 == 0: trace.record("eval", self.weights * 2.0)'),
    "odd-numbers": updating(
        'trace.metric("nan", float("nan"))',
        'trace.metric("inf", float("-inf"))',
        'trace.metric("big", 2**70)',
    ),
    "prints": updating('print("x" * 100_000)', 'os.write(1, b"y" * 100_000)'),
    "prints-messages": updating(
        """print('{"kind":"finished","kept":[]}', flush=True)""",
        """print('{"kind":"checkpointed","step":1}', file=sys.__stdout__, flush=True)""",
        """os.write(1, b'{"kind":"finished","kept":[]}\\n')""",
    ),
    "reads-input": updating('assert sys.stdin.read() == ""'),
    "changes-folder": at_step(1, 'os.chdir("/")'),
    "grows": experiment(
        """
        def update(self, trace):
            super().update(trace)
            if self.count > 1: trace.record("moment", self.weights, of="state:late")

        def state_dict(self):
            state = super().state_dict()
            if self.count: state["late.moment"] = self.weights * 2.0
            return state
        """
    ),
    "factory": f"{CALM}def Experiment(config, seed):\n    return Calm(config, seed)\n",
    "starts-a-child": updating(
        "import subprocess",
        'self.child = subprocess.Popen(["sleep", "60"])',
        'trace.metric("worker", os.getpid())',
        'trace.metric("child", self.child.pid)',
    ),
    "sleeps": at_step(2, "import time", "time.sleep(60)"),
    "tells-its-world": updating(
        'assert not os.listdir("."), os.listdir(".")',
        'assert os.getcwd() == os.environ["TMPDIR"], os.getcwd()',
        "assert sys.path[0] == str(Path(__file__).parent), sys.path",
        'assert "" not in sys.path and os.getcwd() not in sys.path, sys.path',
        "assert os.umask(0o022) == 0o022",
        "for name in os.environ: trace.metric(name, 1)",
    ),
}

FAILING: Mapping[str, str] = {
    # raise: the line is 39 in a step, 37 or 38 elsewhere
    "raises": at_step(2, 'raise ValueError("the loss is\\nno number")'),
    "raises-after-stage": at_step(
        2, 'trace.record("gradient", self.weights); raise ValueError("the loss is no number")'
    ),
    "raises-unprintable": at_step(2, 'raise ValueError("a\\udc80\\x1b[31m" + "b" * 1000)'),
    "exits": at_step(2, "sys.exit(3)"),
    "raises-in-state": with_state('if self.count == 2: raise KeyError("weights")'),
    "raises-in-first-state": experiment('def state_dict(self):\n    raise KeyError("weights")'),
    "raises-in-load": experiment('def load_state_dict(self, state):\n    raise KeyError("moment")'),
    "raises-in-constants": experiment('def constants(self):\n    raise OSError("no data here")'),
    "raises-in-constructor": experiment(
        'def __init__(self, config, seed):\n    raise RuntimeError("no seed like that")'
    ),
    "raises-in-close": experiment('def close(self):\n    raise OSError("disk is gone")'),
    "raises-twice": at_step(2, 'raise ValueError("first")')
    + '\n    def close(self):\n        raise OSError("second")\n',
    "exits-on-import": 'raise SystemExit("not today")\n',
    "breaks-on-import": "import no_such_module\n",
    "breaks-syntax": "class Experiment:\n    def step(self\n",
    # die
    "killed": at_step(2, "import signal", "os.kill(os.getpid(), signal.SIGKILL)"),
    "leaves": at_step(2, 'print("so long", file=sys.stderr, flush=True)', "os._exit(7)"),
    "closes-pipes": at_step(2, "os.closerange(3, 64)", "os._exit(0)"),
    "cuts-message": at_step(
        2,
        "import stat",
        "for fd in map(int, os.listdir('/proc/self/fd')):",
        "    try: is_pipe = fd > 2 and stat.S_ISFIFO(os.fstat(fd).st_mode)",
        "    except OSError: continue",
        """    if is_pipe: os.write(fd, b'{"kind":"ste')""",
        "os._exit(9)",
    ),
    "forks": at_step(2, "import time", "if os.fork(): os._exit(5)", "time.sleep(60)"),
    # hand over what cannot be stored
    "object-state": with_state('state["weights"] = np.array([None])'),
    "tuple-state": with_state('state["shape"] = (1, 2)'),
    "set-state": with_state('state["names"] = {"a"}'),
    "late-set-state": with_state('if self.count == 2: state["names"] = {"a"}'),
    "endless-state": with_state("loop = []", "loop.append(loop)", 'state["loop"] = loop'),
    "huge-state": with_state('if self.count == 2: state["huge"] = np.zeros(2**34)'),
    "not-a-mapping": experiment("def state_dict(self):\n    return [1, 2]"),
    "odd-mapping": experiment(
        """
        def state_dict(self):
            class Odd(dict):
                def __getitem__(self, name):
                    raise RuntimeError("no such luck")
            return Odd(super().state_dict())
        """
    ),
    "unknown-of": updating('trace.record("gradient", self.weights, of=("state:adam",))'),
    "changing-shape": updating('trace.record("grows", np.zeros(self.count))'),
    "missing-stage": updating('if self.count != 2: trace.record("seldom", self.weights)'),
    "text-metric": updating('trace.metric("loss", "low")'),
    # do not follow the protocol
    "lacks-methods": experiment().replace("state_dict", "state_dictionary"),
    "lacks-class": "Other = 1\n",
    "not-callable": "Experiment = 1\n",
}

LYING: Mapping[str, str] = {
    "ignores-seed": experiment("def __init__(self, config, seed): super().__init__(config, 7)"),
    "reads-clock": updating(
        "import time", "self.weights = self.weights + time.monotonic_ns() % 999_983"
    ),
    "set-order": updating(
        'names = list({f"feature-{k}" for k in range(64)})',
        'self.weights = self.weights + float(names.index("feature-0"))',
    ),
    "forgets": experiment(
        """
        momentum = 0.0

        def update(self, trace):
            self.momentum = 0.5 * self.momentum + 1.0
            trace.record("momentum", np.array(self.momentum), of=())
            self.weights = self.weights + self.momentum
        """
    ),
    "loads-half": experiment(
        'def load_state_dict(self, state):\n    self.weights = state["weights"]'
    ),
    "leaves-a-trace": updating(
        'note = Path(__file__).with_name("cache.txt")',
        "self.weights = self.weights + (2.0 if note.exists() else 1.0)",
        'if self.count == 4: note.write_text("seen")',
    ),
}

SOURCES: Mapping[str, str] = {**BEHAVING, **FAILING, **LYING}

PROJECT = """\
[package]
name = "tiny"
version = "1.0.0"
title = "A tiny experiment"
license = "CC0-1.0"
date = 2026-11-30
[[package.authors]]
name = "A. Tester"

[experiment]
entry-point = "tiny_lab:Experiment"
source = {patterns}
seed = 7
steps = {steps}
"""


def write_project(
    folder: Path,
    source: str,
    *,
    more: str = "[record]\ncheckpoint-every = 2\n",
    patterns: str = '["tiny_lab.py"]',
    steps: int = 4,
) -> Path:
    """A project folder: ``repropack.toml``, which ends with ``more``, and ``tiny_lab.py``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tiny_lab.py").write_text(source, "utf-8")
    head = PROJECT.format(patterns=patterns, steps=steps)
    (folder / "repropack.toml").write_text(head + more, "utf-8")
    return folder


def make_launcher(
    folder: Path,
    source: str,
    *,
    entry_point: str = "tiny_lab:Experiment",
    config: Mapping[str, Any] | None = None,
    seed: int = 7,
    steps: int = 4,
    sandbox: Sandbox = UNCONFINED,
    **record: Any,
) -> Launcher:
    """A launcher for one experiment; ``record`` are the members of a ``RecordPlan``."""
    source_folder, scratch = folder / "source", folder / "scratch"
    for place in (source_folder, scratch):
        place.mkdir(parents=True, exist_ok=True)
    (source_folder / "tiny_lab.py").write_text(source, "utf-8")
    plan = Plan(
        experiment=ExperimentPlan(
            entry_point=entry_point, config=dict(config or {}), seed=seed, steps=steps
        ),
        record=RecordPlan(**{"checkpoint_every": 2, **record}),
    )
    return Launcher(plan, Materials(source_folder), folder / "tree", scratch, sandbox=sandbox)


def run_reference(folder: Path, name: str, **options: Any) -> tuple[Launcher, RecordedRun]:
    """Run one of ``SOURCES`` as the reference."""
    launcher = make_launcher(folder, SOURCES[name], **options)
    return launcher, launcher.run_reference()


@contextmanager
def opened(launcher: Launcher, *names: str) -> Iterator[list[RunReader]]:
    """The reference and the runs named, as they are read."""
    with open_container(launcher.tree) as container:
        yield [RunReader(container, name) for name in (REFERENCE_RUN, *names)]


def compare(launcher: Launcher, **intervention: Any) -> RecordedRun:
    """Run one comparison, named ``other``, against the launcher's reference."""
    with opened(launcher) as (reference,):
        return launcher.run_comparison(ComparisonPlan(name="other", **intervention), reference)
