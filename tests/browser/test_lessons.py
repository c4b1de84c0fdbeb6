"""The start page of `make app`, and a lesson that it leads to: dragged, moved by keys, and answered."""

from __future__ import annotations

import re

import pytest

from tests.browser import lab

pytestmark = pytest.mark.browser

STEPS = re.compile(r"steepest descent takes (?:more than )?(\d+) steps? and CG takes (\d+)")


@pytest.fixture
def lesson(page, app_url, app_folder):
    """The first lesson, opened from the start page, which has no kernel."""
    before = lab.kernels(app_folder)
    page.goto(f"{app_url}/")
    assert page.get_by_role("link", name="Open the workbench").is_visible()
    assert lab.kernels(app_folder) <= before
    page.get_by_role("link", name="CG without pain").click()
    page.locator('[data-handle="start"]').first.wait_for()
    return page


def steps(geometry):
    """The steps of both methods that the sentence of a picture says."""
    found = STEPS.search(geometry.locator("[role=status]").inner_text())
    return tuple(map(int, found.groups())) if found else None


def test_a_lesson_follows_the_pointer_and_says_why_an_answer_is_wrong(lesson, shoot):
    geometry = lesson.locator(".wb-geometry").first
    lab.until(lesson, lambda: steps(geometry) == (18, 2))
    shown = geometry.locator(".wb-chart").first.locator("canvas").first
    painted = int(shown.get_attribute("data-paints"))
    start, axis = (geometry.locator(f'[data-handle="{key}"]') for key in ("start", "first"))
    start.scroll_into_view_if_needed()
    # Onto the line of the first axis, where one step is enough, from its far side.
    box = start.bounding_box()
    end = axis.bounding_box()
    middle = [(one["x"] + one["width"] / 2, one["y"] + one["height"] / 2) for one in (box, end)]
    lesson.mouse.move(*middle[0])
    lesson.mouse.down()
    lesson.mouse.move(*[(a + b) / 2 for a, b in zip(*middle, strict=True)], steps=4)
    lab.until(lesson, lambda: steps(geometry) != (18, 2))
    lesson.mouse.move(*middle[1], steps=4)
    lesson.mouse.up()
    lab.until(lesson, lambda: steps(geometry) in ((1, 1), (2, 2)))
    lab.until(lesson, lambda: int(shown.get_attribute("data-paints")) > painted)
    # By keys to the left, away from it.
    start.focus()
    for _ in range(3):
        lesson.keyboard.press("Shift+ArrowLeft")
    lab.until(lesson, lambda: steps(geometry)[0] > 2)
    shoot("dragged")

    exercise = lesson.locator(".wb-exercise").first
    for answer, said in (("3", "Not yet: from (3, 1) the first step leaves 62"), ("9", "Right: from (9, 1)")):
        exercise.get_by_role("textbox").fill(answer)
        exercise.get_by_role("button", name="Check").click()
        lab.until(lesson, lambda said=said: exercise.locator("[role=status]").inner_text().startswith(said))
    shoot("answered")


def test_a_paper_opens_the_page_of_papers_there(page, app_url):
    page.goto(f"{app_url}/")
    page.get_by_role("link", name="Block Conjugate Gradient").click()
    page.locator('.wb-paperitem[data-item="block-cg.fig5"]').wait_for()
    item = "() => document.activeElement?.dataset.item ?? ''"
    assert lab.until(page, lambda: page.evaluate(item)).startswith("block-cg.")
