"""The start page of `make app`, and a lesson that it leads to: dragged, moved by keys, and answered."""

from __future__ import annotations

import re

import pytest

from tests.browser import lab
from tests.browser.bench import unchanging

pytestmark = pytest.mark.browser

GROUNDS = "rows => rows.map((row) => getComputedStyle(row).backgroundColor.match(/\\d+/g))"
"""The colours of the ground of rows: red, green, blue."""
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
    painted = lab.until(lesson, lambda: int(shown.get_attribute("data-paints")))
    start, axis = (geometry.locator(f'[data-handle="{key}"]') for key in ("start", "first"))
    # All handles, since a pointer outside the window presses nothing.
    shown.evaluate("at => at.scrollIntoView({block: 'center'})")
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
    lab.until(lesson, lambda: steps(geometry) == (1, 1))
    lab.until(lesson, lambda: int(shown.get_attribute("data-paints")) > painted)
    # A hair off it the start lies on it, and is above the handle of the axis.
    x, y = middle[1]
    lesson.mouse.move(x, y)
    lesson.mouse.down()
    lesson.mouse.move(x + 12, y + 1, steps=4)
    lab.until(lesson, lambda: start.bounding_box() != end)
    lesson.mouse.up()
    lab.until(lesson, lambda: steps(geometry) == (1, 1))
    assert axis.bounding_box() == end
    # Tab reaches the axis as well. By keys to the left, away from it.
    start.focus()
    lesson.keyboard.press("Tab")
    assert axis.evaluate("at => at === document.activeElement")
    start.focus()
    lesson.keyboard.press("Shift+ArrowLeft")
    lab.until(lesson, lambda: steps(geometry)[0] > 2)
    shoot("dragged")

    exercise = lesson.locator(".wb-exercise").first
    field, status = exercise.get_by_role("textbox"), exercise.locator("[role=status]")
    for answer, said, tries in (
        ("3", "Not yet: compare the shares", "1st try"),
        ("4", "Not yet: from (4, 1) the first step leaves 70", "2nd try"),
        ("9,0", "Right: from (9, 1)", "solved at the 3rd try"),
    ):
        field.fill(answer)
        # The verdict on the last answer goes, and Enter asks for another.
        lab.until(lesson, lambda: status.inner_text() == "")
        field.press("Enter")
        lab.until(lesson, lambda said=said: status.inner_text().startswith(said))
        exercise.locator(".wb-tries", has_text=tries).wait_for()
    shoot("answered")


def test_symbols_and_steps_of_the_text_are_marked_in_the_picture(lesson, shoot):
    canvas = "canvas => canvas.toDataURL()"
    # By the keyboard: its picture is out of sight, so that a copy comes next to it.
    symbol = lesson.locator(".wb-symbol-zigzag").first
    lab.until(lesson, lambda: symbol.get_attribute("tabindex") == "0")
    geometry = lesson.locator(".wb-geometry").first.locator(".wb-chart canvas").first
    plain = unchanging(lesson, lambda: geometry.evaluate(canvas))
    symbol.focus()
    lab.until(lesson, lambda: geometry.evaluate(canvas) != plain)
    lesson.locator(".wb-peek canvas").wait_for()
    shoot("marked")
    symbol.blur()
    lesson.locator(".wb-peek").wait_for(state="detached")
    lab.until(lesson, lambda: geometry.evaluate(canvas) == plain)

    # A text leads to the page of another lesson.
    other = lesson.locator(".jp-MarkdownCell").get_by_role("link", name="lesson 2", exact=True)
    assert other.get_attribute("href") == "/lesson/polynomials"

    steps = lesson.locator(".wb-stepsofcg")
    steps.scroll_into_view_if_needed()
    said, column = steps.locator(".wb-stepbar span"), steps.locator(".wb-steplist")
    lab.button(steps, "Next").click()
    lab.until(lesson, lambda: said.inner_text() == "2 of 7")
    column.press("ArrowDown")
    lab.until(lesson, lambda: said.inner_text() == "3 of 7")
    column.evaluate("at => at.scrollTo(0, at.scrollHeight)")
    column.dispatch_event("wheel")
    column.evaluate("at => at.dispatchEvent(new Event('scroll'))")
    lab.until(lesson, lambda: said.inner_text() == "7 of 7")
    # The stretched picture takes the place of the other one.
    lab.until(lesson, lambda: [each.is_visible() for each in steps.locator(".wb-chart").all()] == [False, True])
    shoot("stretched")


