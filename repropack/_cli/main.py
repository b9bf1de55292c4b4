"""``main``: parse, dispatch, and turn whatever happens into output and one exit status.

An error of ours is one line and a hint, never a traceback; of a project file with several faults
each has its line. Anything unexpected is a bug of ours
and says so.
"""

# ruff: noqa: PLC0415 - errors must not make --help slow

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from repropack._cli.answers import Answer, ascii_document
from repropack._cli.commands import COMMANDS, load
from repropack._cli.parser import parse_arguments, wants_json
from repropack._cli.status import COULD_NOT_RUN, INTERRUPTED, status_of_error
from repropack._cli.streams import fill_standard_descriptors, write_message, write_output
from repropack.errors import CouldNotRunError, LintError, PackageError, ProjectError, RepropackError
from repropack.refusals import Refusal

_MAX_MESSAGE_CHARACTERS = 4000
_MAX_PRINTED_CHARACTERS = 400


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line.

    Args:
        argv: The arguments without the program's name; those of this process where ``None``.

    Returns:
        The exit status. Nothing is raised, and nothing exits.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    os.umask(os.umask(0o077) & 0o077)  # what we make we can also read, whatever the caller's is
    as_json = wants_json(arguments)
    try:
        fill_standard_descriptors()
        answer = _run(arguments)
        if answer.complaint is not None:
            _complain(answer.complaint)
        if answer.warning is not None:
            _complain(answer.warning, "warning")
        return write_output(answer.output, answer.status)
    except RepropackError as error:
        return _fail_by(error, as_json=as_json)
    except KeyboardInterrupt as interrupt:
        note = next(iter(getattr(interrupt, "__notes__", ())), None)
        return _fail("interrupted", "interrupted", note, INTERRUPTED, as_json=as_json)
    except OSError as error:
        from repropack._run.durable import os_problem

        return _fail(CouldNotRunError.code, os_problem(error), None, COULD_NOT_RUN, as_json=as_json)
    except MemoryError:
        message = "not enough memory"
        return _fail(CouldNotRunError.code, message, None, COULD_NOT_RUN, as_json=as_json)
    except Exception as error:  # noqa: BLE001 - the last line of defence; a bug must not look like an answer
        if _was_interrupted(error):
            return _fail("interrupted", "interrupted", None, INTERRUPTED, as_json=as_json)
        return _report_bug(error, as_json=as_json)


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether an interrupt is behind an error: Python hides one within a class being made."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


def _run(arguments: list[str]) -> Answer:
    try:
        parsed = parse_arguments(arguments)
    except SystemExit as shown:  # argparse has printed --help or --version
        return Answer("", int(shown.code or 0))
    load(parsed.verb)
    return COMMANDS[parsed.verb](parsed)


def _complain(problem: str, word: str = "error") -> None:
    """Say what went wrong, on one line of standard error."""
    from repropack._present.escape import escape_text

    write_message(f"repropack: {word}: {escape_text(problem, _MAX_MESSAGE_CHARACTERS)}")


def _show_printed(lines: tuple[str, ...]) -> None:
    """Show the last of what a run printed, before what is said of it."""
    from repropack._present.escape import escape_text

    if lines:
        write_message("the run printed last:")
    for line in lines:
        write_message(f"  {escape_text(line, _MAX_PRINTED_CHARACTERS)}".rstrip())


def _fail_by(error: RepropackError, *, as_json: bool) -> int:
    """Report an error of our tree; a refused package with each refusal as data."""
    status = status_of_error(error)
    refusals = error.refusals if isinstance(error, PackageError | LintError) else ()
    _show_printed(error.printed)
    if isinstance(error, ProjectError) and len(error.lines) > 1:
        _list_faults(error)
    else:
        _complain(error.message)
    return _end(error.code, error.message, error.hint, status, refusals, as_json=as_json)


def _list_faults(error: ProjectError) -> None:
    """Say what is wrong with a project file, each fault on its line."""
    from repropack._present.escape import escape_text

    _complain(f"{error.file}: {len(error.lines)} faults")
    for line in error.lines:
        write_message(f"  - {escape_text(line, _MAX_MESSAGE_CHARACTERS)}")


def _fail(code: str, message: str, hint: str | None, status: int, *, as_json: bool) -> int:
    """Report what ended the program without an error of our tree."""
    if status == INTERRUPTED:
        write_message("repropack: interrupted")
    else:
        _complain(message)
    return _end(code, message, hint, status, (), as_json=as_json)


def _end(
    code: str,
    message: str,
    hint: str | None,
    status: int,
    refusals: tuple[Refusal, ...],
    *,
    as_json: bool,
) -> int:
    """Give the hint on standard error, and for programs the error on standard output."""
    from repropack._present.escape import escape_text

    if hint is not None:
        write_message(f"hint: {escape_text(hint, _MAX_MESSAGE_CHARACTERS)}")
    if not as_json:
        return status
    from repropack.models.reports import ErrorReport, fault_of

    report = ErrorReport(
        code=code,
        message=_storable(message),
        hint=hint and _storable(hint),
        status=status,
        faults=tuple(fault_of(code, one) for one in refusals),
    )
    return write_output(ascii_document(report), status)


def _storable(text: str) -> str:
    """Text without lone surrogates, which JSON cannot hold."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _report_bug(error: Exception, *, as_json: bool) -> int:
    import traceback

    from repropack._present.escape import escape_text

    for line in "".join(traceback.format_exception(error)).splitlines():
        write_message(escape_text(line, _MAX_MESSAGE_CHARACTERS))
    kind = type(error).__name__
    return _fail(
        "internal",
        f"this is a bug in repropack, not an answer about the package ({kind})",
        "please report it together with the lines above",
        COULD_NOT_RUN,
        as_json=as_json,
    )
