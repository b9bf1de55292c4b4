"""What the notebook says between its cells and is the same in every package."""

from __future__ import annotations

ORDER = """\
## Why the order of additions matters

A computer rounds after every operation. So the sum of the same numbers depends on the order in
which they are added. Three float32 numbers are enough to see it: near 100 000 000 neighbouring
numbers lie 8 apart, and a 1 that is added there is lost. If the two large numbers cancel first, it
is not."""

ORDER_LAST_BIT = """\
Usually the damage is smaller, and that makes it harder to see. Here are 1, 1/2, 1/3, ... 1/64,
added up from either end. The two sums are neighbours: they differ by one unit in the last place. A
log that prints four decimals shows one number twice; the bytes do not."""

TOOLS = """\
## The tools, written out

Nothing of repropack is used in this notebook. The next cells read and write what a package holds
from the description of its format alone. So where they agree with the package, two independent
programs agree. A reader who wants to see results first may go on to *The reference*.

A **fingerprint** is the SHA-256 of an array's type, shape and bytes. While an experiment makes a
step, it tells a **trace** about its intermediate results, the *stages*, and what each was made
of."""

TOOLS_STATE = """\
A **state** is everything that determines the next step: named arrays and plain values. What stands
before the first dot of a name is its *component*. A checkpoint stores a state; nothing in it is
pickled, and nothing here unpickles."""

TOOLS_RUN = """\
A **run** makes the experiment as the plan says, restores a stored state where it resumes, and
writes one line a step. Each line holds a *chain*: the digest of the line and of the chain before.
Two runs that end with one chain have one history."""

REFERENCE = """\
## The reference

The reference is the uninterrupted run that everything else is held against. As in the recording,
each run gets a process of its own, a copy of the source and a fixed environment, so that nothing of
one run reaches another. It is also the only way to choose the seed of Python's hashes: a process
that runs already cannot change it."""

CLOSE_UP = """\
The first recorded step, close up. Each stage names what it was made of. That is how a difference is
*located* and not guessed: where a stage differs although everything it was made of is equal, the
operation itself is to blame; where something it was made of differs, that is."""

COMPARISONS = """\
## The comparisons

Each comparison is a second run under one stated change. It is held against the reference
fingerprint by fingerprint, over the steps that both have. The first difference is the one that
explains something; whatever comes later follows from it."""

NO_COMPARISONS = """\
## No comparisons

The plan of this package makes no comparison. So the run above shows that a separate process repeats
the experiment, and it shows nothing about resuming."""

AGREEMENT = """\
## Where the runs agree

One band a comparison, one line a stage in the order of execution, and below them what a log would
have printed. The first column with another colour is the first divergence; the topmost line that
has it there is the stage to look at."""

ASSERTIONS = """\
## What must hold

Everything above is shown; this cell insists. It fails where one byte of a log made here is not the
recorded one, or where the comparisons find anything else than `results.json` says. On another
machine it may fail for a good reason, since another processor or library may round differently:
compare `environment.json` with what you have before you blame the code."""

PRINTED_AGREE = """\
The last column tells why. Two numbers print differently only where a rounding boundary lies between
them, and boundaries are one printed unit apart. So two numbers that lie a small fraction of a unit
apart have about that small a chance, at each step, to be told apart. Their prints could hardly
disagree, so that they agree is no evidence."""

SOURCES = """\
- The package format is described in repropack's `docs/format.md`; the schemas of its documents are
  in `schemas/`.
- IEEE Standard for Floating-Point Arithmetic, IEEE 754-2019,
  [doi:10.1109/IEEESTD.2019.8766229](https://doi.org/10.1109/IEEESTD.2019.8766229).
- D. Goldberg, What every computer scientist should know about floating-point arithmetic, ACM
  Computing Surveys 23 (1991), [doi:10.1145/103162.103163](https://doi.org/10.1145/103162.103163).
- Which of NumPy's random numbers stay the same from version to version:
  [NEP 19](https://numpy.org/neps/nep-0019-rng-policy.html)."""

CLAIMS = """\
## Sentences of the write-up

Each follows from the plan, the logs and the arrays of this package. `repropack check` evaluates
them on what is stored, `repropack verify` on what it runs again; neither says anything of other
machines."""
