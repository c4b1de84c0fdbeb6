"""The look inside in real JupyterLab: sliders and menus move the pictures and the words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import lab

pytestmark = pytest.mark.browser


CHARTS = ".wb-chart canvas.wb-canvas"
CHANGED = "([charts, at, before]) => document.querySelectorAll(charts)[at].getAttribute('aria-label') !== before"


@pytest.mark.slow
def test_sliders_and_menus_move_the_pictures(page, lab_url):
    page.set_viewport_size({"width": 1280, "height": 1300})
    lab.open_notebook(page, lab_url, "05_look_inside.ipynb")
    lab.run_all(page)
    reported = page.locator(".widget-html", has_text="Ritz values reach")
    # The roofline comes last; the first view has its exact spectrum when its run is over.
    page.locator(".widget-html", has_text="kernels, together").wait_for()
    charts = page.locator(CHARTS)
    # What is far from sight is not painted yet.
    for at in range(7):
        charts.nth(at).scroll_into_view_if_needed()
        page.wait_for_function("([at, k]) => document.querySelectorAll(at)[k].dataset.layers > 0", arg=[CHARTS, at])
    # Results that come later change the words as well.
    before = lab.unchanging(page, lambda: [charts.nth(at).get_attribute("aria-label") for at in range(7)])
    sentence = reported.nth(1).inner_text()
    slider = page.locator(".widget-slider", has_text="iteration").nth(1).get_by_role("slider")
    slider.scroll_into_view_if_needed()
    slider.focus()
    page.keyboard.press("Home")
    reported.nth(1).locator("text=After 1 iteration").wait_for()
    for _ in range(2):
        page.keyboard.press("PageUp")
    page.wait_for_function(CHANGED, arg=[CHARTS, 3, before[3]])
    page.wait_for_function(CHANGED, arg=[CHARTS, 4, before[4]])
    lab.until(page, lambda: reported.nth(1).inner_text() != sentence, "the words did not follow the slider")
    menu = page.locator(".widget-dropdown", has_text="machine").locator("select")
    menu.select_option(label="NVIDIA Tesla V100, 32 GB")
    page.locator(".widget-html", has_text="on NVIDIA Tesla V100").wait_for()
    page.wait_for_function(CHANGED, arg=[CHARTS, 6, before[6]])
    charts.nth(6).scroll_into_view_if_needed()
    page.screenshot(path=Path(__file__).parent / "screenshots" / "test_inside_roofline.png")
    page.locator(".widget-slider", has_text="iteration").nth(1).evaluate("box => box.scrollIntoView()")
