"""Operators on every device against SciPy and NumPy, at sizes below and beyond a chunk of a core and a work-group.

Precision, device, and the sizes and parameters of each operator (reach, order, block) are combined pairwise.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tests.all_pairs import on_accelerators, on_devices
from tests.conftest import DTYPES, grid_stencil, random_matrix, random_values
from tests.devices.comparing import assert_dots, same
from workbench import devices
from workbench.devices.cpu.block_rows import LONG, SeveralSums
from workbench.devices.on_cores import ENTRIES_PER_CHUNK, OnCores
from workbench.jit.threads import CHUNK, WORTH_SHARING
from workbench.operators import BandStencil, BoxStencil
from workbench.preconditioners.base import ElementWise

CPU = devices.device("cpu")
# Grids as (.., y, x): sides of one cell, odd sides, fewer rows than the largest stride reaches over; one chunk and the
# border to two, several chunks on one core, and more than WORTH_SHARING on all of them; a plane of more cells than a
# chunk, so that whole chunks lie at the edge of the box.
GRIDS = {
    1: [(1,), (2,), (7,), (CHUNK - 1,), (2 * CHUNK + 1,), (WORTH_SHARING + 3,)],
    2: [(1, 1), (1, 6), (6, 1), (2, 2), (5, 7), (8, 3), (181, 181), (3, 20001), (401, 333)],
    3: [
        *[(1, 1, 1), (1, 1, 5), (1, 5, 1), (5, 1, 1), (1, 3, 4), (3, 1, 4), (3, 4, 1), (2, 2, 2), (3, 5, 4), (2, 7, 5)],
        *[(41, 43, 31), (2, 211, 317), (3, 150, 301)],
    ],
}


@on_devices(dimensions=[1, 2, 3], dtype=DTYPES)
def test_stencils(device, case):
    """With a diagonal of any numbers, and with a constant one, which is read as one number."""
    dtype = np.dtype(case["dtype"])
    for grid in GRIDS[case["dimensions"]]:
        operator, x = grid_stencil(grid, dtype), random_values(int(np.prod(grid)), dtype)
        constant = BandStencil(grid, np.full(x.size, 5, dtype), operator.lower)
        for one in (operator, constant):
            matrix = one.to_csr()
            same(device, one.bind(device), lambda v, matrix=matrix: matrix @ v, x)


@on_devices(grid=[(1,), (7,), (5, 13), (1, 4, 50), (33, 40, 41), (3, 2, 1), (50, 5, 67)], dtype=DTYPES, reach=[1, 2, 3])
def test_boxes(device, case):
    operator = BoxStencil(case["grid"], case["reach"], 3.0, -0.25, np.dtype(case["dtype"]))
    matrix = operator.to_csr()
    same(device, operator.bind(device), lambda v: matrix @ v, random_values(matrix.shape[0], case["dtype"]))


def rows_of_all_lengths(rows, each, dtype, seed=0):
    """Rows of 0 to 2*each entries in any columns, half of the rows empty; duplicates summed."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 2 * each + 1, rows) * rng.integers(0, 2, rows)
    places = np.repeat(np.arange(rows), counts), rng.integers(0, rows, counts.sum())
    return sparse.csr_array(sparse.coo_array((random_values(counts.sum(), dtype, rng), places), shape=(rows, rows)))


def all_in_row(row, dtype):
    """One row fills several chunks, so most chunks have no row of their own."""
    size = 3 * ENTRIES_PER_CHUNK
    places = np.full(size, row % size), np.arange(size)
    return sparse.csr_array(sparse.coo_array((np.full(size, 0.5, dtype), places), shape=(size, size)))


def empty_at_both_ends(dtype):
    """Of every chunk."""
    rows = 4 * ENTRIES_PER_CHUNK
    filled = np.arange(1, rows - 1, 2)
    places = np.repeat(filled, 3), np.repeat(filled, 3) + np.tile([-1, 0, 1], filled.size)
    return sparse.csr_array(sparse.coo_array((np.ones(3 * filled.size, dtype), places), shape=(rows, rows)))


def with_indices(indices, starts, dtype):
    matrix = rows_of_all_lengths(1000, 4, dtype)
    matrix.indices, matrix.indptr = matrix.indices.astype(indices), matrix.indptr.astype(starts)
    return matrix


def unsorted(dtype):
    """With an entry in two parts."""
    parts = np.array([1, 2, 3, 4], dtype), np.array([1, 0, 1, 1]), np.array([0, 3, 4])
    return sparse.csr_array(parts, shape=(2, 2))


