r"""The notebook's figures and its last word: code cells that draw and assert.

Each text is one cell; all of them adapt to the plan when they run. They come after the cells of
``notebook_findings``.
"""

from __future__ import annotations

AGREEMENT = r'''
# A figure: which stages agree at which steps
EQUAL, DIFFERENT, ABSENT = "#cfe0ee", "#c8502b", "#ffffff"
COLUMNS = 600


def agreement(name):
    """For each stage and printed metric, by step: 1 where equal, 2 where different."""
    left, right = runs["reference"]["steps"], runs[name]["steps"]
    rows = {row["name"]: {} for row in found[name]["stages"]}
    rows |= {f"printed {row['metric']}": {} for row in found[name]["printed"]}
    for step in [step for step in right if step in left]:
        for line in agreement_of(left[step], right[step]):
            rows[line[0]][step] = line[1]
    return rows


def agreement_of(left, right):
    """The same for one step."""
    for kind, before in (("stages", ""), ("printed", "printed ")):
        one, two = dict(left.get(kind, [])), dict(right.get(kind, []))
        for key in {**one, **two} if kind in left and kind in right else ():
            yield before + key, 1 if one.get(key) == two.get(key) else 2


def draw_band(axis, rows, last):
    """One line a stage; where steps share a column, one that differs colours it."""
    width = -(-last // COLUMNS)
    picture = np.zeros((max(len(rows), 1), -(-last // width)))
    for number, row in enumerate(rows.values()):
        for step, value in row.items():
            column = (step - 1) // width
            picture[number, column] = max(picture[number, column], value)
    extent = (0.5, picture.shape[1] * width + 0.5, picture.shape[0] - 0.5, -0.5)
    palette = matplotlib.colors.ListedColormap([ABSENT, EQUAL, DIFFERENT])
    options = {"vmin": 0, "vmax": 2, "aspect": "auto", "interpolation": "nearest"}
    axis.imshow(picture, cmap=palette, extent=extent, **options)
    between = [number + 0.5 for number in range(len(rows) - 1)]
    axis.hlines(between, *extent[:2], color="white", linewidth=1)
    axis.set_yticks(range(len(rows)), rows, fontsize=8)
    axis.tick_params(length=0, labelsize=8)
    axis.spines[:].set_color("#999999")
    axis.xaxis.set_major_locator(MaxNLocator(10, integer=True, steps=[1, 2, 5, 10]))


def draw_agreement():
    """One band a comparison."""
    bands = {name: agreement(name) for name in found}
    heights = [max(len(rows), 1) for rows in bands.values()]
    size = (9.6, 0.9 + 0.2 * sum(heights) + 0.4 * len(heights))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(len(bands), sharex=True, squeeze=False, height_ratios=heights)
    for axis, (name, rows) in zip(axes[:, 0], bands.items()):
        draw_band(axis, rows, max(runs["reference"]["steps"]))
        title = f"{name}: first divergence {place(found[name]['divergence'])}"
        axis.set_title(title, loc="left", fontsize=9)
    axes[-1, 0].set_xlabel("step", fontsize=9)
    colours = {"equal": EQUAL, "different": DIFFERENT, "not part of the run": ABSENT}
    marks = [
        matplotlib.patches.Patch(facecolor=colour, edgecolor="#999999", label=label)
        for label, colour in colours.items()
    ]
    figure.legend(handles=marks, loc="outside upper right", ncols=3, fontsize=8, frameon=False)
    return figure


text = (
    "Each stage and printed metric of each comparison: at which steps it equals the reference's"
)
show_figure(draw_agreement(), text)
'''

