"""What is said of a run is one thing in the bar, the result, the lists and the plots; the result is the last run's."""

from __future__ import annotations

import re
import zipfile

import pytest

from tests.browser import lab
from tests.browser.bench import Bench
from tests.browser.conftest import KeptPage, keep
from tests.browser.test_sentences import RACE, SEEN, SOLVE, press, says
from workbench.run import configure
from workbench.run.choices.share_link import to_link

pytestmark = pytest.mark.browser

SECONDS = {"µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
TIME = r"\d[\d.]*\s(?:µs|ms|s|min)\b"
LABELS = """selector => {
  window.labels = [];
  const canvas = document.querySelector(selector);
  const note = () => window.labels.push(canvas.getAttribute("aria-label"));
  new MutationObserver(note).observe(canvas, { attributes: true, attributeFilter: ["aria-label"] });
}"""
"""Notes what a plot says that it shows from now on."""
PHASES = """selector => {
  window.phases = [];
  const canvas = document.querySelector(selector);
  const note = () => window.phases.push(canvas.dataset.phases);
  new MutationObserver(note).observe(canvas, { attributes: true, attributeFilter: ["data-phases"] });
}"""
"""Notes the phases of a setup that a plot draws from now on."""


def on(n, deflation="levelset:4"):
    return configure("bubbles-2d", n=n, preconditioner="neumann:2", deflation=deflation)


def opened(page, url, configuration, stage):
    """The workbench with this problem in a page."""
    page.goto(f"{url}/?p={to_link(configuration)}")
    page.wait_for_selector(".wb-workbench .wb-rail")
    return Bench(page, lambda name: keep(page, f"one_truth_{stage}_{name}"))


COLOUR = """at => "#" + getComputedStyle(at).color.match(/\\d+/g)
  .map((part) => Number(part).toString(16).padStart(2, "0")).join("")"""
"""The colour of a run in a list, as a saved figure writes it."""
SMALL = "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 2\n2 2 2\n3 3 2\n2 1 -1\n3 2 -1\n"
COMPLEX_SYMMETRIC = "%%MatrixMarket matrix coordinate complex symmetric\n2 2 3\n1 1 4 1\n2 2 4 1\n2 1 -1 0.5\n"
UNSYMMETRIC = "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 2\n2 2 2\n3 3 2\n2 1 -1\n"


@pytest.fixture(scope="module")
def page_of_two_runs(chromium, app_url, request):
    """A page with a run on each of two grids of the same bubbles."""
    with KeptPage(chromium) as kept, kept.lent(request.node) as page:
        bench = opened(page, app_url, on(32), "runs")
        lab.turn_to(page, "Solve")
        bench.solve()
        bench.fill("n", "48")
        bench.solve()
        yield bench


@pytest.fixture
def two_runs(page_of_two_runs):
    """That page in Solve, wherever another test has left it."""
    page_of_two_runs.page.set_viewport_size(lab.VIEWPORT)
    page_of_two_runs.turn_to("Solve", f"{SOLVE} canvas")
    return page_of_two_runs


def seconds(text):
    number, unit = text.split()[:2]
    return float(number) * SECONDS[unit]


def read(bench, heading, view=SOLVE):
    """The texts of a column that is seen, the latest run first."""
    table = bench.page.locator(f"{view} table").filter(has_text="True residual").first
    cell = table.locator("th", has_text=re.compile(f"^{heading}", re.IGNORECASE)).first
    assert cell.evaluate(SEEN), heading
    return lab.column(table, heading.lower())


def test_the_phases_of_a_setup_are_drawn_until_the_curve_begins(page, app_url):
    """The plot said that there was no run, for the nine seconds of the first setup."""
    # The setup of few unknowns may be over before the plot is looked at once.
    bench = opened(page, app_url, on(2048), "phases")
    lab.turn_to(page, "Solve")
    page.evaluate(PHASES, f"{SOLVE} .wb-convergence canvas")
    press(bench, SOLVE, "run")
    bench.until(lambda: any("start of the device; problem" in phases for phases in page.evaluate("phases")))
    bench.until(lambda: int(bench.seen(f"{SOLVE} .wb-convergence canvas").get("count", 0)) > 0)
    bench.until(lambda: page.evaluate("phases.at(-1)") == "")
    press(bench, SOLVE, "stop")


def test_bar_result_and_list_say_one_total(two_runs):
    """The bar said 96.1 s where the result said 97.6 s."""
    bar = two_runs.page.locator(f"{SOLVE} .wb-runbar").inner_text()
    result = two_runs.page.locator(f"{SOLVE} .wb-result").inner_text()
    ended = re.search(rf"finished \d+:\d+, ({TIME})", bar)[1]
    found = re.search(rf"Run 2: ({TIME}), of which setup ({TIME})", result)
    total, setup = found[1], found[2]
    assert [ended] == [total] == read(two_runs, "Together")[:1]
    assert [setup] == read(two_runs, "Setup")[:1]
    # The phases are the setup, and with the iterations the total.
    parts = [seconds(text) for text in re.findall(TIME, bar.partition("Run 2:")[0])]
    assert sum(parts) == pytest.approx(seconds(total), rel=0.05)


@pytest.mark.parametrize("width", [640, 1280])
def test_runs_on_two_grids_have_their_problem_in_every_list(two_runs, width):
    """Below 1500 px two runs had one name, and 2330 and 5779 iterations."""
    page = two_runs.page
    page.set_viewport_size({"width": width, "height": 900})
    grids = ["4 bubbles in a square, 48²", "4 bubbles in a square, 32²"]
    two_runs.until(lambda: read(two_runs, "Problem") == grids)
    two_runs.turn_to("Runs", ".wb-runspage tbody tr")
    # They are headings there.
    groups = page.locator(".wb-runspage .wb-grouprow")
    in_groups = lambda grid: any(grid in group for group in groups.all_inner_texts())  # noqa: E731
    two_runs.until(lambda: all(map(in_groups, grids)))
    two_runs.shoot(f"lists_{width}")
    two_runs.turn_to("Look inside", ".wb-inside")
    runs = page.locator(".wb-insidepage select").first.locator("option")
    named = lambda grid: any(grid[-3:] in run for run in runs.all_inner_texts())  # noqa: E731
    two_runs.until(lambda: all(map(named, grids)))


def row(bench, number):
    return bench.page.locator(f'.wb-runspage tr[data-row="{number}"]')


def drawn(bench, curves):
    """Wait until the plot of the list draws this many runs."""
    bench.until(lambda: bench.seen(".wb-runspage .wb-convergence canvas")["curves"] == str(curves))


def test_a_saved_figure_has_the_colours_of_the_page(two_runs):
    """A run had the colour of its place in the figure."""
    two_runs.turn_to("Runs", ".wb-runspage tbody tr")
    colours = [row(two_runs, number).locator(".wb-sample").first.evaluate(COLOUR) for number in (1, 2)]
    row(two_runs, 2).locator("input[type=checkbox]").check()
    drawn(two_runs, 1)
    _, path = lab.download(two_runs.page, two_runs.button("Save figures").click)
    with zipfile.ZipFile(path) as archive:
        picture = next(archive.read(name).decode() for name in archive.namelist() if name.endswith(".svg"))
    assert [colour in picture for colour in colours] == [False, True], colours
    row(two_runs, 2).locator("input[type=checkbox]").uncheck()
    drawn(two_runs, 2)


def test_a_hidden_run_is_said_to_be_hidden(two_runs):
    """Six of seven runs were pale and not drawn, without a word."""
    two_runs.turn_to("Runs", ".wb-runspage tbody tr")
    for act, said, curves in (("Hide", "Hidden: run 1", 1), ("Show", "Drawn: runs 1, 2", 2)):
        row(two_runs, 1).locator("input[type=checkbox]").check()
        two_runs.button(act).click()
        row(two_runs, 1).locator("input[type=checkbox]").uncheck()
        says(two_runs, ".wb-runspage p", said)
        drawn(two_runs, curves)


def test_the_result_is_the_last_runs_though_it_failed(page, app_url):
    """The green sentence of an older run stayed the loudest on the page, and the failed one had "finished"."""
    # In a page of its own: others read how many runs there are.
    bench = opened(page, app_url, on(32), "last")
    lab.turn_to(page, "Solve")
    bench.solve()
    bench.open_link(to_link(on(32, "file:/no/labels.npy")))
    bench.until(lambda: read(bench, "State")[0].startswith("converged"))
    page.locator(f'{SOLVE} [data-field="deflation"] .wb-pick[data-value="file"]').wait_for()
    press(bench, SOLVE, "run")
    says(bench, f"{SOLVE} .wb-result.wb-bad", "/no/labels.npy")
    says(bench, f"{SOLVE} .wb-result", "Run 2: no iteration was made")
    assert not page.locator(f"{SOLVE} .wb-result", has_text="Converged").count()
    says(bench, f"{SOLVE} .wb-runbar", "without an iteration")
    bench.until(lambda: read(bench, "State")[0] == "failed")
    bench.shoot("failed")


def test_the_plot_of_a_race_says_what_its_entries_do_before_they_iterate(page, app_url):
    """It said "Press Start" while two entries were set up."""
    bench = opened(
        page, app_url, configure("bubbles-2d", n=1024, preconditioner="neumann:2", deflation="levelset:16"), ""
    )
    lab.turn_to(page, "Race")
    page.locator(f"{RACE} .wb-sorted tbody tr").first.wait_for()
    page.evaluate(LABELS, f"{RACE} .wb-convergence canvas")
    press(bench, RACE, "run")
    bench.until(lambda: any("setting up" in label for label in page.evaluate("labels")))


@pytest.mark.slow
def test_compiling_is_told_apart_from_the_setup_and_the_total(page, tmp_path, monkeypatch):
    """The nine seconds that a newcomer's first run compiles were called kernels, and counted as setup."""
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "nothing is compiled"))
    (tmp_path / "server").mkdir()
    with lab.voila_server(tmp_path / "server") as url:
        bench = opened(page, url, on(32), "compiling")
        lab.turn_to(page, "Solve")
        bench.solve()
        result = page.locator(f"{SOLVE} .wb-result").inner_text()
        took = re.search(rf"compiling kernels took ({TIME}) more, once per machine", result)
        assert took, result
        assert seconds(read(bench, "Together")[0]) < seconds(took[1])
        bench.shoot("compiled")
        page.goto("about:blank")


