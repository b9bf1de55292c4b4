"""What packed files import is found by reading them, and told where it leads out of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from repropack._run.imports import Imports, Start, Unpacked, module_at, script_of, starts_of


def tree(folder: Path, files: Mapping[str, str]) -> dict[str, Path]:
    """Files of a folder, as what is packed."""
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    return {name: folder / name for name in files}


def read(
    folder: Path, packed: Mapping[str, str], others: Mapping[str, str], *starts: Start
) -> Imports:
    """Imports of the packed files of a project that has others as well."""
    tree(folder, others)
    imports = Imports(folder, tree(folder, packed))
    imports.follow(starts or (Start("lab.py", ("",)),))
    return imports


def patterns(imports: Imports) -> list[str | None]:
    return [one.pattern for one in imports.unpacked]


# ---------------------------------------------------------------- what is missing


@pytest.mark.parametrize(
    ("statement", "others", "expected"),
    [
        ("import helpers", ["helpers.py"], ["helpers.py"]),
        ("import helpers as h", ["helpers.py"], ["helpers.py"]),
        ("from helpers import f", ["helpers.py"], ["helpers.py"]),
        ("from helpers import *", ["helpers.py"], ["helpers.py"]),
        ("import tools", ["tools/__init__.py", "tools/a.py"], ["tools/**/*.py"]),
        ("import tools.a", ["tools/__init__.py", "tools/a.py"], ["tools/**/*.py"]),
        ("from . import helpers", ["helpers.py"], ["helpers.py"]),
        ("from .helpers import f", ["helpers.py"], ["helpers.py"]),
        ("try:\n    import helpers\nexcept ImportError:\n    pass", ["helpers.py"], ["helpers.py"]),
        ("def f():\n    import helpers", ["helpers.py"], ["helpers.py"]),
        ("import fast", ["fast.abi3.so"], ["fast.abi3.so"]),
        ("import helpers, other", ["helpers.py", "other.py"], ["helpers.py", "other.py"]),
        ("import nowhere", ["helpers.py"], []),
        ("import repropack", ["repropack.py"], []),
        ("import helpers\nimport helpers", ["helpers.py"], ["helpers.py"]),
        ("# import helpers", ["helpers.py"], []),
        ("this is no Python", ["helpers.py"], []),
    ],
)
def test_what_the_project_has_and_does_not_pack(tmp_path, statement, others, expected):
    """A module of the project that is imported and not packed is named, with its pattern."""
    imports = read(tmp_path, {"lab.py": statement}, dict.fromkeys(others, ""))
    assert patterns(imports) == expected


def test_where_and_how_it_is_imported(tmp_path):
    """The file, the line and the name are those of the import."""
    packed = {"lab.py": "import json\n\nfrom helpers.deep import f\n"}
    imports = read(tmp_path, packed, {"helpers/__init__.py": "", "helpers/deep.py": ""})
    assert imports.unpacked == [Unpacked("lab.py", 3, "helpers.deep", path="helpers/__init__.py")]


def test_imports_for_type_checkers_alone(tmp_path):
    """What only a type checker imports need not be packed; what the others do, must."""
    text = (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import helpers\nelse:\n    import other\n"
    )
    imports = read(tmp_path, {"lab.py": text}, {"helpers.py": "", "other.py": ""})
    assert patterns(imports) == ["other.py"]


def test_imports_are_followed_through_packed_files(tmp_path):
    """What a packed module imports counts; a packed file that nothing imports does not."""
    packed = {
        "lab.py": "import pkg.model",
        "pkg/__init__.py": "",
        "pkg/model.py": "from . import parts\nfrom .deep.more import x\nfrom ..other import y",
        "pkg/deep/__init__.py": "",
        "pkg/deep/more.py": "from ..gone import z",
        "test_lab.py": "import helpers",
    }
    others = {"pkg/parts.py": "", "pkg/gone.py": "", "helpers.py": ""}
    imports = read(tmp_path, packed, others)
    assert sorted(one.path or "" for one in imports.unpacked) == ["pkg/gone.py", "pkg/parts.py"]
    assert sorted(imports.visited) == [
        *("lab.py", "pkg/__init__.py", "pkg/deep/__init__.py", "pkg/deep/more.py", "pkg/model.py"),
    ]


def test_a_package_whose_beginning_is_not_packed(tmp_path):
    """Without its ``__init__.py`` a package would be imported without what that does."""
    imports = read(tmp_path, {"lab.py": "import pkg.a", "pkg/a.py": ""}, {"pkg/__init__.py": ""})
    assert patterns(imports) == ["pkg/**/*.py"]


@pytest.mark.parametrize(
    ("init", "expected"),
    [
        ("", ["pkg/member.py"]),
        ("from . import member", ["pkg/member.py"]),
        ("def member(): pass", []),
        ("class member: pass", []),
        ("member = 1", []),
        ("for member in (): pass", []),
        ("from json import loads as member", []),
        ("import json as member", []),
    ],
)
def test_names_that_a_package_defines_itself(tmp_path, init, expected):
    """``from pkg import member`` is a module only where the package defines no such name."""
    packed = {"lab.py": "from pkg import member", "pkg/__init__.py": init}
    assert patterns(read(tmp_path, packed, {"pkg/member.py": ""})) == expected


def test_a_script_finds_what_lies_beside_it(tmp_path):
    """Python puts the folder of a script first into its search path."""
    packed = {"scripts/run.py": "import near\nimport far", "scripts/near.py": ""}
    others = {"far.py": "", "scripts/other.py": ""}
    imports = read(tmp_path, packed, others, Start("scripts/run.py", ("scripts",)))
    assert imports.visited == ["scripts/run.py", "scripts/near.py"]
    assert imports.unpacked == []


# ---------------------------------------------------------------- elsewhere


def test_standard_library_and_distributions_are_installed(tmp_path):
    """What is installed needs no packing, nor does what exists nowhere."""
    text = "import json, numpy.linalg, sys, repropack, not_there, os.path\nimport mpl_toolkits"
    assert list(read(tmp_path, {"lab.py": text}, {}).elsewhere()) == []


def test_a_module_of_no_distribution_is_elsewhere(tmp_path, monkeypatch):
    """A file that the interpreter finds and no distribution lists is told with its place."""
    imports = read(tmp_path, {"lab.py": "import os\nimport stray.deep, both"}, {"both.py": ""})
    answer = {"os": ["installed", None], "stray.deep": ["outside", "/somewhere/stray.py"]}
    asked: list[list[str]] = []

    def locate(names):
        asked.append(list(names))
        return answer

    monkeypatch.setattr("repropack._run.imports._locate", locate)
    assert list(imports.elsewhere()) == [
        Unpacked("lab.py", 2, "stray.deep", outside="/somewhere/stray.py")
    ]
    assert asked == [["os", "stray.deep"]]
    assert patterns(imports) == ["both.py"]


def test_a_module_beside_its_importer_that_is_found_nowhere_else(tmp_path):
    """A folder that code adds to the search path itself is thought of, too."""
    packed = {"lab.py": "import inner.mod", "inner/mod.py": "import near"}
    imports = read(tmp_path, packed, {"inner/near.py": ""})
    assert imports.unpacked == []
    assert list(imports.elsewhere()) == [Unpacked("inner/mod.py", 1, "near", path="inner/near.py")]


# ---------------------------------------------------------------- where reading starts


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["python", "train.py", "--seed", "1"], "train.py"),
        (["python3", "-X", "dev", "-u", "-W", "error", "scripts/run.py"], "scripts/run.py"),
        (["python", "./train.py"], "train.py"),
        (["./train.py", "x"], "train.py"),
        (["python", "-m", "train"], None),
        (["python", "-c", "import x.py"], None),
        (["python", "-"], None),
        (["python", "data.txt"], None),
        (["python"], None),
        (["bash", "run.sh"], None),
        ([], None),
    ],
)
def test_script_of_a_command(command, expected):
    """The script is the first word that is no option of the interpreter."""
    assert script_of(command) == expected


PACKED = ("lab.py", "pkg/__init__.py", "pkg/__main__.py", "pkg/run.py", "scripts/run.py", "a.txt")


@pytest.mark.parametrize(
    ("entry_point", "command", "expected"),
    [
        ("lab:Lab", [], [("lab.py", ("",))]),
        ("pkg.run:Lab", [], [("pkg/__init__.py", ("",)), ("pkg/run.py", ("",))]),
        (None, ["python", "scripts/run.py"], [("scripts/run.py", ("scripts",))]),
        (None, ["python", "-m", "pkg"], [("pkg/__init__.py", ("",)), ("pkg/__main__.py", ("",))]),
        (None, ["python", "-m", "pkg.run"], [("pkg/__init__.py", ("",)), ("pkg/run.py", ("",))]),
    ],
)
def test_where_reading_starts(entry_point, command, expected):
    """At the entry point, the script or the module, with the folders that Python searches."""
    found = starts_of(entry_point, command, PACKED)
    assert [(start.file, start.roots) for start in found] == expected


SRC = ("run.py", "src/pkg/__init__.py", "src/pkg/run.py")


@pytest.mark.parametrize(
    ("entry_point", "command", "expected"),
    [
        ("pkg.run:Lab", [], ["src/pkg/__init__.py", "src/pkg/run.py"]),
        (None, ["python", "-m", "pkg.run"], ["src/pkg/__init__.py", "src/pkg/run.py"]),
        ("run:Lab", [], ["run.py"]),
    ],
)
def test_modules_are_looked_for_in_folders_that_the_project_names(entry_point, command, expected):
    """The root of the source comes first; every file there sees both."""
    found = starts_of(entry_point, command, SRC, ("src",))
    assert [start.file for start in found] == expected
    assert {start.roots for start in found} == {("", "src")}


def test_a_script_sees_its_own_folder_and_those_that_the_project_names():
    """The project folder is not among them: Python does not search it for a script."""
    [found] = starts_of(None, ["python", "scripts/run.py"], PACKED, ("src",))
    assert found.roots == ("scripts", "src")


@pytest.mark.parametrize("command", [["bash", "run.sh"], ["python", "gone.py"], ["make"]])
def test_where_the_beginning_is_not_known(command):
    """Every packed Python file may be one that runs."""
    found = starts_of(None, command, PACKED)
    assert [start.file for start in found] == [name for name in PACKED if name.endswith(".py")]
    assert found[-1].roots == ("", "scripts")


def test_module_at(tmp_path):
    """A package comes before a module of the same name, and what is packed is not missing."""
    tree(tmp_path, {"a/__init__.py": "", "a.py": "", "b.py": ""})
    assert module_at(tmp_path, (), "a") == "a/__init__.py"
    assert module_at(tmp_path, ("b.py",), "b") is None
    assert module_at(tmp_path, (), "c") is None
