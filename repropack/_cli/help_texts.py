"""What the help of each verb says, and its examples."""

from __future__ import annotations

DESCRIPTION = """\
Build and verify reproducibility packages: one file that holds an experiment, what it
recorded, and what is needed to run it again and compare every step byte for byte.
"""
EXAMPLE = """\
example:
  repropack build -o lab.zip      run the built-in replay lab and pack what it recorded
  repropack check lab.zip         is it intact? runs nothing
  repropack verify lab.zip        run it again here: identical, or where did it part?

`repropack VERB --help` tells more.
"""

INIT = """\
Write the files of a project into DIR, and change none that is there. Without --script it
is a small stepwise experiment that builds and verifies as it stands. With --script it is
a project around a script, which stays as it is: what it reads and writes is found by
looking at it, and proposed in DIR/repropack.toml. Nothing is run.

On a terminal what is missing is asked for; elsewhere --author and --license are needed.
"""
INIT_EXAMPLES = """\
examples:
  repropack init study --author "A. Author" --license MIT
  repropack init . --script train.py --author "A. Author" --license CC0-1.0
"""
BUILD = """\
Run a project's plan, record a fingerprint of every step, hold each comparison against
the reference, and write the package. Without PROJECT it runs the built-in replay lab.

A package is written whole or not at all, and built twice in one environment it is the
same file. A failed expectation ends with status 1; the package is written all the same.
A build that is interrupted keeps what it recorded up to the last checkpoint, beside FILE:
--resume continues it, and the package is the same file as that of an uninterrupted build.
"""
BUILD_EXAMPLES = """\
examples:
  repropack build                           the replay lab, as replay-lab-1.0.0.zip
  repropack build examples/replay-lab -o lab.zip --force
  repropack build examples/replay-lab -o lab.zip --resume    after an interruption
"""
CHECK = """\
Look at everything in a package without running anything of it: the form of the
container, schemas, digests, log chains, array fingerprints, and whether the stored
results follow from the stored logs. Hostile files are read under stated limits.
"""
CHECK_EXAMPLES = """\
examples:
  repropack check lab.zip
  repropack check lab.zip --expect-digest sha256:DIGEST     is it the one that was published?
  repropack check lab.zip --fast                            digests of the entries only
"""
VERIFY = """\
Check a package, then run its experiment again and compare with what it recorded: the
reference from its beginning, resumes from their checkpoints, comparisons under their
interventions. The verdict comes first, then the evidence: identical, differs, damaged or
could-not-run. The package itself is only read. A package that says of itself that an
expectation failed ends with status 1, also where all of it is reproduced.

Code that repropack does not ship is foreign: it runs without network, without your files,
under limits, or it does not run (status 4).
"""
VERIFY_EXAMPLES = """\
examples:
  repropack verify lab.zip
  repropack verify lab.zip --runs reference,full-checkpoint
  repropack verify lab.zip --report verification.json
"""
INSPECT = """\
Show what a package holds: who made it, its digests, the experiment, its runs and what
was found. It reads and runs nothing; `repropack check` tells whether it is intact.
"""
INSPECT_EXAMPLES = """\
example:
  repropack inspect lab.zip
"""
LINT = """\
Look at a project or a package for what reviewers and badge committees ask for, and for what
must not be published: README, licence, lock, inputs, seeds; secrets, home folders, pickles.
It reads and runs nothing. Errors end with status 1; warnings and notes do not. `build` does
the same before it runs anything. Each rule has an id, a reason and a cure: docs/lint.md.
"""
LINT_EXAMPLES = """\
examples:
  repropack lint examples/replay-lab
  repropack lint lab.zip --format json
"""
DIFF = """\
Say where one run parts from another: the first step and stage that differ, what is equal
there and what is not, how many steps and stages differ in all, and whether the runs meet
again. RUN is a run's name in its package; a package beside a run or a log stands for its
reference. A resumed run is compared from its first step on.

Of two packages, say what changed: source, inputs, configuration, environment, results, in
that order, and where the two references part. Nothing is run without --zoom. Two npz or npy
files are compared down to their elements.
"""
DIFF_EXAMPLES = """\
examples:
  repropack diff lab.zip::reference lab.zip::sampler-reset
  repropack diff lab.zip fingerprints.jsonl                  a log that another run left
  repropack diff monday.jsonl tuesday.jsonl --fast           in logs of any length, at once
  repropack diff lab.zip::reference lab.zip::sampler-reset --zoom --save step.npz
  repropack diff old.npz new.npz                             arrays, down to their elements
  repropack diff lab-1.0.0.zip lab-1.1.0.zip                 what changed from one to the other
"""
AUDIT = """\
Find out which state determines the next step, and what is missing from it. The project's
experiment runs twice, then is resumed in fresh processes with its whole state; every stage,
state and metric up to the end is compared. Where a resume diverges it names the first place
and the objects that may hold what is missing. Then each part of the state is put back to
its first value: does it matter, and from which step?

It runs the author's own code, as `build` does, and writes nothing but what --figure names.
Without PROJECT it audits the built-in replay lab.
"""
AUDIT_EXAMPLES = """\
examples:
  repropack audit examples/replay-lab
  repropack audit . --at 10,25 --max-runs 20
  repropack audit . --figure audit.svg --format json
"""
UNPACK = """\
Write a package, or some of its entries, as plain files into a new folder. Every digest
is checked before anything is written.
"""
UNPACK_EXAMPLES = """\
examples:
  repropack unpack lab.zip lab
  repropack unpack lab.zip source source/replay_lab.py
"""
SCHEMA = """\
Print the JSON Schema of a document, or the names of all schemas without NAME.
"""
SCHEMA_EXAMPLES = """\
examples:
  repropack schema
  repropack schema verification-report
"""
