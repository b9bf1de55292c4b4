"""What of a failed run's prints its author is shown."""

from __future__ import annotations

import pytest

import repropack
from repropack._run.printed import shown_lines
from repropack.errors import CommandError, RepropackError

BEGINS = "Traceback (most recent call last):"
OWN = ('  File "train.py", line 7, in <module>', "    for step in run.steps(3):")
LINKED = (
    '  File "/tmp/x/loop/modules/repropack/loop.py", line 98, in steps',
    "    yield",
    "    ^^^^^",
)
INSTALLED = (f'  File "{repropack.__path__[0]}/experiment.py", line 1, in record', "    check()")
ERROR = CommandError("reference", "expected steps(4) or more")
TOLD = "repropack.errors.CommandError: run 'reference': expected steps(4) or more"


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (("a", "", "b"), ("a", "", "b")),
        (("a", BEGINS), ("a",)),
        (("a", BEGINS, *OWN), ("a",)),
        (("a", BEGINS, *OWN, ""), ("a", "")),
        ((BEGINS, *OWN, "ValueError: x", "b"), (BEGINS, *OWN, "ValueError: x", "b")),
        ((BEGINS, *OWN, *LINKED, "ValueError: x"), (BEGINS, *OWN, "ValueError: x")),
        ((BEGINS, *INSTALLED, *OWN, "ValueError: x"), (BEGINS, *OWN, "ValueError: x")),
        (("a", BEGINS, *OWN, *LINKED, TOLD), ("a", BEGINS, *OWN)),
        (("a", BEGINS, *LINKED, TOLD, "b"), ("a", "b")),
        ((BEGINS, *OWN, f"{TOLD}!"), (BEGINS, *OWN, f"{TOLD}!")),
        ((BEGINS, *OWN, BEGINS, *OWN, "KeyError: 1"), (BEGINS, *OWN, "KeyError: 1")),
    ],
    ids=[
        *("prints", "head", "frames", "empty-end", "whole", "linked", "installed", "told"),
        *("ours-alone", "another-message", "cut-then-whole"),
    ],
)
def test_tracebacks_are_whole_and_name_no_file_of_ours(
    lines: tuple[str, ...], shown: tuple[str, ...]
) -> None:
    """One that was cut off is left out; frames of ours are, and what the error says again."""
    assert shown_lines(lines, ERROR) == shown


def test_a_place_that_was_added_to_the_message_does_not_have_it_said_twice() -> None:
    """The judge adds run and step to what the run itself said."""
    error = RepropackError("'w': holds a tuple (run 'reference', step 1)")
    lines = (BEGINS, *OWN, "repropack.errors.StateError: 'w': holds a tuple")
    assert shown_lines(lines, error) == (BEGINS, *OWN)
