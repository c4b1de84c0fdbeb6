"""Many right-hand sides in real JupyterLab: run, point at a curve, choose another figure, stop."""

from __future__ import annotations

import pytest

from tests.browser import lab

pytestmark = pytest.mark.browser
PLOT = ".wb-convergence canvas.wb-canvas"


@pytest.fixture
def view(page, lab_url, lab_folder):
    """A notebook of one cell with the view."""
    code = "from workbench.live import BlockView\nBlockView(s=12)"
    lab.open_cells(page, lab_url, lab_folder, "many.ipynb", code)
    lab.run_all(page)
    page.wait_for_selector(PLOT)
    return page


def test_pointing_at_a_curve_names_the_column(view, shoot):
    view.get_by_role("button", name="Run", exact=True).click()
    view.locator(".wb-status", has_text="Run 1: Converged").wait_for()
    # With all their points, next to the legend of them all.
    view.locator(f"{PLOT}[data-curves='12'][data-live=false]").wait_for()
    view.locator(PLOT).hover()
    view.locator(".wb-nearest", has_text="column ").wait_for()
    readout = view.locator(".wb-convergence .wb-readout", has_text="and 2 more")
    readout.wait_for()
    assert readout.inner_text().count("column ") == 10
    shoot("block_view_columns")
    view.get_by_label("figure", exact=True).select_option("heat map of columns")
    view.locator(".wb-chart canvas[data-name='columns']").wait_for()
    view.locator(PLOT).wait_for(state="hidden")
    shoot("block_view_map")


@pytest.mark.slow
def test_stop_ends_a_long_run(view):
    view.get_by_label("unknowns", exact=True).select_option("about 200\u2009000")
    view.get_by_role("button", name="Run", exact=True).click()
    view.locator(".wb-status", has_text="running, iteration").wait_for()
    view.get_by_role("button", name="Stop", exact=True).click()
    view.locator(".wb-status", has_text="stopped by the user").wait_for()
    view.get_by_role("button", name="Run", exact=True, disabled=False).wait_for()
