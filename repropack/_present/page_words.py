"""The words that a page explains, as the glossary has them."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    "checkpoint": "a stored state",
    "component": "one part of a state: all names that share what stands before the first dot",
    "comparison": "a second run under one stated intervention, held against the reference",
    "digest": "SHA-256 of bytes, written `sha256:` and 64 hexadecimal digits",
    "divergence": "the first place where two logs differ",
    "entry": "a listed file: one that the manifest lists. The manifest itself is not one",
    "environment record": "what a run was made on: interpreter, libraries, processor features, "
    "variables, probe card",
    "evidence digest": "digest of the manifest's rows for plan, source, inputs and runs; it leaves "
    "out what describes the machine",
    "fingerprint": "digest of an array's type, shape and elements, or of a component",
    "package digest": "digest of `manifest.json`; it names one package",
    "plan": "what is run: experiment, configuration, seed, recording, comparisons, claims",
    "printed value": "a metric as a log would print it, rounded; shown beside the exact "
    "comparison and never instead of it",
    "probe card": "one digest for each family of operations, of a small fixed computation: what "
    "the arithmetic of a process gives. It is part of the environment record",
    "reference": "the uninterrupted run that the plan describes; every other run is held against "
    "it",
    "scope": "the environments for which a claim is made: those in which it was run, nothing wider",
    "stage": "a named intermediate result inside a step, such as `batch` or `gradient`",
    "state": "everything that determines the next step: a flat mapping of dotted names to arrays "
    "and JSON values",
    "step": "the ordered unit of an experiment, numbered from 1; step 0 is the state before the "
    "first",
    "verify": "check, then run again and compare",
}
"""Each word with its row of docs/glossary.md; a test holds the two together."""
