"""The form of Solve, in JupyterLab and in Voila: what cannot be run is not offered, what is wrong is marked there."""

from __future__ import annotations

import re

import pytest

from tests.browser import lab
from tests.browser.bench import opened

pytestmark = pytest.mark.browser

MATRIX = "%%MatrixMarket matrix coordinate real symmetric\n4 4 6\n1 1 4\n2 2 4\n3 3 4\n4 4 4\n2 1 -1\n4 3 -1\n"
EMPTY_TIPS = "() => [...document.querySelectorAll('[title=null], [title=undefined]')].map((at) => at.outerHTML)"


def turn_to(page, title, shown):
    lab.turn_to(page, title)
    page.locator(shown).locator("visible=true").first.wait_for()


@pytest.fixture(params=["voila", pytest.param("lab", marks=pytest.mark.slow)])
def place(request):
    return request.param


def upload(page, name, text):
    with page.expect_file_chooser() as choosing:
        page.locator(".wb-building").get_by_role("button", name="Choose a file").click()
    choosing.value.set_files({"name": name, "mimeType": "text/plain", "buffer": text.encode()})


def test_an_uploaded_matrix_can_be_run_and_wrong_values_are_marked(page, request, place, shoot):
    """The form kept a second level that a matrix cannot have, so that its run failed; wrong values were not marked."""
    opened(page, request, place)
    turn_to(page, "Solve", ".wb-solving canvas")
    page.eval_on_selector(".wb-solving .wb-advanced", "details => { details.open = true; }")
    ratio = page.locator('[data-field="problem.density_ratio"] input')
    lab.until(page, lambda: ratio.input_value() == "0.001", "another density ratio of two layers")
    turn_to(page, "Build", ".wb-building canvas")

    # A file that cannot be read was reported with its place in the server's cache folder.
    page.locator(".wb-building").get_by_text("Matrix", exact=True).click()
    page.get_by_role("radio", name="Path", exact=True).click()
    box = page.locator('[data-field="path"] input')
    box.fill("nowhere.mtx")
    box.press("Enter")
    page.locator('.wb-invalid[data-field="path"] .wb-err', has_text="no file at").wait_for()
    page.get_by_role("radio", name="File", exact=True).click()
    upload(page, "broken.mtx", "%%MatrixMarket matrix coordinate real symmetric\n4 4 9\n1 1 4\n")
    refused = page.locator('.wb-building [data-field="upload"] .wb-err', has_text="broken.mtx").first
    refused.wait_for()
    assert "uploads" not in refused.inner_text()
    upload(page, "small.mtx", MATRIX)
    page.get_by_text("Matrix small is read.").wait_for()
    turn_to(page, "Solve", ".wb-solving canvas")
    solve = page.locator(".wb-solving")
    solve.locator("[role=status]", has_text="Deflation levelset needs phases").first.wait_for()
    deflation = solve.locator('[data-field="deflation"]')
    deflation.locator('.wb-pick[data-value="none"]').wait_for()
    deflation.locator(".wb-remark", has_text="levelset needs phases").wait_for()
    # What cannot run is in the menu with its reason, and choosing it does nothing.
    deflation.locator(".wb-pick").click()
    stripes = deflation.locator('.wb-option[data-value="stripes"]')
    stripes.locator(".wb-reason", has_text="needs a grid").wait_for()
    shoot("form_menu")
    stripes.click(force=True)
    page.keyboard.press("Escape")
    assert deflation.locator(".wb-pick").get_attribute("data-value") == "none"
    shoot("form_replaced")
    run = solve.locator('[data-act="run"]')
    run.click()
    solve.locator("[role=status]", has_text="Run 1: Converged").wait_for(state="attached")

    rtol = solve.locator('[data-field="rtol"] input')
    rtol.fill("small")
    rtol.press("Enter")
    solve.locator('.wb-invalid[data-field="rtol"]').wait_for()
    page.locator('.wb-solving [data-act=run]:disabled[title*="Tolerance ‖r‖/‖b‖ must be a number"]').wait_for()
    message = solve.locator(".wb-err span", has_text="Tolerance ‖r‖/‖b‖ must be a number, got 'small'")
    message.scroll_into_view_if_needed()
    shoot("form_wrong")
    # What one view says is not said in another.
    turn_to(page, "Build", ".wb-building")
    said = page.locator(":is([role=status], [role=alert])", has_text=re.compile("Tolerance")).locator("visible=true")
    lab.until(page, lambda: said.count() == 0, "Build says what is wrong in Solve")
    turn_to(page, "Solve", ".wb-solving canvas")
    rtol.fill("1e-8")
    rtol.press("Enter")
    message.wait_for(state="detached")
    page.wait_for_function("() => !document.querySelector('.wb-solving [data-act=run]').disabled")

    # No control of any page has an empty tooltip, and a page without code gives no advice in Python.
    for title, shown in (
        ("Race", ".wb-race"), ("Sweep", ".wb-sweep"), ("Look inside", ".wb-insidepage"), ("Step", ".wb-steps"),
        ("Your method", ".wb-own"), ("Open a run", ".wb-replay"),
    ):  # fmt: skip
        turn_to(page, title, shown)
    assert page.evaluate(EMPTY_TIPS) == []
    turn_to(page, "Look inside", ".wb-insidepage")
    message = page.locator(".wb-insidepage .wb-hollow", has_text="press “Run again with timings”")
    message.locator("visible=true").first.wait_for()
    shoot("hint_Inspect")
    assert "Session(" not in page.locator(".wb-insidepage").inner_text()
    page.locator(".wb-insidepage .widget-html", has_text="Ritz values reach").locator("visible=true").wait_for()
    assert "spectra(" not in page.locator(".wb-insidepage").inner_text()
