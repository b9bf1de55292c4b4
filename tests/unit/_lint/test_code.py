"""Rules about code: seeds, pickles, files that are opened, absolute paths."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
import pytest

from tests.support.lint import README, file, findings, found, rules, subject

# ---------------------------------------------------------------- seeds

UNSEEDED = (
    ("import random\nrandom.shuffle(x)", "random.shuffle() draws from random without a seed"),
    ("from random import choice as pick\npick(x)", "random.choice() draws from random"),
    ("import numpy as np\nnp.random.rand(3)", "numpy.random.rand() draws from numpy.random"),
    ("from numpy import random\nrandom.normal()", "numpy.random.normal() draws"),
    ("import numpy\nnumpy.random.default_rng()", "numpy.random.default_rng() draws"),
    ("from numpy.random import default_rng as r\nr(None)", "numpy.random.default_rng() draws"),
    ("import random\nrandom.seed()\nrandom.random()", "random.random() draws"),
    ("import random\nrandom.Random()", "random.Random() draws"),
    ("import torch\ntorch.randn(3)", "torch.randn() draws from torch"),
    ("import torch.nn as nn\nnn.Linear(2, 1)", "torch.nn.Linear() draws from torch"),
    ("import numpy as np\nnp.random.seed(None)\nnp.random.rand()", "numpy.random.rand() draws"),
)
SEEDED = (
    "import random\nrandom.seed(7)\nrandom.shuffle(x)",
    "import numpy as np\nnp.random.seed(seed)\nnp.random.rand(3)",
    "import numpy as np\nrng = np.random.default_rng(seed)\nrng.normal()",
    "import numpy as np\nnp.random.Generator(np.random.PCG64(3)).normal()",
    "import torch\ntorch.manual_seed(3)\ntorch.nn.Linear(2, 1)",
    "import torch\ng = torch.Generator().manual_seed(3)\ntorch.rand(3, generator=g)",
    "import torch, transformers\ntransformers.set_seed(3)\ntorch.rand(3)",
    "import random\nr = random.Random(3)\nr.shuffle(x)",
    "self.random.shuffle(x)",
    "class A:\n    def rand(self):\n        return self.random.rand()",
    "import numpy as np\nx = np.random",
    "def random(): ...\nrandom()",
)


@pytest.mark.parametrize(("source", "problem"), UNSEEDED)
def test_a_draw_without_a_seed_is_found(source: str, problem: str) -> None:
    """With its line, and the function under its full name."""
    rows = findings(subject({"train.py": source}))
    assert [(row.rule, row.severity, row.line) for row in rows] == [
        ("seed-not-set", "warning", source.count("\n") + 1)
    ]
    assert rows[0].problem.startswith(problem)


@pytest.mark.parametrize("source", SEEDED)
def test_a_seeded_draw_is_not(source: str) -> None:
    """Seeds that are set, generators of one's own, and other things of that name."""
    assert rules(source) == []


def test_a_seed_in_another_file_counts() -> None:
    """A seed is set once, where the program begins."""
    draw = "import random\nrandom.random()\n"
    seed = "import random\nrandom.seed(3)\n"
    assert found(subject({"a.py": draw, "main.py": seed})) == []
    assert found(subject({"a.py": draw, "tests/test_a.py": seed})) == [("seed-not-set", "a.py", 2)]


# ---------------------------------------------------------------- pickles


def saved(array: np.ndarray) -> bytes:
    stream = BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def zipped(array: np.ndarray) -> bytes:
    stream = BytesIO()
    np.savez(stream, a=np.zeros(2), b=array)
    return stream.getvalue()


OBJECTS = np.array([{}, None], dtype=object)
PICKLE = b"\x80\x04\x95\x0c\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01a\x94K\x01s."
PICKLES = {
    "a.pkl": b"anything",
    "a.dat": PICKLE,
    "old.dat": b"\x80\x02}q\x00X\x01\x00\x00\x00aq\x01K\x01s.",
    "a.npy": saved(OBJECTS),
    "a.npz": zipped(OBJECTS),
    "fields.npy": saved(np.zeros(2, dtype=[("x", "<f8"), ("o", object)])),
}


@pytest.mark.parametrize("name", PICKLES)
def test_a_pickle_is_found_by_what_it_is(name: str) -> None:
    """Whatever it is called, in a member as well."""
    rows = findings(subject({"a.py": f"x = {name!r}"}, file(name, PICKLES[name], "input")))
    assert [(row.rule, row.severity, row.path) for row in rows] == [("pickle", "error", name)]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.npy", saved(np.zeros(3))),
        ("a.npz", zipped(np.array(["O", "|O"]))),
        ("a.pt", b"\x08\x00\x00\x00\x00\x00\x00\x00{}"),
        ("a.bin", b"\x80\x04 and text that ends."),
        ("a.dat", b"\x80\x04\x95 and what ends otherwise"),
        ("a.txt", b"import pickle"),
        ("empty", b""),
    ],
)
def test_other_files_are_no_pickles(name: str, data: bytes) -> None:
    """Arrays of numbers and texts, safetensors, text."""
    assert "pickle" not in {row.rule for row in findings(subject({}, file(name, data, "other")))}


