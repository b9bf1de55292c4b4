r"""The notebook of a command: code cells that start it again and compare the files that it writes.

Each text is one cell; all of them adapt to the plan when they run. They need NumPy and an IPython
kernel, and nothing of repropack.
"""

from __future__ import annotations

from repropack._present.notebook_cells import FIXED

CONTENT = r'''
# What a file holds, in a form that can be compared
import csv
import io


def arrays_of(data, container):
    """Name, type, shape and bytes of each array; their order in memory does not count."""
    loaded = np.load(io.BytesIO(data), allow_pickle=False)
    arrays = {name: loaded[name] for name in loaded.files} if container else {"": loaded}
    little = {name: array.dtype.newbyteorder("<") for name, array in arrays.items()}
    return {
        name: (kind.str, arrays[name].shape, arrays[name].astype(kind).tobytes())
        for name, kind in little.items()
    }


def once(pairs):
    """The members of a JSON object; a name that comes twice makes it no value."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a name comes twice")
    return members


def content(path, data):
    """What the end of a file's name says that it is; the bytes of everything else."""
    end = path.rpartition(".")[2].lower()
    try:
        if end in ("npz", "npy"):
            return arrays_of(data, end == "npz")
        if end == "json":
            return canonical(json.loads(data, object_pairs_hook=once))
        if end in ("csv", "tsv"):
            text = io.StringIO(data.decode("utf-8-sig"), newline="")
            return list(csv.reader(text, delimiter="\t" if end == "tsv" else ","))
        if end in ("png", "jpg", "jpeg"):
            from PIL import Image

            image = Image.open(io.BytesIO(data)).convert("RGBA")
            return image.size, image.tobytes()
    except Exception:
        pass  # what cannot be read as that is compared by its bytes
    return data
'''

RUN = (
    r"""
# A run: the command, in a new folder with the source and the inputs and nothing else
import atexit
import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tempfile

SCRATCH = Path(tempfile.mkdtemp())
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)
"""
    + FIXED
    + r'''

def words_of(config):
    """The command's words, names in braces filled in, a first word `python` as this Python."""

    def value(found):
        if found[1] is None:
            return found[0][0]
        seed = plan["experiment"]["seed"]
        given = seed if found[1] == "seed" else config[found[1].removeprefix("config.")]
        return given if isinstance(given, str) else canonical(given).decode("utf-8").strip()

    command = plan["experiment"]["command"]
    words = [re.sub(r"\{\{|\}\}|\{([^{}]*)\}", value, word) for word in command]
    return [sys.executable, *words[1:]] if words[0] in ("python", "python3") else words


def files_below(folder):
    return {
        place.relative_to(folder).as_posix(): place
        for place in sorted(folder.rglob("*"))
        if place.is_file()
    }


def clean_copy(folder):
    """Lay out source and inputs; one that is held elsewhere has to be put into place first."""
    listed = PACKAGE / "manifest.json"
    entries = json.loads(listed.read_bytes())["entries"] if listed.is_file() else []
    elsewhere = [entry["path"] for entry in entries if not entry["included"]]
    lacking = [path for path in elsewhere if not (PACKAGE / path).is_file()]
    if lacking:
        raise FileNotFoundError(
            f"{', '.join(lacking)}: not in the package; manifest.json says where to get it"
        )
    for part in ("source", "inputs"):
        if (PACKAGE / part).is_dir():
            shutil.copytree(PACKAGE / part, folder, dirs_exist_ok=True)


def matches(path, pattern):
    """Whether a path fits a pattern, name by name; ** stands for any number of folders."""
    if not pattern:
        return not path
    if pattern[0] == "**":
        rest = pattern[1:] or ["*"]
        return any(matches(path[start:], rest) for start in range(len(path)))
    if not path or (path[0].startswith(".") and not pattern[0].startswith(".")):
        return False
    return fnmatch.fnmatchcase(path[0], pattern[0]) and matches(path[1:], pattern[1:])


def start(name):
    """Make one run; return the files that it wrote and that the plan calls outputs."""
    change = next((row for row in plan["comparisons"] if row["name"] == name), {})
    experiment, home = plan["experiment"], SCRATCH / name
    for part in ("work", "temporary"):
        (home / part).mkdir(parents=True)
    clean_copy(home / "work")
    given = files_below(home / "work")
    fixed = FIXED | {
        "PYTHONHASHSEED": str(change.get("hash_seed") or 0),
        "TMPDIR": str(home / "temporary"),
    }
    if experiment["import_from"]:
        folders = [str(home / "work" / x) for x in experiment["import_from"]]
        fixed["PYTHONPATH"] = os.pathsep.join(folders)
    done = subprocess.run(
        words_of({**experiment["config"], **change.get("config", {})}),
        cwd=home / "work",
        env=os.environ | fixed | experiment["environment"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=experiment["timeout_seconds"],
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["nothing"]
        raise RuntimeError(f"run {name} ended with status {done.returncode}: {said[-1]}")
    patterns = [pattern.split("/") for pattern in experiment["outputs"]]
    return {
        path: place
        for path, place in files_below(home / "work").items()
        if path not in given and any(matches(path.split("/"), one) for one in patterns)
    }
'''
)

