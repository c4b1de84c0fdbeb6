"""Multipreconditioned CG in real JupyterLab: run, choose figures."""

from __future__ import annotations

import pytest

from tests.browser import lab

pytestmark = pytest.mark.browser
PLOT = ".wb-convergence canvas.wb-canvas"


def test_run_and_every_figure(page, lab_url, lab_folder, shoot):
    lab.open_cells(page, lab_url, lab_folder, "boxes.ipynb", "from workbench.live import MPCGView\nMPCGView()")
    lab.run_all(page)
    page.wait_for_selector(PLOT)
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_function(f"() => document.querySelector('{PLOT}').dataset.curves === '3'")
    page.locator("td", has_text="cg, jacobi").wait_for()
    shoot("mpcg_view_residuals")
    shown = ""
    for figure in ("boxes over the residual", "directions", "weights of terms", "conditioning", "time of parts"):
        page.get_by_label("figure", exact=True).select_option(figure)
        page.locator(".widget-image").wait_for()
        page.wait_for_function("old => document.querySelector('.widget-image').src !== old", arg=shown)
        shown = page.locator(".widget-image").evaluate("image => image.src")
        page.locator(".widget-image").scroll_into_view_if_needed()
        assert page.locator(PLOT).is_hidden()
        shoot(f"mpcg_view_{figure.replace(' ', '_')}")
    lab.shut(page)
