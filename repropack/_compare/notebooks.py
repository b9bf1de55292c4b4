"""Hold two notebooks against each other: cell by cell, sources before outputs, images by bytes.

A picture whose bytes differ may look the same: matplotlib's versions draw alike and not equal. So
an image has a line of its own kind, which says less than one about a text.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from repropack._format.canonical import decode_strict, encode_canonical
from repropack._format.digests import digest_bytes
from repropack._format.limits import DEFAULT_LIMITS, Limits
from repropack.errors import PackageFormatError
from repropack.refusals import refusal

_Cell = dict[str, Any]
_SHOWN_CHARACTERS = 80


def compare_notebooks(expected: bytes, observed: bytes) -> tuple[str, ...]:
    """Say in which cells two notebooks differ.

    Args:
        expected: The notebook of a package. Where it was never executed, its sources alone are
            compared.
        observed: The one that was made and executed now.

    Returns:
        One line for each difference, in order: the number of cells; of a cell, its kind and
        source; of its outputs, each; empty where nothing differs that is compared. A line about an
        image says that bytes were compared.

    Raises:
        PackageFormatError: either is no notebook of format 4.
        LimitExceededError: either is longer or deeper than documents may be.
    """
    left, right = _cells(expected, "expected"), _cells(observed, "observed")
    lines = []
    if len(left) != len(right):
        lines.append(f"expected {len(left)} cells, observed {len(right)}")
    with_outputs = is_executed(expected)
    for number, (one, two) in enumerate(zip(left, right, strict=False), start=1):
        place = f"cell {number} ({one.get('cell_type')})"
        lines += [f"{place}: {line}" for line in _compare_cells(one, two, with_outputs)]
    return tuple(lines)


def is_executed(notebook: bytes, where: str = "notebook", limits: Limits = DEFAULT_LIMITS) -> bool:
    """Whether a notebook was executed: a code cell of it has a number or an output.

    Args:
        notebook: The notebook.
        where: Its path, for error messages.
        limits: Limits on reading.

    Returns:
        Whether there are outputs to compare.

    Raises:
        PackageFormatError: it is no notebook of format 4.
        LimitExceededError: it is longer or deeper than documents may be.
    """
    cells = _cells(notebook, where, limits)
    return any(cell.get("outputs") or cell.get("execution_count") is not None for cell in cells)


def _cells(notebook: bytes, where: str, limits: Limits = DEFAULT_LIMITS) -> list[_Cell]:
    document = decode_strict(notebook, where=where, limits=limits)
    cells = document.get("cells") if isinstance(document, dict) else None
    if not isinstance(cells, list) or document.get("nbformat") != 4:
        raise PackageFormatError(
            refusal("notebook.form", where, "", "a notebook of format 4", "another")
        )
    if not all(isinstance(cell, dict) for cell in cells):
        raise PackageFormatError(
            refusal("notebook.form", where, "", "cells that are objects", "others")
        )
    return cells


def _compare_cells(left: _Cell, right: _Cell, with_outputs: bool) -> Iterator[str]:  # noqa: FBT001
    kind = right.get("cell_type")
    if left.get("cell_type") != kind:
        yield f"expected this kind, observed {str(kind)[:_SHOWN_CHARACTERS]!r}"
        return
    if _text(left.get("source")) != _text(right.get("source")):
        yield f"source differs: {_where(_text(left.get('source')), _text(right.get('source')))}"
    if not with_outputs or kind != "code":
        return
    outputs = left.get("outputs"), right.get("outputs")
    lefts, rights = (given if isinstance(given, list) else [] for given in outputs)
    if len(lefts) != len(rights):
        yield f"expected {len(lefts)} outputs, observed {len(rights)}"
    for one, two in zip(lefts, rights, strict=False):
        yield from _compare_outputs(one, two)


def _compare_outputs(left: Any, right: Any) -> Iterator[str]:
    one, two = _parts(left), _parts(right)
    for name in sorted({*one, *two}):
        here, there = one.get(name), two.get(name)
        if encode_canonical(here) == encode_canonical(there):
            continue
        if name.startswith("image/") and here is not None and there is not None:
            digests = [_image_digest(image) for image in (here, there)]
            if digests[0] != digests[1]:
                yield (
                    f"image differs in its bytes, which another version of matplotlib may draw "
                    f"alike: expected {digests[0]}, observed {digests[1]}"
                )
        elif _text(here) != _text(there):
            yield f"output {name!r:.80} differs: {_where(_text(here), _text(there))}"


def _parts(output: Any) -> dict[str, Any]:
    """What an output holds, by media type or name."""
    if not isinstance(output, dict):
        return {"output": output}
    data = output.get("data")
    rest = {name: part for name, part in output.items() if name not in {"data", "execution_count"}}
    return {**rest, **data} if isinstance(data, dict) else rest


def _text(part: Any) -> str:
    """A text, which may be stored as a list of lines; anything else as JSON."""
    if isinstance(part, list) and all(isinstance(line, str) for line in part):
        return "".join(part)
    return part if isinstance(part, str) else encode_canonical(part).decode("utf-8")


def _image_digest(image: Any) -> str:
    text = _text(image)
    try:
        return digest_bytes(base64.b64decode(text))
    except (ValueError, binascii.Error):
        return digest_bytes(text.encode("utf-8"))


def _where(left: str, right: str) -> str:
    """The first line in which two texts differ."""
    pairs = zip_longest(left.split("\n"), right.split("\n"))
    for number, (one, two) in enumerate(pairs, start=1):
        if one != two:
            return f"line {number}: expected {_shown(one)}, observed {_shown(two)}"
    return "nowhere"


def _shown(line: str | None) -> str:
    if line is None:
        return "no line"
    return ascii(line if len(line) <= _SHOWN_CHARACTERS else f"{line[:_SHOWN_CHARACTERS]}...")
