r"""The notebook's own comparison of the runs: code cells that compare, draw and assert.

Each text is one cell; all of them adapt to the plan when they run. They come after the cells of
``notebook_cells`` and need NumPy, matplotlib and an IPython kernel.
"""

from __future__ import annotations

COMPARE = r'''
# The first divergence of two runs
def state_before(run, step):
    """The fingerprints of the state before a step; None where it was not recorded."""
    if step == run["header"]["first_step"]:
        return dict(run["start"]["state"])
    state = run["steps"][step - 1].get("state")
    return None if state is None else dict(state)


def inputs_of(names, earlier, left, right):
    """Whether what a stage was made of is equal; None where that was not recorded."""
    known = sorted({*left, *right}) if None not in (left, right) else None
    if names is None:
        names = [
            *earlier,
            *(f"state:{name}" for name in (["*"] if known is None else known)),
        ]
    equal = dict.fromkeys(names)
    for name in names:
        part = name.removeprefix("state:")
        if part == name:
            equal[name] = True if name in earlier else None
        elif known is not None and part in known:
            equal[name] = left.get(part) == right.get(part)
    return [{"name": name, "equal": equal[name]} for name in names]


def step_divergence(left, right, step):
    """Where one step differs: a stage and what it was made of, or no stage; None if nowhere."""
    if step not in left["steps"] or step not in right["steps"]:
        return {"step": step, "stage": None, "inputs": []}
    one, two = left["steps"][step], right["steps"][step]
    if "stages" in one and "stages" in two:
        made_of = [
            dict([*run["header"]["stages"], *line.get("declares", [])])
            for run, line in ((left, one), (right, two))
        ]
        pairs = itertools.zip_longest(one["stages"], two["stages"])
        for position, (here, there) in enumerate(pairs):
            stage = (here or there)[0]
            if (
                not here
                or not there
                or here[0] != there[0]
                or made_of[0][stage] != made_of[1][stage]
            ):
                return {"step": step, "stage": stage, "inputs": []}
            if here != there:
                earlier = [name for name, _ in one["stages"][:position]]
                before = state_before(left, step), state_before(right, step)
                inputs = inputs_of(made_of[0][stage], earlier, *before)
                return {"step": step, "stage": stage, "inputs": inputs}
    state = "state" in one and "state" in two and one["state"] != two["state"]
    rest = [canonical([line[key] for key in ("metrics", "printed")]) for line in (one, two)]
    if state or rest[0] != rest[1] or one.get("finish") != two.get("finish"):
        return {"step": step, "stage": None, "inputs": []}
    return None
'''

