"""Plots in real JupyterLab: zoom, names, slope, readout and tolerance; in both themes, on wide and narrow pages."""

from __future__ import annotations

import io
import itertools
import json
import re
import zipfile

import numpy as np
import pytest
from PIL import Image

from tests.browser import lab
from tests.browser.bench import unchanging, until

pytestmark = pytest.mark.browser

CONVERGENCE = ".wb-convergence canvas.wb-canvas"
CHART = ".wb-chart canvas.wb-canvas"
RUNS = """\
from workbench.live import ConvergenceView
from workbench.run import Session, configure
view = ConvergenceView()
for preconditioner in ("jacobi", "neumann:2", "none"):
    view.watch(Session(configure("two-layer", n=24, preconditioner=preconditioner)))
for place, curve in enumerate(view.curves, 1):
    curve.label = f"{place}: {curve.label}"
    curve.session.wait(60)
view.publisher.wake()
view"""
ALL_DRAWN = """dataset.curves === '3' && dataset.live === 'false' && Number(dataset.count) > 30
  && JSON.parse(dataset.names).length === 3"""
"""The three runs have ended, and stand on the plot with their names."""
SECONDS = """\
import dataclasses
from workbench.live import ConvergenceView
from workbench.records import History
from workbench.run import Run, configure, run_through
record = run_through(Run(configure("two-layer", n=24))).record()
arrays = record.history.to_arrays()
arrays["seconds"] *= 14 / arrays["seconds"][-1]
view = ConvergenceView()
view.add(dataclasses.replace(record, history=History.from_arrays(arrays)))
view.axis = "seconds"
view"""
INSIDE = """\
from workbench.live import RooflineView, SpectrumView
from workbench.run import Run, Stopping, configure, run_through
blocks = {"preconditioner": "neumann:1", "deflation": "stripes:1"}
run = run_through(Run(configure("two-layer", n=12, stopping=Stopping(rtol=1e-8), **blocks), trace=True))
spectrum, roofline = SpectrumView(run), RooflineView(run, "v100")
import ipywidgets
ipywidgets.VBox([spectrum.box, roofline.box])"""
RACE = """\
from workbench.live import RaceView
from workbench.run import configure
view = RaceView(*(configure("two-layer", n=32, deflation=d) for d in ("none", "stripes")))
view.start()
view.race.wait(60)
view"""


class Plot:
    """A plot by what a user sees of it and does to it."""

    def __init__(self, page, at):
        self.page, self.at = page, at

    @property
    def data(self):
        return self.page.locator(self.at).first.evaluate("canvas => ({...canvas.dataset})")

    def until(self, condition):
        self.page.wait_for_function(
            f"at => {{ const {{dataset}} = document.querySelector(at) ?? {{}}; return dataset && ({condition}); }}",
            arg=self.at,
        )

    def place(self, x, y):
        """Where a pixel of the canvas is on the page."""
        box = self.page.locator(self.at).first.bounding_box()
        return box["x"] + x, box["y"] + y

    def drag(self, start, end):
        self.page.mouse.move(*self.place(*start))
        self.page.mouse.down()
        self.page.mouse.move(*self.place(*end), steps=5)
        self.page.mouse.up()

    @property
    def picture(self):
        """Pixels of the canvas, shape (rows, columns, 3)."""
        return self.pixels(0)

    def pixels(self, place):
        """Those of one of several such canvases, once they rest: they may come after its numbers."""
        shot = unchanging(self.page, self.page.locator(self.at).nth(place).screenshot, reads=2)
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)

    def until_dark(self, place=0):
        """Wait until a canvas has a dark ground."""
        until(self.page, lambda: self.pixels(place)[2, 2].max() < 60)

    def rest(self):
        """Wait until the page around the plot moves no more."""
        at = self.page.locator(self.at).first
        unchanging(self.page, lambda: (at.bounding_box(), at.get_attribute("data-box")), reads=4)


def opened(page, lab_url, lab_folder, name, code, at, ready):
    page.set_viewport_size({"width": 1280, "height": 900})
    lab.open_cells(page, lab_url, lab_folder, name, code)
    lab.run_all(page)
    page.wait_for_selector(at)
    plot = Plot(page, at)
    plot.until(ready)
    page.locator(at).first.scroll_into_view_if_needed()
    plot.rest()
    return plot


