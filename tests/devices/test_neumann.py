"""Neumann series of stencils on every device, blocked ones of the cores included, against SciPy, term by term."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tests.all_pairs import on_accelerators
from tests.conftest import DTYPES, SIDE_BY_SIDE, random_values
from tests.devices.comparing import same
from workbench import devices
from workbench.devices.accelerator import grid_columns
from workbench.devices.accelerator.grid_columns import FaceSweep
from workbench.devices.accelerator.tile_plan import series_tile
from workbench.devices.cpu.neumann import OnePassSeries, SeveralPassSeries, bands_of_series, stencil_series
from workbench.devices.cuda.runtime import LAYOUT
from workbench.devices.host import memory
from workbench.devices.host.face_coding import face_codes
from workbench.devices.host.series_sizes import BLOCK
from workbench.devices.series import TermByTerm
from workbench.jit import threads
from workbench.operators import BandStencil, TwoPhaseStencil

CPU = devices.device("cpu")
# Per number of dimensions: sides of one cell; fewer cells than a block, about one, and several blocks in one chunk;
# several chunks on one core; and chunks on all cores, the last ones with a reach of many blocks.
GRIDS = {
    1: [(1,), (2,), (7,), (BLOCK - 1,), (BLOCK,), (BLOCK + 1,), (9 * 8 * BLOCK + 5,)],
    2: [(1, 1), (1, 6), (6, 1), (5, 7), (46, 45), (181, 182), (30, 1000), (5000, 30), (401, 333), (30, 5000)],
    3: [(1, 1, 1), (1, 1, 5), (1, 5, 1), (5, 1, 1), (3, 4, 5), (20, 21, 22), (200, 5, 41), (61, 53, 47)],
}
CASES = [
    *[(1, 2, "complex64"), (2, 1, "float64"), (2, 2, "complex128")],
    *[(2, 4, "float64"), (2, 7, "float64"), (3, 2, "float32")],
]


def random_bands(grid, dtype, seed=0):
    """Bands of L D^-1 with row sums below 1, their strides, and D^-1."""
    rng = np.random.default_rng(seed)
    bands = []
    for axis in reversed(range(len(grid))):
        band = random_values(grid, dtype, rng) / (1.5 * len(grid))
        np.moveaxis(band, axis, 0)[0] = 0
        bands.append(band.ravel().astype(dtype))
    strides = tuple(int(np.prod(grid[::-1][:k])) for k in range(len(grid)))
    return tuple(bands), strides, rng.uniform(0.5, 1, bands[0].size).astype(dtype)


def series(lower, inverse, order, r):
    """K^H D^-1 K r with K the sum over k <= order of (-lower)^k."""

    def factor(half, v):
        total = power = v
        for _ in range(order):
            power = -(half @ power)
            total = total + power
        return total

    return factor(lower.conj().T, inverse * factor(lower, r)).astype(r.dtype)


def check(device, kind, grid, order, dtype):
    bands, strides, inverse = random_bands(grid, dtype)
    lower = sparse.tril(BandStencil(grid, np.zeros_like(inverse), bands).to_csr(), k=-1, format="csr")
    neumann = kind(bands, strides, device.array(inverse, inverse.dtype), order)
    r = random_values(inverse.size, dtype, 1)
    # Each factor is at most 1 + .. + 1 in size, and so is what roundings in it grow to.
    same(device, neumann, lambda v: series(lower, inverse, order, v), r, eps=20 * (order + 1) ** 3)


@pytest.mark.parametrize(("dimensions", "order", "dtype"), CASES)
def test_blocked_series_of_the_cores(dimensions, order, dtype):
    for grid in GRIDS[dimensions]:
        for kind in (SeveralPassSeries, *([OnePassSeries] if order <= 3 else [])):
            check(CPU, lambda *of, kind=kind: kind(bands_of_series(*of[:3]), of[3]), grid, order, np.dtype(dtype))


@on_accelerators(order=[1, 2, 3, 4], dtype=DTYPES, dimensions=[1, 2, 3])
def test_series_of_accelerators(accelerator, case):
    for grid in {1: [(9,)], 2: [(7, 9), (401, 333)], 3: [(5, 30, 40)]}[case["dimensions"]]:
        check(accelerator, accelerator.stencil_series, grid, case["order"], np.dtype(case["dtype"]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_series_of_matrices(device, dtype):
    bands, _, inverse = random_bands((29, 35), dtype)
    lower = BandStencil((29, 35), np.zeros_like(inverse), bands).to_csr()
    lower = sparse.csr_array(sparse.tril(lower, k=-1, format="csr"))
    placed = device.array(inverse, inverse.dtype)
    term, scaled, upper = device.csr_terms(lower, placed)
    bound = TermByTerm([term, term, scaled], upper, device.zeros, placed)
    same(device, bound, lambda v: series(lower, inverse, 3, v), random_values(inverse.size, dtype), eps=400)


@pytest.mark.parametrize("order", [2, 4])
def test_results_do_not_depend_on_the_number_of_threads(monkeypatch, order):
    bands, strides, inverse_diagonal = random_bands((401, 333), float)
    r = random_values(401 * 333, float, 1)
    found = []
    for limit in (0, r.size + 1):
        monkeypatch.setattr(threads, "WORTH_SHARING", limit)
        # As devices make them: without its margin a result would depend on what lies next to it.
        u = memory.vector(r.size, r.dtype)
        dots = stencil_series(bands, strides, inverse_diagonal, order).apply(r, u)
        found.append((dots.tobytes(), u.tobytes()))
    assert found[0] == found[1]


def test_traffic_and_flops():
    bands, strides, inverse_diagonal = random_bands((3, 4), float)
    # Up to order 3, one wave over two bands and three vectors; order 4 makes four sweeps, each pair with another start.
    for order, words in ((1, 5), (3, 5), (4, 21)):
        neumann = stencil_series(bands, strides, inverse_diagonal, order)
        assert neumann.traffic == words * 12 * 8
        assert neumann.flops == (2 * order * 2 * 2 + 1) * 12


# On a processor the series is made term by term.
@pytest.mark.parametrize("accelerator", [SIDE_BY_SIDE, "cuda"], indirect=True)
@pytest.mark.parametrize(("order", "dtype"), [(1, "float64"), (2, "float32"), (3, "float64")])
def test_series_on_codes_of_faces_in_one_sweep(accelerator, monkeypatch, order, dtype):
    """With groups as on CUDA and with those of the device, on sides that no tile divides, without dot products too."""
    monkeypatch.setattr(grid_columns, "SWEPT_BYTES", 0)
    for grid, layout in (((41, 300), accelerator.layout), ((9, 47, 70), LAYOUT), ((5, 3, 131), accelerator.layout)):
        monkeypatch.setattr(grid_columns, "series_tile", lambda _, *of, layout=layout: series_tile(layout, *of))
        phase = np.random.default_rng(len(grid)).integers(0, 2, grid)
        phase[: grid[0] // 2] = 0
        faces = face_codes(phase, (1.0, 0.3, 0.25), [False, *[True] * (2 * len(grid) - 1)], (2.0, 3.0))
        assert faces is not None
        matrix = TwoPhaseStencil(grid, faces).to_csr()
        inverse, r = 1 / matrix.diagonal(), random_values(faces.size, dtype, 1)
        lower = sparse.csr_array(sparse.tril(matrix, k=-1)) @ sparse.diags_array(inverse)
        made = accelerator.face_series(faces, np.dtype(dtype), order)
        assert isinstance(made, FaceSweep)
        same(accelerator, made, lambda v, lower=lower, inverse=inverse: series(lower, inverse, order, v), r, eps=20)
        u, summed = (accelerator.zeros(r.size, r.dtype) for _ in range(2))
        placed = accelerator.array(r, r.dtype)
        made.apply(placed, u)
        made.apply(placed, summed, "xy")
        np.testing.assert_allclose(accelerator.to_host(u), accelerator.to_host(summed), rtol=1e-5)
