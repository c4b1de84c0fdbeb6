"""A race and a sweep in real JupyterLab: lanes come while others run, the winner changes with tolerance and axis."""

from __future__ import annotations

import re

import pytest

from tests.browser import lab
from tests.browser.bench import unchanging, until

pytestmark = pytest.mark.browser


CURVES = ".wb-convergence canvas.wb-canvas"
RACE = """\
from workbench.live import RaceView
from workbench.run import configure
view = RaceView(*(configure("two-layer", n=192, preconditioner="jacobi", deflation=d) for d in ("none", "stripes")))
view"""
ELSEWHERE = """\
from workbench.live import RaceView
from workbench.run import Stopping, configure
view = RaceView(*(configure("two-layer", n=64, deflation=d) for d in ("none", "stripes")))
view.start()
view.race.wait(60)
view.rebase(configure("poisson5", n=48, stopping=Stopping(rtol=1e-4)))
view"""
SWEEP = """\
from workbench.live import SweepView
levels = {"preconditioner": ["jacobi", "neumann:2"], "deflation": ["none", "stripes"]}
SweepView("two-layer", {"n": [16, 32, 64], **levels})"""
SEES_RUNNING = """() => {
    const race = document.querySelector('.wb-race')
    new MutationObserver(() => { window.ranAgain ||= race.textContent.includes('running') }).observe(
        race, { subtree: true, childList: true, characterData: true })
}"""
"""Notes that the race says that it is running, which may be for less than a look takes."""


def open_cell(page, lab_url, lab_folder, name, code):
    """Open and run a notebook of one cell."""
    lab.open_cells(page, lab_url, lab_folder, name, code)
    lab.run_all(page)
    page.wait_for_selector(".wb-race")
    page.eval_on_selector(".wb-race", "box => box.scrollIntoView()")


def seen(page, name):
    return page.eval_on_selector(CURVES, f"canvas => canvas.dataset.{name}")


def until_seen(page, name, value):
    page.wait_for_function(f"at => document.querySelector(at)?.dataset.{name} === '{value}'", arg=CURVES)


def press(page, name):
    buttons, radios = (page.get_by_role(role, name=name, exact=True) for role in ("button", "radio"))
    buttons.or_(radios).first.click()


def verdict(page, words):
    """Wait for these words in the verdict."""
    page.locator(".wb-race .wb-answer .wb-status", has_text=re.compile(words)).wait_for()


def test_entries_race_and_the_winner_follows_tolerance_and_axis(page, lab_url, lab_folder, shoot):
    page.set_viewport_size({"width": 1280, "height": 1000})
    open_cell(page, lab_url, lab_folder, "race.ipynb", RACE)
    press(page, "Start")
    verdict(page, "ahead of|too close to call")
    press(page, "iterations")
    # The tables of a race that has ended come above it.
    adding = page.get_by_text("Add a method", exact=True)
    unchanging(page, adding.bounding_box)
    adding.click()
    lab.pick(page.locator(".wb-race"), "preconditioner", "neumann")
    press(page, "Add entry")
    until_seen(page, "curves", "3")
    winner = page.locator(".wb-race .wb-answer .wb-status")
    page.locator("[role=status]", has_text="3 entries: all have ended").wait_for(state="attached")
    verdict(page, "times fewer than")
    before = winner.inner_text()
    number = page.locator(".wb-race input[type=text]").first
    number.fill("1e-3")
    number.press("Enter")
    until(page, lambda: winner.inner_text() != before)
    press(page, "bytes")
    until_seen(page, "axis", "bytes")
    verdict(page, "times less than")
    press(page, "seconds")
    until_seen(page, "axis", "seconds")
    verdict(page, "ahead of|too close to call")
    until_seen(page, "setup", "true")
    shoot("race_against_seconds_with_setup")
    page.get_by_label("with setup", exact=True).uncheck()
    until_seen(page, "setup", "false")
    until(page, lambda: page.locator(".wb-race .wb-sorted tbody tr").count() == 3)
    page.locator(CURVES).hover(position={"x": 150, "y": 80})
    page.locator(".wb-readout:not([hidden])").wait_for()


