"""Storage formats in the page: looked at, measured, chosen, and solved with."""

from __future__ import annotations

import pytest

from tests.browser.bench import Bench, opened, unchanging
from workbench.run import configure
from workbench.run.choices.share_link import to_link

pytestmark = pytest.mark.browser

TABLE = ".wb-pane-inspect-storage .wb-sorted"
CHARTS = ".wb-pane-inspect-storage .wb-chart canvas"


@pytest.fixture
def bench(page, shoot, request):
    opened(page, request, "voila")
    return Bench(page, shoot)


def cell(page, row, column):
    """The text of a cell by the name of its row and that of its column."""
    names = page.locator(f"{TABLE} thead th").all_inner_texts()
    place = [name.rstrip(" ▲▼") for name in names].index(column)
    return page.locator(f'{TABLE} tr[data-row="{row}"] td').nth(place).inner_text()


def drawn(page):
    return page.locator(CHARTS).locator("visible=true").evaluate_all("all => all.map((canvas) => canvas.toDataURL())")


def test_a_format_is_measured_chosen_and_solved_with(bench):
    page = bench.page
    bench.open_link(to_link(configure("poisson5", n=3)))
    bench.until_said("Opened Poisson")
    bench.turn_to("Solve", ".wb-solving")
    bench.solve()
    bench.turn_to("Storage", f'{TABLE} tr[data-row="format:dia"]')
    before = bench.until(lambda: unchanging(page, lambda: drawn(page)))
    page.locator(f'{TABLE} tr[data-row="format:ell"]').click()
    bench.until(lambda: drawn(page) != before)
    page.locator('.wb-pane-inspect-storage [data-act="run"]').click()
    bench.until_said("fastest here")
    bench.until(lambda: cell(page, "format:ell", "Time here").endswith("s"))
    bench.shoot("storage measured")
    page.get_by_role("button", name="Use", exact=True).locator("visible=true").click()
    bench.until(lambda: cell(page, "format:ell", "In a run") == "chosen")
    bench.turn_to("Solve", ".wb-solving")
    bench.until(lambda: bench.field("format").locator("select").input_value() == "ell")
    bench.solve()
    # Names of runs say in what they differ.
    bench.until(lambda: "A: ELLPACK" in page.locator(".wb-solving .wb-runlist").inner_text())
