"""Lies about the environment to install: options in a lock, wheels from elsewhere."""

# ruff: noqa: E501 - one line a lie

from __future__ import annotations

from collections.abc import Callable

from tests.hostile.corpus.bases import Base
from tests.hostile.corpus.case import BOTH, FORMAT, INTEGRITY, UNSAFE, Case, Write, lie, rows, told
from tests.support.hostile import Forgery
from tests.support.locks import LOCK, PYLOCK, add_lock, wheel_path

_ZEROS = "0" * 64
NUMPY = "wheel of numpy"


def locked(change: Callable[[Forgery], object], *, wheels: bool = True) -> Write:
    """A package with a lock, in which something is changed."""

    def tell(base: Base, forgery: Forgery) -> None:
        add_lock(forgery, wheels=wheels)
        change(forgery)

    return told(tell)


def in_lock(change: Callable[[str], str]) -> Write:
    """Another lock, and no wheels."""
    return locked(
        lambda f: f.files.update({LOCK: change(f.files[LOCK].decode()).encode()}), wheels=False
    )


def in_pylock(change: Callable[[str], str]) -> Write:
    """Another ``pylock.toml``."""
    return locked(lambda f: f.files.update({PYLOCK: change(f.files[PYLOCK].decode()).encode()}))


def numpy(forgery: Forgery) -> str:
    """Path of NumPy's wheel."""
    return next(path for path in forgery.files if path.startswith("wheels/numpy-"))


def other_wheel(forgery: Forgery) -> None:
    """NumPy's wheel has other bytes, and the manifest their digest."""
    forgery.files[numpy(forgery)] = b"another wheel\n"


def second_wheel(forgery: Forgery) -> None:
    """NumPy has two wheels."""
    forgery.files[numpy(forgery).replace("py3-none", "cp311-none")] = b"another wheel\n"


def dropped_wheel(forgery: Forgery) -> None:
    """NumPy's wheel is missing."""
    del forgery.files[numpy(forgery)]


def no_pylock(forgery: Forgery) -> None:
    """Wheels without ``pylock.toml``."""
    del forgery.files[PYLOCK]


def no_lock(forgery: Forgery) -> None:
    """Wheels without a lock."""
    del forgery.files[LOCK]


def evil_wheel(forgery: Forgery) -> None:
    """A wheel of a distribution that is not locked."""
    forgery.files[wheel_path("evil", "1.0")] = b"evil"


def cut_row(text: str) -> str:
    """The last distribution with its digest is left out."""
    return "".join(text.splitlines(keepends=True)[:-2])


def swapped(text: str) -> str:
    """The first two distributions change places."""
    lines = text.splitlines(keepends=True)
    return "".join([*lines[2:4], *lines[:2], *lines[4:]])


