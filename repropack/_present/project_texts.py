"""The files of a new project: its project file, a first experiment, README, licence, .gitignore.

Pure functions of values. What an author typed is written as TOML and Markdown have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from repropack._format.canonical import encode_canonical
from repropack._present.markdown import code_span, escape_markdown

MODULE = "line_fit.py"
"""The experiment of a new project that is not made around a script."""


@dataclass(frozen=True)
class ProjectFacts:
    """What a new project's files say of it.

    Attributes:
        name: Name of the package.
        title: Its title.
        author: Its author.
        license: An SPDX expression.
    """

    name: str
    title: str
    author: str
    license: str


@dataclass(frozen=True)
class CommandFacts:
    """A command and its files, as they are proposed.

    Attributes:
        command: Its words.
        seed: The seed.
        source: Patterns of source files.
        inputs: Patterns of input files.
        outputs: Patterns of what it writes.
        missing: Files that it seems to read and that are not there.
        attaches: Whether the script has a loop of its own.
        steps: How many steps that loop makes, where it is known.
    """

    command: Sequence[str]
    seed: int
    source: Sequence[str]
    inputs: Sequence[str]
    outputs: Sequence[str]
    missing: Sequence[str] = field(default=())
    attaches: bool = False
    steps: int | None = None


def stepwise_project_file(facts: ProjectFacts) -> str:
    """The project file of the first experiment.

    Returns:
        TOML, ending in a newline.
    """
    return f"""{_package(facts)}
[experiment]
entry-point = "line_fit:LineFit"    # module:class, made as LineFit(config, seed)
source = ["{MODULE}"]            # what is packed and can be imported; ** spans folders
seed = 7
steps = 40
[experiment.config]
rate = 0.25

[record]
checkpoint-every = 10               # runs can resume from these steps
printed = {{ loss = ".3f" }}          # how a log would print it

# Each comparison is a second run that differs from the first in what is said here.
[[comparisons]]
name = "restart"
hash-seed = 1                       # another order of sets
expect = "identical"

[[comparisons]]
name = "resume"
resume-at = 20
expect = "identical"

[[comparisons]]
name = "generator-reset"
resume-at = 20
reset = ["generator"]               # what if this part of the state had been forgotten?
expect = {{ diverges-at = 21, stage = "batch", component = "generator" }}
"""


def command_project_file(facts: ProjectFacts, command: CommandFacts) -> str:
    """The project file around a script.

    Returns:
        TOML, ending in a newline; comments say what was guessed.
    """
    seeded = any("{seed}" in word for word in command.command)
    about_seed = (
        "stands for {seed} in the command"
        if seeded
        else "no option for it was found: the script has to fix its own"
    )
    missing = "".join(f"# not found here: {_text(path)}\n" for path in command.missing)
    return f"""{_package(facts)}
# It runs in a clean copy of source and inputs, as it would on the machine of a reader.
[experiment]
command = {_texts(command.command)}    # python: the interpreter in use
seed = {command.seed}    # {about_seed}
source = {_texts(command.source)}
# What it reads and what it writes, found by looking at the script: complete it, for what is
# missing in inputs shows when you build, and what is missing in outputs is never compared.
inputs = {_texts(command.inputs)}
{missing}{_outputs(command)}{_steps(command)}
# A second run that must give the same outputs, in a process with another order of sets.
[[comparisons]]
name = "restart"
hash-seed = 1
expect = "identical"
{_resume(command)}"""


def _outputs(command: CommandFacts) -> str:
    if command.outputs or not command.attaches:
        return f"outputs = {_texts(command.outputs)}\n"
    return "# outputs = []    # patterns of files that it writes, beside the steps of its loop\n"


def _steps(command: CommandFacts) -> str:
    """How many steps a script's own loop makes, and how often its state is kept."""
    if not command.attaches:
        return ""
    if command.steps is None:
        return (
            "# Say how many steps its loop makes, or no step is compared or resumed.\n"
            "# steps = 100\n"
        )
    return (
        f"steps = {command.steps}    # of its loop: each is recorded and compared\n\n"
        f"[record]\ncheckpoint-every = {_interval(command.steps)}\n"
    )


