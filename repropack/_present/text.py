"""Reports as text for a terminal: the verdict first, then the evidence, within 100 columns.

Pure functions. What came from a package is escaped on its way in; the first word of each text is
its verdict, which the command line may colour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repropack._present.claims import failed_claims, held_line
from repropack._present.divergence import is_output
from repropack._present.escape import escape_text
from repropack._present.findings import contrasts, failures, findings_table
from repropack._present.layout import (
    ENTRY,
    ended,
    field,
    join_names,
    listing,
    plural,
    size,
    table,
    wrap,
)
from repropack._present.reference import first_nans, unchanged_lines
from repropack._present.text_signatures import missing_lines, signature_lines
from repropack.models.limit_list import LimitList
from repropack.models.manifest import PackageMetadata
from repropack.models.reports import (
    BuildReport,
    CheckReport,
    Fault,
    SourceChoice,
    UnpackReport,
)
from repropack.models.results import ReferenceOutcome

_MAX_FAULTS = 20
_MAX_NOT_COMPARED = 20
_ANOTHER = "package.another"
_LIMIT = "package.limit-exceeded"
_CHOSEN_BY: Mapping[SourceChoice, str] = {
    "source": "named in the project file",
    "git": "tracked by git",
    "python-files": "**/*.py",
}


def build_text(report: BuildReport) -> str:
    """What ``build`` wrote and found, for people.

    Returns:
        The text; ends in a newline.
    """
    results, sources = report.results, report.sources
    chosen_by = _CHOSEN_BY.get(sources.chosen_by, escape_text(sources.chosen_by))
    lines = [
        *_headline("built", f"{escape_text(report.path)} ({size(report.size_bytes)})"),
        *wrap(_expectations(report)),
        *held_line(results.claims),
        *_where_it_began(report),
        "",
        *identity_lines(report.package, report.package_digest, report.evidence_digest),
        *field("source", f"{plural(sources.files, 'file')} ({chosen_by})"),
        *unchanged_lines(results.reference, loop=report.loop),
        *_not_compared(report.not_compared),
        "",
        *wrap(f"The reference ran {_how_long(results.reference)}."),
    ]
    for sentence in first_nans(results.reference):
        lines += wrap(sentence)
    if report.lock is not None:
        count = plural(report.lock.distributions, "distribution")
        wheels = ", and their wheels packed" if report.lock.wheels_packed else ""
        verb = "was" if report.lock.distributions == 1 else "were"
        lines += wrap(f"Locked {verb} {count}{wheels}.")
    for run in report.continued:
        after = join_names([str(step) for step in run.after_steps])
        lines += wrap(
            f"Run {escape_text(run.run)} was interrupted and continued after step {after}; no "
            "step that was computed twice came out otherwise."
        )
    if results.comparisons:
        header, rows, right = findings_table(results)
        lines += ["", *table(header, rows, right=right)]
    outcomes = results.comparisons
    for sentences in (
        [text for outcome in outcomes for text in failures(outcome, loop=report.loop)],
        failed_claims(results.claims),
        [text for outcome in outcomes for text in contrasts(outcome)],
    ):
        if sentences:
            lines += ["", *(line for text in sentences for line in wrap(text, rest="  "))]
    return ended(lines)


def check_text(report: CheckReport) -> str:
    """What ``check`` found without running anything, for people.

    Returns:
        The text; ends in a newline.
    """
    lines = _headline(report.verdict, escape_text(report.path))
    if report.verdict == "damaged":
        lines += fault_lines(report.faults)
    else:
        lines += wrap(_checked(report))
        lines += failed_lines(report.expectations_failed, report.claims_failed)
        lines += missing_lines(report.signatures)
        for text in report.not_compared:
            lines += wrap(f"Not compared: {escape_text(text)}; `repropack report` makes one.")
    lines += ["", *_identity(report)]
    lines += signature_lines(report.signatures)
    if report.verdict == "intact":
        lines += ["", *wrap(_intact(report))]
    return ended(lines)


def failed_lines(failed: Sequence[str], claims: Sequence[str] = ()) -> list[str]:
    """What a package says of itself: comparisons that did not come out, claims that do not hold.

    Args:
        failed: Names of the comparisons.
        claims: Ids of the claims.

    Returns:
        Lines; none where every expectation held and every claim holds.
    """
    told = []
    if failed:
        does = "does not come" if len(failed) == 1 else "do not come"
        told.append(f"{join_names(failed)} {does} out as it expects")
    if claims:
        what, does = ("claim", "does") if len(claims) == 1 else ("claims", "do")
        told.append(f"the {what} {join_names(claims)} {does} not hold")
    if not told:
        return []
    return wrap(
        f"The package itself says that {', and '.join(told)}: `repropack inspect` tells how."
    )


def limits_text(limits: LimitList) -> str:
    """The limits that apply, for people.

    Returns:
        A line for each limit, its meaning below it; ends in a newline.
    """
    lines: list[str] = []
    for row in limits.limits:
        lines += [f"{row.name} = {row.value}", *wrap(row.meaning, first="  ", rest="  ")]
    return ended(lines)


def unpack_text(report: UnpackReport) -> str:
    """What ``unpack`` wrote, for people.

    Returns:
        The text; ends in a newline.
    """
    lines = _headline("unpacked", escape_text(report.path))
    count = plural(len(report.entries), *ENTRY)
    lines += wrap(f"{count} written to {escape_text(report.directory)}, every digest checked")
    lines += ["", *field("package digest", report.package_digest), ""]
    return ended([*lines, *listing([escape_text(entry) for entry in report.entries])])


def identity_lines(
    package: PackageMetadata | None,
    package_digest: str | None,
    evidence_digest: str | None,
    *,
    confirmed: bool = True,
) -> list[str]:
    """Title, name, version and digests; unless a check confirmed them, as the manifest's words."""
    lines = []
    if not confirmed and package_digest is not None:
        lines += wrap("Its manifest says, and nothing here confirms:")
    if package is not None:
        lines += wrap(escape_text(package.title), rest="  ")
        lines += field("package", f"{escape_text(package.name)} {escape_text(package.version)}")
    lines += field("package digest", package_digest or "not known: the manifest was not read")
    lines += field("evidence digest", evidence_digest or "not known: the manifest was not read")
    return lines


