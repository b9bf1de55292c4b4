"""Begin a project: a small one that builds at once, or one around a script that is there."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from pydantic import ValidationError

from repropack._format.paths import shown_path
from repropack._present.project_texts import (
    GITIGNORE,
    LINE_FIT,
    MODULE,
    CommandFacts,
    ProjectFacts,
    command_project_file,
    license_text,
    readme_text,
    stepwise_project_file,
)
from repropack._read.project import PROJECT_FILE
from repropack._run.durable import os_problem
from repropack._run.script_project import ScriptProject, read_script_project
from repropack.errors import CouldNotRunError, UsageError
from repropack.models.authored import Author, AuthoredMetadata
from repropack.models.reports import InitReport

_README, _LICENSE, _IGNORE = "README.md", "LICENSE", ".gitignore"
_OPTIONAL = (_README, _LICENSE, _IGNORE)
"""Files that stay as they are where the folder has them already."""
_FORMS = {
    "name": "lower-case letters, digits and '-', at most 64",
    "title": "one line of text",
    "license": "an SPDX expression such as MIT",
    "author": "a name",
}


def init_project(  # noqa: PLR0913 - the options of the verb
    directory: str | Path,
    *,
    author: str,
    license: str,  # noqa: A002 - the word of the project file
    name: str | None = None,
    title: str | None = None,
    script: str | Path | None = None,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
) -> InitReport:
    """Write the files of a project, and change none that is there.

    Without a script it is a small stepwise experiment, to be built and verified as it stands. With
    one it is a project whose command runs the script; the script is not changed. One that lies
    elsewhere is copied, with the modules and files beside it that it imports and reads.

    Args:
        directory: The project folder; made where it is not there.
        author: Name of the author.
        license: An SPDX expression; its identifiers are brought to their usual spelling.
        name: Name of the package; made of the folder's name where ``None``.
        title: Its title; made of the name where ``None``.
        script: A Python or shell script.
        inputs: Patterns of files that it reads; found by looking at the script where empty.
        outputs: Patterns of files that it writes; the same.

    Returns:
        What was written, what was found of the script, and the next two commands.

    Raises:
        UsageError: a value that a project file cannot have, a file that is already there, no such
            script, or outputs that are neither given nor found, of a
            script without a loop that ``repropack.attach`` sees.
        CouldNotRunError: something cannot be read or written; nothing is left behind.
    """
    folder = Path(directory)
    facts = _facts(folder, name, title, author, license)
    package = f"{facts.name}-1.0.0.zip"
    try:
        found = None
        if script is not None:
            found = read_script_project(folder, Path(script), inputs, outputs)
        copied: Mapping[str, Path] = {}
        if found is None:
            texts = {PROJECT_FILE: stepwise_project_file(facts), MODULE: LINE_FIT}
            duration: str | None = "Each takes less than a minute."
            writes: tuple[str, ...] = ()
        else:
            command = _command(found, outputs)
            writes = tuple(command.outputs)
            texts, duration = {PROJECT_FILE: command_project_file(facts, command)}, None
            copied = {} if found.base == folder.resolve() else found.files
        texts |= {
            _README: readme_text(facts, package, writes, duration),
            _LICENSE: license_text(facts.license, facts.author),
            _IGNORE: GITIGNORE,
        }
        kept = tuple(path for path in _OPTIONAL if os.path.lexists(folder / path))
        contents: dict[str, str | Path] = {
            path: text for path, text in texts.items() if path not in kept
        }
        contents |= {path: place for path, place in copied.items() if path not in kept}
        _check_free(folder, contents)
        _write_all(folder, contents)
    except OSError as error:
        raise CouldNotRunError(os_problem(error)) from error
    shown = shown_path(directory)
    return InitReport(
        path=shown,
        name=facts.name,
        form="stepwise" if found is None else "command",
        written=tuple(sorted(contents)),
        kept=kept,
        command=() if found is None else found.command,
        inputs=() if found is None else found.inputs,
        outputs=writes,
        notes=() if found is None else tuple(_notes(found)),
        next=(f"repropack build {shlex.quote(shown)}", f"repropack verify {package}"),
    )


def folder_name(directory: str | Path) -> str:
    """Return the name that a package in this folder has by default; may be empty.

    Example:
        >>> folder_name("studies/My_study 2")
        'my-study-2'
    """
    plain = re.sub(r"[^a-z0-9]+", "-", Path(directory).resolve().name.lower())
    return plain.strip("-")[:64].rstrip("-")


def default_title(name: str) -> str:
    """Return the title that a package of this name has by default.

    Example:
        >>> default_title("my-study-2")
        'My study 2'
    """
    return name.replace("-", " ").capitalize()


def _facts(
    folder: Path, name: str | None, title: str | None, author: str, license_name: str
) -> ProjectFacts:
    """The values that were given, each found fit for a project file."""
    own = folder_name(folder) if name is None else name
    shown = default_title(own) if title is None else title
    problems = []
    try:
        AuthoredMetadata(
            name=own,
            version="1.0.0",
            title=shown,
            license=license_name,
            authors=(Author.model_construct(name="-"),),
        )
    except ValidationError as error:
        problems += [(str(row["loc"][0]), row["input"]) for row in error.errors()]
    try:
        Author(name=author)
    except ValidationError:
        problems.append(("author", author))
    if problems:
        told = (
            f"--{key}: expected {_FORMS.get(key, 'text')}, observed {value!r}"
            for key, value in problems
        )
        raise UsageError("; ".join(told))
    return ProjectFacts(own, shown, author, _usual_spelling(license_name))


def _usual_spelling(license_name: str) -> str:
    """A licence as the list of SPDX spells it; what is no expression stays, and lint tells it."""
    try:
        return canonicalize_license_expression(license_name)
    except InvalidLicenseExpression:
        return license_name


def _command(found: ScriptProject, outputs: Sequence[str]) -> CommandFacts:
    writes = tuple(outputs or found.facts.writes)
    if not writes and found.facts.unread is not None:
        raise UsageError(
            f"--script: expected Python, observed in {found.path}: {found.facts.unread}",
            hint="mend it, or name what it writes by --output",
        )
    if not writes and not found.facts.attaches:
        raise UsageError(
            f"--output: expected a pattern of files that {found.path} writes, for none was found "
            "by looking at it; observed none",
            hint="such as --output 'results/**'",
        )
    return CommandFacts(
        command=found.command,
        seed=found.facts.seed,
        source=found.source,
        inputs=found.inputs,
        outputs=writes,
        missing=found.missing,
        attaches=found.facts.attaches,
        steps=found.facts.steps,
    )


def _notes(found: ScriptProject) -> list[str]:
    """What the author has to see to."""
    facts = found.facts
    notes = []
    if facts.required:
        names = ", ".join(facts.required)
        notes.append(f"it does not run without {names}: add what is needed to command")
    if facts.takes_words:
        notes.append('it takes words of sys.argv by their place: add them to command, as "{seed}"')
    if facts.attaches and facts.steps is None:
        notes.append("it calls repropack.attach: add steps, or no step is compared or resumed")
    if facts.seed_flag is None and not facts.takes_words:
        notes.append("no option for a seed was found: the script has to fix its own")
    if found.missing:
        names = ", ".join(found.missing)
        notes.append(f"it seems to read {names}, and nothing there has that path")
    if not found.inputs and not found.missing:
        notes.append("no file that it reads was found: name what it reads under inputs")
    if facts.absolute:
        names = ", ".join(facts.absolute)
        notes.append(f"it names absolute paths, which no reader has: {names}")
    return notes


def _check_free(folder: Path, contents: Mapping[str, object]) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{shown_path(folder)}: expected a folder, observed a file")
    taken = sorted(path for path in contents if os.path.lexists(folder / path))
    if taken:
        raise UsageError(
            f"{shown_path(folder)}: expected none of these files to be there, observed "
            f"{', '.join(taken)}",
            hint="no file is ever replaced: give another folder, or change what is there by hand",
        )


def _write_all(folder: Path, contents: Mapping[str, str | Path]) -> None:
    """Write every file, or leave the folder as it was."""
    made: list[Path] = []
    try:
        for path, content in contents.items():
            place = folder / path
            for parent in reversed([place.parent, *place.parent.parents]):
                if not parent.exists():
                    parent.mkdir()
                    made.append(parent)
            with place.open("xb") as stream:
                made.append(place)
                if isinstance(content, str):
                    stream.write(content.encode("utf-8"))
                else:
                    with content.open("rb") as original:
                        shutil.copyfileobj(original, stream)
            if isinstance(content, Path):
                shutil.copymode(content, place)
    except BaseException:
        for place in reversed(made):
            with contextlib.suppress(OSError):
                place.rmdir() if place.is_dir() else place.unlink()
        raise
