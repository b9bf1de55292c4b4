"""The notebook as it is put together, and its cells run one by one without a kernel."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import nbformat
import pytest

from repropack._present import notebook_cells, notebook_figures, notebook_findings, notebook_tools
from repropack._present.notebook import MAX_SECTIONS
from repropack.build import build_package
from repropack.unpack import unpack_package
from tests.support.experiment_sources import (
    BEHAVING,
    DATACLASS,
    LYING,
    PYDANTIC,
    configured,
    experiment,
    updating,
    write_project,
)
from tests.support.notebooks import notebook_of, play, playing
from tests.support.thinning import part_of

pytestmark = pytest.mark.slow

RECORD = '[record]\ncheckpoint-every = 2\nkeep = ["weights"]\nprinted = { loss = ".1f" }\n'
COMPARISONS = """\
[[comparisons]]
name = "again"
hash-seed = 3
expect = "identical"
[[comparisons]]
name = "resumed"
resume-at = 2
[[comparisons]]
name = "count-reset"
resume-at = 2
reset = ["count"]
"""


@pytest.fixture(scope="module")
def lab(lab_package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The replay lab's package, unpacked."""
    folder = tmp_path_factory.mktemp("lab") / "package"
    unpack_package(lab_package, folder)
    return folder


def built(folder: Path, source: str, more: str = RECORD + COMPARISONS, steps: int = 4) -> Path:
    """A tiny experiment's package, as a folder."""
    project = write_project(folder / "project", source, more=more, steps=steps)
    build_package(project, folder / "package", directory=True)
    return folder / "package"


def markdown(folder: Path) -> str:
    """Everything that the notebook says in Markdown."""
    cells = notebook_of(folder).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


class TestForm:
    """What the notebook is, before anything runs."""

    def test_it_is_valid_and_made_of_the_arguments_alone(self, lab: Path) -> None:
        """Twice the same; ids are unique and made of place and content; nothing is executed."""
        one, two = notebook_of(lab), notebook_of(lab)
        nbformat.validate(one)
        assert one == two
        ids = [cell.id for cell in one.cells]
        assert len(set(ids)) == len(ids)
        assert all(re.fullmatch(r"[0-9]{2,}-[0-9a-f]{12}", cell_id) for cell_id in ids)
        assert (one.nbformat, one.nbformat_minor) == (4, 5)
        code = [cell for cell in one.cells if cell.cell_type == "code"]
        assert not any(cell.outputs or cell.execution_count for cell in code)

    def test_its_code_needs_numpy_matplotlib_and_the_standard_library(self, lab: Path) -> None:
        """Imports are a short list; pydantic stands inside the one function that may need it."""
        code = "\n".join(cell.source for cell in notebook_of(lab).cells if cell.cell_type == "code")
        imported = re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE)
        assert set(imported) <= {
            "base64", "dataclasses", "hashlib", "importlib", "inspect", "io", "IPython",
            "itertools", "json", "math", "matplotlib", "numpy", "os", "pathlib", "shutil",
            "struct", "subprocess", "sys", "tempfile", "typing",
        }  # fmt: skip
        assert "import repropack" not in code
        assert "from repropack" not in code
        assert "allow_pickle=False" in code
        assert "allow_pickle=True" not in code

    def test_every_cell_fits_a_window_and_compiles(self) -> None:
        """No line of code is longer than 100 characters, and no cell needs a magic."""
        modules = (notebook_cells, notebook_figures, notebook_findings, notebook_tools)
        cells = [text for m in modules for name, text in vars(m).items() if name.isupper()]
        assert len(cells) >= 15
        for source in cells:
            compile(source, "cell", "exec")
            assert max(map(len, source.splitlines())) <= 100

    def test_what_an_author_wrote_is_shown_and_never_read(self, tmp_path: Path) -> None:
        """A title with markup is escaped in Markdown and stands in no code."""
        project = write_project(tmp_path / "project", experiment(), more=RECORD)
        file = project / "repropack.toml"
        hostile = '<script>alert(1)</script> `x` $y$ [z](http://a) "); import os #'
        file.write_text(file.read_text().replace('"A tiny experiment"', f"'''{hostile}'''"))
        build_package(project, tmp_path / "package", directory=True)
        notebook = notebook_of(tmp_path / "package")
        told = markdown(tmp_path / "package")
        assert "<script>" not in told.replace("\\<script", "")
        assert "\\<script\\>" in told
        assert "\\$y\\$" in told
        assert not any("alert" in c.source for c in notebook.cells if c.cell_type == "code")