@pytest.mark.parametrize(
    ("source", "is_found"),
    [
        ("import pickle\npickle.load(f)", True),
        ("from pickle import loads\nloads(x)", True),
        ("import torch\ntorch.load(f)", True),
        ("import torch\ntorch.load(f, weights_only=False)", True),
        ("import numpy as np\nnp.load(f, allow_pickle=True)", True),
        ("import pandas as pd\npd.read_pickle(f)", True),
        ("import torch\ntorch.load(f, weights_only=True)", False),
        ("import numpy as np\nnp.load(f)", False),
        ("import numpy as np\nnp.load(f, allow_pickle=False)", False),
        ("import pickle\npickle.dumps(x)", False),
        ("import pickle\npickle.loads(pickle.dumps(x))", False),
        ("import json\njson.load(f)", False),
    ],
)
def test_code_that_reads_pickles_is_found(source: str, is_found: bool) -> None:
    """By the function's full name; copying by way of a pickle reads nothing."""
    assert rules(source) == (["pickle-in-code"] if is_found else [])


# ---------------------------------------------------------------- files that are opened

LEFT_OUT: dict[str, Any] = {"left_out": {"data/x.csv", "../far.csv"}.__contains__}


@pytest.mark.parametrize(
    "source",
    [
        "open('data/x.csv')",
        "open('./data/x.csv', 'rb')",
        "open('data/x.csv', mode='r', encoding='utf-8')",
        "import numpy as np\nnp.loadtxt('data/x.csv')",
        "import pandas as pd\npd.read_csv('data/x.csv', sep=';')",
        "from pathlib import Path\nPath('data/x.csv').read_text()",
        "from pathlib import Path\n(Path('data') / 'x.csv').open()",
        "from pathlib import Path\n(Path(__file__).parent / 'data' / 'x.csv').read_bytes()",
        "import os\nopen(os.path.join('data', 'x.csv'))",
        "open('../far.csv')",
    ],
)
def test_a_file_that_is_there_and_not_packed_is_an_error(source: str) -> None:
    """It would run here and nowhere else."""
    rows = findings(subject({"train.py": source}, **LEFT_OUT))
    assert [(row.rule, row.severity) for row in rows] == [("input-missing", "error")]


def test_a_file_that_is_nowhere_is_a_warning() -> None:
    """It may come from anywhere."""
    rows = findings(subject({"train.py": "\nopen('cache.json')"}))
    assert [(row.rule, row.severity, row.line) for row in rows] == [("input-unknown", "warning", 2)]
    assert rows[0].problem == "opens 'cache.json', which is neither source, input nor output"


DATA = file("data/x.csv", "1,2\n", "input")


@pytest.mark.parametrize(
    "source",
    [
        "open('data/x.csv')",
        "import os\nopen(os.path.join(here, 'x.csv'))",
        "open('loss.csv', 'w')\nopen('loss.csv')",
        "open(name)",
        "open(f'{name}.csv')",
        "open(0)",
        "with open('log.txt', 'a') as f: pass",
        "import numpy as np\nnp.savez('state', x=1)\nnp.load('state.npz')",
        "frame.to_csv('out.csv')\nopen('out.csv')",
        "from pathlib import Path\nPath('a.txt').write_text('x')\nPath('a.txt').read_text()",
        "try:\n    open('maybe.json')\nexcept OSError:\n    pass",
        "from pathlib import Path\nif Path('c.json').exists():\n    open('c.json')",
        "open('train.py')",
        "open('figures/a.png', 'rb')",
        "open('/dev/null')",
        "import webbrowser\nwebbrowser.open('x.html')",
        "archive.open('member.csv')",
        "import pandas as pd\npd.read_csv('https://example.org/x.csv')",
    ],
)
def test_files_that_a_run_sees_are_fine(source: str) -> None:
    """Source, inputs, outputs, what the code wrote itself, and what it is prepared to lack."""
    experiment = {
        "entry_point": None, "command": ("python", "train.py", "x.csv"), "steps": 1,
        "outputs": ("figures/*.png",),
    }  # fmt: skip
    one = subject(
        {"train.py": source}, DATA, inputs=("data/x.csv",), experiment=experiment,
        readme=README + "figures",
    )  # fmt: skip
    assert [row for row in found(one) if row[0].startswith("input-")] == []


def test_tests_open_what_they_like() -> None:
    """They are no part of a run."""
    assert found(subject({"tests/test_a.py": "open('fixture.json')"})) == []


