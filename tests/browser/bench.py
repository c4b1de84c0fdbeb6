"""The whole workbench in a page of JupyterLab or Voila, by what a user sees of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser import lab
from tests.browser.lab import said, unchanging, until  # noqa: F401  tests wait by the names of this module

NOTEBOOK = "app/workbench.ipynb"
"""What `make app` serves; JupyterLab opens the same."""
BUBBLES = ".wb-building canvas.wb-canvas[data-bubbles]"
ROWS = ".wb-solving .wb-runlist tbody tr"
ALL_OF_RUN = """([number, words]) => {
  const all = (at) => [...document.querySelectorAll(`.wb-solving ${at}`)];
  const some = (at, begin) => all(at).some(({ textContent }) => textContent.startsWith(begin));
  return some(".wb-runbar [role=status][data-state=done]", `Run ${number}: ${words}`)
    && some(".wb-result .wb-note", `Run ${number}:`)
    && some(".wb-convergence .wb-entry", `${number}: `)
    && all(".wb-convergence canvas").some(({ dataset }) => dataset.live === "false" && Number(dataset.count) > 0)
    && all(`.wb-runlist tr[data-row="${number}"]`).length === 1;
}"""
"""Whether all parts of Solve, which are updated one after another, show that a run has ended."""

STORED = """(name) => new Promise((resolve, reject) => {
  const opening = indexedDB.open("workbench", 1);
  opening.onerror = () => reject(opening.error);
  opening.onsuccess = () => {
    const all = opening.result.transaction([name]).objectStore(name).getAll();
    all.onsuccess = () => (opening.result.close(), resolve(all.result.map(({ content, ...rest }) => rest)));
  };
})"""


def tick(page: Any, box: Any) -> None:
    """Tick a box of a form. An answer to what was changed before may show it without the tick for a moment."""
    box.click()
    until(page, box.is_checked)


def solved(page: Any, words: str = "Converged") -> int:
    """Press Run in Solve, and wait until all of it shows the end of that run; returns its number.

    words: what the sentence on the run begins with.
    """
    number = 1 + max(page.locator(ROWS).evaluate_all("rows => rows.map((row) => Number(row.dataset.row))"), default=0)
    page.locator('.wb-solving [data-act="run"]').click()
    until(page, lambda: page.evaluate(ALL_OF_RUN, [number, words]))
    return number


def stored(page: Any, name: str = "runs") -> list[dict[str, Any]]:
    """What a served page keeps in its browser under a name, without the contents of files."""
    return page.evaluate(STORED, name)


def run_to_the_end(page: Any) -> None:
    """Press Run in Solve, and wait until the list says that a run has converged."""
    lab.turn_to(page, "Solve")
    page.locator('.wb-solving [data-act="run"]').click()
    page.locator(ROWS, has_text="converged").wait_for()


class Bench:
    """The workbench in a page. shoot: takes a screenshot, named after the stage of the test."""

    def __init__(self, page: Any, shoot: Callable[[str], object]) -> None:
        self.page = page
        self.shoot = shoot

    def until(self, condition: Callable[[], Any]) -> Any:
        return until(self.page, condition)

    def turn_to(self, title: str, shown: str) -> None:
        """Press a tab, and wait until an element that only its page has is visible."""
        lab.turn_to(self.page, title)
        self.page.locator(shown).locator("visible=true").first.wait_for()

    def button(self, name: str | re.Pattern[str]) -> Any:
        exact = isinstance(name, str)
        return self.page.get_by_role("button", name=name, exact=exact).locator("visible=true")

    def said(self) -> str:
        return said(self.page)

    def until_said(self, words: str) -> Any:
        return self.until(lambda: re.search(words, self.said()))

    def seen(self, canvas: str) -> dict[str, str]:
        """The data attributes of a visible canvas, in which it reports what it has drawn."""
        return self.page.locator(canvas).locator("visible=true").first.evaluate("canvas => ({...canvas.dataset})")

    def field(self, name: str) -> Any:
        """A field of the form of Solve by its name in code, with what is folded away unfolded."""
        self.page.locator(".wb-solving .wb-advanced").evaluate("details => { details.open = true; }")
        return self.page.locator(f'.wb-solving :is([data-field="{name}"], [data-field$=".{name}"])').first

    def fill(self, name: str, text: str) -> None:
        box = self.field(name).locator("input")
        box.fill(text)
        box.press("Enter")

    def share(self) -> None:
        """Open the menu Share of the header, where it is not open."""
        if not self.page.locator(".wb-sharemenu").is_visible():
            self.page.locator(".wb-top").get_by_role("button", name="Share", exact=True).click()

    def open_link(self, link: str) -> None:
        """Open link text in the menu Share of the header."""
        self.share()
        self.page.get_by_label("Open shared problem").locator("visible=true").fill(link)
        self.page.keyboard.press("Enter")

    def copied(self, name: str | re.Pattern[str]) -> str:
        """Press a button of the menu Share that copies a text; returns the text."""
        self.share()
        box = self.page.locator(".wb-copied").locator("visible=true")
        before = box.input_value() if box.count() else ""
        self.button(name).click()
        return self.until(lambda: box.count() and (text := box.input_value()) != before and text)

    def solve(self) -> int:
        return solved(self.page)


def opened(page: Any, request: pytest.FixtureRequest, place: str, cell: str = "", shown: str = BUBBLES) -> Path:
    """Open the workbench in "lab" or "voila"; returns the folder of the server.

    cell: what shows it in JupyterLab, by default the notebook of the app. shown: what its first view has.
    """
    folder = request.getfixturevalue({"lab": "lab_folder", "voila": "app_folder"}[place])
    url = request.getfixturevalue({"lab": "lab_url", "voila": "app_url"}[place])
    if place == "voila":
        page.goto(f"{url}/{lab.WORKBENCH}")
    else:
        if cell:
            lab.open_cells(page, url, folder, "workbench_of_test.ipynb", cell)
        else:
            lab.open_notebook(page, url, NOTEBOOK)
        lab.run_all(page)
    page.wait_for_selector(shown)
    page.eval_on_selector(".wb-workbench", "box => box.scrollIntoView()")
    return folder
