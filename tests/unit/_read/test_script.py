"""What a script takes and gives is told from its text alone."""

from __future__ import annotations

import pytest

from repropack._read.script import ScriptFacts, read_script


def facts(text: str, path: str = "train.py") -> ScriptFacts:
    return read_script(text.encode("utf-8"), path)


# ---------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("open('a.txt', 'w')", ["a.txt"]),
        ("open('a.txt', mode='xb')", ["a.txt"]),
        ("open('a.txt', 'a')", ["a.txt"]),
        ("open('a.txt', 'r+')", ["a.txt"]),
        ("open(file='a.txt', mode='w')", ["a.txt"]),
        ("gzip.open('a.gz', 'wb')", ["a.gz"]),
        ("Path('a.txt').open('w')", ["a.txt"]),
        ("Path('a.txt').write_text('')", ["a.txt"]),
        ("Path('a', 'b.txt').write_bytes(b'')", ["a/b.txt"]),
        ("np.save('a', x)", ["a.npy"]),
        ("np.save('a.npy', x)", ["a.npy"]),
        ("numpy.savez('out/a', x=x)", ["out/a.npz"]),
        ("np.savez_compressed(file='a.npz', x=x)", ["a.npz"]),
        ("np.savetxt('a.csv', x)", ["a.csv"]),
        ("plt.savefig('a')", ["a.png"]),
        ("figure.savefig('a.svg')", ["a.svg"]),
        ("frame.to_csv('a.csv')", ["a.csv"]),
        ("frame.to_csv(path_or_buf='a.csv')", ["a.csv"]),
        ("torch.save(model, 'a.pt')", ["a.pt"]),
        ("image.save('a.jpg')", ["a.jpg"]),
        ("model.save('name')", []),
        ("h5py.File('a.h5', 'w')", ["a.h5"]),
        ("open(name, 'w')", []),
        ("open('../a.txt', 'w')", []),
        ("save('a.txt')", []),
        ("print('a.txt')", []),
    ],
)
def test_what_is_written(text, expected):
    """The path of a call that writes, with the suffix that the library adds."""
    assert (list(facts(text).writes), list(facts(text).reads)) == (expected, [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("open('a.txt')", ["a.txt"]),
        ("open('a.txt', mode)", ["a.txt"]),
        ("json.load(open('a.json', 'rb'))", ["a.json"]),
        ("Path('a.txt').read_text()", ["a.txt"]),
        ("np.load('a.npz')", ["a.npz"]),
        ("np.loadtxt('data/a.txt', skiprows=1)", ["data/a.txt"]),
        ("pd.read_csv('a.csv')", ["a.csv"]),
        ("Image.open('a.png')", ["a.png"]),
        ("h5py.File('a.h5')", ["a.h5"]),
        ("open('./a.txt')", ["a.txt"]),
        ("load('a.txt')", []),
    ],
)
def test_what_is_read(text, expected):
    """The path of a call that reads."""
    assert (list(facts(text).reads), list(facts(text).writes)) == (expected, [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("OUT = 'r'\nopen(OUT + '/a.txt', 'w')", "r/a.txt"),
        ("OUT = Path('r')\nNAME = 'a.txt'\n(OUT / NAME).write_text('')", "r/a.txt"),
        ("open(os.path.join('r', 'a.txt'), 'w')", "r/a.txt"),
        ("open(Path('r').joinpath('a.txt'), 'w')", "r/a.txt"),
        ("open(str(Path('r') / 'a.txt'), 'w')", "r/a.txt"),
        ("open(Path('r/x').parent / 'a.txt', 'w')", "r/a.txt"),
        ("open(Path('r').resolve() / 'a.txt', 'w')", "r/a.txt"),
        ("open(f'r/{k}.txt', 'w')", "r/*.txt"),
        ("K = 'x'\nopen(f'r/{K}.txt', 'w')", "r/x.txt"),
        ("open('r/%03d.txt' % k, 'w')", "r/*.txt"),
        ("open('r/{}_{:.2f}.txt'.format(k, r), 'w')", "r/*_*.txt"),
        ("open('r/' + name + '.txt', 'w')", "r/*.txt"),
        ("open(Path(folder) / 'a.txt', 'w')", "*/a.txt"),
        ("p.add_argument('--out', default='r')\nopen(args.out + '/a.txt', 'w')", "r/a.txt"),
        ("p.add_argument('--out-dir', default='r')\nopen(Path(a.out_dir) / 'b', 'w')", "r/b"),
        ("p.add_argument('-o', dest='o', default='r')\nopen(f'{a.o}/b', 'w')", "r/b"),
        ("X = 'a'\nX = 'b'\nopen(X + '.txt', 'w')", "*.txt"),
    ],
)
def test_texts_that_paths_are_made_of(text, expected):
    """Names, joins, formats and defaults of options are followed; what is unknown becomes ``*``."""
    assert facts(text).writes == (expected,)


@pytest.mark.parametrize(
    "text",
    [
        "HERE = Path(__file__).parent\nnp.load(HERE / 'a.npz')",
        "HERE = Path(__file__).resolve().parent\nnp.load(HERE / 'a.npz')",
        "HERE = os.path.dirname(os.path.abspath(__file__))\nnp.load(os.path.join(HERE, 'a.npz'))",
    ],
)
def test_paths_beside_the_script(text):
    """``__file__`` is where the script lies in the project."""
    assert facts(text, "scripts/train.py").reads == ("scripts/a.npz",)
    assert facts(text).reads == ("a.npz",)


