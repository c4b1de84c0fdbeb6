"""The explorer in real JupyterLab, and what matters most in Voila too, as a user drives it."""

from __future__ import annotations

import csv
import re
import zipfile

import pytest

from tests.browser import lab
from workbench.plots.figures import read_provenance
from workbench.records import load

pytestmark = pytest.mark.browser
both = pytest.mark.parametrize("place", ["lab", pytest.param("voila", marks=pytest.mark.slow)])

HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
NO_WORKERS = "window.Worker = class { constructor() { throw new Error('workers are forbidden here'); } };"


def choose_long_run(explorer):
    """Thousands of iterations of some milliseconds each."""
    explorer.choose("deflation", "none")
    explorer.choose("preconditioner", "jacobi")
    explorer.fill("n", "1024")
    explorer.fill("rtol", "1e-13")


def choose_short_run(explorer, preconditioner):
    explorer.fill("n", "64")
    explorer.choose("preconditioner", preconditioner)


def converged(explorer, number):
    """Wait until the run of this number has ended and all its points are on the plot; returns how many they are."""
    found = explorer.until(lambda: re.match(rf"Run {number}: Converged in ([\d\u202f]+) iteration", explorer.status))
    count = 1 + int(found[1].replace("\u202f", ""))
    explorer.until(lambda: explorer.seen()["live"] == "false" and explorer.count == count)
    return count


def step_to(explorer, count):
    """Press Step once: one more sample, and no other."""
    explorer.click("One iteration")
    explorer.until(lambda: explorer.count == count)
    explorer.until(lambda: explorer.state == "paused" and explorer.enabled("One iteration"))


def export(explorer, button, folder):
    """Press an export button, and unpack what the browser downloads."""
    # Tests of other pages may have written into it before.
    before = set((explorer.folder / "exports").glob("*"))
    name, archive = lab.download(explorer.page, lambda: explorer.click(button))
    explorer.page.locator("[role=status]", has_text=f"downloaded {name}").wait_for()
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(folder)
    assert set((explorer.folder / "exports").glob("*")) == before


@both
def test_the_field_is_there_before_any_run_and_a_wrong_value_is_a_sentence(explorer):
    explorer.until(lambda: explorer.seen(".wb-field canvas").get("columns") == "256")
    explorer.until(lambda: int(explorer.seen(".wb-field canvas")["segments"]) > 0)
    explorer.until(lambda: explorer.enabled("Run") and explorer.enabled("One iteration"))
    assert not any(explorer.enabled(name) for name in ("Pause", "Stop"))
    explorer.fill("n", "2")
    explorer.until(lambda: explorer.status == "Cells per side must be between 4 and 46340, got 2")
    explorer.until(lambda: not explorer.enabled("Run"))
    marked = explorer.page.locator(".wb-invalid")
    assert marked.get_attribute("data-field") == "problem.n"
    assert marked.evaluate("field => getComputedStyle(field.querySelector('input')).borderTopWidth") == "2px"
    message = explorer.page.locator(".wb-err span")
    assert message.inner_text() == "Cells per side must be between 4 and 46340, got 2"
    # The way there and the way out.
    explorer.page.get_by_role("button", name="Show the field").click()
    assert marked.evaluate("field => field.contains(document.activeElement)")
    explorer.page.get_by_role("button", name="Use the default").click()
    marked.wait_for(state="detached")
    explorer.until(lambda: explorer.enabled("Run"))
    explorer.fill("n", "2")
    explorer.until(lambda: not explorer.enabled("Run"))
    explorer.fill("n", "64")
    explorer.until(lambda: explorer.status.startswith("Choose a problem") and explorer.enabled("Run"))
    explorer.until(lambda: (marked.count(), message.count()) == (0, 0))
    explorer.fill("rtol", "small")
    explorer.until(lambda: "must be a number, got 'small'" in explorer.status)


def test_other_blocks_have_other_fields_and_a_cube_can_be_cut(explorer):
    explorer.choose("problem", "bubbles-3d")
    explorer.field("geometry_seed").wait_for()
    explorer.fill("n", "32")
    explorer.until(lambda: explorer.seen(".wb-field canvas").get("title") == "8 bubbles in a cube, 32³")
    plane = explorer.page.get_by_label("section plane")
    paints = explorer.unchanging(lambda: int(explorer.seen(".wb-field canvas")["paints"]))
    plane.focus()
    plane.press("ArrowRight")
    explorer.until(lambda: int(explorer.seen(".wb-field canvas")["paints"]) > paints)
    explorer.page.get_by_label("section normal to").select_option("z")
    explorer.until(lambda: "z = 0.2" in explorer.page.locator(".wb-section").inner_text())
    explorer.choose("deflation", "none")
    explorer.until(lambda: not explorer.field("coarse").locator(".wb-pick").is_enabled())
    explorer.until(lambda: explorer.seen(".wb-field canvas")["segments"] == "0")


