"""The difference of two packages as text: what was changed first, then what came of it."""

from __future__ import annotations

from collections.abc import Iterator

from repropack._format.layout import REFERENCE_RUN
from repropack._present.divergence import divergence_evidence, divergence_place
from repropack._present.escape import escape_text
from repropack._present.findings import failure, outcome_sentence
from repropack._present.layout import (
    WIDTH,
    cells,
    ended,
    field,
    join_names,
    number,
    plural,
    size,
    wrap,
)
from repropack._present.outputs import output_lines
from repropack._present.patterns import pattern_lines
from repropack._present.text import fault_lines
from repropack._present.text_environment import account_lines, differs
from repropack._present.text_run_difference import how_far, meeting, other_stages
from repropack._present.zoom import what_ran, zoom_lines
from repropack.models.package_difference import (
    DiffSide,
    FileChange,
    FileChanges,
    FileVersion,
    OutcomeChange,
    PackageDifference,
    ReferenceDifference,
    ResultsDifference,
    TextChange,
    ValueChange,
)
from repropack.models.results import ComparisonOutcome, Split

_MAX_FILES = 20
_MAX_CONTENTS = 10
_MAX_VALUES = 60
_MAX_VALUE = 120
_SUCCESSION = {
    "named": "the new one says that it supersedes the old one",
    "reversed": "the other way round: the old one says that it supersedes the new one",
    "other": "the new one says that it supersedes another package than the old one",
    "none": "the new one does not say that it supersedes any",
}


def diff_text(report: PackageDifference) -> str:
    """What changed from one package to another, for people.

    Returns:
        The text; ends in a newline.
    """
    sides = (report.old, report.new)
    told = [side for side in sides if side.faults or report.verdict != "damaged"]
    subject = " and ".join(escape_text(side.path) for side in told)
    lines = wrap(subject, first=f"{report.verdict}  ")
    if report.verdict == "damaged":
        for side in told:
            lines += ["", *wrap(escape_text(side.path)), *fault_lines(side.faults)]
        return ended(lines)
    if report.verdict == "identical":
        lines += wrap("Both have the same manifest, and every entry of both is what it lists.")
        lines += ["", *_identity("package", report.new)]
        return ended(lines)
    lines += [*wrap(_summary(report)), *_began(report)]
    lines += ["", *_identity("old", report.old), *_identity("new", report.new), ""]
    if report.succession is not None:
        lines += field("succession", _SUCCESSION[report.succession])
    lines += _values("metadata", report.metadata)
    lines += ["", *_files("source", report.source), *_files("inputs", report.inputs)]
    lines += _values("configuration", report.configuration)
    lines += ["", *_environment(report), ""]
    if report.results is not None:
        lines += _results(report.results)
    lines += _files("other entries", report.others, details=False)
    if report.zoom is not None:
        lines += ["", *zoom_lines(report.zoom)]
    lines += ["", *wrap(_LIMITS.format(ran=what_ran(report.zoom)))]
    return ended(lines)


_LIMITS = (
    "Every entry of both has the digest that its manifest lists; {ran}. Whether each "
    "package agrees with itself is for `repropack check` to say."
)


def _summary(report: PackageDifference) -> str:
    """Which of the five sections differ, in their order."""
    sections = {
        "source": bool(report.source and report.source.changed),
        "inputs": bool(report.inputs and report.inputs.changed),
        "configuration": bool(report.configuration),
        "environment": differs(report.environment),
        "results": report.results is not None and _results_differ(report.results),
    }
    changed = [name for name, differing in sections.items() if differing]
    same = [name for name, differing in sections.items() if not differing]
    if not changed:
        return f"None of {join_names(same)} changed."
    equal = f" Equal: {join_names(same)}." if same else ""
    return f"Changed: {join_names(changed)}.{equal}"


def _began(report: PackageDifference) -> list[str]:
    """Where the references part, which is what most readers came for."""
    divergence = None if report.results is None else report.results.reference.divergence
    return [] if divergence is None else wrap(f"They part at {divergence_place(divergence)}.")


def _identity(label: str, side: DiffSide) -> list[str]:
    named = side.package
    name = "not known" if named is None else f"{named.name} {named.version}"
    return [
        *field(label, escape_text(name)),
        *field("package digest", side.package_digest or "not known"),
        *field("evidence digest", side.evidence_digest or "not known"),
    ]


