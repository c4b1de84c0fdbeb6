"""Products with CSR matrices, and the terms of a Neumann series, against SciPy and dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tests.conftest import DTYPES, random_values
from workbench.devices.cpu import Cpu
from workbench.devices.cpu.block_rows import LONG, SeveralSums
from workbench.devices.on_cores import ENTRIES_PER_CHUNK, OnCores
from workbench.jit.threads import WORTH_SHARING
from workbench.lines.types import accumulator

CPU = Cpu()


def random_matrix(rows, each, dtype, seed=0):
    """Rows of 0 to 2*each entries in any columns, half of the rows empty; duplicates summed."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 2 * each + 1, rows) * rng.integers(0, 2, rows)
    total = int(counts.sum())
    values = rng.uniform(-1, 1, total) + (1j * rng.uniform(-1, 1, total) if np.dtype(dtype).kind == "c" else 0)
    places = (np.repeat(np.arange(rows), counts), rng.integers(0, rows, total))
    return sparse.csr_array(sparse.coo_array((values, places), shape=(rows, rows))).astype(dtype)


def random_vectors(count, number, dtype, seed=1):
    return tuple(random_values((number, count), dtype, seed))


def parts(matrix):
    return matrix.data, matrix.indices, matrix.indptr


def assert_near(found, expected, matrix):
    """A row of n entries of modulus up to 1.5 is summed with at most n roundings of each partial sum."""
    longest = max(1, int(np.diff(matrix.indptr).max(initial=0)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=10 * np.finfo(matrix.dtype).eps * (1 + longest) ** 1.5)


def assert_dots(found, left, right):
    wide = accumulator(left.dtype)
    left, right = left.astype(wide), right.astype(wide)
    scale = np.linalg.norm(left) ** 2 + np.linalg.norm(right) ** 2
    assert found.dtype == wide
    expected = [np.vdot(left, right), np.vdot(right, right), np.vdot(left, left)]
    # N roundings of double precision add up like a random walk.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15 * (1 + left.size**0.5) * scale)


def check(matrix, dtype):
    (x,) = random_vectors(matrix.shape[0], 1, dtype)
    kept, out = x.copy(), np.full_like(x, np.nan)
    dots = CPU.csr(*parts(matrix)).apply(x, out)
    assert_near(out, matrix @ x, matrix)
    assert_dots(dots, x, out)
    np.testing.assert_array_equal(x, kept)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [1, 2, 7, 1000])
def test_products_with_empty_rows(rows, dtype):
    for seed in range(3):
        check(random_matrix(rows, 4, dtype, seed), dtype)


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_products_with_more_entries_than_a_chunk_and_on_all_cores(dtype):
    matrix = random_matrix(40001, 10, dtype)
    assert matrix.nnz > WORTH_SHARING
    assert matrix.nnz > 2 * ENTRIES_PER_CHUNK
    check(matrix, dtype)


def test_a_matrix_with_two_chunks_on_one_core():
    matrix = random_matrix(20001, 12, float)
    assert ENTRIES_PER_CHUNK < matrix.nnz < WORTH_SHARING
    check(matrix, float)


def test_a_matrix_whose_entries_are_all_in_one_row():
    # The row fills several chunks, so most chunks have no row of their own.
    size = 3 * ENTRIES_PER_CHUNK
    for row in (0, size // 2, size - 1):
        places = (np.full(size, row), np.arange(size))
        matrix = sparse.csr_array(sparse.coo_array((np.full(size, 0.5), places), shape=(size, size)))
        (x,) = random_vectors(size, 1, float)
        out = np.full(size, np.nan)
        dots = CPU.csr(*parts(matrix)).apply(x, out)
        expected = np.zeros(size)
        expected[row] = 0.5 * x.sum()
        np.testing.assert_allclose(out, expected, rtol=0, atol=1e-10)
        np.testing.assert_allclose(dots, [x[row] * out[row], out[row] ** 2, x @ x], rtol=1e-12)


def test_empty_rows_at_both_ends_of_every_chunk():
    rows = 4 * ENTRIES_PER_CHUNK
    filled = np.arange(1, rows - 1, 2)
    places = (np.repeat(filled, 3), np.repeat(filled, 3) + np.tile([-1, 0, 1], filled.size))
    matrix = sparse.csr_array(sparse.coo_array((np.ones(3 * filled.size), places), shape=(rows, rows)))
    check(matrix, float)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("added", [False, True])
def test_block_products_with_long_rows_are_those_of_the_plain_text(dtype, added):
    matrix = random_matrix(501, 100, dtype)
    assert matrix.nnz > LONG * 501
    for columns in (2, 20):
        made = CPU.csr(*parts(matrix)).block(columns, added=added)
        assert isinstance(made._bound, SeveralSums)
        x, found, wanted = (values.reshape(-1, columns) for values in random_vectors(501 * columns, 3, dtype))
        found[:] = wanted
        made.apply(x, found)
        OnCores(made._bound.request)(x, wanted)
        assert_near(found, wanted, matrix)


def test_a_matrix_without_entries():
    matrix = sparse.csr_array((5, 5))
    (x,) = random_vectors(5, 1, float)
    out = np.full(5, np.nan)
    dots = CPU.csr(*parts(matrix)).apply(x, out)
    np.testing.assert_array_equal(out, 0)
    np.testing.assert_allclose(dots, [0, 0, x @ x])


@pytest.mark.parametrize(("indices", "indptr"), [(np.int64, np.int64), (np.int32, np.int64), (np.int64, np.int32)])
def test_long_indices(indices, indptr):
    matrix = random_matrix(1000, 4, float)
    (x,) = random_vectors(1000, 1, float)
    out = np.full(1000, np.nan)
    CPU.csr(matrix.data, matrix.indices.astype(indices), matrix.indptr.astype(indptr)).apply(x, out)
    assert_near(out, matrix @ x, matrix)


def test_unsorted_indices_and_duplicates():
    data, indices, indptr = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 0, 1, 1]), np.array([0, 3, 4])
    out = np.empty(2)
    CPU.csr(data, indices, indptr).apply(np.array([1.0, 10.0]), out)
    np.testing.assert_array_equal(out, [42, 40])


