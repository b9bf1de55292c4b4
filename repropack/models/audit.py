"""What an audit says: which state determines the next step, and what is missing from it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from repropack.models.base import (
    Count,
    Document,
    Model,
    Number,
    RecordedName,
    RunName,
    StageName,
    StepNumber,
)
from repropack.models.patterns import Pattern
from repropack.models.reports import Problem
from repropack.models.results import Divergence, FinalMetric, Split

Shown = Annotated[str, StringConstraints(max_length=400)]

HolderKind = Literal["generator", "array", "value", "names", "file", "iterator", "cache", "opaque"]
"""What an object is: a random generator, an array, a number, a text or a container of those, a
dictionary or list by the names in it, an open file, an iterator, the results that a function
remembers, or what cannot be looked into."""

HolderReason = Literal[
    "not-in-state", "narrowed", "no-longer-shared", "shared-after-restore", "not-restored", "opaque"
]
"""Why an object may hold what a resume lacks:

``not-in-state``          no component has its value, and after the restore it has another
``narrowed``              the state holds it in a type that loses some of it
``no-longer-shared``      one object under two names in the run, two objects after the restore
``shared-after-restore``  two objects in the run, one object under two names after the restore
``not-restored``          a component has its value, and after the restore it has another
``opaque``                it cannot be looked into
"""


class Holder(Model):
    """An object that may hold what a resume lacks. It is never said to be the cause.

    ``path`` leads to it from the experiment (``self``), a module of the source, a function of a
    script, or is ``random``, ``numpy.random`` or ``torch`` for the generator of the process.
    ``changed_first`` is the first watched step after which it was another than before, null where
    it never was. ``in_state`` are the names of the state that held its value at every watched step;
    ``shared_with`` the other name of a shared object. ``set_by_each_step``: a local name that the
    first step of a fresh run sets too. ``lost_without_harm``: after another resume, which went on
    exactly over the same step, it had another value as well.
    """

    path: Shown
    kind: HolderKind
    reason: HolderReason
    changed_first: StepNumber | None
    in_state: tuple[Shown, ...] = ()
    shared_with: Shown | None = None
    in_run: Shown | None = None
    after_restore: Shown | None = None
    set_by_each_step: bool = False
    lost_without_harm: bool = False


class ChangedObject(Model):
    """An object that changed between steps and is in no component.

    ``changes`` counts the watched steps after which it was another than at the one before;
    ``lost_at`` are the resumes after which it did not have the value that it had in the run;
    ``set_by_each_step`` is as for a holder.
    """

    path: Shown
    kind: HolderKind
    changed_first: StepNumber
    changes: Count
    lost_at: tuple[StepNumber, ...] = ()
    set_by_each_step: bool = False


class AuditedRepeat(Model):
    """A second run in a fresh process, from the first state to the end, held against the first.

    ``patterns`` are those of docs/divergences.md that the evidence fits or excludes.
    """

    identical: bool
    last_step: StepNumber
    divergence: Divergence | None = None
    patterns: tuple[Pattern, ...] = ()


class AuditedResume(Model):
    """A full resume in a fresh process, to the end; ``start`` splits the state that came back.

    ``repeats`` says of one that diverges whether a second one gives the same; null where it was
    not asked. ``problem`` is what it raised. ``holders`` are likely ones, the likeliest first.
    """

    resume_at: StepNumber
    identical: bool
    start: Split = Split()
    divergence: Divergence | None = None
    problem: Problem | None = None
    repeats: bool | None = None
    holders: tuple[Holder, ...] = ()
    holders_left_out: Count = 0
    differing_steps: tuple[tuple[StepNumber, StepNumber], ...] = ()
    compared: Count = 0
    final_metrics: tuple[FinalMetric, ...] = ()
    patterns: tuple[Pattern, ...] = ()


class FinalDistance(Model):
    """How far a component is from where it was to be at the end.

    ``values`` are the names in it that differ; the distances are over arrays and numbers that can
    be measured.
    """

    component: RecordedName
    values: tuple[RecordedName, ...]
    largest_absolute: Number | None = None
    largest_ulp: Number | None = None


ResetEffect = Literal["matters", "itself", "none", "fails", "unchanged", "not-run"]
"""What follows where a part of the state is put back to its first value:

``matters``    something else differs later: a stage, a metric, another component
``itself``     nothing but the component itself ever differs
``none``       it differs at the start, and nothing at the end or between recorded states after
``unchanged``  it has its first value at every checkpoint, or none, so nothing can be told
``fails``      the experiment raises an error
``not-run``    the bound on the number of runs was reached
"""


class AuditedReset(Model):
    """A component, or a named value of one, put back to its first value at a resume.

    ``value`` is null for a whole component. ``resume_at`` is the first checkpoint at which it was
    another. ``first_step`` is the first step at which something else differs: ``stages``,
    ``components`` and ``metrics`` are those that do in that step. A value that is all that changed
    of its component has no run of its own: ``run`` is the component's.
    """

    component: RecordedName
    value: RecordedName | None = None
    effect: ResetEffect
    resume_at: StepNumber | None = None
    run: RunName | None = None
    first_step: StepNumber | None = None
    stages: tuple[StageName, ...] = ()
    components: tuple[RecordedName, ...] = ()
    metrics: tuple[RecordedName, ...] = ()
    differing_steps: tuple[tuple[StepNumber, StepNumber], ...] = ()
    compared: Count = 0
    final: tuple[FinalDistance, ...] = ()
    final_metrics: tuple[FinalMetric, ...] = ()
    problem: Problem | None = None


class AuditReport(Document):
    """The report of ``repropack audit``.

    ``identical``: a second run equals the first, the first state comes back when it is loaded, and
    every resume goes on exactly; else ``differs``. Parts of the state that never mattered change
    no verdict. ``boundaries`` are steps after which a component changed that seldom does: the end
    of an epoch, a step of a schedule. ``watched_steps`` are those after which objects were looked
    at, ``not_looked_at`` what was left out there, ``opaque`` objects that cannot be looked into.
    """

    schema_name: Literal["repropack/audit-report/v1"] = Field(
        default="repropack/audit-report/v1", alias="schema"
    )
    path: str
    verdict: Literal["identical", "differs"]
    experiment: str
    loop: bool
    last_step: StepNumber
    runs_made: Count
    round_trip: Problem | None = None
    repeat: AuditedRepeat
    boundaries: tuple[StepNumber, ...] = ()
    resumes: tuple[AuditedResume, ...] = ()
    resets: tuple[AuditedReset, ...] = ()
    watched_steps: tuple[StepNumber, ...] = ()
    changed: tuple[ChangedObject, ...] = ()
    changed_left_out: Count = 0
    opaque: tuple[Shown, ...] = ()
    not_looked_at: tuple[Shown, ...] = ()
