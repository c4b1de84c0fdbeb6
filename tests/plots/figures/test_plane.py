"""The picture of a field, drawn by Matplotlib."""

import numpy as np
import pytest
from matplotlib.colors import LogNorm, Normalize, SymLogNorm
from scipy import sparse

from workbench.live.field.pictures import Scene, plane_of
from workbench.plots.figures import boundaries, draw_plane, pattern_counts
from workbench.plots.scenes.plane import Colormap, Plane
from workbench.words.numbers import ordinal


def figure_of(values, labels=None, normal="z", index=0):
    return draw_plane(plane_of(Scene("problem", values, labels=labels), normal, index))


def test_cells_are_drawn_row_zero_at_the_bottom():
    values = np.arange(1.0, 13.0).reshape(3, 4)
    image = figure_of(values).axes[0].images[0]
    np.testing.assert_array_equal(image.get_array(), values)
    assert image.origin == "lower"
    assert tuple(image.get_extent()) == (0, 1, 0, 1)


def test_sides_and_colours_are_labelled_with_units():
    figure = figure_of(np.ones((2, 2)))
    assert figure.axes[0].get_xlabel() == "x (side lengths)"
    assert figure.axes[0].get_ylabel() == "y (side lengths)"
    assert "relative" in figure.axes[1].get_ylabel()


@pytest.mark.parametrize(("high", "kind"), [(1000.0, LogNorm), (2.0, Normalize)])
def test_colours_are_logarithmic_where_the_contrast_is_large(high, kind):
    image = figure_of(np.array([[1.0, high]])).axes[0].images[0]
    assert type(image.norm) is kind
    assert (image.norm.vmin, image.norm.vmax) == (1.0, high)


@pytest.mark.parametrize("largest", [1.0, 1e305])
def test_values_of_any_sign_and_size_are_drawn_in_the_colours_of_the_page(largest):
    values = np.array([[-largest, largest]])
    colours = Colormap.of(values, logarithmic=True)
    figure = draw_plane(Plane(values, "residual", colours, "signed"))
    norm = figure.axes[0].images[0].norm
    assert isinstance(norm, SymLogNorm)
    assert norm.vmin == -norm.vmax == -min(colours.high, 1e300)
    figure.canvas.draw()
    assert figure.axes[1].get_ylabel().startswith("residual, linear within ±")


def test_values_near_underflow_are_drawn():
    values = np.array([[-1e-305, 1e-305]])
    draw_plane(Plane(values, "x", Colormap.of(values, logarithmic=True), "signed")).canvas.draw()


def test_a_band_has_no_image():
    values = np.array([[0.0, -1.0], [1.0, 2.0]])
    (axes,) = draw_plane(Plane(values, "x", Colormap.of(values, logarithmic=False), "signed", ("", ""))).axes
    assert not axes.images
    assert axes.get_xlabel() == "unknown (share of N)"


def test_boundaries_are_drawn_over_the_field():
    labels = np.array([[0, 0, 1, 1], [0, 0, 1, 1]])
    dark, light = figure_of(np.ones((2, 4)), labels).axes[0].patches
    np.testing.assert_array_equal(light.get_path().vertices, [[0.5, 0], [0.5, 1]])
    assert dark.get_path() is light.get_path()


def test_skipped_boundaries_are_stated():
    labels = np.repeat(np.arange(200), 2).reshape(200, 2)
    assert boundaries(labels).step == 7
    assert figure_of(np.ones((200, 2)), labels).get_supxlabel() == "every 7th subdomain boundary is drawn"


@pytest.mark.parametrize(
    ("normal", "across", "up", "index"),
    [("x", "y", "z", np.s_[:, :, 2]), ("y", "x", "z", np.s_[:, 2]), ("z", "x", "y", 2)],
)
def test_a_plane_of_a_cube(normal, across, up, index):
    cube = np.random.default_rng(0).random((5, 5, 5)) + 1
    figure = figure_of(cube, normal=normal, index=2)
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), cube[index])
    assert figure.axes[0].get_xlabel().startswith(across)
    assert figure.axes[0].get_ylabel().startswith(up)
    assert figure.axes[0].get_title() == f"problem, {normal} = 0.500"


def test_a_matrix_has_row_zero_on_top_and_names_its_axes():
    counts = pattern_counts(sparse.csr_array(sparse.eye_array(100)), 10)
    figure = draw_plane(plane_of(Scene("identity", counts, True, 100), "z", 0))
    axes = figure.axes[0]
    assert axes.get_ylim() == (100.0, 0.0)
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title()) == ("column", "row", "identity")
    assert figure.axes[1].get_ylabel() == "entries per pixel"


def test_ordinals():
    assert [ordinal(k) for k in (2, 3, 4, 11, 21, 112)] == ["2nd", "3rd", "4th", "11th", "21st", "112th"]