def test_a_plot_is_zoomed_moved_measured_and_read_out(page, lab_url, lab_folder, shoot):
    """Curves could neither be zoomed nor hidden, ticks stood between two iterations, and the readout in a corner."""
    plot = opened(page, lab_url, lab_folder, "plot.ipynb", RUNS, CONVERGENCE, ALL_DRAWN)
    whole = float(plot.data["xHigh"])
    left, top, right, bottom = map(int, plot.data["box"].split(","))
    middle = (top + bottom) / 2

    plot.drag((left + 100, middle), (left + 260, middle + 20))
    per_pixel = whole / (right - left)
    # That it is zoomed may be said before the axis has moved.
    plot.until(f"dataset.zoomed === 'true' && Number(dataset.xLow) > {98 * per_pixel}")
    assert float(plot.data["xLow"]) == pytest.approx(100 * per_pixel, abs=2 * per_pixel)
    assert float(plot.data["xHigh"]) == pytest.approx(260 * per_pixel, abs=2 * per_pixel)
    for _ in range(30):
        page.keyboard.press("+")
    plot.until("Number(dataset.xHigh) - Number(dataset.xLow) < 2.1")
    assert all(tick.isdigit() for tick in plot.data["xTicks"].split("|"))
    before = float(plot.data["xLow"])
    page.keyboard.press("ArrowRight")
    plot.until(f"Number(dataset.xLow) > {before}")
    page.keyboard.press("0")
    plot.until("dataset.zoomed === 'false'")

    x, y = plot.place(left + 200, middle)
    page.mouse.move(x, y)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Control")
    plot.until("dataset.zoomed === 'true'")
    # What is under the pointer stays there.
    share = 200 / (right - left)
    low, high = (float(plot.data[name]) for name in ("xLow", "xHigh"))
    assert low + share * (high - low) == pytest.approx(200 * per_pixel, rel=0.02)
    page.mouse.dblclick(x, y)
    plot.until("dataset.zoomed === 'false'")

    # What was read out where the pointer was before is gone.
    readout = page.locator(".wb-readout:not([hidden])")
    page.mouse.move(0, 0)
    readout.wait_for(state="hidden")
    # Where all three runs are still active.
    x = plot.place(left + 40, middle)[0]
    page.mouse.move(x + 1, y)
    readout.wait_for()
    assert readout.inner_text().startswith("iteration ")
    assert readout.locator(".wb-row").count() == 3
    box = readout.bounding_box()
    assert not (box["x"] <= x + 1 <= box["x"] + box["width"] and box["y"] <= y <= box["y"] + box["height"])
    shoot("plot read out")

    page.keyboard.down("Shift")
    plot.drag((left + 20, middle - 40), (left + 120, middle + 20))
    page.keyboard.up("Shift")
    decades = 60 / (bottom - top) * np.log10(float(plot.data["yHigh"]) / float(plot.data["yLow"]))
    every = 100 * per_pixel / decades
    # The slope is said from the begin of the drag on, and at its end it is that of all of it.
    slope = lambda: re.fullmatch(r"10 times smaller every (\S+) iterations", plot.data["slope"])  # noqa: E731
    until(page, lambda: float(slope()[1]) == pytest.approx(every, rel=0.05), "another slope")


def test_a_click_on_a_name_hides_its_curve(page, lab_url, lab_folder):
    """There was a legend under the plot that did nothing."""
    plot = opened(page, lab_url, lab_folder, "names.ipynb", RUNS, CONVERGENCE, ALL_DRAWN)
    names = json.loads(plot.data["names"])
    entries = page.locator(".wb-name-of-curve")
    assert entries.count() == 3
    longest = float(plot.data["xHigh"])
    # The curve without a preconditioner is the longest; without it the axis is shorter.
    last = max(name["key"] for name in names)
    at = next(name for name in names if name["key"] == last)
    page.mouse.click(*plot.place(at["x"], at["y"]))
    plot.until(f"Number(dataset.xHigh) < {longest}")
    assert entries.nth(2).get_attribute("aria-pressed") == "false"
    entries.nth(2).focus()
    page.keyboard.press("Enter")
    plot.until(f"Number(dataset.xHigh) === {longest}")
    assert entries.nth(2).get_attribute("aria-pressed") == "true"


def test_no_curve_crosses_the_label_of_the_tolerance(page, lab_url, lab_folder):
    """Curves were drawn through it."""
    plot = opened(page, lab_url, lab_folder, "label.ipynb", RUNS, CONVERGENCE, f"dataset.label && {ALL_DRAWN}")
    page.mouse.move(0, 0)
    picture = plot.picture
    scale = picture.shape[1] / page.locator(CONVERGENCE).bounding_box()["width"]
    left, top, right, bottom = (int(scale * float(edge)) for edge in plot.data["label"].split(","))
    inside = picture[top:bottom, left:right]
    assert inside.size > 500
    # Ink and ground are grey; curves are not.
    assert (inside.max(axis=2) - inside.min(axis=2)).max() < 40
    assert inside.min() < 120
    assert inside.max() > 200


