"""What a served page keeps in its browser: how much, for how long, whose, and that it can be forgotten."""

from __future__ import annotations

import pytest

from tests.browser import lab
from tests.browser.bench import ROWS as IN_SOLVE
from tests.browser.bench import Bench, opened, run_to_the_end, stored, until
from workbench.run import configure
from workbench.run.choices.share_link import from_link, to_link

pytestmark = pytest.mark.browser

ROWS = ".wb-runspage tbody tr:not(.wb-grouprow)"
CHANGE = """([name, changes]) => new Promise((resolve, reject) => {
  const opening = indexedDB.open("workbench", 1);
  opening.onerror = () => reject(opening.error);
  opening.onsuccess = () => {
    const change = opening.result.transaction([name], "readwrite");
    const table = change.objectStore(name);
    table.getAll().onsuccess = ({ target }) => target.result.forEach((one) => table.put({ ...one, ...changes }));
    change.oncomplete = () => (opening.result.close(), resolve());
  };
})"""
"""Give all that is stored under a name other fields."""
DAY = 24 * 3600 * 1000


@pytest.fixture
def bench(page, request, shoot):
    opened(page, request, "voila")
    made = Bench(page, lambda stage: shoot(f"kept_runs_{stage}"))
    made.open_link(to_link(configure("bubbles-2d", n=24)))
    made.turn_to("Solve", ".wb-solving canvas")
    return made


def looks(page):
    """Number, colour and dash of each run in the table."""
    style = "rows => rows.map((row) => [row.dataset.row, row.querySelector('.wb-samplebtn').title])"
    return page.locator(ROWS).evaluate_all(style)


def test_a_page_that_is_loaded_again_is_as_it_was(page, request):
    """It had the four bubbles of a new page, no run, and Build in front."""
    opened(page, request, "voila")
    lab.turn_to(page, "Solve")
    cells = page.locator('.wb-solving [data-field="problem.n"] input')
    cells.fill("24")
    cells.press("Enter")
    run_to_the_end(page)
    # What is kept is what was changed last, which takes a moment.
    page.wait_for_timeout(1500)
    page.reload()
    page.wait_for_selector(".wb-workbench[data-view]")
    until(page, lambda: page.locator(".wb-workbench").get_attribute("data-view") == "solve")
    assert cells.input_value() == "24"
    until(page, lambda: page.locator(IN_SOLVE).count() == 1)


def test_runs_come_back_with_their_numbers_and_looks_until_they_are_forgotten(bench):
    page = bench.page
    for _ in range(3):
        bench.solve()
    bench.turn_to("Runs", ".wb-runspage canvas")
    # The second is deleted, and the third looks as no other.
    page.locator(f'{ROWS}[data-row="3"] .wb-samplebtn').click()
    page.locator(f'{ROWS}[data-row="2"] input[type=checkbox]').check()
    bench.button("Delete").click()
    until(page, lambda: len(stored(page)) == 2)
    before = looks(page)
    assert [number for number, _ in before] == ["3", "1"]
    # What is kept is what was changed last, which takes a moment.
    page.wait_for_timeout(1500)
    page.reload()
    page.locator(".wb-runspage").locator("visible=true").wait_for()
    until(page, lambda: looks(page) == before)
    lab.turn_to(page, "Solve")
    assert bench.solve() == 4

    bench.turn_to("Runs", ".wb-runspage canvas")
    until(page, lambda: len(stored(page)) == 3)
    bench.button("Forget all kept runs").click()
    bench.until_said("This browser has forgotten all runs")
    assert not any(stored(page, name) for name in ("sessions", "runs", "files"))
    # They stay on this page, and are gone from the next.
    assert page.locator(ROWS).count() == 3
    bench.shoot("forgotten")
    page.reload()
    page.locator(".wb-runspage").locator("visible=true").wait_for()
    page.locator(".wb-runspage .wb-empty", has_text="No run yet").locator("visible=true").first.wait_for()
    assert page.locator(ROWS).count() == 0