def test_what_is_written_is_not_an_input_as_well():
    """A file that is read back is an output."""
    text = "open('a', 'w')\nopen('a')\nopen('b')"
    assert (facts(text).reads, facts(text).writes) == (("b",), ("a",))


def test_absolute_paths_are_told_apart():
    """No reader has them, so they are neither input nor output."""
    found = facts("open('/data/a.csv')\nopen('/tmp/b', 'w')\nopen('c')")
    assert (found.absolute, found.reads, found.writes) == (("/data/a.csv", "/tmp/b"), ("c",), ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HERE = find()\nload(HERE / 'a.csv')", ["a.csv"]),
        ("load(HERE / 'data' / 'a.csv')", ["a.csv", "data", "data/a.csv"]),
        ("load(os.path.join(HERE, 'a.csv'))", ["a.csv"]),
        ("load(f'{HERE}/a.csv')", ["/a.csv", "a.csv"]),
        ("pd.read_csv(sys.argv[1] if len(sys.argv) > 1 else 'd.csv')", ["d.csv"]),
        ("def load(path='d.csv'):\n    'e.csv'", ["d.csv"]),
        ("'a.csv'\nclass A:\n    'b.csv'", []),
        ("save(x, 'a.csv')\nwrite_table(HERE / 'b.csv')\nNAME = 'c.csv'\ndump(NAME)", []),
        ("p.add_argument('--data', default='a.csv')", ["--data", "a.csv"]),
        ("p.add_argument('--output', default='a.csv')", ["--output"]),
        ("run('python make.py a.csv')", ["a.csv", "make.py", "python", "python make.py a.csv"]),
    ],
)
def test_texts_that_may_name_files(text, expected):
    """Constants and joins behind an unknown folder; no docstring, and nothing that is written."""
    assert list(facts(text).named) == expected


def test_a_sum_of_very_many_texts():
    """It is no path, and ends nothing."""
    assert facts("x = f(" + " + ".join(["'a'"] * 900) + ")").named[0] == "a"


def test_paths_in_a_home_folder_are_absolute():
    """A pattern of outputs that begins with ``~`` would never match."""
    found = facts("import os\nopen(os.path.expanduser('~/a.txt'), 'w')\nopen('~/b.csv')")
    assert (found.absolute, found.reads, found.writes) == (("~/a.txt", "~/b.csv"), (), ())


# ---------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("text", "flag", "seed"),
    [
        ("p.add_argument('--seed', type=int, default=3)", "--seed", 3),
        ("p.add_argument('-s', '--seed', type=int)", "--seed", 0),
        ("p.add_argument('--random-seed', default=None)", "--random-seed", 0),
        ("p.add_argument('--rng_seed', default=-1)", "--rng_seed", 0),
        ("p.add_argument('--seed', default=True)", "--seed", 0),
        ("@click.option('--seed', default=5)\ndef main(seed): pass", "--seed", 5),
        ("p.add_argument('-s', default=3)", None, 0),
        ("p.add_argument('--seeds', default=3)", None, 0),
        ("np.random.seed(3)", None, 0),
    ],
)
def test_flag_of_the_seed(text, flag, seed):
    """The option that sets the seed, and its default where that is one."""
    found = facts(text)
    assert (found.seed_flag, found.seed) == (flag, seed)


def test_arguments_that_are_required():
    """Options that are required and arguments without a default."""
    found = facts(
        "p.add_argument('--a', required=True)\np.add_argument('b')\n"
        "p.add_argument('c', nargs='?')\n"
        "p.add_argument('--d')\np.add_argument('e', default=1)"
    )
    assert found.required == ("--a", "b")


def test_words_that_are_taken_by_their_place():
    """Not the script's own name, and not what is handed on as a whole."""
    assert facts("import sys\nseed = int(sys.argv[1])").takes_words
    assert facts("from sys import argv\nseed = int(argv[2])").takes_words
    for text in ("sys.argv[0]", "main(sys.argv[1:])", "row[1]", "argv"):
        assert not facts(text).takes_words


def test_a_loop_that_is_attached():
    """By the library's name, or by that of its function; other libraries attach as well."""
    assert facts("import repropack\nrun = repropack.attach(state={})").attaches
    assert facts("from repropack import attach\nrun = attach(state={})").attaches
    run = "import repropack\nrun = repropack.attach(state={})\n"
    assert facts(f"{run}for step in run.steps(12): pass").steps == 12
    assert facts(f"{run}N = 40\nfor step in run.steps(N): pass").steps == 40
    option = "p.add_argument('--epochs', type=int, default=7)\n"
    assert facts(f"{run}{option}for step in run.steps(args.epochs): pass").steps == 7
    for unknown in ("len(rows)", "0", "True", "other"):
        assert facts(f"{run}for step in run.steps({unknown}): pass").steps is None
    assert not facts("import debugger\ndebugger.attach()").attaches
    assert not facts("import repropack\nrepropack.build_package('.')").attaches


@pytest.mark.parametrize("text", ["not python at all", "\0", "x = " + "(" * 1000])
def test_a_script_that_cannot_be_parsed(text):
    """Nothing is known of it."""
    found = facts(text)
    assert found.unread
    assert found == ScriptFacts(unread=found.unread)


def test_a_script_with_warnings_and_another_encoding():
    """A warning of the parser is no error, and the encoding is the one that the file names."""
    source = "# -*- coding: latin-1 -*-\nopen('caf\xe9.txt', 'w')\nx = '\\d'\n".encode("latin-1")
    assert read_script(source, "a.py").writes == ("caf\xe9.txt",)
