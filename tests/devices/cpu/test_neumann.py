"""The blocked Neumann series on a stencil against the same series in SciPy, term by term."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from workbench.devices.cpu.neumann import OnePassSeries, SeveralPassSeries, bands_of_series, stencil_series
from workbench.devices.cpu.neumann_text import BLOCK
from workbench.host import memory
from workbench.jit import threads
from workbench.lines.types import accumulator

# Per number of dimensions: sides of one cell; fewer cells than a block, about one, and several blocks in one chunk;
# several chunks on one core; and chunks on all cores, the last ones with a reach of many blocks.
GRIDS = {
    1: [(1,), (2,), (7,), (BLOCK - 1,), (BLOCK,), (BLOCK + 1,), (9 * 8 * BLOCK + 5,)],
    2: [(1, 1), (1, 6), (6, 1), (5, 7), (46, 45), (181, 182), (30, 1000), (5000, 30), (401, 333), (30, 5000)],
    3: [(1, 1, 1), (1, 1, 5), (1, 5, 1), (5, 1, 1), (3, 4, 5), (20, 21, 22), (200, 5, 41), (61, 53, 47)],
}
CASES = [
    (1, 2, "complex64"),
    (2, 1, "float64"),
    (2, 2, "complex128"),
    (2, 4, "float64"),
    (2, 7, "float64"),
    (3, 2, "float32"),
]


def random_bands(grid, dtype, seed=0):
    """Bands of L D^-1 with row sums below 1, and D^-1."""
    rng = np.random.default_rng(seed)
    bands = []
    for k in range(len(grid)):
        band = rng.uniform(-1, 1, grid) / len(grid)
        if np.dtype(dtype).kind == "c":
            band = band * np.exp(1j * rng.uniform(0, 6, grid))
        np.moveaxis(band, -1 - k, 0)[0] = 0
        bands.append(band.ravel().astype(dtype))
    strides = tuple(int(np.prod(grid[::-1][:k])) for k in range(len(grid)))
    return tuple(bands), strides, rng.uniform(0.5, 1, bands[0].size).astype(dtype)


def triangle(bands, strides):
    size = bands[0].size
    lower = sparse.csr_array((size, size), dtype=bands[0].dtype)
    for band, stride in zip(bands, strides, strict=True):
        if stride < size:
            lower = lower + sparse.diags_array([band[stride:]], offsets=[-stride], shape=(size, size), dtype=band.dtype)
    return sparse.csr_array(lower)


def series(lower, r, order):
    """K r with K the sum over k <= order of (-lower)^k."""
    total = power = r
    for _ in range(order):
        power = -(lower @ power)
        total = total + power
    return total


def check(kind, grid, order, dtype):
    bands, strides, inverse_diagonal = random_bands(grid, dtype)
    lower = triangle(bands, strides)
    neumann = kind(bands_of_series(bands, strides, inverse_diagonal), order)
    for seed in (1, 2):
        r = random_bands(grid, dtype, seed)[2]
        kept, u = r.copy(), np.full_like(r, np.nan)
        dots = neumann.apply(r, u)
        expected = series(lower.conj().T, inverse_diagonal * series(lower, r, order), order)
        # Each factor is at most 1 + .. + 1 in size, and so is what roundings in it grow to.
        np.testing.assert_allclose(u, expected, rtol=0, atol=20 * np.finfo(dtype).eps * (order + 1) ** 3)
        wide = accumulator(dtype)
        left, right = r.astype(wide), u.astype(wide)
        exact = [np.vdot(left, right), np.vdot(right, right), np.vdot(left, left)]
        scale = np.linalg.norm(left) ** 2 + np.linalg.norm(right) ** 2
        np.testing.assert_allclose(dots, exact, rtol=0, atol=1e-15 * (1 + r.size**0.5) * scale)
        np.testing.assert_array_equal(r, kept)


@pytest.mark.parametrize(("dimensions", "order", "dtype"), CASES)
def test_the_series_is_that_of_its_terms(dimensions, order, dtype):
    for grid in GRIDS[dimensions]:
        check(SeveralPassSeries, grid, order, np.dtype(dtype))
        if order <= 3:
            check(OnePassSeries, grid, order, np.dtype(dtype))


@pytest.mark.parametrize("order", [2, 4])
def test_results_do_not_depend_on_the_number_of_threads(monkeypatch, order):
    bands, strides, inverse_diagonal = random_bands((401, 333), float)
    r = random_bands((401, 333), float, 1)[2]
    found = []
    for limit in (0, r.size + 1):
        monkeypatch.setattr(threads, "WORTH_SHARING", limit)
        # As devices make them: without its margin a result would depend on what lies next to it.
        u = memory.vector(r.size, r.dtype)
        dots = stencil_series(bands, strides, inverse_diagonal, order).apply(r, u)
        found.append((dots.tobytes(), u.tobytes()))
    assert found[0] == found[1]


@pytest.mark.parametrize("order", [2, 4])
def test_not_a_number_does_not_outlive_its_vector(order):
    bands, strides, inverse_diagonal = random_bands((46, 45), float)
    neumann = stencil_series(bands, strides, inverse_diagonal, order)
    r, u = random_bands((46, 45), float, 1)[2], np.empty(46 * 45)
    assert np.isnan(neumann.apply(np.full_like(r, np.nan), u)).all()
    assert np.isfinite(neumann.apply(r, u)).all()
    assert np.isfinite(u).all()


def test_traffic_and_flops():
    bands, strides, inverse_diagonal = random_bands((3, 4), float)
    # Up to order 3, one wave over two bands and three vectors; order 4 makes four sweeps, each pair with another start.
    for order, words in ((1, 5), (3, 5), (4, 21)):
        neumann = stencil_series(bands, strides, inverse_diagonal, order)
        assert neumann.traffic == words * 12 * 8
        assert neumann.flops == (2 * order * 2 * 2 + 1) * 12
