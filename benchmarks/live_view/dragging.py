"""Solving while a bubble is dragged: time from a pause of the pointer to the curve of the solve that it begins."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from benchmarks.live_view.page import spread
from workbench.run import configure
from workbench.run.choices.share_link import to_link

SIDES = (64, 128, 256)
PAUSE_MS = 60
"""As in static/build/bubblepointer.js: without a movement for so long the pointer rests."""
WARM_UP = 3
QUIET_MS = 500
"""Without another draw of the curve for so long, it is that of the solve that has ended."""
AWAY = 12
"""Pixels by which the bubble is moved at most; every place is another problem."""
PLANE = ".wb-plane canvas"
# The curve is drawn in a worker, which is started from source text in a Blob. Each of its draws is reported with the
# time of the next frame, when it can be seen.
NOTE_CURVES = """
const Whole = window.Blob;
const NOTES = `;(() => {
  const draw = ChartPlot.prototype.draw;
  const channel = new BroadcastChannel("live curves");
  ChartPlot.prototype.draw = function () {
    draw.call(this);
    if (this.scene?.name !== "live curve") return;
    requestAnimationFrame(() => channel.postMessage(performance.timeOrigin + performance.now()));
  };
})();`;
window.Blob = class extends Whole {
  constructor(parts = [], options = {}) {
    const chart = parts.some((part) => typeof part === "string" && part.includes("class ChartPlot extends"));
    super(chart ? [...parts, NOTES] : parts, options);
  }
};
window.curves = [];
new BroadcastChannel("live curves").onmessage = ({ data }) => window.curves.push(data);
window.moved = 0;
window.addEventListener("pointermove", (event) => { window.moved = performance.timeOrigin + event.timeStamp; }, true);
"""
SETTLED = f"""() => {{
  const last = window.curves.at(-1);
  return last > window.moved && performance.timeOrigin + performance.now() - last > {QUIET_MS};
}}"""


def dragging(lab: Any, browser: Any, folder: Path, count: int) -> dict[str, Any]:
    """By n: milliseconds from the end of so many pauses to the frame with the curve of the solve that each began."""
    folder.mkdir()
    with lab.voila_server(folder) as url:
        found = {str(n): _dragged(lab, browser, url, n, count) for n in SIDES}
    return {n: {"count": len(spent), **spread(spent)} for n, spent in found.items()}


def _dragged(lab: Any, browser: Any, url: str, n: int, count: int) -> list[float]:
    """Four bubbles on n x n cells with the levels that the page suggests; one of them is moved."""
    context = lab.context(browser)
    page = context.new_page()
    page.add_init_script(NOTE_CURVES)
    chosen = configure("bubbles-2d", n=n, preconditioner="neumann:2", deflation="levelset:8")
    page.goto(f"{url}/?p={to_link(chosen)}")
    page.wait_for_selector(f"{PLANE}[data-cells]")
    page.get_by_label("Solve while dragging").check()
    page.wait_for_function("() => window.curves.length")
    box = page.locator(PLANE).bounding_box()
    # The second bubble, which lies in a quarter of the canvas.
    x, y = box["x"] + 0.7 * box["width"], box["y"] + 0.7 * box["height"]
    page.mouse.move(x, y)
    page.mouse.down()
    found = []
    for k in range(WARM_UP + count):
        angle = 2.4 * k
        page.mouse.move(x + AWAY * math.cos(angle), y + AWAY * math.sin(angle))
        page.wait_for_function(SETTLED)
        found.append(page.evaluate("() => window.curves.at(-1) - window.moved") - PAUSE_MS)
    page.mouse.up()
    context.close()
    return found[WARM_UP:]
