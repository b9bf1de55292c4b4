"""Types and shapes of the arrays that a run stored, which no fingerprint tells."""

from __future__ import annotations

from repropack._compare.arrays import form_text
from repropack._compare.logs import STATE_PREFIX
from repropack._read.run import RunReader


def common_checkpoint(left: RunReader, right: RunReader) -> int | None:
    """The last step after which both runs stored a state; ``None`` where there is none."""
    steps = {*left.checkpoint_steps()} & {*right.checkpoint_steps()}
    return max(steps, default=None)


def stored_forms(run: RunReader, step: int | None) -> dict[str, str]:
    """The form of each array that a run stored: its type and shape, as text.

    Args:
        run: The run.
        step: One of its checkpoints; that of the kept stages alone where ``None``.

    Returns:
        Of each kept stage, and of each array of the state as ``state:<name>``: such as
        ``<f4 (3, 2)``.

    Raises:
        PackageError: a file that describes them is malformed.
    """
    kept = run.kept_stages().items()
    forms = {stage: form_text(dtype, shape[1:]) for stage, (dtype, shape) in kept}
    if step is not None:
        for name, row in run.checkpoint_document(step).arrays.items():
            forms[f"{STATE_PREFIX}{name}"] = form_text(row.dtype, row.shape)
    return forms
