"""A flow on its page: played, paused, with a method that is changed, an earlier step, and a race."""

import re

import pytest

from tests.browser import lab
from tests.browser.bench import Bench, opened

pytestmark = pytest.mark.browser

CELL = "from workbench.live import workbench\nworkbench(n=64)"


@pytest.mark.parametrize("place", ["voila"])
def test_a_flow_is_played_changed_and_looked_back_at(page, request, place, shoot):
    opened(page, request, place, CELL)
    bench = Bench(page, lambda stage: shoot(f"flow_{stage}"))
    page.locator(".wb-tab[data-key=flow]").click()
    view, words = page.locator(".wb-flow"), page.locator(".wb-flow .wb-words").first
    picture = view.locator(".wb-field canvas")
    act = lambda name: view.locator(f".wb-runbar button[data-act={name}]")  # noqa: E731
    act("run").wait_for()
    act("run").click()
    bench.until(lambda: "steps per second" in words.inner_text())
    bench.until(lambda: int(picture.get_attribute("data-frames") or 0) > 3)
    assert act("run").inner_text().startswith("Pause")
    act("run").click()
    bench.until(lambda: "Paused after" in words.inner_text())
    paused = words.inner_text()
    lab.pick(view.locator(".wb-adding").first, "preconditioner", "mg")
    act("step").click()
    bench.until(lambda: words.inner_text() != paused and "Paused after" in words.inner_text())
    bench.until(lambda: "geometric multigrid" in view.inner_text())
    view.get_by_role("button", name="Race four methods").click()
    bench.until(lambda: "steps raced" in view.inner_text())
    bench.until(lambda: view.locator("table tbody tr").count() == 4)
    bench.shoot("raced")
    act("stop").click()
    bench.until(lambda: "Stopped after" in words.inner_text())


def test_a_bubble_is_dragged_before_the_start_and_refused_at_a_wall(page, request, shoot):
    opened(page, request, "voila", CELL)
    bench = Bench(page, lambda stage: shoot(f"flow_{stage}"))
    page.locator(".wb-tab[data-key=flow]").click()
    page.locator(".wb-flowform select").first.select_option("One bubble, Hysing's test case 1")
    canvas = page.locator(".wb-flow .wb-plane canvas")
    said = lambda: canvas.get_attribute("aria-label") or ""  # noqa: E731
    bench.until(lambda: canvas.get_attribute("data-bubbles") == "1")
    canvas.focus()
    page.keyboard.press("Tab")
    bench.until(lambda: "Bubble 1 at 0.5, 0.5, radius 0.25." in said())
    assert said().startswith("1 bubble on x and y. ")
    # The box of 1 x 2 widths lies within margins and a band of walls.
    box = canvas.bounding_box()
    scale = (box["height"] - 24 - 42 - 2 * 9) / 2
    x, y = box["x"] + 34 + 9 + 0.5 * scale, box["y"] + 24 + 9 + 1.5 * scale
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 0.4 * scale, steps=4)
    page.mouse.move(x - 0.3 * scale, y - 0.5 * scale, steps=4)
    bench.until(lambda: canvas.get_attribute("data-refused") == "0")
    bench.until_said("extends beyond the box")
    bench.shoot("refused")
    page.mouse.move(x + 0.2 * scale, y - 0.5 * scale, steps=4)
    page.mouse.up()
    bench.until(lambda: re.search(r"Bubble 1 at 0\.(69|7\d*), (0\.99\d*|1(\.0\d*)?), radius 0\.25", said()))
    page.locator(".wb-flow .wb-runbar button[data-act=step]").click()
    bench.until(lambda: not canvas.is_visible())
    bench.until(lambda: int(page.locator(".wb-flow .wb-field canvas").get_attribute("data-frames") or 0) > 0)
