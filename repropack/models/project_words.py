"""A line on each key of the project file, for people who write one in an editor.

The JSON Schema of the project file carries these lines; ``docs/project-file.md`` says more.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_COMMAND: Mapping[str, str] = {
    "command": "Words of a command; a first word python is the interpreter in use, {seed} and "
    "{config.NAME} are filled in.",
    "outputs": "Patterns of the files that the command writes; these are compared.",
    "environment": "Variables of the command, beside those that every run has.",
    "timeout-seconds": "The run is ended when it has taken this long.",
}
_AUTHOR: Mapping[str, str] = {
    "name": "The name as it is cited.",
    "given-names": "Its given part, as 'Ada'; names are never taken apart by guessing.",
    "family-names": "Its family part, as 'Lovelace'.",
    "kind": "person or organization, where there are no parts that show it.",
    "affiliation": "Where the author works.",
    "affiliation-ror": "Identifier of that organization, such as https://ror.org/05dxps055.",
    "orcid": "An ORCID iD such as 0000-0002-1825-0097.",
}
PROJECT_WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "ProjectFile": {
            "package": "What the author says of the package.",
            "experiment": "What is run: an entry point, or a command.",
            "record": "What is recorded, counted in steps.",
            "comparisons": "Second runs, each under one intervention.",
            "after": "Commands that run on the finished runs and make figures and tables.",
            "claims": "Sentences of the write-up that the package evaluates by itself.",
            "lint": "Rules of lint whose findings do not stop a build.",
        },
        "ProjectPackage": {
            "name": "1 to 64 of a-z, 0-9 and '-'.",
            "version": "Such as 1.0.0; one version names one evidence.",
            "title": "The title, such as that of the write-up.",
            "license": "An SPDX expression such as MIT.",
            "authors": "The authors, one at least.",
            "date": "The author's own date; no clock is read.",
            "description": "One line about it.",
            "supersedes": "Package digest of the version before this one.",
            "type": "What archives call it: software or dataset.",
            "keywords": "Words that it should be found by.",
            "contact": "Whom to ask about it.",
            "publisher": "The organization that publishes it, such as an archive.",
            "repository": "Address of the repository in which the code is developed.",
            "doi": "DOI of the package itself, such as 10.5281/zenodo.1234.",
            "article": "The article that it supplements.",
            "funding": "Who paid for it.",
            "license-file": "Path of the licence's text; LICENSE, LICENSE.txt, LICENSE.md or "
            "COPYING where it is not given.",
        },
        "ProjectAuthor": _AUTHOR,
        "Contact": {
            "name": "Name of a person, a group or an office.",
            "email": "Their address of mail.",
            "url": "A page on which they can be asked.",
        },
        "Organization": {
            "name": "Its name.",
            "url": "Its address on the web.",
            "ror": "Its identifier, such as https://ror.org/05dxps055.",
        },
        "ProjectArticle": {
            "title": "Its title.",
            "doi": "Its DOI, such as 10.1000/182.",
            "url": "Its address, where it has no DOI.",
            "authors": "Its authors, where they are to be named.",
        },
        "Funding": {
            "funder": "Who paid.",
            "award": "The award, as the funder numbers it.",
            "url": "The award's address on the web.",
        },
        "ProjectExperiment": {
            "entry-point": "module:name of a class or function that is called with (config, seed).",
            **_COMMAND,
            "import-from": "Folders of the source in which modules are looked for, such as src.",
            "config": "What the experiment is given; values of TOML without dates.",
            "seed": "0 to 2^53 - 1; 0 for a command that does not have one.",
            "steps": "How often the experiment is stepped; without it a command is run as a whole.",
            "source": "Patterns of the files that are packed as its code; what git tracks where it "
            "is not given, else **/*.py.",
            "inputs": "Patterns of the files that it reads, or a table for each.",
        },
        "ProjectInput": {
            "path": "Path of the file in the project folder.",
            "include": "false: it is not packed, and location says where to get it.",
            "digest": "sha256: and 64 hexadecimal digits that the file must have.",
            "size": "Bytes that the file must have.",
            "location": "Where to get a file that is not packed, in words.",
        },
        "ProjectRecord": {
            "checkpoint-every": "The state is stored after each multiple of this step.",
            "stages-every": "Stages are fingerprinted at each multiple of this step.",
            "state-every": "The state is fingerprinted after each multiple of this step.",
            "keep": "Stages that are stored whole at every step that records stages.",
            "printed": "By metric, how a log would print it, such as .4f.",
        },
        "ProjectComparison": {
            "name": "Name of the run.",
            "resume-at": "It starts from the reference's checkpoint after this step.",
            "reset": "Components that are put back to their value at step 0.",
            "config": "Values of the configuration that are replaced.",
            "hash-seed": "PYTHONHASHSEED of the process.",
            "expect": "What has to come out: identical, or where it diverges.",
        },
        "ProjectDivergence": {
            "diverges-at": "The first step that differs.",
            "stage": "The stage at which it differs first.",
            "component": "The component of the state that differs.",
        },
        "ProjectAfter": {
            **_COMMAND,
            "outputs": "Patterns of the files that it makes; they are packed and made again.",
        },
        "ProjectClaim": {
            "id": "What an article marks it with: a-z, 0-9 and single '-'.",
            "kind": "repeated-outcome, exact-resume, number, count, bound or configuration-value.",
            "sentence": "The sentence; {value} stands for the value as it is printed.",
            "run": "The comparison of a repeated-outcome or an exact-resume.",
            "expression": "How the value is found, in the language of docs/claims.md.",
            "states": "The value as the write-up prints it.",
            "rounding": "How it is printed, such as .4f; exact where it is not given.",
        },
        "ProjectLint": {
            "allow": "Ids of rules; the package records them.",
        },
    }
)
"""By model and by key as the file spells it."""
