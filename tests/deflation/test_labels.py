"""Subdomain labels of the deflation spaces compared with hand computations."""

import numpy as np
import pytest
from scipy import sparse

from workbench.errors import InputError
from workbench.registry import find


def labels(spec, grid, **values):
    return find("deflation", spec, **values).labels(int(np.prod(grid)), grid)


def test_2n_stripes_of_half_a_row():
    assert labels("stripes", (2, 4)).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_stripes_of_an_odd_row_differ_by_one_cell():
    assert labels("stripes", (1, 5)).tolist() == [0, 0, 0, 1, 1]


def test_one_stripe_per_row_in_3d():
    assert labels("stripes", (2, 2, 2)).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_planes_of_equal_z():
    assert labels("planes", (3, 1, 2)).tolist() == [0, 0, 1, 1, 2, 2]


def test_blocks_per_side():
    expected = [[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3]]
    assert labels("blocks:2", (4, 4)).reshape(4, 4).tolist() == expected


def test_blocks_without_a_grid_split_the_unknowns_by_index():
    assert find("deflation", "blocks:3").labels(7, None).tolist() == [0, 0, 0, 1, 1, 2, 2]


def test_level_sets_follow_the_phases():
    phase = np.array([[0, 0, 1, 1], [0, 0, 0, 0], [2, 2, 0, 0], [2, 2, 0, 0]]).ravel()
    alone = find("deflation", "levelset:0").labels(16, (4, 4), phase)
    assert alone.reshape(4, 4).tolist() == [[0, 0, 1, 1], [0, 0, 0, 0], [2, 2, 0, 0], [2, 2, 0, 0]]
    cut = find("deflation", "levelset:2").labels(16, (4, 4), phase)
    assert cut.reshape(4, 4).tolist() == [[0, 0, 2, 2], [0, 0, 1, 1], [3, 3, 4, 4], [3, 3, 4, 4]]


def test_level_sets_need_phases():
    with pytest.raises(InputError, match="needs a problem with phases"):
        find("deflation", "levelset").labels(16, (4, 4))


def test_no_deflation_has_no_labels():
    assert find("deflation", "none").labels(9, (3, 3)) is None


@pytest.mark.parametrize("name", ["stripes", "planes"])
def test_stripes_and_planes_need_a_grid(name):
    with pytest.raises(InputError, match=f"deflation {name} needs a grid"):
        find("deflation", name).labels(9, None)


def test_more_vectors_than_unknowns_are_refused():
    with pytest.raises(InputError, match="more deflation vectors than unknowns"):
        labels("blocks:5", (4, 4))
    with pytest.raises(InputError, match="a row of 4 cells cannot be split into 5 stripes; use at most 4"):
        labels("stripes:5", (4, 4))


def test_the_explicit_inverse_is_limited_in_size():
    with pytest.raises(InputError, match="of 5 deflation vectors takes .* use coarse solver auto"):
        find("coarse", "inverse:4").factor(sparse.eye_array(5, format="csr"))