LOCKS = rows(
    "T12",
    "lock",
    lie("honest", "A lock and wheels that tell the truth.", locked(lambda f: None), None, forms=BOTH, word=""),
    lie("honest-alone", "A lock without wheels.", locked(lambda f: None, wheels=False), None, word=""),
    lie("index", "A lock names an index.", in_lock(lambda t: f"--index-url http://127.0.0.1/\n{t}"), FORMAT, "line 1", forms=BOTH),
    lie("option-behind", "An option behind a version.", in_lock(lambda t: t.replace(" \\\n", " --pre \\\n", 1)), FORMAT, "line 1"),
    lie("include", "A lock includes a file.", in_lock(lambda t: f"{t}-r /etc/passwd\n"), FORMAT, "-r /etc/passwd"),
    lie("editable", "A lock installs a folder.", in_lock(lambda t: f"{t}-e .\n"), FORMAT, "-e ."),
    lie("address", "A distribution from an address.", in_lock(lambda t: f"{t}zz @ file:///tmp/zz.whl\n"), FORMAT, "zz @"),
    lie("path", "A distribution from a path.", in_lock(lambda t: f"{t}./zz.whl\n"), FORMAT, "./zz.whl"),
    lie("marker", "A distribution under a condition.", in_lock(lambda t: t.replace(" \\\n", "; python_version > '3' \\\n", 1)), FORMAT, "line 1"),
    lie("no-digest", "A distribution without a digest.", in_lock(lambda t: f"{t}zz==1.0\n"), FORMAT, "zz==1.0"),
    lie("md5", "A digest of another kind.", in_lock(lambda t: f"{t}zz==1.0 \\\n    --hash=md5:{_ZEROS[:32]}\n"), FORMAT, "zz==1.0"),
    lie("range", "A range of versions.", in_lock(lambda t: f"{t}zz>=1.0 \\\n    --hash=sha256:{_ZEROS}\n"), FORMAT, "zz>=1.0"),
    lie("comment", "A comment in a lock.", in_lock(lambda t: f"# {t}"), FORMAT, "line 1"),
    lie("control", "A terminal's escape in a lock.", in_lock(lambda t: f"{t}\x1b[2J==1.0\n"), FORMAT, "x1b"),
    lie("windows", "Windows' ends of lines.", in_lock(lambda t: t.replace("\n", "\r\n")), FORMAT, "line 1"),
    lie("order", "Distributions out of order.", in_lock(swapped), FORMAT, "another order"),
    lie("twice", "A distribution twice.", in_lock(lambda t: t + "".join(t.splitlines(keepends=True)[-2:])), FORMAT, "another order"),
    lie("digest-twice", "A digest twice.", in_lock(lambda t: t.rstrip("\n") + " \\\n" + t.splitlines(keepends=True)[-1]), FORMAT, "another order"),
    lie("cut", "A lock without its last newline.", in_lock(lambda t: t[:-1]), FORMAT, "line"),
    lie("capitals", "A name in capitals.", in_lock(lambda t: f"{t}ZZ==1.0 \\\n    --hash=sha256:{_ZEROS}\n"), FORMAT, "ZZ==1.0"),
    lie("row-less", "A distribution is left out.", in_lock(cut_row), INTEGRITY, "observed none"),
    lie("row-more", "A distribution that was not installed.", in_lock(lambda t: f"{t}zz==1.0 \\\n    --hash=sha256:{_ZEROS}\n"), INTEGRITY, "'zz'"),
    lie("version", "A distribution at another version.", in_lock(lambda t: t.replace("==", "==9", 1)), INTEGRITY, "observed 9"),
    lie("wheel-other", "A wheel of other bytes.", locked(other_wheel), INTEGRITY, "a digest that the lock has for numpy", forms=BOTH),
    lie("wheel-second", "A second wheel of a distribution.", locked(second_wheel), INTEGRITY, "the one wheel", faults=None),
    lie("wheel-missing", "A wheel is missing.", locked(dropped_wheel), INTEGRITY, "'numpy': expected its wheel"),
    lie("wheel-evil", "A wheel that no lock lists.", locked(evil_wheel), INTEGRITY, "the one wheel"),
    lie("wheel-name", "A file among the wheels that is none.", locked(lambda f: f.files.update({"wheels/setup.py": b""})), INTEGRITY, "path"),
    lie("wheel-folder", "A wheel in a folder.", locked(lambda f: f.files.update({"wheels/a/zz-1.0-py3-none-any.whl": b""})), INTEGRITY, "path"),
    lie("wheel-option", "A wheel called like an option.", locked(lambda f: f.files.update({"wheels/--target-1.0-py3-none-any.whl": b""})), INTEGRITY, "path"),
    lie("wheel-epoch", "A wheel whose name no system is to meet.", locked(lambda f: f.files.update({"wheels/zz-1!1.0-py3-none-any.whl": b""})), UNSAFE, "wheels/zz"),
    lie("no-pylock", "Wheels without pylock.toml.", locked(no_pylock), INTEGRITY, "wheels and pylock.toml together"),
    lie("no-lock", "Wheels without a lock.", locked(no_lock), INTEGRITY, "a lock beside wheels"),
    lie("pylock-alone", "A pylock.toml without wheels.", locked(lambda f: f.files.update({PYLOCK: b"\n"}), wheels=False), INTEGRITY, "wheels and pylock.toml together"),
    lie("pylock-digest", "Another digest in pylock.toml.", in_pylock(lambda t: t.replace('sha256 = "', f'sha256 = "{_ZEROS}', 1)), INTEGRITY, "line 8"),
    lie("pylock-path", "A path out of the package.", in_pylock(lambda t: t.replace('path = "wheels', 'path = "../wheels', 1)), INTEGRITY, "../wheels", forms=BOTH),
    lie("pylock-address", "An address in pylock.toml.", in_pylock(lambda t: t.replace('path = "wheels', 'url = "file:///wheels', 1)), INTEGRITY, "url = "),
    lie("pylock-more", "A package more in pylock.toml.", in_pylock(lambda t: f'{t}\n[[packages]]\nname = "zz"\n'), INTEGRITY, "expected 'the end'"),
    lie("pylock-python", "Another Python in pylock.toml.", in_pylock(lambda t: t.replace('"==3.', '"==4.', 1)), INTEGRITY, "line 2"),
)  # fmt: skip

CASES: tuple[Case, ...] = LOCKS
