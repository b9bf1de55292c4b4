"""Who sits at this machine: names that a package should not tell."""

from __future__ import annotations

import getpass
import os
import re
import socket
from dataclasses import dataclass
from pathlib import Path

_COMMON = """
user username users testuser you your yourname yourusername your-name your_name name me someone
somebody nobody author reviewer root admin administrator runner jovyan vscode codespace gitpod
ubuntu debian fedora centos vagrant docker ec2-user azureuser pi shared public default guest example
foo bar dev app node build builder test tester student linuxbrew conda mambauser colab work home
localhost localdomain raspberrypi laptop desktop server computer workstation container
"""
COMMON_NAMES = frozenset(_COMMON.split())
"""Names that are nobody's: of images, services and placeholders."""

_MIN_USER_CHARACTERS = 4
_MIN_HOST_CHARACTERS = 5


@dataclass(frozen=True)
class Person:
    """This account's home folder and name, the machine's name, and the folder of a build.

    ``None`` where they are common to many, or too short to be told from a word.
    """

    home: str | None = None
    user: str | None = None
    host: str | None = None
    work: str | None = None


NOBODY = Person()


def observe_person() -> Person:
    """Look up account and machine.

    Returns:
        What is peculiar to them.
    """
    home = os.environ.get("HOME") or ""
    return Person(
        home=home if _is_peculiar_home(home) else None,
        user=_peculiar(_user(), _MIN_USER_CHARACTERS),
        host=_peculiar(socket.gethostname().partition(".")[0], _MIN_HOST_CHARACTERS),
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return ""


def _peculiar(name: str, min_characters: int) -> str | None:
    bare = re.sub(r"[0-9]+$", "", name.lower())
    common = bare in COMMON_NAMES or name.lower() in COMMON_NAMES or not bare
    return None if common or len(name) < min_characters else name


def _is_peculiar_home(home: str) -> bool:
    """A home that names nobody, such as that of a container's user, tells nothing."""
    path = Path(home)
    return path.is_absolute() and len(path.parts) > 2 and path.name.lower() not in COMMON_NAMES
