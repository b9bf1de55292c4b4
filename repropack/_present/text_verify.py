"""A verification as text: what was claimed, what was compared, where the first difference lies.

Where anything differs the environment is named first, evidence comes before patterns, and the
text ends with the scope: what equal bytes mean here, and what they do not.
"""

from __future__ import annotations

from repropack._present.claims import unverified_claims, verified_line, verified_table
from repropack._present.divergence import (
    divergence_evidence,
    divergence_place,
)
from repropack._present.elements import array_counts, element_lines
from repropack._present.escape import escape_text
from repropack._present.layout import (
    cells,
    ended,
    field,
    join_names,
    listing,
    plural,
    step_range,
    table,
    wrap,
)
from repropack._present.outputs import output_lines
from repropack._present.patterns import pattern_lines
from repropack._present.text import failed_lines, fault_lines, identity_lines
from repropack._present.text_environment import account_lines, differs
from repropack._present.zoom import seen_difference, zoom_lines
from repropack.models.differences import KEPT_PREFIX, ArrayDifference, OutputsComparison
from repropack.models.reports import (
    Confinement,
    NotebookVerification,
    RunVerification,
    UsedEnvironment,
    VerificationReport,
)
from repropack.models.results import Divergence, Split

_MAX_PROBLEMS = 10
_MAX_OUTPUTS = 10
_MAX_OTHER_ARRAYS = 4
_MAX_OTHER_ELEMENTS = 3
RUN_CLAIMS = {
    "independent-replay": "independent replay",
    "exact-resume": "exact resume",
    "comparison": "comparison",
}
_NOTHING_EXECUTED = "nothing of the package was executed"
UNCONFINED = {
    "shipped-source": "none needed: the packaged source is one that repropack ships, so nothing "
    "foreign was executed; it ran in a process of its own, under limits",
    "trusted": "NOT CONFINED: by --trust the package's code ran with all your rights: it could "
    "read and change your files, use the network, and see what it was to reproduce",
    None: "none",
}
LEVELS = {
    "bubblewrap": "bubblewrap, with a filter on system calls and limits",
    "landlock": "landlock, with a filter on system calls and limits",
}
SCOPE = {
    "identical": "Reproduced here, in this environment: what was run again gave the recorded "
    "bytes. Nothing wider is claimed: no other environment, and not that the result is right or "
    "good.",
    "differs": "Not reproduced here, in this environment. That says nothing of other environments, "
    "and a first difference is evidence of where, not of why.",
    "damaged": "Nothing was reproduced: ask for the package again from where it was published, "
    "and compare the package digest.",
    "could-not-run": "No answer: this says neither that the package replays nor that it does not.",
}
_RUNS_ALONE = (
    "The runs were reproduced here, in this environment; what is drawn from them in the package "
    "was not."
)


_GUARANTEES = {
    "network": "no network",
    "local-sockets": "no sockets of others",
    "home-files": "home folder hidden",
    "other-files": "other files hidden",
    "file-names": "other files' names hidden",
    "writes": "no writing elsewhere",
    "environment": "your variables hidden",
    "process-names": "other processes hidden",
    "signals": "no signals to them",
    "system-calls": "risky system calls refused",
    "memory-limit": "limited memory",
    "file-size-limit": "limited files",
    "process-limit": "limited processes",
    "process-end": "no process left over",
}
"""Each guarantee in a few words, as it reads after held, not held and not checked."""


def verify_text(report: VerificationReport) -> str:
    """What ``verify`` found, for people.

    Returns:
        The text; ends in a newline.
    """
    lines = wrap(escape_text(report.path), first=f"{report.verdict}  ")
    lines += _summary(report)
    lines += verified_line(report)
    lines += failed_lines(report.expectations_failed, report.claims_failed)
    account = report.environment if differs(report.environment) else None
    if report.verdict == "differs" and account is not None:
        lines += ["", *account_lines(account)]
    lines += ["", *_identity(report)]
    if report.runs:
        lines += ["", *_runs(report.runs)]
    others = [run for run in report.runs if not run.equal]
    for run in others:
        told = _difference(run, environment_differs=account is not None, first=run is others[0])
        lines += ["", *told]
    if report.verdict != "differs" and account is not None:
        lines += ["", *account_lines(account)]
    lines += _beside_the_runs(report)
    if report.claims:
        lines += ["", *verified_table(report.claims)]
    silent = [*unverified_claims(report.claims), *map(escape_text, report.not_verified)]
    if silent:
        lines += ["", "not verified:", *listing(silent)]
    lines += ["", *_used_environment(report.used_environment)]
    lines += _confinement(report.confinement)
    runs_alone = report.verdict == "differs" and all(run.equal for run in report.runs)
    lines += field("scope:", _RUNS_ALONE if runs_alone else SCOPE[report.verdict])
    return ended(lines)


def _identity(report: VerificationReport) -> list[str]:
    return identity_lines(
        report.package,
        report.package_digest,
        report.evidence_digest,
        confirmed=report.checked or report.verdict in {"identical", "differs"},
    )


