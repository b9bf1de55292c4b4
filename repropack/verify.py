"""Verify a package: check it, run it again here, and compare byte for byte.

The process that judges never imports package code; workers do (``_run``). Nothing is written into
the package. A result is called reproduced, never correct.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from repropack._checking import check_whole
from repropack._compare.environments import account_of
from repropack._compare.machines import machine_facts
from repropack._compare.patterns import runs_with_patterns
from repropack._format.layout import AUTHOR_READMES, LICENSE, NOTEBOOK, README, REFERENCE_RUN
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack._format.paths import shown_path
from repropack._present.layout import is_command
from repropack._present.rendered import load_painter
from repropack._read.claimed import verify_claims
from repropack._read.container import Container, open_container
from repropack._read.equality import hold_against
from repropack._read.findings import Findings
from repropack._read.package import Package, open_package
from repropack._read.run import RunReader
from repropack._read.shown import added_resume, claim_of
from repropack._redone import redraw, repeat_after, repeat_notebook
from repropack._run.chosen_sources import check_source_names
from repropack._run.confinement.consent import (
    BY_DEFAULT,
    Consent,
    confine,
    describe,
    require_trusted,
    require_unseen,
)
from repropack._run.confinement.sandbox import Sandbox
from repropack._run.distributions import check_own_name
from repropack._run.execute import Launcher, OnStep
from repropack._run.folders import new_folder, remove_tree
from repropack._run.handed import nonsense
from repropack._run.materials import unpack_materials
from repropack._run.recorder import RecordedRun
from repropack._run.recreate import recreate_environment as recreate
from repropack._run.recreate import require_lock
from repropack._run.runtime import PRESENT, Runtime
from repropack._zooming import Source
from repropack._zooming_here import step_to_see, zoom_here
from repropack.errors import (
    CouldNotRunError,
    ExperimentError,
    PackageError,
    RepropackError,
    UnsupportedVersionError,
    UsageError,
)
from repropack.models.claims import ClaimVerification
from repropack.models.differences import OutputsComparison
from repropack.models.environment import EnvironmentRecord
from repropack.models.plan import ComparisonPlan
from repropack.models.reports import (
    Confinement,
    NotebookVerification,
    Problem,
    RenderedVerification,
    RunClaim,
    RunVerification,
    UsedEnvironment,
    Verdict,
    VerificationReport,
)


def verify_package(  # noqa: PLR0913 - the options of the verb
    path: str | Path,
    *,
    runs: Sequence[str] | None = None,
    notebook: bool = False,
    recreate_environment: bool = False,
    expect_digest: str | None = None,
    inputs: Mapping[str, str | Path] | None = None,
    consent: Consent = BY_DEFAULT,
    zoom: bool = True,
    on_step: OnStep | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> VerificationReport:
    """Check a package, then execute its runs again and compare everything with what it holds.

    The reference runs from its first state; each comparison runs under its intervention, resumes
    from the checkpoint that the package stores. Where the plan has no plain resume, one is added
    from a middle checkpoint. Compared are every line of the logs, every checkpoint, every kept
    array, and the final arrays directly. Claims are evaluated on what was computed here; that is
    reported beside the verdict and changes nothing of it.

    Args:
        path: The package, zip or directory. It is only read.
        runs: Names of the runs to execute, ``reference`` or a comparison's; all where ``None``.
        notebook: Generate and execute the notebook again as well, and compare it.
        recreate_environment: Install what the package's lock names and run there, always confined,
            instead of in the present environment.
        expect_digest: The package digest it must have, ``sha256:<64 hex>``.
        inputs: Where inputs lie that the package holds by reference, by their path in it, with or
            without ``inputs/``.
        consent: How its code may run. Foreign code is confined, at a level chosen by trying.
        zoom: Look at the elements of the step at which the first run that differs parts.
        on_step: Called after each step with the run's name, the step and the last step planned.
        limits: Limits on reading.

    Returns:
        The verdict with its evidence: ``identical``; ``differs``, with where it began; ``damaged``,
        with every fault, nothing executed; ``could-not-run``, with the reason.

    Raises:
        UsageError: no such path, no such run, or no run at all; the package is another than the
            one that ``consent`` trusts; the notebook was asked for in a recreated environment.
    """
    if runs is not None and not runs:
        raise UsageError("runs: expected at least one run to execute, observed none")
    if notebook and recreate_environment:
        raise UsageError(
            "expected --notebook or --recreate-env, observed both: a notebook is executed "
            "in the present environment"
        )
    verification = _Verification(
        shown_path(path),
        path,
        tuple(runs) if runs is not None else None,
        on_step,
        consent=consent,
        inputs=dict(inputs or {}),
        with_notebook=notebook,
        with_environment=recreate_environment,
        zooms=zoom,
    )
    try:
        package = open_package(path, limits=limits)
    except UnsupportedVersionError as error:
        return verification.could_not_run(error)
    except PackageError as error:
        verification.findings.add_error(error, Path(path).name)
        return verification.report("damaged")
    with package:
        verification.package = package
        require_trusted(package, consent)
        try:
            return verification.verify(package, expect_digest)
        except (ExperimentError, CouldNotRunError, UnsupportedVersionError) as error:
            return verification.could_not_run(error)
        except PackageError as error:  # changed after it was checked
            verification.findings.add_error(error, Path(path).name)
            return verification.report("damaged")


@dataclass
class _Verification:
    """One verification under way; holds what is known so far, so that no evidence is lost."""

    path: str
    place: str | Path
    requested: tuple[str, ...] | None
    on_step: OnStep | None
    consent: Consent
    inputs: Mapping[str, str | Path]
    package: Package | None = None
    findings: Findings = field(default_factory=Findings)
    runs: list[RunVerification] = field(default_factory=list)
    claims: tuple[ClaimVerification, ...] = ()
    begun: set[str] = field(default_factory=set)
    checked: bool = False
    confinement: Confinement | None = None
    with_environment: bool = False
    used: UsedEnvironment | None = None
    runtime: Runtime = PRESENT
    observed: EnvironmentRecord | None = None
    figures: RenderedVerification | None = None
    after: OutputsComparison | None = None
    with_notebook: bool = False
    notebook: NotebookVerification | None = None
    zooms: bool = True

    def report(self, verdict: Verdict, problem: Problem | None = None) -> VerificationReport:
        """The report with everything known so far."""
        package = self.package
        return VerificationReport(
            path=self.path,
            verdict=verdict,
            checked=self.checked and verdict != "damaged",
            package=package.manifest.package if package is not None else None,
            package_digest=package.package_digest if package is not None else None,
            evidence_digest=package.evidence_digest if package is not None else None,
            confinement=self.confinement,
            used_environment=self.used,
            runs_requested=self.requested,
            recorded_runs=package.run_names() if package is not None and self.checked else (),
            expectations_failed=package.expectations_failed()
            if package is not None and self.checked
            else (),
            claims_failed=package.claims_failed() if package is not None and self.checked else (),
            runs=runs_with_patterns(self.runs, self.confinement),
            claims=self.claims,
            figures=self.figures,
            after=self.after,
            notebook=self.notebook,
            not_verified=self._not_verified(package)
            if package is not None and self.checked
            else (),
            environment=account_of(package.environment, self.observed)
            if package is not None and self.observed is not None
            else None,
            machine=machine_facts(self.observed) if self.observed is not None else None,
            faults=tuple(self.findings.faults),
            problem=problem,
            loop=package is not None and self.checked and package.plan.experiment.loop,
        )

    def could_not_run(self, error: RepropackError) -> VerificationReport:
        """The report of a verification that ended without an answer."""
        return self.report(
            "could-not-run", Problem(code=error.code, message=error.message, hint=error.hint)
        )

    def verify(self, package: Package, expect_digest: str | None) -> VerificationReport:
        """Check, then execute and compare."""
        check_whole(package, self.findings, expect_digest=expect_digest)
        if self.findings.faults:
            return self.report("damaged")
        self.checked = True
        self._check_requested(package)
        check_own_name()
        check_source_names(package.plan, package.manifest.entries)
        if self.with_environment:
            require_lock(package)
        sandbox, reason = confine(package, self.consent, recreated=self.with_environment)
        require_unseen(self.place, sandbox)
        load_painter()
        scratch = new_folder("repropack-verify-")
        try:
            self._prepare(package, scratch, sandbox)
            self.confinement = describe(sandbox, reason)
            self._execute(package, scratch, sandbox)
            if self.with_notebook:
                self.notebook = repeat_notebook(package, scratch, sandbox)
        finally:
            remove_tree(scratch)
        same = all(run.equal for run in self.runs)
        if self.figures is not None and self.figures.paths.differing:
            same = False
        if self.notebook is not None and self.notebook.differences:
            same = False
        if self.after is not None and not self.after.equal:
            same = False
        return self.report("identical" if same else "differs")

    def _prepare(self, package: Package, scratch: Path, sandbox: Sandbox) -> None:
        """Choose the environment of the runs, and make it where it is to be made again."""
        used = UsedEnvironment(kind="present")
        if self.with_environment:
            made = recreate(package, scratch, sandbox)
            self.runtime, used = made.runtime, made.used
            require_unseen(self.place, sandbox, made.runtime.view)
        self.used = used

    def _check_requested(self, package: Package) -> None:
        names = package.run_names()
        for name in self.requested or ():
            if name not in names:
                raise UsageError(f"no run named {name!r}: expected one of {', '.join(names)}")

    def _wanted(self, name: str) -> bool:
        return self.requested is None or name in self.requested

    def _execute(self, package: Package, scratch: Path, sandbox: Sandbox) -> None:
        launcher = Launcher(
            package.plan,
            unpack_materials(package, scratch, self.inputs),
            scratch / "tree",
            scratch,
            sandbox=sandbox,
            on_step=self.on_step,
            runtime=self.runtime,
        )
        reference = package.run(REFERENCE_RUN)
        if self._wanted(REFERENCE_RUN):
            self._replay(launcher, Source(reference, reference), "independent-replay")
        for comparison in package.plan.comparisons:
            if self._wanted(comparison.name):
                stored = package.run(comparison.name)
                arrays = stored if stored.checkpoint_steps() else reference
                source = Source(stored, arrays, comparison=comparison)
                self._replay(launcher, source, claim_of(comparison, package), reference)
        extra = added_resume(package) if self.requested is None else None
        if extra is not None:
            source = Source(reference, reference, comparison=extra)
            self._replay(launcher, source, "exact-resume", reference)
        self.claims = self._claims(package, launcher.tree)
        whole = self.requested is None and all(run.equal for run in self.runs)
        self.figures = redraw(package, launcher.tree, whole=whole)
        self.after = repeat_after(package, launcher, whole=whole)

    def _claims(self, package: Package, tree: Path) -> tuple[ClaimVerification, ...]:
        """The claims on what was computed here; they are reported beside the verdict."""
        executed = [run.run for run in self.runs if run.run in package.run_names()]
        if not package.plan.claims or not executed:
            return verify_claims(package.plan, package.results, {})
        with open_container(tree) as container:
            fresh = {name: RunReader(container, name, limits=package.limits) for name in executed}
            return verify_claims(package.plan, package.results, fresh)

    def _replay(
        self,
        launcher: Launcher,
        recorded: Source,
        claim: RunClaim,
        reference: RunReader | None = None,
    ) -> None:
        """Execute one run and compare it; where it differs, whether it at least repeats here."""
        expected, arrays = recorded.run, recorded.stored
        launcher = _ending_after(launcher, arrays.checkpoint_steps()[-1])
        self.begun.add(expected.name)
        result = _execute_once(launcher, recorded.comparison, reference)
        if self.observed is None:
            self.observed = result.environment
        with open_container(launcher.tree) as container:
            fresh = _read_back(container, result.name)
            verification = hold_against(expected, arrays, fresh, claim)
            self.runs.append(verification)
            if verification.equal:
                return
            seen = step_to_see(verification, launcher) if self.zooms else None
            again = replace(launcher, tree=launcher.tree.with_name("again"), zoom=seen)
            _execute_once(again, recorded.comparison, reference)
            with open_container(again.tree) as repeated:
                second = _read_back(repeated, result.name)
                repeats = hold_against(fresh, fresh, second, claim).equal
                verification = verification.model_copy(update={"repeats": repeats})
                if seen is not None:
                    self.zooms = False  # the first run that differs is enough
                    here = replace(recorded, run=fresh, stored=fresh, seen=(seen, second))
                    zoom = zoom_here(verification, recorded, here, launcher, reference)
                    verification = verification.model_copy(update={"zoom": zoom})
        self.runs[-1] = verification

    def _not_verified(self, package: Package) -> tuple[str, ...]:
        """What this verification says nothing about."""
        executed = {run.run for run in self.runs}
        statements = [
            f"run {name!r} {'did not end' if name in self.begun else 'was not executed'}"
            for name in package.run_names()
            if name not in executed
        ]
        if self.figures is not None and self.figures.reason is not None:
            statements.append(f"figures: {self.figures.reason}")
        if self.after is not None and self.after.reason is not None:
            statements.append(f"outputs of the commands after the runs: {self.after.reason}")
        prose = [path for path in (README, *AUTHOR_READMES, LICENSE) if path in package.container]
        prose += [] if self.notebook is not None else [NOTEBOOK]
        statements.append(f"what {', '.join(prose)} say")
        if is_command(package.plan.experiment):
            statements.append("what the command does besides writing its outputs")
        else:
            statements += self._not_resumed(package)
        return (*statements, "any other environment than this one")

    def _not_resumed(self, package: Package) -> tuple[str, str]:
        components = ", ".join(name for name, _ in package.run().start.state) or "none"
        resumed = sorted({run.first_step - 1 for run in self.runs if run.claim == "exact-resume"})
        places = f"after steps other than {', '.join(map(str, resumed))}" if resumed else "at all"
        return f"resuming {places}", f"state outside the declared components ({components})"


def _execute_once(
    launcher: Launcher, comparison: ComparisonPlan | None, reference: RunReader | None
) -> RecordedRun:
    """Execute the reference, or a run under an intervention."""
    if comparison is None or reference is None:
        return launcher.run_reference()
    return launcher.run_comparison(comparison, reference)


def _read_back(container: Container, name: str) -> RunReader:
    """A run that was executed here; what nobody could read in it is no damage of the package."""
    try:
        run = RunReader(container, name)
        deque(run.steps(), maxlen=0)
    except PackageError as error:
        raise nonsense(name, str(error)) from error
    return run


def _ending_after(launcher: Launcher, last_step: int) -> Launcher:
    """A run that goes on where the recorded one ended is a difference, and ends one step later."""
    plan = launcher.plan
    if plan.experiment.steps <= last_step + 1:
        return launcher
    experiment = plan.experiment.model_copy(update={"steps": last_step + 1})
    return replace(launcher, plan=plan.model_copy(update={"experiment": experiment}))