def test_the_oldest_runs_and_old_sessions_go(bench):
    page = bench.page
    bench.solve()
    until(page, lambda: len(stored(page)) == 1)
    # As if it filled the room that a browser gives.
    page.evaluate(CHANGE, ["runs", {"size": 64 << 20, "changed": 1}])
    bench.solve()
    until(page, lambda: [run["order"] for run in stored(page)] == [2])
    assert len(stored(page, "files")) == 1
    # From a page of the same server that keeps nothing itself, which would note its own change.
    page.goto(f"{page.url.partition('?')[0]}s/nowhere")
    page.evaluate(CHANGE, ["sessions", {"changed": 0}])
    page.go_back()
    page.locator(".wb-solving").locator("visible=true").wait_for()
    until(page, lambda: not stored(page) and not stored(page, "files"))


def test_an_address_of_another_browser_opens_the_default_and_says_so(page, request):
    opened(page, request, "voila")
    bench = Bench(page, lambda _stage: None)
    page.goto(f"{page.url.partition('?')[0]}?kept=0123456789abcdef&view=build.build")
    bench.until_said("The problem of this address is kept in another browser or was forgotten")
    bench.until_said("4 bubbles")
    sentence = page.get_by_text("The problem of this address is kept in another browser").locator("visible=true").first
    assert sentence.bounding_box()["height"] > 10


def test_the_share_link_of_the_header_is_a_whole_address(bench):
    """It was the text alone, which no browser opens."""
    page = bench.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    bench.share()
    bench.button("Copy address").click()
    bench.until_said("Copied the address of this problem")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    address, _, link = copied.partition("?p=")
    assert address == page.url.partition("?")[0]
    assert from_link(link).problem == configure("bubbles-2d", n=24).problem


RACE = ".wb-race:not(.wb-sweep)"


def entries(page):
    """The cells of the table of a race."""
    cells = "rows => rows.map((row) => [...row.cells].map((cell) => cell.textContent))"
    return page.locator(f"{RACE} .wb-sorted tbody tr").evaluate_all(cells)


def test_a_race_comes_back_after_a_reload_and_opens_elsewhere_by_its_link(bench):
    page = bench.page
    bench.turn_to("Race", RACE)
    bench.until_said("4 entries: press Start")
    page.locator(f'{RACE} [data-act="run"]').click()
    bench.until_said(r"4 entries: all have ended( \||$)")
    page.locator(f"{RACE} tbody tr", has_text="Jacobi").get_by_role("button", name="Remove").click()
    until(page, lambda: len(entries(page)) == 3)
    verdict = page.locator(f"{RACE} .wb-answer .wb-status")
    until(page, lambda: "Jacobi" not in str(entries(page)) and verdict.inner_text())
    # Short runs are timed again, and what is kept is what was changed last, which takes a moment.
    page.wait_for_timeout(1500)
    bench.until_said(r"3 entries: all have ended( \||$)")
    page.wait_for_timeout(1500)
    before, said = entries(page), verdict.inner_text()
    bench.shoot("race_before")
    page.reload()
    page.locator(RACE).locator("visible=true").wait_for()
    bench.until_said("As it ended on ")
    until(page, lambda: entries(page) == before)
    assert verdict.inner_text() == said
    bench.shoot("race_after_a_reload")

    page.locator(RACE).get_by_role("button", name="Link", exact=True).click()
    bench.until_said("A link to this race as it ended")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(f"{RACE} .wb-quote").locator("visible=true").last.click()
    link = until(page, lambda: page.evaluate("navigator.clipboard.readText()"))
    assert "?race=cgr1." in link
    other = page.context.browser.new_context().new_page()
    other.goto(link)
    other.locator(RACE, has_text="As it ended on ").wait_for()
    until(other, lambda: entries(other) == before)
    assert other.locator(f"{RACE} .wb-answer .wb-status").inner_text() == said
    other.context.close()
