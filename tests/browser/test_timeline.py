"""The timeline in real JupyterLab: a traced run is watched, looked into, held and stopped."""

from __future__ import annotations

import json

import pytest

from tests.browser import lab

pytestmark = pytest.mark.browser

NO_WORKERS = "window.Worker = class { constructor() { throw new Error('workers are forbidden here'); } };"
LANES = ".wb-timeline canvas.wb-canvas"


def width(explorer):
    """Milliseconds in sight."""
    seen = explorer.seen(LANES)
    return float(seen["to"]) - float(seen["from"])


def events(explorer):
    return int(explorer.seen(LANES).get("count", 0))


def point(explorer, share):
    """Put the pointer on the lane, at a share of its width."""
    box = explorer.page.locator(LANES).bounding_box()
    explorer.page.mouse.move(box["x"] + share * box["width"], box["y"] + 94)


def open_timeline(explorer):
    explorer.page.locator(".wb-explorer").get_by_text("Timeline of the kernels").click()
    explorer.page.locator(LANES).wait_for(state="visible")


def told_of_an_event(explorer, across):
    """Whether there is an event under the pointer, drawn with it; where the host was busy there is none."""
    before = int(explorer.seen(LANES)["paints"])
    point(explorer, across)
    explorer.until(lambda: int(explorer.seen(LANES)["paints"]) > before)
    return explorer.page.locator(".wb-timeline .wb-readout").is_visible()


def test_a_traced_run_is_followed_held_looked_into_and_stopped(explorer):
    explorer.choose("deflation", "none")
    explorer.choose("preconditioner", "jacobi")
    explorer.fill("n", "1024")
    explorer.fill("rtol", "1e-13")
    open_timeline(explorer)
    explorer.until(
        lambda: "Tick “Record kernel timings” and press Run" in explorer.page.locator(".wb-hollow").inner_text()
    )
    explorer.tick("trace")
    explorer.click("Run")
    explorer.until(lambda: explorer.state == "running" and events(explorer) > 50)
    seen = explorer.until(lambda: int((seen := explorer.seen(LANES))["boxes"]) > 5 and seen)
    assert (seen["label"], seen["lanes"], seen["mode"], seen["live"]) == ("measured", "cpu", "follow", "true")
    before, paints = events(explorer), int(seen["paints"])
    explorer.until(lambda: events(explorer) > before and int(explorer.seen(LANES)["paints"]) > paints)
    explorer.page.locator(".wb-timeline .wb-about", has_text="measured").wait_for()

    explorer.click("Pause")
    explorer.until(lambda: explorer.state == "paused" and explorer.seen(LANES)["live"] == "false")
    # What was sent before the pause may still be on its way.
    held = explorer.unchanging(lambda: events(explorer))
    explorer.page.wait_for_timeout(400)
    assert events(explorer) == held

    explorer.click("Show all")
    explorer.until(lambda: explorer.seen(LANES)["mode"] == "all" and not explorer.enabled("Show all"))
    whole = explorer.unchanging(lambda: width(explorer))
    point(explorer, 0.6)
    explorer.page.keyboard.down("Control")
    for _ in range(14):
        explorer.page.mouse.wheel(0, -100)
    explorer.page.keyboard.up("Control")
    # Notches are drawn as they come; at the end of them it rests.
    explorer.until(lambda: width(explorer) < 0.4 * whole and explorer.seen(LANES)["mode"] == "free")
    notched = explorer.unchanging(lambda: width(explorer))
    assert 0.05 * whole < notched
    for _ in range(6):
        explorer.page.locator(LANES).press("w")
    explorer.until(lambda: width(explorer) < 0.1 * whole)
    start = explorer.unchanging(lambda: float(explorer.seen(LANES)["from"]))
    # Each time elsewhere than before, so that the pointer has moved.
    explorer.until(lambda: any(told_of_an_event(explorer, at) for at in (0.5, 0.55, 0.6, 0.65, 0.7, 0.75)))
    readout = explorer.page.locator(".wb-timeline .wb-readout").inner_text()
    assert "B/s" in readout
    assert "iteration" in readout
    explorer.page.mouse.down()
    point(explorer, 0.9)
    explorer.page.mouse.up()
    explorer.until(lambda: float(explorer.seen(LANES)["from"]) < start)

    lanes = explorer.page.locator(LANES)
    lanes.press("Home")
    explorer.until(lambda: explorer.seen(LANES)["mode"] == "all")
    lanes.press("+")
    explorer.until(lambda: width(explorer) < 0.8 * whole)
    start = float(explorer.seen(LANES)["from"])
    lanes.press("ArrowLeft")
    explorer.until(lambda: float(explorer.seen(LANES)["from"]) < start)
    lanes.press("Shift+ArrowRight")
    explorer.until(lambda: explorer.page.locator(".wb-timeline .wb-readout").is_visible())

    explorer.click("Resume")
    explorer.until(lambda: events(explorer) > held)
    explorer.click("Follow")
    explorer.until(lambda: explorer.seen(LANES)["mode"] == "follow")
    explorer.click("Stop")
    explorer.until(lambda: explorer.state == "done" and explorer.seen(LANES)["live"] == "false")
    explorer.until(lambda: explorer.seen(LANES)["mode"] == "all" and not explorer.button("Follow").is_visible())
    explorer.until(lambda: "events on cpu" in explorer.page.get_attribute(LANES, "aria-label"))


@pytest.mark.parametrize("page_script", [NO_WORKERS])
def test_a_trace_is_exported(explorer):
    """And where workers are forbidden the page itself draws."""
    explorer.fill("n", "64")
    explorer.run()
    assert not explorer.enabled("Trace (JSON)")
    open_timeline(explorer)
    explorer.until(lambda: "has no trace" in explorer.page.locator(".wb-hollow").inner_text())

    explorer.tick("trace")
    explorer.run()
    explorer.until(lambda: explorer.page.locator(".wb-kernels tbody tr").count() > 3)
    explorer.page.locator(".wb-timeline .wb-hollow").wait_for(state="hidden")
    explorer.until(lambda: explorer.enabled("Trace (JSON)"))
    name, path = lab.download(explorer.page, lambda: explorer.click("Trace (JSON)"))
    assert name.endswith("run2.trace.json")
    explorer.page.locator("[role=status]", has_text=f"downloaded {name}").wait_for()
    written = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    count = sum(event["ph"] == "X" for event in written)
    assert count > 0
    explorer.until(lambda: events(explorer) == count)
