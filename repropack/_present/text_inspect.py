"""A package's contents as text: who made it, what was run, what is stored. Nothing is judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from repropack._format.layout import outputs_folder
from repropack._present.claims import claims_table
from repropack._present.escape import escape_text
from repropack._present.findings import (
    config_value,
    expectation,
    failure,
    forgotten_state,
    intervention,
    outcome_sentence,
    recorded,
)
from repropack._present.layout import (
    ENTRY,
    command_text,
    ended,
    experiment_text,
    field,
    is_command,
    join_names,
    plural,
    size,
    step_range,
    table,
    wrap,
)
from repropack._present.reference import first_nans, unchanged_lines
from repropack._present.text import identity_lines
from repropack._present.text_environment import account_lines, differs, record_lines
from repropack.models.inspection import Inspection
from repropack.models.manifest import PackageMetadata
from repropack.models.plan import ExperimentPlan, Plan
from repropack.models.results import ComparisonOutcome

_MAX_CONFIG_ROWS = 40


def inspect_text(report: Inspection) -> str:
    """What a package holds, for people.

    Returns:
        The text; ends in a newline.
    """
    lines = [
        *wrap(escape_text(report.path), first="read  "),
        *identity_lines(report.package, report.package_digest, report.evidence_digest),
        *_about(report.package),
        *_swhids(report),
        *field("size", f"{size(report.size_bytes)} in {plural(len(report.entries), *ENTRY)}"),
        "",
        *_plan(report.plan),
        "",
        *_runs(report),
    ]
    lines += unchanged_lines(report.results.reference, loop=report.plan.experiment.loop)
    for sentence in first_nans(report.results.reference):
        lines += wrap(sentence)
    if report.plan.comparisons:
        lines += ["", *_comparisons(report)]
    if report.results.claims:
        lines += ["", *claims_table(report.results.claims)]
    lines += ["", *record_lines(report.environment), ""]
    lines += _beside(report)
    lines += ["", *_entries(report), ""]
    lines += wrap(
        "Read, not checked: `repropack check` tells whether the package agrees with its manifest "
        "and with itself, `repropack verify` whether it can be reproduced here."
    )
    return ended(lines)


def _swhids(report: Inspection) -> list[str]:
    """What Software Heritage calls source and whole tree."""
    whole = report.content_swhid or "not computed: an entry cannot be read"
    told = field("whole package", escape_text(whole))
    if report.source_swhid is None:
        return told
    return [*field("source", escape_text(report.source_swhid)), *told]


def _beside(report: Inspection) -> list[str]:
    """The recorded environment beside this machine's."""
    if report.present is None:
        return wrap("This machine could not be observed.")
    if differs(report.present):
        return account_lines(report.present)
    return wrap("This machine and its environment are the recorded ones in every point.")


def _about(package: PackageMetadata) -> list[str]:
    authors = "; ".join(
        escape_text(author.name)
        + (f" ({escape_text(author.affiliation)})" if author.affiliation else "")
        for author in package.authors[:20]
    )
    if len(package.authors) > 20:
        authors += f"; and {len(package.authors) - 20} more"
    lines = [*field("authors", authors), *field("licence", escape_text(package.license))]
    if package.date is not None:
        lines += field("date", package.date.isoformat())
    if package.description is not None:
        lines += field("description", escape_text(package.description, 500))
    lines += _found_by(package)
    if package.supersedes is not None:
        lines += field("supersedes", package.supersedes)
    if package.origin is not None:
        state = "" if package.origin.clean else ", with changes that are in no commit"
        lines += field("commit", f"{package.origin.commit}{state}")
    if package.allowed_findings:
        lines += field("let pass", join_names(package.allowed_findings))
    return lines


def _found_by(package: PackageMetadata) -> list[str]:
    """What an archive finds and cites it by, as far as the author says it."""
    article, contact = package.article, package.contact
    told = {
        "type": package.type,
        "keywords": ", ".join(escape_text(word, 80) for word in package.keywords[:20]),
        "DOI": package.doi,
        "repository": package.repository,
        "supplements": article and _with(article.title, article.doi or article.url),
        "contact": contact and _with(contact.name, contact.email or contact.url),
        "publisher": package.publisher and package.publisher.name,
        "funding": "; ".join(escape_text(row.funder, 80) for row in package.funding[:20]),
    }
    return [
        line
        for label, text in told.items()
        if text
        for line in field(label, escape_text(text, 500))
    ]


def _with(text: str, address: str | None) -> str:
    return text if address is None else f"{text} ({address})"


def _plan(plan: Plan) -> list[str]:
    return [*(_command(plan) if is_command(plan.experiment) else _steps(plan)), *_after(plan)]


