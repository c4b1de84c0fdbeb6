"""Vectors side by side are those that were given, each at its place and over its largest value."""

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.plots.scenes import vectors_scene

GRID = (5, 7)


def test_each_has_its_place_and_its_name():
    vectors = np.random.default_rng(0).standard_normal((35, 3)) * (1, 10, 0.1)
    scene = vectors_scene(vectors, GRID, ("a", "b", "c"))
    # Numbers at an axis would count on from one vector to the next.
    assert [(axis.title, axis.marks) for axis in (scene.x, scene.y)] == [
        ("x, 7 points each", ()),
        ("y, 5 points each", ()),
    ]
    cells, names = scene.layers
    # Two columns and two rows; a gap of two, above which a name stands.
    assert cells.values.shape == (2 * 7, 2 * 9 - 2)
    for place, (bottom, left) in enumerate(((7, 0), (7, 9), (0, 0))):
        tile = cells.values[bottom : bottom + 5, left : left + 7]
        np.testing.assert_allclose(tile.ravel(), vectors[:, place] / np.abs(vectors[:, place]).max())
        assert (names.x[place], names.y[place]) == (left, bottom + 5.5)
    assert np.isfinite(cells.values).sum() == 3 * 35
    assert names.labels == ["a", "b", "c"]


def test_a_logarithmic_map_shows_three_decades():
    values = np.zeros(35)
    values[:4] = 5, -0.5, 0.006, 0.004
    scene = vectors_scene(values[:, None], GRID, log=True)
    assert (scene.x.title, scene.x.marks) == ("x (points)", None)
    (cells,) = scene.layers
    np.testing.assert_allclose(cells.values.ravel(), [1, 0.1, 0.0012, *[0.001] * 32])


@pytest.mark.parametrize(
    ("vectors", "grid", "message"),
    [(np.zeros((35, 0)), GRID, "no vectors"), (np.zeros((27, 1)), (3, 3, 3), "has 3 dimensions")],
)
def test_what_cannot_be_drawn_is_refused(vectors, grid, message):
    with pytest.raises(InputError, match=message):
        vectors_scene(vectors, grid)
