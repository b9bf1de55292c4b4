r"""The notebook's own reading of the package format: code cells that need NumPy and nothing else.

Each text is one cell. They follow docs/format.md, written a second time and independently of
repropack, so that a notebook that ends well has compared two implementations. Nothing of an
author's is ever pasted into them: what they need they read from ``plan.json`` when they run.
"""

from __future__ import annotations

FINGERPRINTS = r'''
# For every run: how bytes become fingerprints
import hashlib
import json

import numpy as np


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def canonical(value):
    """JSON with one spelling: sorted, without blanks, a newline at its end."""
    separators = (",", ":")
    text = json.dumps(value, sort_keys=True, separators=separators, ensure_ascii=False)
    return text.encode("utf-8") + b"\n"


def fingerprint(array):
    """Type, shape and every byte of the elements count; their order in memory does not."""
    array = np.asarray(array)
    array = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
    shape = ",".join(str(length) for length in array.shape)
    head = f"repropack.array.v1\n{array.dtype.str}\n{shape}\n"
    return digest(head.encode("ascii") + array.tobytes())
'''

STATE = r'''
# For every run: a state as JSON, its fingerprints, and a stored state
import math
import struct


def component(name):
    return name.partition(".")[0]


def encode(value):
    """A value as JSON. An array is its fingerprint; a number that JSON lacks is a text."""
    if isinstance(value, (np.ndarray, np.generic)):
        return {"$array": fingerprint(value)}
    if isinstance(value, dict):
        return {key: encode(member) for key, member in value.items()}
    if isinstance(value, list):
        return [encode(member) for member in value]
    if isinstance(value, int) and abs(value) > 2**53 - 1:
        return {"$int": str(value)}
    if isinstance(value, float) and not math.isfinite(value):
        bits = struct.pack(">d", value).hex()
        other_nan = math.isnan(value) and bits != "7ff8000000000000"
        return {"$float": f"nan:{bits}" if other_nan else str(float(value))}
    return value


def decode(value, arrays=()):
    """The value that was encoded; arrays in it are looked up by their names."""
    if isinstance(value, list):
        return [decode(member, arrays) for member in value]
    if not isinstance(value, dict):
        return value
    if "$array" in value:
        return arrays[value["$array"]].copy()
    if "$int" in value:
        return int(value["$int"])
    if "$float" in value:
        text = value["$float"]
        bits = text.partition(":")[2]
        return struct.unpack(">d", bytes.fromhex(bits))[0] if bits else float(text)
    return {key: decode(member, arrays) for key, member in value.items()}


def fingerprint_state(state):
    """One fingerprint for each component of a state."""
    rows = {}
    for name in sorted(state):
        rows.setdefault(component(name), []).append([name, encode(state[name])])
    return [
        [name, digest(b"repropack.state.v1\n" + canonical(rows[name]))] for name in sorted(rows)
    ]


def load_state(run, step):
    """The state in a checkpoint: arrays from the npz, everything else from the JSON."""
    file = run / "checkpoints" / f"step-{step:09d}"
    with np.load(file.with_suffix(".npz"), allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    values = json.loads(file.with_suffix(".json").read_bytes())["values"]
    state = {name: array for name, array in arrays.items() if "#" not in name}
    state.update((name, decode(value, arrays)) for name, value in values.items())
    return dict(sorted(state.items()))
'''

TRACE = r'''
# For every run: what an experiment talks to while it makes one step
class Trace:
    def __init__(self, with_stages=True):
        self.with_stages = with_stages
        self.arrays, self.stages, self.made_of, self.metrics = {}, {}, {}, {}
        self.reason = None

    def record(self, name, array, of=None):
        """Fingerprint an intermediate result at once; note what it was made of."""
        if self.with_stages:
            name = self.free(name, self.stages)
            self.arrays[name] = np.array(array)
            self.stages[name] = fingerprint(array)
            self.made_of[name] = [of] if isinstance(of, str) else of if of is None else list(of)

    def metric(self, name, value):
        value = value.item() if hasattr(value, "item") else value
        self.metrics[self.free(name, self.metrics)] = value

    def finish(self, reason):
        self.reason = reason

    @staticmethod
    def free(name, taken):
        """A name that comes again within a step becomes name#2, name#3, ..."""
        names = [name, *(f"{name}#{number}" for number in range(2, len(taken) + 2))]
        return next(name for name in names if name not in taken)
'''

EXPERIMENT = r'''
# For every run: the experiment, imported from `source/` and made as the plan says
import dataclasses
import importlib
import inspect
import sys
import typing

PLAIN = (bool, int, float, str, list, dict, typing.Any, type(None))


def fit(kind, value):
    """A configuration value as its annotation declares it: JSON has no tuples, no classes."""
    origin, members = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        kinds = typing.get_type_hints(kind)
        return kind(**{name: fit(kinds[name], member) for name, member in value.items()})
    if origin is tuple:
        kinds = members[:1] * len(value) if members[1:] == (...,) else members
        return tuple(map(fit, kinds, value))
    if origin is list:
        return [fit(members[0], member) for member in value]
    if kind in PLAIN or origin is typing.Literal:
        return value
    from pydantic import (
        TypeAdapter,
    )  # whatever else was fitted by pydantic when it was recorded

    return TypeAdapter(kind).validate_python(value)


def make_experiment(source, experiment, config):
    """Call `module:attribute` with the configuration and the seed."""
    sys.path[:0] = [str(source), *(str(source / x) for x in experiment["import_from"])]
    module, _, attribute = experiment["entry_point"].partition(":")
    target = getattr(importlib.import_module(module), attribute)
    config, kind = decode(config), None
    try:
        function = target.__init__ if inspect.isclass(target) else target
        kind = typing.get_type_hints(function).get(
            next(iter(inspect.signature(target).parameters))
        )
    except Exception:
        pass  # an annotation that cannot be resolved declares nothing
    if dataclasses.is_dataclass(kind) or hasattr(kind, "model_validate"):
        config = fit(kind, config)
    return target(config, experiment["seed"])
'''

