"""Lessons 2 and 3 in real JupyterLab: eigenvalues are dragged and deflated, sliders turned, answers checked."""

from __future__ import annotations

import pytest

from tests.browser import lab
from tests.browser.bench import unchanging, until

pytestmark = pytest.mark.browser

PIXELS = "canvas => canvas.toDataURL()"


@pytest.fixture
def lesson(page, lab_url):
    """Opens a lesson, runs it, and returns its first view of a class."""

    def opened(name, view):
        page.set_viewport_size({"width": 1280, "height": 1100})
        lab.open_notebook(page, lab_url, f"lessons/{name}.ipynb")
        lab.run_all(page)
        shown = page.locator(f".jp-OutputArea-output {view}").first
        shown.locator(".wb-chart canvas[data-name]").nth(1).wait_for()
        shown.scroll_into_view_if_needed()
        return shown

    return opened


def checked(page, number, answer, verdict):
    """Give an answer to an exercise and wait for its verdict; returns the sentence."""
    said = lab.verdict(page, page.locator(".wb-exercise").nth(number - 1), answer)
    assert said.startswith(verdict)
    return said


def test_eigenvalues_are_dragged_deflated_and_moved_by_keys(page, lesson):
    view = lesson("2_polynomials", ".wb-polynomial")
    polynomial, error = view.locator("canvas.wb-canvas").all()
    field = view.locator("input[type=text]").last
    drawn = unchanging(page, lambda: [polynomial.evaluate(PIXELS), error.evaluate(PIXELS)])
    handle = view.locator(".wb-handle").last
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y, steps=4)
    until(page, lambda: handle.bounding_box()["x"] < box["x"] - 50)
    until(page, lambda: polynomial.evaluate(PIXELS) != drawn[0] and error.evaluate(PIXELS) != drawn[1])
    page.mouse.up()
    until(page, lambda: float(field.input_value().split(",")[-1]) < 95)
    moved = field.input_value()
    handle.press("ArrowLeft")
    until(page, lambda: field.input_value() != moved)
    handle.press("Enter")
    until(page, lambda: field.input_value().endswith(")"))
    # A click on the canvas below would zoom, one on a handle deflates.
    view.locator(".wb-handle").first.click()
    until(page, lambda: field.input_value().startswith("("))
    before = unchanging(page, lambda: polynomial.evaluate(PIXELS))
    view.locator(".noUi-handle").press("ArrowRight")
    until(page, lambda: polynomial.evaluate(PIXELS) != before)
    # A symbol of the text is marked as long as the pointer is on it, in JupyterLab as in the served page.
    before = unchanging(page, lambda: polynomial.evaluate(PIXELS))
    page.locator(".wb-symbol-ritz").first.hover()
    until(page, lambda: polynomial.evaluate(PIXELS) != before)
    page.mouse.move(2, 2)
    until(page, lambda: polynomial.evaluate(PIXELS) == before)
    assert "every iteration brings one zero" in checked(page, 1, "2", "Not yet")
    assert "p has zeros at" in checked(page, 1, "3", "Not yet")
    checked(page, 1, "4", "Right")


def test_the_maps_of_orthogonality_follow_the_slider(page, lesson):
    view = lesson("3_rounding", ".wb-stepper")
    maps = view.locator("canvas[data-name^='orthogonality']").all()
    before = unchanging(page, lambda: [each.evaluate(PIXELS) for each in maps])
    view.locator(".noUi-handle").press("PageUp")
    until(page, lambda: all(each.evaluate(PIXELS) != old for each, old in zip(maps, before, strict=True)))
    assert "about seven digits" in checked(page, 3, "7", "Not yet")
    assert "10⁻⁶" in checked(page, 3, "6", "Not yet")
    checked(page, 3, "4", "Right")
    assert "which of the errors" in checked(page, 2, "as low as that of pipelined CG", "Not yet")
    assert "its lowest" in checked(page, 2, "to a level between both", "Not yet")
