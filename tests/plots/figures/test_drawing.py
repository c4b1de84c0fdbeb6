"""Both renderers of a scene get the same: what the page is sent is what Matplotlib draws."""

import dataclasses

import numpy as np
import pytest
from matplotlib.colors import to_hex

from workbench.errors import InputError
from workbench.plots.figures import draw, plotted_data
from workbench.plots.figures.edited import labels_of, relabelled
from workbench.plots.figures.style import MAPS
from workbench.plots.scenes import Axis, BarsOf, CellsOf, CurveOf, LineAt, ParallelOf, PointsOf, Scene
from workbench.plots.scenes.style import COLOURS

X, Y, LOG = Axis("x"), Axis("y"), Axis("y", log=True)
ONE, TWO = np.array([1.0, 2.0, 4.0]), np.array([1.0, 0.5, 0.25])


def sent(scene):
    """The layers as the page reads them, each with its numbers (static/plots/chartplot.js)."""
    message, data = scene.message()
    numbers, used = np.frombuffer(data, np.float32), 0
    for layer in message["layers"]:
        parts = {"curve": 2, "points": 2, "bars": 3 if layer.get("based") else 2, "cells": 1, "parallel": 1, "line": 0}
        layer["arrays"] = []
        for _ in range(parts[layer["layer"]]):
            layer["arrays"].append(numbers[used : used + layer["count"]])
            used += layer["count"]
    assert used == numbers.size
    return message


@pytest.mark.parametrize("style", [0, 3, 9])
@pytest.mark.parametrize("options", [{}, {"plain": True}, {"dash": (1.0, 4.0)}, {"mark": False}])
def test_a_curve_has_its_data_name_colour_dash_and_mark(style, options):
    scene = Scene("one", X, LOG, [CurveOf("a run", ONE, TWO, style, **options)])
    (layer,) = sent(scene)["layers"]
    (axes,) = draw(scene).axes
    (line,) = axes.get_lines()
    np.testing.assert_array_equal([line.get_xdata(), line.get_ydata()], layer["arrays"])
    assert (line.get_label(), line.get_color()) == (layer["name"], layer["colour"]) == ("a run", COLOURS[style % 8])
    assert line.get_marker() == (layer["marker"] or "None")
    dashes = line._unscaled_dash_pattern[1]
    assert tuple(dashes or ()) == tuple(layer["dash"])
    assert axes.get_yscale() == "log"


def test_curves_keep_their_order_and_what_belongs_to_them_comes_last():
    ring = PointsOf("true residual", ONE[:1], TWO[:1], size=5.5, outlined=True, of="a")
    scene = Scene("two", X, LOG, [CurveOf("a", ONE, TWO), ring, CurveOf("b", ONE, TWO / 2, 1)])
    figure = draw(scene)
    assert labels_of(figure) == ["a", "b", "true residual"]
    scene = dataclasses.replace(scene, layers=[*scene.layers, LineAt(0.5, "tolerance {}")])
    figure = draw(scene)
    assert labels_of(figure)[-1] == "tolerance 0.5"
    renamed = relabelled(figure, {"tolerance 0.5": "aim", "a": "run"})
    assert [text.get_text() for text in renamed.axes[0].texts] == ["aim"]
    assert labels_of(renamed) == ["run", "b", "true residual"]
    assert len(relabelled(figure, {"tolerance 0.5": None}).axes[0].get_lines()) == 3
    # Without its run a ring has nothing to stand at.
    without = relabelled(figure, {"a": None, "tolerance 0.5": None})
    assert [line.get_label() for line in without.axes[0].get_lines()] == ["b"]


def test_points_bars_and_cells_have_their_numbers_and_colours():
    points = PointsOf("", ONE, TWO, 2, marker=".", size=2)
    (dots,) = draw(Scene("points", X, Y, [points])).axes[0].get_lines()
    (layer,) = sent(Scene("points", X, Y, [points]))["layers"]
    np.testing.assert_array_equal([dots.get_xdata(), dots.get_ydata()], layer["arrays"])
    assert dots.get_color() == layer["colour"] or to_hex(dots.get_markerfacecolor()) == layer["colour"]
    bars = BarsOf("part", ONE, TWO + 1, 0.5, base=TWO, style=1)
    (layer,) = sent(Scene("bars", X, Y, [bars]))["layers"]
    drawn = draw(Scene("bars", X, Y, [bars])).axes[0].patches
    x, top, base = layer["arrays"]
    np.testing.assert_allclose([bar.get_x() + bar.get_width() / 2 for bar in drawn], x)
    np.testing.assert_allclose([bar.get_y() for bar in drawn], base)
    np.testing.assert_allclose([bar.get_y() + bar.get_height() for bar in drawn], top)
    assert {to_hex(bar.get_facecolor()) for bar in drawn} == {layer["colour"]}


