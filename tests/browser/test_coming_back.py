"""Runs belong to the kernel: whoever closes the page and comes back finds them going on, with every point."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import pytest

from tests.browser import lab
from tests.waiting import LIMIT

pytestmark = pytest.mark.browser


# What the views ask for first is lost on its way, as happens when JupyterLab sends it to a subshell that has ended.
LOSE = """window.origin !== "null" && sessionStorage.getItem("left") && (() => {
  const send = WebSocket.prototype.send;
  window.lost = 0;
  WebSocket.prototype.send = function (data) {
    const text = typeof data === "string" ? data : new TextDecoder().decode(data);
    if (window.lost < 3 && /"kind": ?"ready"/.test(text)) window.lost += 1;
    else send.call(this, data);
  };
})();"""
SAVE = "() => window.jupyterapp.commands.execute('docmanager:save')"


def come_back(explorer, lab_url, before):
    """Open the notebook again: the run continues, and its curve is longer than it was."""
    lab.open_notebook(explorer.page, lab_url, "01_two_level_explorer.ipynb")
    explorer.page.wait_for_selector(".wb-convergence canvas.wb-canvas[data-count]")
    explorer.page.eval_on_selector(".wb-explorer", "box => box.scrollIntoView()")
    explorer.until(lambda: explorer.state == "running" and explorer.count > before)


def connections(lab_url):
    """How many pages are connected to kernels."""
    with urllib.request.urlopen(f"{lab_url}/api/kernels", timeout=LIMIT) as answer:
        return sum(kernel["connections"] for kernel in json.load(answer))


@pytest.mark.parametrize("page_script", [LOSE])
def test_a_closed_page_finds_its_runs_again(explorer, lab_url):
    explorer.choose("deflation", "none")
    explorer.choose("preconditioner", "jacobi")
    # So long that nothing converges before the test is over.
    explorer.fill("n", "2048")
    explorer.fill("rtol", "1e-13")
    explorer.until(lambda: explorer.status.startswith("Choose"))
    explorer.click("Run")
    explorer.until(lambda: explorer.state == "running" and explorer.count > 20)
    explorer.click("Run")
    explorer.click("Run")
    explorer.until(lambda: "runs 2 and 3 queued" in explorer.status)
    assert explorer.seen()["curves"] == "1"
    explorer.page.evaluate(SAVE)
    before = explorer.count
    explorer.page.evaluate("() => sessionStorage.setItem('left', 'true')")
    explorer.page.goto("about:blank")
    explorer.until(lambda: connections(lab_url) == 0)
    come_back(explorer, lab_url, before)
    assert explorer.page.evaluate("() => window.lost") == 3
    explorer.until(lambda: "runs 2 and 3 queued" in explorer.status)
    explorer.click("Pause")
    # All points came again: the start, and one for each iteration.
    assert explorer.held() > before
    explorer.click("Resume")
    explorer.until(lambda: explorer.state == "running")
    explorer.click("Stop")
    explorer.until(lambda: explorer.status.startswith("Run 2: running") and explorer.seen()["curves"] == "2")
    rows = explorer.page.locator("table.wb-table tbody tr")
    # The one that was stopped, the one that runs, and the one that waits.
    explorer.until(lambda: rows.count() == 3 and "run 3 queued" in explorer.status)
    explorer.page.screenshot(path=Path(__file__).parent / "screenshots" / "coming_back_queue.png")
    explorer.click("Stop all")
    explorer.until(
        lambda: explorer.state == "done" and not explorer.page.get_by_role("button", name="Stop all").count()
    )
    explorer.until(lambda: rows.count() == 2)
