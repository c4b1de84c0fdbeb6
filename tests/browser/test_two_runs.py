"""A run on the cores and one on the accelerator in a real page: lanes of both on one time axis fill while they run."""

from __future__ import annotations

import pytest

from tests.browser.bench import Bench
from workbench.run import configure
from workbench.run.choices.share_link import to_link

pytestmark = pytest.mark.browser

SOLVING = ".wb-solving .wb-timeline canvas.wb-canvas"
INSIDE = ".wb-insidepage .wb-timeline canvas.wb-canvas"
TABLE = ".wb-insidepage .wb-timeline summary"
ON_CORES, ON_ACCELERATOR = "cpu (1: On CPU)", "accelerator (2: On OpenCL)"


def ends(bench, canvas=SOLVING):
    """Milliseconds that each set of lanes reaches to; none while nothing grows."""
    seen = bench.seen(canvas)
    return [float(end) for end in seen["ends"].split(",")] if seen.get("live") == "true" else []


def point_at(bench, lane, across):
    """Put the pointer on the middle of a lane, at a share of the width of the canvas."""
    canvas = bench.page.locator(INSIDE)
    lanes = bench.seen(INSIDE)["lanes"].split(",")
    box, row = canvas.bounding_box(), lanes.index(lane)
    # The second set has a head of its own above its lanes.
    apart = (box["height"] - 34 - 44 - 2 * 42) / len(lanes)
    top = 34 + 42 * (1 if lane.split("(")[1] == lanes[0].split("(")[1] else 2) + (row + 0.5) * apart
    bench.page.mouse.move(box["x"] + across * box["width"], box["y"] + top)


def test_runs_on_cores_and_accelerator_fill_one_timeline_and_are_compared_in_inspect(page, app_url, shoot):
    pytest.importorskip("pyopencl")
    page.set_viewport_size({"width": 1280, "height": 900})
    chosen = configure("bubbles-2d", n=256, preconditioner="jacobi", deflation="none", solver="sd")
    page.goto(f"{app_url}/?p={to_link(chosen)}")
    page.wait_for_selector(".wb-building canvas.wb-canvas[data-bubbles]")
    bench = Bench(page, lambda stage: shoot(f"two_runs_{stage}"))
    bench.turn_to("Solve", ".wb-solving canvas")
    page.get_by_text("Timeline of the kernels").click()
    page.locator(SOLVING).wait_for(state="visible")
    bench.button("Run on cores and accelerator").click()
    # One after the other, since here the accelerator is the processor: the cores first.
    begun = bench.until(lambda: (now := ends(bench)) and now[0] > 0 and now)
    bench.until(lambda: (now := ends(bench)) and now[0] > begun[0])
    assert bench.seen(SOLVING)["lanes"] == ON_CORES
    bench.button("Stop").first.click()
    begun = bench.until(lambda: len(now := ends(bench)) == 2 and now[1] > 0 and now)
    bench.shoot("second_fills")
    bench.until(lambda: len(now := ends(bench)) == 2 and now[1] > begun[1])
    assert bench.seen(SOLVING)["lanes"].split(",")[:2] == [ON_CORES, ON_ACCELERATOR]
    bench.button("Stop").first.click()
    bench.until(lambda: bench.seen(SOLVING)["live"] == "false")
    page.locator(".wb-solving .wb-timeline .wb-words", has_text="2: On OpenCL: ").wait_for()

    bench.turn_to("Look inside", INSIDE)
    bench.until(lambda: ON_CORES in bench.seen(INSIDE).get("lanes", ""))
    assert bench.seen(INSIDE)["lanes"].startswith(ON_ACCELERATOR)
    # Sums and roofline are those of the run under the pointer.
    page.locator(TABLE, has_text="(2: On OpenCL)").wait_for()
    bench.until(lambda: any(point_at(bench, ON_CORES, at) or "1: On CPU" in page.locator(TABLE).inner_text()
                            for at in (0.2, 0.22, 0.24, 0.26, 0.28)))  # fmt: skip
    page.locator(".wb-insidepage .wb-figure-title", has_text="Roofline of 1: On CPU").wait_for(state="attached")
    bench.shoot("inspect")
    point_at(bench, ON_ACCELERATOR, 0.9)
    other = page.get_by_label("run to compare with").locator("visible=true")
    other.select_option("")
    bench.until(lambda: bench.seen(INSIDE)["lanes"].startswith("accelerator,") and not other.input_value())
    other.select_option("1")
    bench.until(lambda: ON_CORES in bench.seen(INSIDE)["lanes"])
