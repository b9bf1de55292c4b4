"""Claims from the outside: built, checked, verified, printed, and held against an article."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import jsonschema
import pytest

from repropack._cli.main import main
from repropack._format.schemas import schema_bytes
from repropack.build import build_package
from repropack.check import check_package
from repropack.errors import IntegrityError, ProjectError, UsageError
from repropack.models.claims import ClaimVerification
from repropack.proofread import proofread_article
from repropack.values import package_values
from repropack.verify import verify_package
from tests.support.experiments import write_project
from tests.support.hostile import take_apart

pytestmark = pytest.mark.slow

ARTICLE = Path(__file__).parents[2] / "examples/replay-lab/article.md"
RECORD = {"checkpoint-every": 2, "keep": ["x"]}
LOSS = """
[[claims]]
id = "loss"
kind = "number"
sentence = "It ends at {value}."
expression = "%s"
rounding = ".2f"
states = "%s"
"""


def output(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str]:
    status = main([str(argument) for argument in arguments])
    return status, capsys.readouterr().out


def document(name: str, text: str) -> Any:
    value = json.loads(text)
    jsonschema.validate(value, json.loads(schema_bytes(name)))
    return value


def test_the_article_of_the_lab_says_what_its_package_says(lab_package: Path) -> None:
    """Every number in it is marked, every claim is used, and nothing is worth a hint."""
    report = proofread_article(lab_package, ARTICLE)
    assert (report.verdict, report.findings, report.hints, report.unused) == ("agrees", (), (), ())
    assert (report.claims, report.marks) == (40, 45)


def test_one_changed_digit_is_found_at_its_place(
    lab_package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As text and as a document of its schema; status 1."""
    article = tmp_path / "article.md"
    text = ARTICLE.read_text("utf-8")
    article.write_text(text.replace("0.0214672942<", "0.0214672943<"), "utf-8")
    status, shown = output(capsys, "proofread", lab_package, article)
    assert status == 1
    told = ": reversed-loss: expected 0.0214672942, observed 0.0214672943"
    assert told in " ".join(shown.split())
    status, told = output(capsys, "proofread", lab_package, article, "--format", "json")
    found = document("proofread-report", told)
    assert (status, found["verdict"], len(found["findings"])) == (1, "disagrees", 1)
    place = found["findings"][0]["place"]
    line = article.read_text("utf-8").splitlines()[place["line"] - 1]
    assert line[place["column"] - 1 :].startswith("0.0214672943")