@pytest.mark.parametrize(
    ("source", "unused"),
    [
        ("x = 1", True),
        ("open('data/x.csv')", False),
        ("NAME = 'x'\nload(NAME + '.csv')", False),
        ("from pathlib import Path\nfor p in Path('data').glob('*'): p.stat()", False),
        ("import os\nos.listdir('other')", True),
    ],
)
def test_an_input_that_nothing_mentions(source: str, unused: bool) -> None:
    """By its name, or by its folder where folders are listed."""
    data = file("data/q7.csv", "1\n", "input")
    one = subject({"train.py": source.replace("x.csv", "q7.csv").replace("'x'", "'q7'")}, data,
                  inputs=("data/q7.csv",))  # fmt: skip
    assert ("input-unused" in {row[0] for row in found(one)}) is unused


@pytest.mark.parametrize(
    ("path", "text", "packed", "unused"),
    [
        ("conf.json", '{"levels": "data/q7.csv"}', True, False),
        ("conf.toml", "levels = 'q7.csv'", True, False),
        ("conf.yaml", "levels: ../data/q7.csv\n", True, False),
        ("list.csv", "name,size\ndata/q7.csv,3\n", True, False),
        ("list.txt", "q7.csv\n", True, False),
        ("list.txt", "seq7.csv q7.csv.gz q7\n", True, True),
        ("list.bin", "q7.csv\n", True, True),
        ("list.txt", "q7.csv\n", False, True),
        ("data/q7.csv", "q7.csv\n", True, True),
    ],
)
def test_an_input_that_another_input_names(
    path: str, text: str, packed: bool, unused: bool
) -> None:
    """In a packed text; a file that names itself is not used by that."""
    others = [file("data/q7.csv", "1\n", "input"), file(path, text, "input", packed=packed)]
    names = ("data/q7.csv", path)
    one = subject({"train.py": "open('conf.json')"}, *others[names[0] == path :], inputs=names)
    rows = [(row.path, row.problem) for row in findings(one) if row.rule == "input-unused"]
    problem = "no source, no command and no other input mentions 'q7.csv'"
    assert (("data/q7.csv", problem) in rows) is unused


def test_an_input_that_a_command_names_is_used() -> None:
    """Commands are looked at like code."""
    experiment: dict[str, Any] = {
        "entry_point": None, "command": ("sh", "run.sh", "data/q7.csv"), "steps": 1,
        "outputs": ("loss.csv",),
    }  # fmt: skip
    data = file("data/q7.csv", "1\n", "input")
    assert found(subject({}, data, inputs=("data/q7.csv",), experiment=experiment)) == []


# ---------------------------------------------------------------- absolute paths


@pytest.mark.parametrize(
    "source",
    ["p = '/scratch/run1/x'", "p = '~/x.csv'", "p = r'D:\\data\\x'", "p = f'/mnt/big/{name}'",
     "p = '/tmp/x'"],
)  # fmt: skip
def test_an_absolute_path_in_code_is_found(source: str) -> None:
    """As a whole text."""
    assert rules(source) == ["absolute-path"]


@pytest.mark.parametrize(
    "source",
    [
        "p = '/dev/null'",
        "p = '/proc/self/status'",
        "route = '/api/data/items'",
        '"""Put it below /scratch/run1 or elsewhere."""',
        "p = 'data/x'",
        "p = 'a /data/x in words'",
        "p = '/'",
    ],
)
def test_other_texts_are_no_absolute_paths(source: str) -> None:
    """Devices, routes, words and docstrings."""
    assert rules(source) == []


def test_an_absolute_path_in_documents_settings_and_commands() -> None:
    """A README, a script, and the words of a command."""
    experiment = {
        "entry_point": None, "command": ("python", "/mnt/big/train.py"), "steps": 1,
        "outputs": ("loss.csv",), "config": {"data": {"folder": "/scratch/run1"}},
    }  # fmt: skip
    readme = (
        README + "Copy it to /scratch/run1/data first.\nSee https://a.org/data/x and /path/to/x.\n"
    )
    one = subject({"run.sh": "cd /projects/x\n"}, readme=readme, experiment=experiment)
    assert found(one) == [
        ("absolute-path", "README.md", 2),
        ("absolute-path", "repropack.toml", None),
        ("absolute-path", "repropack.toml", None),
        ("absolute-path", "run.sh", 1),
    ]


def test_a_personal_path_is_not_told_twice() -> None:
    """The rule about persons says it all."""
    assert rules("p = '/home/" + "mgarcia/x'") == ["personal-path"]


@pytest.mark.hostile
@pytest.mark.parametrize(
    "source",
    ["print 'python 2'", "x = (", "\0", "(" * 5000, "x = " + "-" * 100_000 + "1",
     "a." * 50_000 + "b()"],
)  # fmt: skip
def test_source_that_cannot_be_parsed_is_passed_over(source: str) -> None:
    """A run will complain of it."""
    assert rules(source) == []
