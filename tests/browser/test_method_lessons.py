"""Lessons in a real JupyterLab: their own cells, a picture that is turned, and answers that are wrong and right."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.browser import lab
from workbench.extensions.lessons import lesson

pytestmark = pytest.mark.browser


def cells(name, *words):
    """The imports of a lesson, and its cells that hold one of these words."""
    path = lab.REPOSITORY / "notebooks" / "lessons" / f"{lesson(name).stem}.ipynb"
    made = json.loads(path.read_text(encoding="utf-8"))["cells"]
    codes = ["".join(cell["source"]) for cell in made if cell["cell_type"] == "code"]
    return [code for code in codes if any(word in code for word in (*words, "import ", "Lesson("))]


@pytest.fixture
def opened(page, lab_url, lab_folder):
    """Opens these cells of a lesson and runs them."""

    def show(name, *words):
        # Another notebook that is open would be taken for this one.
        lab.clear(page)
        lab.open_cells(page, lab_url, lab_folder, f"lesson_{name}.ipynb", *cells(name, *words))
        lab.run_all(page)
        page.wait_for_selector(".wb-exercise")

    return show


def answer(page, text):
    """Give an answer; returns the verdict on it."""
    return lab.verdict(page, page.locator(".wb-exercise"), text)


def test_their_pictures_turn_and_their_exercises_judge(page, opened):
    opened("preconditioning", "n=48", "check(3)")
    lab.button(page, "Start").click()
    lab.until(page, lambda: "all have ended" in lab.said(page))
    assert answer(page, "2").startswith("Not yet: the time of a run is its iterations")
    assert answer(page, "3").startswith("Not yet: at 3 times, 20 iterations")
    assert "measured apart from the race" in answer(page, "9.25")

    opened("deflation", "DiscVector", "check(3)")
    disc = page.locator(".wb-disc")
    lab.until(page, lambda: "The quotient is 0.250" in disc.locator("[role=status]").inner_text())
    disc.locator('[data-handle="middle"]').press("Shift+ArrowDown")
    lab.until(page, lambda: "The quotient is 0.250" not in disc.locator("[role=status]").inner_text())
    middle, rim = (disc.locator(f'[data-handle="{key}"]') for key in ("middle", "rim"))
    box, reach = middle.bounding_box(), rim.bounding_box()
    # Anywhere within the disc, by which the plot would be zoomed elsewhere.
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    inside = 0.6 * (reach["x"] + reach["width"] / 2 - x)
    page.mouse.move(x, y - inside)
    page.mouse.down()
    page.mouse.move(x + 30, y - inside + 40, steps=3)
    page.mouse.up()
    lab.until(page, lambda: np.allclose([middle.bounding_box()[way] - box[way] for way in "xy"], [30, 40], atol=2))
    assert answer(page, "blocks:4").startswith("Not yet: a part that lies in a bubble and in the fluid")
    assert answer(page, "levelset:0").startswith("Right: with 10 vectors")

    opened("many-at-once", "TinyEigenvalues", "check(2)")
    tiny = page.locator(".wb-tiny")
    lab.until(page, lambda: "s = 1: κₛ =" in tiny.locator("[role=status]").inner_text())
    tiny.locator(".noUi-handle").press("ArrowRight")
    lab.until(page, lambda: "s = 2: κₛ =" in tiny.locator("[role=status]").inner_text())
    assert answer(page, "6").startswith("Not yet: write down which columns are combinations")
    assert answer(page, "5").startswith("Not yet: singular value number 5")
    assert answer(page, "3").startswith("Right")
