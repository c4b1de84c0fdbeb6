"""Papers in the page: an item is opened, turned, brought back, and its runs are in the list."""

from __future__ import annotations

import pytest

from tests.browser import lab
from tests.browser.bench import opened, until

pytestmark = pytest.mark.browser

ITEM = ".wb-paper"


def deviation(page):
    return page.locator(f"{ITEM} .wb-status").first.inner_text()


def drawn(page):
    return page.locator(f"{ITEM} .wb-chart canvas").first.evaluate("canvas => canvas.toDataURL()")


@pytest.fixture
def shelf(page, request):
    opened(page, request, "voila")
    lab.turn_to(page, "Papers")
    page.locator(".wb-paperitem").first.wait_for()
    return page


def test_a_model_follows_its_slider_and_comes_back(shelf):
    page = shelf
    card = page.locator('[data-item="mpcg.table2"]')
    assert card.locator(".wb-badge").inner_text().endswith("% from print")
    assert card.locator(".wb-made").inner_text().startswith("computed ")
    page.locator('[data-item="mpcg.table2"]').press("Enter")
    until(page, lambda: deviation(page).startswith("At the paper's values, 10 points are "))
    first, picture = deviation(page), drawn(page)
    slider = page.locator(f"{ITEM} .widget-slider", has_text="bandwidth").get_by_role("slider")
    # What is shown is announced, and not its place in the list.
    until(page, lambda: slider.get_attribute("aria-valuetext") == "192")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 20, box["y"], steps=4)
    # While it is dragged.
    until(page, lambda: deviation(page).startswith("Away from the paper's values (GPU's bandwidth, GB/s "))
    on_the_way = deviation(page)
    page.mouse.move(box["x"] + 60, box["y"], steps=8)
    page.mouse.up()
    until(page, lambda: deviation(page) not in (first, on_the_way))
    until(page, lambda: drawn(page) != picture)
    page.get_by_role("button", name="Back to the paper's values").click()
    until(page, lambda: deviation(page) == first)
    page.locator(ITEM).get_by_role("button", name="Compute here").click()
    stop = page.locator(ITEM).get_by_role("button", name="Stop")
    until(page, lambda: stop.count() and stop.is_disabled())
    page.get_by_role("button", name="All papers").click()
    until(page, lambda: card.locator(".wb-made").inner_text() == "computed here")
    # Back where it was opened.
    until(page, lambda: page.evaluate("document.activeElement.dataset.item") == "mpcg.table2")


def test_runs_of_an_item_are_in_the_list_and_its_address_opens_it(shelf):
    page = shelf
    page.locator('[data-item="two-level.table2"]').click()
    largest = page.locator(f"{ITEM} .widget-slider", has_text="largest n").get_by_role("slider")
    largest.focus()
    page.keyboard.press("Home")
    runs = page.get_by_role("button", name="Show its runs")
    runs.wait_for()
    until(page, lambda: "view=papers.papers%3Atwo-level.table2" in page.url)
    address = page.url
    runs.click()
    rows = page.locator(".wb-runspage .wb-runlist tbody tr", has_text="Papers")
    until(page, lambda: rows.count() >= 5)
    page.goto(address)
    page.locator(ITEM, has_text="Table 2: iterations").wait_for()
