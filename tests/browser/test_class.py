"""The served page in a class: many pages at once, addresses that open a problem, files for one page only."""

from __future__ import annotations

import re
import time

import pytest

from tests.browser import lab
from tests.waiting import LIMIT
from workbench.run import Stopping, configure
from workbench.run.machine_use import MACHINE_USE
from workbench.run.share_link import to_link

pytestmark = pytest.mark.browser

PAGES = 10
MOST_BYTES = 3 * 10**9
"""Of the kernels of all these pages together, with the process that they are forked from."""
SOLVED = configure("bubbles-2d", n=256, preconditioner="neumann:2", deflation="levelset:8")
TABS = ".wb-rail .wb-tab"
DONE = ".wb-solving [role=status][data-state=done]"
CELLS = '[data-field="problem.n"] input'
SHARE = ".wb-share .wb-status"
OUTLINE = "#wb-outline"
OURS = ("_xsrf", "Unknown subshell_id", "Comm not found", "Traceback")
"""What a log must not contain."""
WATCH_OUTLINE = """
window.seen = { outline: "", height: 0, bare: 0 };
function look() {
  const outline = document.getElementById("wb-outline");
  if (outline) [seen.outline, seen.height] = [outline.innerText, outline.offsetHeight];
  else if (document.getElementById("rendered_cells")?.innerText.includes("Loading widget")) seen.bare += 1;
  requestAnimationFrame(look);
}
look();
"""
"""What the page shows in each frame: the text of the outline, and frames with Jupyter's text and no outline over it."""
NOT_CULLED = "--MappingKernelManager.cull_idle_timeout=0"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The URL of a server whose kernels end with their pages only, and the folder that it runs in."""
    folder = tmp_path_factory.mktemp("class")
    with lab.voila_server(folder, NOT_CULLED) as url:
        yield url, folder


@pytest.fixture
def pages(chromium):
    """Open pages, each of another user."""
    made = []

    def open_page(url, script=""):
        context = lab.context(chromium)
        made.append(context)
        page = context.new_page()
        page.add_init_script(script)
        page.goto(url, wait_until="commit")
        return page

    yield open_page
    for context in made:
        context.close()


def shared_memory(folder):
    """Bytes of all these processes, where pages that several of them share are divided among them (PSS)."""
    return sum(
        getattr(process.memory_full_info(), "pss", process.memory_info().rss) for process in lab.of_server(folder)
    )


def until(condition, what):
    """Wait until something is true."""
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.1)


def started(page):
    """Wait until the workbench is on the page in place of its outline."""
    page.locator(OUTLINE).wait_for(state="detached")
    page.locator(".wb-workbench canvas.wb-canvas").locator("visible=true").first.wait_for()


def turn_to_solve(page):
    page.locator(TABS).filter(has_text=re.compile("^Solve$")).click()
    page.locator(".wb-solving [data-act=run]").wait_for()


def until_cells(page, number):
    """Wait until the form of Solve has this number of cells per side; returns its box."""
    box = page.locator(CELLS).locator("visible=true")
    until(lambda: box.input_value() == number, f"the form does not say {number} cells per side")
    return box


def solve(page):
    page.locator(".wb-solving [data-act=run]").click()


def solved(page):
    """Wait until the run that is shown has converged."""
    page.locator(DONE, has_text="Converged in").first.wait_for(state="attached")


@pytest.mark.slow
def test_ten_pages_at_once_solve_in_little_memory_and_end_their_kernels(served, pages):
    """Each kernel took some 290 MB, so that thirty pages needed 9 GB."""
    url, folder = served
    until(lambda: not lab.kernels(folder), "the kernels of the pages before are still there")
    address = f"{url}/?p={to_link(SOLVED)}"
    opened = [pages(address) for _ in range(PAGES)]
    for page in opened:
        started(page)
        turn_to_solve(page)
    until(lambda: len(lab.kernels(folder)) == PAGES, "not one kernel for each page")
    idle = shared_memory(folder)
    for page in opened:
        solve(page)
    for page in opened:
        solved(page)
    used = shared_memory(folder)
    print(f"{PAGES} pages: {idle / 1e6:.0f} MB before, {used / 1e6:.0f} MB after a run of 256 x 256 on each")
    assert used < MOST_BYTES
    for page in opened:
        page.goto("about:blank")
    until(lambda: not lab.kernels(folder), "the kernels of closed pages are still there")
    log = (folder / "server.log").read_text(encoding="utf-8", errors="replace")
    assert [words for words in OURS if words in log] == []


def test_an_address_opens_its_problem_and_a_damaged_one_says_so(served, pages):
    url, _ = served
    page = pages(f"{url}/?p={to_link(configure('bubbles-2d', n=48, stopping=Stopping(rtol=1e-4)))}")
    started(page)
    turn_to_solve(page)
    cells = until_cells(page, "48")
    cells.fill("40")
    cells.press("Tab")
    page.get_by_role("button", name="Copy address", exact=True).locator("visible=true").click()
    copied = page.locator(".wb-copied").locator("visible=true")
    copied.wait_for()
    address = copied.input_value()
    assert address.startswith(f"{url}/?p=cgw1.")

    other = pages(address)
    started(other)
    turn_to_solve(other)
    until_cells(other, "40")

    damaged = pages(address[:-9])
    started(damaged)
    words = re.compile("^The link in the address of this page cannot be opened: the link is ")
    damaged.locator(SHARE, has_text=words).locator("visible=true").first.wait_for()


def test_files_go_to_the_page_that_asked_and_stay_on_no_server(served, pages):
    url, folder = served
    page, other = pages(url), pages(url)
    for one in (page, other):
        started(one)
    received = []
    other.on("download", lambda download: received.append(download.suggested_filename))
    before = sorted(path for path in (folder / "notebooks").rglob("*"))
    name, path = lab.download(page, page.get_by_role("button", name="Save problem").locator("visible=true").click)
    assert name.endswith(".cg.json")
    assert path.stat().st_size > 0
    # A file of its own, by which anything that came before it has arrived.
    lab.download(other, other.get_by_role("button", name="Save problem").locator("visible=true").click)
    assert len(received) == 1
    assert sorted(path for path in (folder / "notebooks").rglob("*")) == before


def test_a_run_says_that_another_one_shares_the_machine(served, pages):
    url, _ = served
    page = pages(f"{url}/?p={to_link(configure('two-layer', n=16))}")
    started(page)
    turn_to_solve(page)
    with MACHINE_USE:
        solve(page)
        solved(page)
    notice = "2 runs shared this machine; times are not comparable"
    page.locator(".wb-result", has_text=notice).wait_for()
    page.locator(f".wb-solving .wb-runlist [title='{notice}']").first.wait_for()


def test_an_outline_is_shown_until_the_workbench_is_painted(served, pages):
    """The page showed "Loading widget..." for seconds."""
    url, _ = served
    page = pages(url, WATCH_OUTLINE)
    started(page)
    seen = page.evaluate("() => seen")
    assert seen["outline"].startswith("Starting the workbench")
    assert seen["height"] == page.viewport_size["height"]
    assert seen["bare"] == 0
