"""The schedules in real JupyterLab: sliders move the sentence, the lanes and the curves."""

from __future__ import annotations

import re

import pytest

from tests.browser import lab
from tests.browser.bench import Bench, unchanging, until
from workbench.extensions.models.schedules import METHODS

pytestmark = pytest.mark.browser


PICTURE = ".jp-OutputArea-output .wb-chart canvas[data-name=crossover]"
LANES = ".wb-timeline canvas.wb-canvas"


@pytest.mark.slow
def test_sliders_move_the_sentence_the_lanes_and_the_curves(page, lab_url):
    page.set_viewport_size({"width": 1280, "height": 1150})
    lab.open_notebook(page, lab_url, "04_pipelined_and_hybrid.ipynb")
    lab.run_all(page)
    page.wait_for_selector(PICTURE)
    # The cell after the widget starts from a V100 and asks for hybrid 1.
    message = page.locator(".widget-html", has_text="Modelled:")
    message.locator("text=Hybrid CG 1").first.wait_for()
    curves = unchanging(page, lambda: page.eval_on_selector(PICTURE, "canvas => canvas.toDataURL()"))
    sentence = message.inner_text()
    slider = page.locator(".widget-slider", has_text="link each way").get_by_role("slider")
    slider.focus()
    page.keyboard.press("End")
    page.wait_for_function("([at, before]) => document.querySelector(at).toDataURL() !== before", arg=[PICTURE, curves])
    page.wait_for_function(
        "before => [...document.querySelectorAll('.widget-html')].some("
        "box => box.innerText.includes('Modelled:') && box.innerText !== before)",
        arg=sentence,
    )
    lanes = page.locator(LANES).last
    lanes.scroll_into_view_if_needed()
    page.wait_for_function("at => [...document.querySelectorAll(at)].at(-1).dataset.label === 'modelled'", arg=LANES)
    names = until(page, lambda: "copy to host" in (all_lanes := lanes.get_attribute("data-lanes") or "") and all_lanes)
    # None of them lies over another one.
    assert lanes.bounding_box()["height"] >= 100 + 38 * len(names.split(","))
    page.eval_on_selector(".widget-dropdown", "box => box.scrollIntoView()")
    page.wait_for_function(f"() => ({lab.KERNEL_STATUS})() === 'idle'")


@pytest.mark.slow
def test_several_gpus_have_lanes_and_curves_on_the_page(page, app_url, shoot):
    page.set_viewport_size({"width": 1280, "height": 1000})
    page.goto(f"{app_url}/{lab.WORKBENCH}")
    page.wait_for_selector(".wb-workbench .wb-rail")
    Bench(page, shoot).turn_to("Schedules", ".wb-schedules .wb-entry")
    shown = page.locator(".wb-schedules")
    shown.get_by_label("lanes of").select_option(label=METHODS["pipecg gpu"].label)
    shown.get_by_text("Several GPUs").click()
    slider = shown.locator(".widget-slider", has_text=re.compile("^GPUs(?! per)")).get_by_role("slider")
    slider.focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    shown.locator(".widget-html", has_text="Modelled on 64 GPUs:").wait_for()
    shown.locator("canvas[data-name=scaling]").wait_for()
    lanes = shown.locator(LANES)
    until(page, lambda: lanes.get_attribute("data-lanes") == "GPU 1,GPU 33,GPU 64,network")
    assert shown.locator("canvas[data-name=scaling]").get_attribute("data-x-ticks").startswith("1|2|4|8|16|")
    for scheme, width in (("light", 1280), ("dark", 1600)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 1000})
        lanes.scroll_into_view_if_needed()
        unchanging(page, lambda: lanes.get_attribute("data-paints"))
        shoot(f"several_gpus_{scheme}_lanes")
        shown.locator("canvas[data-name=scaling]").scroll_into_view_if_needed()
        unchanging(page, lambda: lanes.get_attribute("data-paints"))
        shoot(f"several_gpus_{scheme}")
    height = lanes.bounding_box()["height"]
    page.evaluate("document.documentElement.dataset.wbMode = 'projector'")
    until(page, lambda: lanes.bounding_box()["height"] == pytest.approx(1.3 * height, abs=1))
