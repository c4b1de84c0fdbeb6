"""Lines that are moved, in a real JupyterLab: by a button and by dragging, with the verdict after each move."""

from __future__ import annotations

import pytest

from tests.browser import lab
from tests.browser.bench import until

pytestmark = pytest.mark.browser

MOVES = 'from workbench.live import Lesson, MoveLines\nMoveLines("pipelined")'
EXERCISE = 'Lesson("waiting").check(2)'


def lines(order):
    return order.locator("li .wb-code").evaluate_all("codes => codes.map((code) => code.title)")


def drag(page, order, line, onto):
    """Drag a line to the upper half of another."""
    box = order.locator(f'li:has([title="{line}"]) .wb-code').bounding_box()
    target = order.locator(f'li:has([title="{onto}"])').bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 20, target["y"] + target["height"] / 4, steps=6)
    page.mouse.up()


def test_lines_are_moved_and_judged(page, lab_url, lab_folder):
    page.set_viewport_size({"width": 1280, "height": 1000})
    lab.open_cells(page, lab_url, lab_folder, "waiting.ipynb", MOVES, EXERCISE)
    lab.run_all(page)
    moves, exercise = page.locator(".wb-movelines"), page.locator(".wb-exercise")
    moves.locator("[role=status]", has_text="2 reductions follow one another").wait_for()
    for change in range(2, 7):
        lab.button(page, "Next change").click()
        moves.locator(f"text=Change {change} of 8").wait_for()
    said = moves.locator("[role=status]")
    moves.locator(
        "[role=status]", has_text="1 reduction, as no sum needs another. As these lines stand, modelled on 4096 GPUs"
    ).wait_for()
    after = moves.locator(".wb-order").nth(1)
    before = lines(after)
    # r before alpha is new: a step of the iteration before.
    for _ in range(3):
        place = lines(after).index("r = r - alpha*s")
        after.locator("li").nth(place).get_by_role("button", name="up").click()
    until(page, lambda: "x differs from that of CG from iteration" in said.inner_text())
    assert lines(after).index("r = r - alpha*s") == before.index("r = r - alpha*s") - 3
    assert after.locator('[data-mark="differs"] .wb-code').get_attribute("title") == "r = r - alpha*s"
    lab.button(page, "Undo moves").click()
    until(page, lambda: "x is that of CG" in said.inner_text() and lines(after) == before)
    order = exercise.locator(".wb-order")
    order.scroll_into_view_if_needed()
    lab.button(page, "Check").click()
    exercise.locator("[role=status]", has_text="Not yet: a sum starts where its line").wait_for()
    # Above the products, which then hide the sums.
    for line in ("gamma = (r, u)", "omega = (u, w)", "uu = (u, u)", "rr = (r, r)"):
        drag(page, order, line, "m = M(w)")
        until(page, lambda line=line: lines(order).index(line) < lines(order).index("m = M(w)"))
    lab.button(page, "Check").click()
    exercise.locator("[role=status]", has_text="Right: x is that of CG").wait_for()
