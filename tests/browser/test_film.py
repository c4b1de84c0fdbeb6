"""Inspect in a real page: one page of linked views, and the film of a run, scrubbed, played and kept in its file."""

from __future__ import annotations

import pytest

from tests.browser import lab
from tests.browser.bench import Bench, run_to_the_end, tick, unchanging, until
from workbench.records import load
from workbench.run import configure
from workbench.run.choices.share_link import to_link

pytestmark = pytest.mark.browser

INSIDE = ".wb-insidepage"
FIELD = f"{INSIDE} .wb-field canvas.wb-canvas"
LANES = f"{INSIDE} .wb-timeline canvas.wb-canvas"
CURVE = f"{INSIDE} .wb-convergence canvas.wb-canvas"
READ = "at => [...document.querySelectorAll(`${at} .wb-readout:not([hidden])`)].map((one) => one.innerText)"

QUANTITIES = """at => [...document.querySelectorAll(`${at} .wb-field select`)].map(({ value }) => value)
  .filter((value) => ["coefficient", "solution", "residual", "error"].includes(value))"""
"""What the menus of fields have chosen, also those behind another tab."""


@pytest.fixture
def inside(page, app_url, shoot):
    """The view on a run of 64 x 64 cells with kernel timings."""
    page.set_viewport_size({"width": 1600, "height": 1000})
    page.goto(f"{app_url}/{lab.WORKBENCH}")
    page.wait_for_selector(".wb-building canvas.wb-canvas[data-bubbles]")
    bench = Bench(page, lambda stage: shoot(f"film_{stage}"))
    bench.open_link(to_link(configure("bubbles-2d", n=64, preconditioner="neumann:2", deflation="levelset:4")))
    bench.turn_to("Solve", ".wb-solving canvas")
    tick(page, bench.field("trace").locator("input"))
    bench.solve()
    bench.turn_to("Look inside", LANES)
    bench.until(lambda: int(bench.seen(FIELD).get("iteration", 0)) > 20)
    return bench


def test_inspect_begins_with_what_its_run_has_found_and_names_the_problem_of_that(page, app_url):
    """It began with the coefficient, and the header had the problem of the form."""
    page.goto(f"{app_url}/?p={to_link(configure('bubbles-2d', n=24, preconditioner='neumann:2'))}")
    page.wait_for_selector(".wb-workbench .wb-rail")
    run_to_the_end(page)
    cells = page.locator('.wb-solving [data-field="problem.n"] input')
    cells.fill("32")
    cells.press("Enter")
    page.locator(".wb-chip", has_text="32²").wait_for()
    lab.turn_to(page, "Look inside")
    chosen = until(page, lambda: page.evaluate(QUANTITIES, INSIDE))
    assert "coefficient" not in chosen
    until(page, lambda: "24²" in page.locator(".wb-chip").inner_text())


def test_an_iteration_that_is_pointed_at_is_shown_in_all_views_and_the_film_is_scrubbed(inside):
    page = inside.page
    inside.until(lambda: inside.seen(FIELD)["quantity"] == "solution")
    page.locator(f"{INSIDE} .wb-chart canvas[data-name=ritz]").wait_for()
    page.locator(f"{INSIDE} .wb-chart canvas[data-name=roofline]").wait_for()
    # States on the way to the end may be shown for a moment.
    last = unchanging(page, lambda: int(inside.seen(FIELD)["iteration"]))
    # Two columns, next to each other.
    boxes = [page.locator(at).first.bounding_box() for at in (CURVE, FIELD)]
    assert boxes[1]["x"] > boxes[0]["x"] + boxes[0]["width"]

    page.locator(CURVE).scroll_into_view_if_needed()
    box = page.locator(CURVE).bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.5 * box["height"])
    (said,) = inside.until(lambda: page.evaluate(READ, f"{INSIDE} .wb-convergence"))
    word = said.splitlines()[0]
    assert word.startswith("iteration ")
    inside.until(lambda: all(text.startswith(word) for text in page.evaluate(READ, f"{INSIDE} .wb-chart")[:2]))
    inside.until(lambda: int(inside.seen(FIELD)["iteration"]) < last)
    inside.shoot("linked")
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] - 25)
    inside.until(lambda: int(inside.seen(FIELD)["iteration"]) == last)
    inside.until(lambda: not page.evaluate(READ, INSIDE))

    film = page.locator(f"{INSIDE} .wb-film")
    assert "states kept" in film.inner_text()
    slider = film.get_by_label("iteration that is shown")
    # Spaced by iterations: a state that was kept early lies near the left end.
    slider.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    inside.until(lambda: slider.get_attribute("aria-valuetext") == f"iteration {slider.input_value()}")
    assert int(slider.input_value()) < int(slider.get_attribute("max")) / 4
    page.keyboard.press("End")
    inside.until(lambda: slider.input_value() == slider.get_attribute("max"))
    page.keyboard.press("Home")
    inside.until(lambda: inside.seen(FIELD)["iteration"] == "0")
    film.get_by_role("button").click()
    inside.until(lambda: int(inside.seen(FIELD)["iteration"]) == last)

    inside.turn_to("Solve", ".wb-solving canvas")
    _, path = lab.download(page, lambda: inside.button("Run files").click())
    kept = load(path).film
    assert kept.iterations[0] == 0
    assert kept.iterations[-1] == last


def test_a_stretch_of_the_timeline_is_summed_and_its_strip_moves_the_picture(inside):
    page = inside.page
    lanes = page.locator(LANES)
    box = lanes.bounding_box()
    at = lambda share, y: page.mouse.move(box["x"] + share * box["width"], box["y"] + y)  # noqa: E731
    # Nearly all of it: while other work has the cores, no kernel runs for a third of the time.
    at(0.2, 80)
    page.keyboard.down("Shift")
    page.mouse.down()
    at(0.98, 80)
    page.mouse.up()
    page.keyboard.up("Shift")
    inside.until(lambda: inside.seen(LANES)["selected"])
    begin, end = map(float, inside.seen(LANES)["selected"].split(","))
    summary = page.locator(f"{INSIDE} .wb-timeline summary")
    inside.until(lambda: summary.inner_text().startswith("Selected: "))
    page.locator(f"{INSIDE} .wb-timeline .wb-kernels tbody tr").first.wait_for()
    inside.shoot("selected")
    # The keys zoom at the pointer.
    at(0.5, 80)
    for _ in range(8):
        lanes.press("w")
    inside.until(lambda: inside.seen(LANES)["mode"] == "free")
    width = lambda: float(inside.seen(LANES)["to"]) - float(inside.seen(LANES)["from"])  # noqa: E731
    inside.until(lambda: width() < end - begin)
    start = float(inside.seen(LANES)["from"])
    at(0.95, 12)
    page.mouse.down()
    page.mouse.up()
    inside.until(lambda: float(inside.seen(LANES)["from"]) > start)
    lanes.press("Escape")
    inside.until(lambda: not inside.seen(LANES)["selected"])
    inside.until(lambda: summary.inner_text() == "The whole run by kernel")
