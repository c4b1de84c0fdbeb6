"""Building bubbles in real JupyterLab: by pointer, by keys and by numbers, in a square and in a cube."""

from __future__ import annotations

import pytest

from tests.browser import lab
from tests.waiting import LIMIT

pytestmark = pytest.mark.browser


PLANE = ".wb-plane canvas"
CUBE = ".wb-solid canvas"
BAND, LEFT, TOP, RIGHT, BOTTOM = 9, 34, 24, 8, 42
SQUARE = """\
from workbench.live import BubbleBuilder
from workbench.problems.bubbles import Bubbles2D
builder = BubbleBuilder(Bubbles2D(n=32), "levelset:0")
builder"""
CUBIC = """\
from workbench.live import BubbleBuilder
from workbench.problems.bubbles import Bubbles3D
builder = BubbleBuilder(Bubbles3D(n=24), "levelset:2")
builder"""
SOLVE = f"""\
from workbench.run import Session, configure
session = Session(configure(builder.problem, preconditioner="jacobi", deflation=builder.deflation))
session.start()
assert session.wait({LIMIT})
print(f"solved with {{len(builder.problem.geometry().radii)}} bubbles: {{session.result.converged}}")"""


def open_cells(page, lab_url, lab_folder, name, *codes):
    """Open a notebook of these cells and run the first."""
    lab.open_cells(page, lab_url, lab_folder, name, *codes)
    run_cell(page)
    page.wait_for_selector(f"{PLANE}[data-cells]")
    page.eval_on_selector(".wb-explorer", "box => box.scrollIntoView()")


def run_cell(page, index=0):
    page.evaluate("at => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = at; }", index)
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-cell-and-select-next')")


def until_seen(page, canvas=PLANE, **values):
    reported = [f"at.dataset.{name} === '{value}'" for name, value in values.items()]
    page.wait_for_function(
        f"path => {{ const at = document.querySelector(path); return {' && '.join(reported)}; }}", arg=canvas
    )


def until_said(page, words):
    page.locator(".wb-status", has_text=words).first.wait_for()


def place(page, x, y):
    """Where a point of the plane, in side lengths, is on the page once that rests."""
    page.locator(PLANE).element_handle().wait_for_element_state("stable")
    box = page.locator(PLANE).bounding_box()
    size = min(box["width"] - LEFT - RIGHT, box["height"] - TOP - BOTTOM) - 2 * BAND
    return box["x"] + LEFT + BAND + x * size, box["y"] + TOP + BAND + (1 - y) * size


def drag(page, start, end, *, release=True):
    page.mouse.move(*place(page, *start))
    page.mouse.down()
    page.mouse.move(*place(page, *end), steps=6)
    if release:
        page.mouse.up()


def numbers(page, bubble):
    row = page.locator(".wb-bubbles tbody tr").nth(bubble)
    return [float(box.input_value()) for box in row.locator("input").all()]


def until_near(page, bubble, name, value, within=0.004):
    """Wait until a number of the list is there; pointers aim no better than a pixel."""
    path = f"[aria-label='{name} of bubble {bubble + 1}, in side lengths']"
    near = "([path, value, within]) => Math.abs(document.querySelector(path)?.value - value) < within"
    page.wait_for_function(near, arg=[path, value, within])


def run_and_show(page, words):
    """Run the second cell, and look at the builder once more."""
    run_cell(page, 1)
    page.locator(f"text={words}").wait_for()
    page.eval_on_selector(".wb-explorer", "box => box.scrollIntoView()")


def test_bubbles_are_built_in_a_square_and_run(page, lab_url, lab_folder):
    open_cells(page, lab_url, lab_folder, "square.ipynb", SQUARE, SOLVE)
    until_seen(page, bubbles=4, selected=-1)
    page.mouse.click(*place(page, 0.5, 0.5))
    until_seen(page, bubbles=5, selected=4)
    until_near(page, 4, "r", 0.1)
    drag(page, (0.5, 0.5), (0.5, 0.9))
    until_near(page, 4, "y", 0.9)
    drag(page, (0.6, 0.9), (0.55, 0.9))
    until_near(page, 4, "r", 0.05)
    drag(page, (0.5, 0.9), (0.25, 0.75), release=False)
    until_said(page, "bubbles 3 and 5 overlap; move them apart or make one smaller")
    until_seen(page, refused=4)
    page.mouse.up()
    until_seen(page, refused="")
    # It stays where it fitted last on its way.
    x, y, _ = lab.unchanging(page, lambda: numbers(page, 4), reads=4)
    assert 0.25 < x <= 0.505
    assert 0.75 < y <= 0.905
    page.keyboard.press("ArrowRight")
    until_near(page, 4, "x", x + 0.01, 1e-9)
    page.keyboard.press("-")
    until_near(page, 4, "r", 0.045)
    page.keyboard.press("Delete")
    until_seen(page, bubbles=4)
    page.keyboard.press("Control+z")
    until_seen(page, bubbles=5)
    page.mouse.click(*place(page, 0.5, 1.012))
    until_seen(page, dirichlet="y+")
    box = page.get_by_label("r of bubble 1, in side lengths")
    box.fill("wide")
    box.press("Enter")
    until_said(page, "r of bubble 1 must be a number in side lengths, got 'wide'")
    lab.until(page, lambda: box.get_attribute("aria-invalid") == "true", "the wrong number is not marked")
    assert box.input_value() == "wide"
    box.fill("0.2")
    box.press("Enter")
    until_said(page, "bubble 1 at (0.25, 0.25), radius 0.2 (side lengths)")
    # What is wrong in the form is reported at its field.
    n = page.locator('[data-field="n"] input')
    n.fill("4")
    n.press("Enter")
    page.locator(
        '.wb-invalid[data-field="n"] .wb-err', has_text="Cells per side must be between 8 and 46340"
    ).wait_for()
    n.fill("32")
    n.press("Enter")
    page.locator('.wb-invalid[data-field="n"]').wait_for(state="detached")
    page.get_by_label("y− bottom").check()
    until_seen(page, dirichlet="y-,y+")
    page.locator(".wb-form").get_by_role("button", name="Undo").click()
    until_seen(page, dirichlet="y+")
    # Choices side by side are a group of radio buttons, also for the keyboard.
    page.get_by_role("radio", name="2D").focus()
    page.keyboard.press("ArrowRight")
    page.locator('.wb-builder[data-dimensions="3"]').wait_for()
    page.keyboard.press("ArrowLeft")
    page.locator('.wb-builder[data-dimensions="2"]').wait_for()
    run_and_show(page, "solved with 5 bubbles: True")


