"""A page whose kernel was restarted, has died or was shut down says so, and nothing on it can be pressed."""

from __future__ import annotations

import pytest

from tests.browser import lab

pytestmark = pytest.mark.browser

RESTART = "() => window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()"
SHUT_DOWN = "() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()"
GONE = ".wb-gone"
BEFORE = "result => getComputedStyle(result, '::before').content"
LIVE = """() => [...document.querySelectorAll(".wb-explorer :is(button, input, select, textarea)")]
  .filter((control) => !control.closest("[inert]")).length"""


@pytest.mark.parametrize(
    "end", [pytest.param(RESTART, id="restarted"), pytest.param(SHUT_DOWN, id="shut down", marks=pytest.mark.slow)]
)
def test_a_kernel_that_ended_is_told_and_its_controls_are_off(explorer, shoot, end):
    page = explorer.page
    explorer.fill("n", "64")
    explorer.run()
    assert page.locator(GONE).count() == 0
    page.evaluate(end)
    page.locator(GONE, has_text="The kernel was restarted or has ended").wait_for()
    assert page.locator(GONE).inner_text().endswith("Run the cell again.")
    assert page.locator(GONE).count() == 1
    explorer.until(lambda: page.evaluate(LIVE) == 0)
    explorer.until(lambda: page.evaluate(lab.BROKEN_CHAINS) == 0)
    # The green sign of the result stayed.
    mark = page.locator(".wb-result .wb-mark")
    explorer.until(lambda: mark.evaluate("mark => getComputedStyle(mark).visibility") == "hidden")
    explorer.until(lambda: "Before the kernel ended" in page.locator(".wb-result").evaluate(BEFORE))
    shoot("lost_kernel")
    if end == RESTART:
        # The cell run again is a page that works, in place of this one.
        page.wait_for_function(f"() => ({lab.KERNEL_STATUS})() === 'idle'")
        lab.run_all(page)
        page.locator(GONE).wait_for(state="detached")
        explorer.settle()
        explorer.fill("n", "32")
        explorer.run()
