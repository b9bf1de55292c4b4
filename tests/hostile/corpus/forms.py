"""T10: forms of an experiment that there are not, outputs and inputs that are not what they say."""

# ruff: noqa: E501 - one line a lie

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.hostile.corpus.bases import Base
from tests.hostile.corpus.case import (
    BOTH,
    INTEGRITY,
    SCHEMA,
    UNSAFE,
    Case,
    Write,
    lie,
    rows,
    told,
)
from tests.hostile.corpus.documents import PLAN
from tests.support.hostile import Forgery

COMMAND = ("command",)
OUTPUTS = "runs/reference/outputs"
DATA, BIG = "inputs/data/rows.csv", "inputs/data/big.bin"
OTHER = "sha256:" + "0" * 64
AFTER: dict[str, Any] = {
    "command": ["sh"],
    "outputs": ["a.txt"],
    "environment": {},
    "timeout_seconds": None,
}


def experiment(*, faults: int | None = 1, **members: Any) -> Write:
    """Other members of the plan's experiment; logs and results stay as they are."""
    return told(lambda base, forgery: forgery.edit(PLAN, lambda v: v["experiment"].update(members)))


def plan(change: Callable[[Any], object]) -> Write:
    """Change the plan."""
    return told(lambda base, forgery: forgery.edit(PLAN, change))


def in_place_of_source(below: str = "") -> Write:
    """An input at the path of a source file, or below it."""

    def tell(base: Base, forgery: Forgery) -> None:
        source = min(path for path in forgery.files if path.startswith("source/"))
        forgery.files[f"inputs/{source.removeprefix('source/')}{below}"] = b"1\n"

    return told(tell)


def stored(path: str, content: bytes = b"1\n", **row: Any) -> Write:
    """An entry more, listed as it is but for ``row``."""

    def tell(base: Base, forgery: Forgery) -> None:
        forgery.files[path] = content
        forgery.rows[path] = row

    return told(tell)


def elsewhere(path: str, *, beside: bool = False, **row: Any) -> Write:
    """An entry that is held by reference, its bytes away or, wrongly, there as well."""

    def tell(base: Base, forgery: Forgery) -> None:
        forgery.files.setdefault(path, b"1\n")
        forgery.rows[path] = {"included": False, "location": "ask the institute", **row}
        if not beside:
            forgery.elsewhere.add(path)

    return told(tell)


def written(path: str, content: bytes | None) -> Write:
    """Another content of an output, or none; the log says what it said."""

    def tell(base: Base, forgery: Forgery) -> None:
        forgery.files.pop(path)
        if content is not None:
            forgery.files[path] = content

    return told(tell)


def in_log(change: Callable[[Any], object], run: str = "reference") -> Write:
    """Change the values of a log; its chain and the results are made right."""

    def tell(base: Base, forgery: Forgery) -> None:
        log = forgery.log(run)
        change(log)
        forgery.put_log(run, log)
        forgery.rechain_all()
        forgery.recompute_results()

    return told(tell)


def both(change: Callable[[Any], object]) -> Write:
    """Change the logs of the reference and of the run that repeats it."""

    def tell(base: Base, forgery: Forgery) -> None:
        for run in ("reference", "again"):
            log = forgery.log(run)
            change(log)
            forgery.put_log(run, log)
        forgery.rechain_all()
        forgery.recompute_results()

    return told(tell)


def other_stage(log: Any) -> None:
    """Another fingerprint of the last output."""
    log.steps[0]["stages"][-1][1] = OTHER


def other_order(log: Any) -> None:
    """The outputs in another order."""
    log.steps[0]["stages"].reverse()
    log.header["stages"].reverse()


def stage_less(log: Any) -> None:
    """An output that the log does not know."""
    log.steps[0]["stages"].pop()
    log.header["stages"].pop()


def declared_of_state(log: Any) -> None:
    """Outputs that are made of each other, as if an operation could be to blame."""
    log.header["stages"] = [[name, None] for name, _ in log.header["stages"]]


