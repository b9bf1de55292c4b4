"""What ``diff --zoom`` adds to a report: elements, the arrays that are kept, repetitions."""

# ruff: noqa: PLC0415 - a verb imports what it needs and nothing else

from __future__ import annotations

import io
from argparse import Namespace
from typing import TYPE_CHECKING, TypeVar

from repropack._cli.progress import progress
from repropack.errors import UsageError

if TYPE_CHECKING:
    from repropack._format.limits import Limits
    from repropack._run.confinement.consent import Consent
    from repropack.models.package_difference import PackageDifference
    from repropack.models.run_difference import RunDifference

_Difference = TypeVar("_Difference", "RunDifference", "PackageDifference")


def check_options(arguments: Namespace) -> None:
    """Options that say how to zoom need ``--zoom`` beside them.

    Raises:
        UsageError: one of them stands alone, or ``--fast`` beside ``--zoom``.
    """
    if arguments.zoom and arguments.fast:
        raise UsageError("expected --fast or --zoom, observed both")
    if arguments.zoom:
        return
    given = {
        "--save": arguments.save is not None,
        "--repeat": arguments.repeat is not None,
        "--input": bool(arguments.input),
        "--sandbox": arguments.sandbox != "auto",
        "--no-sandbox": arguments.no_sandbox,
        "--trust": bool(arguments.trust),
    }
    alone = [option for option, present in given.items() if present]
    if alone:
        raise UsageError(f"{alone[0]}: expected --zoom beside it, observed none")


def zoom(
    arguments: Namespace, difference: _Difference, consent: Consent, limits: Limits
) -> _Difference:
    """Look at where two runs part, as the arguments say.

    Args:
        arguments: Those of ``diff``, with ``zoom``.
        difference: What is known of the two without running anything.
        consent: What the arguments allow the packages' code.
        limits: Limits on reading.

    Returns:
        The difference with what was seen.

    Raises:
        RepropackError: as ``zoom_runs`` raises it, or the arrays cannot be kept.
    """
    from repropack._cli.report_file import ReportFile
    from repropack._cli.streams import write_message
    from repropack._format.npz import write_npz
    from repropack._format.paths import shown_path
    from repropack._read.sides import read_side
    from repropack._run.documents import ARRAYS
    from repropack.zoom import ZoomOptions, zoom_difference

    kept = None
    if arguments.save is not None:
        sides = (read_side(side).path for side in (arguments.left, arguments.right))
        kept = ReportFile(
            arguments.save, *sides, kind=ARRAYS, option="--save", force=arguments.force
        )
    with progress() as on_step:
        found, arrays = zoom_difference(
            difference,
            arguments.left,
            arguments.right,
            ZoomOptions(
                keep=kept is not None,
                repeat=arguments.repeat or 0,
                consent=consent,
                trust=frozenset(arguments.trust or ()),
                inputs=dict(arguments.input),
                on_step=on_step,
                limits=limits,
            ),
        )
    if kept is not None and not arrays:
        write_message(f"--save: no array is known, so {shown_path(arguments.save)} is not written")
    elif kept is not None:
        stream = io.BytesIO()
        write_npz(stream, arrays)
        kept.write(stream.getvalue())
    return found
