"""A printed lesson: A4 pages with name and date, all questions with their options, and nothing to press."""

from __future__ import annotations

import re
import unicodedata

import pytest

from tests.browser import lab
from tests.browser.bench import unchanging
from tests.browser.pdf_text import pages_of
from workbench.extensions.lessons import lesson
from workbench.extensions.lessons.geometry_marks import THOUGHTS
from workbench.extensions.lessons.page.derivations import BLOCKS, DEFLATION

pytestmark = pytest.mark.browser

PRESSED = (
    "Check", "Stop", "Pause", "Next line", "Next iteration", "Play", "Restart", "Mathematics", "Theme",
    "Projector", "CG workbench", "Previous:", "Next:", "Remove", "Add a method", "Open race", "choose …", "a number",
    "log y", "1 of 7",
)  # fmt: skip

MOST_PAGES = {"many-at-once": 5}

STEPS = {"without-pain": THOUGHTS, "deflation": DEFLATION, "many-at-once": BLOCKS}


def plain(text):
    """Letters alone: lines end elsewhere on paper, and some letters are joined."""
    return re.sub(r"\s", "", unicodedata.normalize("NFKC", text))


@pytest.mark.parametrize("name", ["without-pain", "deflation", "many-at-once"])
def test_a_printed_lesson_has_its_questions_and_no_buttons(name, page, app_url):
    page.emulate_media(color_scheme="dark")
    page.goto(f"{app_url}/lesson/{name}")
    page.locator(".wb-nextsteps").wait_for()
    taught = lesson(name)
    lab.until(page, lambda: page.locator(".wb-exercise").count() == len(taught.exercises))
    assert not page.locator(".site-sheet, .wb-onpaper").locator("visible=true").count()
    # Pictures that come later change the height of the page.
    unchanging(page, lambda: page.evaluate("document.body.scrollHeight"))
    pdf = page.pdf(prefer_css_page_size=True)
    sizes = {tuple(map(round, map(float, found))) for found in re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)}
    assert sizes == {(595, 842)}
    pages = pages_of(pdf)
    whole = plain("".join(text for texts in pages for text in texts))
    assert f"NameDate{plain(taught.title)}" in whole
    for number, exercise in enumerate(taught.exercises, 1):
        assert plain(f"Exercise {number}. {exercise.question}") in whole
        for option in getattr(exercise.answer, "options", ()):
            assert plain(f"☐ {option}") in whole
    # All steps of a derivation are there, and not those alone that the column has in sight.
    for thought in STEPS[name]:
        assert all(plain(words) in whole for words in (thought.title, *thought.sentences))
    for step in taught.next_steps:
        assert plain(step.words) in whole
    written = plain((lab.REPOSITORY / f"notebooks/lessons/{taught.stem}.ipynb").read_text(encoding="utf-8"))
    assert [word for word in PRESSED if plain(word) in whole and plain(word) not in written] == []
    # A race that has not begun is an empty frame.
    assert "PressStart.Acurve" not in whole
    # A lesson of 45 minutes is a sheet of some pages, each within the paper: nothing is cut off at the right.
    assert 3 <= len(pages) <= MOST_PAGES.get(name, 9)
    page.emulate_media(media="print")
    # Before its first line a stepper has no curve and no values.
    assert not page.locator(".wb-steps .wb-side, .wb-steps .wb-value").locator("visible=true").count()
    page.set_viewport_size({"width": 665, "height": 900})
    wide = """() => [...document.querySelectorAll("p, h1, h2, table, .wb-status, mjx-container > *, canvas")]
      .filter((at) => at.getBoundingClientRect().right > innerWidth + 3).map((at) => at.outerHTML.slice(0, 80))"""
    assert lab.until(page, lambda: page.evaluate(wide) == [] or None)


def test_on_paper_a_map_of_a_dark_page_keeps_its_colours_and_curves_are_turned_light(page, app_url):
    page.emulate_media(color_scheme="dark", media="print")
    page.goto(f"{app_url}/lesson/rounding")
    maps = page.locator(".wb-stepper canvas[data-name^='orthogonality']")
    lab.until(page, lambda: maps.count() == 2)
    curves = page.locator(".wb-stepper canvas[data-name='residual gap']")
    curves.wait_for(state="attached")
    filters = "canvases => canvases.map((at) => getComputedStyle(at).filter)"
    assert maps.evaluate_all(filters) == ["none", "none"]
    assert all("invert" in each for each in curves.evaluate_all(filters))
