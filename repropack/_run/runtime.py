"""Which Python runs the workers: that of this process, or one in an environment of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from repropack._run.confinement.view import View


@dataclass(frozen=True)
class Runtime:
    """An interpreter for workers.

    Attributes:
        python: Its absolute path.
        folder: The environment that it belongs to; ``None`` for the present one.
        view: What a confined worker sees of this machine; ``None`` for what the present
            interpreter needs.
    """

    python: str = sys.executable
    folder: Path | None = None
    view: View | None = None

    def with_programs(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Variables of a worker, its environment's programs first on the search path."""
        if self.folder is None:
            return dict(environment)
        path = os.pathsep.join(filter(None, (str(self.folder / "bin"), environment.get("PATH"))))
        return {**environment, "PATH": path}


PRESENT = Runtime()
"""The environment that repropack itself runs in."""
