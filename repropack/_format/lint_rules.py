"""Every rule of ``lint``: a stable id, how bad a breach is, what it finds, why, and the cure.

The ids are public: they stand in reports, in project files and in packages, and a rule keeps its
id. docs/lint.md is made from this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from repropack.models.lint import Severity


@dataclass(frozen=True, slots=True)
class LintRule:
    """A rule: ``finds`` says what a finding is, ``reason`` why it matters, ``cure`` what to do."""

    severity: Severity
    finds: str
    reason: str
    cure: str


LARGE_FILE_BYTES: Final = 100_000_000
"""A packed file that is larger is a finding."""

LINT_RULES: Final[Mapping[str, LintRule]] = MappingProxyType(
    {
        # what people read first
        "readme-missing": LintRule(
            "warning",
            "There is no README at the top of the project.",
            "A reader starts there, and every badge committee asks for it.",
            "write a README.md that says what is run, what comes out and how long it takes",
        ),
        "readme-time": LintRule(
            "warning",
            "The README does not say how long anything takes.",
            "Without it nobody knows whether to wait a minute or a night.",
            "say in the README how long the experiment takes, and on what machine",
        ),
        "readme-expected": LintRule(
            "warning",
            "The README does not say what is expected to come out.",
            "A reader who does not know the result cannot tell whether it was reached.",
            "say in the README which numbers, files or figures are expected",
        ),
        "outputs-not-mentioned": LintRule(
            "warning",
            "The README does not mention an output of a command.",
            "A file that nobody explains is not looked at.",
            "name each output in the README and say what it shows",
        ),
        "claim-unknown": LintRule(
            "warning",
            "A README marks a value with a claim that there is not.",
            "A mark that no claim stands behind is checked by nobody.",
            "give the mark the id of a claim in [[claims]], or take it away",
        ),
        # who made it, and what others may do with it
        "license-missing": LintRule(
            "warning",
            "There is no text of a licence.",
            "Without a licence nobody may use, compare with or extend the work.",
            "put the licence's text into a file LICENSE, or name it by license-file",
        ),
        "license-unknown": LintRule(
            "warning",
            "The licence is no SPDX expression of known identifiers.",
            "Archives and programs recognise a licence by its SPDX identifier.",
            "give an identifier of the SPDX list such as CC-BY-4.0, or LicenseRef- and a name",
        ),
        "authors-orcid": LintRule(
            "note",
            "An author has no ORCID iD.",
            "Names are not unique; archives ask for the iD.",
            "add orcid to the author in [[package.authors]]",
        ),
        "authors-names": LintRule(
            "warning",
            "An author is neither named by given and family names nor said to be an organization.",
            "Citations and archives sort by family names, and no name is taken apart by guessing.",
            'add given-names and family-names, or kind = "organization", to the author',
        ),
        "archive-required": LintRule(
            "warning",
            "The metadata lack what an archive requires: a date, a description, a type.",
            "RO-Crate and Zenodo refuse a deposit without them, and nothing is made up for it.",
            "add what is named to [package]; the date is the author's own",
        ),
        "archive-wanted": LintRule(
            "note",
            "The metadata lack what archives ask for: keywords, contact, publisher, repository, "
            "DOI, the article.",
            "It is what a package is found and cited by.",
            "add to [package] what there is; docs/project-file.md lists the keys",
        ),
        # what it needs
        "not-locked": LintRule(
            "warning",
            "The distributions that it needs are not locked.",
            "Another version of a distribution may give other bytes, or not run.",
            "build with --lock, or keep a lock file such as requirements.lock beside the project",
        ),
        "input-missing": LintRule(
            "error",
            "The code opens a file of the project that is not packed.",
            "It runs here and nowhere else: a run sees packed files alone.",
            "name the file in inputs, or in source if it belongs to the code",
        ),
        "input-unknown": LintRule(
            "warning",
            "The code opens a file that is neither source, input nor output, and is not there.",
            "Whoever runs it has to know where that file comes from.",
            "name the file in inputs, in outputs if the code writes it, or remove the line",
        ),
        "input-unused": LintRule(
            "warning",
            "Neither code, command nor another input mentions an input.",
            "A reader looks for what an unused file is for, and everybody has to fetch it.",
            "remove the file from inputs, or open it by its name",
        ),
        "large-file": LintRule(
            "warning",
            f"A packed file is larger than {LARGE_FILE_BYTES // 1_000_000} MB.",
            "Everybody who checks the package has to fetch it.",
            "hold it by reference: inputs = [{ path = ..., include = false, location = ... }]",
        ),
        "absolute-path": LintRule(
            "warning",
            "Code, a command or a document names an absolute path.",
            "It exists on one machine.",
            "use a path relative to the project folder, and name files in inputs",
        ),
        # what must not be published
        "secret": LintRule(
            "error",
            "A packed file holds a private key, a token, or a password in an assignment.",
            "A package is published, and what was published cannot be taken back.",
            "remove it, revoke it where it was issued, and read it from outside at run time",
        ),
        "personal-path": LintRule(
            "error",
            "A packed file holds a path in somebody's home folder, or of the build itself.",
            "It may tell a name that nobody meant to publish, and exists on one machine.",
            "write the path relative to the project folder, and make the file again",
        ),
        "personal-name": LintRule(
            "warning",
            "A packed file holds the name of this account or of this machine.",
            "Hosts and accounts are of use to attackers and of none to readers.",
            "remove it, unless it is meant to be there",
        ),
        # what does harm when it is read
        "pickle": LintRule(
            "error",
            "A packed file is a pickle, or an array of Python objects.",
            "Reading a pickle executes what is in it.",
            "store arrays as npz without objects, and everything else as JSON or CSV",
        ),
        "pickle-in-code": LintRule(
            "warning",
            "The code reads pickles.",
            "Reading a pickle executes what is in it, and pickles break between versions.",
            "read arrays with allow_pickle=False, weights with weights_only=True, other data as "
            "JSON",
        ),
        # what makes a run repeat
        "seed-not-set": LintRule(
            "warning",
            "The code draws random numbers from a generator that is not seeded.",
            "Each run then gives other results.",
            "seed the generator from the seed or a configuration value",
        ),
        "no-comparisons": LintRule(
            "note",
            "The project makes no comparison.",
            "Nothing is claimed then, not even that a second run gives the same.",
            'add [[comparisons]] with hash-seed = 1 and expect = "identical"',
        ),
        "no-resume-tested": LintRule(
            "note",
            "No comparison resumes from a checkpoint.",
            "State that a checkpoint lacks shows only in a run that starts from it.",
            'add [[comparisons]] with resume-at and expect = "identical"',
        ),
        "checkpoint-every-missing": LintRule(
            "note",
            "Checkpoints are made at the start and at the end alone.",
            "An interrupted run then begins again, and no resume can be tested in between.",
            "set checkpoint-every in [record]",
        ),
    }
)
