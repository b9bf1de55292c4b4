"""Which paths an entry may have: the same on every system, and impossible to misread.

Our own entries are plain ASCII. Under ``source/``, ``inputs/``, ``after/`` and the ``outputs/`` of
a run, whose names are the author's, letters and digits of every script are accepted too. The rules
are lexical: no file is looked at.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from pathlib import PurePath
from typing import NoReturn

from repropack._format.limits import DEFAULT_LIMITS
from repropack.errors import UnsafeEntryError
from repropack.refusals import refusal

MAX_COMPONENT_BYTES = 200
AUTHOR_FOLDERS = ("source", "inputs", "after")
OUTPUTS = "outputs"
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
        UnsafeEntryError: The path breaks a rule; ``rule`` says which.

    Example:
        >>> check_entry_path("source/données brutes.py")
        >>> check_entry_path("../outside")
        Traceback (most recent call last):
        repropack.errors.UnsafeEntryError: entry '../outside': component: expected a name, observed '..'
    """  # noqa: E501 - the doctest shows the whole line
    size = _encoded_size(path, path)
    if size > DEFAULT_LIMITS.max_name_bytes:
        allowed = DEFAULT_LIMITS.max_name_bytes
        _refuse("path.length", path, "length", f"at most {allowed} bytes", size)
    components = path.split("/")
    if len(components) > DEFAULT_LIMITS.max_path_depth:
        allowed = DEFAULT_LIMITS.max_path_depth
        expected = f"at most {allowed} components"
        _refuse("path.depth", path, "depth", expected, len(components))
    if path.startswith("/"):
        _refuse("path.absolute", path, "root", "a relative path", "a leading '/'")
    for component in components:
        _check_component(path, component)
    own = _own_components(components)
    for place, component in enumerate(components):
        _check_characters(path, component, authored=place >= own)
    if not unicodedata.is_normalized("NFC", path):
        normal = unicodedata.normalize("NFC", path)
        _refuse("path.unicode-form", path, "Unicode form", f"NFC {normal!a}", f"{path!a}")


def _own_components(components: list[str]) -> int:
    """How many components, from the first, are the format's own and none of the author's."""
    if len(components) > 1 and components[0] in AUTHOR_FOLDERS:
        return 1
    outputs = len(components) > 3 and components[0] == "runs" and components[2] == OUTPUTS
    return 3 if outputs else len(components)


def check_path_set(paths: Iterable[str]) -> None:
    """Refuse paths that would meet on a system that ignores case or Unicode form.

    Files and folders are compared by ``fold_path``: each file's path is unique, no file is
    also a folder, and no folder is spelled in two ways. Paths that pass can all be written
    below one folder on any system.

    Args:
        paths: Paths of all entries, each accepted by ``check_entry_path``, any order.

    Raises:
        UnsafeEntryError: Two paths meet; ``entry`` is the later one, ``observed`` names the other.
    """
    files: dict[str, str] = {}
    folders: dict[str, tuple[str, str]] = {}
    for path in paths:
        folded = fold_path(path)
        if folded in files:
            expected = "a path unique under case folding"
            _refuse("path.collision", path, "", expected, repr(files[folded]))
        if folded in folders:
            _refuse_both(path, folders[folded][1])
        files[folded] = path
        for folder in _folders(path):
            folded = fold_path(folder)
            if folded in files:
                _refuse_both(path, files[folded])
            spelled, other = folders.setdefault(folded, (folder, path))
            if spelled != folder:
                expected = f"one spelling of {folder!r}"
                _refuse("path.collision", path, "folder", expected, repr(other))


def shown_path(path: str | PurePath) -> str:
    r"""Return the path of a file of this machine as text that a report can hold.

    Args:
        path: Any path, also one that is not UTF-8.

    Returns:
        The path; bytes of it that are no UTF-8 as ``\xhh``.

    Example:
        >>> print(shown_path("lab\udcff.zip"))
        lab\xff.zip
    """
    return str(path).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


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
        _refuse("path.traversal", path, "component", "a name", repr(component))
    size = _encoded_size(path, component)
    if size > MAX_COMPONENT_BYTES:
        expected = f"at most {MAX_COMPONENT_BYTES} bytes"
        _refuse("path.length", path, "component", expected, size)
    if component[0] == " " or component[-1] in " .":
        expected = "no blank at an end and no final dot"
        _refuse("path.ends", path, "component", expected, repr(component))
    if component.partition(".")[0].rstrip(" ").upper() in _DEVICE_NAMES:
        _refuse("path.device-name", path, "component", "no Windows device name", repr(component))
    if component.casefold() in _GIT_NAMES:
        _refuse("path.git", path, "component", "no folder of git's", repr(component))


def _check_characters(path: str, component: str, *, authored: bool) -> None:
    for character in component:
        if character in _OWN_CHARACTERS or (authored and _is_author_character(character)):
            continue
        expected = (
            "letters, digits, inner blanks and usual punctuation"
            if authored
            else ("ASCII letters, digits and ._+-")
        )
        _refuse("path.character", path, "character", expected, f"U+{ord(character):04X}")


def _is_author_character(character: str) -> bool:
    if character in _AUTHOR_PUNCTUATION:
        return True
    return unicodedata.category(character) in _AUTHOR_CATEGORIES and character not in _INVISIBLE


def _encoded_size(path: str, text: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        observed = f"U+{ord(text[error.start]):04X}"
        expected = "text that UTF-8 can hold"
        raise UnsafeEntryError(
            refusal("path.encoding", path, "encoding", expected, observed)
        ) from error


def _refuse_both(path: str, other: str) -> NoReturn:
    _refuse("path.file-and-folder", path, "", "a file or a folder", f"both: {other!r}")


def _refuse(rule: str, path: str, place: str, expected: str, observed: object) -> NoReturn:
    raise UnsafeEntryError(refusal(rule, path, place, expected, observed))
