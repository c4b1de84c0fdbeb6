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
    view.wait_for_function(f"() => document.querySelector('{PLOT}').dataset.curves === '12'")
    box = view.locator(PLOT).bounding_box()
    view.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    view.locator(".wb-nearest", has_text="column ").wait_for()
    readout = view.locator(".wb-convergence .wb-readout").inner_text()
    assert readout.count("column ") == 10
    assert "and 2 more" in readout
    shoot("block_view_columns")
    view.get_by_label("figure", exact=True).select_option("heat map of columns")
    view.locator(".wb-chart canvas[data-name='columns']").wait_for()
    assert view.locator(PLOT).is_hidden()
    shoot("block_view_map")


@pytest.mark.slow
def test_stop_ends_a_long_run(view):
    view.get_by_label("unknowns", exact=True).select_option("about 200\u2009000")
    view.get_by_role("button", name="Run", exact=True).click()
    view.locator(".wb-status", has_text="running, iteration").wait_for()
    view.get_by_role("button", name="Stop", exact=True).click()
    view.locator(".wb-status", has_text="stopped by the user").wait_for()
    assert view.get_by_role("button", name="Run", exact=True).is_enabled()