BEGIN = r'''
# For every run: where it begins, at the first step or at a checkpoint of the reference
from pathlib import Path


def resume(reference, experiment, change):
    """Load a stored state; what the comparison resets is taken from step 0."""
    reset, state = set(change["reset"]), load_state(reference, change["resume_at"])
    if reset:
        state = {name: value for name, value in state.items() if component(name) not in reset}
        initial = load_state(reference, 0).items()
        state.update((name, value) for name, value in initial if component(name) in reset)
    experiment.load_state_dict(dict(sorted(state.items())))


def begin(package, experiment, change):
    """Bring the experiment to its first state: first step, declared stages, chain so far."""
    if change.get("resume_at") is None:
        return 1, None, digest(b"repropack.chain.v1\n")
    reference = package / "runs" / "reference"
    resume(reference, experiment, change)
    file = reference / "checkpoints" / f"step-{change['resume_at']:09d}.json"
    with (reference / "fingerprints.jsonl").open("rb") as log:
        declared = json.loads(log.readline())["stages"]
    return change["resume_at"] + 1, declared, json.loads(file.read_bytes())["chain"]


def fingerprint_constant(name, value):
    if isinstance(value, (np.ndarray, np.generic)):
        return fingerprint(value)
    return digest(b"repropack.state.v1\n" + canonical([[name, encode(value)]]))
'''

RUN = r'''
# For every run: step, and write the fingerprint log
def make_step(experiment, step, record, steps):
    """Advance by one step; return what it told, and that as a line of the log."""
    trace = Trace(with_stages=step % record["stages_every"] == 0 or step == steps)
    experiment.step(trace)
    line = {"step": step, "metrics": encode(trace.metrics)}
    formats = {name: form for name, form in record["printed"].items() if name in trace.metrics}
    line["printed"] = {
        name: format(trace.metrics[name], form) for name, form in formats.items()
    }
    if trace.with_stages:
        line["stages"] = list(trace.stages.items())
    stored = step % (record["checkpoint_every"] or steps) == 0 or step == steps
    if stored or step % record["state_every"] == 0 or trace.reason is not None:
        line["state"] = fingerprint_state(experiment.state_dict())
    if trace.reason is not None:
        line["finish"] = trace.reason
    return trace, line


def run(package, source, name):
    """Make one run of the plan; return its fingerprint log and its kept arrays."""
    plan = json.loads((package / "plan.json").read_bytes())
    record, steps = plan["record"], plan["experiment"]["steps"]
    change = next((row for row in plan["comparisons"] if row["name"] == name), {})
    config = {**plan["experiment"]["config"], **change.get("config", {})}
    experiment = make_experiment(source, plan["experiment"], config)
    first_step, declared, chain = begin(package, experiment, change)
    constants = experiment.constants() if hasattr(experiment, "constants") else {}
    constants = [[key, fingerprint_constant(key, constants[key])] for key in sorted(constants)]
    start = {"chain": chain, "state": fingerprint_state(experiment.state_dict())}
    lines, kept = [], {stage: [] for stage in record["keep"]}
    for step in range(first_step, steps + 1):
        trace, line = make_step(experiment, step, record, steps)
        made_of = [[stage, of] for stage, of in trace.made_of.items()]
        declared = made_of if declared is None else declared
        news = [row for row in made_of if row not in declared]
        if news:
            line["declares"] = news
        body, before = canonical(line)[:-1], chain.removeprefix("sha256:").encode("ascii")
        chain = digest(b"repropack.chain.v1\n" + before + b"\n" + body)
        lines.append(b'{"chain":"' + chain.encode("ascii") + b'",' + body[1:] + b"\n")
        for stage in kept if trace.with_stages else ():
            kept[stage].append(trace.arrays[stage])
        if trace.reason is not None:
            break
    header = {
        "schema": "repropack/fingerprint-log/v1",
        "run": name,
        "config": digest(canonical(config)),
        "constants": constants,
        "first_step": first_step,
        "stages": declared,
    }
    if hasattr(experiment, "close"):
        experiment.close()
    log = canonical(header) + canonical(start) + b"".join(lines)
    return log, {stage: np.stack(rows) for stage, rows in kept.items() if rows}


def main(package, scratch, name):
    """Make one run in this process and hand over what it recorded as files."""
    log, kept = run(Path(package), Path(scratch, "source"), name)
    Path(scratch, "fingerprints.jsonl").write_bytes(log)
    for number, rows in enumerate(kept.values()):
        np.save(Path(scratch, f"kept-{number}.npy"), rows, allow_pickle=False)


if __name__ == "__main__" and "In" not in globals():
    main(*sys.argv[1:])
'''
