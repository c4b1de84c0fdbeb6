"""A long trace in real JupyterLab: moved along, read out, and compared with another machine."""

from __future__ import annotations

import pytest

from tests.browser import lab

pytestmark = pytest.mark.browser


LANES = ".wb-timeline canvas.wb-canvas"
EVENTS = 50_000
CODE = f"""\
import dataclasses
from workbench.live import TimelineView
from workbench.records import Trace
from workbench.run import Run, configure, run_through
_, record = (
    run_through(Run(configure("two-layer", n=32, deflation="stripes"), trace=True)).record() for _ in range(2)
)
short, long = record.trace, Trace(record.trace.machine)
numbers = [long.kernel(k.name, k.lane, k.bytes, k.flops) for k in short.kernels]
rows = [row.item() for row in short.rows]
for turn in range(-(-{EVENTS} // len(rows))):
    for start, end, kernel, iteration in rows[: {EVENTS} - long.count]:
        later = turn * (short.seconds + 1e-3)
        long.add(numbers[kernel], start + later, end + later, turn * 100 + iteration)
view = TimelineView(dataclasses.replace(record, trace=long))
view"""


@pytest.mark.slow
def test_a_long_trace_moves_smoothly_and_is_compared_with_another_machine(page, lab_url, lab_folder):
    lab.open_cells(page, lab_url, lab_folder, "long.ipynb", CODE)
    lab.run_all(page)
    seen_all = "([at, count]) => Number(document.querySelector(at)?.dataset.count) === count"
    page.wait_for_function(seen_all, arg=[LANES, EVENTS])
    lanes = page.locator(LANES)
    lanes.scroll_into_view_if_needed()

    # What takes the time of a draw is what is drawn: no more than the canvas has columns for, however many there are.
    assert int(page.get_attribute(LANES, "data-boxes")) < EVENTS / 10
    for key in ("+", "ArrowRight", "ArrowLeft"):
        moved(page, key)

    box = lanes.bounding_box()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 84)
    lanes.press("Shift+ArrowRight")
    readout = page.locator(".wb-timeline .wb-readout")
    readout.wait_for()
    lanes.press("Home")
    page.get_by_label("machine to compare with").select_option("v100")
    page.wait_for_function(seen_all, arg=[LANES, 2 * EVENTS])
    words = page.locator(".wb-timeline .wb-words", has_text="modelled").inner_text()
    assert "measured, this machine: " in words
    assert "modelled, NVIDIA Tesla V100, 32 GB: " in words
    assert " times as " in words
    assert page.get_attribute(LANES, "data-lanes") == "cpu (measured),cpu (modelled)"
    # To the start, where there is something of both.
    for key in ["+"] * 7 + ["PageUp"] * 10:
        moved(page, key)
    # The first that states its bytes.
    rated = page.locator(".wb-timeline .wb-readout", has_text="B/s")
    for _ in range(10):
        moved(page, "Shift+ArrowRight")
        if rated.is_visible():
            break
    name, moved_bytes, place = rated.inner_text().splitlines()[:3]
    assert name in page.locator(".wb-kernels").inner_text()
    assert moved_bytes.count("B") == 2
    assert place.startswith("iteration ")
    assert "cpu (measured)" in place


def moved(page, key):
    """Press a key and wait until it has been drawn."""
    before = int(page.get_attribute(LANES, "data-paints"))
    page.locator(LANES).press(key)
    page.wait_for_function("([at, n]) => Number(document.querySelector(at).dataset.paints) > n", arg=[LANES, before])