def test_values_in_every_format(
    lab_package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same bytes twice, to a file or not; what is printed in Markdown agrees with itself."""
    for form, part in (
        (
            "tex",
            "\\newcommand{\\exactReferenceLoss}{0.0214672945992594}% reference-loss, in full\n",
        ),
        ("md", "| `reference-loss` | <!-- claim: reference-loss -->0.0214672946<!-- /claim --> |"),
        ("csv", "\r\nreference-loss,number,true,0.0214672946,0.0214672945992594,0.0214672946,"),
    ):
        status, shown = output(capsys, "values", lab_package, "--format", form)
        assert (status, shown.count("reference-loss") > 0) == (0, True)
        file = tmp_path / f"values.{form}"
        made = output(capsys, "values", lab_package, "--format", form, "--output", file)
        assert made == (0, "")
        assert part in file.read_bytes().decode()
        assert file.read_bytes().decode().replace("\r\n", "\n") == shown.replace("\r\n", "\n")
    told = document("values", output(capsys, "values", lab_package, "--format", "json")[1])
    (row,) = [row for row in told["values"] if row["id"] == "updates"]
    assert (row["value"], row["text"], row["macro"]) == (100, "100", "claimUpdates")
    assert proofread_article(lab_package, tmp_path / "values.md").verdict == "agrees"


def by_id(claims: tuple[ClaimVerification, ...]) -> dict[str, ClaimVerification]:
    return {claim.id: claim for claim in claims}


def test_verify_evaluates_what_it_computed(
    lab_package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of what it did not execute it says so; a value of the plan needs no run."""
    report = verify_package(lab_package, runs=["reference", "reversed-reduction"])
    claims = by_id(report.claims)
    assert (report.verdict, len(claims)) == ("identical", 40)
    largest = claims["reversed-largest"]
    assert (largest.held, largest.held_here, largest.value_here) == (
        True, True, 1.1920928955078125e-07,
    )  # fmt: skip
    assert claims["seed"].held_here is True
    assert (claims["adam-loss"].held_here, claims["adam-loss"].reason) == (
        None, "run 'adam-reset' was not executed",
    )  # fmt: skip
    status, shown = output(capsys, "verify", lab_package, "--runs", "full-checkpoint")
    assert status == 0
    assert "\n7 of 40 claims hold on what was computed here; 33 were not verified.\n" in shown
    assert "resume-is-exact               holds           identical" in shown
    assert "\n- claim restart-repeats: run 'independent-restart' was not executed\n" in shown


def test_bytes_that_differ_and_claims_are_two_things(lab_package: Path, tmp_path: Path) -> None:
    """A false record that agrees with itself: the verdict is about bytes, a claim about itself."""
    forgery = take_apart(lab_package)
    for run in ("reference", "independent-restart"):
        log = forgery.log(run)
        log.step(1)["metrics"]["loss"] = 2.5
        log.step(1)["printed"]["loss"] = "2.5000"
        forgery.put_log(run, log)
    forgery.rechain_all()
    forgery.recompute_results()
    forged = forgery.write_zip(tmp_path / "forged.zip")
    report = verify_package(forged, runs=["reference"])
    claims = by_id(report.claims)
    assert (report.verdict, report.claims_failed) == (
        "differs", ("first-loss", "reversed-prints-equal"),
    )  # fmt: skip
    first, last = claims["first-loss"], claims["reference-loss"]
    assert (first.held, first.text, first.held_here, first.text_here) == (
        False, "2.5000", True, "2.9509",
    )  # fmt: skip
    assert first.sentence_here == "After its first step the reference has the loss 2.9509."
    assert (last.held, last.held_here) == (True, True)


def test_a_damaged_package_gives_no_values(lab_package: Path, tmp_path: Path) -> None:
    """Neither printed nor held against anything."""
    forgery = take_apart(lab_package)
    forgery.edit("results.json", lambda results: results["claims"][0].update(text="differs"))
    forged = forgery.write_zip(tmp_path / "forged.zip")
    with pytest.raises(IntegrityError, match="claim 'restart-repeats': text"):
        package_values(forged)
    with pytest.raises(IntegrityError):
        proofread_article(forged, ARTICLE)
    with pytest.raises(UsageError):
        package_values(tmp_path / "none.zip")


def test_a_claim_that_does_not_hold_is_a_failed_expectation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The package is written all the same; status 1, told by each verb, and by proofread too."""
    project = write_project(tmp_path / "p", record=RECORD)
    with (project / "repropack.toml").open("a") as stream:
        stream.write(LOSS % ("results.reference.final_metrics[loss]", "1.00"))
    package = tmp_path / "p.zip"
    status, shown = output(capsys, "build", project, "-o", package, "--unexecuted-notebook")
    assert status == 1
    assert "\n1 of 1 claim does not hold: loss.\n" in shown
    assert "\nclaim loss: expected 1.00, observed 173.00 (172.995" in shown
    status, shown = output(capsys, "check", package)
    assert status == 0
    assert "The package itself says that the claim loss does not hold" in shown
    assert main(["values", str(package), "--format", "tex", "-o", str(tmp_path / "v.tex")]) == 0
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "repropack: warning: 1 of 1 claim does not hold: loss\n")
    assert "DOES NOT HOLD" in (tmp_path / "v.tex").read_text()
    status, shown = output(capsys, "inspect", package)
    assert (status, "loss: DOES NOT HOLD: stated 1.00, found 173.00 (172.995" in shown) == (0, True)
    with ZipFile(package) as archive:
        assert "stated 1.00, found 173.00" in archive.read("README.md").decode()
    status, shown = output(capsys, "sign", package)
    assert (status, "\n1 of 1 claim does not hold: loss.\n" in shown) == (0, True)
    draft = tmp_path / "codecheck.yml"
    assert output(capsys, "export", package, "--to", "codecheck", "-o", draft)[0] == 0
    assert 'repropack_claims:\n  failed:\n    - "loss"\n' in draft.read_text()
    article = tmp_path / "a.md"
    article.write_text("The loss is 173.00.")
    status, shown = output(capsys, "proofread", package, article)
    assert (status, shown.startswith("nothing marked  ")) == (1, True)
    article.write_text("<!-- claim: loss -->173.00<!-- /claim -->")
    assert proofread_article(package, article).findings[0].kind == "does-not-hold"
    digest = check_package(package).package_digest
    status, shown = output(capsys, "verify", package, "--no-sandbox", "--trust", str(digest))
    assert status == 1
    assert shown.startswith("identical  ")


def test_a_claim_without_a_value_stops_before_the_package_and_loses_no_run(tmp_path: Path) -> None:
    """Corrected, the build goes on with --resume, for claims are no part of a run."""
    project = write_project(tmp_path / "p", record=RECORD)
    file, package = project / "repropack.toml", tmp_path / "p.zip"
    plain = file.read_text()
    file.write_text(plain + LOSS % ("results.reference.final_metrics[los]", "173.00"))
    with pytest.raises(ProjectError) as caught:
        build_package(project, package, unexecuted_notebook=True)
    (line,) = caught.value.lines
    assert line.startswith("claims[0] ('loss').expression: character 32: expected a name of it, ")
    assert line.endswith("observed 'los'; did you mean 'loss'?")
    assert "--resume continues it" in str(caught.value.hint)
    file.write_text(plain + LOSS % ("results.reference.final_metrics[loss]", "173.00"))
    made: list[int] = []
    report = build_package(
        project, package, unexecuted_notebook=True, left_over="resume",
        on_step=lambda run, step, last: made.append(step),
    )  # fmt: skip
    assert (report.expectations_held, made) == (True, [])
