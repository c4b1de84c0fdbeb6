"""Operators on every accelerator against NumPy, in all dtypes, at sizes beyond one work-group.

Precision, grid, layout and the parameters of each operator (reach, order, block) are combined pairwise.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tests.all_pairs import on_accelerators
from tests.conftest import DTYPES, grid_stencil, random_matrix, random_values
from workbench import devices
from workbench.devices.series import TermByTerm
from workbench.lines.types import accumulator
from workbench.operators import BandStencil, BoxStencil
from workbench.preconditioners.base import ElementWise

GRIDS = ((1,), (7,), (5, 13), (1, 4, 50), (33, 40, 41))


def same(device, bound, expected, x, *, eps=100):
    """Applied to x, the bound operator gives what NumPy does, dot products included, and leaves x alone."""
    out, placed = device.zeros(x.size, x.dtype), device.array(x, x.dtype)
    dots = bound.apply(placed, out, "xy", "yy", "xx").to_host()
    scale = max(1, np.abs(expected).max())
    np.testing.assert_allclose(device.to_host(out), expected, rtol=0, atol=eps * np.finfo(x.dtype).eps * scale)
    np.testing.assert_array_equal(device.to_host(placed), x)
    x, y = (vector.astype(accumulator(x.dtype)) for vector in (x, expected))
    lengths = np.linalg.norm(x), np.linalg.norm(y)
    bounds = np.array([lengths[0] * lengths[1], lengths[1] ** 2, lengths[0] ** 2])
    wanted = np.array([np.vdot(x, y), np.vdot(y, y), np.vdot(x, x)])
    assert np.all(np.abs(dots - wanted) <= eps * np.finfo(out.dtype).eps * bounds)


@on_accelerators(grid=GRIDS, dtype=DTYPES)
def test_stencils(accelerator, case):
    grid, dtype = case["grid"], case["dtype"]
    operator, x = grid_stencil(grid, dtype), random_values(int(np.prod(grid)), dtype)
    same(accelerator, operator.bind(accelerator), operator.to_csr() @ x, x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_stencil_with_a_constant_diagonal(accelerator, dtype):
    lower = grid_stencil((12, 31), dtype).lower
    operator, x = BandStencil((12, 31), np.full(12 * 31, 5, dtype), lower), random_values(12 * 31, dtype)
    same(accelerator, operator.bind(accelerator), operator.to_csr() @ x, x)


@on_accelerators(grid=[*GRIDS, (3, 2, 1), (50, 5, 67)], dtype=DTYPES, reach=[1, 2, 3])
def test_boxes(accelerator, case):
    grid, reach, dtype = case["grid"], case["reach"], case["dtype"]
    operator, x = BoxStencil(grid, reach, 3.0, -0.25, np.dtype(dtype)), random_values(int(np.prod(grid)), dtype)
    same(accelerator, operator.bind(accelerator), operator.to_csr() @ x, x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("items", [None, 0, 1, 2, 16, 32])
def test_csr_with_any_number_of_work_items_per_row(accelerator, items, dtype):
    if items and items > accelerator.layout.group:
        pytest.skip("more work-items per row than a group has")
    matrix, x = random_matrix(1001, dtype).csr, random_values(1001, dtype)
    bound = accelerator.csr(matrix.data, matrix.indices, matrix.indptr, items)
    same(accelerator, bound, matrix @ x, x, eps=400)


def test_rows_of_any_length(accelerator):
    rows = [sparse.eye_array(1, 300), sparse.csr_array((1, 300)), np.ones((1, 300)), sparse.eye_array(297, 300)]
    matrix, x = sparse.csr_array(sparse.vstack(rows)), random_values(300, "float64")
    same(accelerator, accelerator.csr(matrix.data, matrix.indices, matrix.indptr), matrix @ x, x)


def series(lower, inverse, order, r):
    """K^H D^-1 K r, term by term."""

    def factor(half, base):
        v = base
        for _ in range(order):
            v = base - half @ v
        return v

    return factor(lower.conj().T, inverse * factor(lower, r)).astype(r.dtype)


@on_accelerators(order=[1, 2, 3, 4], dtype=DTYPES, grid=[(9,), (7, 9), (5, 30, 40)])
def test_neumann_series_of_stencils(accelerator, case):
    grid, order, dtype = case["grid"], case["order"], case["dtype"]
    operator = grid_stencil(grid, dtype)
    bands = tuple((0.3 * low).astype(dtype) for low in operator.lower)
    lower = sparse.tril(operator.to_csr(), k=-1, format="csr") * 0.3
    inverse, r = (1 / operator.main).astype(dtype), random_values(operator.shape[0], dtype)
    bound = accelerator.stencil_series(bands, operator.strides, accelerator.array(inverse, inverse.dtype), order)
    same(accelerator, bound, series(lower, inverse, order, r), r, eps=400)


@pytest.mark.parametrize("dtype", DTYPES)
def test_neumann_series_of_matrices(accelerator, dtype):
    matrix, r = random_matrix(1001, dtype).csr, random_values(1001, dtype)
    lower = sparse.csr_array(sparse.tril(matrix, k=-1, format="csr") * 0.01).astype(dtype)
    inverse = (1 / matrix.diagonal()).astype(dtype)
    placed = accelerator.array(inverse, inverse.dtype)
    term, scaled, upper = accelerator.csr_terms(lower, placed)
    bound = TermByTerm([term, term, scaled], upper, accelerator.zeros, placed)
    same(accelerator, bound, series(lower, inverse, 3, r), r, eps=400)


@on_accelerators(dtype=DTYPES, block=[30, 90, 1200], grid=[(40, 30), (8, 5, 30)])
def test_solves_with_blocks(accelerator, case):
    block, grid, dtype = case["block"], case["grid"], case["dtype"]
    operator, r = grid_stencil(grid, dtype, shift=1.0), random_values(1200, dtype)
    inverse = (1 / operator.main).astype(dtype)
    placed = accelerator.array(inverse, inverse.dtype)
    bound = accelerator.stencil_factor(operator.lower, operator.strides, placed, 30, block, 0.5)
    whole = sparse.tril(operator.to_csr(), k=-1).toarray()
    whole[np.arange(1200)[:, None] // block != np.arange(1200) // block] = 0
    pivots = np.diag(operator.main)
    inside = np.linalg.solve(pivots + whole, r)
    same(accelerator, bound, 0.5 * np.linalg.solve(pivots + whole.conj().T, pivots @ inside), r, eps=400)


@pytest.mark.parametrize("dtype", DTYPES)
def test_factorized_inverses(accelerator, dtype):
    factor, r = sparse.csr_array(sparse.tril(random_matrix(777, dtype).csr, format="csr")), random_values(777, dtype)
    same(accelerator, accelerator.factorized_inverse(factor), factor.conj().T @ (factor @ r), r, eps=400)


@pytest.mark.parametrize("dtype", DTYPES)
def test_element_wise_operators_functions_of_the_host_and_dots(accelerator, dtype):
    scale, x, y = (random_values(5003, dtype, seed) for seed in (1, 0, 2))
    element_wise = ElementWise("d*v", {"d": accelerator.array(scale, x.dtype)})
    same(accelerator, accelerator.applied(element_wise, x.size, x.dtype), scale * x, x)
    same(accelerator, accelerator.callable(lambda v: 2 * v[::-1], x.size, x.dtype), 2 * x[::-1], x)
    dots = accelerator.dots(x.dtype).apply(accelerator.array(x, x.dtype), accelerator.array(y, y.dtype)).to_host()
    wide = accumulator(x.dtype)
    expected = [np.vdot(a.astype(wide), b.astype(wide)) for a, b in [(x, y), (y, y), (x, x)]]
    np.testing.assert_allclose(dots, expected, rtol=0, atol=1e-4 if np.finfo(dtype).eps > 1e-10 else 1e-11)


@pytest.mark.parametrize("dtype", DTYPES)
def test_terms_are_counted_as_on_the_cpu(accelerator, dtype):
    operator = random_matrix(200, dtype)
    lower = sparse.csr_array(sparse.tril(operator.csr, k=-1))
    # Rows this short are distributed without tiles, which are one array more.
    assert lower.nnz < 8 * 200
    counts = []
    for device in (devices.device("cpu"), accelerator):
        terms = device.csr_terms(lower, device.array(1 / operator.diagonal(), np.dtype(dtype)))
        counts.append([(term.traffic, term.flops) for term in terms])
    assert counts[0] == counts[1]
    word = np.dtype(dtype).itemsize
    assert [nbytes - counts[0][0][0] for nbytes, _ in counts[0]] == [0, 200 * word, 200 * word]


def test_small_helpers(accelerator):
    a, b = random_values(3001, "complex128"), random_values(3001, "complex128", 1)
    left, right = (accelerator.array(values, values.dtype) for values in (a, b))
    assert np.isclose(accelerator.norm(left), np.linalg.norm(a))
    assert np.isclose(accelerator.vdot(left, right), np.vdot(a, b))
    accelerator.subtract_from(left, right)
    np.testing.assert_allclose(accelerator.to_host(right), a - b)
    accelerator.assign(right, left)
    np.testing.assert_array_equal(accelerator.to_host(right), a)
