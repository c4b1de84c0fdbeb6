"""A saved run in real JupyterLab: opened by its path, looked at in all views, and saved as figures."""

from __future__ import annotations

import pytest

from tests.browser import lab
from tests.browser.bench import until
from tests.waiting import LIMIT
from workbench.plots.figures import read_provenance
from workbench.records import save
from workbench.run import Session, configure

pytestmark = pytest.mark.browser


NAMELESS = """() => [...document.querySelectorAll(".wb-replay :is([role=slider], [contenteditable])")]
  .filter((part) => !part.getAttribute("aria-label")).length"""


@pytest.fixture
def replay(page, lab_url, lab_folder):
    """A notebook of one cell, and a run file next to it."""
    session = Session(configure("two-layer", n=24, deflation="stripes"), trace=True)
    session.start()
    record = session.wait(LIMIT).record()
    save(record, lab_folder / "notebooks" / "mine.run.npz")
    code = "from workbench.live import Replay\nReplay()"
    lab.open_cells(page, lab_url, lab_folder, "replay.ipynb", code)
    lab.run_all(page)
    page.wait_for_selector(".wb-replay")
    page.eval_on_selector(".wb-replay", "box => box.scrollIntoView()")
    return record


def test_a_saved_run_is_opened_by_its_path_and_replayed_in_all_views(page, replay, lab_folder):
    path = page.get_by_label("Open a saved run", exact=True)
    path.fill("yours.run.npz")
    path.press("Enter")
    page.locator(".wb-status", has_text="no run file at yours.run.npz").wait_for()
    assert path.input_value() == "yours.run.npz"
    path.fill("mine.run.npz")
    path.press("Enter")
    page.locator(".wb-status", has_text=", CG, Jacobi, stripes").wait_for()
    seen = "([at, count]) => document.querySelector(at)?.dataset.count === String(count)"
    page.wait_for_function(seen, arg=[".wb-convergence canvas.wb-canvas", replay.history.count])
    # In a notebook files may go into a folder next to it.
    page.get_by_role("button", name="Save figures").first.wait_for()
    page.locator(".wb-save select").nth(2).select_option("into exports/")
    page.get_by_role("button", name="Save figures").first.click()
    page.locator(".wb-status", has_text="written to").wait_for()
    (figure,) = (lab_folder / "notebooks" / "exports").glob("convergence-Two-layers-24x24-CG-*.svg")
    assert read_provenance(figure)["started"] == replay.provenance["started"]
    page.wait_for_function(seen, arg=[".wb-timeline canvas.wb-canvas", replay.trace.count])
    page.locator(".widget-html", has_text="Effective condition number").wait_for()
    page.get_by_role("slider", name="iteration").wait_for()
    until(page, lambda: page.evaluate(NAMELESS) == 0)
    page.get_by_text("How it was made", exact=True).click()
    page.locator(".wb-origin", has_text='"preconditioner"').wait_for()
