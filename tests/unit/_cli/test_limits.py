"""Limits on the command line: listed, stated, and refused where there is none of the name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repropack._cli.limits import check_names, list_limits, with_stated
from repropack._cli.main import main
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack.errors import UsageError


def test_every_limit_is_listed_with_its_value_and_meaning() -> None:
    """In the order of the class; the meaning is the text below the attribute."""
    rows = list_limits(DEFAULT_LIMITS).limits
    assert (rows[0].name, rows[0].value) == ("max_entries", DEFAULT_LIMITS.max_entries)
    assert rows[0].meaning == (
        "Entries of one container; in a directory, its files and folders together."
    )
    assert [row.name for row in rows] == list(Limits.__dataclass_fields__)
    assert all(row.meaning.endswith((".", ").")) for row in rows)


def test_the_last_value_holds() -> None:
    """A limit may be stated higher or lower; what is another's is left alone."""
    stated = (("max_entries", 5), ("max_array_rank", 3), ("max_entries", 7), ("max_seconds", 1))
    limits = with_stated(DEFAULT_LIMITS, stated)
    assert (limits.max_entries, limits.max_array_rank) == (7, 3)
    assert limits.max_json_depth == DEFAULT_LIMITS.max_json_depth


def test_a_limit_that_is_none_is_wrong_use() -> None:
    """With the names that come near."""
    with pytest.raises(UsageError, match="--limit max_entrys: no limit of this name") as caught:
        check_names((("max_entrys", 5),), DEFAULT_LIMITS)
    assert str(caught.value.hint).startswith("did you mean max_entries or ")


def test_show_limits_needs_no_package(capsys: pytest.CaptureFixture[str]) -> None:
    """Text and JSON tell the values that apply."""
    assert main(["check", "--show-limits", "--limit", "max_entries=12"]) == 0
    assert capsys.readouterr().out.startswith("max_entries = 12\n  Entries of one container;")
    assert main(["check", "--show-limits", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "repropack/limits/v1"
    assert document["limits"][0]["value"] == DEFAULT_LIMITS.max_entries


def test_the_limits_on_running_are_shown_and_stated_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """They are listed after those on reading; only ``verify`` runs anything and takes them."""
    assert main(["check", "--show-limits", "--limit", "max_run_seconds=5"]) == 0
    assert "\nmax_run_seconds = 5\n  Seconds of wall time of one run.\n" in capsys.readouterr().out
    assert main(["check", "a.zip", "--limit", "max_run_seconds=5"]) == 2
    assert "--limit max_run_seconds: no limit of this name" in capsys.readouterr().err


def test_a_stated_limit_is_kept_and_named(
    lab_package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What exceeds it is refused by its rule, with the flag that raises it."""
    assert main(["check", str(lab_package), "--limit", "max_entries=3", "--format", "json"]) == 3
    (fault,) = json.loads(capsys.readouterr().out)["faults"]
    assert (fault["rule"], fault["expected"]) == ("limit.max_entries", "at most 3")
    for verb in (["inspect"], ["unpack"], ["verify"]):
        target = ["x"] if verb == ["unpack"] else []
        assert main([*verb, str(lab_package), *target, "--limit", "max_entries=3"]) == 3
    assert "give --limit max_entries=4 or more" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["max_entries", "max_entries=", "max_entries=-1", "=5", "a=1.0"])
def test_a_limit_is_a_name_and_a_number(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Anything else is wrong use."""
    assert main(["check", "--show-limits", "--limit", text]) == 2
    assert "--limit" in capsys.readouterr().err


def test_check_wants_a_package_or_the_limits(capsys: pytest.CaptureFixture[str]) -> None:
    """One of the two, and not both."""
    assert main(["check"]) == 2
    assert main(["check", "a.zip", "--show-limits"]) == 2
    assert "PACKAGE" in capsys.readouterr().err