MATRICES = {
    "one row": lambda dtype: rows_of_all_lengths(1, 4, dtype, seed=1),
    "two rows": lambda dtype: rows_of_all_lengths(2, 4, dtype),
    "seven rows": lambda dtype: rows_of_all_lengths(7, 4, dtype),
    "many rows": lambda dtype: rows_of_all_lengths(1000, 4, dtype),
    "two chunks on one core": lambda dtype: rows_of_all_lengths(20001, 12, dtype),
    "all cores": lambda dtype: rows_of_all_lengths(40001, 10, dtype),
    "all in the first row": lambda dtype: all_in_row(0, dtype),
    "all in the middle row": lambda dtype: all_in_row(3 * ENTRIES_PER_CHUNK // 2, dtype),
    "all in the last row": lambda dtype: all_in_row(-1, dtype),
    "empty rows at both ends": empty_at_both_ends,
    "no entries": lambda dtype: sparse.csr_array((5, 5), dtype=dtype),
    "long indices and starts": lambda dtype: with_indices(np.int64, np.int64, dtype),
    "long starts": lambda dtype: with_indices(np.int32, np.int64, dtype),
    "long indices": lambda dtype: with_indices(np.int64, np.int32, dtype),
    "unsorted": unsorted,
}


def parts(matrix):
    return matrix.data, matrix.indices, matrix.indptr


def test_sizes_of_matrices_are_those_that_they_are_named_after():
    assert ENTRIES_PER_CHUNK < MATRICES["two chunks on one core"](float).nnz < WORTH_SHARING
    assert max(WORTH_SHARING, 2 * ENTRIES_PER_CHUNK) < MATRICES["all cores"](float).nnz


def units_of(matrix):
    """Units of the last place by which a sum over the longest row may be off."""
    return 100 * (1 + np.diff(matrix.indptr).max(initial=0)) ** 0.5


@on_devices(name=list(MATRICES), dtype=DTYPES)
def test_products_with_matrices(device, case):
    matrix = MATRICES[case["name"]](np.dtype(case["dtype"]))
    x = random_values(matrix.shape[0], case["dtype"], 1)
    same(device, device.csr(*parts(matrix)), lambda v: matrix @ v, x, eps=units_of(matrix))


@on_accelerators(items=[0, 1, 2, 16, 32], dtype=DTYPES)
def test_any_number_of_work_items_may_share_a_row(accelerator, case):
    items, dtype = case["items"], case["dtype"]
    if items > accelerator.layout.group:
        pytest.skip("more work-items per row than a group has")
    matrix = random_matrix(1001, dtype).csr
    same(accelerator, accelerator.csr(*parts(matrix), items), lambda v: matrix @ v, random_values(1001, dtype), eps=400)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("added", [False, True])
def test_block_products_with_long_rows_are_those_of_the_plain_text(dtype, added):
    matrix = rows_of_all_lengths(501, 100, dtype)
    assert matrix.nnz > LONG * 501
    for columns in (2, 20):
        made = CPU.csr(*parts(matrix)).block(columns, added=added)
        assert isinstance(made.bound, SeveralSums)
        x, found = random_values((2, 501, columns), dtype)
        wanted = found.copy()
        made.apply(x, found)
        OnCores(made.bound.request)(x, wanted)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=units_of(matrix) * np.finfo(dtype).eps)


TRIANGLES = {name: MATRICES[name] for name in ("one row", "seven rows", "many rows", "no entries")}
TRIANGLES["all cores"] = lambda dtype: rows_of_all_lengths(80001, 8, dtype)


@on_devices(name=list(TRIANGLES), dtype=DTYPES)
def test_terms_of_a_neumann_series(device, case):
    dtype = np.dtype(case["dtype"])
    lower = sparse.csr_array(sparse.tril(TRIANGLES[case["name"]](dtype), k=-1, format="csr"))
    assert case["name"] != "all cores" or lower.nnz > WORTH_SHARING
    base, x, paired, scale = random_values((4, lower.shape[0]), dtype)
    expected = base - lower @ x, (base - lower @ x) * scale, base - lower.conj().T @ x
    placed = [device.array(values.copy(), dtype) for values in (base, x, paired)]
    terms = device.csr_terms(lower, device.array(scale, dtype))
    for term, wanted in zip(terms, expected, strict=True):
        out = device.array(np.full_like(x, np.nan), dtype)
        term.apply(placed[0], device.array(np.full_like(x, np.nan), dtype), out, placed[2])
        dots = term.apply(placed[0], placed[1], out, placed[2])
        found = device.to_host(out)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=units_of(lower) * np.finfo(dtype).eps)
        if term is terms[-1]:
            assert_dots(dots, paired, found)
        else:
            assert dots is None
    for vector, before in zip(placed, (base, x, paired), strict=True):
        np.testing.assert_array_equal(device.to_host(vector), before)


