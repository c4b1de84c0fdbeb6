"""The explorer by keyboard, on a small screen and in the dark theme."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import lab

pytestmark = pytest.mark.browser

CONTROLS = """() => {
  const name = (control) => control.getAttribute("aria-label")
    || [...(control.labels ?? [])].map((label) => label.textContent.trim()).join(" ")
    || control.textContent.trim() || control.title;
  const all = [...document.querySelectorAll(".wb-explorer :is(button, input, select, textarea, canvas, [tabindex])")];
  const seen = all.filter((control) => control.checkVisibility() && !control.disabled && control.tabIndex >= 0);
  seen.forEach((control, number) => { control.dataset.stop = number; });
  return seen.map((control) => [control.tagName, control.getAttribute("role"), name(control)]);
}"""
FIELD = ".wb-field canvas.wb-canvas"
STOP = "() => document.activeElement?.dataset?.stop ?? ''"
FITS = "box => [box.scrollWidth, box.clientWidth]"
THEME = "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })"


def fits(page, place):
    """Wait until a box has its width, and check that what is in it is no wider."""
    wide, room = lab.unchanging(page, lambda: place.evaluate(FITS), reads=3)
    assert wide <= room


def test_every_control_has_a_name_and_is_reached_by_the_tab_key(explorer):
    explorer.tick("trace")
    explorer.fill("n", "32")
    explorer.run()
    explorer.until(lambda: explorer.enabled("Save figures") and explorer.seen()["live"] == "false")
    controls = lab.unchanging(explorer.page, lambda: explorer.page.evaluate(CONTROLS))
    assert [control for control in controls if not control[2]] == []
    assert sum(control[0] == "CANVAS" for control in controls) == 2
    explorer.page.locator('.wb-explorer [data-stop="0"]').focus()
    reached = {explorer.page.evaluate(STOP)}
    for _ in range(len(controls) + 5):
        explorer.page.keyboard.press("Tab")
        reached.add(explorer.page.evaluate(STOP))
    assert {str(number) for number in range(len(controls))} - reached == set()


@pytest.mark.slow
def test_the_dark_theme_and_an_open_sidebar_leave_everything_in_sight(explorer):
    page = explorer.page
    explorer.fill("n", "64")
    explorer.run()
    paints = lab.unchanging(page, lambda: int(explorer.seen(FIELD)["paints"]))
    whole = page.locator(".wb-explorer")
    page.evaluate(THEME, "JupyterLab Dark")
    page.wait_for_function("() => document.body.dataset.jpThemeLight === 'false'")
    explorer.until(lambda: int(explorer.seen(FIELD)["paints"]) > paints)
    fits(page, whole)
    room = whole.evaluate(FITS)[1]
    page.screenshot(path=Path(__file__).parent / "screenshots" / "test_dark_theme.png")
    page.evaluate("() => window.jupyterapp.shell.expandLeft()")
    explorer.until(lambda: whole.evaluate(FITS)[1] < room)
    for box in (whole, *page.locator(".wb-explorer .wb-buttons").all()):
        fits(page, box)
    page.evaluate(THEME, "JupyterLab Light")
    page.wait_for_function("() => document.body.dataset.jpThemeLight === 'true'")
