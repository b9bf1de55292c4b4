"""Rules about README, licence, authors, lock, size and plan."""

from __future__ import annotations

from typing import Any

import pytest

from repropack._lint.examine import examine
from repropack._lint.person import NOBODY, Person, observe_person
from repropack._lint.subject import LintedFile
from repropack.models.authored import Author, Contact
from repropack.models.plan import ComparisonPlan, ExperimentPlan, Plan, RecordPlan
from tests.support.lint import CLEAN, file, findings, found, subject

COMMAND: dict[str, Any] = {"entry_point": None, "command": ("python", "a.py"), "steps": 1}


def test_an_honest_project_has_no_findings() -> None:
    """What the other tests leave out is what they are about."""
    assert findings(subject({"a.py": "x = 1\n"})) == ()


def test_a_project_without_a_readme() -> None:
    """Then nothing else is asked of it."""
    assert found(subject(readme=None)) == [("readme-missing", "repropack.toml", None)]


@pytest.mark.parametrize(
    "text",
    ["5 minutes", "about an hour", "It takes a few seconds.", "under a second", "~30 s", "2h",
     "It runs overnight.", "half a day", "90-min"],
)  # fmt: skip
def test_a_readme_that_says_how_long(text: str) -> None:
    """In numbers or in words."""
    assert found(subject(readme=f"Expected: 0.1. {text}")) == []


@pytest.mark.parametrize(
    "text", ["", "A second run.", "The day after.", "Version 5.", "the minute"]
)
def test_a_readme_that_does_not_say_how_long(text: str) -> None:
    """Words that are no duration."""
    assert found(subject(readme=f"Expected: 0.1. {text}")) == [("readme-time", "README.md", None)]


def test_a_readme_that_does_not_say_what_is_expected() -> None:
    """The description counts as well."""
    assert found(subject(readme="Takes 5 minutes.")) == [("readme-expected", "README.md", None)]
    told = {"description": "The loss should fall below 0.1."}
    assert found(subject(readme="Takes 5 minutes.", metadata=told)) == []


@pytest.mark.parametrize(
    ("outputs", "readme", "silent"),
    [
        (("results/loss.csv",), "loss.csv holds the loss", ""),
        (("results/loss.csv",), "The loss is plotted.", ""),
        (("figures/*.png",), "All figures are drawn.", ""),
        (("**/*.png",), "Each .png shows a run.", ""),
        (("weights.npz", "a.csv"), "Other things.", "'weights.npz', 'a.csv'"),
        (("figures/*.png", "loss.csv"), "loss.csv holds the loss", "'figures/*.png'"),
    ],
)
def test_outputs_that_the_readme_does_not_mention(
    outputs: tuple[str, ...], readme: str, silent: str
) -> None:
    """By name, stem, folder or kind."""
    text = f"5 minutes. It should. {readme}"
    rows = findings(subject(readme=text, experiment={**COMMAND, "outputs": outputs}))
    problems = [row.problem for row in rows if row.rule == "outputs-not-mentioned"]
    assert problems == ([f"does not mention {silent}"] if silent else [])


@pytest.mark.parametrize(
    ("expression", "known"),
    [("MIT", True), ("CC-BY-4.0", True), ("Apache-2.0 OR MIT", True), ("LicenseRef-Mine", True),
     ("GPL-2.0-only WITH Classpath-exception-2.0", True),
     ("CC BY 4.0", False), ("Mine", False), ("BSD", False)],
)  # fmt: skip
def test_a_licence_is_an_spdx_expression(expression: str, known: bool) -> None:
    """Of the whole list of SPDX."""
    expected = [] if known else [("license-unknown", "repropack.toml", None)]
    assert found(subject(metadata={"license": expression})) == expected


def test_licence_lock_and_authors() -> None:
    """What archives ask for."""
    identifier = "0000-0002-1825-0097"
    authors = (
        Author(name="A", family_names="A"),
        Author(name="B", orcid=identifier),
        Author(name="C", given_names="C"),
        Author(name="D", kind="organization"),
    )
    one = subject(license_text=None, locked=False, metadata={"authors": authors})
    assert [(row.rule, row.severity, row.problem) for row in findings(one)] == [
        ("license-missing", "warning", "expected the text of 'CC0-1.0' in a file, observed none"),
        ("authors-names", "warning", "expected the parts of the name B"),
        ("not-locked", "warning", "expected a lock of the distributions, observed none"),
        ("authors-orcid", "note", "no ORCID iD of A, C"),
    ]


