"""The lock of an environment: ``requirements.lock``, and ``pylock.toml`` beside packed wheels.

Both have one spelling. A lock that a stranger wrote is read by the grammar below and by nothing
else, so that no line of it can be an option, an address or a path; installers are given a file
that is written anew from the rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from repropack._format.layout import LOCK, WHEEL_NAME, WHEELS
from repropack.errors import PackageFormatError
from repropack.models.manifest import Entry
from repropack.refusals import refusal

RUNNER = "repropack-replay"
"""The one distribution that is never locked: whoever verifies brings his own."""

_NAME = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_VERSION = r"[0-9A-Za-z][0-9A-Za-z.+!_]{0,63}"
_HASH = r" \\\n    --hash=(sha256:[0-9a-f]{64})"
_ROW = re.compile(rf"({_NAME})==({_VERSION})((?:{_HASH})+)\n")
_HASHES = re.compile(_HASH)
_DISTRIBUTION = re.compile(rf"{_NAME}=={_VERSION}")
_MINOR = re.compile(r"([0-9]{1,3}\.[0-9]{1,3})(?:[.a-z+].*)?")


@dataclass(frozen=True, slots=True)
class LockedDistribution:
    """One distribution at one version.

    Attributes:
        name: In normal form, such as ``typing-extensions``.
        version: As it is installed.
        digests: SHA-256 of each file that an index offers for this version, sorted.
    """

    name: str
    version: str
    digests: tuple[str, ...]


def normal_name(name: str) -> str:
    """A distribution's name in normal form.

    Args:
        name: The name, as anyone spells it.

    Returns:
        Lower case, and one hyphen for each run of ``-``, ``_`` and ``.``.

    Example:
        >>> normal_name("Typing_Extensions")
        'typing-extensions'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def can_be_locked(name: str, version: str) -> bool:
    """Whether a lock can spell a distribution.

    Args:
        name: Its name in normal form.
        version: Its version.

    Returns:
        Whether a row of ``requirements.lock`` can hold them.

    Example:
        >>> can_be_locked("numpy", "2.4.6"), can_be_locked("numpy", "2.4.6 --pre")
        (True, False)
    """
    return _DISTRIBUTION.fullmatch(f"{name}=={version}") is not None


def encode_lock(rows: Iterable[LockedDistribution]) -> bytes:
    r"""Write ``requirements.lock``.

    Args:
        rows: Each distribution once, in any order.

    Returns:
        One requirement a distribution, sorted by name, its digests sorted below it.

    Example:
        >>> digest = f"sha256:{'0' * 64}"
        >>> encode_lock([LockedDistribution("six", "1.17.0", (digest,))])[:25]
        b'six==1.17.0 \\\n    --hash='
    """
    lines = [
        " \\\n    --hash=".join([f"{row.name}=={row.version}", *sorted(set(row.digests))]) + "\n"
        for row in sorted(rows, key=lambda row: row.name)
    ]
    return "".join(lines).encode("ascii")


def decode_lock(data: bytes) -> tuple[LockedDistribution, ...]:
    """Read ``requirements.lock``.

    Args:
        data: Its bytes.

    Returns:
        The distributions, sorted by name.

    Raises:
        PackageFormatError: it is spelled otherwise than ``encode_lock`` spells it.
    """
    text = data.decode("latin-1")
    rows: list[LockedDistribution] = []
    position = 0
    while position < len(text):
        found = _ROW.match(text, position)
        if found is None:
            line = text.count("\n", 0, position) + 1
            observed = repr(text[position : position + 80])
            expected = "name==version, and sha256 digests below it"
            raise PackageFormatError(refusal("lock.form", LOCK, f"line {line}", expected, observed))
        rows.append(LockedDistribution(found[1], found[2], tuple(_HASHES.findall(found[3]))))
        position = found.end()
    if encode_lock(rows) != data or len({row.name for row in rows}) != len(rows):
        expected = "distributions sorted, each once, and so their digests"
        raise PackageFormatError(refusal("lock.form", LOCK, "", expected, "another order"))
    return tuple(rows)


def wheel_distribution(path: str) -> str:
    """The distribution that a wheel says it is of, by its name.

    Args:
        path: Path of an entry with the role ``wheel``.

    Returns:
        The distribution's name in normal form; empty where the name is no wheel's.

    Example:
        >>> wheel_distribution("wheels/typing_extensions-4.15.0-py3-none-any.whl")
        'typing-extensions'
    """
    found = WHEEL_NAME.fullmatch(path.removeprefix(f"{WHEELS}/"))
    return "" if found is None else normal_name(found[1])


def python_minor(version: str) -> str | None:
    """The minor version of an interpreter.

    Args:
        version: Its version.

    Returns:
        Its first two numbers; ``None`` where the text is no version.

    Example:
        >>> python_minor("3.11.7"), python_minor("3.14.0rc1"), python_minor("latest")
        ('3.11', '3.14', None)
    """
    found = _MINOR.fullmatch(version)
    return None if found is None else found[1]


def encode_pylock(
    rows: Iterable[LockedDistribution], wheels: Mapping[str, Entry], minor: str
) -> bytes:
    """Write ``pylock.toml`` (PEP 751) for packed wheels, by paths relative to it.

    Args:
        rows: The locked distributions.
        wheels: The manifest's entry of each one's wheel, by the distribution's name.
        minor: The interpreter's minor version, such as ``3.11``.

    Returns:
        TOML, in the order of the names.
    """
    lines = ['lock-version = "1.0"', f'requires-python = "=={minor}.*"', 'created-by = "repropack"']
    for row in sorted(rows, key=lambda row: row.name):
        wheel = wheels[row.name]
        digest = wheel.digest.removeprefix("sha256:")
        place = f'path = "{wheel.path}", size = {wheel.size}, hashes = {{ sha256 = "{digest}" }}'
        lines += ["", "[[packages]]", f'name = "{row.name}"', f'version = "{row.version}"']
        lines += [f"wheels = [{{ {place} }}]"]
    return "\n".join([*lines, ""]).encode("ascii")
