"""Paper lines in a real JupyterLab: stepped through in `StepView`; edited, checked and raced in `OwnMethod`."""

from __future__ import annotations

import pytest

from tests.browser import lab
from tests.browser.bench import until

pytestmark = pytest.mark.browser


STEPS = """\
from workbench.live import StepView
StepView("cg", "two-layer", n=24)"""


def open_cell(page, lab_url, lab_folder, name, code, selector):
    """Open and run a notebook of one cell."""
    lab.open_cells(page, lab_url, lab_folder, name, code)
    lab.run_all(page)
    page.wait_for_selector(selector)
    page.eval_on_selector(selector, "box => box.scrollIntoView()")


def press(page, name):
    page.get_by_role("button", name=name, exact=True).first.click()


def until_at(page, iteration, lines):
    page.wait_for_selector(f'.wb-steps[data-iteration="{iteration}"][data-lines="{lines}"]')


def current(page):
    return page.locator(".wb-lines li[aria-current=step]").get_attribute("data-code")


def test_lines_are_stepped_by_buttons_keys_and_slider(page, lab_url, lab_folder):
    open_cell(page, lab_url, lab_folder, "steps.ipynb", STEPS, ".wb-steps[data-place]")
    press(page, "Next iteration")
    until_at(page, 0, 7)
    press(page, "Next line")
    until_at(page, 1, 1)
    assert current(page) == "s = A(p)"
    # Mathematics unless code is asked for; the values stay where they are.
    line = page.locator(".wb-lines li[aria-current=step]")
    assert line.locator(".wb-code").inner_text() == "s ← A\u202fp"
    # Letters of the curve grow on a projector, however wide the picture is.
    letters = page.locator(".wb-small text", has_text="iteration")
    high = letters.bounding_box()["height"]
    mode = "(mode) => { document.documentElement.dataset.wbMode = mode; }"
    page.evaluate(mode, "projector")
    until(page, lambda: 1.2 * high < letters.bounding_box()["height"] < 1.4 * high)
    page.evaluate(mode, "")
    until(page, lambda: abs(letters.bounding_box()["height"] - high) < 1)
    signs = "() => [...document.querySelectorAll('.wb-value > :last-child')].map((at) => at.getBoundingClientRect().x)"
    assert len({round(x) for x in page.evaluate(signs)}) == 1
    press(page, "Mathematics")
    until(page, lambda: line.locator(".wb-code").inner_text() == "s = A(p)")
    page.locator(".wb-steps").focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    until_at(page, 1, 3)
    assert "α = " in page.locator(".wb-lines li[aria-current=step] .wb-value").text_content()
    page.keyboard.press("ArrowLeft")
    until_at(page, 1, 2)
    page.keyboard.press("ArrowDown")
    until_at(page, 1, 12)
    page.keyboard.press("ArrowUp")
    until_at(page, 0, 7)
    page.get_by_label("iteration", exact=True).fill("12")
    until_at(page, 12, 12)
    press(page, "Play")
    page.wait_for_selector('.wb-steps[data-iteration="13"]')
    press(page, "Pause")
    page.wait_for_selector(".wb-steps[data-playing=false]")
    # It may have gone on for a while, even to the end of an iteration; the next end is of this one or of the next.
    place = page.locator(".wb-steps").evaluate("steps => ({...steps.dataset})")
    iteration = int(place["iteration"]) + (place["lines"] == "12")
    press(page, "Next iteration")
    until_at(page, iteration, 12)
    assert page.locator(".wb-steps").get_attribute("data-target") == "p"
    assert page.locator(".wb-tile.wb-fresh").count() == 1
    assert (
        page.locator(".wb-steps [role=status]")
        .inner_text()
        .startswith(f"Iteration {iteration}, line 12 of 12: p = u + β\u202fp gives ‖p‖ = ")
    )


OWN = """\
from workbench.live import OwnMethod
OwnMethod("cg", "two-layer", n=48)"""


