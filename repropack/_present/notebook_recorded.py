r"""The notebook of a script with its own loop: code cells that read what was recorded of it.

Each text is one cell. Only repropack can bring such a script to a step or a checkpoint, so the
notebook makes no run of it: it holds the record against itself, and compares the runs.
"""

from __future__ import annotations

READ = r'''
# The recorded runs, read: lines against chains, arrays and states against fingerprints
runs = {}


def read_log(name):
    """Header, start line and steps of a log, every line held against its chain."""
    data = (PACKAGE / "runs" / name / "fingerprints.jsonl").read_bytes().splitlines()
    header, start, *lines = map(json.loads, data)
    chain = start["chain"]
    for line, stored in zip(lines, data[2:]):
        rest = b"{" + stored.removeprefix(b'{"chain":"' + line["chain"].encode("ascii") + b'",')
        before = chain.removeprefix("sha256:").encode("ascii")
        chain = digest(b"repropack.chain.v1\n" + before + b"\n" + rest)
        assert chain == line["chain"], f"run {name}: step {line['step']} is off its chain"
    return header, start, {line["step"]: line for line in lines}


def read_kept(name, steps):
    """The kept arrays by stage and step, every one held against its fingerprint."""
    file = PACKAGE / "runs" / name / "kept.npz"
    if not file.is_file():
        return {}
    with np.load(file, allow_pickle=False) as stored:
        arrays = {stage: stored[stage] for stage in stored.files}
    recorded = {step: dict(line["stages"]) for step, line in steps.items() if "stages" in line}
    kept = {stage: dict(zip(recorded, rows)) for stage, rows in arrays.items()}
    for stage, rows in kept.items():
        for step, row in rows.items():
            assert fingerprint(row) == recorded[step][stage], f"run {name}: {stage}, step {step}"
    return kept


def check_states(name, start, steps):
    """Hold every stored state against the log; return the steps after which one is stored."""
    folder = PACKAGE / "runs" / name
    first = min(steps) - 1
    after = {first: start["state"]} | {step: line.get("state") for step, line in steps.items()}
    stored = sorted(int(file.stem[-9:]) for file in (folder / "checkpoints").glob("*.json"))
    for step in stored:
        assert fingerprint_state(load_state(folder, step)) == after[step], f"run {name}: {step}"
    return stored


def make_run(name):
    """Read one run and say what it holds."""
    header, start, steps = read_log(name)
    kept, stored = read_kept(name, steps), check_states(name, start, steps)
    runs[name] = {"header": header, "start": start, "steps": steps, "kept": kept}
    stages = sum(len(line.get("stages", [])) for line in steps.values())
    rows = sum(map(len, kept.values()))
    print(
        f"{name}: steps {min(steps)} to {max(steps)}, {stages} fingerprints of stages.\n"
        f"Every line is on its chain; {rows} kept arrays and {len(stored)} stored states have the "
        "recorded fingerprints."
    )
'''

METRICS = r'''
# The metrics of the reference, as they were recorded
def metrics():
    """One row a metric: at its first step, at its last, and how it would be printed there."""
    rows = {}
    for step, line in runs["reference"]["steps"].items():
        for name, value in line["metrics"].items():
            first = rows.get(name, (step, value))[:2]
            rows[name] = (*first, step, value, line["printed"].get(name, "-"))
    return [
        [f"`{name}`", f"{decode(one)!r} (step {a})", f"{decode(two)!r} (step {b})", text]
        for name, (a, one, b, two, text) in sorted(rows.items())
    ]


if metrics():
    show_table(["metric", "at first", "at last", "printed"], metrics())
else:
    print("The script notes no metrics.")
'''
