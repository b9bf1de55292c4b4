"""What was run and on what: the plan and the environment record, as a page shows them."""

from __future__ import annotations

from collections.abc import Iterator

from repropack._present.findings import expectation, intervention, recorded
from repropack._present.html import Content, Markup, element, text
from repropack._present.layout import experiment_text, plural, size
from repropack._present.page_parts import (
    code,
    codes,
    config_text,
    details,
    digest,
    facts,
    paragraph,
    section,
    table,
    term,
)
from repropack._present.page_subject import PageSubject
from repropack.models.environment import EnvironmentRecord
from repropack.models.manifest import Entry
from repropack.models.plan import ComparisonPlan, Plan

_MAX_PLAN_CHARACTERS = 40_000
_Facts = Iterator[tuple[Content, Content]]


def plan_section(subject: PageSubject) -> Markup:
    """What was run: experiment, source, configuration, recording, comparisons."""
    plan, config = subject.plan, sorted(subject.plan.experiment.config.items())
    settings = ((code(name), code(config_text(value))) for name, value in config)
    comparisons = (
        (code(row.name), _change(row), expectation(row.expect) or "nothing")
        for row in plan.comparisons
    )
    return section(
        "plan",
        "Plan",
        paragraph(
            "The ",
            term("plan"),
            " is the entry ",
            code("plan.json"),
            "; it follows from the author's project file.",
        ),
        facts(_plan_facts(subject)),
        table("Configuration", ("name", "value"), settings, class_="config") if config else None,
        table("Comparisons", ("comparison", "what it changes", "expected"), comparisons)
        if plan.comparisons
        else None,
        details("plan.json in full", element("pre", code(_whole(plan)), tabindex=0)),
    )


def environment_section(environment: EnvironmentRecord) -> Markup:
    """What the reference ran on."""
    distributions, card = environment.distributions, sorted(environment.probe_card.items())
    return section(
        "environment",
        "Environment",
        paragraph(
            "The ", term("environment record"), " describes the process that ran the reference."
        ),
        facts(_environment_facts(environment)),
        details(
            plural(len(distributions), "installed distribution"),
            table(
                "Installed distributions",
                ("distribution", "version", "origin"),
                ((row.name, row.version, row.origin) for row in distributions),
            ),
        ),
        details(
            f"{plural(len(card), 'digest')} of the probe card",
            table("Probe card", ("family", "digest"), ((name, digest(d)) for name, d in card)),
        ),
    )


def _plan_facts(subject: PageSubject) -> _Facts:
    experiment, record = subject.plan.experiment, subject.plan.record
    sources = [entry for entry in subject.entries if entry.role == "source"]
    inputs = [entry for entry in subject.entries if entry.role == "input"]
    of_steps = experiment.command is None or experiment.loop
    label = "experiment" if experiment.command is None else "command"
    yield label, code(experiment_text(experiment))
    shipped = ", which repropack ships" if subject.lab else ""
    source: list[Content] = [f"{_files(sources)}, digest ", digest(subject.source_digest), shipped]
    yield "source", source
    yield "inputs", _files(inputs) if inputs else None
    yield "seed", str(experiment.seed)
    if of_steps:
        yield "steps", f"{experiment.steps:,}"
        every = record.checkpoint_every
        between = f", every {plural(every, 'step')}" if every is not None else ""
        yield "recorded", f"{recorded(record)}; checkpoints at the start{between}, at the end"
    yield "kept whole", codes(record.keep) if record.keep else None
    printed = sorted(record.printed.items())
    yield "printed", "; ".join(f"{name} as {spec}" for name, spec in printed) or None
    yield "outputs", codes(experiment.outputs) if experiment.outputs else None
    variables = sorted(experiment.environment.items())
    yield "variables", codes(f"{name}={value}" for name, value in variables) if variables else None


def _files(entries: list[Entry]) -> str:
    return f"{plural(len(entries), 'file')}, {size(sum(entry.size for entry in entries))}"


def _change(row: ComparisonPlan) -> Content:
    plain = intervention(row.model_copy(update={"config": {}}))
    values = (f"{name} = {config_text(value)}" for name, value in sorted(row.config.items()))
    return [plain, ", ", codes(values)] if row.config else plain


def _whole(plan: Plan) -> Markup:
    """The document, each of its members on a line."""
    members = sorted(plan.model_dump(mode="json").items())
    lines = [f'  "{name}": {config_text(value)}' for name, value in members]
    return text("{\n" + ",\n".join(lines) + "\n}", _MAX_PLAN_CHARACTERS)


def _environment_facts(environment: EnvironmentRecord) -> _Facts:
    interpreter, platform = environment.interpreter, environment.platform
    cpu, numpy, floats = environment.cpu, environment.numpy, environment.floats
    version = f"{interpreter.implementation} {interpreter.version}"
    yield "interpreter", f"{version} ({interpreter.compiler})"
    kernel = f"kernel {platform.kernel}" if platform.kernel is not None else None
    system = (platform.system, platform.os_id, platform.os_version, kernel)
    libc = platform.libc or "C library not known"
    yield "system", f"{' '.join(filter(None, system))}, {platform.machine}, {libc}"
    yield "processor", " · ".join(filter(None, (cpu.vendor, cpu.model))) or "not known"
    yield "instruction sets", ", ".join(cpu.features) or None
    blas = " ".join(filter(None, (numpy.blas_name, numpy.blas_version))) or "not known"
    yield "NumPy", f"{numpy.version}; BLAS {blas}"
    for pool in environment.thread_pools:
        parts = (pool.interface, pool.version, pool.kernel, plural(pool.threads, "thread"))
        yield "library", " ".join(filter(None, parts))
    kept = [
        f"{name} {'kept' if survive else 'flushed to zero'}"
        for name, survive in (
            ("float32", floats.subnormals_float32),
            ("float64", floats.subnormals_float64),
        )
    ]
    yield "arithmetic", f"rounding {floats.rounding}; subnormals: {', '.join(kept)}"
    variables = sorted(environment.variables.items())
    yield "variables", codes(f"{name}={value}" for name, value in variables) if variables else None
    changed = sorted(environment.probe_card_at_end or ())
    end = f"; changed by the end of the run: {', '.join(changed)}" if changed else ""
    yield [term("probe card")], f"{plural(len(environment.probe_card), 'family', 'families')}{end}"
