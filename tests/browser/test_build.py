"""Builders and the share bar in JupyterLab: formulas checked as they are typed, a matrix uploaded, a link opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import lab
from workbench.run.choices.share_link import from_link

pytestmark = pytest.mark.browser


CELLS = [
    """\
import os
os.environ["WORKBENCH_CACHE"] = os.path.abspath("cache")
from workbench.live import MatrixBuilder, PoissonBuilder, ShareBar
from workbench.run import configure
poisson = PoissonBuilder()
poisson""",
    'ShareBar(lambda: configure(poisson.problem), lambda chosen: poisson.load(chosen.problem), "exports")',
    "MatrixBuilder()",
]
MATRIX = "%%MatrixMarket matrix coordinate real symmetric\n4 4 6\n1 1 4\n2 2 4\n3 3 4\n4 4 4\n2 1 -1\n4 1 -1\n"
TITLES = """wanted => [...document.querySelector(".wb-build").querySelectorAll("canvas")]
    .filter(canvas => canvas.offsetParent).map(canvas => canvas.dataset.title).join() === wanted"""
SCREENSHOTS = Path(__file__).parent / "screenshots"


def picture(page, name):
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png")


def test_formulas_a_matrix_and_a_link(page, lab_url, lab_folder):
    page.set_viewport_size({"width": 1280, "height": 900})
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    lab.open_cells(page, lab_url, lab_folder, "build.ipynb", *CELLS)
    lab.run_all(page)
    a = page.locator('[data-field="a"] input')
    a.wait_for()
    page.locator('.wb-build [data-field="a"] .wb-explained', has_text="0.01011 to 98.9").wait_for()
    page.eval_on_selector(".wb-build", "box => box.scrollIntoView()")
    # What is wrong is reported below the field without Enter, and what was typed stays.
    a.fill("")
    a.press_sequentially("1 + sine(x)")
    page.locator('.wb-invalid[data-field="a"] .wb-err', has_text="column 5: unknown function 'sine'").wait_for()
    lab.until(page, lambda: a.get_attribute("aria-invalid") == "true", "the wrong formula is not marked")
    assert a.input_value() == "1 + sine(x)"
    picture(page, "build_wrong")
    a.fill("2 + sin(2*pi*x)")
    page.get_by_label("Coefficient of ∂y").fill("0.1")
    page.locator('[data-field="a"] .wb-explained', has_text="1 to 3").wait_for()
    page.wait_for_function(TITLES, arg="Coefficient a,Coefficient b,Right-hand side f")

    page.get_by_role("button", name="Copy share link").click()
    page.locator(".wb-copied[data-copied=true]").wait_for()
    link = page.locator(".wb-copied").input_value()
    chosen = from_link(link)
    assert chosen.problem.differing == {"a": "2 + sin(2*pi*x)", "b": "0.1", "f": "sin(2*pi*x)"}
    assert page.evaluate("() => navigator.clipboard.readText()") == link
    page.get_by_label("Example").select_option("smooth bump")
    page.wait_for_function(TITLES, arg="Coefficients a and b,Right-hand side f")
    # There is one picture of each, so nothing is offered to choose.
    menus = page.get_by_label("field", exact=True)
    assert menus.count() > 0
    lab.until(page, lambda: menus.locator("visible=true").count() == 0, "a field is offered to choose")
    # Nor an iteration, where nothing iterates.
    iterations = page.locator(".wb-build .wb-iteration").locator("visible=true")
    lab.until(page, lambda: iterations.count() == 0, "an iteration is offered to choose")
    picture(page, "build_bump")
    page.get_by_label("Open shared problem").fill(link)
    page.keyboard.press("Enter")
    page.get_by_text("Opened Poisson from formulas").wait_for()
    page.wait_for_function(TITLES, arg="Coefficient a,Coefficient b,Right-hand side f")
    lab.until(page, lambda: a.input_value() == "2 + sin(2*pi*x)", "the link's formula is not in its field")
    # Where the page may not write to the clipboard, the text stands there selected.
    page.evaluate(
        "() => { navigator.clipboard.writeText = () => Promise.reject(); document.execCommand = () => false; }"
    )
    page.get_by_role("button", name="Copy as Python").click()
    page.get_by_text("press Ctrl+C, or Cmd+C").wait_for()
    python = page.locator(".wb-copied").input_value()
    assert 'b="0.1"' in python
    assert page.eval_on_selector(".wb-copied", "box => box.selectionEnd - box.selectionStart") == len(python)
    page.evaluate("() => { delete navigator.clipboard.writeText; delete document.execCommand; }")
    page.locator(".wb-share").scroll_into_view_if_needed()
    picture(page, "build_share")

    file = lab_folder / "small.mtx"
    file.write_text(MATRIX)
    with page.expect_file_chooser() as choosing:
        page.get_by_role("button", name="Choose a file").click()
    choosing.value.set_files(file)
    page.get_by_text("Matrix small is read.").wait_for()
    facts = page.locator(".wb-facts")
    lab.until(page, lambda: facts.inner_text().split("\n")[0].split("\t") == ["unknowns N", "4"], "other facts")
    assert [path.name for path in (lab_folder / "notebooks" / "cache" / "uploads").rglob("*.mtx")] == ["small.mtx"]
    # The histogram next to the pattern.
    page.wait_for_function("() => document.querySelector('.wb-matrix .wb-chart canvas')?.dataset.layers > 0")
    page.locator(".wb-facts").scroll_into_view_if_needed()


def test_a_matrix_is_dropped_or_is_one_of_the_samples(page, lab_url, lab_folder):
    lab.open_cells(page, lab_url, lab_folder, "dropped.ipynb", CELLS[0], "MatrixBuilder()")
    lab.run_all(page)
    area = page.locator(".wb-file")
    area.get_by_text("or drop one here").wait_for()
    transfer = page.evaluate_handle(
        "text => { const data = new DataTransfer(); data.items.add(new File([text], 'dropped.mtx')); return data; }",
        MATRIX,
    )
    area.dispatch_event("dragover", {"dataTransfer": transfer})
    assert "wb-over" in area.get_attribute("class")
    area.dispatch_event("drop", {"dataTransfer": transfer})
    page.get_by_text("Matrix dropped is read.").wait_for()
    assert "wb-over" not in area.get_attribute("class")
    page.get_by_role("radio", name="Sample", exact=True).click()
    page.get_by_text("Stand-in for 1138_bus is read.").wait_for()
    page.locator(".wb-facts", has_text="1138").wait_for()
    # Its parts: as many as the size that is typed makes, on the pattern and at places.
    line = page.locator(".wb-status", has_text="grown in")
    line.wait_for()
    before = line.inner_text()
    page.get_by_label("Unknowns per part").fill("40")
    page.keyboard.press("Enter")
    lab.until(page, lambda: line.inner_text().split(" parts")[0] != before.split(" parts")[0], "as many parts")
    pattern = page.locator(".wb-build canvas[data-title='Parts on the pattern']")
    paints = pattern.get_attribute("data-frames")
    page.get_by_role("radio", name="by part").click()
    lab.until(page, lambda: pattern.get_attribute("data-frames") != paints, "the pattern is not drawn again")
    words = "Parts on the pattern. grey: between parts."
    lab.until(page, lambda: pattern.get_attribute("aria-label").startswith(words), "the pattern has other words")
