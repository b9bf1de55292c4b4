"""Say what changed from one package to another, reading both and running nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from repropack._compare.contents import compare_outputs
from repropack._compare.environments import account_of
from repropack._compare.outcomes import describe_reference
from repropack._compare.packages import (
    compare_entries,
    compare_metadata,
    compare_outcomes,
    compare_plans,
    compare_references,
    succession_of,
)
from repropack._compare.texts import MAX_TEXT_BYTES, TextBudget
from repropack._format.layout import (
    ENVIRONMENT,
    INPUTS,
    MANIFEST,
    PLAN,
    REFERENCE_RUN,
    RESULTS,
    RUNS,
    SOURCE,
)
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.paths import shown_path
from repropack._read.findings import Findings
from repropack._read.integrity import check_package_whole
from repropack._read.package import Package, open_package
from repropack._read.run import RunReader
from repropack.errors import PackageError
from repropack.models.differences import OutputDifference
from repropack.models.environment import EnvironmentRecord
from repropack.models.package_difference import (
    DiffSide,
    FileChange,
    FileChanges,
    PackageDifference,
    ResultsDifference,
    TextChange,
)
from repropack.models.plan import Plan
from repropack.models.results import ReferenceOutcome, Results

_COMPARED = tuple(f"{folder}/" for folder in (SOURCE, INPUTS, RUNS))
"""Folders whose files have a section of their own."""
_AUTHORS_PATH = {INPUTS: re.compile(r"(.+)"), RUNS: re.compile(r"[^/]+/outputs/(.+)")}
"""What the author calls a file, in its path below one of a package's folders."""
_MAX_CONTENTS = 50
"""Files of one section that are compared by what they are."""
_Value = TypeVar("_Value")


def diff_packages(
    old: str | Path, new: str | Path, *, limits: Limits = DEFAULT_LIMITS
) -> PackageDifference:
    """Compare two packages: source, inputs, configuration, environment, results, in that order.

    The digest of every entry of both is compared with its manifest first, and what is compared
    afterwards is read strictly. Whether each package agrees with itself beyond that is
    ``check_package``'s to answer.

    Args:
        old: The former package, zip or directory.
        new: The later package. Two packages of one package digest are identical, whether zip or
            directory.
        limits: Limits on reading either.

    Returns:
        What changed, or the faults of a side that is damaged.

    Raises:
        UsageError: no such path.
        UnsupportedVersionError: a format version or feature of a later release.
    """
    with ExitStack() as stack:
        sides = _open(old, limits, stack), _open(new, limits, stack)
        left, right = sides[0].read(), sides[1].read()
        if left is None or right is None:
            return _report("damaged", *sides)
        if left.package.package_digest == right.package.package_digest:
            return _report("identical", *sides)
        report = _compare(sides, left, right)
        return _report("damaged", *sides) if any(side.findings.faults for side in sides) else report


@dataclass(frozen=True)
class _Contents:
    """What is read of a package whose entries have their digests."""

    package: Package
    plan: Plan
    environment: EnvironmentRecord
    results: Results
    reference: RunReader
    end: ReferenceOutcome


@dataclass
class _Side:
    """One of the two, as far as it can be read; ``package`` is ``None`` where it is none."""

    path: str | Path
    package: Package | None
    findings: Findings

    def read(self) -> _Contents | None:
        """The documents and the reference's log to its end; ``None`` where something is wrong."""
        package = self.package
        if package is None:
            return None
        check_package_whole(package, self.findings, fast=True)
        if self.findings.faults:
            return None
        return self.trying(MANIFEST, lambda: _contents(package))

    def trying(self, entry: str, action: Callable[[], _Value]) -> _Value | None:
        """Run ``action``; a package error becomes a fault of this side."""
        return self.findings.trying(entry, action)

    def described(self) -> DiffSide:
        """What the report says of this side."""
        package = self.package
        return DiffSide(
            path=shown_path(self.path),
            package=None if package is None else package.manifest.package,
            package_digest=None if package is None else package.package_digest,
            evidence_digest=None if package is None else package.evidence_digest,
            faults=tuple(self.findings.faults),
        )


def _open(path: str | Path, limits: Limits, stack: ExitStack) -> _Side:
    findings = Findings(max_faults=limits.max_faults)
    try:
        package = stack.enter_context(open_package(path, limits=limits))
    except PackageError as error:
        findings.add_error(error, shown_path(Path(path).name), container=str(path))
        return _Side(path, None, findings)
    return _Side(path, package, findings)