def _values(label: str, changes: tuple[ValueChange, ...]) -> list[str]:
    if not changes:
        return field(label, "unchanged")
    lines = field(label, f"{plural(len(changes), 'value')} changed")
    for row in changes[:_MAX_VALUES]:
        lines += wrap(f"{escape_text(row.key, 120)}: {_value(row)}", first="  ", rest="    ")
    if len(changes) > _MAX_VALUES:
        lines.append(f"  and {len(changes) - _MAX_VALUES} more")
    return lines


def _value(row: ValueChange) -> str:
    if row.old is None or row.new is None:
        said = "added" if row.old is None else "removed"
        return f"{said}, {escape_text(row.new or row.old or '', _MAX_VALUE)}"
    return f"{escape_text(row.old, _MAX_VALUE)} -> {escape_text(row.new, _MAX_VALUE)}"


def _files(label: str, files: FileChanges | None, *, details: bool = True) -> list[str]:
    """How many files changed, each of them, and the lines that did."""
    if files is None:
        return []
    if not files.changed:
        count = f" ({plural(files.unchanged, 'file')})" if files.unchanged else " (none)"
        return field(label, f"unchanged{count}")
    told = f"{plural(len(files.changed), 'file')} changed, {files.unchanged} unchanged"
    if not details:
        names = join_names(row.path for row in files.changed)
        return [*field(label, f"{told}: {names}"), *_contents(files)]
    lines = field(label, told)
    for row in files.changed[:_MAX_FILES]:
        lines += wrap(_file(row), first="  ", rest="    ")
        if row.text is not None:
            lines += _text(row.text)
    if len(files.changed) > _MAX_FILES:
        lines.append(f"  and {len(files.changed) - _MAX_FILES} more")
    return [*lines, *_contents(files)]


def _contents(files: FileChanges) -> list[str]:
    """Files by what they are: where the first difference is; expected is what the old one has."""
    found = [row.content for row in files.changed if row.content is not None and _is_told(row)]
    lines = [line for one in found[:_MAX_CONTENTS] for line in ("", *output_lines(one))]
    if len(found) > _MAX_CONTENTS:
        lines += ["", f"and {len(found) - _MAX_CONTENTS} more files of which the JSON form tells"]
    return [*lines, ""] if lines else []


def _is_told(row: FileChange) -> bool:
    """An input, or an output of the reference: those of comparisons are too many for people."""
    run, _, rest = row.path.partition("/outputs/")
    return not rest or run == REFERENCE_RUN


def _file(row: FileChange) -> str:
    path = escape_text(row.path, 200)
    if row.old is None or row.new is None:
        return f"{'added' if row.old is None else 'removed'} {path}{_held(row.new or row.old)}"
    said = []
    if row.text is not None:
        said.append(f"+{row.text.added} -{row.text.removed} lines")
    elif row.old.digest != row.new.digest:
        said.append(f"{size(row.old.size)} -> {size(row.new.size)}")
    if row.old.executable != row.new.executable:
        said.append("now executable" if row.new.executable else "no longer executable")
    if row.old.included != row.new.included:
        said.append("now packed" if row.new.included else "now held by reference")
    if row.old.location != row.new.location:
        said.append("another place to get it")
    return f"changed {path} ({', '.join(said)})"


def _held(version: FileVersion | None) -> str:
    if version is None:
        return ""
    reference = "" if version.included else ", held by reference"
    return f" ({size(version.size)}{reference})"


def _text(change: TextChange) -> list[str]:
    """The lines of a diff, each on one line and cut there; their spaces are part of them."""
    lines = [f"    {_clipped(line)}" for line in change.lines]
    if change.left_out:
        lines.append(f"    and {plural(change.left_out, 'more line', 'more lines')}")
    return lines


def _clipped(line: str) -> str:
    shown = escape_text(line, 2 * WIDTH)
    if cells(shown) <= WIDTH - 4:
        return shown
    while cells(shown) > WIDTH - 7:
        shown = shown[:-1]
    return f"{shown}..."


