"""The drawn figures: the same bytes everywhere, nothing of the machine in them, all cases drawn."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch

from repropack._compare.series import MetricSeries, RunSeries
from repropack._present import figure_style as style
from repropack._present.figure_layout import MAX_LINES
from repropack._present.figures import _look, draw_figures

ROOT = Path(__file__).resolve().parents[3]
SVG = "{http://www.w3.org/2000/svg}"
AGREEMENT = {"figures/agreement.png", "figures/agreement.svg"}
PRINTED = {"figures/printed.png", "figures/printed.svg"}
POINTS_PER_INCH = 72


def run_of(
    name: str, equal: list[bool], *, first: int = 1, size: float = 0.01, printed: bool = True
) -> RunSeries:
    """A run that differs by ``size`` in its weights and in its loss."""
    steps = tuple(range(first, first + len(equal)))
    reference = tuple(1 / step for step in steps)
    run = tuple(value + (0 if same else size) for value, same in zip(reference, equal, strict=True))
    texts = [tuple(f"{value:.4f}" if printed else None for value in v) for v in (reference, run)]
    loss = MetricSeries("loss", steps, reference, run, tuple(equal), texts[0], texts[1])
    return RunSeries(
        run=name,
        first_step=first,
        resume_at=first - 1 if first > 1 else None,
        subject="weights",
        steps=steps,
        equal=tuple(equal),
        largest_absolute=tuple(None if same else size for same in equal),
        metrics=(loss,),
    )


EXAMPLE = (
    run_of("same", [True] * 8),
    run_of("rounding", [True, *[False] * 7], size=1e-9),
    run_of("reset", [False] * 4, first=5),
)


@pytest.fixture(scope="module")
def drawn() -> dict[str, bytes]:
    return draw_figures(EXAMPLE, last_step=8)


@pytest.fixture
def sheets(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that ``draw_figures`` makes, as matplotlib holds them."""
    made: list[Figure] = []

    def keep(figure: Figure, title: str) -> bytes:
        made.append(figure)
        return b""

    monkeypatch.setattr(style, "svg_bytes", keep)
    monkeypatch.setattr(style, "png_bytes", lambda figure: b"")
    return made


# ---------------------------------------------------------------- the same bytes

CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
from hashlib import sha256
from tests.unit._present.test_figures import EXAMPLE
from repropack._present.figures import draw_figures
for path, data in sorted(draw_figures(EXAMPLE, last_step=8).items()):
    print(path, sha256(data).hexdigest())
