"""The list of runs in the page: what every view feeds, what is chosen there, and what a page that comes back shows."""

from __future__ import annotations

import re

import pytest

from tests.browser import bench, lab
from tests.browser.bench import opened, tick, unchanging, until

pytestmark = pytest.mark.browser

CELL = "from workbench.live import workbench\nworkbench('two-layer', n=48)"
CURVES = ".wb-runspage .wb-convergence canvas.wb-canvas"
ROWS = ".wb-runspage tbody tr:not(.wb-grouprow)"
PAINTED = """bars => bars.map((bar) => {
  const widths = [...bar.children].map((part) => part.getBoundingClientRect().width);
  return (widths[0] + widths[1]) / bar.getBoundingClientRect().width;
})"""


@pytest.fixture(params=["lab", pytest.param("voila", marks=pytest.mark.slow)])
def place(request):
    return request.param


@pytest.fixture
def app(page, request, place):
    opened(page, request, place, CELL, ".wb-building canvas, .wb-building .wb-form, .wb-build")
    return page


def press(page, name):
    page.get_by_role("button", name=name, exact=True).locator("visible=true").first.click()


def solved(page, number):
    """Press Run in Solve and wait for the end of this run."""
    lab.turn_to(page, "Solve")
    assert bench.solved(page) == number


def upload(page, file):
    with page.expect_file_chooser() as choosing:
        page.locator(".wb-runspage .widget-upload").click()
    choosing.value.set_files(file)


def row(page, number):
    return page.locator(f'{ROWS}[data-row="{number}"]')


def test_runs_of_solve_race_and_sweep_are_one_list_that_survives_a_reload(app, place, shoot):
    """Race entries and sweep runs never appeared in Look inside, and every view had names and colours of its own."""
    solved(app, 1)
    lab.turn_to(app, "Race")
    app.locator(".wb-race .wb-sorted tbody tr").first.wait_for()
    press(app, "Start")
    app.locator(".wb-race [role=status]", has_text="4 entries: all have ended").first.wait_for(state="attached")
    # The first entry, run 2 of the list, has a colour of its own from its start on.
    entry = app.locator(".wb-race .wb-sorted tbody tr", has_text="1: ")
    colour = entry.locator(".wb-sample").get_attribute("style")
    lab.turn_to(app, "Sweep")
    app.locator(".wb-sweep .wb-status").first.wait_for()
    over = app.get_by_label("over", exact=True)
    over.first.fill("16, 24")
    over.first.press("Tab")
    app.locator(".wb-sweep .wb-status", has_text="6 runs = 2 (cells per side)").wait_for()
    app.locator('.wb-sweep [data-act="run"]').click()
    app.locator(".wb-sweep [role=status]", has_text="6 of 6 runs done").wait_for(state="attached")
    lab.turn_to(app, "Runs")
    app.wait_for_function(f"() => document.querySelectorAll('{ROWS}').length === 11")
    origins = lab.column(app.locator(".wb-runspage table"), "from")
    assert (origins.count("Sweep"), origins.count("Race"), origins.count("Solve")) == (6, 4, 1)
    assert row(app, 2).locator(".wb-sample").get_attribute("style") == colour
    # Names are edited in place, by keyboard.
    row(app, 1).locator("input[type=checkbox]").focus()
    app.keyboard.press("Space")
    app.keyboard.press("F2")
    app.keyboard.type("the first one")
    app.keyboard.press("Enter")
    row(app, 1).locator("td", has_text="the first one").wait_for()
    row(app, 2).locator("input[type=checkbox]").check()
    app.wait_for_function(f"() => document.querySelector('{CURVES}').dataset.curves === '2'")
    shoot("runs_two_chosen")
    app.get_by_role("button", name="Together", exact=True).click()
    app.wait_for_selector(".wb-runspage th[aria-sort=ascending]")
    if place == "lab":
        # The list is kept by the kernel; a served page that is reloaded has a new one.
        app.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
        app.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
        app.reload()
        app.locator(".wb-rail .wb-tab").first.wait_for()
        lab.turn_to(app, "Runs")
        row(app, 1).locator("td", has_text="the first one").wait_for()
        until(app, row(app, 1).locator("input[type=checkbox]").is_checked)
        until(app, lambda: app.locator(".wb-runspage th[aria-sort=ascending]").count() == 1)
    # A run of the sweep is looked into.
    row(app, 1003).locator("td").nth(3).click()
    app.wait_for_function(f"() => document.querySelectorAll('{ROWS}.wb-chosen').length === 1")
    press(app, "Look inside")
    app.locator(".wb-insidepage select").first.locator("visible=true").wait_for()
    chosen = app.locator(".wb-insidepage select").first
    app.wait_for_function(
        "() => document.querySelector('.wb-insidepage select').selectedOptions[0]?.text.startsWith('1003:')"
    )
    until(app, lambda: chosen.locator("option").count() == 11)
    app.get_by_role("button", name="Run again with timings").locator("visible=true").first.click()
    app.wait_for_function(
        "() => document.querySelector('.wb-insidepage select').selectedOptions[0]?.text.endsWith('timings')"
    )


