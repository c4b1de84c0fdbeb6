"""Operators of two phases from a byte per cell, against the bands that finite volumes give, on every device."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from workbench import devices
from workbench.devices.host.box_parts import numbered_parts
from workbench.errors import InputError
from workbench.operators import BandStencil, TwoPhaseStencil
from workbench.problems.diffusion import assemble_diffusion, assemble_two_phases
from workbench.problems.sides import side_names

CPU = devices.device("cpu")
GRIDS = ((1,), (7,), (3, 8), (9, 1), (4, 5, 6), (1, 3, 2), (2, 1, 7), (11, 6, 10))


@st.composite
def cases(draw):
    """Phases on a small grid, coefficients and sides."""
    grid = draw(st.sampled_from(GRIDS))
    phase = np.random.default_rng(draw(st.integers(0, 99))).integers(0, 3, grid).astype(np.uint8)
    coefficients = draw(st.sampled_from([(1.0, 1.0), (1e-3, 1.0), (1.0, 1e-9), (1e9, 7.0)]))
    open_sides = draw(st.lists(st.sampled_from(side_names(len(grid))), unique=True))
    sides = ",".join(f"{side}:dirichlet" for side in open_sides) or "neumann"
    distance = draw(st.sampled_from([0.5, 1.0]))
    return phase, coefficients, sides, distance


def both(phase, coefficients, sides, distance):
    """The operator from codes, and the same from a coefficient per cell."""
    made = assemble_two_phases(phase, coefficients, sides, scale=3.0, dirichlet_distance=distance)
    field = np.where(phase > 0, coefficients[1], coefficients[0])
    return made, assemble_diffusion(field, sides, scale=3.0, dirichlet_distance=distance)


def random_phases(grid, sides="x-:dirichlet", ratio=1e-3, seed=2):
    """The operator from codes, and from a coefficient per cell, of random phases."""
    phase = np.random.default_rng(seed).integers(0, 2, grid).astype(np.uint8)
    return both(phase, (ratio, 1.0), sides, 0.5)


@settings(max_examples=60)
@given(cases())
def test_entries_are_those_of_finite_volumes(case):
    made, reference = both(*case)
    assert made.grid == reference.grid
    assert made.strides == reference.strides
    for ours, theirs in zip(made.lower, reference.lower, strict=True):
        assert np.array_equal(ours, theirs)
    assert np.allclose(made.main, reference.main, rtol=4e-16, atol=0)
    assert np.array_equal(made.diagonal(), made.main)
    if made.shape[0] > 1:
        assert made.nnz == reference.nnz


@settings(max_examples=40)
@given(cases(), st.sampled_from([np.float32, np.float64]))
def test_product_with_dot_products(case, dtype):
    phase, coefficients, sides, distance = case
    operator, _ = both(phase, coefficients, sides, distance)
    if not isinstance(operator, TwoPhaseStencil):
        return
    x = np.random.default_rng(1).random(operator.shape[0]).astype(dtype)
    out = np.empty_like(x)
    dots = CPU.faces(operator.faces, np.dtype(dtype)).apply(x, out)
    expected = operator.to_csr() @ x.astype(float)
    size = abs(operator.to_csr()) @ x
    assert np.all(np.abs(out - expected) <= 8 * np.finfo(dtype).eps * size)
    wide = out.astype(float)
    assert np.allclose(dots, [x.astype(float) @ wide, wide @ wide, x.astype(float) @ x], rtol=1e-12)


def test_a_row_of_a_closed_box_times_a_constant_is_zero_exactly():
    operator, _ = random_phases((5, 6, 7), "neumann")
    out = np.empty(210)
    operator.bind(CPU).apply(np.full(210, 0.1), out)
    assert not out.any()


def test_cells_with_many_different_walls_take_bands():
    phase = np.zeros((4, 4, 4), np.uint8)
    assert isinstance(assemble_two_phases(phase, (1e-3, 1.0), "dirichlet"), TwoPhaseStencil), "1, 2 and 3 walls"
    phase[0, 0, 1] = 1
    assert isinstance(assemble_two_phases(phase, (1e-3, 1.0), "dirichlet"), BandStencil), "and two walls of a bubble"


@pytest.mark.parametrize("coefficients", [(0.0, 1.0), (1.0, np.inf), (np.nan, 1.0), (1.0, -1.0)])
def test_coefficients_that_are_not_positive(coefficients):
    with pytest.raises(InputError, match="the coefficient must be positive and finite"):
        assemble_two_phases(np.zeros((3, 3), np.uint8), coefficients, "neumann")


@pytest.mark.parametrize("order", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("grid", [(300,), (33, 40), (9, 10, 11), (40, 30, 20)])
def test_neumann_series_equals_that_of_bands(order, grid):
    operator, bands = random_phases(grid)
    r = np.random.default_rng(3).random(operator.shape[0])
    expected, out = np.empty_like(r), np.empty_like(r)
    bands.neumann(CPU, order).apply(r, expected)
    dots = operator.neumann(CPU, order).apply(r, out)
    assert np.allclose(out, expected, rtol=1e-12, atol=0)
    assert np.allclose(dots, [r @ out, out @ out, r @ r], rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("grid", [(300,), (33, 40), (9, 10, 11)])
def test_series_that_decode_faces_in_single_precision(order, grid):
    operator, bands = random_phases(grid)
    r = np.random.default_rng(3).random(operator.shape[0])
    expected, out = np.empty_like(r), np.empty(r.size, np.float32)
    bands.neumann(CPU, order).apply(r, expected)
    CPU.face_series(operator.faces, np.dtype(np.float32), order).apply(r.astype(np.float32), out)
    assert np.allclose(out, expected, rtol=1e-5)


@pytest.mark.parametrize(("grid", "k"), [((12, 12), 3), ((13, 11), 4), ((8, 8, 8), 2), ((9, 10, 11), 4)])
@pytest.mark.parametrize("sides", ["neumann", "x-:dirichlet,y+:dirichlet"])
def test_galerkin_matrix_of_boxes(grid, k, sides):
    phase = np.random.default_rng(4).integers(0, 2, grid).astype(np.uint8)
    operator, _ = both(phase, (1e-3, 1.0), sides, 0.5)
    numbered = numbered_parts(phase, grid, (k,) * len(grid))
    labels, boxes = numbered
    count = boxes.box.size
    found = sparse.csr_array(operator.box_matrix(CPU, labels, boxes), shape=(count, count))
    z = np.eye(count)[labels]
    expected = z.T @ operator.to_csr() @ z
    assert np.allclose(found.toarray(), expected, rtol=1e-12, atol=1e-12 * expected.max())


@pytest.mark.parametrize("grid", [(37,), (16, 15), (7, 8, 9)])
@pytest.mark.parametrize("sides", ["neumann", "x-:dirichlet"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_accelerators_equal_the_cores(accelerator, grid, sides, dtype):
    operator, _ = random_phases(grid, sides, 1e-2)
    size, dtype = operator.shape[0], np.dtype(dtype)
    x = np.random.default_rng(6).random(size).astype(dtype)
    on_cores, there = np.empty_like(x), accelerator.zeros(size, dtype)
    placed = accelerator.array(x, dtype)
    pairs = [device.faces(operator.faces, dtype) for device in (CPU, accelerator)]
    pairs += [device.face_series(operator.faces, dtype, order) for order in (1, 2, 3) for device in (CPU, accelerator)]
    for ours, theirs in zip(pairs[::2], pairs[1::2], strict=True):
        expected = np.array(ours.apply(x, on_cores))
        dots = theirs.apply(placed, there).to_host()
        tolerance = 100 * np.finfo(dtype).eps
        assert np.allclose(accelerator.to_host(there), on_cores, rtol=tolerance, atol=tolerance * abs(on_cores).max())
        assert np.allclose(dots, expected, rtol=1e3 * tolerance)


@pytest.mark.parametrize("sides", ["neumann", "dirichlet"])
def test_galerkin_matrix_of_boxes_on_accelerators(accelerator, sides):
    phase = np.zeros((12, 10, 9), np.uint8)
    phase[4:8, 3:7, 2:6] = 1
    operator, _ = both(phase, (1e-3, 1.0), sides, 0.5)
    numbered = numbered_parts(phase, phase.shape, (4, 3, 3))
    labels, boxes = numbered
    shape = (boxes.box.size,) * 2
    ours = sparse.csr_array(operator.box_matrix(CPU, labels, boxes), shape=shape).toarray()
    vectors = operator.box_matrix(accelerator, labels, boxes)
    theirs = sparse.csr_array(tuple(map(accelerator.to_host, vectors)), shape=shape).toarray()
    assert np.allclose(ours, theirs, rtol=1e-12, atol=1e-12 * ours.max())


def test_products_with_block_vectors(accelerator):
    operator, _ = random_phases((6, 7, 8), "z-:dirichlet")
    x = np.random.default_rng(8).random((336, 3))
    expected = operator.to_csr() @ x
    for device in (CPU, accelerator):
        placed, out = device.zero_block(336, 3, x.dtype), device.zero_block(336, 3, x.dtype)
        device.put_columns([device.array(column, x.dtype) for column in x.T], placed, 0)
        operator.bind(device).block(3).apply(placed, out)
        assert np.allclose(device.to_host(out), expected, rtol=1e-12, atol=1e-10)