@pytest.mark.slow
def test_an_axis_of_time_has_the_unit_that_fits(page, lab_url, lab_folder):
    """Fourteen seconds read 14 000 ms."""
    plot = opened(page, lab_url, lab_folder, "seconds.ipynb", SECONDS, CONVERGENCE, "dataset.axis === 'seconds'")
    plot.until("Number(dataset.xHigh) > 13")
    assert plot.data["xTitle"].endswith("(s)")
    assert max(float(tick) for tick in plot.data["xTicks"].split("|")) <= 20


@pytest.mark.slow
def test_spectrum_and_roofline_follow_the_theme(page, lab_url, lab_folder, shoot):
    """They were pictures with a white ground, also in the dark theme."""
    plot = opened(page, lab_url, lab_folder, "inside.ipynb", INSIDE, CHART, "dataset.name === 'ritz'")
    page.wait_for_function(
        "at => [...document.querySelectorAll(at)].map(canvas => canvas.dataset.name).join()"
        " === 'ritz,estimates,levels,roofline'",
        arg=CHART,
    )
    assert plot.picture[2, 2].min() > 240
    assert all(tick.isdigit() for tick in plot.data["xTicks"].split("|"))
    page.evaluate("() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    page.wait_for_function("() => document.body.dataset.jpThemeLight === 'false'")
    plot.until_dark()
    roofline = page.locator(CHART).nth(3)
    roofline.scroll_into_view_if_needed()
    plot.until_dark(3)
    shoot("roofline in the dark")
    # JupyterLab takes away what it shows during a change a while later, and fails if a second one came meanwhile.
    page.wait_for_selector("#jupyterlab-splash", state="detached")
    page.evaluate("() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Light'})")
    page.wait_for_function("() => document.body.dataset.jpThemeLight === 'true'")
    assert page.locator("img.widget-image").count() == 0


@pytest.mark.slow
def test_headings_of_a_race_stay_apart_on_a_narrow_page(page, lab_url, lab_folder, shoot):
    """At 800 pixels two of them read as one word."""
    page.set_viewport_size({"width": 800, "height": 900})
    lab.open_cells(page, lab_url, lab_folder, "narrow.ipynb", RACE)
    lab.run_all(page)
    page.locator(".wb-race [role=status]", has_text="2 entries: all have ended").first.wait_for(state="attached")
    page.locator(".wb-race .wb-sorted tbody tr").nth(1).wait_for()
    gaps = """() => [...document.querySelector('.wb-race thead tr').children].map(cell => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      const {left, right, top, bottom} = range.getBoundingClientRect();
      return [left, right, top, bottom];
    }).filter(([left, right]) => right > left)"""
    cells = unchanging(page, lambda: page.evaluate(gaps))
    # The table drops those of low worth first.
    assert len(cells) >= 5
    for (_, right, top, bottom), (left, _, below, above) in itertools.pairwise(cells):
        on_one_line = top < above and below < bottom
        assert not on_one_line or left - right >= 8
    shoot("race at 800 pixels")


def test_a_dialog_says_which_runs_a_saved_figure_shows_and_by_what_names(page, lab_url, lab_folder, shoot):
    """A figure showed all runs, by labels that only the program could choose."""
    page.set_viewport_size({"width": 1280, "height": 1100})
    lab.open_cells(page, lab_url, lab_folder, "dialog.ipynb", RACE)
    lab.run_all(page)
    page.locator(".wb-race [role=status]", has_text="all have ended").first.wait_for(state="attached")
    page.get_by_role("button", name="Adjust …", exact=True).click()
    shown, labels = (page.locator(f".wb-figure-dialog [data-field^={name}] input") for name in ("shown", "label"))
    # Both runs, the true residuals and the tolerance.
    until(page, lambda: shown.count() == 4)
    shown.nth(0).uncheck()
    labels.nth(1).fill("with stripes")
    labels.nth(1).press("Tab")
    page.get_by_label("provenance beneath", exact=True).check()
    page.get_by_label("font", exact=True).select_option("serif")
    shoot("dialog of saved figures")
    _, path = lab.download(page, page.get_by_role("button", name="Save figures", exact=True).click)
    with zipfile.ZipFile(path) as archive:
        picture = next(archive.read(name).decode() for name in archive.namelist() if name.endswith(".svg"))
    assert "with stripes" in picture
    assert "1: Jacobi<" not in picture
    assert "DejaVu Serif" in picture
    assert "UTC" in picture
