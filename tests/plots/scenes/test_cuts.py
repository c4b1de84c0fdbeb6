"""Cuts: planes of cells, thinned without losing a hot spot, and bands over unknowns."""

import numpy as np
import pytest

from workbench.plots.scenes.cuts import LIVE_PIXELS, MOST_PIXELS, Cut


def test_one_hot_spot_of_a_large_grid_is_seen():
    n = 4 * MOST_PIXELS
    vector = np.zeros(n * n)
    vector[n * 77 + 1003] = -1.0
    seen = Cut((n, n), peaks=True)(vector)
    assert seen.shape == (MOST_PIXELS, MOST_PIXELS)
    assert seen[77 // 4, 1003 // 4] == -1.0
    assert not Cut((n, n))(vector).any()


@pytest.mark.parametrize("peaked", [False, True])
def test_what_is_live_has_fewer_pixels(peaked):
    n = 2 * LIVE_PIXELS + 1
    cut = Cut((n, n), peaks=peaked, most=LIVE_PIXELS)
    assert max(cut(np.arange(n * n, dtype=float)).shape) <= LIVE_PIXELS
    assert "3 × 3 cells" in cut.words()


@pytest.mark.parametrize(("normal", "sides"), [("x", ("y", "z")), ("y", ("x", "z")), ("z", ("x", "y"))])
def test_a_plane_of_a_cube(normal, sides):
    cube = np.arange(2 * 3 * 4.0).reshape(2, 3, 4)
    cut = Cut((2, 3, 4), normal, 1, peaks=True)
    assert cut.sides == sides
    np.testing.assert_array_equal(cut(cube.ravel()), np.take(cube, 1, "zyx".index(normal)))


def test_a_cut_never_keeps_the_vector():
    vector = np.arange(16.0)
    for peaked in (False, True):
        seen = Cut((4, 4), peaks=peaked)(vector)
        assert not np.shares_memory(seen, vector)


def test_without_a_grid_each_stretch_has_its_least_and_greatest():
    vector = np.random.default_rng(0).standard_normal(3 * MOST_PIXELS + 7)
    low, high = Cut(None)(vector)
    assert low.size <= MOST_PIXELS
    assert low[0] == vector[:4].min()
    assert high[-1] == vector[4 * (low.size - 1) :].max()
    np.testing.assert_array_equal(Cut(None)(vector[:5]), [vector[:5], vector[:5]])


def test_what_thinning_does_is_told():
    assert Cut((8, 8)).words() == ""
    assert Cut((1024, 1024)).words() == "a pixel shows one of 2 × 2 cells"
    assert Cut((64, 64, 2048), "z", peaks=True).words() == "a pixel shows the largest magnitude of 4 × 4 cells"
    assert Cut((64, 64, 2048), "x", peaks=True).words() == ""


def test_complex_vectors_show_their_real_part():
    np.testing.assert_array_equal(Cut((2, 2))(np.array([1 + 1j, 2, 3, 4 - 2j])), [[1, 2], [3, 4]])


@pytest.mark.parametrize("peaks", [True, False])
@pytest.mark.parametrize("grid", [(1, 4096), (4096, 2), (3, 5, 4096)])
def test_planes_thinner_than_half_a_block_are_seen(grid, peaks):
    seen = Cut(grid, "z", peaks=peaks)(np.arange(float(np.prod(grid))))
    assert min(seen.shape) == 1
    assert max(seen.shape) == MOST_PIXELS
