"""What a served page keeps in its browser: how much, for how long, whose, and that it can be forgotten."""

from __future__ import annotations

import pytest

from tests.browser import lab
from tests.browser.bench import ROWS as IN_SOLVE
from tests.browser.bench import Bench, opened, run_to_the_end, stored, unchanging, until
from workbench.run import configure
from workbench.run.choices.share_link import from_link, to_link
from workbench.run.jobs.race_codec import from_link as from_race_link

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


def session(page):
    """What the browser keeps of the page itself: the link of its problem, its view and its race."""
    (own,) = stored(page, "sessions")
    return own


def looks(page):
    """Number, colour and dash of each run in the table."""
    style = "rows => rows.map((row) => [row.dataset.row, row.querySelector('.wb-samplebtn').title])"
    return page.locator(ROWS).evaluate_all(style)


def kept_at(page, number):
    """When a run of this number was kept last, in ms."""
    return next(run["changed"] for run in stored(page) if run["order"] == number)


def test_a_page_that_is_loaded_again_is_as_it_was(page, request):
    """It had the four bubbles of a new page, no run, and Build in front."""
    opened(page, request, "voila")
    lab.turn_to(page, "Solve")
    cells = page.locator('.wb-solving [data-field="problem.n"] input')
    cells.fill("24")
    cells.press("Enter")
    run_to_the_end(page)
    # What is kept is what was changed last, which takes a moment.
    until(page, lambda: len(stored(page)) == 1 and session(page)["view"] == "solve.solve")
    until(page, lambda: from_link(session(page)["link"]).problem.n == 24)
    page.reload()
    page.wait_for_selector(".wb-workbench[data-view]")
    until(page, lambda: page.locator(".wb-workbench").get_attribute("data-view") == "solve")
    until(page, lambda: cells.input_value() == "24")
    until(page, lambda: page.locator(IN_SOLVE).count() == 1)


def test_runs_come_back_with_their_numbers_and_looks_until_they_are_forgotten(bench):
    page = bench.page
    for _ in range(3):
        bench.solve()
    bench.turn_to("Runs", ".wb-runspage canvas")
    until(page, lambda: len(looks(page)) == len(stored(page)) == 3)
    # The second is deleted, and the third looks as no other.
    plain, first_kept = dict(looks(page))["3"], kept_at(page, 3)
    page.locator(f'{ROWS}[data-row="3"] .wb-samplebtn').click()
    until(page, lambda: dict(looks(page))["3"] != plain)
    page.locator(f'{ROWS}[data-row="2"] input[type=checkbox]').check()
    bench.button("Delete").click()
    until(page, lambda: [number for number, _ in looks(page)] == ["3", "1"])
    before = looks(page)
    # What is kept is what was changed last, which takes a moment.
    until(page, lambda: len(stored(page)) == 2 and kept_at(page, 3) > first_kept)
    until(page, lambda: session(page)["view"] == "runs.runs")
    page.reload()
    page.locator(".wb-runspage").locator("visible=true").wait_for()
    until(page, lambda: looks(page) == before)
    lab.turn_to(page, "Solve")
    assert bench.solve() == 4

    bench.turn_to("Runs", ".wb-runspage canvas")
    until(page, lambda: len(stored(page)) == 3)
    # What is kept of the view comes later than the view.
    until(page, lambda: session(page)["view"] == "runs.runs")
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


def kept_race(page):
    """The number of entries that have ended in the race that is kept, and its verdict."""
    race = from_race_link(session(page)["race"])
    return sum(entry.record is not None for entry in race.entries), race.verdict


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
    bench.until_said(r"3 entries: all have ended( \||$)")
    until(page, lambda: kept_race(page) == (3, verdict.inner_text()))
    before, said, _ = unchanging(page, lambda: (entries(page), verdict.inner_text(), kept_race(page)))
    assert kept_race(page) == (3, said)
    bench.shoot("race_before")
    page.reload()
    page.locator(RACE).locator("visible=true").wait_for()
    bench.until_said("As it ended on ")
    until(page, lambda: entries(page) == before)
    until(page, lambda: verdict.inner_text() == said)
    bench.shoot("race_after_a_reload")

    page.locator(RACE).get_by_role("button", name="Link", exact=True).click()
    bench.until_said("A link to this race as it ended")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(f"{RACE} .wb-quote").locator("visible=true").last.click()
    link = until(page, lambda: page.evaluate("navigator.clipboard.readText()"))
    assert "?race=cgr1." in link
    other = lab.context(page.context.browser).new_page()
    other.goto(link)
    other.locator(RACE, has_text="As it ended on ").wait_for()
    until(other, lambda: entries(other) == before)
    until(other, lambda: other.locator(f"{RACE} .wb-answer .wb-status").inner_text() == said)
    other.context.close()