def spared(base: Base, forgery: Forgery) -> None:
    """A run that differs, without its outputs."""
    for path in [one for one in forgery.files if one.startswith("runs/larger/outputs/")]:
        forgery.files.pop(path)


def consistent(base: Base, forgery: Forgery) -> None:
    """Another output, which log, chain and results follow: only running it again can tell."""
    forgery.files[f"{OUTPUTS}/tables/rows.csv"] = forgery.files[
        "runs/larger/outputs/tables/rows.csv"
    ]
    stage = next(
        row for row in forgery.log("larger").steps[0]["stages"] if row[0].endswith("rows.csv")
    )
    for run in ("reference", "again"):
        log = forgery.log(run)
        next(row for row in log.steps[0]["stages"] if row[0] == stage[0])[1] = stage[1]
        forgery.put_log(run, log)
    forgery.rechain_all()
    forgery.recompute_results()


def many_ways(base: Base, forgery: Forgery) -> None:
    """A deep output, and a pattern with as many ways to take it as there are numbers."""
    pattern = "/".join(["**", "a"] * 60 + ["b"])
    forgery.edit(PLAN, lambda value: value.update(after=[{**AFTER, "outputs": [pattern]}]))
    forgery.files["after/" + "/".join("a" * 28)] = b""


FORMS = rows(
    "T10",
    "form",
    lie("both", "An entry point and a command.", experiment(command=["sh"]), INTEGRITY, "expected an entry point or a command, observed both", forms=BOTH, faults=None),
    lie("neither", "Neither an entry point nor a command.", experiment(entry_point=None), INTEGRITY, "expected an entry point or a command, observed neither"),
    lie("loop-of-nothing", "A loop without a command.", experiment(loop=True), INTEGRITY, "expected a command beside loop and outputs"),
    lie("outputs-of-nothing", "Outputs without a command.", experiment(outputs=["a"]), INTEGRITY, "expected a command beside loop and outputs", faults=None),
    lie("command-of-steps", "A command of many steps that is no loop.", experiment(entry_point=None, command=["sh"], outputs=["a"]), INTEGRITY, "expected a command of one step", faults=None),
    lie("command-no-outputs", "A command without outputs.", experiment(outputs=[]), INTEGRITY, "expected a command of one step with outputs", bases=COMMAND, faults=None),
    lie("command-resumes", "A command that resumes.", plan(lambda v: v["comparisons"][0].update(resume_at=0)), INTEGRITY, "no resume", bases=COMMAND, faults=None),
    lie("command-keeps", "A command that keeps a stage.", plan(lambda v: v["record"].update(keep=["a"])), INTEGRITY, "no resume, kept stage", bases=COMMAND, faults=None),
    lie("command-prints", "A command that prints a metric.", plan(lambda v: v["record"].update(printed={"a": ".2f"})), INTEGRITY, "printed metric", bases=COMMAND, faults=None),
    lie("command-becomes-loop", "A command that calls itself a loop.", experiment(loop=True), INTEGRITY, "expected outputs that the plan names", bases=COMMAND, faults=3),
    lie("imports-outside", "Modules are looked for outside of the source.", experiment(import_from=["../../x"]), INTEGRITY, "folders of the source"),
    lie("imports-absolute", "Modules are looked for where the reader has them.", experiment(import_from=["/tmp"]), INTEGRITY, "folders of the source"),
    lie("imports-pattern", "Modules are looked for in many places.", experiment(import_from=["*"]), SCHEMA, "import_from"),
    lie("no-words", "A command without words.", experiment(command=[]), SCHEMA, "command"),
    lie("empty-word", "A command with an empty word.", experiment(command=[""]), SCHEMA, "command"),
    lie("zero-word", "A word with a zero in it.", experiment(command=["sh\0-c"]), SCHEMA, "command"),
    lie("many-words", "A thousand words and one.", experiment(command=["sh"] * 1001), SCHEMA, "command"),
    lie("text-command", "A command that is one text.", experiment(command="sh -c true"), SCHEMA, "command"),
    lie("variable-name", "A variable with a sign in its name.", experiment(environment={"A=B": "1"}), SCHEMA, "environment"),
    lie("variable-value", "A variable with a zero in its value.", experiment(environment={"A": "\0"}), SCHEMA, "environment"),
    lie("no-time", "A run that may take no time.", experiment(timeout_seconds=0), SCHEMA, "timeout_seconds"),
    lie("empty-pattern", "An output of no name.", experiment(outputs=[""]), SCHEMA, "outputs"),
    lie("after-no-words", "A command on finished runs without words.", plan(lambda v: v.update(after=[{**AFTER, "command": []}])), SCHEMA, "after"),
    lie("after-entry-point", "An entry point among the commands on finished runs.", plan(lambda v: v.update(after=[{**AFTER, "entry_point": "a:b"}])), SCHEMA, "entry_point"),
    lie("unknown-name", "A word with a name that nothing stands for.", experiment(command=["sh", "{config.none}"]), INTEGRITY, "config.none", bases=COMMAND),
    lie("after-unknown-name", "The same in a command on finished runs.", plan(lambda v: v["after"][0].update(command=["sh", "{sed}"])), INTEGRITY, "{sed}", bases=COMMAND),
)  # fmt: skip