def test_a_race_begins_with_the_time_that_setup_and_iterations_take(page, app_url):
    """The entry with the fewest iterations won, though another was faster."""
    bench = opened(page, app_url, on(32), "axis")
    lab.turn_to(page, "Race")
    page.locator(f"{RACE} .wb-sorted tbody tr").first.wait_for()
    bench.until(lambda: bench.seen(f"{RACE} .wb-convergence canvas").get("axis") == "seconds")
    assert page.locator(RACE).get_by_label("with setup", exact=True).is_checked()


def test_the_header_names_an_uploaded_matrix_at_once_and_a_refused_one_replaces_nothing(page, app_url):
    """The header kept the bubbles until Solve was opened, and a matrix that was refused was the problem there."""
    bench = opened(page, app_url, on(32), "matrix")
    page.locator(".wb-top").or_(page.locator(".wb-building")).get_by_text("Matrix", exact=True).first.click()
    page.get_by_role("radio", name="File", exact=True).click()

    def upload(name, text):
        with page.expect_file_chooser() as choosing:
            page.locator(".wb-building").get_by_role("button", name="Choose a file").click()
        choosing.value.set_files({"name": name, "mimeType": "text/plain", "buffer": text.encode()})

    upload("wrong.mtx", UNSYMMETRIC)
    says(bench, '.wb-building [data-field="upload"] .wb-err', "not symmetric")
    assert "uploads" not in page.locator(".wb-building").inner_text()
    assert "4 bubbles in a square" in page.locator(".wb-chip").inner_text()
    bench.turn_to("Solve", f"{SOLVE} canvas")
    assert page.locator(f'{SOLVE} [data-field="problem"] .wb-pick').get_attribute("data-value") == "bubbles-2d"
    lab.turn_to(page, "Build")
    upload("small.mtx", SMALL)
    bench.until(lambda: "small" in page.locator(".wb-chip").inner_text())
    # One that needs another method is shown, and one press chooses that.
    upload("impedance.mtx", COMPLEX_SYMMETRIC)
    says(bench, ".wb-building .wb-status", "A is complex symmetric")
    solve = page.locator(".wb-building").get_by_role("button", name="Solve this")
    bench.until(solve.is_disabled)
    page.locator(".wb-building").get_by_role("button", name="Use COCG").click()
    bench.until(solve.is_enabled)
    solve.click()
    says(bench, f"{SOLVE} .wb-result.wb-good", "Converged in")
    assert page.locator(f'{SOLVE} [data-field="solver"] .wb-pick').get_attribute("data-value") == "cocg"
    # What is wrong there is no band over what is chosen here.
    lab.turn_to(page, "Build")
    upload("wrong.mtx", UNSYMMETRIC)
    says(bench, '.wb-building [data-field="upload"] .wb-err', "not symmetric")
    bench.turn_to("Solve", f"{SOLVE} canvas")
    says(bench, ".wb-chip", "Matrix impedance")
    assert not page.get_by_text("not symmetric").locator("visible=true").count()
    assert not page.locator(".wb-status.wb-bad").locator("visible=true").count()
    lab.turn_to(page, "Build")
    upload("small.mtx", SMALL)
    # In Solve it has its own name, not the folder where it is kept.
    bench.turn_to("Solve", f"{SOLVE} canvas")
    bench.until(lambda: page.locator(f'{SOLVE} [data-field="problem.path"] input').input_value() == "small.mtx")


def test_help_on_a_block_is_written_for_people(page, app_url):
    """It was the docstring, with the line breaks of the source and what is raised."""
    bench = opened(page, app_url, on(32), "help")
    lab.turn_to(page, "Solve")
    page.locator(f'{SOLVE} [data-field="problem"]').locator(".wb-more").click()
    panel = page.locator("dialog.wb-helppanel[open]")
    panel.get_by_text("Gupta").first.wait_for()
    bench.shoot("block")
    assert "Raises" not in panel.inner_text()
    assert not panel.locator("pre").count()
