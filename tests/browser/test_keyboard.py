"""Every view by keyboard: the focus is seen wherever it goes, sliders say what they show, and plots have names."""

from __future__ import annotations

import pytest

from tests.browser import lab
from tests.browser.bench import run_to_the_end
from tests.browser.lab import unchanging, until

pytestmark = pytest.mark.browser

VIEWS = ("Build", "Solve", "Race", "Sweep", "Suggest", "Flow", "Look inside", "Step", "Schedules", "Papers", "Runs")
MOST_STOPS = 140
"""Stops of a view that are looked at."""
FOCUS = """() => {
  const at = document.activeElement;
  if (!at || at === document.body) return null;
  const box = at.getBoundingClientRect();
  const bars = [...document.querySelectorAll(".wb-runbar-host, .wb-rail, .wb-flowbar, .wb-tablebar")];
  const others = bars.filter((bar) => bar.checkVisibility() && !bar.contains(at));
  const across = (bar) => box.left < bar.right && box.right > bar.left;
  // Of a picture that is higher than the room a part is enough.
  const least = box.height > innerHeight / 2 ? box.height / 2 : 1;
  const covered = (bar) => Math.min(box.bottom, bar.bottom) - Math.max(box.top, bar.top);
  const hides = (bar) => across(bar) && covered(bar) > least;
  const outside = box.bottom <= 0 || box.top >= innerHeight || box.width === 0;
  const name = at.getAttribute("aria-label") || at.textContent.trim() || at.title || at.dataset.act || at.className;
  const hidden = others.map((bar) => bar.getBoundingClientRect()).some(hides);
  return { name: `${at.localName} ${name}`.slice(0, 80), hidden, outside };
}"""
LAYOUT = """() => [...document.querySelectorAll(".wb-pane *")].filter((at) => at.checkVisibility())
  .map((at) => { const box = at.getBoundingClientRect(); return [box.x, box.y, box.width, box.height]; }).join()"""
FILLED = """() => [...document.querySelectorAll(".wb-pane :is(button, input, canvas)")]
  .filter((at) => at.checkVisibility()).length > 4"""
PLOTS = """() => [...document.querySelectorAll(".wb-pane canvas.wb-canvas")]
  .filter((canvas) => canvas.checkVisibility() && !(canvas.getAttribute("aria-label") || "").trim())
  .map((canvas) => canvas.closest(".wb-view")?.className)"""


@pytest.fixture
def app(page, app_url):
    page.goto(f"{app_url}/{lab.WORKBENCH}")
    page.locator(".wb-page-build canvas").first.wait_for()
    return page


@pytest.mark.parametrize("width", [1280, 640])
def test_the_focus_is_never_behind_a_pinned_bar(app, width):
    app.set_viewport_size({"width": width, "height": 700})
    # Inspect has something to show.
    run_to_the_end(app)
    wrong = []
    for view in VIEWS:
        lab.turn_to(app, view)
        app.wait_for_function(FILLED)
        # What comes later, as a plot does, would move what has the focus.
        unchanging(app, lambda: app.evaluate(LAYOUT), reads=4)
        seen = set()
        for _ in range(MOST_STOPS):
            app.keyboard.press("Tab")
            found = app.evaluate(FOCUS)
            if found is None or (found["name"] in seen and len(seen) > MOST_STOPS // 2):
                break
            seen.add(found["name"])
            if found["hidden"] or found["outside"]:
                # Unless the page was just moving.
                found = unchanging(app, lambda: app.evaluate(FOCUS), reads=4) or found
            if found["hidden"] or found["outside"]:
                wrong.append((view, found["name"]))
        assert len(seen) > 5, view
    assert not wrong, wrong


def test_a_slider_says_the_value_that_it_shows(app):
    lab.turn_to(app, "Schedules")
    handle = app.locator(".wb-pane .widget-slider .noUi-handle").locator("visible=true").first
    handle.focus()
    shown = app.locator(".wb-pane .widget-slider .widget-readout").locator("visible=true").first
    app.keyboard.press("ArrowRight")
    app.keyboard.press("ArrowRight")
    until(app, lambda: handle.get_attribute("aria-valuetext") == shown.inner_text().strip() != "2")
    until(app, lambda: handle.get_attribute("aria-label"))


def test_every_plot_has_a_name(app):
    for view in VIEWS:
        lab.turn_to(app, view)
        app.wait_for_timeout(800)
        until(app, lambda: app.evaluate(PLOTS) == [], f"a plot of {view} has no name")


def test_half_the_texts_of_solve_are_gone_at_rest_and_its_meanings_come_with_the_focus(app):
    lab.turn_to(app, "Solve")
    app.locator(".wb-solving .wb-convergence canvas").wait_for()
    lab.unchanging(app, lambda: len(lab.texts(app)), reads=4)
    assert len(lab.texts(app)) <= 45
    field = app.locator('.wb-solving [data-field="problem.n"]')
    about = field.locator(".wb-explained")
    assert about.is_hidden()
    high = app.evaluate("() => document.documentElement.scrollHeight")
    field.locator("input").focus()
    until(app, about.is_visible)
    assert "8 to 46" in about.inner_text()
    # It lies over what is below, so that nothing moves.
    assert app.evaluate("() => document.documentElement.scrollHeight") == high


def test_motion_is_left_out_where_the_user_wants_none(app):
    app.emulate_media(reduced_motion="reduce")
    duration = "at => getComputedStyle(at).transitionDuration"
    assert set(app.locator(".wb-btn, .wb-tab").evaluate_all(f"all => all.map({duration})")) <= {"0s"}
    app.emulate_media(reduced_motion="no-preference")
