"""Absolute paths in code, commands and documents: they exist on one machine."""

from __future__ import annotations

import re
from collections.abc import Iterator

from repropack._lint.code import Module
from repropack._lint.spelled import HOMES
from repropack._lint.subject import LintedFile, Subject, found
from repropack.models.lint import LintFinding

_PLACES = (
    "home|Users|root|mnt|media|data|datasets?|scratch|work|projects?|nfs|gpfs|lustre|Volumes|"
    "storage|export|srv"
)
_SYSTEM = "tmp|var|opt"
_IN_CODE = re.compile(
    rf"(?:/(?:{_PLACES}|{_SYSTEM})(?:/[^\n]*)?|[A-Za-z]:[\\/][^\n]+|~/[^\n]+)", re.ASCII
)
_IN_TEXT = re.compile(
    rf"(?<![A-Za-z0-9_.~%*/\\<>{{}}$)\]-])(?:/(?:{_PLACES})/[\w.-]|[A-Za-z]:\\[A-Za-z])"
    r"[^\s\"'`<>|;,)\]}]*",
    re.ASCII,
)
_DOCUMENTS = frozenset({".md", ".rst", ".txt", ".ipynb"})
_SCRIPTS = frozenset({".sh", ".bash", ".toml", ".yaml", ".yml", ".cfg", ".ini", ".r", ".jl", ".m"})
_MAX_A_FILE = 5


def check_absolute(subject: Subject, modules: tuple[Module, ...]) -> Iterator[LintFinding]:
    """Yield absolute paths; those that name somebody are another rule's.

    Args:
        subject: What is looked at.
        modules: Its parsed source.
    """
    for text in dict.fromkeys(subject.plan_texts()):
        if _is_absolute(text):
            yield found("absolute-path", subject.settings, f"{text[:120]!r} is an absolute path")
    for module in modules:
        paths = ((text, line) for text, line in module.texts if _is_absolute(text))
        yield from _once(module.file, paths)
    for file in subject.files:
        if file.kind in {"source", "readme"} and file.suffix in _DOCUMENTS | _SCRIPTS:
            yield from _once(file, _in_text(file))


def _is_absolute(text: str) -> bool:
    return bool(_IN_CODE.fullmatch(text)) and not _names_somebody(text)


def _names_somebody(text: str) -> bool:
    data = text.encode("utf-8", "surrogatepass")
    return any(True for shape in HOMES for _ in shape.find(data))


def _in_text(file: LintedFile) -> Iterator[tuple[str, int]]:
    data = file.read()
    if data is None:
        return
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        for match in _IN_TEXT.finditer(line):
            if not _names_somebody(match[0]):
                yield match[0], number


def _once(file: LintedFile, paths: Iterator[tuple[str, int]]) -> Iterator[LintFinding]:
    seen: set[str] = set()
    for text, line in paths:
        if text not in seen and len(seen) < _MAX_A_FILE:
            seen.add(text)
            problem = f"{text[:120]!r} is an absolute path"
            yield found("absolute-path", file.path, problem, line)