def _resume(command: CommandFacts) -> str:
    """A resume in the middle of a script's own loop."""
    if command.steps is None or command.steps < 2:
        return ""
    after = max(1, command.steps // 2 // _interval(command.steps)) * _interval(command.steps)
    return f"""
# Does its state hold all that the next step depends on?
[[comparisons]]
name = "resume"
resume-at = {after}
expect = "identical"
"""


def _interval(steps: int) -> int:
    return max(1, steps // 4)


def readme_text(
    facts: ProjectFacts, package: str, outputs: Sequence[str], duration: str | None
) -> str:
    """The README of a new project.

    Args:
        facts: What it is.
        package: File name of the package that it becomes.
        outputs: Patterns of what its command writes; empty for steps.
        duration: How long it takes; ``None`` where only the author knows.

    Returns:
        Markdown, ending in a newline.
    """
    compared = "every step"
    if outputs:
        compared = ", ".join(map(code_span, outputs))
    takes = duration or "Write here how long a run takes, and on what machine."
    return f"""# {escape_markdown(facts.title)}

By {escape_markdown(facts.author)}. Licence: {escape_markdown(facts.license)}.

Build the reproducibility package, and run it again to compare every byte:

```text
repropack build .
repropack verify {package}
```

## What to expect

`build` ends with all expectations held, `verify` with the verdict `identical`. What is compared:
{compared}.

{takes}
"""


def license_text(license_name: str, author: str) -> str:
    """The text of a licence.

    Args:
        license_name: An SPDX expression.
        author: Who holds the copyright.

    Returns:
        The licence's text where it is a short one, else one line that names it.
    """
    known = {"MIT": _MIT, "BSD-3-Clause": _BSD_3, "CC0-1.0": _CC0}
    text = known.get(license_name)
    if text is None:
        return f"SPDX-License-Identifier: {license_name}\n"
    return text.replace("AUTHOR", author)


GITIGNORE = """\
__pycache__/
*.zip
.*.work/
"""

LINE_FIT = '''\
"""A line that is fitted to points in small batches. Make it your own experiment."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Settings:
    """What may be set under [experiment.config]."""

    rate: float = 0.25
    points: int = 64
    batch: int = 8


class LineFit:
    """One step: draw a batch, follow its gradient."""

    def __init__(self, config: Settings, seed: int):
        self.config = config
        self.generator = np.random.PCG64(seed)
        self.x = self._uniform(config.points)
        noise = self._uniform(config.points) - 0.5
        self.y = 2.0 * self.x - 1.0 + 0.125 * noise
        self.line = np.zeros(2)  # slope, and value at 0

    def step(self, trace):
        """Advance by one step, and record what it went through."""
        points = np.uint64(self.config.points)
        batch = self.generator.random_raw(self.config.batch) % points
        trace.record("batch", batch, of="state:generator")
        x, y = self.x[batch], self.y[batch]
        residual = self.line[0] * x + self.line[1] - y
        gradient = np.array([_sum(residual * x), _sum(residual)]) / self.config.batch
        trace.record("gradient", gradient, of=("batch", "state:line"))
        self.line = self.line - self.config.rate * gradient
        trace.record("line", self.line, of=("gradient", "state:line"))
        trace.metric("loss", _sum(residual * residual) / self.config.batch)

    def constants(self):
        """The data, which no step changes."""
        return {"x": self.x, "y": self.y}

    def state_dict(self):
        """Everything that the next step depends on."""
        return {"line": self.line, "generator": self.generator.state}

    def load_state_dict(self, state):
        """Go on from a state as if it had just been reached."""
        self.line = state["line"]
        self.generator.state = state["generator"]

    def _uniform(self, count):
        """Numbers from 0 to 1, made of raw bits: the same on every machine."""
        return (self.generator.random_raw(count) >> np.uint64(11)) * 2.0**-53


def _sum(values):
    """Add from left to right, in the same order everywhere."""
    return np.cumsum(values)[-1]
'''


def _package(facts: ProjectFacts) -> str:
    return f"""# `repropack schema project` describes these keys, to people and editors.

[package]
name = {_text(facts.name)}
version = "1.0.0"
title = {_text(facts.title)}
license = {_text(facts.license)}
# Archives require these three. Nothing is made up for them.
# date = 2026-11-30                 # your own date, such as that of the write-up
# description = "One line about it."
# type = "software"                 # or "dataset"
# keywords = ["a word", "another"]
# repository = "https://..."        # where the code is developed
# doi = "10.5281/zenodo...."        # of this package, once it is known
# contact = {{ name = "...", email = "..." }}
# article = {{ title = "...", doi = "..." }}    # that it supplements
[[package.authors]]
name = {_text(facts.author)}
# given-names = "..."               # a name is never taken apart by guessing
# family-names = "..."
# orcid = "0000-0002-1825-0097"
# affiliation = "..."
# kind = "organization"             # instead of the parts, for a group
"""


def _text(text: str) -> str:
    """Text in TOML, whose basic strings have the escapes of JSON."""
    return encode_canonical(text).decode("utf-8").strip()


def _texts(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(_text, texts))}]"


_MIT = """\
MIT License

Copyright (c) AUTHOR

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or
substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""

_BSD_3 = """\
BSD 3-Clause License

Copyright (c) AUTHOR

Redistribution and use in source and binary forms, with or without modification, are permitted
provided that the following conditions are met:

1. Redistributions of source code must retain the above copyright notice, this list of conditions
   and the following disclaimer.

2. Redistributions in binary form must reproduce the above copyright notice, this list of conditions
   and the following disclaimer in the documentation and/or other materials provided with the
   distribution.

3. Neither the name of the copyright holder nor the names of its contributors may be used to endorse
   or promote products derived from this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR
IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND
FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR
CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL
DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE,
DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER
IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT
OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
"""

_CC0 = """\
SPDX-License-Identifier: CC0-1.0

AUTHOR gives up all rights to this work, as far as the law allows, by CC0 1.0 Universal. Its legal
text is at creativecommons.org/publicdomain/zero/1.0/legalcode
"""
