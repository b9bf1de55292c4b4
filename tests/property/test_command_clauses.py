"""Clauses 6.12, 8.4 and 8.6 to 8.7.3 of docs/format.md: commands, their outputs, inputs elsewhere.

As in ``test_format_clauses`` one side is the standard library and the text alone.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repropack._format.placeholders import fill_placeholders, unknown_placeholders
from repropack._read.consistency import check_plan
from repropack._read.project_sources import matches_pattern
from repropack.check import check_package
from repropack.models.plan import ComparisonPlan, ExperimentPlan, Plan, RecordPlan
from tests.hostile.corpus.bases import Base, build_command
from tests.support.hostile import Forgery

Json = Any
OUTPUTS = "runs/reference/outputs/"
CONFIG: dict[str, Json] = {"a": 0.5, "b": "x y", "c d": [1, {"e": None}], "": True}

# ---------------------------------------------------------------- the text, as a program


def digest(data: bytes) -> str:
    """3.1."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def content(kind: str, data: bytes) -> str:
    """11.3."""
    return digest(f"repropack.content.v1\n{kind}\n".encode() + data)


def listed(value: Json) -> bytes:
    """2.1, for lists of texts."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def escaped(name: str, plain: str) -> str:
    """11.1: letters and digits of ASCII, ``-``, ``.``, ``_`` and ``plain`` stand as they are."""
    kept = f"{plain}-._"
    return "".join(
        chr(one) if one < 128 and (chr(one).isalnum() or chr(one) in kept) else f"%{one:02X}"
        for one in name.encode()
    )


def match(path: list[str], pattern: list[str]) -> bool:
    """8.7.3, component by component, trying everything."""
    if not pattern:
        return not path
    first, rest = pattern[0], pattern[1:]
    if first != "**":
        return bool(path) and match_component(path[0], first) and match(path[1:], rest)
    if not rest:  # any file below
        return bool(path) and not any(one.startswith(".") for one in path)
    further = bool(path) and not path[0].startswith(".") and match(path[1:], pattern)
    return match(path, rest) or further


def match_component(name: str, pattern: str) -> bool:
    """8.7.3, letter by letter."""
    if name.startswith(".") and not pattern.startswith("."):
        return False
    return match_letters(name, pattern)


def match_letters(name: str, pattern: str) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(match_letters(name[k:], pattern[1:]) for k in range(len(name) + 1))
    if not name:
        return False
    if pattern[0] == "[":
        end = pattern.index("]")
        return name[0] in pattern[1:end] and match_letters(name[1:], pattern[end + 1 :])
    return pattern[0] in {"?", name[0]} and match_letters(name[1:], pattern[1:])


def fill(word: str, seed: int, config: dict[str, Json]) -> str | None:
    """8.7.1, letter by letter; nothing where a word has another name or a brace alone."""
    filled, place = "", 0
    while place < len(word):
        letter = word[place]
        if word[place : place + 2] in {"{{", "}}"}:
            filled, place = filled + letter, place + 2
        elif letter == "{":
            end = word.find("}", place)
            name = word[place + 1 : end] if end >= 0 else None
            if name == "seed":
                filled += str(seed)
            elif name is not None and name.startswith("config.") and name[7:] in config:
                value = config[name[7:]]
                filled += value if isinstance(value, str) else json.dumps(value, sort_keys=True)
            else:
                return None
            place = end + 1
        elif letter == "}":
            return None
        else:
            filled, place = filled + letter, place + 1
    return filled


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Base:
    return build_command(tmp_path_factory.mktemp("command"))


@pytest.fixture
def forgery(command: Base) -> Forgery:
    return command.forgery()


# ---------------------------------------------------------------- 6 The log


class TestClause612:
    """The log of a command that is no loop has one step line. Its stages are the outputs."""

    def test_the_line_follows_from_the_outputs(self, forgery: Forgery) -> None:
        """Files sorted by path, arrays of an npz before it, each by its content."""
        rows = np.array([1.5, 2.25])
        arrays = {"mean": np.array(3.75), "rows": rows}
        prints = {
            name: digest(
                f"repropack.array.v1\n<f8\n{','.join(map(str, array.shape))}\n".encode()
                + array.tobytes()
            )
            for name, array in arrays.items()
        }
        text = forgery.files[f"{OUTPUTS}tables/rows.csv"].decode()
        cells = listed([line.split(",") for line in text.splitlines()])
        assert forgery.log().steps[0]["stages"] == [
            ["output:fit.json", content("json", b'{"n":2,"scale":2.0}\n')],
            *(["output:fit.npz:" + name, prints[name]] for name in ("mean", "rows")),
            ["output:fit.npz", content("npz", listed([[name, prints[name]] for name in prints]))],
            ["output:tables/rows.csv", content("csv", cells)],
        ]

    def test_there_is_nothing_else(self, forgery: Forgery) -> None:
        """One step, no state, no numbers, and each stage is made of nothing."""
        log = forgery.log()
        assert (len(log.steps), log.header["first_step"]) == (1, 1)
        assert (log.start["state"], log.header["constants"]) == ([], [])
        names = [name for name, _ in log.steps[0]["stages"]]
        assert log.header["stages"] == [[name, []] for name in names]
        assert set(log.steps[0]) == {"chain", "metrics", "printed", "stages", "state", "step"}
        assert (log.steps[0]["metrics"], log.steps[0]["state"]) == ({}, [])

    def test_outputs_are_stored_where_the_run_is_not_the_reference_again(
        self, forgery: Forgery
    ) -> None:
        """Of the reference and of a run that differs."""
        runs = {path.split("/")[1] for path in forgery.files if "/outputs/" in path}
        assert runs == {"reference", "larger"}

    @given(st.text("ab é%:/#\n", min_size=1, max_size=12).filter(lambda t: "//" not in f"/{t}/"))
    def test_names_of_stages(self, path: str) -> None:
        """11.1: the path as a stage, so that 6.12's names are those of chapter 11."""
        import io

        from repropack._format.contents import contents_of

        ((name, print_),) = contents_of(path, io.BytesIO(b"x"), 1).stages
        assert name == f"output:{escaped(path, '/')}"
        assert print_ == content("bytes", b"x")


