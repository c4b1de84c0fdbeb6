"""Figures on a dark ground: greys change places, curves have the colours of dark pages, maps of values stay."""

import re
from pathlib import Path

import numpy as np
from matplotlib.colors import to_hex

import workbench.live
from workbench.plots import figures, scenes
from workbench.plots.figures.style import GROUND, turned
from workbench.plots.scenes import Axis, CellsOf, CurveOf, LineAt, PointsOf, Scene
from workbench.plots.scenes.plane import Colormap, Plane
from workbench.plots.scenes.style import COLOURS, ON_DARK

PLAIN = Axis("x"), Axis("y")


def test_black_and_white_change_places_and_series_get_lighter():
    assert to_hex(turned("white")) == to_hex(GROUND) == "#141519"
    assert to_hex(turned("#000000")) == "#e9eaed"
    assert turned("none") == "none"
    assert [turned(colour) for colour in COLOURS] == list(ON_DARK)
    # Soft colours of kernels stay.
    assert turned("#6f9fd8") == "#6f9fd8"


def test_a_figure_has_the_colours_of_a_dark_page():
    x = np.arange(3)
    layers = [CurveOf("CG", x, x + 1.0), PointsOf("printed", x, x + 1.0, outlined=True), LineAt(2.0, "limit {}")]
    figure = figures.on_dark(figures.draw(Scene("s", *PLAIN, layers)))
    axes = figure.axes[0]
    assert [to_hex(patch.get_facecolor()) for patch in (figure.patch, axes.patch)] == [to_hex(GROUND)] * 2
    assert axes.lines[0].get_color() == ON_DARK[0]
    assert to_hex(axes.lines[1].get_markeredgecolor()) == "#e9eaed"
    light = [np.mean(plain) for plain in (_rgb(text) for text in axes.get_xticklabels())]
    assert min(light) > 0.8


def _rgb(text):
    return [int(to_hex(text.get_color())[k : k + 2], 16) / 255 for k in (1, 3, 5)]


def test_numbers_in_cells_and_maps_stay():
    cells = CellsOf("iterations", np.array([[20.0, 31.0], [44.0, np.nan]]), kind="count")
    before, after = (figures.draw(Scene("s", *PLAIN, [cells])) for _ in range(2))
    figures.on_dark(after)
    shown = [[(text.get_text(), to_hex(text.get_color())) for text in each.axes[0].texts] for each in (before, after)]
    assert shown[0] == shown[1]
    assert len(shown[0]) == 3
    pictures = [each.axes[0].images[0].to_rgba(each.axes[0].images[0].get_array()) for each in (before, after)]
    assert np.array_equal(*pictures)


def test_the_colours_are_those_of_the_page():
    script = Path(workbench.live.__file__).parent / "static" / "ui" / "theme.js"
    pairs = re.findall(r'\["(#\w{6})", "(#\w{6})"\]', script.read_text(encoding="utf-8"))
    assert pairs == list(zip(COLOURS, ON_DARK, strict=True))


def test_a_figure_says_what_is_seen_and_notebooks_keep_it():
    curve = CurveOf("CG", np.arange(3), np.array([1.0, 0.1, 0.01]))
    figure = figures.draw(Scene("s", Axis("iteration", whole=True), Axis("residual", log=True), [curve]), title="Two")
    _, about = figure._repr_png_()
    assert about == {"alt": "Two. residual against iteration. CG: from 1.00 at 0 to 0.0100 at 2."}
    plane = Plane(np.eye(4) + 1, "x", Colormap.of(np.eye(4), logarithmic=False), "batlow", title="A solution")
    assert figures.draw_plane(plane).words == "A solution. x from 1.00 to 2.00, 4 by 4 cells."
    assert scenes.in_words(Scene("s", *PLAIN, note="No run has ended yet.")) == "y against x. No run has ended yet."