print("pyplot", "matplotlib.pyplot" in sys.modules)
"""
HOSTILE_RC = """
backend: pdf
font.family: serif
font.size: 30
figure.dpi: 33
figure.facecolor: red
lines.linewidth: 9
lines.dashed_pattern: 1, 9
savefig.bbox: tight
savefig.dpi: 17
savefig.transparent: True
savefig.facecolor: green
svg.fonttype: none
svg.hashsalt: other
svg.id: other
text.parse_math: True
text.hinting: force_autohint
path.sketch: 5, 100, 2
path.snap: False
path.simplify_threshold: 1.0
agg.path.chunksize: 7
hatch.linewidth: 9
patch.force_edgecolor: True
axes.unicode_minus: False
"""
VARIANTS: list[dict[str, str]] = [
    {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", "LC_ALL": "C", "MPLBACKEND": "svg"},
    {
        "PYTHONHASHSEED": "2",
        "TZ": "America/St_Johns",
        "LC_ALL": "de_DE.UTF-8",
        "MPLBACKEND": "pdf",
        "SOURCE_DATE_EPOCH": "1",
        "OMP_NUM_THREADS": "1",
    },
]


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS, ids=["first", "second"])
def test_the_bytes_do_not_depend_on_the_process(
    drawn: dict[str, bytes], tmp_path: Path, variant: dict[str, str]
) -> None:
    """Nor on hash seed, zone, locale, backend, or configuration in the folder or the home.

    Nothing loads pyplot, which would look for a display.
    """
    here, configuration = tmp_path / "here", tmp_path / "configuration"
    for folder in (here, configuration):
        folder.mkdir()
        (folder / "matplotlibrc").write_text(HOSTILE_RC, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(ROOT)],
        cwd=here,
        env=os.environ | variant | {"MPLCONFIGDIR": str(configuration)},
        capture_output=True,
        text=True,
        check=True,
    )
    expected = [f"{path} {sha256(data).hexdigest()}" for path, data in sorted(drawn.items())]
    assert done.stdout.splitlines() == [*expected, "pyplot False"]


@pytest.mark.slow
def test_the_hostile_configuration_would_be_in_force(tmp_path: Path) -> None:
    """The test above varies what it says: matplotlib itself follows that file."""
    (tmp_path / "matplotlibrc").write_text(HOSTILE_RC, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", "import matplotlib; print(matplotlib.rcParams['font.size'])"],
        cwd=tmp_path,
        env=os.environ | {"MPLCONFIGDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "30.0\n"


def test_the_callers_settings_come_back() -> None:
    """And neither count nor change."""
    with mpl.rc_context({"font.size": 31.0, "svg.hashsalt": "mine"}):
        spoiled = draw_figures(EXAMPLE, last_step=8)
        assert mpl.rcParams["font.size"] == 31.0
        assert mpl.rcParams["svg.hashsalt"] == "mine"
    assert spoiled == draw_figures(EXAMPLE, last_step=8)


# ---------------------------------------------------------------- nothing of the machine


def test_both_figures_are_drawn_in_both_formats(drawn: dict[str, bytes]) -> None:
    assert drawn.keys() == AGREEMENT | PRINTED


@pytest.mark.parametrize("name", ["agreement", "printed"])
def test_the_svg_is_self_contained(drawn: dict[str, bytes], name: str) -> None:
    """Well formed; no script, no link, no font, no date, no path, no software."""
    data = drawn[f"figures/{name}.svg"]
    root = ET.fromstring(data)
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags.isdisjoint({"script", "image", "foreignObject", "a", "text", "iframe", "object"})
    attributes = [(key, value) for element in root.iter() for key, value in element.items()]
    assert not [key for key, _ in attributes if key.rpartition("}")[2].startswith("on")]
    links = [value for key, value in attributes if key.rpartition("}")[2] == "href"]
    assert links
    assert all(link.startswith("#") for link in links)
    text = data.decode("utf-8")
    assert not re.search(r"\b(19|20)\d\d-\d\d", text)
    for word in ("/home", "/work", "/tmp", str(ROOT), mpl.get_data_path(), "atplotlib"):
        assert word not in text


@pytest.mark.parametrize("name", ["agreement", "printed"])
def test_the_svg_has_a_title_for_those_who_hear_it(drawn: dict[str, bytes], name: str) -> None:
    """A question."""
    title = ET.fromstring(drawn[f"figures/{name}.svg"]).findtext(f"{SVG}title")
    assert title is not None
    assert title.endswith("?")


@pytest.mark.parametrize("name", ["agreement", "printed"])
def test_the_png_holds_pixels_and_their_size_alone(drawn: dict[str, bytes], name: str) -> None:
    """No text, no time; a thousand pixels wide."""
    chunks = dict(png_chunks(drawn[f"figures/{name}.png"]))
    assert chunks.keys() == {b"IHDR", b"pHYs", b"IDAT", b"IEND"}
    assert struct.unpack(">I", chunks[b"IHDR"][:4]) == (1000,)


def png_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    position = 8
    while position < len(data):
        (size,) = struct.unpack(">I", data[position : position + 4])
        yield data[position + 4 : position + 8], data[position + 8 : position + 8 + size]
        position += 12 + size


# ---------------------------------------------------------------- what is drawn


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.texts]


def boxes(figure: Figure, colour: str) -> list[tuple[float, float]]:
    """Left and right edges, in inches, of what is filled with a colour; the key's box first."""
    found: list[tuple[float, float]] = []
    for patch in figure.artists:
        if isinstance(patch, PathPatch) and to_hex(patch.get_facecolor()) == colour:
            for polygon in patch.get_path().to_polygons():
                xs = np.asarray(polygon)[:, 0].tolist()
                found.append((round(min(xs), 3), round(max(xs), 3)))
    return found


def lines(figure: Figure, **wanted: Any) -> list[Line2D]:
    found = [artist for artist in figure.artists if isinstance(artist, Line2D)]
    return [
        line for line in found if all(getattr(line, f"get_{k}")() == v for k, v in wanted.items())
    ]


def place_of(step: float, last_step: int) -> float:
    """Where a step's left edge lies, between the two sides of the cells."""
    return round(0.64 + (step - 1) / last_step * (3.42 - 0.64), 3)