# ---------------------------------------------------------------- 8 Documents


class TestClause84:
    """An input may be *held by reference*: its content is not in the package."""

    def test_its_row(self, command: Base, forgery: Forgery) -> None:
        """Size and digest are those of the file, and the place is in words."""
        data = b"too large to pack\n"
        row = forgery.rows["inputs/data/big.bin"]
        assert (row["size"], row["digest"]) == (len(data), digest(data))
        assert (row["included"], row["location"]) == (False, "ask the institute")
        assert data not in command.package.read_bytes()

    def test_the_evidence_digest_has_it(self, command: Base, forgery: Forgery) -> None:
        """3.4: the rows whole, so that another file elsewhere is other evidence."""
        manifest = json.loads(forgery.seal())
        rows = [
            row
            for row in manifest["entries"]
            if row["path"] == "plan.json" or row["path"].startswith(("source/", "inputs/", "runs/"))
        ]
        assert "inputs/data/big.bin" in [row["path"] for row in rows]
        assert not any(row["path"].startswith("after/") for row in rows)
        text = json.dumps(rows, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        expected = digest(b"repropack.evidence.v1\n" + text.encode() + b"\n")
        assert check_package(command.package).evidence_digest == expected


class TestClause86:
    """`entry_point` ... `command` ... Exactly one of the two is not `null`."""

    @given(
        st.sampled_from([None, "a:b"]),
        st.sampled_from([None, ("sh",), ("sh", "{seed}"), ("sh", "{sed}")]),
        st.booleans(),
        st.sampled_from([(), ("out",)]),
        st.sampled_from([1, 2]),
        st.sampled_from([(), ("w",)]),
        st.sampled_from([None, 0]),
    )
    def test_a_plan_has_one_of_three_forms(
        self,
        entry_point: str | None,
        words: tuple[str, ...] | None,
        loop: bool,
        outputs: tuple[str, ...],
        steps: int,
        keep: tuple[str, ...],
        resume_at: int | None,
    ) -> None:
        """Whatever else is drawn, the rule is broken exactly where the clauses say so."""
        plan = Plan(
            experiment=ExperimentPlan(
                entry_point=entry_point, command=words, loop=loop, outputs=outputs, seed=1,
                steps=steps,
            ),
            record=RecordPlan(keep=keep),
            comparisons=(ComparisonPlan(name="a", resume_at=resume_at),),
        )  # fmt: skip
        found: list[str] = []
        check_plan(plan, lambda rule, *rest: found.append(rule))
        whole = words is not None and not loop
        expected = (
            (entry_point is None) == (words is None)
            or (words is None and (loop or outputs != ()))
            or "{sed}" in (words or ())
            or (whole and (steps != 1 or not outputs))
            or (whole and (resume_at is not None or keep != ()))
        )
        assert ("plan.form" in found) == expected


class TestClause871:
    """In each word `{seed}` stands for the seed and `{config.<name>}` for a value."""

    @given(
        st.lists(
            st.sampled_from(
                ["{", "}", "{{", "}}", "{seed}", "{config.a}", "{config.b}", "{config.c d}",
                 "{config.}", "{config.z}", "{seed!r}", "{}", "seed", "config.a", "x", " "]
            ),
            max_size=6,
        ).map("".join)
    )  # fmt: skip
    def test_words_are_filled_as_the_text_says(self, word: str) -> None:
        """And a word with anything else in braces is refused."""
        expected = fill(word, 7, CONFIG)
        assert bool(list(unknown_placeholders(word, CONFIG))) == (expected is None)
        if expected is not None:
            observed = fill_placeholders(word, 7, CONFIG)
            assert observed.replace(" ", "") == expected.replace(" ", "")

    def test_a_command_gets_what_its_package_has(self, forgery: Forgery) -> None:
        """The comparison's own value, which its outputs show."""
        plan = forgery.read("plan.json")
        assert plan["experiment"]["command"] == ["python", "fit.py", "{config.scale}"]
        assert plan["experiment"]["steps"] == 1
        for run, scale in (("reference", 2.0), ("larger", 3.0)):
            stored = json.loads(forgery.files[f"runs/{run}/outputs/fit.json"])
            assert stored == {"n": 2, "scale": scale}


class TestClause872:
    """Files that match its `outputs` are stored below `after/`. They follow from the runs."""

    def test_what_is_stored(self, forgery: Forgery) -> None:
        """The output of the one command, which counted the rows of the reference."""
        stored = {path: data for path, data in forgery.files.items() if path.startswith("after/")}
        assert stored == {"after/summary.txt": b"2 rows\n"}
        assert forgery.read("plan.json")["after"] == [
            {
                "command": ["python", "summary.py"],
                "environment": {},
                "outputs": ["summary.txt"],
                "timeout_seconds": None,
            }
        ]

    def test_a_checker_compares_digests_alone(self, forgery: Forgery, tmp_path: Path) -> None:
        """Other bytes under the right digest are for a verifier to find."""
        forgery.files["after/summary.txt"] = b"3 rows\n"
        assert check_package(forgery.write_zip(tmp_path / "x.zip")).faults == ()


COMPONENTS = st.text("ab.", min_size=1, max_size=3).filter(lambda t: t not in {".", ".."})
PATHS = st.lists(COMPONENTS, min_size=1, max_size=5)
PATTERNS = st.lists(
    st.one_of(
        st.just("**"),
        st.lists(st.sampled_from(["a", "b", ".", "*", "?", "[ab]", "[.]"]), min_size=1, max_size=3)
        .map("".join)
        .filter(lambda t: t not in {".", "..", "**", "***"}),
    ),
    min_size=1,
    max_size=5,
)


class TestClause873:
    """A pattern is a relative path. `*` and `?` stand for characters within one component."""

    @given(PATHS, PATTERNS)
    def test_what_matches(self, path: list[str], pattern: list[str]) -> None:
        """The same by a matcher that tries everything."""
        expected = match(path, pattern)
        assert matches_pattern("/".join(path), "/".join(pattern)) == expected

    @pytest.mark.parametrize(
        ("pattern", "matching"),
        [
            ("**", {"a", "a/b", "a/b/c"}),
            ("*", {"a"}),
            ("a/**", {"a/b", "a/b/c"}),
            ("**/b", {"a/b"}),
            ("**/c", {"a/b/c"}),
            ("a/**/c", {"a/b/c"}),
            (".h/**", {".h/x"}),
            (".*/x", {".h/x"}),
            ("**/x", set()),
            ("a/.*", {"a/.x"}),
            ("A", set()),
        ],
    )
    def test_examples(self, pattern: str, matching: set[str]) -> None:
        """Literally, also of names that begin with a dot."""
        paths = {"a", "a/b", "a/b/c", ".h/x", "a/.x"}
        assert {path for path in paths if matches_pattern(path, pattern)} == matching

    @pytest.mark.hostile
    def test_many_ways_to_match_cost_nothing(self) -> None:
        """A hundred `**` and no match: it would not end if each way were tried."""
        path = "/".join(["a"] * 31)
        assert not matches_pattern(path, "/".join(["**", "a"] * 99 + ["b"]))
        assert matches_pattern(path, "/".join(["**", "a"] * 31))
        assert not matches_pattern(path, "/".join(["**", "a"] * 32))
