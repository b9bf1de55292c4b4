"""The stable form of an executed notebook."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from matplotlib.figure import Figure
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output

from repropack._run.notebook_form import normalise_notebook, notebook_bytes
from repropack.errors import CouldNotRunError

HOME = Path("/home/ada")


def notebook(*outputs: Any, **metadata: Any) -> NotebookNode:
    cell = new_code_cell("1", outputs=list(outputs), execution_count=1, id="c")
    made: NotebookNode = new_notebook(cells=[cell], metadata=metadata)
    return made


def said(text: str) -> Any:
    return new_output("stream", name="stdout", text=text)


def drawn(**options: Any) -> bytes:
    figure = Figure(figsize=(1, 1))
    figure.subplots().plot(np.arange(3))
    stream = io.BytesIO()
    figure.savefig(stream, format="png", **options)
    return stream.getvalue()


def test_it_is_sorted_json_with_one_newline_at_its_end() -> None:
    """Written twice it is the same bytes, and it is read back as what it was."""
    made = notebook(said("a\nb\n"))
    data = notebook_bytes(made)
    assert data == notebook_bytes(made)
    assert data.endswith(b"}\n")
    assert not data.endswith(b"\n\n")
    assert data.startswith(b'{\n "cells": [\n')
    assert nbformat.reads(data.decode(), as_version=4) == made


def test_an_invalid_notebook_is_not_written() -> None:
    """nbformat alone would write it."""
    made = notebook()
    made.cells[0].outputs = "text"
    with pytest.raises(nbformat.ValidationError):
        notebook_bytes(made)


def test_what_tells_of_the_kernel_goes() -> None:
    """Versions, timing and foreign metadata are left out."""
    language = {"name": "python", "version": "3.11.7", "codemirror_mode": {"version": 3}}
    made = notebook(language_info=language, kernelspec={"name": "python3", "display_name": "P"})
    made.metadata["widgets"] = {}
    made.cells[0].metadata["execution"] = {"iopub.execute_input": "2026-11-30T10:00:00Z"}
    data = normalise_notebook(made, [])
    for word in (b"3.11", b"codemirror", b"iopub", b"widgets"):
        assert word not in data
    assert b'"name": "python3"' in data


@pytest.mark.parametrize(
    "output",
    [
        said("saved to /home/ada/x.npz\n"),
        said("HOME=/home/ada"),
        new_output("display_data", data={"text/html": "<a href='/home/ada/x'>"}),
        new_output("display_data", data={"application/json": {"where": ["/home/ada/x"]}}),
        new_output("error", ename="E", evalue="at /home/ada", traceback=[]),
    ],
)
def test_a_path_of_this_machine_is_refused(output: Any) -> None:
    """In a stream, in any media type, in an error; the message names the cell."""
    with pytest.raises(CouldNotRunError, match="cell 1: expected an output without a path"):
        normalise_notebook(notebook(output), [HOME])


@pytest.mark.parametrize("text", ["/home/adams/x", "/home/ada-2", "/home/ada.txt", "ada"])
def test_a_path_that_only_begins_alike_is_not(text: str) -> None:
    """Another folder, and a word."""
    assert text.encode() in normalise_notebook(notebook(said(text)), [HOME, Path("/")])


def test_an_address_is_refused() -> None:
    """The default text of an object is another one every time."""
    with pytest.raises(CouldNotRunError, match=r"address in memory \(at 0x7f12ed444c40\)"):
        normalise_notebook(notebook(said("<list_iterator object at 0x7f12ed444c40>")), [])
    assert b"at 0x7f" in normalise_notebook(notebook(said("the byte at 0x7f is 1")), [])


def test_an_image_loses_its_software_and_nothing_else() -> None:
    """Chunks of text go; what is left is what matplotlib draws without any."""
    with_text, without = drawn(), drawn(metadata={"Software": None})
    assert b"matplotlib" in with_text
    output = new_output("display_data", data={"image/png": base64.encodebytes(with_text).decode()})
    made = notebook(output)
    normalise_notebook(made, [])
    assert base64.b64decode(made.cells[0].outputs[0].data["image/png"]) == without


def test_an_image_that_is_none_is_kept_or_refused() -> None:
    """Other bytes stay as they are; what is not base64 is refused."""
    made = notebook(new_output("display_data", data={"image/png": base64.b64encode(b"x").decode()}))
    assert b'"eA=="' in normalise_notebook(made, [])
    made = notebook(new_output("display_data", data={"image/png": "eA="}))
    with pytest.raises(CouldNotRunError, match="not base64"):
        normalise_notebook(made, [])


@pytest.mark.parametrize("text", ["abc", "\u00e9\u00e9\u00e9\u00e9"])
def test_an_image_of_any_characters_is_refused(text: str) -> None:
    """Also of such as base64 does not know."""
    with pytest.raises(CouldNotRunError, match="cell 1: its image is not base64"):
        normalise_notebook(notebook(new_output("display_data", data={"image/png": text})), [])
