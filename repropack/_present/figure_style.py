"""The sheet that figures are drawn on: colours, fonts, shapes, bytes. Only this imports matplotlib.

Nothing of the reader's machine reaches a figure: matplotlib's own defaults are in force whatever
a ``matplotlibrc`` says, the font is the file that matplotlib brings, and no clock, version or
random id is written. In the SVG, text is drawn as outlines: it looks the same where that font is
missing, today and in twenty years, and it is the same picture as the PNG. The price is that it
cannot be searched; the numbers follow from logs and kept arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path as DrawnPath

from repropack._present.figure_words import wrapped

WIDTH_INCHES = 5.0
"""Width of every figure. At 360 pixels, 9 points of it are 9 pixels: see ``TEXT_POINTS``."""
TEXT_POINTS = 9.0
"""Smallest text; what a reader on a telephone can still make out."""
TITLE_POINTS = 11.0
PNG_DOTS_PER_INCH = 200
EDGE = 0.10
"""Inches of paper around everything."""
LINE_INCHES = 0.165
"""Height of a line of the smallest text."""

INK = "#1a1a1a"
FAINT = "#666666"
GRID = "#d9d9d9"
PAPER = "#ffffff"
EQUAL = "#cfe6f5"
DIFFERS = "#d55e00"
DIFFERS_HATCH = "#5e2400"
SHARED_HATCH = "#a6a6a6"

LINE_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#000000", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito's colours for every kind of colour vision, without the yellow."""
LINE_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINE_DASHES = ("solid", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.5, 1.2, 1.5)))

_FIXED: dict[Any, Any] = {
    "hatch.linewidth": 0.7,
    "path.simplify": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "repropack.figures.v1",
    "svg.image_inline": True,
    "text.parse_math": False,
    "text.usetex": False,
}


Box = tuple[float, float, float, float]
"""Left, top, right and bottom, in inches from the top left."""
_Draw = Callable[[Figure, float], None]


@contextmanager
def fixed_style() -> Iterator[None]:
    """Draw under matplotlib's own defaults; the caller's settings come back at the end.

    matplotlib holds its settings for the whole process: not for several threads at once.
    """
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_FIXED)
        yield


def font(points: float = TEXT_POINTS, *, bold: bool = False) -> FontProperties:
    """DejaVu Sans as matplotlib ships it, by its file and not by a search of the system."""
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return FontProperties(fname=Path(mpl.get_data_path(), "fonts", "ttf", name), size=points)


def svg_bytes(figure: Figure, title: str) -> bytes:
    """Write a figure as SVG.

    Args:
        figure: The figure.
        title: What it is called, for those who hear it.

    Returns:
        The file: no date, no version, every text as outlines.

    Determinism:
        The bytes depend on figure, title and matplotlib's version.
    """
    buffer = BytesIO()
    metadata = {"Title": title} | dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(buffer, format="svg", backend="svg", metadata=metadata)
    return buffer.getvalue()


def png_bytes(figure: Figure) -> bytes:
    """Write a figure as PNG.

    Args:
        figure: The figure.

    Returns:
        The file: no text in it, no date, no version.

    Determinism:
        The bytes depend on figure and matplotlib's version.
    """
    buffer = BytesIO()
    figure.savefig(
        buffer,
        format="png",
        backend="agg",
        dpi=PNG_DOTS_PER_INCH,
        metadata={"Software": None},
    )
    return buffer.getvalue()


class Sheet:
    """Collects what is to be drawn from the top down; the height is known at the end."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.y = EDGE
        self._drawn: list[_Draw] = []

    def text(self, x: float, y: float, text: str, **options: Any) -> None:
        """Place a line of text; ``y`` is its middle."""
        face = font(options.pop("points", TEXT_POINTS), bold=options.pop("bold", False))
        look: dict[str, Any] = {"color": INK, "ha": "left", "va": "center_baseline"}
        look |= {"fontproperties": face, "parse_math": False} | options

        def draw(figure: Figure, height: float) -> None:
            figure.text(x, height - y, text, transform=figure.dpi_scale_trans, **look)

        self._drawn.append(draw)

    def line(self, points: Iterable[tuple[float, float]], **options: Any) -> None:
        """Draw a line through points."""
        places = list(points)
        look: dict[str, Any] = {"color": INK, "linewidth": 0.8} | options

        def draw(figure: Figure, height: float) -> None:
            xs, ys = [x for x, _ in places], [height - y for _, y in places]
            figure.add_artist(Line2D(xs, ys, transform=figure.dpi_scale_trans, **look))

        self._drawn.append(draw)

    def boxes(self, boxes: Sequence[Box], **options: Any) -> None:
        """Fill boxes, given by left, top, right and bottom, as one shape."""
        if not boxes:
            return
        look: dict[str, Any] = {"linewidth": 0} | options

        def draw(figure: Figure, height: float) -> None:
            outlines = (_outline(*box, height) for box in boxes)
            path = DrawnPath.make_compound_path(*outlines)
            figure.add_artist(PathPatch(path, transform=figure.dpi_scale_trans, **look))

        self._drawn.append(draw)

    def paragraph(self, text: str, *, bold: bool = False) -> None:
        """Lines of text below what is there already."""
        points = TITLE_POINTS if bold else TEXT_POINTS
        height = LINE_INCHES * points / TEXT_POINTS
        for line in wrapped(text, 50 if bold else 72):
            self.text(EDGE, self.y + height / 2, line, points=points, bold=bold)
            self.y += height

    def entries(self, path: str) -> dict[str, bytes]:
        """The sheet in both formats."""
        height = round(self.y + EDGE, 3)
        figure = Figure(figsize=(WIDTH_INCHES, height), facecolor=PAPER)
        for draw in self._drawn:
            draw(figure, height)
        svg = svg_bytes(figure, self.title)
        return {f"{path}.png": png_bytes(figure), f"{path}.svg": svg}


def _outline(left: float, top: float, right: float, bottom: float, height: float) -> DrawnPath:
    """A box as a path, measured from the bottom of the sheet."""
    low, high = height - bottom, height - top
    corners = [(left, high), (right, high), (right, low), (left, low), (left, high)]
    return DrawnPath(corners, closed=True)
