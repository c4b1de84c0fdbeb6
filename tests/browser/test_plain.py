"""A saved run as a file without a kernel: opened by its path, it is hovered, zoomed and turned dark."""

from __future__ import annotations

import pytest

from tests.browser import lab
from tests.browser.bench import until
from tests.waiting import LIMIT
from workbench.live.inspect.plain import save_page
from workbench.run import Session, configure

pytestmark = pytest.mark.browser

CHART = ".wb-chart canvas.wb-canvas"
LANES = ".wb-timeline canvas.wb-canvas"


@pytest.fixture
def opened(chromium, tmp_path):
    """The page of a traced run; a script error or anything fetched fails the test."""
    session = Session(configure("two-layer", n=24), trace=True)
    session.start()
    path = save_page(session.wait(LIMIT).record(), tmp_path / "run.html")
    page = lab.context(chromium, viewport={"width": 1280, "height": 900}, color_scheme="light").new_page()
    errors, fetched = [], []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: fetched.append(request.url))
    page.goto(path.as_uri())
    for canvas in (CHART, LANES):
        page.wait_for_selector(f"{canvas}[data-paints]")
    yield page
    page.context.close()
    assert not errors
    assert [url for url in fetched if not url.startswith("blob:")] == [path.as_uri()]


def test_a_saved_run_is_alive_without_a_kernel(opened):
    def said(name: str, place: str = CHART) -> str:
        return opened.locator(place).get_attribute(f"data-{name}") or ""

    canvas = opened.locator(CHART)
    box = canvas.bounding_box()
    x, y = box["x"] + box["width"] / 3, box["y"] + box["height"] / 2
    opened.mouse.move(x, y)
    opened.locator(".wb-chart .wb-readout", has_text="iteration").wait_for()
    whole = float(said("x-high")) - float(said("x-low"))
    opened.mouse.down()
    opened.mouse.move(x + 150, y, steps=4)
    opened.mouse.up()
    until(opened, lambda: said("zoomed") == "true" and float(said("x-high")) - float(said("x-low")) < whole / 2)
    assert int(said("count", LANES)) > 10
    opened.locator(".wb-timeline").get_by_role("button", name="Zoom in", exact=True).click()
    until(opened, lambda: said("mode", LANES) != "all")
    light = canvas.evaluate("canvas => canvas.toDataURL()")
    opened.get_by_label("theme").select_option("dark")
    until(opened, lambda: canvas.evaluate("canvas => canvas.toDataURL()") != light)
    assert opened.evaluate("() => document.documentElement.dataset.wbTheme") == "dark"