DIFFERENCES = r'''
# A figure: how far runs part, by step
def metric_gaps(name, metric):
    """By step, how far a metric lies from the reference's, in full."""
    left, right = runs["reference"]["steps"], runs[name]["steps"]
    both = [step for step in right if step in left]
    pairs = {
        step: [line[step]["metrics"].get(metric) for line in (left, right)] for step in both
    }
    known = {step: pair for step, pair in pairs.items() if None not in pair}
    return {
        step: abs(float(decode(two)) - float(decode(one))) for step, (one, two) in known.items()
    }


def half_unit(metric):
    """Half of the last digit that is printed: what rounding may move a number by."""
    form = plan["record"]["printed"].get(metric, "")
    digits = form.lower().partition(".")[2].removesuffix("f")
    return 0.5 * 10.0 ** -int(digits) if digits.isdigit() else None


def panels():
    """What is drawn: kept stages, then metrics; of each comparison that is not identical."""
    parted = [name for name in found if not found[name]["identical"]]
    for stage in plan["record"]["keep"][:3]:
        gaps = {name: distances(runs["reference"], runs[name], stage) for name in parted}
        yield f"largest difference in {stage}", gaps, None
    for metric in sorted(
        {row["metric"] for name in parted for row in found[name]["final_metrics"]}
    )[:3]:
        gaps = {name: metric_gaps(name, metric) for name in parted}
        yield f"difference of {metric}", gaps, half_unit(metric)


def draw_panel(axis, title, gaps, half):
    for number, (name, row) in enumerate(gaps.items()):
        steps = [step for step, gap in row.items() if 0 < gap < np.inf]
        values = [row[step] for step in steps]
        style = {
            "marker": "o",
            "markersize": 2.5,
            "linewidth": 0.9,
            "color": f"C{number % 10}",
        }
        axis.plot(steps, values, label=name, **style)
    if half is not None:
        axis.axhline(half, color="#444444", linestyle="--", linewidth=1)
        note = f"half of the last printed digit: {half:g}"
        at = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
        axis.annotate(note, (0.01, half), (0, 3), fontsize=8, color="#444444", **at)
    axis.set_yscale("log")
    axis.tick_params(labelsize=8)
    axis.set_title(title, loc="left", fontsize=9)
    axis.grid(color="#e4e4e4", linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)
    axis.xaxis.set_major_locator(MaxNLocator(10, integer=True, steps=[1, 2, 5, 10]))


def draw_differences(drawn):
    figure = Figure(figsize=(9.6, 0.6 + 2.9 * len(drawn)), layout="constrained")
    axes = figure.subplots(len(drawn), sharex=True, squeeze=False)[:, 0]
    for axis, panel in zip(axes, drawn):
        draw_panel(axis, *panel)
    axes[-1].set_xlabel("step", fontsize=9)
    axes[-1].set_xlim(0, max(runs["reference"]["steps"]) + 1)
    lines, labels = axes[0].get_legend_handles_labels()
    figure.legend(lines, labels, loc="outside upper right", ncols=4, fontsize=8, frameon=False)
    return figure


drawn = [panel for panel in panels() if any(any(row.values()) for row in panel[1].values())]
if drawn:
    text = (
        "How far each comparison that differs lies from the reference, by step, on a log axis"
    )
    show_figure(draw_differences(drawn), text)
else:
    print("No kept stage and no metric differs: there is nothing to draw.")
'''

PRINTED = r'''
# A table: differences in full and in print
def printed_rows():
    """For each comparison that differs and each printed metric: how far, and what was printed."""
    for name, row in found.items():
        for line in () if row["identical"] else row["printed"]:
            metric = line["metric"]
            gaps, half = metric_gaps(name, metric), half_unit(metric)
            largest = max(gaps.values(), default=0.0)
            yield [
                f"**{name}**",
                f"`{metric}`",
                f"{sum(gap > 0 for gap in gaps.values())} of {len(gaps)}",
                f"{line['compared'] - line['equal']} of {line['compared']}",
                f"{largest:.2g}",
                "-" if half is None else f"{float(f'{largest / (2 * half):.2g}'):g}",
            ]


header = ["run", "metric", "differs in full at", "prints differ at", "largest difference"]
show_table([*header, "in units of the last printed digit"], printed_rows())
'''

_DIFFERING = r'''
# The assertions
def differing(here, there, at=""):
    """Where what was found here is not what results.json says."""
    if isinstance(here, dict) and isinstance(there, dict):
        return [
            line for key in here for line in differing(here[key], there.get(key), f"{at}.{key}")
        ]
    if isinstance(here, list) and isinstance(there, list) and len(here) == len(there):
        pairs = enumerate(zip(here, there))
        return [line for k, pair in pairs for line in differing(*pair, f"{at}[{k}]")]
    same = canonical(here) == canonical(there)
    return [] if same else [f"{at[1:]}: results.json says {there!r}, found here {here!r}"]

'''

_LOGS = r"""
for name in runs:
    assert not first_difference(name), (
        f"run {name}: the log made here differs from the recorded one in {first_difference(name)}"
    )
"""

_RESULTS = r"""
reference = list(runs["reference"]["steps"].values())[-1]
assert reference["chain"] == results["reference"]["chain"], (
    "reference: another chain at its end"
)
assert reference["metrics"] == results["reference"]["final_metrics"], "reference: other metrics"

for row in results["comparisons"]:
    faults = differing(found[row["run"]], row)
    assert not faults, f"comparison {row['run']}: {'; '.join(faults)}"
    if row["identical"]:
        chain = runs[row["run"]]["steps"][row["last_step"]]["chain"]
        assert chain == reference["chain"], f"comparison {row['run']}: another chain at its end"

lines = sum(len(run["steps"]) for run in runs.values())
"""

_MADE_AGAIN = r"""
print(f"All assertions hold: {len(runs)} logs with {lines} steps were made again here and are")
print(
    f"byte for byte the recorded ones; {len(found)} comparisons found what results.json says."
)
print(f"Chain of the reference after its last step: {reference['chain']}")
"""

_READ = r"""
print(f"All assertions hold: {len(runs)} recorded logs with {lines} steps agree with their chains,")
print(f"and {len(found)} comparisons of them give what results.json says.")
"""

ASSERTIONS = _DIFFERING + _LOGS + _RESULTS + _MADE_AGAIN
RECORDED_ASSERTIONS = _DIFFERING + _RESULTS + _READ
