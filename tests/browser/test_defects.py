"""A problem that is opened, solved and looked into: what a review found wrong there, in JupyterLab and in Voila.

Each assertion is preceded by what was wrong.
"""

from __future__ import annotations

import io
import re
import zipfile

import numpy as np
import pytest
from PIL import Image

from tests.browser import lab
from tests.browser.bench import Bench, opened
from workbench.run import configure
from workbench.run.choices.share_link import from_link, to_link

pytestmark = pytest.mark.browser

COPY_LINK = re.compile("^Copy (address|share link)$")
RUNS = ".wb-solving .wb-runlist"
INSIDE = ".wb-insidepage"
CHARTS = f"{INSIDE} .wb-chart canvas.wb-canvas"
DRAWN = "all => all.filter((at) => Number(at.dataset.layers) > 0).map((at) => at.dataset.name).join()"
COLOURS = """(patches) => Object.fromEntries([...document.querySelectorAll(`.wb-insidepage ${patches}`)]
  .map((patch) => [patch.closest("td").textContent, getComputedStyle(patch).backgroundColor]))"""
"""The colour of each kernel in a table."""


def cube(seed):
    """Few unknowns, so that exact spectra are computed unasked; all sides are walls, so A is singular."""
    return configure(
        "bubbles-3d",
        n=10,
        layout="random",
        count=5,
        geometry_seed=seed,
        preconditioner="jacobi",
        deflation="levelset:2",
    )


@pytest.fixture(params=["voila", pytest.param("lab", marks=pytest.mark.slow)])
def place(request):
    return request.param


@pytest.fixture
def server_folder(page, request, place):
    return opened(page, request, place)


@pytest.fixture
def bench(page, server_folder, place, shoot):
    return Bench(page, lambda stage: shoot(f"defects_{place}_{stage}"))


def files(folder):
    """All files in the folder of a server's notebooks, without those of Jupyter."""
    return {path for path in (folder / "notebooks").rglob("*") if not any(part[0] == "." for part in path.parts)}


