"""Packages that tests share: built once a session, never written to."""

from __future__ import annotations

from pathlib import Path

from repropack.build import build_package


def build_lab(folder: Path) -> Path:
    """Build the replay lab as a zip that nothing may write to."""
    path = folder / "replay-lab.zip"
    build_package(None, path)
    path.chmod(0o444)
    return path