@both
def test_a_run_can_be_watched_paused_stepped_resumed_and_stopped(explorer):
    choose_long_run(explorer)
    explorer.click("Run")
    explorer.until(lambda: explorer.state == "running" and explorer.count > 1)
    first = explorer.count
    explorer.until(lambda: explorer.count > first + 10)
    assert explorer.state == "running"
    explorer.until(lambda: explorer.seen()["live"] == "true")
    explorer.until(lambda: not explorer.enabled("One iteration"))

    explorer.click("Pause")
    held = explorer.held()
    explorer.page.wait_for_timeout(400)
    assert explorer.count == held

    step_to(explorer, held + 1)
    step_to(explorer, held + 2)
    explorer.page.wait_for_timeout(400)
    assert explorer.count == held + 2
    explorer.until(lambda: f"iteration {held + 1}" in explorer.status.replace("\u202f", ""))

    explorer.click("Resume")
    explorer.until(lambda: explorer.count > held + 20)
    explorer.click("Stop")
    explorer.until(lambda: explorer.state == "done")
    explorer.until(lambda: "Stopped by the user" in explorer.status)
    explorer.until(lambda: explorer.seen()["live"] == "false")
    # The best x may be that of an earlier iteration.
    ended = explorer.until(lambda: re.search(r"Best x: .* at iteration ([\d\u202f]+)", explorer.status))
    message = int(ended[1].replace("\u202f", ""))
    explorer.until(lambda: explorer.count > message)


@both
def test_a_second_run_stays_with_the_first_and_both_are_exported(explorer, tmp_path):
    for number, preconditioner in enumerate(("jacobi", "neumann"), 1):
        choose_short_run(explorer, preconditioner)
        explorer.run()
        converged(explorer, number)
    explorer.until(lambda: explorer.page.locator(".wb-runlist tbody tr").count() == 2)
    explorer.until(lambda: explorer.seen()["curves"] == "2")
    for place, name in enumerate(("1: Jacobi", "2: Neumann 2")):
        explorer.page.locator(".wb-legend li").nth(place).filter(has_text=name).wait_for()
    spoken = lambda: explorer.page.get_attribute(".wb-convergence canvas", "aria-label")  # noqa: E731
    explorer.until(lambda: spoken().count("at rest") == 2)

    explorer.page.hover(".wb-convergence canvas.wb-canvas", position={"x": 90, "y": 80})
    explorer.until(lambda: "iteration" in explorer.page.locator(".wb-convergence .wb-readout").inner_text())

    folder = tmp_path / "exports"
    export(explorer, "Table (CSV)", folder)
    export(explorer, "Run files", folder)
    for kind in ("SVG", "PDF", "PNG"):
        explorer.choose("as", kind)
        export(explorer, "Save figures", folder)
        assert len(list(folder.glob(f"*.{kind.lower()}"))) == 2
    assert len(list(folder.glob("Two-layers-*.csv"))) == len(list(folder.glob("*.npz"))) == 2
    for path in folder.glob("Two-layers-*.csv"):
        rows = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        assert float(list(csv.DictReader(rows))[-1]["residual"]) > 0
    assert all(load(path).summary["converged"] for path in folder.glob("*.npz"))
    for path in (path for kind in ("svg", "pdf", "png") for path in folder.glob(f"*.{kind}")):
        assert [run["configuration"]["problem"]["parameters"]["n"] for run in read_provenance(path)["runs"]] == [64, 64]

    explorer.click("Clear")
    explorer.until(lambda: explorer.seen()["curves"] == "0")
    explorer.until(lambda: explorer.page.locator(".wb-runlist tbody tr").count() == 0)


def test_a_reloaded_page_shows_everything_again(explorer):
    choose_short_run(explorer, "jacobi")
    explorer.run()
    before = converged(explorer, 1)
    lab.save_and_reload(explorer.page, ".wb-field canvas.wb-canvas")
    explorer.page.wait_for_selector(".wb-convergence canvas.wb-canvas[data-count]")
    explorer.until(lambda: explorer.count == before)
    explorer.until(lambda: explorer.seen(".wb-field canvas").get("columns") == "64")
    explorer.until(lambda: explorer.page.locator(".wb-runlist tbody tr").count() == 1)
    explorer.run()
    explorer.until(lambda: explorer.seen()["curves"] == "2")


def test_a_hidden_page_is_not_painted_and_catches_up_when_it_is_back(explorer):
    choose_long_run(explorer)
    explorer.click("Run")
    explorer.until(lambda: explorer.count > 1)
    explorer.page.evaluate(HIDE, True)
    before = explorer.unchanging(lambda: explorer.count)
    explorer.page.evaluate(HIDE, False)
    explorer.until(lambda: explorer.count > before + 20)
    explorer.click("Stop")
    explorer.until(lambda: explorer.state == "done" and explorer.seen()["live"] == "false")


@pytest.mark.parametrize("page_script", [NO_WORKERS])
def test_where_workers_are_forbidden_the_page_itself_draws(explorer):
    choose_short_run(explorer, "jacobi")
    explorer.run()
    count = converged(explorer, 1)
    assert explorer.page.locator(".wb-result b", has_text="iterations").inner_text().split()[0] == str(count - 1)
    assert int(explorer.seen()["paints"]) > 0