HELD = rows(
    "T10",
    "held",
    lie("input", "An input of a package, as it should be.", stored("inputs/more.csv"), None, "", forms=BOTH),
    lie("reference", "An input that is held by reference, as it should be.", elsewhere("inputs/more.csv"), None, "", forms=BOTH),
    lie("reference-executable", "The same, and it may be executed.", elsewhere("inputs/more.sh", executable=True), None, ""),
    lie("reference-no-place", "An input that is nowhere.", elsewhere("inputs/more.csv", location=None), INTEGRITY, "an input with a location", forms=BOTH),
    lie("reference-beside", "An input that is elsewhere, and there as well.", elsewhere("inputs/more.csv", beside=True), INTEGRITY, "unexpected"),
    lie("same-path", "An input that stands in the place of a source file.", in_place_of_source(), INTEGRITY, "as well", forms=BOTH),
    lie("below-source", "An input in a folder that is a source file.", in_place_of_source("/more.csv"), INTEGRITY, "as well"),
    lie("reference-source", "A source that is elsewhere.", elsewhere("source/more.py"), INTEGRITY, "an input with a location"),
    lie("reference-log", "A log that is elsewhere.", elsewhere("runs/reference/fingerprints.jsonl"), INTEGRITY, "an input with a location", faults=None),
    lie("reference-role", "A source that calls itself an input, elsewhere.", elsewhere("source/more.py", role="input"), INTEGRITY, "role and type"),
    lie("reference-plan", "A plan that is elsewhere.", elsewhere("plan.json"), INTEGRITY, "an input with a location", faults=None),
    lie("reference-escape", "A place that clears the screen.", elsewhere("inputs/more.csv", location="\x1b[2J"), SCHEMA, "location"),
    lie("reference-path", "An input elsewhere that lies outside.", elsewhere("inputs/../../more.csv"), UNSAFE, "..", faults=None),
    lie("reference-size", "An input elsewhere of a size that is no number.", elsewhere("inputs/more.csv", size=-1), SCHEMA, "size"),
)  # fmt: skip

