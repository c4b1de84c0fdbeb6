"""What Sweep, Race and Runs show where, by what is seen: nothing cut off, the answer before the details."""

from __future__ import annotations

import pytest

from tests.browser.bench import Bench, opened, until
from workbench.run import configure
from workbench.run.choices.share_link import to_link

pytestmark = pytest.mark.browser

CUT = """table => [...table.querySelectorAll("td, th")].filter((cell) => {
  const [own, box] = [cell.getBoundingClientRect(), table.closest(".wb-scrolled").getBoundingClientRect()];
  return own.width > 0 && (own.right > box.right + 1 || own.left < box.left - 1);
}).map((cell) => cell.textContent)"""
"""Cells of a table that lie outside of the box that it is moved in."""


@pytest.fixture
def bench(page, request, shoot):
    opened(page, request, "voila")
    made = Bench(page, lambda stage: shoot(f"layout_{stage}"))
    page.set_viewport_size({"width": 1280, "height": 1000})
    made.open_link(to_link(configure("bubbles-2d", n=24)))
    return made


def box(page, selector):
    return page.locator(selector).locator("visible=true").first.bounding_box()


def test_a_sweep_shows_its_answer_and_its_table_beside_its_plot(bench):
    page = bench.page
    bench.turn_to("Sweep", ".wb-sweep")
    parameters = page.get_by_label("over", exact=True)
    parameters.first.fill("12, 24")
    parameters.first.press("Tab")
    # What cannot run is said before, in the words of the menus.
    page.get_by_label("vary", exact=True).nth(1).select_option("Solver")
    until(page, lambda: parameters.nth(1).input_value() == "")
    parameters.nth(1).fill("cg, hybrid3")
    parameters.nth(1).press("Tab")
    plan = page.locator(".wb-sweep .wb-status", has_text="2 of them cannot run: Hybrid pipelined CG 3")
    plan.wait_for()
    assert plan.bounding_box()["height"] > 10
    parameters.nth(1).fill("cg, pipecg")
    parameters.nth(1).press("Tab")
    page.locator(".wb-sweep .wb-status", has_text="4 runs = 2 (cells per side) × 2 (solver)").wait_for()
    page.locator('.wb-sweep [data-act="run"]').click()
    bench.until_said("4 of 4 runs done")
    until(page, lambda: not parameters.first.is_visible())
    # What is said of the end may come before the table and the plot have all of it.
    until(page, lambda: _answers_stand(page))
    # All have converged, so no column repeats it.
    until(page, lambda: "state" not in page.locator(".wb-sweep th").all_inner_texts())
    until(page, lambda: _cell_width(bench) <= 180)
    for width in (640, 1280):
        page.set_viewport_size({"width": width, "height": 1000})
        until(page, lambda: page.locator(".wb-sweep .wb-sorted table").evaluate(CUT) == [])
    bench.shoot("sweep")


def _answers_stand(page):
    """True if the table of a sweep stands at the right of its plot, and no lower."""
    plot, table = box(page, ".wb-sweep canvas.wb-canvas"), box(page, ".wb-sweep .wb-sorted table")
    return plot["x"] + plot["width"] <= table["x"] and table["y"] <= plot["y"]


def _cell_width(bench):
    """Pixels that each of the two columns of the map is wide."""
    left, _, right, _ = map(int, bench.seen(".wb-sweep canvas.wb-canvas")["box"].split(","))
    return (right - left) / 2


def test_a_race_is_by_time_with_setup_and_its_table_is_not_cut(bench):
    page = bench.page
    race = page.locator(".wb-race:not(.wb-sweep)")
    bench.turn_to("Race", ".wb-race:not(.wb-sweep)")
    bench.until_said("4 entries: press Start")
    race.locator('[data-act="run"]').click()
    bench.until_said("4 entries: all have ended")
    bench.until_said("times ahead of|too close to call")
    bench.until(lambda: bench.seen(".wb-race:not(.wb-sweep) .wb-convergence canvas")["axis"] == "seconds")
    for width, mode in ((640, ""), (1280, ""), (1280, "projector"), (1600, "")):
        page.set_viewport_size({"width": width, "height": 1000})
        page.evaluate("mode => { document.documentElement.dataset.wbMode = mode; }", mode)
        until(page, lambda: race.locator(".wb-sorted table").evaluate(CUT) == [])
        assert race.locator("tbody td", has_text="converged").first.is_visible()
        assert race.get_by_role("button", name="Remove").first.is_visible()


def test_runs_say_what_is_drawn_beside_the_plot(bench):
    page = bench.page
    bench.turn_to("Solve", ".wb-solving canvas")
    bench.solve()
    bench.solve()
    bench.turn_to("Runs", ".wb-runspage canvas")
    table = page.locator(".wb-runspage .wb-sorted table")
    # The first words of a row are those that tell runs of several problems apart.
    heads = [head.strip() for head in table.locator("th").all_inner_texts() if head.strip()]
    assert heads[:3] == ["Run", "Problem", "Name"]
    page.locator('.wb-runspage tr[data-row="1"] input[type=checkbox]').check()
    bench.button("Hide").click()
    sign = page.locator(".wb-runspage .wb-hiddensign")
    sign.wait_for()
    assert sign.bounding_box()["width"] > 30
    bench.until_said("Hidden: run 1; press Show to draw them")
    page.locator('.wb-runspage tr[data-row="1"] input[type=checkbox]').uncheck()
    bench.until_said("Drawn: run 2, all that are not hidden. Hidden: run 1; choose them")
    for width in (640, 1280, 1440, 1600):
        page.set_viewport_size({"width": width, "height": 1000})
        until(page, lambda: table.evaluate(CUT) == [])
        until(page, lambda width=width: _beside(page, table) == (width >= 1440))
    bench.shoot("runs")


def _beside(page, table):
    """Whether the plot of the runs stands at the right of their table."""
    rows, plot = table.bounding_box(), box(page, ".wb-runspage .wb-convergence canvas")
    return rows["x"] + rows["width"] <= plot["x"]
