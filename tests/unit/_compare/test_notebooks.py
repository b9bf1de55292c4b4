"""Two notebooks held against each other."""

from __future__ import annotations

import base64
import copy
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from repropack._compare.notebooks import compare_notebooks, is_executed
from repropack.errors import LimitExceededError, PackageFormatError


def code(source: str, *outputs: Any, count: int | None = 1) -> Any:
    return new_code_cell(source, outputs=list(outputs), execution_count=count, id="c")


def stream(text: str) -> Any:
    return new_output("stream", name="stdout", text=text)


def image(content: bytes, text: str = "a figure") -> Any:
    data = {"image/png": base64.b64encode(content).decode(), "text/plain": text}
    return new_output("display_data", data=data)


def stored(*cells: Any) -> bytes:
    made = copy.deepcopy(list(cells))
    for place, cell in enumerate(made):
        cell.id = f"{cell.id}-{place}"
    text: str = nbformat.writes(new_notebook(cells=made))
    return text.encode()


EXECUTED = (
    new_markdown_cell("# Title", id="m"),
    code("print(1)\nprint(2)", stream("1\n2\n")),
    code("draw()", image(b"pixels")),
)


def test_equal_notebooks_have_no_line() -> None:
    """The same cells and outputs, whether texts are lists of lines or whole."""
    assert compare_notebooks(stored(*EXECUTED), stored(*EXECUTED)) == ()
    listed = stored(*EXECUTED)
    whole = listed.replace(b'[\n      "1\\n",\n      "2\\n"\n     ]', b'"1\\n2\\n"')
    assert whole != listed
    assert compare_notebooks(listed, whole) == ()


def test_ids_and_counts_are_not_compared() -> None:
    """A cell's id and number are no content of its own."""
    other = (*EXECUTED[:2], code("draw()", image(b"pixels"), count=7))
    other[2].id = "another"
    assert compare_notebooks(stored(*EXECUTED), stored(*other)) == ()


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        (
            code("print(1)\nprint(3)", stream("1\n2\n")),
            "cell 2 (code): source differs: line 2: expected 'print(2)', observed 'print(3)'",
        ),
        (
            code("print(1)\nprint(2)", stream("1\n")),
            "cell 2 (code): output 'text' differs: line 2: expected '2', observed ''",
        ),
        (code("print(1)\nprint(2)"), "cell 2 (code): expected 1 outputs, observed 0"),
        (
            new_markdown_cell("print(1)\nprint(2)"),
            "cell 2 (code): expected this kind, observed 'markdown'",
        ),
    ],
)
def test_a_cell_that_differs_has_one_line(cell: Any, line: str) -> None:
    """Kind, source, number of outputs, text of an output, each with the first place."""
    assert compare_notebooks(stored(*EXECUTED), stored(EXECUTED[0], cell, EXECUTED[2])) == (line,)


def test_an_image_has_a_milder_line() -> None:
    """Pixels are compared by bytes, and the line says that they may look alike."""
    other = (*EXECUTED[:2], code("draw()", image(b"other pixels")))
    (line,) = compare_notebooks(stored(*EXECUTED), stored(*other))
    assert line.startswith("cell 3 (code): image differs in its bytes, which another version of")
    assert line.count("sha256:") == 2


def test_one_image_in_two_spellings_is_equal() -> None:
    """Base64 in lines is the same image."""
    broken = copy.deepcopy(EXECUTED[2])
    broken.outputs[0].data["image/png"] = "cGl4\nZWxz\n"
    other = stored(*EXECUTED[:2], broken)
    assert compare_notebooks(stored(*EXECUTED), other) == ()


def test_the_text_beside_an_image_counts() -> None:
    """Only the picture itself is treated mildly."""
    other = stored(*EXECUTED[:2], code("draw()", image(b"pixels", "another figure")))
    (line,) = compare_notebooks(stored(*EXECUTED), other)
    assert "output 'text/plain' differs" in line


def test_missing_cells_are_counted() -> None:
    """The cells that both have are still compared."""
    lines = compare_notebooks(stored(*EXECUTED), stored(*EXECUTED[:1]))
    assert lines == ("expected 3 cells, observed 1",)


def test_of_a_notebook_that_was_not_executed_sources_alone_are_compared() -> None:
    """Outputs that a package does not hold cannot differ from anything."""
    bare = stored(EXECUTED[0], *(code(cell.source, count=None) for cell in EXECUTED[1:]))
    assert not is_executed(bare)
    assert is_executed(stored(*EXECUTED))
    assert compare_notebooks(bare, stored(*EXECUTED)) == ()


def test_long_and_strange_lines_are_cut_and_escaped() -> None:
    """What a kernel said reaches a terminal escaped."""
    other = code("print(1)\nprint(2)", stream("\x1b[31m" + "x" * 500))
    (line,) = compare_notebooks(stored(*EXECUTED), stored(EXECUTED[0], other, EXECUTED[2]))
    assert "\x1b" not in line
    assert len(line) < 400


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"[]",
        b"{}",
        b'{"cells":[],"nbformat":3}',
        b'{"cells":{},"nbformat":4}',
        b'{"cells":[1],"nbformat":4}',
        b'{"cells":[],"cells":[],"nbformat":4}',
    ],
)
def test_what_is_no_notebook_is_refused(broken: bytes) -> None:
    """On either side."""
    with pytest.raises(PackageFormatError):
        compare_notebooks(broken, stored(*EXECUTED))
    with pytest.raises(PackageFormatError):
        compare_notebooks(stored(*EXECUTED), broken)


def test_hostile_depth_is_refused() -> None:
    """A document that is too deep is not parsed."""
    with pytest.raises(LimitExceededError):
        is_executed(b"[" * 1000)


def test_outputs_of_other_shapes_do_not_break_it() -> None:
    """A foreign notebook may hold anything where outputs are expected."""
    left = (
        b'{"cells":[{"cell_type":"code","execution_count":1,"outputs":[1,{"data":[]}],"source":1}],'
    )
    right = left.replace(b"[1,", b"[2,").replace(b'"source":1', b'"source":[1]')
    lines = compare_notebooks(left + b'"nbformat":4}', right + b'"nbformat":4}')
    assert [line.partition(":")[0] for line in lines] == ["cell 1 (code)"] * 2