def test_what_archives_require_and_ask_for() -> None:
    """Each key that is missing is named, what is required as a warning."""
    nothing = {"date": None, "description": None, "type": None, "keywords": (), "contact": None}
    nothing |= {"publisher": None, "repository": None, "doi": None, "article": None}
    assert [
        (row.rule, row.severity, row.problem) for row in findings(subject(metadata=nothing))
    ] == [
        ("archive-required", "warning", "no date, description, type"),
        (
            "archive-wanted",
            "note",
            "no keywords, contact, publisher, repository, doi, article",
        ),
    ]
    assert found(subject(metadata={"type": None})) == [("archive-required", "repropack.toml", None)]
    assert found(subject(metadata={"doi": None})) == [("archive-wanted", "repropack.toml", None)]


def plan(**fields: Any) -> Plan:
    experiment = ExperimentPlan(entry_point="a:A", seed=1, steps=9)
    usual: dict[str, Any] = {
        "experiment": experiment,
        "record": RecordPlan(checkpoint_every=3),
        "comparisons": (CLEAN,),
    }
    return Plan(**(usual | fields))


def test_what_a_plan_does_not_compare() -> None:
    """Notes, none of which stops anything."""
    restart = ComparisonPlan(name="restart", hash_seed=1)
    for given, rule in (
        ({"comparisons": ()}, "no-comparisons"),
        ({"comparisons": (restart,)}, "no-resume-tested"),
        ({"record": RecordPlan()}, "checkpoint-every-missing"),
    ):
        rows = findings(subject(plan=plan(**given)))
        assert [(row.rule, row.severity) for row in rows] == [(rule, "note")]


def test_a_command_has_nothing_to_resume() -> None:
    """It is one step with an empty state."""
    experiment = ExperimentPlan(command=("python", "a.py"), outputs=("loss.csv",), seed=0, steps=1)
    restart = ComparisonPlan(name="restart", hash_seed=1)
    one = plan(experiment=experiment, record=RecordPlan(), comparisons=(restart,))
    assert found(subject(plan=one)) == []


def test_a_large_file() -> None:
    """Its size alone is looked at for that."""
    usual = file("big.bin", b"", "other")
    big = LintedFile("big.bin", "other", 100_000_001, usual.open, "big.bin")
    fits = LintedFile("big.bin", "other", 100_000_000, usual.open, "big.bin")
    assert found(subject({}, big)) == [("large-file", "big.bin", None)]
    assert found(subject({}, fits)) == []


def test_what_the_author_allows_is_marked() -> None:
    """It is still told."""
    one = subject({"a.py": "p = '/mnt/x/y'"}, readme=None,
                  metadata={"allowed_findings": ("absolute-path",)})  # fmt: skip
    assert [(row.rule, row.allowed) for row in examine(one, NOBODY)] == [
        ("readme-missing", False),
        ("absolute-path", True),
    ]


@pytest.mark.parametrize(
    ("folder", "user", "host", "expected"),
    [
        ("/home/mgarcia", "mgarcia", "vesuvius.lan", ("/home/mgarcia", "mgarcia", "vesuvius")),
        ("/root", "root", "localhost", (None, None, None)),
        ("/home/user", "user", "ubuntu", (None, None, None)),
        ("/home/runner2", "ada", "pc-1", ("/home/runner2", None, None)),
    ],
)
def test_names_that_are_common_are_not_looked_for(
    folder: str,
    user: str,
    host: str,
    expected: tuple[str | None, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Accounts of images, and names too short to be told from words."""
    monkeypatch.setenv("HOME", folder)
    monkeypatch.setattr("getpass.getuser", lambda: user)
    monkeypatch.setattr("socket.gethostname", lambda: host)
    person = observe_person()
    assert (person.home, person.user, person.host) == expected


def test_names_that_the_author_says_are_no_findings() -> None:
    """An address of mail in the crate holds the account's name, and its author gave it."""
    person = Person(user="jsmith")
    said = {"contact": Contact(name="Jane Smith", email="jsmith@example.org")}
    packed = file("ro-crate-metadata.json", '{"email":"jsmith@example.org"}\n', "other")
    assert found(subject({}, packed, metadata=said), person) == []
    assert [row[0] for row in found(subject({}, packed), person)] == ["personal-name"]
