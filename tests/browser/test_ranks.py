"""A run on two ranks in the explorer: live while it runs, stopped by its button, its picture there afterwards."""

import pytest

from tests.browser.conftest import FIELD, STATUS

pytestmark = pytest.mark.browser

NOTE = """selector => {
  window.said = [];
  const line = document.querySelector(selector);
  const note = () => window.said.push(line.innerText);
  new MutationObserver(note).observe(line, { subtree: true, childList: true, characterData: true });
}"""
"""Notes what the status line says from now on, which may be for less than a look takes."""


@pytest.mark.parametrize("place", ["voila"])
def test_a_run_on_ranks_is_live_and_stops(explorer):
    explorer.choose("problem", "bubbles-3d")
    # So many cells that nothing ends by itself before the test is over.
    explorer.fill("n", "128")
    explorer.choose("preconditioner", "jacobi")
    explorer.fill("rtol", "1e-13")
    explorer.fill("ranks", "2")
    explorer.page.evaluate(NOTE, STATUS)
    explorer.click("Run")
    explorer.until(lambda: any("start of the ranks" in said for said in explorer.page.evaluate("said")))
    explorer.until(lambda: explorer.state == "running" and explorer.count > 20)
    seen = explorer.count
    explorer.until(lambda: explorer.count > seen)
    explorer.until(lambda: int(explorer.seen(FIELD)["iteration"]) > 0)
    explorer.click("Stop")
    explorer.until(lambda: "Stopped by the user" in explorer.status)
    explorer.until(lambda: int(explorer.seen(FIELD)["iteration"]) == explorer.unchanging(lambda: explorer.count) - 1)
