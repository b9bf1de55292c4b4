"""Arguments and help."""

from __future__ import annotations

from typing import Any

import pytest

from repropack import __version__
from repropack._cli.commands import COMMANDS
from repropack._cli.parser import build_parser, parse_arguments, wants_json
from repropack._cli.status import MEANINGS
from repropack.errors import UsageError

DIGEST = "sha256:" + "ab" * 32


@pytest.mark.parametrize(
    ("line", "parsed"),
    [
        (
            "build",
            {"project": None, "output": None, "force": False, "directory": False,
             "compress": False, "format": "text"},
        ),
        (
            "build lab -o lab.zip --force --directory --compress --format json",
            {"project": "lab", "output": "lab.zip", "force": True, "directory": True,
             "compress": True, "format": "json"},
        ),
        ("build --force lab", {"project": "lab", "force": True}),
        ("values lab.zip", {"package": "lab.zip", "format": "md", "output": None}),
        ("values lab.zip --format tex --output v.tex", {"format": "tex", "output": "v.tex"}),
        (
            "proofread lab.zip a.md --format json --limit max_entries=5",
            {"package": "lab.zip", "article": "a.md", "format": "json",
             "limit": [("max_entries", 5)]},
        ),
        (
            "check lab.zip",
            {"package": "lab.zip", "fast": False, "expect_digest": None, "format": "text"},
        ),
        (
            f"check --fast lab.zip --expect-digest {DIGEST}",
            {"package": "lab.zip", "fast": True, "expect_digest": DIGEST},
        ),
        (
            "verify lab.zip",
            {"package": "lab.zip", "runs": None, "report": None, "expect_digest": None,
             "format": "text"},
        ),
        (
            f"verify lab.zip --runs a,b --report r.json --expect-digest {DIGEST} --format=json",
            {"runs": ("a", "b"), "report": "r.json", "expect_digest": DIGEST, "format": "json"},
        ),
        ("inspect lab.zip", {"package": "lab.zip", "format": "text"}),
        (
            "unpack lab.zip lab",
            {"package": "lab.zip", "directory": "lab", "entries": [], "force": False},
        ),
        ("unpack lab.zip lab a b", {"entries": ["a", "b"]}),
        ("unpack lab.zip lab --force a b", {"entries": ["a", "b"], "force": True}),
        ("unpack --force lab.zip lab a", {"entries": ["a"], "directory": "lab"}),
        ("schema", {"name": None}),
        ("schema manifest", {"name": "manifest"}),
    ],
)  # fmt: skip
def test_a_command_line_is_understood(line: str, parsed: dict[str, Any]) -> None:
    """Every verb takes the options that the design gives it, in any order."""
    arguments = vars(parse_arguments(line.split()))
    assert arguments["verb"] == line.split(maxsplit=1)[0]
    assert {name: arguments[name] for name in parsed} == parsed


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("", "the following arguments are required: VERB", "see `repropack --help`"),
        ("nothing", "invalid choice: 'nothing'", "see `repropack --help`"),
        ("check", "the following arguments are required: PACKAGE", "see `repropack check --help`"),
        ("check a b", "unrecognized arguments: b", "see `repropack check --help`"),
        ("check a --fas", "unrecognized arguments: --fas", "see `repropack check --help`"),
        ("unpack a b --fast", "unrecognized arguments: --fast", "see `repropack unpack --help`"),
        ("check a --format xml", "invalid choice: 'xml'", "see `repropack check --help`"),
        ("verify a --runs a,,b", "observed an empty one", "see `repropack verify --help`"),
        ("check a --expect-digest sha256:AB", "64 lower-case", "see `repropack check --help`"),
        (f"check a --expect-digest {DIGEST}0", "64 lower-case", "see `repropack check --help`"),
    ],
)
def test_wrong_use_is_an_error_with_a_hint(line: str, message: str, hint: str) -> None:
    """Wrong use raises, names what is wrong, and says where to read on."""
    with pytest.raises(UsageError) as caught:
        parse_arguments(line.split())
    assert message in caught.value.message
    assert caught.value.hint == hint


def options_with_a_value() -> list[tuple[str, str]]:
    """Every verb with each of its options that takes a value, however it is spelled."""
    verbs = next(one for one in build_parser()._actions if one.dest == "verb").choices or {}
    return [
        (verb, f"{spelled}{equals}")
        for verb, parser in dict(verbs).items()
        for option in parser._actions
        for spelled in option.option_strings
        for equals in (("=",) if spelled.startswith("--") else ("", "="))
        if option.nargs is None
    ]


@pytest.mark.parametrize(("verb", "given"), options_with_a_value())
def test_two_dashes_are_no_value(verb: str, given: str) -> None:
    """Some versions of argparse hand on an empty list instead; a path of that name has a ``./``."""
    with pytest.raises(UsageError) as caught:
        parse_arguments([verb, "a", f"{given}--"])
    option = given.removesuffix("=")
    assert caught.value.message == f"argument {option}: expected a value, observed '--'"


def test_behind_two_dashes_everything_is_a_path() -> None:
    """They end the options, and what is no option is taken as it is."""
    assert parse_arguments(["check", "--", "--limit=--"]).package == "--limit=--"
    assert parse_arguments(["report", "a", "--output=./--"]).output == "./--"


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """``--version`` names program and version."""
    with pytest.raises(SystemExit) as caught:
        parse_arguments(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"repropack {__version__}\n"


def test_the_help_names_every_verb_and_every_status() -> None:
    """The first help a person meets holds verbs, statuses and an example."""
    text = build_parser().format_help()
    for verb in COMMANDS:
        assert f"\n    {verb}  " in text
    for status, meaning in MEANINGS.items():
        assert f"\n  {status:<4} {meaning}\n" in text
    assert "repropack verify lab.zip" in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("verb", COMMANDS)
def test_every_verb_explains_itself(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each verb has a description and an example; options look alike in every Python."""
    with pytest.raises(SystemExit):
        parse_arguments([verb, "--help"])
    text = capsys.readouterr().out
    assert f"usage: repropack {verb}" in text
    assert "\nexample" in text
    assert f"\n  repropack {verb}" in text
    assert ", -" in text
    assert " FILE, --" not in text


def test_parser_and_commands_agree() -> None:
    """Every verb that can be parsed can be run, and the other way round."""
    for verb in COMMANDS:
        with pytest.raises((UsageError, SystemExit)):
            parse_arguments([verb, "--no-such-option"])
    with pytest.raises(UsageError, match="|".join(COMMANDS)):
        parse_arguments(["no-such-verb"])


@pytest.mark.parametrize(
    ("line", "json"),
    [
        ("check --format json", True),
        ("check --format=json x y z", True),
        ("check --format text --format json", True),
        ("check --format json --format text", False),
        ("check --format", False),
        ("check json", False),
        ("check -- --format json", False),
    ],
)
def test_json_is_recognised_in_wrong_arguments(line: str, json: bool) -> None:
    """Where parsing failed, programs still get the form that they asked for."""
    assert wants_json(line.split()) is json