def _used_environment(used: UsedEnvironment | None) -> list[str]:
    """How an environment was made; of the present one nothing needs to be said."""
    if used is None or used.kind == "present":
        return []
    count = plural(used.distributions or 0, "distribution")
    origin = "packed wheels" if used.origin == "packed-wheels" else "an index, by the lock,"
    python = escape_text(used.python or "unknown")
    return field(
        "environment:", f"recreated from {origin} with {used.installer}: {count}, Python {python}"
    )


def _beside_the_runs(report: VerificationReport) -> list[str]:
    """What was made of the runs again: figures, outputs, notebook; outputs in other bytes too."""
    lines: list[str] = []
    if report.figures is not None and (
        report.figures.paths.equal or report.figures.paths.differing
    ):
        lines += ["", *_figures(report.figures.paths)]
    for run in report.runs:
        if run.equal and run.outputs.differences:
            lines += ["", *_outputs(run.outputs)]
    if report.after is not None and report.after.reason is None:
        lines += ["", *_after(report.after)]
    if report.notebook is not None:
        lines += ["", *_notebook(report.notebook)]
    return lines


def _confinement(confinement: Confinement | None) -> list[str]:
    """The level, what was found to hold at it, and what was not."""
    if confinement is None:
        return field("confinement:", _NOTHING_EXECUTED)
    if confinement.level == "none":
        return field("confinement:", UNCONFINED[confinement.reason])
    lines = field("confinement:", LEVELS[confinement.level])
    for status in ("held", "not-held", "not-checked"):
        names = [row.name for row in confinement.guarantees if row.status == status]
        if names:
            words = ", ".join(_GUARANTEES.get(name, name.replace("-", " ")) for name in names)
            lines += field(f"{status.replace('-', ' ')}:", words)
    return lines


def _notebook(notebook: NotebookVerification) -> list[str]:
    what = "executed again here" if notebook.executed else "generated again, not executed"
    if not notebook.differences and not notebook.images:
        return field("notebook:", f"{what}: every cell and output is equal to the package's")
    lines = field("notebook:", f"{what}; it differs in:" if notebook.differences else f"{what}:")
    return lines + listing(
        [escape_text(text, 300) for text in (*notebook.differences, *notebook.images)]
    )


def _figures(paths: Split) -> list[str]:
    """Figures drawn again from runs that are equal: one that differs shows something else."""
    total, differing = len(paths.equal) + len(paths.differing), len(paths.differing)
    if not differing:
        text = f"all {total} drawn again from these runs: equal to the package's byte for byte"
        return field("figures:", text)
    do = "it does" if differing == 1 else "they do"
    return field(
        "figures:",
        f"{total} drawn again from these runs, {differing} not equal to the package's "
        f"({join_names(paths.differing)}): {do} not show what the runs gave",
    )


def _outputs(outputs: OutputsComparison) -> list[str]:
    """Every output that is not equal byte for byte, the milder ones too."""
    lines: list[str] = []
    for what, paths in (("missing", outputs.missing), ("unexpected", outputs.unexpected)):
        if paths:
            lines += field(f"{what}:", join_names(paths))
    for difference in outputs.differences[:_MAX_OUTPUTS]:
        lines += output_lines(difference)
    if len(outputs.differences) > _MAX_OUTPUTS:
        lines += wrap(f"and {len(outputs.differences) - _MAX_OUTPUTS} more outputs")
    return lines


def _after(after: OutputsComparison) -> list[str]:
    """What the commands after the runs wrote, on the runs executed here."""
    if after.equal:
        milder = ", some in other bytes" if after.differences else " byte for byte"
        text = f"{plural(after.compared, 'output')} written again: equal to the package's{milder}"
        return [*field("after the runs:", text), *_outputs(after)]
    return [*field("after the runs:", "not equal to the package's:"), *_outputs(after)]


def _summary(report: VerificationReport) -> list[str]:
    if report.verdict == "damaged":
        return fault_lines(report.faults)
    if report.verdict == "could-not-run":
        return _problem(report)
    total, equal = len(report.runs), sum(run.equal for run in report.runs)
    asked = "" if report.runs_requested is None else ", only those asked for"
    text = f"{plural(total, 'run')} executed again here{asked}: "
    if equal == total:
        others = {
            "its figures": report.figures is not None and report.figures.paths.differing,
            "what comes after the runs": report.after is not None and not report.after.equal,
        }
        names = " and ".join(name for name, differing in others.items() if differing)
        but = f", but not {names}" if names else ""
        return wrap(f"{text}every byte that was compared is equal to the package's{but}.")
    names = join_names(run.run for run in report.runs if not run.equal)
    return wrap(f"{text}{equal} equal to the package byte for byte, {total - equal} not ({names}).")


def _problem(report: VerificationReport) -> list[str]:
    problem = report.problem
    if problem is None:
        return ["The run ended without an answer."]
    lines = wrap(f"{escape_text(problem.message, 600)} [{escape_text(problem.code, 80)}]")
    if problem.hint is not None:
        lines += wrap(f"hint: {escape_text(problem.hint, 600)}")
    return lines


