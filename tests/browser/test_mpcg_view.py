"""Multipreconditioned CG in real JupyterLab: run, choose figures, and watch them follow a run."""

from __future__ import annotations

import pytest

from tests.browser import lab
from tests.browser.bench import until

pytestmark = pytest.mark.browser
PLOT = ".wb-convergence canvas.wb-canvas"
SCENES = {
    "boxes over the residual": "boxes",
    "directions": "directions",
    "weights of terms": "weights",
    "conditioning": "directions of blocks",
    "time of parts": "time of parts",
}
"""The first plot of each figure."""


def test_run_and_every_figure(page, lab_url, lab_folder, shoot):
    lab.open_cells(page, lab_url, lab_folder, "boxes.ipynb", "from workbench.live import MPCGView\nMPCGView()")
    lab.run_all(page)
    page.wait_for_selector(PLOT)
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_function(f"() => document.querySelector('{PLOT}').dataset.curves === '3'")
    page.locator("td", has_text="cg, jacobi").wait_for()
    shoot("mpcg_view_residuals")
    for figure, name in SCENES.items():
        page.get_by_label("figure", exact=True).select_option(figure)
        chart = page.locator(f".wb-chart canvas[data-name='{name}']")
        chart.wait_for()
        chart.scroll_into_view_if_needed()
        page.locator(PLOT).wait_for(state="hidden")
        shoot(f"mpcg_view_{figure.replace(' ', '_')}")


HELD = """
import time
session = view.run()
session.pause()
for _ in range(4):
    session.step()
    while session.run is None or session.state.value != "paused":
        time.sleep(0.05)
"""


@pytest.mark.slow
def test_a_figure_of_a_run_that_goes_on(page, lab_url, lab_folder, shoot):
    first = "from workbench.live import MPCGView\nview = MPCGView(n=300)\nview"
    lab.open_cells(page, lab_url, lab_folder, "held_boxes.ipynb", first, HELD)
    lab.run_all(page)
    page.locator("[role=status]", has_text="paused, iteration 3").wait_for()
    for figure in ("directions", "weights of terms"):
        page.get_by_label("figure", exact=True).select_option(figure)
        chart = page.locator(f".wb-chart canvas[data-name='{SCENES[figure]}'][aria-label*='iteration 3']")
        chart.wait_for()
        shoot(f"mpcg_view_held_{figure.replace(' ', '_')}")
    until(page, page.get_by_role("button", name="Save figures").is_enabled)
    page.get_by_role("button", name="Stop", exact=True).click()
    page.locator("td", has_text="mpcg").first.wait_for()
    chart.wait_for()
    shoot("mpcg_view_stopped")
