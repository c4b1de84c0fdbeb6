"""The lanes of twelve workers in real JupyterLab: all there, in order, none on top of another."""

from __future__ import annotations

import pytest

from tests.browser import lab

pytestmark = pytest.mark.browser

LANES = ".wb-timeline canvas.wb-canvas"
CODE = """\
from workbench.live import TimelineView
from workbench.records import Event, Trace
trace = Trace()
trace.append(Event("M", "cpu", 0, 1))
for number in range(1, 13):
    trace.append(Event("box solves", f"worker {number}", 0, 0.25))
    trace.append(Event("waiting", f"worker {number}", 0.25, 1))
view = TimelineView(trace)
view"""


@pytest.mark.slow
def test_twelve_workers_have_a_lane_each(page, lab_url, lab_folder):
    lab.open_cells(page, lab_url, lab_folder, "workers.ipynb", CODE)
    lab.run_all(page)
    page.wait_for_function("at => document.querySelector(at)?.dataset.boxes === '25'", arg=LANES)
    assert page.get_attribute(LANES, "data-lanes") == ",".join(["cpu", *(f"worker {k}" for k in range(1, 13))])
    # 13 lanes of 30 pixels, 8 apart, between margins of 56 and 44.
    assert page.locator(LANES).bounding_box()["height"] == pytest.approx(13 * 38 + 100, abs=1)
    waiting = page.locator(".wb-kernels tbody tr", has_text="waiting").locator("td").all_inner_texts()
    assert waiting[1] == ", ".join(f"worker {k}" for k in range(1, 13))
    assert waiting[4] == "–"
    # The step of cpu takes 1 s, twelve solves 0.25 s each.
    assert (
        page.locator(".wb-kernels tbody tr", has_text="box solves").locator("td").nth(4).inner_text() == "75.0\u202f%"
    )
    lanes = page.locator(LANES)
    lanes.press("Shift+ArrowRight")
    page.locator(".wb-timeline .wb-readout").wait_for()