@pytest.mark.slow
def test_bubbles_are_built_in_a_cube(page, lab_url, lab_folder):
    open_cells(page, lab_url, lab_folder, "cube.ipynb", CUBIC, SOLVE)
    until_seen(page, bubbles=8, seen=4)
    # In the middle the plane lies between the bubbles.
    page.get_by_label("place of the plane").fill("0.5")
    until_seen(page, bubbles=8, seen=0)
    page.mouse.click(*place(page, 0.5, 0.5))
    until_seen(page, bubbles=9, seen=1, selected=8)
    until_near(page, 8, "z", 0.5)
    page.keyboard.press("[")
    until_seen(page, selected=7, seen=4)
    slider = page.get_by_label("place of the plane")
    slider.fill("0.65")
    page.locator("text=z = 0.650").wait_for()
    # Below the middles of the upper four the circles are smaller than the balls.
    drag(page, (0.75, 0.75), (0.7, 0.75))
    until_near(page, 7, "x", 0.7)
    until_near(page, 7, "z", 0.75)
    drag(page, (0.7, 0.75), (0.3, 0.75), release=False)
    until_said(page, "bubbles 7 and 8 overlap")
    until_seen(page, refused=7)
    page.mouse.up()
    until_seen(page, refused="", selected=7)
    cube = page.locator(CUBE)
    azimuth = float(cube.get_attribute("data-azimuth"))
    cube.focus()
    page.keyboard.press("ArrowRight")
    until_seen(page, CUBE, azimuth=f"{azimuth - 15:.1f}")
    cube.element_handle().wait_for_element_state("stable")
    box = cube.bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 40, steps=4)
    page.mouse.up()
    until_seen(page, CUBE, balls=9, azimuth=f"{azimuth - 15 - 40 * 0.45:.1f}", elevation=f"{24 + 20 * 0.45:.1f}")
    run_and_show(page, "solved with 9 bubbles: True")


LINE = ".wb-livesolve [role=status]"
CURVE = ".wb-livesolve .wb-chart canvas"
FIELD = ".wb-livesolve .wb-field canvas"
# The line and the field are of the same solve, and that is not the one whose title is given.
AGREE = r"""([line, field, old]) => {
  const { textContent } = document.querySelector(line);
  const said = textContent.match(/^Converged in (\d+) iterations?, .* from the last solution/);
  const { title } = document.querySelector(field).dataset;
  return said && title !== old && title.startsWith(`solution after iteration ${said[1]}: 4 bubbles in a square, 32²`);
}"""


def test_a_drag_solves_at_each_pause_and_curve_field_and_line_follow(page, lab_url, lab_folder):
    page.set_viewport_size({"width": 1280, "height": 1000})
    open_cells(page, lab_url, lab_folder, "live.ipynb", SQUARE)
    assert page.get_by_label("Solve while dragging").is_checked()
    line = page.locator(LINE)
    line.filter(has_text=" from zero").wait_for()
    page.wait_for_selector(f"{CURVE}[data-layers='2']")
    page.wait_for_selector(f"{FIELD}[data-quantity='solution']")
    title = page.get_attribute(FIELD, "data-title")
    # The button is held: what follows is a pause of the drag and not its end.
    drag(page, (0.25, 0.25), (0.29, 0.3), release=False)
    line.filter(has_text="from the last solution").wait_for()
    # The last curve is drawn behind that of this solve.
    page.wait_for_selector(f"{CURVE}[data-layers='3']")
    page.wait_for_function(AGREE, arg=[LINE, FIELD, title])
    page.mouse.up()
    page.get_by_label("Solve while dragging").uncheck()
    page.locator(CURVE).first.wait_for(state="hidden")