@on_devices(dtype=DTYPES, rows=[1, 3, 200], grid=[(40, 30), (8, 5, 30), (3, 400), (1200, 1)])
def test_solves_with_blocks(device, case):
    """Blocks of grid rows shorter and longer than a tile; the last block has fewer."""
    grid, dtype = case["grid"], case["dtype"]
    block = min(1200, case["rows"] * grid[-1])
    operator, r = grid_stencil(grid, dtype, shift=1.0), random_values(1200, dtype)
    inverse = (1 / operator.main).astype(dtype)
    placed = device.array(inverse, inverse.dtype)
    bound = device.stencil_factor(operator.lower, operator.strides, placed, grid[-1], block, 0.5)
    whole = sparse.tril(operator.to_csr(), k=-1).toarray()
    whole[np.arange(1200)[:, None] // block != np.arange(1200) // block] = 0
    pivots = np.diag(operator.main)

    def solved(v):
        inside = np.linalg.solve(pivots + whole, v)
        return 0.5 * np.linalg.solve(pivots + whole.conj().T, pivots @ inside)

    same(device, bound, solved, r, eps=400)


@pytest.mark.parametrize("dtype", DTYPES)
def test_factorized_inverses(device, dtype):
    factor, r = sparse.csr_array(sparse.tril(random_matrix(777, dtype).csr, format="csr")), random_values(777, dtype)
    same(device, device.factorized_inverse(factor), lambda v: factor.conj().T @ (factor @ v), r, eps=400)


@on_devices(dimensions=[1, 2, 3], dtype=DTYPES)
def test_factorized_stencils(device, case):
    """F F^H with a number on the diagonal of F; on a GPU too, whose kernel of whole stencils takes no triangle."""
    dtype = np.dtype(case["dtype"])
    for grid in GRIDS[case["dimensions"]]:
        operator, r = grid_stencil(grid, dtype), random_values(int(np.prod(grid)), dtype)
        bands = tuple(device.array(low, dtype) for low in operator.lower)
        factor = sparse.tril(operator.to_csr(), k=-1, format="csr") + 3 * sparse.eye_array(r.size, dtype=dtype)
        bound = device.factorized_stencil(dtype.type(3), bands, operator.strides)
        same(device, bound, lambda v, F=factor: F @ (F.conj().T @ v), r, eps=400)


@on_devices(grid=[(1, 1), (5, 7), (181, 181), (401, 333)], dtype=DTYPES)
def test_solves_by_colours(device, case):
    """Red and black cells: those of a colour are coupled to the other alone."""
    dtype, grid = np.dtype(case["dtype"]), case["grid"]
    operator, size = grid_stencil(grid, dtype, shift=2), int(np.prod(grid))
    colours = np.indices(grid).sum(axis=0).ravel() % 2
    members, bounds = np.argsort(colours, kind="stable"), np.append(0, np.cumsum(np.bincount(colours)))
    lower = sparse.csr_array(sparse.tril(operator.to_csr()[members][:, members], k=-1, format="csr"))
    E, r = 1 + np.arange(size) % 3, random_values(size, dtype)

    def solved(v):
        first = v[members] / E
        red = bounds[1]
        first[red:] -= (lower @ first)[red:] / E[red:]
        first[:red] -= (lower.conj().T @ first)[:red] / E[:red]
        found = np.empty_like(v)
        found[members] = first
        return found

    there, u = device.array(r, dtype), device.zeros(size, dtype)
    device.colour_factor(lower, 1 / E, members, bounds).apply(there, u)
    expected = solved(r.astype(np.result_type(dtype, float)))
    assert np.abs(device.to_host(u) - expected).max() <= 400 * np.finfo(dtype).eps * np.abs(expected).max()


@pytest.mark.parametrize("dtype", DTYPES)
def test_element_wise_operators_functions_of_the_host_and_dots(device, dtype):
    scale, x, y = (random_values(5003, dtype, seed) for seed in (1, 0, 2))
    element_wise = ElementWise("d*v", {"d": device.array(scale, x.dtype)})
    same(device, device.applied(element_wise, x.size, x.dtype), lambda v: scale * v, x)
    # SciPy's operators may reply with a column.
    reverse = device.callable(lambda v: 2 * v[::-1, np.newaxis], x.size, x.dtype)
    same(device, reverse, lambda v: 2 * v[::-1], x)
    assert_dots(device.dots(x.dtype).apply(device.array(x, x.dtype), device.array(y, y.dtype)), x, y)


@pytest.mark.parametrize("kind", ["stencil", "csr"])
def test_dot_products_of_single_precision_are_summed_in_double(device, kind):
    """Each square is 1e40, beyond single precision."""
    x, two = np.full(5, 1e20, np.float32), np.full(5, 2, np.float32)
    if kind == "stencil":
        bound = device.stencil(two, (np.zeros(5, np.float32),), (1,))
    else:
        bound = device.csr(*parts(sparse.csr_array(sparse.diags_array(two))))
    same(device, bound, lambda v: 2 * v, x)


def test_read_only_arrays_serve_as_operators():
    stencil, matrix, x = grid_stencil((7,)), rows_of_all_lengths(7, 4, float), random_values(7, float)
    for values in (stencil.main, *stencil.lower, *parts(matrix)):
        values.setflags(write=False)
    out, whole = np.empty(7), stencil.to_csr()
    same(CPU, CPU.stencil(stencil.main, stencil.lower, stencil.strides), lambda v: whole @ v, x)
    same(CPU, CPU.csr(*parts(matrix)), lambda v: matrix @ v, x)
    CPU.csr_terms(matrix, x)[0].apply(x, x, out, x)
    np.testing.assert_allclose(out, x - matrix @ x, atol=1e-14)


def test_bytes_and_operations():
    """Of a product with 10 entries in 4 rows, of terms of a series, and of stencils of 24 and 12 cells."""
    matrix = sparse.csr_array(np.tril(np.ones((4, 4))))
    stored = 10 * (8 + 4) + 5 * 4
    product, (plain, scaled, _) = CPU.csr(*parts(matrix)), CPU.csr_terms(matrix, np.ones(4))
    assert (product.traffic, product.flops) == (stored + 2 * 4 * 8, 2 * 10)
    assert (plain.traffic, plain.flops) == (stored + 3 * 4 * 8, 2 * 10)
    assert (scaled.traffic, scaled.flops) == (stored + 4 * 4 * 8, 2 * 10 + 4)
    stencil = grid_stencil((2, 3, 4)).bind(CPU)
    # main, three lower and x are read, out is written.
    assert (stencil.traffic, stencil.flops) == (6 * 24 * 8, 7 * 2 * 24)
    operator = grid_stencil((3, 4), np.complex64)
    stencil = operator.bind(CPU)
    assert (stencil.traffic, stencil.flops) == (5 * 12 * 8, 5 * 8 * 12)
    constant = BandStencil((3, 4), np.full_like(operator.main, 5), operator.lower)
    assert constant.bind(CPU).traffic == stencil.traffic - 12 * 8


@pytest.mark.parametrize("dtype", DTYPES)
def test_terms_are_counted_as_on_the_cpu(accelerator, dtype):
    operator = random_matrix(200, dtype)
    lower = sparse.csr_array(sparse.tril(operator.csr, k=-1))
    # Rows this short are distributed without tiles, which are one array more.
    assert lower.nnz < 8 * 200
    counts = []
    for device in (CPU, accelerator):
        terms = device.csr_terms(lower, device.array(1 / operator.diagonal(), np.dtype(dtype)))
        counts.append([(term.traffic, term.flops) for term in terms])
    assert counts[0] == counts[1]
    word = np.dtype(dtype).itemsize
    assert [nbytes - counts[0][0][0] for nbytes, _ in counts[0]] == [0, 200 * word, 200 * word]


def test_vectors_are_added_copied_and_multiplied(device):
    a, b = random_values((2, 3001), "complex128")
    left, right = (device.array(values.copy(), values.dtype) for values in (a, b))
    assert np.isclose(device.norm(left), np.linalg.norm(a))
    assert np.isclose(device.vdot(left, right), np.vdot(a, b))
    device.subtract_from(left, right)
    np.testing.assert_allclose(device.to_host(right), a - b)
    device.assign(right, left)
    np.testing.assert_array_equal(device.to_host(right), a)