def test_lines_are_edited_checked_and_raced(page, lab_url, lab_folder):
    page.set_viewport_size({"width": 1280, "height": 1280})
    open_cell(page, lab_url, lab_folder, "own.ipynb", OWN, ".wb-own textarea")
    status = page.locator(".wb-own .wb-status").first
    text = page.get_by_label("paper lines: in every iteration")
    lines = text.input_value()
    text.fill(lines.replace("s = A(p)", "s = A(p"))
    page.locator(".wb-status[data-state=wrong]").wait_for()
    assert status.inner_text().startswith("iteration, line 1: 's = A(p': '(' was never closed")
    assert page.locator(".wb-writing[data-wrong='1'] .wb-gutter .wb-wrong").inner_text() == "1"
    press(page, "Reset to original")
    page.locator(".wb-status[data-state=good]").wait_for()
    press(page, "Undo reset")
    page.locator(".wb-status[data-state=wrong]").wait_for()
    until(page, lambda: text.input_value() == lines.replace("s = A(p)", "s = A(p"))
    text.fill(lines.replace("p = u + beta*p", "w = M(s)\np = u + beta*p + 0*w"))
    page.locator(".wb-costs b").first.wait_for()
    press(page, "Race")
    page.locator(".wb-race [role=status]", has_text="all have ended").first.wait_for(state="attached")
    entries = page.locator(".wb-race table").first.locator("tbody tr")
    until(page, lambda: len(texts := entries.all_inner_texts()) == 2 and any("my-cg" in text for text in texts))


ON_LEVELS = """\
from workbench.live import StepView
coarse = {"deflation": "levelset:8", "coarse": "multilevel:bottom=100", "preconditioner": "neumann:1"}
StepView("cg", "bubbles-3d", n=16, rhs="random", sides="z-:dirichlet", **coarse)"""


@pytest.mark.slow
def test_what_each_level_removes_is_drawn(page, lab_url, lab_folder, shoot):
    page.set_viewport_size({"width": 1280, "height": 1180})
    open_cell(page, lab_url, lab_folder, "levels_steps.ipynb", ON_LEVELS, ".wb-steps[data-place]")
    removal = page.locator(".wb-removal")
    assert not removal.is_visible()
    press(page, "Next iteration")
    until_at(page, 0, 7)
    press(page, "Levels")
    removal.wait_for()
    columns = removal.locator("rect")
    names = [name.partition(":")[0] for name in removal.locator("rect title").all_text_contents()]
    assert names[:3] == ["before", "M", "level 0"]
    assert "100.0" in columns.first.locator("title").text_content()
    rows = removal.locator("tbody tr").all_inner_texts()
    assert [row.split(":")[0] for row in rows[:2]] == ["M", "level 0"]
    assert rows[-1].startswith("left, E solved exactly")
    shoot("levels_removed_start")
    before = columns.nth(1).get_attribute("height")
    press(page, "Next iteration")
    until_at(page, 1, 12)
    changed = "before => document.querySelectorAll('.wb-removal rect')[1].getAttribute('height') !== before"
    page.wait_for_function(changed, arg=before)
    press(page, "Levels")
    removal.wait_for(state="hidden")
    press(page, "Levels")
    removal.wait_for()


OTHERS = """\
import ipywidgets
from workbench.live import StepView
few = {"n": 12, "rhs": "random"}
ipywidgets.VBox([
    StepView("block-cg", "poisson5", 4, n=12, rhs="random:3"),
    StepView("mpcg", "poisson5", 4, preconditioner="schwarz:2x2", **few),
    StepView("hybrid3", "poisson5", 4, **few),
])"""


def test_columns_terms_and_both_sides_are_shown(page, lab_url, lab_folder, shoot):
    page.set_viewport_size({"width": 1280, "height": 1000})
    open_cell(page, lab_url, lab_folder, "others.ipynb", OTHERS, ".wb-steps[data-place]")
    views = page.locator(".wb-steps[data-place]")
    until(page, lambda: views.count() == 3)
    for view in views.all():
        view.scroll_into_view_if_needed()
        for iteration in (0, 1):
            view.get_by_role("button", name="Next iteration", exact=True).click()
            until(page, lambda at=view, k=iteration: at.get_attribute("data-iteration") == str(k))
        shoot(f"step {view.locator('.wb-heading').first.inner_text()}")
    block, several, schedule = views.all()

    def captions(view):
        return [text.split()[0] for text in view.locator("figcaption i").all_inner_texts()]

    assert captions(block)[:3] == ["X₁", "X₂", "X₃"]
    assert block.locator("svg polyline.wb-walked").count() == 3
    assert {"Z₁", "Z₂", "Z₃", "Z₄", "P₁"} <= set(captions(several))
    # The product with P comes last of all that shows the directions.
    matrices = several.locator("figcaption", has_text="I to").all_inner_texts()
    assert len(matrices) == 1
    assert "4 × 4" in matrices[0]
    left, right = (schedule.locator(f"li.wb-on-{side}").last.bounding_box() for side in ("cores", "accelerator"))
    assert left["x"] + left["width"] <= right["x"] + 1
    copied = schedule.locator("li.wb-on-link").all_inner_texts()
    assert sum("m to the cores" in text and "72 words" in text for text in copied) == 3
