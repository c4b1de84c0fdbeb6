"""The look inside in real JupyterLab: the residual is seen while the run continues, and the other tabs follow."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import lab

pytestmark = pytest.mark.browser


FIELD = ".wb-field canvas.wb-canvas"
EXECUTE = "code => { window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestExecute({code}); }"
LIVE = """\
from workbench.live import InsideView
from workbench.run import Run, Session, Stopping, configure, run_through
endless = Stopping(rtol=1e-300, stagnation=10**9)
session = Session(configure("bubbles-2d", n=512, deflation="blocks:4", rhs="random", stopping=endless), trace=True)
session.start()
InsideView(session)"""
SMALL = """\
stopping = Stopping(rtol=1e-8, norm="error")
choices = {"preconditioner": "jacobi", "deflation": "stripes:2", "rhs": "ones-scaled"}
InsideView(run_through(Run(configure("two-layer", n=16, stopping=stopping, **choices))).record(with_solution=True))"""


def open_cells(page, lab_url, lab_folder, name, *codes):
    """Open and run a notebook of some cells."""
    lab.open_cells(page, lab_url, lab_folder, name, *codes)
    lab.run_all(page)


def picture(page, name):
    path = Path(__file__).parent / "screenshots" / f"{name}.png"
    path.parent.mkdir(exist_ok=True)
    page.screenshot(path=path)


def test_fields_are_seen_live_and_a_loaded_run_is_looked_into(page, lab_url, lab_folder):
    open_cells(page, lab_url, lab_folder, "inside.ipynb", LIVE, SMALL)
    page.wait_for_selector(FIELD)
    first, second = page.locator(".wb-inside").first, page.locator(".wb-inside").nth(1)
    field = first.locator(FIELD)

    def until(condition):
        page.wait_for_function(f"({{dataset}}) => {condition}", arg=field.element_handle())

    # A run is looked at, not its problem.
    until("dataset.quantity === 'solution'")
    first.get_by_label("field", exact=True).select_option("coefficient")
    until("Number(dataset.columns) === 512 && dataset.scale === 'log'")
    first.get_by_label("field", exact=True).select_option("residual")
    until("dataset.quantity === 'residual' && Number(dataset.iteration) > 20")
    seen = field.evaluate("canvas => ({...canvas.dataset})")
    assert (seen["scale"], seen["columns"], seen["segments"]) == ("symlog", "128", "6")
    assert float(seen["low"]) == -float(seen["high"])
    assert float(seen["threshold"]) == pytest.approx(float(seen["high"]) / 1000)
    until(f"Number(dataset.iteration) > {seen['iteration']} && Number(dataset.frames) > {seen['frames']} + 5")
    first.get_by_label("subdomains").uncheck()
    until("dataset.segments === '0'")
    first.get_by_label("colours", exact=True).select_option("linear")
    until("dataset.scale === 'linear'")
    first.get_by_label("colours", exact=True).select_option("automatic")
    first.get_by_label("subdomains").check()
    until("dataset.segments === '6' && dataset.scale === 'symlog'")
    first.evaluate("box => box.scrollIntoView()")
    picture(page, "test_inside_residual_live")
    page.evaluate(EXECUTE, "session.stop()")
    until("Number(dataset.columns) === 512 && dataset.quantity === 'residual'")

    second.locator(".widget-html", has_text="Ritz values reach").filter(has_text="By the CG bound").wait_for()
    # Ritz values, estimates of the error and, of a problem this small, the exact spectra.
    charts = second.locator(".wb-chart canvas.wb-canvas").locator("visible=true")
    layers = lambda: charts.evaluate_all("all => all.map(at => Number(at.dataset.layers))")  # noqa: E731
    lab.until(page, lambda: len(layers()) == 3 and all(number > 0 for number in layers()), "not three charts drawn")
    second.get_by_label("field", exact=True).select_option("error")
    loaded = second.locator(FIELD)
    page.wait_for_function("({dataset}) => dataset.quantity === 'error'", arg=loaded.element_handle())
    second.evaluate("box => box.scrollIntoView()")
    picture(page, "test_inside_error_of_a_loaded_run")


ON_LEVELS = """\
from workbench.live import InsideView
from workbench.run import Session, Stopping, configure
coarse = {"deflation": "levelset:16", "coarse": "multilevel:bottom=100", "preconditioner": "neumann:1"}
endless = Stopping(rtol=1e-300, stagnation=10**9, maxiter=1500)
session = Session(configure("bubbles-3d", n=64, sides="z-:dirichlet", stopping=endless, **coarse), trace=True)
session.start()
InsideView(session)"""


@pytest.mark.slow
def test_the_levels_of_a_coarse_solver_are_outlined_and_named(page, lab_url, lab_folder):
    page.set_viewport_size({"width": 1280, "height": 900})
    open_cells(page, lab_url, lab_folder, "levels.ipynb", ON_LEVELS)
    page.wait_for_selector(FIELD)
    inside = page.locator(".wb-inside")
    field = inside.locator(FIELD)
    level = inside.get_by_label("level of the coarse solver")
    level.wait_for()
    names = level.locator("option").all_inner_texts()
    assert [name.partition(": ")[0] for name in names] == [f"level {number}" for number in range(len(names))]
    assert names[0].endswith("boxes of 4 × 4 × 4 cells")
    assert names[2].endswith("boxes of 16 × 16 × 16 cells")
    inside.get_by_label("field", exact=True).select_option("residual")
    page.wait_for_function("({dataset}) => dataset.quantity === 'residual'", arg=field.element_handle())
    inside.evaluate("box => box.scrollIntoView()")
    before = field.get_attribute("data-segments")
    level.select_option("1")
    changed = f"({{dataset}}) => dataset.segments !== '{before}'"
    page.wait_for_function(changed, arg=field.element_handle())
    page.evaluate(EXECUTE, "session.stop()")
    lab.unchanging(page, lambda: field.get_attribute("data-iteration"))
    assert field.get_attribute("data-segments") != before
    inside.get_by_label("subdomains").uncheck()
    level.wait_for(state="hidden")
    inside.get_by_label("subdomains").check()
    level.wait_for()
    inside.get_by_label("field", exact=True).select_option("coefficient")
    page.wait_for_function("({dataset}) => dataset.quantity === 'coefficient'", arg=field.element_handle())
    picture(page, "levels_field_coefficient")

    inside.get_by_text("The whole run by kernel").click()
    table = inside.locator(".wb-timeline .wb-kernels")
    table.locator("tr", has_text="coarse solve").wait_for()
    # Events that were not sent before the run has ended come in several messages, and each draws the table again.
    levels = table.locator("tr.wb-level")
    lab.until(page, lambda: levels.count() == len(names), "not a row for each level")
    rows = [row.split("\t")[0] for row in lab.unchanging(page, table.locator("tbody tr").all_inner_texts)]
    place = rows.index("coarse solve")
    assert rows[place + 1 : place + 4] == ["level 0", "level 1", "level 2"]
    assert rows[place + len(names)] == "coarsest level"
    assert levels.count() == len(names)
    picture(page, "levels_timeline")