def test_the_matrix_is_drawn_where_its_steps_are(sheets: list[Figure]) -> None:
    """Equal cells pale, differing dark and hatched, shared history hatched the other way."""
    draw_figures(EXAMPLE, last_step=8)
    figure = sheets[0]
    at = [place_of(step, 8) for step in range(1, 10)]
    assert boxes(figure, style.EQUAL)[1:] == [(at[0], at[8]), (at[0], at[1])]
    assert boxes(figure, style.DIFFERS)[1:] == [(at[1], at[8]), (at[4], at[8])]
    shared = [
        patch
        for patch in figure.artists
        if isinstance(patch, PathPatch) and patch.get_hatch() == "\\\\\\\\"
    ]
    assert len(shared) == 2
    _, resume = lines(figure, linewidth=2.4)
    assert np.asarray(resume.get_xdata()).round(3).tolist() == [at[4], at[4]]
    assert "3  reset, resumed after step 4" in texts(figure)
    assert [text for text in texts(figure) if text.endswith(" equal")] == [
        "8 of 8 equal",
        "1 of 8 equal",
        "0 of 4 equal",
    ]


def test_cells_differ_in_more_than_colour() -> None:
    """In lightness too: in grey, one is less than two thirds of the other."""

    def lightness(colour: str) -> float:
        red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
        return 0.299 * red + 0.587 * green + 0.114 * blue

    assert lightness(style.DIFFERS) < 0.66 * lightness(style.EQUAL)


def test_any_two_of_twenty_curves_differ_in_two_ways() -> None:
    """In colour, marker or dashes; those who see no colours have one of the others."""
    looks = [tuple(map(str, _look(number).values())) for number in range(MAX_LINES)]
    for left, right in combinations(looks, 2):
        assert sum(one != other for one, other in zip(left, right, strict=True)) >= 2


def test_every_curve_is_named_where_it_ends(sheets: list[Figure]) -> None:
    draw_figures([run_of(f"run-{k}", [False] * 8) for k in range(1, 21)], last_step=8)
    assert len(lines(sheets[0], linewidth=1.2)) == 20
    assert {f"{k} run-{k}" for k in range(1, 21)} <= set(texts(sheets[0]))


def test_one_difference_among_very_many_steps_is_wide_enough_to_be_seen(
    sheets: list[Figure],
) -> None:
    """A pixel at least where the figure is 360 wide; binning is said in words."""
    equal = [True] * 100_000
    equal[77_777] = False
    draw_figures([run_of("drift", equal)], last_step=100_000)
    ((left, right),) = boxes(sheets[0], style.DIFFERS)[1:]
    assert right - left == pytest.approx(style.WIDTH_INCHES / 360, abs=0.001)
    assert left <= place_of(77_778, 100_000) <= right
    said = " ".join(texts(sheets[0]))
    assert "Each column stands for 200 steps: it differs if any of them does" in said
    assert "99,999 of 100,000" in said


@pytest.mark.parametrize("step", [0, 99_999])
def test_a_difference_at_an_end_stays_inside(sheets: list[Figure], step: int) -> None:
    equal = [True] * 100_000
    equal[step] = False
    draw_figures([run_of("drift", equal)], last_step=100_000)
    ((left, right),) = boxes(sheets[0], style.DIFFERS)[1:]
    assert 0.64 <= left < right <= 3.42


def test_a_run_without_differences_has_no_curves(sheets: list[Figure]) -> None:
    draw_figures([run_of("same", [True] * 4)], last_step=4)
    assert len(sheets) == 1
    assert "How far apart are they where they differ?" not in texts(sheets[0])


def test_printed_equal_and_exactly_different_is_seen_in_two_strips(sheets: list[Figure]) -> None:
    """Above each other: pale as printed, dark in truth."""
    draw_figures([run_of("rounding", [False] * 8, size=1e-9)], last_step=8)
    printed = sheets[1]
    assert [text for text in texts(printed) if text.endswith(" equal")] == [
        "8 of 8 equal",
        "0 of 8 equal",
    ]
    whole = (place_of(1, 8), place_of(9, 8))
    assert boxes(printed, style.EQUAL)[1:] == [whole]
    assert boxes(printed, style.DIFFERS)[1:] == [whole]
    assert texts(printed).index("printed") < texts(printed).index("exact")
    assert "0.1250 reference" in texts(printed)