@pytest.mark.slow
def test_a_race_is_run_again_to_a_tolerance_that_its_lanes_did_not_reach(page, lab_url, lab_folder, shoot):
    page.set_viewport_size({"width": 1280, "height": 1000})
    open_cell(page, lab_url, lab_folder, "again.ipynb", RACE)
    press(page, "Start")
    page.locator("[role=status]", has_text="all have ended").wait_for(state="attached")
    number = page.locator(".wb-race input[type=text]").first
    number.fill("abc")
    number.press("Enter")
    page.locator("[data-field=tolerance] [role=alert]", has_text="tolerance must be a number, got 'abc'").wait_for()
    until_seen(page, "tolerance", "0.000001")
    number.fill("1e-9")
    number.press("Enter")
    page.locator(".wb-status", has_text="The entries stop at 10⁻⁶; run them again to 10⁻⁹.").wait_for()
    shoot("race_offers_a_finer_tolerance")
    press(page, "Run again to 10⁻⁹")
    verdict(page, "ahead of|too close to call")
    until_seen(page, "tolerance", "1e-9")
    until_seen(page, "curves", "2")
    again = page.get_by_role("button", name="Start again", exact=True)
    again.wait_for()
    styles = page.locator(".wb-race .wb-samplebtn")
    before = sorted(styles.nth(k).get_attribute("title") or "" for k in range(styles.count()))
    page.wait_for_function("() => document.querySelector('.wb-race').textContent.includes('all have ended')")
    page.evaluate(SEES_RUNNING)
    again.click()
    page.wait_for_function("() => window.ranAgain")
    page.locator("[role=status]", has_text="all have ended").wait_for(state="attached")
    # An entry that is run again keeps its style.
    assert len(before) == 2
    assert sorted(styles.nth(k).get_attribute("title") or "" for k in range(styles.count())) == before


def test_the_tolerance_is_dragged_on_the_plot_and_all_follows(page, lab_url, lab_folder):
    open_cell(page, lab_url, lab_folder, "drag.ipynb", RACE)
    press(page, "iterations")
    press(page, "Start")
    page.locator("[role=status]", has_text="all have ended").wait_for(state="attached")
    until_seen(page, "curves", "2")
    until_seen(page, "live", "false")
    until_seen(page, "tolerance", "0.000001")
    grip = page.get_by_role("slider", name="tolerance, a relative residual")
    line = unchanging(page, grip.bounding_box)
    plot = page.locator(CURVES).bounding_box()
    across, level = plot["x"] + 300, line["y"] + line["height"] / 2
    page.mouse.move(across, level)
    until(page, lambda: page.eval_on_selector(CURVES, "canvas => canvas.style.cursor") == "ns-resize")
    page.mouse.move(across, level - 30)
    until(page, lambda: page.eval_on_selector(CURVES, "canvas => canvas.style.cursor") == "")
    page.mouse.move(across, level)
    page.mouse.down()
    page.mouse.move(across, level - 50, steps=10)
    until(page, lambda: float(grip.get_attribute("aria-valuenow")) > -6)
    dragged = float(unchanging(page, lambda: grip.get_attribute("aria-valuenow")))
    page.mouse.up()
    page.wait_for_function(
        f"at => Number(document.querySelector(at).dataset.tolerance) > {10**dragged / 1.02}", arg=CURVES
    )
    value = float(seen(page, "tolerance"))
    number = page.locator(".wb-race input[type=text]").first
    page.wait_for_function(
        "value => Number(document.querySelector('.wb-race input[type=text]').value) === value", arg=value
    )
    until(page, lambda: seen(page, "first").startswith("2:"))
    until(page, lambda: f" {seen(page, 'at')} iteration" in page.locator(".wb-race .wb-answer .wb-status").inner_text())
    page.locator(CURVES).press("Shift+ArrowUp")
    page.wait_for_function(f"() => Number(document.querySelector('.wb-race input[type=text]').value) > {1.1 * value}")
    grip.press("ArrowDown")
    page.wait_for_function(f"() => Number(document.querySelector('.wb-race input[type=text]').value) < {1.1 * value}")
    number.fill("1e-5")
    number.press("Enter")
    until_seen(page, "tolerance", "0.00001")


