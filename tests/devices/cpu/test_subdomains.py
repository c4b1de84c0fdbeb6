"""Restriction, prolongation and compact AZ against a dense Z, for labels of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tests.conftest import DTYPES, grid_stencil, random_values
from workbench.deflation.galerkin import galerkin_matrix, sparse_az
from workbench.devices.cpu import Cpu
from workbench.devices.cpu.subdomains import LONGEST_SEGMENT
from workbench.host.box_parts import numbered_parts
from workbench.host.coarse_rows import alike
from workbench.jit.threads import CHUNK, WORTH_SHARING
from workbench.lines.types import accumulator
from workbench.operators import BandStencil, Matrix

CPU = Cpu()


def rng_labels(size, count, seed=0):
    """Every label at least once, in any order."""
    labels = np.random.default_rng(seed).integers(0, count, size)
    labels[:count] = np.arange(count)
    return np.random.default_rng(seed).permutation(labels)


LABELS = {
    "one unknown": np.array([0]),
    "one subdomain": np.zeros(7, int),
    "as many subdomains as unknowns": np.arange(9),
    "in reverse": np.arange(9)[::-1].copy(),
    "runs of length 1": np.tile([0, 1, 2], 5),
    "runs of all lengths": np.repeat([2, 0, 1, 0, 2], [1, 2, 3, 4, 5]),
    "scattered": rng_labels(1000, 13),
    "one run of many chunks": np.zeros(5 * CHUNK + 3, int),
    "stripes of several chunks": np.repeat(np.arange(5), CHUNK + 11),
    "a long run between short ones": np.concatenate([np.arange(50), np.full(5 * CHUNK, 7), np.arange(50)]),
    "runs of length 1 on all cores": np.tile([1, 0], WORTH_SHARING // 2 + 3),
    "scattered on all cores": rng_labels(WORTH_SHARING + 1, 300),
    "the last one alone": np.append(np.zeros(2 * CHUNK, int), 1),
}


def dense(labels, count):
    return sparse.csr_array((np.ones(labels.size), (np.arange(labels.size), labels)), shape=(labels.size, count))


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_restriction_and_prolongation(name, dtype):
    labels = LABELS[name]
    count = int(labels.max()) + 1
    z = dense(labels, count)
    subdomains = CPU.subdomains(labels, count, np.dtype(dtype))
    w, x = random_values(labels.size, dtype, 1), random_values(labels.size, dtype, 2)
    kept = w.copy()
    coarse = subdomains.restrict(w)
    assert coarse.dtype == accumulator(dtype)
    sizes = np.bincount(labels, minlength=count)
    np.testing.assert_allclose(coarse, z.T @ w.astype(coarse.dtype), rtol=0, atol=1e-15 * sizes.max() ** 1.5)
    np.testing.assert_array_equal(w, kept)
    a = random_values(count, coarse.dtype, 3)
    before = x.copy()
    subdomains.add(x, a)
    np.testing.assert_allclose(x, before + (z @ a).astype(dtype), rtol=0, atol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_the_other_dtypes(dtype):
    test_restriction_and_prolongation("runs of all lengths", dtype)
    test_restriction_and_prolongation("scattered on all cores", dtype)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint32, np.int64])
def test_labels_of_every_integer_type(kind):
    labels = LABELS["runs of all lengths"].astype(kind)
    w = random_values(labels.size, float)
    with np.errstate(all="raise"):
        found = CPU.subdomains(labels, 3, np.dtype(float)).restrict(w)
    np.testing.assert_allclose(found, dense(labels.astype(int), 3).T @ w)


def test_a_subdomain_without_unknowns_sums_to_zero():
    found = CPU.subdomains(np.array([0, 0, 3]), 5, np.dtype(float)).restrict(np.array([1.0, 2.0, 4.0]))
    np.testing.assert_array_equal(found, [3, 0, 0, 4, 0])


def test_single_precision_is_summed_in_double():
    w = np.full(3 * CHUNK, 0.1, np.float32)
    found = CPU.subdomains(np.zeros(w.size, int), 1, w.dtype).restrict(w)
    np.testing.assert_allclose(found, [w.size * float(np.float32(0.1))], rtol=1e-13)


def test_not_a_number_does_not_outlive_its_vector():
    labels = LABELS["stripes of several chunks"]
    subdomains = CPU.subdomains(labels, 5, np.dtype(float))
    assert np.isnan(subdomains.restrict(np.full(labels.size, np.nan))).all()
    np.testing.assert_allclose(subdomains.restrict(np.ones(labels.size)), CHUNK + 11)
    az = sparse_az(random_matrix(50, float), rng_labels(50, 4), 4)
    columns = CPU.compact_columns(az)
    w = np.ones(50)
    columns.subtract(w, np.full(4, np.nan))
    assert np.isnan(w).any()
    w = np.ones(50)
    columns.subtract(w, np.ones(4))
    assert np.isfinite(w).all()


def test_restriction_is_the_adjoint_of_prolongation():
    labels = rng_labels(500, 17)
    subdomains = CPU.subdomains(labels, 17, np.dtype(complex))
    w, a, za = random_values(500, complex), random_values(17, complex, 1), np.zeros(500, complex)
    subdomains.add(za, a)
    assert abs(np.vdot(a, subdomains.restrict(w)) - np.vdot(za, w)) < 1e-12


def random_matrix(size, dtype, seed=0):
    rng = np.random.default_rng(seed)
    half = sparse.random_array((size, size), density=min(1, 4 / size), rng=rng).tocsr()
    half = half * np.exp(0.5j) if np.dtype(dtype).kind == "c" else half
    whole = half + half.conj().T + sparse.diags_array(np.full(size, 20.0))
    return Matrix(sparse.csr_array(whole).astype(dtype))


def diffusion(grid, dtype=float):
    """-div(c grad u) with random c and one Dirichlet side, so that rows sum to zero away from it."""
    rng = np.random.default_rng(0)
    lower, main = [], np.zeros(grid)
    for k in range(len(grid)):
        axis = len(grid) - 1 - k
        low = np.array(-rng.uniform(0.1, 1, grid))
        np.moveaxis(low, axis, 0)[0] = 0
        main -= low
        np.moveaxis(main, axis, 0)[:-1] -= np.moveaxis(low, axis, 0)[1:]
        lower.append(low.ravel().astype(dtype))
    np.moveaxis(main, -1, 0)[0] += 1
    return BandStencil(grid, main.ravel().astype(dtype), tuple(lower))


def check_columns(operator, labels):
    count, dtype = int(labels.max()) + 1, operator.dtype
    z = dense(labels, count).toarray().astype(dtype)
    expected = operator.to_csr().toarray() @ z
    az = sparse_az(operator, labels, count)
    tolerance = 50 * np.finfo(dtype).eps * np.abs(operator.diagonal()).max()
    assert az.dtype == dtype
    np.testing.assert_allclose(az.toarray(), expected, rtol=0, atol=tolerance)
    np.testing.assert_allclose(
        galerkin_matrix(az, labels, count).toarray(), z.T @ expected, rtol=0, atol=tolerance * labels.size
    )
    a, w = random_values(count, accumulator(dtype), 1), random_values(labels.size, dtype, 2)
    columns = CPU.compact_columns(az)
    before = w.copy()
    columns.subtract(w, a)
    np.testing.assert_allclose(w, before - expected @ a, rtol=0, atol=tolerance * count)
    assert columns.entries == az.nnz
    return az


@pytest.mark.parametrize("dtype", DTYPES)
def test_compact_columns_of_a_matrix(dtype):
    check_columns(random_matrix(101, dtype), rng_labels(101, 7))


@pytest.mark.parametrize(
    ("grid", "count"), [((1,), 1), ((9,), 3), ((6, 7), 5), ((1, 6), 2), ((6, 1), 6), ((3, 4, 5), 4), ((2, 1, 3), 2)]
)
def test_compact_columns_of_a_stencil(grid, count):
    size = int(np.prod(grid))
    check_columns(diffusion(grid), np.arange(size) * count // size)
    check_columns(diffusion(grid), rng_labels(size, count))


def test_compact_columns_of_a_hermitian_stencil():
    stencil = diffusion((6, 7), complex)
    turned = tuple((low * np.exp(0.7j)) for low in stencil.lower)
    check_columns(BandStencil((6, 7), stencil.main, turned), rng_labels(42, 5))


def test_only_rows_at_interfaces_are_stored():
    # Two halves of a box of 8 x 8 cells: A maps the inside of each to zero, but for the Dirichlet side at x = 0.
    labels = np.repeat([0, 1], 32)
    az = check_columns(diffusion((8, 8)), labels)
    rows = np.flatnonzero(np.diff(az.indptr))
    y, x = np.divmod(rows, 8)
    assert set(zip(y, x, strict=True)) == {(y, x) for y in range(8) for x in range(8) if y in (3, 4) or x == 0}


def test_columns_that_are_all_empty():
    columns = CPU.compact_columns(sparse.csr_array((6, 2)))
    w = np.ones(6)
    columns.subtract(w, np.ones(2))
    np.testing.assert_array_equal(w, 1)


def test_columns_of_many_chunks_on_all_cores():
    size = WORTH_SHARING + 5
    az = sparse.csr_array(
        sparse.coo_array(
            (random_values(2 * size, float), (np.tile(np.arange(0, 2 * size, 2), 2), np.repeat([0, 1], size))),
            shape=(2 * size, 2),
        )
    )
    w, a = random_values(2 * size, float, 1), np.array([2.0, -3.0])
    before = w.copy()
    CPU.compact_columns(az).subtract(w, a)
    np.testing.assert_allclose(w, before - az @ a, rtol=0, atol=1e-14)


def test_traffic():
    # 5 unknowns in 3 runs: 4 bounds of 8 bytes, 3 labels of 4, and 2 partial sums of 8, written and read.
    assert CPU.subdomains(np.array([0, 0, 1, 0, 0]), 2, np.dtype(float)).traffic == 4 * 8 + 3 * 4 + 2 * 2 * 8
    az = sparse.csr_array(np.array([[1.0, 0], [0, 0], [2, 3]]))
    # 2 segments: starts, lengths and 2*3 bounds of 8 bytes, 3 labels of 4, 3 values of 8; w read and written at 2
    # places.
    assert CPU.compact_columns(az).traffic == 2 * 2 * 8 + 2 * 3 * 8 + 3 * 4 + 3 * 8 + 2 * 2 * 8


def test_segments_join_rows_with_the_same_columns_and_split_long_ones():
    rows = 2 * LONGEST_SEGMENT + 3
    same = sparse.csr_array(np.ones((rows, 2)))
    starts, lengths = alike(same.indptr, same.indices, LONGEST_SEGMENT)
    assert starts.tolist() == [0, LONGEST_SEGMENT, 2 * LONGEST_SEGMENT]
    assert lengths.tolist() == [LONGEST_SEGMENT, LONGEST_SEGMENT, 3]
    mixed = sparse.csr_array(np.array([[1, 0, 2], [3, 0, 4], [0, 5, 6], [0, 0, 0], [0, 7, 8], [9, 0, 0]], dtype=float))
    starts, lengths = alike(mixed.indptr, mixed.indices, LONGEST_SEGMENT)
    assert starts.tolist() == [0, 2, 4, 5]
    assert lengths.tolist() == [2, 1, 1, 1]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("grid", "name"), [((40, 25), "scattered"), ((7,), "one subdomain"), ((5, 3), "runs of length 1")]
)
def test_a_product_that_restricts(grid, name, dtype):
    stencil, labels = diffusion(grid, dtype), LABELS[name]
    bound, z = stencil.bind(CPU), CPU.subdomains(labels, int(labels.max()) + 1, np.dtype(dtype))
    x = random_values(labels.size, dtype)
    alone, together = np.empty_like(x), np.empty_like(x)
    expected = bound.apply(x, alone).copy()
    product = CPU.restricted_product(bound, z)
    dots, coarse = product.apply(x, together)
    np.testing.assert_allclose(dots, expected, rtol=1e-12)
    np.testing.assert_allclose(together, alone, rtol=0, atol=20 * np.finfo(dtype).eps)
    found = coarse.copy()
    np.testing.assert_allclose(found, z.restrict(together), rtol=1e-12, atol=1e-12)
    assert product.saved == x.nbytes


def test_a_product_that_restricts_on_all_cores():
    grid = (WORTH_SHARING // 100, 103)
    stencil, labels = diffusion(grid), np.arange(np.prod(grid)) // 37
    z = CPU.subdomains(labels, int(labels.max()) + 1, np.dtype(float))
    x = random_values(labels.size, float)
    out = np.empty_like(x)
    dots, coarse = CPU.restricted_product(stencil.bind(CPU), z).apply(x, out)
    expected = stencil.to_csr() @ x
    np.testing.assert_allclose(out, expected, atol=1e-13)
    np.testing.assert_allclose(coarse, np.bincount(labels, expected), atol=1e-12)
    np.testing.assert_allclose(dots[0], x @ expected, rtol=1e-12)


def test_a_matrix_restricts_after_its_product():
    matrix, labels = random_matrix(101, float), rng_labels(101, 7)
    x, out = random_values(101, float), np.empty(101)
    product = CPU.restricted_product(matrix.bind(CPU), CPU.subdomains(labels, 7, np.dtype(float)))
    _, coarse = product.apply(x, out)
    np.testing.assert_allclose(coarse, dense(labels, 7).T @ (matrix.to_csr() @ x), atol=1e-12)
    assert product.saved == 0


BOXES = {
    "whole rows": ((6, 8), (2, 2)),
    "rows of one cell": ((5, 7), (5, 7)),
    "one box": ((4, 5, 6), (1, 1, 1)),
    "several chunks": ((40, 50, 60), (10, 10, 15)),
    "rows that differ": ((5, 9), (2, 4)),
}


@pytest.mark.parametrize("name", BOXES)
@pytest.mark.parametrize("phases", [1, 4])
@pytest.mark.parametrize("dtype", DTYPES)
def test_subdomains_of_boxes_equal_those_of_their_labels(name, phases, dtype):
    grid, per_side = BOXES[name]
    phase = np.random.default_rng(0).integers(0, phases, grid)
    labels, boxes = numbered_parts(phase, grid, per_side)
    count, size = boxes.box.size, labels.size
    stencil = grid_stencil(grid, np.dtype(dtype)).bind(CPU)
    with_boxes, plain = (CPU.subdomains(labels, count, np.dtype(dtype), given) for given in (boxes, None))
    z, w, b = dense(labels, count), random_values(size, dtype), random_values(size, dtype, 1)
    tolerance = 100 * np.finfo(dtype).eps
    np.testing.assert_allclose(with_boxes.restrict(w), z.T @ w, rtol=tolerance, atol=tolerance * size**0.5)
    coarse = random_values(count, accumulator(np.dtype(dtype)), 2)
    x, expected = w.copy(), w.copy()
    dots, others = with_boxes.add_paired(x, coarse, b), plain.add_paired(expected, coarse, b)
    np.testing.assert_allclose(x, expected, rtol=tolerance)
    np.testing.assert_allclose(dots, others, rtol=tolerance, atol=tolerance * size**0.5)
    with_boxes.subtract(x, coarse)
    np.testing.assert_allclose(x, w, rtol=tolerance, atol=2 * tolerance)
    out, out_plain = np.empty_like(w), np.empty_like(w)
    found = [
        np.array(CPU.restricted_product(stencil, z_).apply(w, o)[1])
        for z_, o in ((with_boxes, out), (plain, out_plain))
    ]
    np.testing.assert_array_equal(out, out_plain)
    np.testing.assert_allclose(found[0], found[1], rtol=tolerance, atol=20 * tolerance * size**0.5)
    residuals = [np.array(CPU.restricted_product(stencil, z_).residual(b, w, None)) for z_ in (with_boxes, plain)]
    np.testing.assert_allclose(residuals[0], residuals[1], rtol=tolerance, atol=20 * tolerance * size**0.5)
