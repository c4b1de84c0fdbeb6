"""The served page in a class: many pages at once, addresses that open a problem, files for one page only."""

from __future__ import annotations

import re
import time

import pytest

from tests.browser import lab
from tests.browser.test_sentences import IN_CODE, READ
from tests.waiting import LIMIT
from workbench.records import load_runs
from workbench.run import Stopping, configure
from workbench.run.choices.share_link import to_link
from workbench.run.machine_use import MACHINE_USE

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
TAUGHT = (
    "--PageKernels.classroom=True",
    "--PageKernels.runs_at_once=1",
    # Longer than it takes to press Run on another page meanwhile.
    "--PageKernels.run_seconds=15",
    "--PageKernels.most_unknowns=300000",
)
ENDLESS = configure("bubbles-2d", n=512, solver="sd", preconditioner="none", stopping=Stopping(rtol=1e-14))
SENT = configure("bubbles-2d", n=40, preconditioner="jacobi")


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The URL of a server whose kernels end with their pages only, and the folder that it runs in."""
    folder = tmp_path_factory.mktemp("class")
    with lab.voila_server(folder, NOT_CULLED) as url:
        yield url, folder


@pytest.fixture
def taught(tmp_path):
    """The URL of a server with a teacher and limits, and the teacher's address."""
    with lab.voila_server(tmp_path, NOT_CULLED, *TAUGHT) as url:
        said = re.compile(r"for you alone: (\S+)")
        log = tmp_path / "server.log"
        until(lambda: said.search(log.read_text(encoding="utf-8")), "the teacher's address is not printed")
        yield url, said.search(log.read_text(encoding="utf-8"))[1]


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
    page.get_by_role("button", name="Share", exact=True).click()
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
    page, other = (pages(f"{url}/{lab.WORKBENCH}") for _ in range(2))
    for one in (page, other):
        started(one)
    received = []
    other.on("download", lambda download: received.append(download.suggested_filename))
    before = sorted(path for path in (folder / "notebooks").rglob("*"))
    for one in (page, other):
        one.get_by_role("button", name="Share", exact=True).click()
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
    page = pages(f"{url}/{lab.WORKBENCH}", WATCH_OUTLINE)
    started(page)
    seen = page.evaluate("() => seen")
    assert seen["outline"].startswith("Starting the workbench")
    assert seen["height"] == page.viewport_size["height"]
    assert seen["bare"] == 0


def test_a_teacher_sends_a_problem_and_sees_the_runs_of_all_pages(taught, pages):
    url, address = taught
    slow, other = pages(f"{url}/?p={to_link(ENDLESS)}&view=solve.solve"), pages(f"{url}/?view=solve.solve")
    for student in (slow, other):
        started(student)
        student.locator(".wb-class", has_text="The teacher sees runs that have ended.").wait_for()
        assert not student.get_by_role("tab", name="Class").count()
    # A projector's large type moved the field to the next line, away from its label.
    slow.get_by_role("button", name="Projector").click()
    apart = "name => name.getBoundingClientRect().top - name.labels[0].getBoundingClientRect().bottom"
    assert slow.get_by_label("Your name").evaluate(apart) < 0
    other.get_by_label("Your name").fill("Ada <b>")
    other.get_by_label("Your name").press("Enter")
    teacher = pages(address)
    teacher.locator(".wb-classpage", has_text="2 pages of students open.").wait_for()
    assert "#" not in teacher.url

    # One run at a time: the second page waits, and says for how many.
    solve(slow)
    slow.locator(".wb-runbar [data-act=stop]:enabled").wait_for()
    solve(other)
    other.locator(".wb-runbar", has_text="queued, 1 run before yours").wait_for()
    slow.locator(".wb-result", has_text="the time limit of this page was reached").wait_for()
    solved(other)
    runs = teacher.locator(".wb-classpage .wb-sorted:not(.wb-classexercises *) tbody")
    for name in (re.compile(r"Page \d: Steepest descent"), re.compile("Ada <b>: CG")):
        runs.get_by_text(name).wait_for()
    teacher.locator(".wb-classpage canvas.wb-canvas").locator("visible=true").wait_for()
    assert not [text for text in teacher.evaluate(READ) if IN_CODE.search(text)]
    save = teacher.get_by_role("button", name="Save all runs").locator("visible=true")
    name, path = lab.download(teacher, save.click)
    assert (name, len(load_runs(path))) == ("runs.runs.zip", 2)

    # What the teacher has opened goes to all pages, and each may return to its own.
    teacher.goto(f"{address.partition('teacher#')[0]}?p={to_link(SENT)}&view=class.all-pages")
    teacher.locator(".wb-classpage", has_text="2 pages of students open.").wait_for()
    until(lambda: runs.locator("tr:not(.wb-grouprow)").count() == 2, "a page that is opened again has not all runs")
    teacher.get_by_role("button", name="Send this problem to all open pages").click()
    for student in (slow, other):
        student.locator(".wb-class", has_text="The teacher has sent this problem.").wait_for()
        until_cells(student, "40")
    slow.get_by_role("button", name="Back to my problem").click()
    box = until_cells(slow, "512")
    box.fill("600")
    box.press("Tab")
    slow.locator(
        ".wb-runbar", has_text=re.compile(r"may have 300.000 on pages of this server; use cells per side: 547")
    ).wait_for()
    slow.locator(".wb-solving [data-act=run]:disabled").wait_for()


def test_a_short_address_and_its_code_lead_to_the_problem(taught, pages):
    url, _ = taught
    page = pages(f"{url}/?p={to_link(SENT)}")
    started(page)
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_role("button", name="Show for a class").locator("visible=true").click()
    code = page.locator(".wb-beamer svg")
    code.wait_for()
    address = f"http://{page.locator('.wb-beamer .wb-address').inner_text()}"
    assert code.get_attribute("aria-label") == f"QR code of {address}"
    assert re.fullmatch(rf"{url}/s/[a-z2-9]{{6}}", address)
    assert "from this machine only" in page.locator(".wb-beamer").inner_text()
    again = pages(address)
    started(again)
    turn_to_solve(again)
    until_cells(again, "40")
