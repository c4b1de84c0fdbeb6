"""The whole workbench, clicked through as by a user, in JupyterLab and as a Voila page."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.browser import lab
from tests.browser.bench import Bench, opened, stored
from tests.browser.conftest import keep
from workbench.run import configure
from workbench.run.choices.share_link import from_link, to_link

pytestmark = pytest.mark.browser

CELL = "from workbench.live import workbench\nworkbench(n=64)"
BUBBLES = ".wb-building canvas.wb-canvas"
TABS = ".wb-rail .wb-tab"
CURVES = ".wb-convergence canvas.wb-canvas"
PLACES = (np.mgrid[:30, :30].reshape(2, -1).T + np.random.default_rng(1).uniform(0.4, 0.6, (900, 2))) / 30
MANY = configure("bubbles-2d", n=128, layout="list", bubbles="; ".join(f"{x:.7f},{y:.7f},0.011" for x, y in PLACES))
"""More bubbles than an address holds."""
REOPEN = "Reopen the last session"
LEAVE = "() => window.dispatchEvent(new Event('beforeunload', { cancelable: true }))"
"""Whether the page may be left without a question."""


@pytest.fixture(params=["lab", "voila"])
def place(request):
    return request.param


@pytest.fixture
def bench(page, request, place, shoot):
    opened(page, request, place, CELL)
    made = Bench(page, lambda stage: shoot(f"workbench_{place}_{stage}"))
    made.until_said("4 bubbles")
    return made


def test_build_solve_race_inspect_step_save_and_come_back(bench, place, tmp_path, request):
    page = bench.page
    # Build: a fifth bubble, and subdomains that follow all of them.
    bench.turn_to("Solve", ".wb-solving")
    lab.pick(page.locator(".wb-solving"), "deflation", "levelset")
    bench.turn_to("Build", ".wb-building canvas")
    bench.button("Add").click()
    bench.until_said("bubble 5 at")
    bench.until(lambda: "deflation subdomains" in page.locator(".wb-building").inner_text())
    bench.shoot("build")
    # The address of a served page holds the share link.
    copied = bench.copied("Copy address" if place == "voila" else "Copy share link")
    link = re.search(r"cgw1\.[\w-]+", copied)
    built = from_link(link[0])
    assert built.problem.geometry().radii.size == 5
    assert built.deflation.name == "levelset"

    # A problem is saved to the browser's computer, and opened from there.
    name, path = lab.download(page, bench.button("Save problem").click)
    page.keyboard.press("Escape")
    assert re.match(r"5-bubbles-in-a-square-\d+x\d+-layout-[0-9a-f]{6}-CG-", name)
    saved = tmp_path / name
    saved.write_bytes(path.read_bytes())
    bench.button("Add").click()
    bench.until_said("bubble 6 at")
    bench.share()
    with page.expect_file_chooser() as choosing:
        bench.button("Choose file …").click()
    choosing.value.set_files(saved)
    bench.until_said("5 bubbles")
    bench.until_said("Opened .*in a square")

    # Solve what was built.
    bench.turn_to("Solve", ".wb-solving")
    bench.solve()
    page.locator(".wb-solving .wb-table tbody", has_text="5 bubbles in a square").wait_for()
    bench.shoot("solve")

    # Race it against the three others that are there.
    bench.turn_to("Race", ".wb-race")
    bench.until_said("5 bubbles .*, 4 entries: press Start")
    bench.button("Start").click()
    bench.until_said("4 entries: all have ended")
    bench.button("iterations").or_(page.get_by_role("radio", name="iterations", exact=True)).first.click()
    bench.until_said(r"\d iterations, [\d.]+ times fewer than")
    winner = page.locator(".wb-race .wb-sorted tbody tr.wb-best").first.inner_text().strip()[0]
    bench.until(lambda: bench.seen(CURVES).get("first", "").startswith(f"{winner}:"))
    bench.shoot("race")

    # Look inside an entry, and make it again with timings.
    bench.turn_to("Look inside", ".wb-inside")
    menu = page.locator(".wb-insidepage select").first
    # Four entries and the run of Solve, with spaces that do not break.
    bench.until(lambda: menu.locator("option").count() == 5)
    assert re.match(r"5:\s", menu.locator("option").nth(0).inner_text())
    menu.select_option(index=1)
    bench.button("Run again with timings").wait_for()
    bench.shoot("inside_a_lane")
    bench.button("Run again with timings").click()
    bench.until(lambda: re.match(r"6:\s.*with\stimings", menu.locator("option").first.inner_text()))
    bench.until(lambda: not bench.button("Run again with timings").count())

    # Look inside the run.
    page.locator(".wb-inside .wb-field select").locator("visible=true").first.select_option("solution")
    bench.until(lambda: bench.seen(".wb-inside .wb-field canvas").get("quantity") == "solution")
    bench.shoot("inside")

    # Step through its method.
    bench.turn_to("Step", ".wb-steps")
    bench.button("Next line").click()
    page.locator('.wb-steps li.wb-current[data-code="s = A(x)"]').wait_for()
    bench.shoot("step")

    # Change a line of it.
    bench.turn_to("Your method", ".wb-own")
    bench.until_said("These are the lines of CG; change some")

    # Save the chosen run, which is the one made again, and open what was saved; the files come to the browser and
    # nowhere else.
    bench.turn_to("Solve", ".wb-solving")
    bench.until(bench.button("Run files").is_enabled)
    into = page.locator(".wb-solving .wb-save select").nth(2)
    assert into.is_visible() == (place == "lab")
    name, path = lab.download(page, bench.button("Run files").click)
    assert re.fullmatch(r"5-bubbles-in-a-square-\d+x\d+-layout-[0-9a-f]{6}-CG-.*-run6\.run\.npz", name)
    bench.until_said(f"downloaded {re.escape(name)}")
    bench.turn_to("Open a run", ".wb-replay")
    mine = tmp_path / name
    mine.write_bytes(path.read_bytes())
    with page.expect_file_chooser() as choosing:
        page.locator(".wb-replay").get_by_role("button", name="Choose a file").click()
    choosing.value.set_files(mine)
    bench.until_said("bubbles in a square.*converged")
    bench.shoot("open")

    if place == "lab":
        come_back(bench)
    else:
        come_back_served(bench, request.getfixturevalue("app_url"))


def come_back(bench):
    """In JupyterLab the kernel stays, and a reloaded page shows the problem and the run again."""
    page = bench.page
    lab.save_and_reload(page, TABS)
    bench.turn_to("Build", ".wb-building canvas")
    bench.until_said("5 bubbles")
    bench.turn_to("Solve", ".wb-solving canvas")
    bench.until(lambda: page.locator(".wb-solving .wb-table tbody tr").count() == 7)
    bench.until(lambda: bench.seen(".wb-solving .wb-convergence canvas").get("curves") == "2")


def come_back_served(bench, url):
    """A reloaded Voila page has a new kernel and shows the view, the problem and the runs again; so does another page
    of this browser, when the first one is closed and it is asked to."""
    page = bench.page
    # The last one has just been opened.
    bench.until(lambda: len(stored(page)) == 7)
    page.reload()
    page.locator(".wb-replay").locator("visible=true").wait_for()
    bench.turn_to("Build", ".wb-building canvas")
    bench.until_said("5 bubbles")
    assert not bench.button(REOPEN).count()
    bench.turn_to("Solve", ".wb-solving canvas")
    rows = ".wb-solving .wb-table tbody tr"
    bench.until(lambda: page.locator(rows).count() == 7)
    bench.until(lambda: "view=solve.solve" in page.url)

    # A second page has nothing to reopen, and a problem that is too long for an address is in its storage.
    page = page.context.new_page()
    second = Bench(page, lambda stage: keep(page, f"workbench_voila_{stage}"))
    page.goto(f"{url}/{lab.WORKBENCH}")
    second.until_said("4 bubbles")
    assert not second.button(REOPEN).count()
    second.open_link(to_link(MANY))
    second.until_said("900 bubbles")
    second.until(lambda: "kept=" in page.url and "p=" not in page.url)
    bench.page.goto("about:blank")
    page.reload()
    second.until_said("900 bubbles")
    second.button(REOPEN).wait_for()
    second.shoot("offered")
    second.button(REOPEN).click()
    page.locator(".wb-solving canvas").locator("visible=true").first.wait_for()
    second.until(lambda: page.locator(rows).count() == 7)
    # What is active is lost, so the browser asks; until that is answered the kernel stays.
    page.locator('.wb-solving [data-act="step"]').click()
    second.until_said("paused, iteration")
    assert not page.evaluate(LEAVE)
    page.locator('.wb-solving [data-act="stop"]').click()
    page.locator(".wb-solving .wb-result", has_text=re.compile("stopped by the user", re.IGNORECASE)).wait_for()
    page.close()
