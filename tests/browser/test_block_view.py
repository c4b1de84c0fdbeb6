"""The view of runs with many right-hand sides in real JupyterLab."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import lab

pytestmark = pytest.mark.browser

SHOTS = Path(__file__).parent / "screenshots"
FIGURE = ".widget-html svg"


def test_every_figure_of_the_view_and_a_tooltip_for_every_column(page, lab_url):
    page.set_viewport_size({"width": 1280, "height": 1200})
    lab.open_notebook(page, lab_url, "09_block_cg.ipynb")
    lab.run_all(page)
    figure = page.locator(FIGURE)
    figure.wait_for()
    page.locator(".widget-html", has_text="converged").wait_for()
    choice = page.locator(".widget-dropdown", has_text="figure").locator("select")
    for name in ("residuals against products", "heat map of columns", "rank and pivot", "residuals against iterations"):
        before = figure.inner_html()
        choice.select_option(label=name)
        page.wait_for_function("([s, before]) => document.querySelector(s).innerHTML !== before", arg=[FIGURE, before])
        figure.scroll_into_view_if_needed()
        page.screenshot(path=SHOTS / f"test_block_view_{name.replace(' ', '_')}.png")
    titles = figure.locator("title").all_text_contents()
    assert [title for title in titles if title.startswith("column ")] == [f"column {j}" for j in range(8)]
    # Stop is for a run that goes on, Run for the others.
    run, stop = (page.get_by_role("button", name=text, exact=True) for text in ("Run", "Stop"))
    assert run.is_enabled()
    assert stop.is_disabled()
    page.locator(".widget-dropdown", has_text="problem").locator("select").select_option(label="two-layer")
    words = page.locator(".widget-html", has_text="converged").inner_text()
    run.click()
    page.wait_for_function(
        "words => ![...document.querySelectorAll('.widget-html')].some(box => box.innerText === words)", arg=words
    )
    page.locator(".widget-html", has_text="converged").wait_for()
    assert run.is_enabled()
    for at, cell in enumerate(page.locator(".jp-Cell-outputArea").all()):
        cell.scroll_into_view_if_needed()
        page.screenshot(path=SHOTS / f"test_block_view_cell_{at}.png")