WRITTEN = rows(
    "T10",
    "output",
    lie("entry-point-has", "An output of an experiment that writes none.", stored(f"{OUTPUTS}/a.txt"), INTEGRITY, "expected outputs that the plan names"),
    lie("after-has", "An output of commands that there are not.", stored("after/a.txt"), INTEGRITY, "expected outputs that the plan names", bases=("own", "lab", "command")),
    lie("after-lacks", "A command on finished runs that left nothing.", plan(lambda v: v.update(after=[AFTER])), INTEGRITY, "outputs 'a.txt' in after", bases=("own", "lab", "command"), faults=None),
    lie("no-run", "An output of a run that is none.", stored("runs/extra/outputs/a.txt"), INTEGRITY, "expected a run of the plan"),
    lie("folder-alone", "A file where the outputs should lie.", stored(OUTPUTS), INTEGRITY, "one that entries may have"),
    lie("up", "An output that lies outside.", stored(f"{OUTPUTS}/../../../a.txt"), UNSAFE, "..", faults=None),
    lie("device", "An output that is a device elsewhere.", stored(f"{OUTPUTS}/aux.txt"), UNSAFE, "aux", faults=None),
    lie("after-hidden-turn", "Letters that turn others around.", stored("after/a\u202eb.txt"), UNSAFE, "", faults=None),
    lie("patterns-many", "A pattern that takes a path apart in every way.", told(many_ways), INTEGRITY, "in after", faults=2),
    lie("changed", "A value in a table is another one.", written(f"{OUTPUTS}/tables/rows.csv", b"0,3.0\n1,4.25\n"), INTEGRITY, "against the outputs", bases=COMMAND, forms=BOTH),
    lie("cell-spelled", "A value in a table is spelled otherwise.", written(f"{OUTPUTS}/tables/rows.csv", b"0,3.00\n1,4.5\n"), INTEGRITY, "against the outputs", bases=COMMAND),
    lie("removed", "An output is gone, and so is its row.", written(f"{OUTPUTS}/fit.json", None), INTEGRITY, "against the outputs", bases=COMMAND),
    lie("added", "An output more than the log has.", stored(f"{OUTPUTS}/fit.txt"), INTEGRITY, "against the outputs", bases=COMMAND),
    lie("added-pickle", "A pickle among the outputs.", stored(f"{OUTPUTS}/fit.pkl", b"cos\nsystem\n(S'true'\ntR."), INTEGRITY, "against the outputs", bases=COMMAND),
    lie("added-elsewhere", "An output that matches no pattern.", stored(f"{OUTPUTS}/other.txt"), INTEGRITY, "expected outputs that the plan names", bases=COMMAND, faults=None),
    lie("none-for-pattern", "A pattern that no output matches.", plan(lambda v: v["experiment"]["outputs"].append("more.txt")), INTEGRITY, "outputs 'more.txt' in runs/reference/outputs", bases=COMMAND, faults=None),
    lie("not-an-npz", "Arrays that are none any more.", written(f"{OUTPUTS}/fit.npz", b"PK\x03\x04"), INTEGRITY, "against the outputs", bases=COMMAND),
    lie("twin-stores", "A run that equals the reference stores outputs.", stored("runs/again/outputs/fit.json"), INTEGRITY, "expected outputs that the plan names", bases=COMMAND),
    lie("differing-spares", "A run that differs stores none.", told(spared), INTEGRITY, "in runs/larger/outputs", bases=COMMAND, faults=None),
    lie("log-stage", "The log says another content of an output.", both(other_stage), INTEGRITY, "against the outputs", bases=COMMAND),
    lie("log-order", "The log has the outputs in another order.", both(other_order), INTEGRITY, "order, against the outputs", bases=COMMAND),
    lie("log-less", "The log does not know an output.", both(stage_less), INTEGRITY, "against the outputs", bases=COMMAND),
    lie("log-made-of", "Outputs are declared to be made of one another.", both(declared_of_state), INTEGRITY, "made of nothing", bases=COMMAND, faults=None),
    lie("log-metric", "A command that reached 99 percent.", both(lambda log: log.steps[0]["metrics"].update(accuracy=0.99)), INTEGRITY, "no metric", bases=COMMAND, faults=None),
    lie("log-finish", "A command that ended the run itself.", both(lambda log: log.steps[0].update(finish="done")), INTEGRITY, "no finish", bases=COMMAND, faults=None),
    lie("consistent", "Another output, which everything else follows.", told(consistent), None, "", bases=COMMAND),
    lie("honest", "A command as it was built.", told(lambda b, f: None), None, "", bases=COMMAND, forms=BOTH),
    lie("after-changed", "What a command made of the runs is another thing.", written("after/summary.txt", b"3 rows\n"), None, "", bases=COMMAND),
)  # fmt: skip

CASES: tuple[Case, ...] = (*FORMS, *HELD, *WRITTEN)
