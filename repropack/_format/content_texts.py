"""JSON and tables in files that others wrote, as values and rows.

Where Python's own writers and readers know more than the strict documents of a package, such as
NaN, it is taken; what two readers could read differently is not.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from repropack._format.canonical import check_bounds
from repropack._format.content_kinds import ContentLimits, NotOfKindError
from repropack._format.limits import Limits
from repropack.errors import LimitExceededError


def read_json(file: BinaryIO, limits: ContentLimits) -> Any:
    """Read a JSON file as Python does, but for members that come twice.

    Args:
        file: The file, at its beginning.
        limits: Limits on JSON.

    Returns:
        The value; integers of any size are ``int``, all other numbers ``float``.

    Raises:
        NotOfKindError: it is no JSON in UTF-8, has a member twice in one object, or is beyond a
            limit.
    """
    data = file.read(limits.max_json_bytes + 1)
    bounds = Limits(
        max_document_bytes=limits.max_json_bytes,
        max_json_depth=limits.max_json_depth,
        max_json_containers=limits.max_json_containers,
        max_json_items=limits.max_json_items,
    )

    def integer(text: str) -> int:
        if len(text) > limits.max_integer_digits:
            raise NotOfKindError(f"it has an integer of {len(text)} characters")
        return int(text)

    try:
        check_bounds(data, where="it", limits=bounds)
        text = data.decode("utf-8")
        return json.loads(  # noqa: TID251 - others' JSON, which our reader refuses in part
            text, object_pairs_hook=_object, parse_int=integer
        )
    except NotOfKindError:
        raise
    except LimitExceededError as error:
        raise NotOfKindError(f"it is beyond the limit {error.limit}") from error
    except UnicodeDecodeError as error:
        raise NotOfKindError("it is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise NotOfKindError("it is no JSON") from error


def encode_json(value: Any) -> bytes:
    r"""Encode a value that ``read_json`` gave, equal for equal values (docs/format.md, 11.8).

    Args:
        value: The value.

    Returns:
        ASCII bytes that end in a newline.

    Determinism:
        The bytes depend on the value alone.

    Example:
        >>> encode_json({"b": float("nan"), "a": [1, 1.0, "\u00e9"]})
        b'{"a":[1,1.0,"\\u00e9"],"b":NaN}\n'
    """
    text = json.dumps(  # noqa: TID251 - NaN and lone surrogates are content here
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=True
    )
    return text.encode("ascii") + b"\n"


def iter_rows(file: BinaryIO, separator: str, limits: ContentLimits) -> Iterator[list[str]]:
    r"""Read a table row by row; memory is independent of its size.

    Args:
        file: The file, at its beginning; UTF-8, with a byte order mark or not.
        separator: What stands between cells: a comma or a tab.
        limits: Limits on rows and cells.

    Yields:
        The cells of each row, without their quotes; an empty line is a row without cells.

    Raises:
        NotOfKindError: it is not UTF-8, a quoted cell does not end as one, or a limit is exceeded.

    Example:
        >>> from io import BytesIO
        >>> from repropack._format.content_kinds import CONTENT_LIMITS
        >>> list(iter_rows(BytesIO(b'a,"b"\r\n1,"x\ny"'), ",", CONTENT_LIMITS))
        [['a', 'b'], ['1', 'x\ny']]
    """
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    lines = _Lines(text, limits)
    try:
        for row in csv.reader(lines, delimiter=separator, strict=True):
            used, lines.used = lines.used, 0
            if used > limits.max_cell_characters < max(map(len, row), default=0):
                raise NotOfKindError("it has a cell that is longer than is compared")
            yield row
    except csv.Error as error:
        raise NotOfKindError("its quotes do not make cells, or a cell is too long") from error
    except UnicodeDecodeError as error:
        raise NotOfKindError("it is not UTF-8") from error
    finally:
        text.detach()  # or it would close the file, which is the caller's


class _Lines:
    """Lines of a text, counted since the last row: a row may go over many lines."""

    def __init__(self, text: io.TextIOWrapper, limits: ContentLimits) -> None:
        self._text = text
        self._limit = limits.max_row_characters
        self.used = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._text.readline(self._limit + 1)
        self.used += len(line)
        if self.used > self._limit:
            raise NotOfKindError("it has a row that is longer than is compared")
        if not line:
            raise StopIteration
        return line


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise NotOfKindError("it has a member twice in one object")
    return result