def fault_lines(faults: tuple[Fault, ...], noun: str = "package") -> list[str]:
    """What is wrong with a package or log, one fault each, and that nothing was executed."""
    if {fault.code for fault in faults} == {_ANOTHER}:
        lines = wrap(
            f"This is another {noun} than the one expected, and nothing of it was executed."
        )
    elif {fault.code for fault in faults} == {_LIMIT}:
        lines = wrap(
            f"The {noun} exceeds a limit on reading, so nothing is said of it otherwise, and "
            "nothing of it was executed. One that is meant to be so large can be read with --limit "
            "NAME=VALUE."
        )
    else:
        lines = wrap(
            f"The {noun} is damaged or unsafe, and nothing of it was executed: "
            f"{plural(len(faults), 'fault')}."
        )
    rows = [
        f"{escape_text(fault.entry)}: {escape_text(_said_once(fault))} "
        f"[{escape_text(fault.rule, 80)}]"
        for fault in faults
    ]
    return [*lines, *listing(rows, at_most=_MAX_FAULTS)]


def _identity(report: CheckReport) -> list[str]:
    return identity_lines(
        report.package,
        report.package_digest,
        report.evidence_digest,
        confirmed=report.verdict != "damaged",
    )


def _said_once(fault: Fault) -> str:
    """A problem without the entry that stands before it already."""
    before, found, after = fault.problem.partition(f"entry {fault.entry!r}: ")
    repeats = bool(found and after) and (not before or before.endswith(": "))
    return after if repeats else fault.problem


def _how_long(reference: ReferenceOutcome) -> str:
    """Its steps; one step without any state is how a command is told, which has none."""
    if reference.last_step == 1 and reference.final_state == ():
        return "once"
    return plural(reference.last_step, "step")


def _headline(verdict: str, subject: str) -> list[str]:
    return wrap(subject, first=f"{verdict}  ")


def _not_compared(paths: tuple[str, ...]) -> list[str]:
    """What a command wrote and nothing of the package holds; no line where there is nothing."""
    if not paths:
        return []
    more = len(paths) - _MAX_NOT_COMPARED
    shown = ", ".join(escape_text(path) for path in paths[:_MAX_NOT_COMPARED])
    named = f"{shown} and {more} more" if more > 0 else shown
    what = "it" if len(paths) == 1 else "them"
    return field("not compared", f"{named}: written, and no pattern of outputs matches {what}")


def _expectations(report: BuildReport) -> str:
    outcomes = report.results.comparisons
    stated = [outcome for outcome in outcomes if outcome.held is not None]
    failed = [outcome.run for outcome in stated if outcome.held is False]
    if failed:
        return (
            f"{len(failed)} of {plural(len(stated), 'expectation')} failed: {join_names(failed)}. "
            "The package was written all the same."
        )
    if not stated:
        return f"{plural(len(outcomes), 'comparison')}, none with an expectation"
    kept = f"{len(stated)} of {plural(len(stated), 'expectation')} held"
    silent = len(outcomes) - len(stated)
    return f"{kept}; {plural(silent, 'comparison')} without one" if silent else kept


def _where_it_began(report: BuildReport) -> list[str]:
    """Which command looks at the first run that parted unexpectedly, in steps of its own."""
    package = escape_text(report.path)
    for row in report.results.comparisons:
        if row.held is False and row.divergence is not None and not is_output(row.divergence):
            run = f"{package}::{escape_text(row.run)}"
            return wrap(f"Where it began: repropack diff {package} {run} --zoom")
    return []


def _intact(report: CheckReport) -> str:
    """What the verdict means, and who answers what it does not mean."""
    if report.fast:
        agrees = "its entries agree with its manifest."
    else:
        agrees = (
            "the package agrees with its manifest and with itself; figures and a notebook were "
            "not looked at beyond their digests."
        )
    return (
        f"Nothing of the package was executed. Intact means that {agrees} Whether it is the one "
        "that was published is for `--expect-digest` to say, whether it can be reproduced for "
        "`repropack verify`."
    )


def _checked(report: CheckReport) -> str:
    entries = plural(report.entries_checked, *ENTRY)
    if report.fast:
        return (
            f"{entries} compared with their digests, and nothing else: documents, log chains, "
            "array fingerprints, results and claims were not looked at (--fast)."
        )
    return (
        f"{entries}, {plural(report.steps_checked, 'step')} of fingerprint logs and "
        f"{plural(report.arrays_checked, 'array')} are what the package says they are; the stored "
        "results follow from them."
    )