def test_the_smallest_text_can_be_read_on_a_telephone(sheets: list[Figure]) -> None:
    """Nine pixels high where the figure is 360 wide, and nothing reaches over the edge."""
    draw_figures(
        [run_of(("comparison-" * 6)[:64], [False] * 4), run_of("reset", [False] * 2, first=3)],
        last_step=4,
    )
    for figure in sheets:
        figure.set_dpi(POINTS_PER_INCH)
        for text in figure.texts:
            assert float(text.get_fontsize()) / POINTS_PER_INCH / style.WIDTH_INCHES * 360 >= 9
            box = text.get_window_extent()
            assert 0 <= box.x0 < box.x1 <= style.WIDTH_INCHES * POINTS_PER_INCH
            assert 0 <= box.y0 < box.y1 <= figure.get_figheight() * POINTS_PER_INCH


# ---------------------------------------------------------------- unusual cases


@pytest.mark.parametrize(
    ("series", "last_step", "entries"),
    [
        ((), 8, set()),
        ((), 0, set()),
        ((run_of("nothing", []),), 0, set()),
        ((run_of("one", [True]),), 1, AGREEMENT),
        ((run_of("one", [False]),), 1, AGREEMENT | PRINTED),
        ((run_of("silent", [False], printed=False),), 1, AGREEMENT),
        ((run_of("huge", [False] * 2, size=1e308),), 2, AGREEMENT | PRINTED),
        ((run_of("tiny", [False] * 2, size=5e-324),), 2, AGREEMENT | PRINTED),
        ((run_of("infinite", [False] * 2, size=float("inf")),), 2, AGREEMENT | PRINTED),
        ((run_of("late", [False], first=9),), 9, AGREEMENT | PRINTED),
        (tuple(run_of(f"run-{k}", [False] * 2) for k in range(70)), 2, AGREEMENT | PRINTED),
    ],
    ids=[
        "no comparison", "no step", "nothing compared", "one equal", "one differs", "not printed",
        "huge", "tiny", "infinite", "late", "seventy",
    ],
)  # fmt: skip
def test_every_case_is_drawn_or_left_out(
    series: tuple[RunSeries, ...], last_step: int, entries: set[str]
) -> None:
    """Without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert draw_figures(series, last_step=last_step).keys() == entries


def test_what_is_not_drawn_is_counted(sheets: list[Figure]) -> None:
    draw_figures([run_of(f"run-{k}", [False] * 2) for k in range(70)], last_step=2)
    assert "10 more comparisons are not drawn." in texts(sheets[0])
    assert "50 more comparisons are not drawn." in texts(sheets[0])
    assert "46 more are not drawn." in texts(sheets[1])


def test_without_a_kept_stage_the_matrix_is_of_the_state(sheets: list[Figure]) -> None:
    """There is nothing to measure then, and no second part."""
    run = run_of("run", [True, False], printed=False)
    state = RunSeries(**(vars(run) | {"subject": "state", "largest_absolute": (None, None)}))
    draw_figures([state], last_step=2)
    assert "Compared bit for bit at each step: the complete state." in texts(sheets[0])
    assert not lines(sheets[0], linewidth=1.2)


@pytest.mark.hostile
@pytest.mark.parametrize(
    "name",
    [
        "$\\frac{1}{2}$",
        "a$b",
        "--><script>alert(1)</script>",
        "]]>&amp;",
        "\u202eabc\x00\x1b[1m",
        "中文",
    ],
    ids=["math", "dollar", "comment", "cdata", "control", "wide"],
)
def test_names_are_text_and_nothing_else(name: str) -> None:
    """No mathematics, no markup, no missing letter, in heading, label, subject and metric."""
    run = run_of(name, [False] * 2)
    loss = MetricSeries(**(vars(run.metrics[0]) | {"metric": name, "run_printed": (name, name)}))
    hostile = RunSeries(**(vars(run) | {"subject": name, "metrics": (loss,)}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        entries = draw_figures([hostile], last_step=2)
    assert entries.keys() == AGREEMENT | PRINTED
    for path in ("figures/agreement.svg", "figures/printed.svg"):
        tags = {element.tag for element in ET.fromstring(entries[path]).iter()}
        assert f"{SVG}script" not in tags


@pytest.mark.hostile
def test_a_dollar_is_drawn_as_a_dollar(sheets: list[Figure]) -> None:
    draw_figures([run_of("$x^2$", [False] * 2)], last_step=2)
    assert "1  $x^2$" in texts(sheets[0])
    assert not any(text.get_parse_math() for text in sheets[0].texts)
