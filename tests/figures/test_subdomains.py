"""The contents of the subdomain figure."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import LogNorm, Normalize

from workbench.figures import section, subdomains
from workbench.figures.subdomains import ordinal


def test_the_coefficient_is_drawn_row_zero_at_the_bottom():
    values = np.arange(1.0, 13.0)
    figure = subdomains((3, 4), values)
    image = figure.axes[0].images[0]
    np.testing.assert_array_equal(image.get_array(), values.reshape(3, 4))
    assert image.origin == "lower"
    assert tuple(image.get_extent()) == (0, 1, 0, 1)


def test_sides_and_colours_are_labelled_with_units():
    figure = subdomains((2, 2), np.ones(4))
    assert figure.axes[0].get_xlabel() == "x (side lengths)"
    assert figure.axes[0].get_ylabel() == "y (side lengths)"
    assert "relative" in figure.axes[1].get_ylabel()


@pytest.mark.parametrize(("high", "kind"), [(1000.0, LogNorm), (2.0, Normalize)])
def test_colours_are_logarithmic_where_the_contrast_is_large(high, kind):
    image = subdomains((1, 2), np.array([1.0, high])).axes[0].images[0]
    assert type(image.norm) is kind
    assert (image.norm.vmin, image.norm.vmax) == (1.0, high)


def test_boundaries_are_drawn_over_the_field():
    labels = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    figure = subdomains((2, 4), None, labels)
    dark, light = figure.axes[0].patches
    np.testing.assert_array_equal(light.get_path().vertices, [[0.5, 0], [0.5, 1]])
    assert dark.get_path() is light.get_path()


def test_skipped_boundaries_are_stated():
    labels = np.repeat(np.arange(200), 2)
    figure = subdomains((200, 2), None, labels)
    assert figure.get_supxlabel() == "every 7th subdomain boundary is drawn"


@pytest.mark.parametrize(
    ("normal", "across", "up", "index"),
    [("x", "y", "z", np.s_[:, :, 2]), ("y", "x", "z", np.s_[:, 2]), ("z", "x", "y", 2)],
)
def test_a_plane_of_a_cube(normal, across, up, index):
    cube = np.random.default_rng(0).random((5, 5, 5)) + 1
    figure = subdomains(cube.shape, cube.ravel(), normal=normal, position=0.5)
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), cube[index])
    assert figure.axes[0].get_xlabel().startswith(across)
    assert figure.axes[0].get_ylabel().startswith(up)


def test_the_last_plane_can_be_reached():
    cube = np.arange(8.0).reshape(2, 2, 2)
    np.testing.assert_array_equal(section(cube, "z", 1.0)[0], cube[1])


def test_ordinals():
    assert [ordinal(k) for k in (2, 3, 4, 11, 21, 112)] == ["2nd", "3rd", "4th", "11th", "21st", "112th"]
