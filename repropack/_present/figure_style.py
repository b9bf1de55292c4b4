"""Colours, fonts and bytes of the figures; with ``figures`` the only importer of matplotlib.

Nothing of the reader's machine reaches a figure: matplotlib's own defaults are in force whatever
a ``matplotlibrc`` says, the font is the file that matplotlib brings, and no clock, version or
random id is written. In the SVG, text is drawn as outlines: it looks the same where that font is
missing, today and in twenty years, and it is the same picture as the PNG. The price is that it
cannot be searched; the numbers are in ``results.json``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

WIDTH_INCHES = 5.0
"""Width of every figure. At 360 pixels, 9 points of it are 9 pixels: see ``TEXT_POINTS``."""
TEXT_POINTS = 9.0
"""Smallest text; what a reader on a telephone can still make out."""
TITLE_POINTS = 11.0
PNG_DOTS_PER_INCH = 200

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

_FIXED = {
    "hatch.linewidth": 0.7,
    "path.simplify": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "repropack.figures.v1",
    "svg.image_inline": True,
    "text.parse_math": False,
    "text.usetex": False,
}


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
    FigureCanvasSVG(figure).print_svg(buffer, metadata=metadata)
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
    figure.set_dpi(PNG_DOTS_PER_INCH)
    buffer = BytesIO()
    FigureCanvasAgg(figure).print_png(buffer, metadata={"Software": None})
    return buffer.getvalue()