def _command(plan: Plan) -> list[str]:
    """A command has neither steps nor checkpoints, and is recorded by what it writes."""
    experiment = plan.experiment
    variables = [f"{name}={value}" for name, value in sorted(experiment.environment.items())]
    limit = experiment.timeout_seconds
    return [
        *field("command", escape_text(experiment_text(experiment))),
        *field("seed", str(experiment.seed)),
        *_configuration(experiment),
        *field("variables", join_names(variables) or "none beside those of every run"),
        *field("outputs", join_names(experiment.outputs) or "none"),
        *(field("time limit", plural(limit, "second")) if limit is not None else []),
    ]


def _steps(plan: Plan) -> list[str]:
    experiment, record = plan.experiment, plan.record
    every = record.checkpoint_every
    checkpoints = f"every {every} steps, at the start and the end" if every else "start and end"
    printed = [f"{name} as {text}" for name, text in sorted(record.printed.items())]
    kind = "script" if experiment.loop else "experiment"
    return [
        *field(kind, escape_text(experiment_text(experiment))),
        *field("seed", str(experiment.seed)),
        *field("steps", str(experiment.steps)),
        *_configuration(experiment),
        *field("checkpoints", checkpoints),
        *field("recorded", recorded(plan.record)),
        *field("kept whole", join_names(record.keep) or "no stage"),
        *field("printed", join_names(printed) or "no metric"),
        *(field("outputs", join_names(experiment.outputs)) if experiment.outputs else []),
    ]


def _configuration(experiment: ExperimentPlan) -> list[str]:
    config = [
        f"{escape_text(name, 80)} = {config_value(value)}"
        for name, value in sorted(experiment.config.items())
    ]
    if len(config) > _MAX_CONFIG_ROWS:
        config[_MAX_CONFIG_ROWS:] = [f"{len(config) - _MAX_CONFIG_ROWS} more"]
    return field("configuration", ", ".join(config) or "none")


def _after(plan: Plan) -> list[str]:
    """The commands after the runs, each with what it writes."""
    rows = (
        (escape_text(command_text(row.command, plan.experiment)), join_names(row.outputs))
        for row in plan.after
    )
    return [
        line
        for command, outputs in rows
        for line in field("after the runs", f"{command} writes {outputs}")
    ]


def _runs(report: Inspection) -> list[str]:
    if is_command(report.plan.experiment):
        return _written(report)
    rows = [
        [
            escape_text(run.run, 80),
            step_range(run.first_step, run.last_step),
            str(len(run.checkpoints)) if run.checkpoints else "-",
            "yes" if run.kept else "-",
            size(run.size_bytes),
        ]
        for run in report.runs
    ]
    header = ["run", "steps", "checkpoints", "kept arrays", "size"]
    return table(header, rows, right=(2, 4))


def _written(report: Inspection) -> list[str]:
    """What each run of a command wrote; of one that is identical no output is stored."""
    rows = []
    for run in report.runs:
        folder = f"{outputs_folder(run.run)}/"
        sizes = [entry.size for entry in report.entries if entry.path.startswith(folder)]
        outputs = str(len(sizes)) if sizes else "the reference's"
        rows.append([escape_text(run.run, 80), outputs, size(sum(sizes)) if sizes else "-"])
    return table(["run", "outputs", "size"], rows, right=(2,))


def _comparisons(report: Inspection) -> list[str]:
    """What each comparison changes and found, as the package says."""
    found = {outcome.run: outcome for outcome in report.results.comparisons}
    lines, loop = [], report.plan.experiment.loop
    for comparison in report.plan.comparisons:
        lines += wrap(f"{escape_text(comparison.name, 80)}: {intervention(comparison)}", rest="  ")
        outcome = found.get(comparison.name)
        if outcome is not None:
            lines += [line for text in _found(outcome, loop) for line in wrap(text, first="  ")]
    return lines


def _found(outcome: ComparisonOutcome, loop: bool) -> Iterator[str]:  # noqa: FBT001
    """What a comparison found; where that was not expected, what was."""
    if outcome.held is False:
        yield f"FAILED: {failure(outcome)}."
        if (forgotten := forgotten_state(outcome, loop=loop)) is not None:
            yield forgotten
        return
    expected = expectation(outcome.expected)
    held = f" E{expected[1:]}: held." if expected else ""
    yield f"{outcome_sentence(outcome)}{held}"


def _entries(report: Inspection) -> list[str]:
    counts = Counter(entry.role for entry in report.entries)
    sizes: Counter[str] = Counter()
    for entry in report.entries:
        sizes[entry.role] += entry.size
    rows = [[role, str(count), size(sizes[role])] for role, count in sorted(counts.items())]
    return table(["role", "entries", "size"], rows, right=(1, 2))
