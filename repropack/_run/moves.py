"""Moves that never overwrite, and exchanges in one step, by ``renameat2`` where there is one.

Where system or file system lack it, the closest that they have: a link and an unlink for a file,
two renames for a directory. Only the last leaves, for an instant, nothing at the target.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path

_AT_FDCWD = -100
_NOREPLACE, _EXCHANGE = 1, 2
_LACKING = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})
_NO_LINKS = _LACKING | {errno.EPERM, errno.EMLINK, errno.EXDEV, errno.EACCES}


def move_new(aside: Path, target: Path) -> None:
    """Move a file or a directory to a place where nothing is.

    Args:
        aside: What to move, on the file system of ``target``.
        target: Its new place.

    Raises:
        FileExistsError: something is there, maybe since a moment ago; it is not touched.
        OSError: it cannot be moved; nothing has changed.
    """
    if _rename(aside, target, _NOREPLACE):
        return
    if not aside.is_dir():
        try:
            os.link(aside, target, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
        else:
            aside.unlink()
            return
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    aside.rename(target)


def exchange_directories(aside: Path, target: Path, former: Path) -> Path:
    """Put a directory in the place of another that is never absent in between.

    Args:
        aside: The new one.
        target: The old one.
        former: Where the old one waits in between, beside ``target``, where the system cannot
            exchange; free.

    Returns:
        Where the old one lies now: ``aside``, or ``former``.

    Raises:
        OSError: it cannot be moved; what stood at ``target`` stands there again.
    """
    if _rename(aside, target, _EXCHANGE):
        return aside
    try:
        target.rename(former)
        aside.rename(target)
    except BaseException:
        if former.exists() and not target.exists():
            former.rename(target)
        raise
    return former


def _rename(old: Path, new: Path, flags: int) -> bool:
    """Call ``renameat2``; returns whether there is one that knows ``flags`` here."""
    if sys.platform != "linux":
        return False
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    if call(_AT_FDCWD, os.fsencode(old), _AT_FDCWD, os.fsencode(new), flags) == 0:
        return True
    number = ctypes.get_errno()
    if number in _LACKING:
        return False
    raise OSError(number, os.strerror(number), str(old), None, str(new))