class TestStory:
    """What it says, fitted to plan and results."""

    def test_the_lab_is_told_from_its_results(self, lab: Path) -> None:
        """Question, answer and numbers are those of the replay lab."""
        told = markdown(lab)
        assert told.startswith("# Identical printed losses, different weights\n")
        assert "Two runs print the same loss at all 100 steps" in told
        assert "their weights differ at every one of them" in told
        assert (
            "At step 1, in `gradient`, while what it is made of is equal: `contributions`" in told
        )
        assert "`reversed-reduction` printed the same `loss` at 100 of 100 steps" in told
        assert "A run that resumes after step 40 continues exactly." in told
        assert "It makes 6 runs,\n480 steps in all." in told
        assert "pip install" not in told

    def test_no_module_of_it_knows_the_lab(self) -> None:
        """Nothing in the sources names the lab or a part of it."""
        folder = Path(notebook_tools.__file__).parent
        for module in folder.glob("notebook*.py"):
            text = module.read_text("utf-8")
            assert not re.search(
                r"replay.?lab|adam|sampler|reversed|reduction", text, re.IGNORECASE
            )

    def test_a_plan_without_comparisons_says_so(self, tmp_path: Path) -> None:
        """No tables, no figures, and no claim about resuming."""
        folder = built(tmp_path, experiment(), "[record]\n")
        told = markdown(folder)
        assert "Does this experiment repeat byte for byte?" in told
        assert "makes no comparison" in told
        assert "That a resumed run continues exactly: no comparison shows it." in told
        played = play(folder)
        assert "All assertions hold: 1 logs" in played.printed
        assert played.figures == []

    def test_identical_comparisons_have_nothing_to_draw_apart(self, tmp_path: Path) -> None:
        """Where every comparison is identical, the section on differences is left out."""
        only = COMPARISONS.partition('[[comparisons]]\nname = "count-reset"')[0]
        folder = built(tmp_path, experiment(), RECORD + only)
        told = markdown(folder)
        assert "How far the runs part" not in told
        assert "Where the runs agree" in told
        assert len(play(folder).figures) == 1

    @pytest.mark.slow
    def test_many_comparisons_are_made_in_one_loop(self, tmp_path: Path) -> None:
        """Beyond a dozen there is one list and one cell, and every comparison is still made."""
        rows = "".join(
            f'[[comparisons]]\nname = "seed-{k}"\nhash-seed = {k}\n'
            for k in range(1, MAX_SECTIONS + 2)
        )
        folder = built(tmp_path, experiment(), RECORD + rows, steps=2)
        told = markdown(folder)
        assert "### `seed-1`" not in told
        assert "- `seed-13`: Run again" in told
        assert f"{MAX_SECTIONS + 2} logs" in play(folder).printed