def test_dot_products_of_single_precision_are_summed_in_double():
    x = np.full(5, 1e20, np.float32)
    matrix = sparse.csr_array(2 * sparse.eye_array(5, dtype=np.float32, format="csr"))
    np.testing.assert_allclose(CPU.csr(*parts(matrix)).apply(x, np.empty_like(x)), [10e40, 20e40, 5e40], rtol=1e-6)


def test_not_a_number_does_not_outlive_its_vector():
    matrix = random_matrix(1000, 4, float)
    product, (x,) = CPU.csr(*parts(matrix)), random_vectors(1000, 1, float)
    out = np.empty(1000)
    assert np.isnan(product.apply(np.full(1000, np.nan), out)[0])
    assert_dots(product.apply(x, out), x, out)
    term = CPU.csr_terms(matrix, x)[2]
    assert np.isnan(term.apply(x, np.full(1000, np.nan), out, x)[0])
    assert_dots(term.apply(x, x, out, x), x, out)


def test_read_only_arrays_serve_as_a_matrix():
    matrix, (x,) = random_matrix(7, 4, float), random_vectors(7, 1, float)
    for part in parts(matrix):
        part.setflags(write=False)
    out = np.empty(7)
    CPU.csr(*parts(matrix)).apply(x, out)
    assert_near(out, matrix @ x, matrix)
    CPU.csr_terms(matrix, x)[0].apply(x, x, out)
    assert_near(out, x - matrix @ x, matrix)


def triangle(rows, dtype, each=4):
    return sparse.csr_array(sparse.tril(random_matrix(rows, each, dtype), k=-1, format="csr"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [1, 2, 7, 1000])
def test_terms_of_a_neumann_series(rows, dtype):
    lower = triangle(rows, dtype)
    base, x, paired, scale = random_vectors(rows, 4, dtype)
    expected = (base - lower @ x, (base - lower @ x) * scale, base - lower.conj().T @ x)
    kept = [vector.copy() for vector in (base, x, paired)]
    terms = CPU.csr_terms(lower, scale)
    for term, wanted in zip(terms, expected, strict=True):
        out = np.full_like(x, np.nan)
        dots = term.apply(base, x, out, paired)
        assert_near(out, wanted, lower)
        if term is terms[-1]:
            assert_dots(dots, paired, out)
        else:
            assert dots is None
        for vector, before in zip((base, x, paired), kept, strict=True):
            np.testing.assert_array_equal(vector, before)


def test_terms_on_all_cores():
    lower = triangle(80001, float, each=8)
    assert lower.nnz > WORTH_SHARING
    base, x, scale = random_vectors(80001, 3, float)
    expected = (base - lower @ x, (base - lower @ x) * scale, base - lower.T @ x)
    out = np.full_like(x, np.nan)
    for term, wanted in zip(CPU.csr_terms(lower, scale), expected, strict=True):
        dots = term.apply(base, x, out, base)
        assert_near(out, wanted, lower)
    assert_dots(dots, base, out)


def test_terms_of_a_diagonal_matrix_are_the_base():
    base, x, scale = random_vectors(5, 3, float)
    out = np.empty(5)
    wanted = (base, base * scale, base)
    for term, expected in zip(CPU.csr_terms(sparse.csr_array((5, 5)), scale), wanted, strict=True):
        term.apply(base, x, out, x)
        np.testing.assert_array_equal(out, expected)


def test_traffic_and_flops():
    matrix = sparse.csr_array(np.tril(np.ones((4, 4))))
    product = CPU.csr(*parts(matrix))
    assert product.traffic == 10 * (8 + 4) + 5 * 4 + 2 * 4 * 8
    assert product.flops == 2 * 10
    plain, scaled, _ = CPU.csr_terms(matrix, np.ones(4))
    assert plain.traffic == 10 * (8 + 4) + 5 * 4 + 3 * 4 * 8
    assert plain.flops == 2 * 10
    assert scaled.traffic == plain.traffic + 4 * 8
    assert scaled.flops == 2 * 10 + 4


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_function_serves_as_a_product(dtype):
    matrix = random_matrix(50, 4, dtype)
    (x,) = random_vectors(50, 1, dtype)
    out = np.full_like(x, np.nan)
    # SciPy's operators may answer with a column.
    dots = CPU.callable(lambda v: (matrix @ v)[:, np.newaxis], 50, np.dtype(dtype)).apply(x, out, "xy", "yy", "xx")
    np.testing.assert_array_equal(out, matrix @ x)
    assert_dots(dots, x, out)