def test_all_runs_are_one_file_and_run_files_are_of_the_chosen(app, tmp_path):
    """The button for a run file wrote all runs, whatever was chosen."""
    solved(app, 1)
    solved(app, 2)
    box = app.locator('.wb-solving tr[data-row="2"] input[type=checkbox]')
    # Buttons for rows come with the choice of one, and move nothing.
    acts = app.locator(".wb-solving .wb-tablebar button").locator("visible=true")
    top = "row => row.offsetTop"
    row = app.locator('.wb-solving tr[data-row="2"]')
    before = row.evaluate(top)
    assert acts.count() == 0
    box.check()
    app.wait_for_function("() => document.querySelectorAll('.wb-solving tr.wb-chosen').length === 1")
    until(app, lambda: acts.count() > 3)
    assert row.evaluate(top) == before
    name, _ = lab.download(app, lambda: press(app, "Run files"))
    assert re.fullmatch(r"Two-layers.*run2\.run\.npz|.*bubbles.*run2\.run\.npz", name)
    lab.turn_to(app, "Runs")
    name, path = lab.download(app, lambda: press(app, "Save all runs"))
    assert name == "runs.runs.zip"
    upload(app, {"name": name, "mimeType": "application/zip", "buffer": path.read_bytes()})
    app.locator(".wb-runspage .wb-status", has_text="2 runs added to the list").wait_for()
    app.wait_for_function(f"() => document.querySelectorAll('{ROWS}').length === 4")
    upload(app, {"name": "broken.zip", "mimeType": "application/zip", "buffer": path.read_bytes()[:200]})
    app.locator(".wb-runspage .wb-status", has_text="broken.zip is damaged or not a file of runs").wait_for()


@pytest.mark.slow
def test_a_field_of_a_finished_run_leaves_its_trace_alone(app):
    """Showing the solution after a traced run had ended stretched the timeline to 20 s and added a call."""
    lab.turn_to(app, "Solve")
    app.locator(".wb-advanced summary").locator("visible=true").first.click()
    tick(app, app.locator('[data-field="trace"] input').locator("visible=true"))
    solved(app, 1)
    app.get_by_text("Timeline of the kernels").locator("visible=true").click()
    table = app.locator(".wb-solving .wb-kernels:not(.wb-setup .wb-kernels)")
    before = unchanging(app, table.inner_text)
    app.locator(".wb-field select").locator("visible=true").first.select_option("solution")
    app.wait_for_function(
        "() => [...document.querySelectorAll('.wb-field canvas')].some(c => c.dataset.quantity === 'solution')"
    )
    assert unchanging(app, table.inner_text) == before


@pytest.mark.slow
def test_pairs_are_suggested_taken_and_raced(app, shoot):
    """The advisor was not in the browser; then three could be raced before three were measured, and did not start."""
    lab.turn_to(app, "Suggest")
    best = app.get_by_role("button", name="Race the best three", exact=True)
    assert best.is_disabled()
    app.locator('.wb-suggest [data-act="run"]').click()
    until(app, best.is_enabled)
    basis = lab.column(app.locator(".wb-suggest .wb-sorted table"), "basis")
    assert sum("measured" in text for text in basis) >= 3, basis
    ranked = re.compile("fastest is|too close to call")
    app.locator(".wb-suggest [role=status]", has_text=ranked).wait_for(state="attached")
    shoot("suggest")
    ranking = app.locator(".wb-suggest .wb-sorted tbody")
    until(app, lambda: ranking.locator("tr").count() > 5)
    # The last ranking comes after the sentence.
    unchanging(app, ranking.inner_text)
    # Setup and iterations are a bar in each row, the longest of which fills its cell.
    longest = max(ranking.locator(".wb-parts").evaluate_all(PAINTED))
    assert longest == pytest.approx(1, abs=0.02)
    assert int(app.locator(".wb-suggest canvas.wb-canvas").get_attribute("data-layers")) > 0
    best.click()
    app.locator(".wb-race .wb-sorted").locator("visible=true").wait_for()
    app.locator(".wb-race [role=status]", has_text=re.compile("running|all have ended")).first.wait_for()
    # They join the four entries with which the page opens.
    app.wait_for_function("() => document.querySelectorAll('.wb-race .wb-sorted tbody tr').length === 7")
    lab.turn_to(app, "Suggest")
    name = lab.column(app.locator(".wb-suggest .wb-sorted table"), "first level")[0]
    app.locator(".wb-suggest").get_by_text("Use", exact=True).first.click()
    app.locator('.wb-solving [data-act="run"]').locator("visible=true").wait_for()
    app.wait_for_function("name => document.querySelector('.wb-solving').textContent.includes(name)", arg=name)


def test_all_runs_are_grouped_by_problem_and_filtered(app):
    """The page had no filter, and the first of its buttons was the one that forgets all runs."""
    for name in ("Two layers, as in the paper", "Poisson equation, one level"):
        lab.turn_to(app, "Solve")
        app.get_by_label("Example").select_option(name)
        chosen = "two-layer" if "layers" in name else "poisson5"
        app.locator(f'.wb-solving [data-field="problem"] .wb-pick[data-value="{chosen}"]').wait_for()
        cells = app.locator('.wb-solving [data-field="problem.n"] input')
        cells.fill("24")
        cells.press("Enter")
        for _ in range(3):
            rows = app.locator(".wb-solving .wb-runlist tbody tr", has_text="converged")
            before = rows.count()
            app.locator('.wb-solving [data-act="run"]').click()
            rows.nth(before).wait_for()
    lab.turn_to(app, "Runs")
    page = app.locator(".wb-runspage")
    groups = page.locator(".wb-grouprow")
    until(app, lambda: groups.all_inner_texts() == ["Poisson, 24² · 3 runs", "Two layers, 24² · 3 runs"])
    page.locator(".wb-tablefilter").fill("two layers")
    until(app, lambda: page.locator("tbody tr").count() == 3)
    page.locator(".wb-tablefilter").fill("nothing of the kind")
    page.get_by_text("No row has these words.").wait_for()
    page.locator(".wb-tablefilter").fill("")
    until(app, lambda: page.locator("tbody tr").count() == 8)
    buttons = page.locator("button").locator("visible=true").all_inner_texts()
    assert buttons[0] == "Save all runs"