class TestRunning:
    """The cells find again what the package holds, for every kind of experiment."""

    def test_the_lab_is_found_again(self, lab: Path) -> None:
        """Every log byte for byte, every number of the results, two figures and four tables."""
        played = play(lab)
        assert "All assertions hold: 6 logs with 480 steps" in played.printed
        assert "First divergence from the reference: step 41 · batch." in played.printed
        assert played.printed.count("is the recorded one, byte for byte") == 6
        assert len(played.figures) == 2
        assert len(played.tables) == 4
        summary = next(table for table in played.tables if "first divergence" in table)
        assert "1.1920928955078125e-07 at step 38" in summary
        full = next(table for table in played.tables if "in full, after its last step" in table)
        for loss in ("0.0214672945992594", "0.021467294219161076", "0.023287431488469387"):
            assert loss in full

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "name",
        part_of(["generators", "live-views", "finishes", "evaluates",
                 "odd-numbers", "changes-folder", "factory", "prints"]),
    )  # fmt: skip
    def test_an_experiment_is_found_again(self, tmp_path: Path, name: str) -> None:
        """Nested arrays, early ends, stages that come and go, numbers that JSON lacks."""
        played = play(built(tmp_path, BEHAVING[name]))
        assert "All assertions hold: 4 logs" in played.printed

    @pytest.mark.slow
    @pytest.mark.parametrize("name", part_of(["set-order", "forgets", "leaves-a-trace"]))
    def test_a_lie_that_was_recorded_is_found_again(self, tmp_path: Path, name: str) -> None:
        """What differs in the recording differs in the same way in fresh processes here."""
        played = play(built(tmp_path, LYING[name]))
        assert "All assertions hold: 4 logs" in played.printed

    @pytest.mark.parametrize(
        ("annotation", "declared"), [("Config", DATACLASS), ("Config", PYDANTIC)]
    )
    def test_a_configuration_is_what_its_annotation_declares(
        self, tmp_path: Path, annotation: str, declared: str
    ) -> None:
        """Dataclasses with tuples, and pydantic models."""
        source = configured(annotation, declared)
        change = '[[comparisons]]\nname = "other"\nconfig = { rate = 0.25 }\n'
        played = play(built(tmp_path, source, RECORD + change))
        assert "All assertions hold: 2 logs" in played.printed

    def test_sparse_records_and_other_kinds_of_arrays(self, tmp_path: Path) -> None:
        """Stages at every third step; integers, complex numbers and booleans kept whole."""
        source = updating(
            'trace.record("ints", np.array([2**63, self.count], dtype=np.uint64))',
            'trace.record("complex", np.array([1j * self.count, np.nan]))',
            'trace.record("flags", np.array(self.count > 2))',
        )
        record = RECORD.replace('"weights"', '"weights", "ints", "complex", "flags"')
        sparse = record + "stages-every = 3\nstate-every = 2\n"
        played = play(built(tmp_path, source, sparse + COMPARISONS, steps=7))
        assert "All assertions hold: 4 logs" in played.printed

    def test_nothing_is_written_into_the_package(self, lab: Path) -> None:
        """After the notebook the folder holds the same files: no bytecode, no scratch."""
        before = sorted(path.relative_to(lab) for path in lab.rglob("*"))
        play(lab)
        assert sorted(path.relative_to(lab) for path in lab.rglob("*")) == before

    def test_outside_a_package_it_says_where_to_go(self, lab: Path, tmp_path: Path) -> None:
        """Started in another folder, the first cell that reads ends with one sentence."""
        notebook = notebook_of(lab)
        setup = next(c for c in notebook.cells if c.source.startswith("# The package"))
        with playing(tmp_path) as played, pytest.raises(AssertionError, match="unpacked package"):
            played.run(setup.source)


class TestFailing:
    """The assertions fail where bytes differ, and say where."""

    def altered(self, lab: Path, folder: Path, path: str, old: str, new: str) -> Path:
        """A copy of the lab in which one text of one entry is another."""
        copy = folder / "package"
        shutil.copytree(lab, copy)
        file = copy / path
        text = file.read_text("utf-8")
        assert old in text
        file.write_text(text.replace(old, new, 1), "utf-8")
        return copy

    def test_an_altered_log_fails_and_names_the_step(self, lab: Path, tmp_path: Path) -> None:
        """One digit of one fingerprint of step 57; everything before the assertion still shows."""
        log = "runs/reference/fingerprints.jsonl"
        line = json.loads((lab / log).read_text("utf-8").splitlines()[58])
        assert line["step"] == 57
        fingerprint = dict(line["stages"])["gradient"]
        other = fingerprint[:-1] + ("0" if fingerprint[-1] != "0" else "1")
        copy = self.altered(lab, tmp_path, log, fingerprint, other)
        place = re.escape("line 59 (step 57, gradient)")
        with pytest.raises(AssertionError, match=rf"run reference: .* in {place}$"):
            play(copy, notebook_of(lab))

    def test_altered_results_fail_and_name_the_value(self, lab: Path, tmp_path: Path) -> None:
        """A nicer final loss in results.json is found out."""
        copy = self.altered(
            lab, tmp_path, "results.json", '"run":0.023287431488469387', '"run":0.0213'
        )
        with pytest.raises(AssertionError, match=r"comparison adam-reset: .*says 0.0213"):
            play(copy, notebook_of(lab))

    def test_other_code_fails(self, lab: Path, tmp_path: Path) -> None:
        """A learning rate changed in the plan gives other bytes at step 1."""
        copy = self.altered(
            lab, tmp_path, "plan.json", '"learning_rate":0.04', '"learning_rate":0.05'
        )
        with pytest.raises(AssertionError, match="run reference: the log made here differs"):
            play(copy, notebook_of(lab))

    def test_code_that_raises_ends_with_its_last_line(self, lab: Path, tmp_path: Path) -> None:
        """An experiment that cannot run stops the notebook, with the experiment's own error."""
        source = "source/replay_lab.py"
        copy = self.altered(lab, tmp_path, source, "self._updates += 1", "raise OSError('no disk')")
        with pytest.raises(
            RuntimeError, match=r"run reference ended with status 1: OSError: no disk"
        ):
            play(copy, notebook_of(lab))