BESIDE = r'''
# Outputs beside each other
WORDS = {2: "the same bytes", 1: "the same content, in other bytes", 0: "**another**"}


def packaged(name):
    """The outputs that the package holds; a run identical to the reference has none of its own."""
    folder = PACKAGE / "runs" / name / "outputs"
    return files_below(folder if folder.is_dir() else PACKAGE / "runs" / "reference" / "outputs")


def same(path, here, there):
    """2 where the bytes are equal, 1 where what they hold is, 0 otherwise."""
    if path not in here or path not in there:
        return 0
    one, two = here[path].read_bytes(), there[path].read_bytes()
    return 2 if one == two else int(content(path, one) == content(path, two))


def show_outputs(name, here, there, varying=()):
    """Each output made here, beside the packaged one."""
    rows = []
    for path in sorted({*here, *there}):
        told = WORDS[same(path, here, there)]
        size = str(len(there[path].read_bytes())) if path in there else "-"
        if path in varying:
            told, size = "not compared: it varies from run to run, as results.json says", "-"
        rows.append([f"`{path}`", size, told])
    show_table([f"output of {name}", "bytes in the package", "made here"], rows)
'''

MAKE_RUN = r'''
# A run, and which outputs of it can be compared
from urllib.parse import unquote

runs = {}


def differing_in(row):
    """Outputs that results.json calls different from the reference's."""
    names = [stage["name"] for stage in row["stages"] if stage["differing"]]
    return {unquote(name.removeprefix("output:").partition(":")[0]) for name in names}


changed = {row["name"] for row in plan["comparisons"] if row["config"]}
varying = set().union(
    *(differing_in(row) for row in results["comparisons"] if row["run"] not in changed)
)


def make_run(name):
    """Make one run, and say of each output whether it is the packaged one."""
    runs[name] = start(name)
    show_outputs(name, runs[name], packaged(name), varying)
'''

COMPARISON = r'''
# A comparison: its outputs beside the reference's, both made here
found = {}


def make_comparison(name):
    """Make a comparison's run and say which of its outputs are the reference's."""
    make_run(name)
    paths = {*runs["reference"], *runs[name]} - varying
    one, two = runs["reference"], runs[name]
    found[name] = {path for path in paths if not same(path, one, two)}
    equal = len(paths) - len(found[name])
    different = ", ".join(sorted(found[name]))
    print(f"{equal} of {len(paths)} outputs that do not vary are equal to the reference's.")
    print(f"Different: {different}." if different else "None of them differs.")
'''

CHAIN = r'''
# The recorded logs: the chain of each, computed again
def check_log(name):
    """Hold every line of a fingerprint log against its chain; return how many lines there are."""
    lines = (PACKAGE / "runs" / name / "fingerprints.jsonl").read_bytes().splitlines()
    chain = json.loads(lines[1])["chain"]
    for line in lines[2:]:
        told = json.loads(line)["chain"]
        rest = b"{" + line.removeprefix(b'{"chain":"' + told.encode("ascii") + b'",')
        before = chain.removeprefix("sha256:").encode("ascii")
        chain = digest(b"repropack.chain.v1\n" + before + b"\n" + rest)
        assert chain == told, f"run {name}: the chain of its log is not right"
    return len(lines) - 2, chain


for name in ["reference", *(row["name"] for row in plan["comparisons"])]:
    steps, chain = check_log(name)
    print(f"{name}: {steps} recorded, chain {chain[:23]}…")
assert check_log("reference")[1] == results["reference"]["chain"], "reference: another chain"
'''

SUMMARY = r"""
# A table of the comparisons
rows = []
for row in results["comparisons"]:
    paths = {*runs["reference"], *runs[row["run"]]} - varying
    equal = len(paths) - len(found[row["run"]])
    held = {True: "yes", False: "**no**", None: "-"}[row["held"]]
    names = ", ".join(f"`{path}`" for path in sorted(found[row["run"]])) or "none"
    rows.append([f"**{row['run']}**", f"{equal} of {len(paths)}", names, held])
show_table(["comparison", "outputs equal", "different", "as expected"], rows)
"""

ASSERTIONS = r"""
# The assertions
compared = 0
for name in runs:
    there = packaged(name)
    for path in sorted({*runs[name], *there} - varying):
        assert same(path, runs[name], there), f"run {name}: output {path} is not the packaged one"
        compared += 1

for row in results["comparisons"]:
    expected = differing_in(row) - varying
    observed = found[row["run"]]
    assert observed == expected, (
        f"comparison {row['run']}: results.json says that {sorted(expected)} differ from the "
        f"reference's, found here {sorted(observed)}"
    )

print(f"All assertions hold: {len(runs)} runs wrote {compared} outputs again, and each holds what")
print(f"the packaged one does; {len(found)} comparisons found what results.json says.")
"""

SCRIPT = r"""
# The script as it stands: nothing is recorded, and it makes as many steps as it says itself
import importlib.util

if importlib.util.find_spec("repropack") is None:
    print("Not started: the script imports repropack, which is not installed here.")
else:
    try:
        show_outputs("the script", start("reference"), packaged("reference"))
    except RuntimeError as error:
        print(f"It does not run outside repropack: {error}")
"""
