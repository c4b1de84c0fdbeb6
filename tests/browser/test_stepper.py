"""The stepper in real JupyterLab: the slider moves the tables and the picture."""

from __future__ import annotations

import pytest

from tests.browser import lab
from tests.browser.bench import unchanging, until

pytestmark = pytest.mark.browser


PICTURE = ".jp-OutputArea-output .wb-stepper .wb-chart canvas"


def differences(table):
    """What the last column says of values that are not equal."""
    said = table.locator("tbody td:last-child").all_inner_texts()
    return [each for each in said if each and not each.startswith("equal")]


@pytest.mark.slow
def test_the_slider_moves_the_tables_and_the_picture(page, lab_url):
    page.set_viewport_size({"width": 1280, "height": 1250})
    lab.open_notebook(page, lab_url, "03_cg_family.ipynb")
    lab.run_all(page)
    page.wait_for_selector(PICTURE)
    # The cell after the stepper puts it on 60, where rounding shows in r.
    page.wait_for_function("() => document.querySelector('.widget-readout')?.textContent === '60'")
    table = page.locator(".widget-html table").nth(1)
    until(page, lambda: differences(table))
    drawn = "canvas => canvas.toDataURL()"
    picture = unchanging(page, lambda: page.eval_on_selector(PICTURE, drawn))
    before = table.inner_text()
    page.locator(".noUi-handle").focus()
    page.keyboard.press("Home")
    page.wait_for_function("() => document.querySelector('.widget-readout')?.textContent === '0'")
    until(page, lambda: page.eval_on_selector(PICTURE, drawn) != picture)
    until(page, lambda: table.inner_text() != before)
    assert "γ = (r, u)" in table.inner_text()
    assert differences(table) == []
    page.keyboard.press("End")
    page.locator("text=Pipelined CG, broken down at").wait_for()
    page.eval_on_selector(".widget-hslider", "slider => slider.scrollIntoView()")
