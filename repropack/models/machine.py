"""On what a run was made, in a few words: what tells kinds of machines apart."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from repropack.models.base import Model

Fact = Annotated[str, Field(max_length=200)]


class MachineFacts(Model):
    """What a run was made on, in the few words that tell kinds of machines apart.

    ``cpu`` is the model as the processor names itself, ``family`` its family and model number as
    ``/proc/cpuinfo`` has them (``6/85``); ``system`` such as ``debian 12``, ``blas`` such as
    ``openblas 0.3.27 SkylakeX``. Each is null where it is not known. No user, host or path.
    """

    cpu_vendor: Fact | None = None
    cpu: Fact | None = None
    family: Fact | None = None
    architecture: Fact
    system: Fact
    libc: Fact | None = None
    python: Fact
    numpy: Fact
    blas: Fact | None = None
    repropack: Fact
