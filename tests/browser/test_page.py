"""A package's page as people meet it: wide and narrow, light and dark, by pointer and by keys."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page

from repropack._present.page import render_page
from tests.support import reports
from tests.support.pages import hostile_subject, subject

pytestmark = pytest.mark.slow

ADAM_41 = "weights differs first; weights by 0.04532817006111145; 2,034,218,737 ulp"
SAMPLER_41 = "batch differs first; weights by 0.0025408565998077393; 1,726,670 ulp"
REVERSED_41 = "contributions differs first; weights by 1.1920928955078125e-07; 28 ulp"
LOOKS = [(360, "light"), (360, "dark"), (768, "light"), (1440, "light"), (1440, "dark")]


@pytest.fixture(scope="module")
def lab_page(lab_package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page as it lies in the lab's package, as a file."""
    file = tmp_path_factory.mktemp("page") / "index.html"
    with zipfile.ZipFile(lab_package) as archive:
        file.write_bytes(archive.read("index.html"))
    return file


@pytest.fixture
def lab(page: Page, lab_page: Path) -> Iterator[Page]:
    """The page, opened; what it complains of fails the test."""
    told: list[str] = []
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.goto(lab_page.as_uri())
    yield page
    assert told == []


def strip(page: Page, run: str) -> str:
    return f'[data-run][data-label="{run}"]'


def hover(row: Locator, part: float, y: float) -> None:
    """Point at a part of a row's width."""
    box = row.bounding_box()
    assert box is not None
    row.hover(position={"x": box["width"] * part, "y": y})


def test_it_is_small(lab_page: Path) -> None:
    """Under a megabyte, with everything that it needs."""
    assert lab_page.stat().st_size < 1_000_000


@pytest.mark.parametrize(("width", "scheme"), LOOKS, ids=[f"{w}-{s}" for w, s in LOOKS])
def test_nothing_is_wider_than_the_screen(
    lab: Page, width: int, scheme: str, lab_page: Path
) -> None:
    """At any width; wide tables and the figure scroll by themselves. No serious fault of access."""
    lab.set_viewport_size({"width": width, "height": 800})
    lab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    if width < 1440:
        lab.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert lab.evaluate("document.documentElement.scrollWidth") == width
    light = lab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(252, 252, 250)"
    assert light == (scheme == "light")
    if (width, scheme) not in {(360, "dark"), (1440, "light")}:
        return
    found = Axe().run(lab).response["violations"]
    serious = [one for one in found if one["impact"] in {"serious", "critical"}]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in serious] == []


def test_a_phone_shows_all_steps_counts_and_keys(lab: Page) -> None:
    """Without scrolling: strips, the column `equal`, the key of the curves, the legend."""
    lab.set_viewport_size({"width": 360, "height": 800})
    for one in (".matrix .strip", ".plot", ".matrix .number", ".curve-key li", ".legend > span"):
        for part in lab.locator(one).all():
            box = part.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 360, one
    widths = lab.eval_on_selector_all(
        ".matrix .strip, .plot", "all => all.map((one) => one.getBoundingClientRect().width)"
    )
    assert len(set(widths)) == 1
    assert widths[0] > 290
    shadow = "getComputedStyle(document.querySelector('.scroll')).backgroundImage"
    assert "linear-gradient" in lab.evaluate(shadow)


BROKEN = """() => {
  const found = new Set();
  for (const table of document.querySelectorAll("table")) {
    const walk = document.createTreeWalker(table, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      if (node.parentElement.closest(".digest, .unseen, svg")) continue;
      for (const word of node.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const lines = [...range.getClientRects()].map((box) => Math.round(box.top));
        if (new Set(lines).size > 1) found.add(word[0]);
      }
    }
  }
  return [...found];
}"""
"""Words and numbers of tables that stand on more than one line; digests may."""


