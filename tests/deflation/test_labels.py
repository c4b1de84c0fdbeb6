"""Subdomain labels of the deflation spaces compared with hand computations."""

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.registry import find


def labels(spec, grid, **values):
    return find("deflation", spec, **values).labels(int(np.prod(grid)), grid)


@pytest.mark.parametrize(
    ("spec", "grid", "expected"),
    [
        ("stripes", (2, 4), [0, 0, 1, 1, 2, 2, 3, 3]),
        # Stripes of an odd row differ by one cell.
        ("stripes", (1, 5), [0, 0, 0, 1, 1]),
        # In 3D a row has one.
        ("stripes", (2, 2, 2), [0, 0, 1, 1, 2, 2, 3, 3]),
        ("planes", (3, 1, 2), [0, 0, 1, 1, 2, 2]),
        ("blocks:2", (4, 4), [0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3]),
    ],
)
def test_labels_by_hand(spec, grid, expected):
    assert labels(spec, grid).tolist() == expected


def test_blocks_without_a_grid_split_the_unknowns_by_index():
    assert find("deflation", "blocks:3").labels(7, None).tolist() == [0, 0, 0, 1, 1, 2, 2]


def test_level_sets_follow_the_phases():
    phase = np.array([[0, 0, 1, 1], [0, 0, 0, 0], [2, 2, 0, 0], [2, 2, 0, 0]]).ravel()
    alone = find("deflation", "levelset:0").labels(16, (4, 4), phase)
    assert alone.reshape(4, 4).tolist() == [[0, 0, 1, 1], [0, 0, 0, 0], [2, 2, 0, 0], [2, 2, 0, 0]]
    cut = find("deflation", "levelset:2").labels(16, (4, 4), phase)
    assert cut.reshape(4, 4).tolist() == [[0, 0, 2, 2], [0, 0, 1, 1], [3, 3, 4, 4], [3, 3, 4, 4]]


def test_more_vectors_than_unknowns_are_refused():
    with pytest.raises(InputError, match="more deflation vectors than unknowns"):
        labels("blocks:5", (4, 4))
    with pytest.raises(InputError, match="a row of 4 cells cannot be split into 5 stripes; use at most 4"):
        labels("stripes:5", (4, 4))