@pytest.mark.parametrize("name", ["batlow", "viridis", "signed"])
def test_cells_have_the_map_of_the_page_and_its_ends(name):
    values = np.array([[1.0, 10.0], [100.0, np.nan]])
    cells = CellsOf("iterations", values, "count", log=name != "signed", map=name, absent=["", "", "", "failed"])
    scene = Scene("cells", Axis("c", names=["a", "b"]), Axis("r", names=["c", "d"]), [cells])
    axes, bar = draw(scene).axes
    (image,) = axes.images
    (numbers,) = sent(scene)["layers"][0]["arrays"]
    np.testing.assert_array_equal(np.ma.filled(image.get_array(), np.nan).ravel(), numbers)
    assert image.get_cmap() is MAPS[name]
    assert image.norm([1, 10, 100]).tolist() == pytest.approx([0, 0.5, 1] if name != "signed" else [0.505, 0.55, 1])
    assert image.get_extent() == [-0.5, 1.5, -0.5, 1.5]
    assert {text.get_text() for text in axes.texts} == {"1", "10", "100", "failed"}
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["a", "b"]
    assert bar.get_ylabel() == "iterations"


def test_a_line_a_span_and_a_unit():
    scene = Scene(
        "line", Axis("time", "s", span=(0, 0.02)), LOG, [CurveOf("", ONE / 1000, TWO), LineAt(1e-6, "tolerance {}")]
    )
    figure = draw(scene, title="a title")
    (axes,) = figure.axes
    figure.canvas.draw()
    assert axes.get_xlabel() == "time (ms)"
    assert [tick.get_text() for tick in axes.get_xticklabels()][:2] == ["0", "5"]
    assert axes.get_xlim() == sent(scene)["x"]["span"] == (0, 0.02)
    assert axes.texts[0].get_text() == "tolerance 10⁻⁶"
    assert figure.get_suptitle() == "a title"
    assert axes.get_title(loc="left") == "y"


def test_marks_beyond_the_points_leave_no_empty_room():
    scene = Scene("marks", Axis("n", log=True, marks=[2, 128, 256]), LOG, [CurveOf("", 128 * ONE, TWO)])
    (axes,) = draw(scene).axes
    assert list(axes.get_xticks()) == [128, 256]
    assert axes.get_xlim()[0] > 100


def test_many_marks_all_have_ticks_and_some_have_labels():
    powers = [2**k for k in range(13)]
    curve = CurveOf("", np.array([1.0, 64.0, 4096.0]), TWO)
    (axes,) = draw(Scene("marks", Axis("n", log=True, marks=powers), LOG, [curve])).axes
    assert list(axes.get_xticks()) == powers[::2]
    assert list(axes.get_xticks(minor=True)) == powers[1::2]


def test_a_figure_knows_the_scenes_that_it_shows():
    scene = Scene("marks", X, LOG, [CurveOf("", ONE, TWO)])
    assert draw(scene).scenes == (scene,)


def test_marks_alone_have_ticks():
    scene = Scene("marks", Axis("n", log=True, marks=[16, 48, 64]), LOG, [CurveOf("", 16 * ONE, TWO)])
    figure = draw(scene)
    figure.canvas.draw()
    ticks = figure.axes[0].get_xticklabels(which="both")
    assert [tick.get_text() for tick in ticks if tick.get_text()] == ["16", "48", "64"]


def test_parallel_coordinates_have_a_line_for_each_run():
    shares = np.array([[0.0, 1.0], [1.0, np.nan]])
    axes = draw(
        Scene("all", X, Y, [ParallelOf([("p", [(0, "a")]), ("q", [])], shares, [["1"], ["2"]])], bare=True)
    ).axes[0]
    runs = [line for line in axes.get_lines() if len(line.get_xdata()) == 2 and line.get_transform() == axes.transData]
    np.testing.assert_array_equal([run.get_ydata() for run in runs], shares)


def test_panels_stand_above_or_beside_one_another_with_one_legend():
    scenes = [Scene(name, X, Y, [CurveOf("a", ONE, TWO)]) for name in ("one", "two")]
    above, below = draw(*scenes).axes
    assert above.get_shared_x_axes().joined(above, below)
    assert (above.get_xlabel(), below.get_xlabel()) == ("", "x")
    left, right = draw(*scenes, side_by_side=True).axes
    assert left.get_shared_y_axes().joined(left, right)
    assert (left.get_title(loc="left"), right.get_title(loc="left")) == ("y", "")
    assert labels_of(draw(*scenes)) == ["a"]


def test_an_empty_scene_says_why_and_none_is_refused():
    assert draw(Scene("none", X, Y, note="No run yet.")).axes[0].texts[0].get_text() == "No run yet."
    with pytest.raises(InputError, match="no picture to draw"):
        draw()


def test_what_is_drawn_is_listed():
    listed = plotted_data(draw(Scene("one", X, LOG, [CurveOf("a", ONE, TWO), LineAt(0.1, "tolerance {}")])))
    assert (listed["series"], listed["x"], listed["y"]) == (["a"] * 3, list(ONE), list(TWO))
