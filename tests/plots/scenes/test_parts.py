"""Parts of a matrix as pictures: small cases by hand, and neighbours that differ in colour."""

import numpy as np
import pytest
from scipy import sparse

from workbench.plots.scenes import parts as module
from workbench.plots.scenes.parts import (
    BETWEEN,
    COLOURS,
    STYLES,
    by_part,
    part_styles,
    parts_pattern,
    parts_scene,
    touching,
)
from workbench.problems.poisson import Poisson5

CHAIN = sparse.csr_array(sparse.diags_array([[-1.0] * 4, [2.0] * 5, [-1.0] * 4], offsets=[-1, 0, 1]))
LABELS = np.array([0, 0, 1, 2, 2], np.int32)


def test_parts_touch_where_e_has_an_entry():
    z = np.eye(3)[LABELS]
    expected = (z.T @ CHAIN.toarray() @ z) != 0
    assert np.array_equal(touching(CHAIN, LABELS).toarray(), expected.astype(float))


@pytest.mark.parametrize("entries", [3, 1 << 22])
def test_an_entry_has_the_colour_of_its_part_or_is_between_two(monkeypatch, entries):
    # Parts that are looked at in pieces are the same.
    monkeypatch.setattr(module, "CHUNK", entries)
    one, two, three = 1, 2, 3
    pattern = parts_pattern(CHAIN, LABELS, np.array([0, 1, 2]))
    assert pattern.tolist() == [
        [one, one, 0, 0, 0],
        [one, one, BETWEEN, 0, 0],
        [0, BETWEEN, two, BETWEEN, 0],
        [0, 0, BETWEEN, three, three],
        [0, 0, 0, three, three],
    ]
    # A pixel that has an entry within a part has its colour, whatever else it has.
    assert parts_pattern(CHAIN, LABELS, np.array([0, 1, 2]), pixels=2).tolist() == [[2, BETWEEN], [BETWEEN, 3]]


def test_rows_sorted_by_part_make_blocks_on_the_diagonal():
    labels = np.array([1, 0, 1, 0], np.int32)
    rank = by_part(labels)
    assert rank.tolist() == [2, 0, 3, 1]
    full = sparse.csr_array(np.ones((4, 4)))
    expected = np.full((4, 4), BETWEEN)
    expected[:2, :2], expected[2:, 2:] = 1, 2
    assert np.array_equal(parts_pattern(full, labels, np.array([0, 1]), rank=rank), expected)


def test_neighbours_have_different_colours():
    system = Poisson5(n=37).assemble()
    labels = (np.arange(37)[:, None] // 5 * 8 + np.arange(37) // 5).ravel().astype(np.int32)
    neighbours = touching(system.operator.to_csr(), labels)
    styles = part_styles(neighbours)
    first, second = neighbours.nonzero()
    apart = first != second
    assert np.all(styles[first[apart]] != styles[second[apart]])
    assert set(styles) <= set(range(len(STYLES)))
    # Of parts that all touch each other some have to share one.
    assert np.bincount(part_styles(sparse.csr_array(np.ones((9, 9))))).max() == 2


def test_points_have_the_colours_of_their_parts_and_near_ones_are_drawn_last():
    places = np.array([[0.0, 0.0, 0.0], [1.0, 5.0, 2.0], [np.nan, 0.0, 0.0]])
    scene = parts_scene(places, np.array([0, 1, 1]), np.array([3, 6]), ("x", "z"))
    (points,) = scene.layers
    assert points.x.tolist() == [1 + 5 * module.SLANT[0], 0]
    assert points.y.tolist() == [2 + 5 * module.SLANT[1], 0]
    assert points.colours == [COLOURS[STYLES[6]], COLOURS[STYLES[3]]]
    assert scene.spoken == "2 unknowns at their places, in the colours of 2 parts."


def test_of_many_points_every_so_manyth_is_drawn(monkeypatch):
    monkeypatch.setattr(module, "MOST_POINTS", 4)
    (points,) = parts_scene(np.arange(18.0).reshape(9, 2), np.zeros(9, int), np.zeros(1, int), ("x", "y")).layers
    assert points.x.tolist() == [0, 6, 12]