@pytest.mark.slow
def test_results_stay_until_the_start_on_what_was_chosen_elsewhere(page, lab_url, lab_folder, shoot):
    page.set_viewport_size({"width": 1280, "height": 1000})
    open_cell(page, lab_url, lab_folder, "elsewhere.ipynb", ELSEWHERE)
    until_seen(page, "curves", "2")
    page.get_by_text("These results are of Two layers, 64². Start races the same methods on Poisson, 48².").wait_for()
    page.locator("[role=status]", has_text="Poisson, 48², 2 entries: press Start").first.wait_for(state="attached")
    shoot("race_with_results_of_another_problem")
    press(page, "Start")
    page.locator("[role=status]", has_text="Poisson, 48², 2 entries: all have ended").first.wait_for(state="attached")
    page.get_by_text("These results are of").wait_for(state="hidden")
    until(page, lambda: page.locator(".wb-race input[type=text]").first.input_value() == "0.0001")


def test_a_sweep_is_put_together_in_its_form(page, lab_url, lab_folder):
    page.set_viewport_size({"width": 1280, "height": 1250})
    code = "from workbench.live import SweepView\nSweepView()"
    open_cell(page, lab_url, lab_folder, "form.ipynb", code)
    plan = page.locator(".wb-status").first
    page.locator(".wb-status", has_text="6 runs = 2 (cells per side) × 3 (preconditioner)").wait_for()
    over = page.get_by_label("over", exact=True)
    over.first.fill("16, x")
    over.first.press("Tab")
    page.locator(".wb-status", has_text="Cells per side must be a whole number, got 'x'").wait_for()
    assert over.first.input_value() == "16, x"
    over.first.fill("16, 24, 32")
    over.first.press("Tab")
    press(page, "Add parameter")
    page.get_by_label("vary", exact=True).nth(2).select_option("Deflation")
    # The menu has the names of what was chosen before for a moment, some of which are the same.
    page.locator(".wb-choice select").nth(5).locator("option", has_text="Stripes").wait_for(state="attached")
    for name, label in (("none", "None"), ("stripes", "Stripes along x"), ("file", "Your own vectors, from a file")):
        page.locator(".wb-choice select").nth(5).select_option(label)
        # The menu goes back to "add …" before it is used again.
        page.wait_for_function(
            "([at, name]) => document.querySelectorAll(at)[2].value.split(', ').includes(name)",
            arg=[".wb-choice input[type=text]", name],
        )
        page.wait_for_function("at => document.querySelectorAll(at)[5].selectedIndex === 0", arg=".wb-choice select")
    page.locator(".wb-status", has_text="27 runs = 3 (cells per side) × 3 (preconditioner) × 3 (deflation)").wait_for()
    assert over.nth(2).input_value() == "none, stripes, file"
    press(page, "Run")
    page.locator("[role=status]", has_text="27 of 27 runs done, 9 failed").first.wait_for(state="attached")
    until(page, lambda: (page.locator("tr.wb-failed").count(), page.locator("tr.wb-best").count()) == (9, 3))
    assert plan.inner_text().startswith("27 runs")
    page.get_by_label("rows", exact=True).select_option("deflation")
    page.get_by_label("columns", exact=True).select_option("preconditioner")
    page.get_by_text("Each value is the minimum over cells per side.").wait_for()


@pytest.mark.slow
def test_a_sweep_fills_its_table_which_is_sorted_by_a_press(page, lab_url, lab_folder):
    page.set_viewport_size({"width": 1280, "height": 1050})
    open_cell(page, lab_url, lab_folder, "sweep.ipynb", SWEEP)
    press(page, "Run")
    page.locator("[role=status]", has_text="Two layers: 12 of 12 runs done").first.wait_for(state="attached")
    column = "table.wb-table td:nth-child(5)"
    until(page, lambda: page.locator(column).count() == 12)
    iterations = [int(text.replace(",", "")) for text in page.locator(column).all_inner_texts()]
    heading = page.get_by_role("button", name="iterations", exact=True)
    heading.click()
    page.wait_for_selector("th[aria-sort=ascending]")
    assert [int(text) for text in page.locator(column).all_inner_texts()] == sorted(iterations)
    page.get_by_role("button", name="iterations ▲").click()
    page.wait_for_selector("th[aria-sort=descending]")
    assert [int(text) for text in page.locator(column).all_inner_texts()] == sorted(iterations, reverse=True)
    page.wait_for_selector(".jp-OutputArea-output .wb-chart canvas[data-name='map of n and deflation']")