def _runs(runs: tuple[RunVerification, ...]) -> list[str]:
    """What is claimed of each run, whether it is equal, and what was compared for it."""
    if runs and all(map(_is_of_outputs, runs)):
        rows = [
            [
                escape_text(run.run, 80),
                RUN_CLAIMS[run.claim],
                _result(run),
                str(run.outputs.compared),
            ]
            for run in runs
        ]
        return table(["run", "claim", "result", "outputs"], rows, right=(3,))
    header = ["run", "claim", "steps", "result"]
    header += ["log\nlines", "checkpoints", "kept\narrays", "final\narrays"]
    with_outputs = any(run.outputs.compared for run in runs)
    header += ["outputs"] * with_outputs
    rows = [
        [
            escape_text(run.run, 80),
            RUN_CLAIMS[run.claim],
            step_range(run.first_step, run.last_step),
            _result(run),
            str(run.lines_compared),
            str(run.checkpoints_compared),
            str(run.kept_arrays_compared),
            _final(run),
            *[str(run.outputs.compared)] * with_outputs,
        ]
        for run in runs
    ]
    return table(header, rows, right=(4, 5, 6, 7, 8))


def _is_of_outputs(run: RunVerification) -> bool:
    """One step without arrays, and outputs: a command, which has nothing else to compare."""
    arrays = (*run.final_arrays.equal, *run.final_arrays.differing)
    return run.last_step == 1 and run.outputs.compared > 0 and not arrays


def _result(run: RunVerification) -> str:
    return "equal" if run.equal else "DIFFERS"


def _final(run: RunVerification) -> str:
    equal, differing = len(run.final_arrays.equal), len(run.final_arrays.differing)
    return f"{equal} of {equal + differing}" if equal + differing else "-"


def _difference(run: RunVerification, *, environment_differs: bool, first: bool) -> list[str]:
    """One run that is not equal: evidence first, patterns after it; elements of the first alone."""
    lines = wrap(f"run {escape_text(run.run, 80)} ({RUN_CLAIMS[run.claim]}) differs")
    beside, other = _arrays_at_divergence(run)
    if run.divergence is not None:
        lines += _where(run.divergence, beside)
    if run.zoom is not None:
        lines += zoom_lines(run.zoom, diverging=seen_difference(run.zoom) is None)
    if run.constants.differing:
        lines += field("constants differ:", join_names(run.constants.differing))
    for array in sorted(other, key=lambda array: array.step)[:_MAX_OTHER_ARRAYS]:
        what = f"{escape_text(array.array, 80)} at step {array.step}"
        lines += field("array:", f"{what}: {array_counts(array)}")
        lines += element_lines(array, at_most=_MAX_OTHER_ELEMENTS) if first else []
    if len(other) > _MAX_OTHER_ARRAYS:
        more = plural(len(other) - _MAX_OTHER_ARRAYS, "more array")
        lines += field("", f"and {more}; --format json has all")
    lines += _outputs(run.outputs)
    if run.final_arrays.differing:
        lines += field("final arrays:", f"differing: {join_names(run.final_arrays.differing)}")
    lines += _problems(run.problems)
    if run.repeats is not None:
        lines += field("repeats here:", _REPEATS[run.repeats])
    return lines + pattern_lines(run.patterns, environment_differs=environment_differs)


def _where(divergence: Divergence, beside: ArrayDifference | None) -> list[str]:
    """Where they part, on what evidence, and the elements of what diverged."""
    evidence = divergence_evidence(divergence)
    if beside is None:
        return _divergence_line(divergence_place(divergence), evidence)
    evidence += f": {array_counts(beside)}"
    return [
        *_divergence_line(divergence_place(divergence), evidence),
        *element_lines(beside),
    ]


def _problems(problems: tuple[str, ...]) -> list[str]:
    shown = [escape_text(problem, 300) for problem in problems[:_MAX_PROBLEMS]]
    if len(problems) > _MAX_PROBLEMS:
        shown.append(f"{len(problems) - _MAX_PROBLEMS} more")
    return [line for text in shown for line in field("also:", text)]


_REPEATS = {
    True: "yes, a second run here gave the same bytes as the first one here",
    False: "no, two runs here differ from each other too",
}


def _divergence_line(place: str, evidence: str) -> list[str]:
    """Place and evidence side by side where there is room, else one below the other."""
    [*above, last] = field("first divergence:", place)
    if above or cells(last) > 60:
        return [*above, last, *field("", evidence)]
    return wrap(evidence, first=f"{last}      ", rest=" " * 18)


def _arrays_at_divergence(
    run: RunVerification,
) -> tuple[ArrayDifference | None, tuple[ArrayDifference, ...]]:
    """The diverging stage's own array where it was compared, and all others."""
    divergence = run.divergence
    if divergence is None or divergence.stage is None:
        return None, run.arrays
    names = {divergence.stage, f"{KEPT_PREFIX}{divergence.stage}"}
    for array in run.arrays:
        if array.array in names and array.step == divergence.step:
            return array, tuple(other for other in run.arrays if other is not array)
    return seen_difference(run.zoom), run.arrays