def test_letters_of_lesson_7_are_marked_in_its_map_and_its_stepper_and_its_links_lead_on(page, app_url, shoot):
    page.goto(f"{app_url}/lesson/many-at-once")
    page.locator(".wb-nextsteps a").first.wait_for()
    derivation, stepper = page.locator(".wb-derivation"), page.locator(".wb-markedsteps").first
    said = derivation.locator("[role=status]")
    lab.until(page, lambda: said.inner_text().startswith("|(Pᵢ, Rₖ)|"))
    lab.button(derivation, "Next").click()
    lab.until(page, lambda: said.inner_text().startswith("|(Uᵢ, Rₖ)|"))
    # Out of sight, so that a copy of the map comes next to the text.
    page.set_viewport_size({"width": 1280, "height": 500})
    symbol = page.locator(".wb-symbol-delta").first
    symbol.scroll_into_view_if_needed()
    lab.until(page, lambda: symbol.get_attribute("tabindex") == "0")
    symbol.focus()
    lab.until(page, lambda: said.text_content().startswith("|(Pᵢ, Sₖ)|"))
    page.locator(".wb-peek canvas").wait_for()
    shoot("map_of_products")
    symbol.blur()
    lab.until(page, lambda: said.text_content().startswith("|(Uᵢ, Rₖ)|"))
    page.locator(".wb-symbol-beta").focus()
    # The line that sets it, and the one that reads it.
    lab.until(page, lambda: [text[:1] for text in stepper.locator(".wb-pointed").all_inner_texts()] == ["β", "β"])
    # Products of columns are short enough for a line of their own.
    assert "‖r‖² ← (Rⱼ, Rⱼ)" in stepper.locator(".wb-code").all_inner_texts()
    page.get_by_role("link", name="lesson 5").click()
    page.get_by_role("heading", name="Deflation").wait_for()
    assert page.url == f"{app_url}/lesson/deflation"
    page.emulate_media(color_scheme="dark")
    rows = page.locator(".jp-RenderedHTMLCommon tbody tr")
    rows.nth(1).wait_for()
    lab.until(page, lambda: all(sum(map(int, found[:3])) < 300 for found in rows.evaluate_all(GROUNDS)))


def test_a_paper_opens_the_page_of_papers_there(page, app_url):
    page.goto(f"{app_url}/")
    page.get_by_role("link", name="Block Conjugate Gradient").click()
    page.locator('.wb-paperitem[data-item="block-cg.fig5"]').wait_for()
    item = "() => document.activeElement?.dataset.item ?? ''"
    assert lab.until(page, lambda: page.evaluate(item)).startswith("block-cg.")


def test_an_answer_comes_back_for_two_weeks(page, app_url):
    page.goto(f"{app_url}/lesson/without-pain")
    field = page.locator(".wb-exercise").first.locator("input")
    field.wait_for()
    kept = """([days, answer]) => localStorage.setItem('workbench-answer:without-pain:1', JSON.stringify(
      {answer, checked: false, tries: 1, solved: false, at: Date.now() - days * 864e5}))"""
    for days, answer, shown in ((15, "3", ""), (13, "4", "4")):
        page.evaluate(kept, [days, answer])
        page.reload()
        # All fields are there once the last one is.
        page.locator(".wb-exercise").last.locator("input").wait_for()
        lab.until(page, lambda: page.locator("[data-handle='start']").count() > 0)
        lab.until(page, lambda shown=shown: field.input_value() == shown)


@pytest.mark.parametrize("name", ["waiting", "many-at-once"])
def test_formulas_fit_and_a_projector_enlarges_letters_and_pictures(name, page, app_url, shoot):
    page.goto(f"{app_url}/lesson/{name}")
    page.locator("mjx-container[display='true']").first.wait_for()
    plot = page.locator("canvas[data-paints]").first
    lab.until(page, lambda: plot.count() and int(plot.get_attribute("data-paints") or 0) > 0)
    beyond = (
        "rows => rows.filter((row) => row.scrollWidth > row.parentElement.clientWidth + 1).map((row) => row.innerText)"
    )
    sized = """() => [getComputedStyle(document.querySelector('.jp-RenderedHTMLCommon p')).fontSize,
      document.querySelector('canvas[data-paints]').getBoundingClientRect().width].map(parseFloat)"""
    for width in (1280, 640):
        page.set_viewport_size({"width": width, "height": 900})
        lab.until(page, lambda: page.locator("mjx-container[display='true']").evaluate_all(beyond) == [])
    page.set_viewport_size({"width": 1600, "height": 900})
    # Canvases follow a new width after a while.
    letters, pictures = unchanging(page, lambda: page.evaluate(sized))
    page.evaluate("document.documentElement.dataset.wbMode = 'projector'")
    lab.until(page, lambda: page.evaluate(sized)[0] >= 1.2 * letters)
    lab.until(page, lambda: page.evaluate(sized)[1] >= 1.05 * pictures)
    shoot(name)