def unpacked(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def chip(bench, words):
    bench.page.locator(".wb-chip", has_text=words).wait_for()


def cells(bench, heading):
    """The texts of a column of the list of runs in Solve, the latest run first."""
    return lab.column(bench.page.locator(f"{RUNS} table"), heading)


def solve(bench, number):
    """Solve, and wait until the list says of this many runs that they have converged."""
    bench.solve()
    bench.until(lambda: [state.partition(" ")[0] for state in cells(bench, "state")] == ["converged"] * number)


def dark(page, place, *, on):
    """JupyterLab's theme, or that of the system, which the served page follows."""
    if place == "lab":
        name = "JupyterLab Dark" if on else "JupyterLab Light"
        page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", name)
    else:
        page.emulate_media(color_scheme="dark" if on else "light")
    page.wait_for_function("theme => document.documentElement.dataset.wbTheme === theme", arg="dark" if on else "light")


def corner(canvas):
    """The brightest of red, green and blue of a pixel of the ground."""
    return np.asarray(Image.open(io.BytesIO(canvas.screenshot())).convert("RGB"))[2, 2].max()


def test_an_opened_problem_keeps_its_name_its_numbers_and_its_files(bench, server_folder):
    page = bench.page
    first, second = cube(3), cube(4)

    # Defect 11: the fields of random bubbles stayed those of the problem before, so the button made another one.
    bench.open_link(to_link(first))
    chip(bench, "5 random bubbles")
    page.eval_on_selector(".wb-building .wb-advanced", "folded => { folded.open = true; }")
    bench.button("Place at random").click()
    chip(bench, "5 random bubbles")
    again = from_link(re.search(r"cgw1\.[\w-]+", bench.copied(COPY_LINK))[0])
    assert again.problem == first.problem

    # Low: what was copied as Python built a configuration and showed nothing.
    text, namespace = bench.copied("Copy as Python"), {}
    exec(text, namespace)
    assert namespace["result"].converged
    assert "print(" in text

    bench.turn_to("Solve", ".wb-solving canvas")
    solve(bench, 1)
    bench.open_link(to_link(second))
    bench.until(lambda: bench.field("geometry_seed").locator("input").input_value() == "4")
    solve(bench, 2)
    # Defect 13: every layout of a size had the same name in legend, table and files.
    problems = cells(bench, "problem")
    assert len(set(problems)) == 2
    assert all("bubbles in a cube, 10³" in problem for problem in problems)
    # The plot shows the runs of the last problem, and others that are ticked.
    legend = page.locator(".wb-solving .wb-legend li", has_text=re.compile(r"\d:"))
    bench.until(lambda: legend.count() == 1)
    ticks = page.locator(".wb-solving .wb-table tbody input[type=checkbox]")
    for tick in (ticks.nth(0), ticks.nth(1)):
        tick.check()
    bench.until(lambda: legend.count() == 2)
    assert len({re.sub(r"^\D*\d+:", "", entry) for entry in legend.all_inner_texts()}) == 2
    before = files(server_folder)
    name, path = lab.download(page, bench.button("Run files").click)
    runs = unpacked(path)
    assert name.endswith(".zip")
    assert len({run.partition("-run")[0] for run in runs}) == len(runs) == 2

    # Defect 14: a saved field did not say which plane it shows.
    bench.until(lambda: (bench.seen(".wb-solving .wb-field canvas").get("title") or "").endswith(problems[0]))
    plane = re.search(r"[xyz] = 0\.\d+", page.locator(".wb-solving .wb-section").inner_text())[0]
    bench.button("Save figures").wait_for()
    _, path = lab.download(page, bench.button("Save figures").click)
    figures = unpacked(path)
    fields = [content.decode() for name, content in figures.items() if name.startswith("field") and "json" not in name]
    assert {name.rpartition(".")[2] for name in figures if name.startswith("field")} >= {"svg", "csv"}
    assert all(plane in field for field in fields)
    bench.shoot("solved")

    # Defect 5: what was saved went to the server's disk, and the browser received nothing.
    assert figures
    assert files(server_folder) == before


def test_looking_inside_a_run_changes_nothing_and_is_readable(bench, place):
    page = bench.page
    bench.open_link(to_link(cube(3)))
    chip(bench, "5 random bubbles")
    bench.turn_to("Solve", ".wb-solving canvas")
    bench.field("trace").locator("input").check()
    solve(bench, 1)
    bench.turn_to("Look inside", INSIDE)
    page.locator(INSIDE).get_by_text("The whole run by kernel").click()
    page.locator(INSIDE).get_by_text("Numbers of the kernels").click()

    # Defect 1: a field of a finished run was computed within its trace, which then lasted as long as the page was open.
    kernels = page.locator(f"{INSIDE} .wb-timeline .wb-kernels tbody")
    kernels.locator("tr").nth(3).wait_for()
    lanes = f"{INSIDE} .wb-timeline canvas.wb-canvas"
    bench.until(lambda: bench.seen(lanes)["live"] == "false")
    # A run that has ended is sent in several messages.
    counted = lambda: (kernels.inner_text(), bench.seen(lanes)["to"])  # noqa: E731
    before = lab.unchanging(page, counted)
    colours = page.evaluate(COLOURS, ".wb-timeline .wb-patch")
    page.locator(f"{INSIDE} .wb-field select").locator("visible=true").first.select_option("residual")
    bench.until(lambda: bench.seen(f"{INSIDE} .wb-field canvas")["quantity"] == "residual")
    assert lab.unchanging(page, counted) == before

    # Low: roofline and timeline had different colours for a kernel.
    shared = bench.until(lambda: page.evaluate(COLOURS, "span.wb-patch"))
    assert len(shared) >= 3
    assert shared == {name: colours[name] for name in shared}

    # Low: ticks of iterations at halves, and "1 zeros".
    charts = page.locator(CHARTS).locator("visible=true")
    bench.until(lambda: charts.evaluate_all(DRAWN) == "ritz,estimates,levels,roofline")
    assert all(tick.isdigit() for tick in charts.first.get_attribute("data-x-ticks").split("|"))
    bench.until(lambda: re.search(r"\b1 zero\b", charts.nth(2).get_attribute("aria-label")))

    # Defect 9: spectrum and roofline stayed white in the dark theme.
    bench.until(lambda: min(corner(chart) for chart in charts.all()) > 200)
    dark(page, place, on=True)
    bench.until(lambda: max(corner(chart) for chart in charts.all()) < 60)
    bench.shoot("spectrum_in_the_dark")
    dark(page, place, on=False)