MEASURE = r'''
# How often and how far two runs part
def count(left, right, steps, member):
    """At how many of the steps that both recorded each name differs, and first where."""
    rows = {}
    for step in steps:
        if member in left["steps"][step] and member in right["steps"][step]:
            one, two = (dict(run["steps"][step][member]) for run in (left, right))
            for name in {**one, **two}:
                row = {"name": name, "compared": 0, "differing": 0, "first_step": None}
                row = rows.setdefault(name, row)
                row["compared"] += 1
                if one.get(name) != two.get(name):
                    row["differing"] += 1
                    row["first_step"] = row["first_step"] or step
    return rows


def distance(one, two):
    """Largest absolute difference of two arrays in float64; NaN is left out."""
    if one.shape != two.shape or one.dtype != two.dtype:
        return 0.0
    if one.dtype.kind == "c":
        one, two = (array.ravel().view(array.real.dtype) for array in (one, two))
    kind = object if one.dtype.kind in "iu" else np.float64
    with np.errstate(all="ignore"):
        gaps = np.abs(one.astype(kind) - two.astype(kind)).astype(np.float64)
    return float(np.max(gaps, initial=0.0, where=~np.isnan(gaps)))


def compare(name):
    """What results.json says of a comparison, found again from the runs made here."""
    left, right = runs["reference"], runs[name]
    first_step = right["header"]["first_step"]
    steps = [step for step in right["steps"] if step in left["steps"]]
    until = max(*left["steps"], *right["steps"])
    divergences = (step_divergence(left, right, step) for step in range(first_step, until + 1))
    divergence = next(filter(None, divergences), None)
    start = state_before(left, first_step) == state_before(right, first_step)
    last, printed, largest = steps[-1], [], []
    for metric in sorted(plan["record"]["printed"]):
        texts = [
            [run["steps"][step]["printed"].get(metric) for run in (left, right)]
            for step in steps
        ]
        both = [pair for pair in texts if None not in pair]
        equal = sum(one == two for one, two in both)
        printed.append({"metric": metric, "compared": len(both), "equal": equal})
    gaps = {stage: distances(left, right, stage) for stage in plan["record"]["keep"]}
    for stage, gap in gaps.items():
        step = max(gap, key=gap.get, default=None)
        far = (
            {"value": encode(gap[step]), "first_step": step} if step and gap[step] > 0 else None
        )
        largest.append({"stage": stage, "largest_absolute": far})
    ends = [run["steps"][last]["metrics"] for run in (left, right)]
    return {
        "run": name,
        "first_step": first_step,
        "last_step": last,
        "identical": divergence is None and start,
        "divergence": divergence,
        "stages": list(count(left, right, steps, "stages").values()),
        "components": [row for _, row in sorted(count(left, right, steps, "state").items())],
        "kept": largest,
        "printed": printed,
        "final_metrics": [
            {"metric": metric, "reference": ends[0][metric], "run": ends[1][metric]}
            for metric in sorted(ends[0].keys() & ends[1].keys())
        ],
    }


def distances(left, right, stage):
    """By step, how far a kept stage of two runs parts."""
    one, two = left["kept"].get(stage, {}), right["kept"].get(stage, {})
    return {step: distance(one[step], two[step]) for step in two if step in one}


found = {}


def make_comparison(name):
    """Make a comparison's run and say where it parts from the reference."""
    make_run(name)
    found[name] = compare(name)
    divergence = found[name]["divergence"]
    if divergence is None:
        print("First divergence from the reference: none.")
        return
    inputs = divergence["inputs"]
    print(f"First divergence from the reference: {place(divergence)}.")
    for equal, word in ((True, "equal"), (False, "different"), (None, "unknown")):
        names = ", ".join(row["name"] for row in inputs if row["equal"] is equal)
        if names:
            print(f"    What it was made of, {word}: {names}.")


def place(divergence):
    """Step and stage of a divergence, in short."""
    if divergence is None:
        return "none"
    stage = f" · {divergence['stage']}" if divergence["stage"] else ""
    return f"step {divergence['step']}{stage}"
'''

SUMMARY = r'''
# Two tables: the comparisons, and the final metrics
def summary():
    """One row a comparison: where it parts, how often, how far."""
    keep, printed = plan["record"]["keep"], sorted(plan["record"]["printed"])
    header = ["comparison", "steps", "first divergence"]
    held = {row["run"]: row["held"] for row in results["comparisons"]}
    header += [f"`{stage}` differ at" for stage in keep]
    header += [f"largest difference of `{stage}`" for stage in keep]
    header += [f"`{metric}` prints equal at" for metric in printed]
    rows = []
    for name, row in found.items():
        counts = {line["name"]: line for line in row["stages"]}
        cells = [
            f"**{name}**",
            f"{row['first_step']} to {row['last_step']}",
            place(row["divergence"]),
        ]
        cells += [
            f"{counts[s]['differing']} of {counts[s]['compared']}" if s in counts else "-"
            for s in keep
        ]
        for line in row["kept"]:
            far = line["largest_absolute"]
            cells.append(f"{decode(far['value'])} at step {far['first_step']}" if far else "0")
        cells += [f"{line['equal']} of {line['compared']}" for line in row["printed"]]
        rows.append([*cells, {True: "yes", False: "**no**", None: "-"}[held[name]]])
    show_table([*header, "as expected"], rows)


def final_metrics():
    """The metrics after the last step, in full, and as a log would print them."""
    steps = runs["reference"]["steps"]
    last, rows = max(steps), []
    for name, run in runs.items():
        for metric, value in run["steps"][max(run["steps"])]["metrics"].items():
            value, reference = decode(value), decode(steps[last]["metrics"].get(metric))
            text = run["steps"][max(run["steps"])]["printed"].get(metric, "-")
            other = "" if name == "reference" or reference is None else value - reference
            sign = "0" if other == 0 else other if other == "" else f"{other:+.3g}"
            rows.append([f"**{name}**", f"`{metric}`", text, f"`{value!r}`", sign])
    header = [
        "run",
        "metric",
        "printed",
        "in full, after its last step",
        "less the reference's",
    ]
    show_table(header, rows) if rows else print("The experiment notes no metrics.")


summary()
final_metrics()
'''