def _contents(package: Package) -> _Contents:
    reference = package.run(REFERENCE_RUN)
    return _Contents(
        package=package,
        plan=package.plan,
        environment=package.environment,
        results=package.results,
        reference=reference,
        end=describe_reference(reference),
    )


def _report(verdict: str, old: _Side, new: _Side) -> PackageDifference:
    return PackageDifference.model_validate(
        {"verdict": verdict, "old": old.described(), "new": new.described()}
    )


def _compare(sides: tuple[_Side, _Side], old: _Contents, new: _Contents) -> PackageDifference:
    identities = [
        (contents.package.manifest.package, contents.package.package_digest)
        for contents in (old, new)
    ]
    configuration = compare_plans(old.plan, new.plan)
    environment = account_of(old.environment, new.environment)
    results = _compare_results(sides, old, new)
    told = {
        PLAN: bool(configuration),
        ENVIRONMENT: bool(environment.differences or environment.changed_families),
        RESULTS: bool(results.comparisons) or old.end != new.end,
    }
    return PackageDifference(
        verdict="differs",
        old=sides[0].described(),
        new=sides[1].described(),
        succession=succession_of(*identities),
        metadata=compare_metadata(identities[0][0], identities[1][0]),
        source=_with_texts(sides, _files(old, new, SOURCE)),
        inputs=_with_contents(sides, _files(old, new, INPUTS), INPUTS),
        configuration=configuration,
        environment=environment,
        results=results,
        others=compare_entries(
            old.package.manifest.entries,
            new.package.manifest.entries,
            lambda path: not path.startswith(_COMPARED) and not told.get(path, False),
        ),
    )


def _compare_results(
    sides: tuple[_Side, _Side], old: _Contents, new: _Contents
) -> ResultsDifference:
    unchanged, changed = compare_outcomes(old.results, new.results)
    return ResultsDifference(
        reference=compare_references((old.reference, old.end), (new.reference, new.end)),
        comparisons_unchanged=unchanged,
        comparisons=changed,
        files=_with_contents(sides, _files(old, new, RUNS), RUNS),
    )


def _files(old: _Contents, new: _Contents, folder: str) -> FileChanges:
    """The files below one of a package's folders, by their paths in it."""
    prefix = f"{folder}/"
    return compare_entries(
        old.package.manifest.entries,
        new.package.manifest.entries,
        lambda path: path.startswith(prefix),
        prefix,
    )


def _with_texts(sides: tuple[_Side, _Side], files: FileChanges) -> FileChanges:
    """Source files that changed, with the lines that did."""
    budget = TextBudget()
    changed = [
        row.model_copy(update={"text": _text_change(sides, row, budget)}) for row in files.changed
    ]
    return files.model_copy(update={"changed": tuple(changed)})


def _text_change(
    sides: tuple[_Side, _Side], row: FileChange, budget: TextBudget
) -> TextChange | None:
    if row.old is None or row.new is None or row.old.digest == row.new.digest:
        return None
    if max(row.old.size, row.new.size) > MAX_TEXT_BYTES:
        return None
    path = f"{SOURCE}/{row.path}"
    old, new = (side.trying(path, partial(_read, side, path)) for side in sides)
    return None if old is None or new is None else budget.compare(old, new)


def _read(side: _Side, path: str) -> bytes | None:
    return None if side.package is None else side.package.read(path)


def _with_contents(sides: tuple[_Side, _Side], files: FileChanges, folder: str) -> FileChanges:
    """The author's files below a folder that both packages hold, compared by what they are."""
    changed, room = list(files.changed), _MAX_CONTENTS
    for place, row in enumerate(changed):
        found = _AUTHORS_PATH[folder].fullmatch(row.path)
        if found is not None and room and _both_included(row):
            room -= 1
            content = _compare_contents(sides, f"{folder}/{row.path}", found[1])
            changed[place] = row.model_copy(update={"content": content})
    return files.model_copy(update={"changed": tuple(changed)})


def _both_included(row: FileChange) -> bool:
    if row.old is None or row.new is None or row.old.digest == row.new.digest:
        return False
    return row.old.included and row.new.included


def _compare_contents(sides: tuple[_Side, _Side], entry: str, path: str) -> OutputDifference | None:
    packages = [side.package for side in sides if side.package is not None]
    with ExitStack() as stack:
        old, new = (
            (stack.enter_context(package.container.open(entry)), package.container.size(entry))
            for package in packages
        )
        return compare_outputs(path, old, new)