def test_no_table_breaks_a_word_on_a_phone(page: Page, tmp_path: Path) -> None:
    """Also with what was found when it was verified: a table scrolls in its own frame."""
    runs = tuple(reports.verified_run(run=run) for run in ("reference", "independent-restart"))
    report = reports.verification(runs=runs)
    file = tmp_path / "page.html"
    file.write_bytes(render_page(subject(verification=report)))
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(file.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert "independent-restart" in page.inner_text("#verification table")
    assert page.evaluate(BROKEN) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_no_curve_runs_through_a_number_of_the_scale(lab: Page) -> None:
    """The numbers stand left of the plot, clear of its title."""
    for width in (360, 1440):
        lab.set_viewport_size({"width": width, "height": 800})
        plot = lab.locator(".plot").bounding_box()
        title = lab.locator(".plot-title").bounding_box()
        assert plot is not None
        assert title is not None
        for number in lab.locator(".plot text").all():
            box = number.bounding_box()
            assert box is not None
            above = title["y"] + title["height"] <= box["y"]
            assert above or title["x"] + title["width"] <= box["x"]
            assert box["x"] + box["width"] <= plot["x"]


def test_keys_move_a_cursor_through_runs_and_steps(lab: Page) -> None:
    """One stop for the tabulator; arrows, ends and pages; what is shown is also what is said."""
    rows = lab.locator("[role=slider]")
    assert rows.count() == 6
    assert [rows.nth(k).get_attribute("tabindex") for k in range(6)] == ["0", *["-1"] * 5]
    rows.nth(0).focus()
    for _ in range(3):
        lab.keyboard.press("ArrowDown")
    adam = lab.locator(strip(lab, "adam-reset"))
    assert adam.evaluate("(one) => one === document.activeElement")
    lab.keyboard.press("Home")
    for _ in range(4):
        lab.keyboard.press("PageDown")
    assert adam.get_attribute("aria-valuenow") == "41"
    assert adam.get_attribute("aria-valuetext") == f"step 41: {ADAM_41}"
    assert lab.inner_text("#told") == f"adam-reset, step 41\n{ADAM_41}"
    lab.keyboard.press("ArrowLeft")
    assert adam.get_attribute("aria-valuetext") == "step 40: -"
    lab.keyboard.press("End")
    assert adam.get_attribute("aria-valuenow") == "100"
    lab.keyboard.press("ArrowRight")
    assert adam.get_attribute("aria-valuenow") == "100"
    lab.keyboard.press("Escape")
    assert not lab.is_visible("#told")


def test_the_pointer_shows_the_same(lab: Page) -> None:
    """Over a strip one run, over the plot all that differ; outside nothing."""
    lab.set_viewport_size({"width": 1200, "height": 900})
    row = lab.locator(strip(lab, "sampler-reset"))
    row.scroll_into_view_if_needed()
    hover(row, 0.405, 8)
    assert lab.inner_text("#told") == f"sampler-reset, step 41\n{SAMPLER_41}"
    plot = lab.locator("[data-plot]")
    plot.scroll_into_view_if_needed()
    hover(plot, 0.405, 40)
    assert lab.inner_text("#told").split("\n") == [
        "step 41",
        f"reversed-reduction {REVERSED_41}",
        f"adam-reset {ADAM_41}",
        f"sampler-reset {SAMPLER_41}",
    ]
    lab.mouse.move(2, 2)
    assert not lab.is_visible("#told")


def test_the_table_says_what_the_plot_says(lab: Page) -> None:
    """Every cell of the table, computed again by the script from its own data."""
    shown = lab.evaluate(
        """() => [...document.querySelectorAll("#difference-table tbody tr")].map(
             (row) => [...row.cells].map((cell) => cell.textContent))"""
    )
    computed = lab.evaluate(
        """() => {
          const timeline = repropack.page.readData().timeline;
          const runs = timeline.runs.filter((run) => run.cells.some((cell) => cell[2]));
          const rows = [];
          for (let column = 0; column < timeline.last_step; column += 1) {
            rows.push([repropack.page.columnText(timeline, column), ...runs.map((run) =>
              repropack.page.cellText(timeline,
                run.cells.find((cell) => cell[0] === column), run.subject))]);
          }
          return rows;
        }"""
    )
    assert len(shown) == 100
    assert shown == computed
    assert shown[40] == ["step 41", REVERSED_41, ADAM_41, SAMPLER_41]


def test_printed_values_stand_beside_full_ones(lab: Page) -> None:
    """The same text, another number, and the digits that a log does not show are marked."""
    first = lab.locator(".printed").first.locator("tbody tr").first
    assert first.locator("th, td").all_inner_texts() == [
        "1",
        "2.9509",
        "2.9509",
        "2.9508880964883595",
        "2.9508880965539244",
    ]
    assert first.locator("mark").all_inner_texts() == ["5539244"]


def test_two_runs_are_chosen_and_their_divergence_is_shown(lab: Page) -> None:
    """Also of two that are not the reference; one and itself says so."""
    assert lab.locator("article.pair:visible").count() == 1
    lab.select_option("#left-run", "adam-reset")
    lab.select_option("#right-run", "sampler-reset")
    shown = lab.locator("article.pair:visible")
    assert shown.count() == 1
    text = shown.inner_text()
    assert "First divergence: step 41 · batch. State differs: sampler." in text
    assert "the state before the step, sampler: differs" in text
    lab.select_option("#left-run", "full-checkpoint")
    lab.select_option("#right-run", "independent-restart")
    assert "Every step is equal: 60 steps, from step 41 on." in shown.inner_text()
    lab.select_option("#right-run", "full-checkpoint")
    assert shown.count() == 0
    assert "One run and itself: choose another." in lab.inner_text("#pairs")


def test_words_are_explained_on_hover_and_on_focus(lab: Page) -> None:
    """And the meaning goes away on Escape."""
    word = lab.locator("#claims .term a", has_text="fingerprint").first
    tip = word.locator("xpath=following-sibling::span")
    assert not tip.is_visible()
    word.focus()
    lab.keyboard.press("Shift+Tab")
    lab.keyboard.press("Tab")
    assert tip.inner_text() == "digest of an array's type, shape and elements, or of a component"
    lab.keyboard.press("Escape")
    assert not tip.is_visible()
    word.hover()
    assert tip.is_visible()
    described = word.get_attribute("aria-describedby") or ""
    assert lab.inner_text(f"#{described}") == tip.inner_text()


def test_without_a_script_everything_is_there(browser: Browser, lab_page: Path) -> None:
    """Claims, figures, all pairs, tables: also in an archive's preview that allows no script."""
    context = browser.new_context(java_script_enabled=False, offline=True)
    try:
        page = context.new_page()
        page.goto(lab_page.as_uri())
        assert page.locator("article.pair:visible").count() == 5
        assert page.locator(".strip svg:visible").count() == 5 + 3 * 7
        assert page.locator(".plot path").count() == 3
        assert not page.is_visible("#choice")
        assert not page.is_visible("#in-your-browser")
        text = page.inner_text("main")
        assert "A separate run repeats it exactly." in text
        assert "A run resumed after step 40 continues exactly." in text
        assert "What was not tested" in text
    finally:
        context.close()


HOSTILE = (
    "<script>document.title='x'</script>",
    "</script><script>document.title='x'</script><!--",
    '"><img src=x onerror="document.title=\'x\'">',
    "' onmouseover='document.title=1",
    "javascript:document.title='x'",
    "</style><style>body{display:none}</style>\u202e\u2066\x1b[2J",
    "<svg onload=document.title=1><a xlink:href=https://example.org/>",
    "<iframe srcdoc='<script>top.document.title=1</script>'></iframe>",
)


def test_a_hostile_package_runs_nothing_on_its_page(page: Page, tmp_path: Path) -> None:
    """Whatever its texts are: no script of theirs, no complaint, no request, no element more."""
    told: list[str] = []
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("dialog", lambda dialog: told.append(dialog.message))
    counts = set()
    for number, text in enumerate(("plain", *HOSTILE)):
        file = tmp_path / f"page-{number}.html"
        file.write_bytes(render_page(hostile_subject(text)))
        page.goto(file.as_uri())
        assert page.title() != "x"
        assert page.is_visible("h1")
        assert text[:7] in page.inner_text("h1")
        counts.add(page.evaluate("document.querySelectorAll('script, img, iframe, style').length"))
        data = json.loads(page.inner_html("#package-data"))
        assert data["name"] == text
        for row in page.locator("[role=slider]").all():
            row.focus()
    assert len(counts) == 1
    assert told == []


def test_what_a_policy_forbids_does_not_run(page: Page, lab_page: Path, tmp_path: Path) -> None:
    """Were markup ever let through, the policy of the page would still stop it."""
    forged = tmp_path / "forged.html"
    planted = "<script>document.title = 'x'</script><img src=x onerror=\"document.title='x'\">"
    html = re.sub(
        "<main>",
        f"<main>{planted}<p style='color:red' id=planted>a</p>",
        lab_page.read_text(),
        count=1,
    )
    forged.write_text(html)
    page.goto(forged.as_uri())
    assert page.title() == "Identical printed losses, different weights"
    assert page.evaluate("getComputedStyle(planted).color") != "rgb(255, 0, 0)"


def test_it_prints(lab: Page) -> None:
    """On paper everything is open, and what is moved by pointer or keys is not there."""
    lab.emulate_media(media="print")
    lab.set_viewport_size({"width": 720, "height": 1000})  # of A4, as Chromium counts
    assert lab.evaluate("document.documentElement.scrollWidth") == 720
    assert not lab.is_visible("nav")
    assert lab.locator("article.pair:visible").count() == 15
    assert len(lab.pdf()) > 50_000