def _environment(report: PackageDifference) -> list[str]:
    account = report.environment
    if account is None or not differs(account):
        return field("environment", "the same in every point")
    return account_lines(account, ("old", "new"))


def _results(results: ResultsDifference) -> list[str]:
    reference = results.reference
    lines = field("results", _reference(reference))
    lines += [line for text in _parting(reference) for line in wrap(text, first="  ")]
    lines += [line for text in _beginnings(reference) for line in wrap(text, first="  ")]
    lines += pattern_lines(reference.patterns)
    for row in reference.metrics[:_MAX_FILES]:
        values = " -> ".join("none" if v is None else number(v) for v in (row.old, row.new))
        lines += wrap(f"{escape_text(row.metric, 80)} at its end: {values}", first="  ")
    if len(reference.metrics) > _MAX_FILES:
        lines.append(f"  and {len(reference.metrics) - _MAX_FILES} more metrics")
    lines += [
        line for text in _comparisons(results) for line in wrap(text, first="  ", rest="    ")
    ]
    return [*lines, *_files("files of the runs", results.files, details=False)]


def _comparisons(results: ResultsDifference) -> Iterator[str]:
    """Comparisons that found something else one by one, the others together."""
    told = [row for row in results.comparisons if not _found_the_same(row)]
    for row in told[:_MAX_FILES]:
        yield _outcome_change(row)
    if len(told) > _MAX_FILES:
        yield f"and {len(told) - _MAX_FILES} more comparisons"
    others = [row.run for row in results.comparisons if _found_the_same(row)]
    if others:
        yield f"found the same, with other numbers: {join_names(others)}"
    if results.comparisons_unchanged:
        yield f"unchanged: {plural(results.comparisons_unchanged, 'comparison')}"


def _results_differ(results: ResultsDifference) -> bool:
    return bool(not results.reference.chain_equal or results.comparisons or results.files.changed)


def _reference(reference: ReferenceDifference) -> str:
    """Whether the references are one history, and where they part."""
    if reference.chain_equal:
        if reference.new_last_step == 1:
            return "the references are equal: one chain"
        return f"the references are equal at all {reference.new_last_step} steps: one chain"
    if reference.divergence is None:
        return "the references begin otherwise, and are equal in every step that was recorded"
    return f"first divergence of the references: {divergence_place(reference.divergence)}"


def _parting(reference: ReferenceDifference) -> Iterator[str]:
    """What was observed where they part, and how far it goes."""
    if reference.divergence is None:
        return
    yield f"{divergence_evidence(reference.divergence)}."
    if reference.structure is not None:
        yield f"other stages {other_stages(reference.structure)}."
    if reference.counts is not None:
        yield f"{how_far(reference.counts)}."
        if reference.divergence.step < min(reference.old_last_step, reference.new_last_step):
            yield f"do they meet again? {meeting(reference.counts)}."
        yield "stage by stage: `repropack diff OLD::reference NEW::reference`"


def _beginnings(reference: ReferenceDifference) -> Iterator[str]:
    """What was another before any step."""
    if not reference.config_equal:
        yield "they ran with another configuration"
    for noun, parts in (("constants", reference.constants), ("first state", reference.start)):
        if parts.differing:
            yield f"{noun}: {_differing(parts)}"
    if reference.old_last_step != reference.new_last_step:
        yield f"they ended after steps {reference.old_last_step} and {reference.new_last_step}"


def _differing(parts: Split) -> str:
    equal = f"; equal: {join_names(parts.equal)}" if parts.equal else ""
    return f"{join_names(parts.differing)} not the same{equal}"


def _found_the_same(change: OutcomeChange) -> bool:
    return None not in (change.old, change.new) and _outcome(change.old) == _outcome(change.new)


def _outcome_change(change: OutcomeChange) -> str:
    name = escape_text(change.run, 80)
    if change.old is None:
        return f"added {name}: {_outcome(change.new)}"
    if change.new is None:
        return f"removed {name}: {_outcome(change.old)}"
    return f"changed {name}: before: {_outcome(change.old)} Now: {_outcome(change.new)}"


def _outcome(outcome: ComparisonOutcome | None) -> str:
    if outcome is None:
        return ""
    if outcome.held is False:
        return f"FAILED: {failure(outcome)}."
    return outcome_sentence(outcome)
