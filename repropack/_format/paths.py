"""Which paths an entry may have: the same on every system, and impossible to misread.

Our own entries are plain ASCII. Under ``source/`` and ``inputs/``, whose names are the author's,
letters and digits of every script are accepted too. The rules are lexical: no file is looked at.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import NoReturn

from repropack._format.limits import DEFAULT_LIMITS
from repropack.errors import UnsafeEntryError

MAX_COMPONENT_BYTES = 200
AUTHOR_FOLDERS = ("source", "inputs")
MANIFEST_PATH = "manifest.json"

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_OWN_CHARACTERS = frozenset(_LETTERS + "0123456789._+-")
_AUTHOR_PUNCTUATION = frozenset(" ._+-=,@()[]{}#!~&%")
_AUTHOR_CATEGORIES = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Nd"})
# Letters and marks of those categories that nobody can see (Unicode: default ignorable).
_INVISIBLE = frozenset(
    map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0x180B, 0x1810)))
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
_DEVICE_NAMES = frozenset({"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"}) | frozenset(
    port + digit for port in ("COM", "LPT") for digit in "123456789\xb9\xb2\xb3"
)
_GIT_NAMES = frozenset((".git", "git~1"))


def check_entry_path(path: str) -> None:
    r"""Refuse a path that is unsafe, or not the same, on some system.

    A path that passes is relative, in NFC, and names one file below the package's root.

    Args:
        path: Path of an entry, components joined by ``/``; 1 to 1024 bytes in UTF-8, at most
            32 components of 1 to 200 bytes.

    Raises:
        UnsafeEntryError: The path breaks a rule; ``rule`` says which, expected and observed.

    Example:
        >>> check_entry_path("source/données brutes.py")
        >>> check_entry_path("../outside")
        Traceback (most recent call last):
        repropack.errors.UnsafeEntryError: entry '../outside': component: expected a name, observed '..'
    """  # noqa: E501 - the doctest shows the whole line
    size = _encoded_size(path, path)
    if size > DEFAULT_LIMITS.max_name_bytes:
        allowed = DEFAULT_LIMITS.max_name_bytes
        _refuse(path, f"length: expected at most {allowed} bytes, observed {size}")
    components = path.split("/")
    if len(components) > DEFAULT_LIMITS.max_path_depth:
        allowed = DEFAULT_LIMITS.max_path_depth
        _refuse(path, f"depth: expected at most {allowed} components, observed {len(components)}")
    if path.startswith("/"):
        _refuse(path, "root: expected a relative path, observed a leading '/'")
    for component in components:
        _check_component(path, component)
    authored = len(components) > 1 and components[0] in AUTHOR_FOLDERS
    for component in components[1:] if authored else components:
        _check_characters(path, component, authored=authored)
    if not unicodedata.is_normalized("NFC", path):
        normal = unicodedata.normalize("NFC", path)
        _refuse(path, f"Unicode form: expected NFC {normal!a}, observed {path!a}")


def check_path_set(paths: Iterable[str]) -> None:
    """Refuse paths that would meet on a system that ignores case or Unicode form.

    Files and folders are compared by ``fold_path``: each file's path is unique, no file is
    also a folder, and no folder is spelled in two ways. Paths that pass can all be written
    below one folder on any system.

    Args:
        paths: Paths of all entries, each accepted by ``check_entry_path``, any order.

    Raises:
        UnsafeEntryError: Two paths meet; ``path`` is the later one, ``rule`` names the other.
    """
    files: dict[str, str] = {}
    folders: dict[str, tuple[str, str]] = {}
    for path in paths:
        folded = fold_path(path)
        if folded in files:
            _refuse(path, f"expected a path unique under case folding, observed {files[folded]!r}")
        if folded in folders:
            _refuse(path, f"expected a file or a folder, observed both: {folders[folded][1]!r}")
        files[folded] = path
        for folder in _folders(path):
            folded = fold_path(folder)
            if folded in files:
                _refuse(path, f"expected a file or a folder, observed both: {files[folded]!r}")
            spelled, other = folders.setdefault(folded, (folder, path))
            if spelled != folder:
                _refuse(path, f"folder: expected one spelling of {folder!r}, observed {other!r}")


def fold_path(path: str) -> str:
    """Return the key under which paths are compared: case folded, then NFC."""
    return unicodedata.normalize("NFC", path.casefold())


def package_order(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the order of a package's entries: ``manifest.json``, then by bytes of the path."""
    return tuple(
        sorted(paths, key=lambda p: (p != MANIFEST_PATH, p.encode("utf-8", "surrogatepass")))
    )


def _folders(path: str) -> Iterable[str]:
    """Yield every folder that a path lies in, outermost first."""
    end = path.find("/")
    while end >= 0:
        yield path[:end]
        end = path.find("/", end + 1)


def _check_component(path: str, component: str) -> None:
    """Apply the rules that hold for every component, whoever named it."""
    if component in {"", ".", ".."}:
        _refuse(path, f"component: expected a name, observed {component!r}")
    size = _encoded_size(path, component)
    if size > MAX_COMPONENT_BYTES:
        _refuse(path, f"component: expected at most {MAX_COMPONENT_BYTES} bytes, observed {size}")
    if component[0] == " " or component[-1] in " .":
        _refuse(
            path, f"component: expected no blank at an end and no final dot, observed {component!r}"
        )
    if component.partition(".")[0].rstrip(" ").upper() in _DEVICE_NAMES:
        _refuse(path, f"component: expected no Windows device name, observed {component!r}")
    if component.casefold() in _GIT_NAMES:
        _refuse(path, f"component: expected no folder of git's, observed {component!r}")


def _check_characters(path: str, component: str, *, authored: bool) -> None:
    for character in component:
        if character in _OWN_CHARACTERS or (authored and _is_author_character(character)):
            continue
        expected = (
            "letters, digits, inner blanks and usual punctuation"
            if authored
            else ("ASCII letters, digits and ._+-")
        )
        _refuse(path, f"character: expected {expected}, observed U+{ord(character):04X}")


def _is_author_character(character: str) -> bool:
    if character in _AUTHOR_PUNCTUATION:
        return True
    return unicodedata.category(character) in _AUTHOR_CATEGORIES and character not in _INVISIBLE


def _encoded_size(path: str, text: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        observed = f"U+{ord(text[error.start]):04X}"
        rule = f"encoding: expected text that UTF-8 can hold, observed {observed}"
        raise UnsafeEntryError(path, rule) from error


def _refuse(path: str, rule: str) -> NoReturn:
    raise UnsafeEntryError(path, rule)
