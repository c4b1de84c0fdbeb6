"""Restriction, prolongation and compact AZ on every device against a dense Z, for labels of every kind.

Labels, shapes, precisions and devices are combined pairwise.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg, sparse

from tests.all_pairs import on_accelerators, on_devices
from tests.conftest import DTYPES, grid_stencil, random_matrix, random_values
from tests.devices.comparing import on_host
from workbench import devices
from workbench.deflation.galerkin import galerkin_matrix, sparse_az
from workbench.devices.accelerator import coarse
from workbench.devices.accelerator.device import Accelerator
from workbench.devices.accelerator.grid_columns import ResidualOfBoxes
from workbench.devices.coarse import Banded, Dense
from workbench.devices.cpu.columns import STRIP
from workbench.devices.cpu.subdomains import LONGEST_SEGMENT
from workbench.devices.host import storage
from workbench.devices.host.box_parts import numbered_parts
from workbench.devices.host.coarse_rows import alike
from workbench.devices.host.face_coding import face_codes
from workbench.jit.threads import CHUNK, WORTH_SHARING
from workbench.lines.types import accumulator
from workbench.operators import BandStencil, Matrix, Stencil, TwoPhaseStencil

CPU = devices.device("cpu")


def rng_labels(size, count, seed=0):
    """Every label at least once, in any order."""
    labels = np.random.default_rng(seed).integers(0, count, size)
    labels[:count] = np.arange(count)
    return np.random.default_rng(seed).permutation(labels)


LABELS = {
    "one unknown": np.array([0]),
    "one subdomain": np.zeros(7, int),
    "as many subdomains as unknowns": np.arange(333),
    "in reverse": np.arange(9)[::-1].copy(),
    "runs of length 1": np.tile([0, 1, 2], 5),
    "runs of length 3": (np.arange(10007) // 3) % 17,
    "runs of all lengths": np.repeat([2, 0, 1, 0, 2], [1, 2, 3, 4, 5]),
    "scattered": rng_labels(10007, 70),
    "one run of many chunks": np.zeros(5 * CHUNK + 3, int),
    "stripes of several chunks": np.repeat(np.arange(5), CHUNK + 11),
    "a long run between short ones": np.concatenate([np.arange(50), np.full(5 * CHUNK, 7), np.arange(50)]),
    "runs of length 1 on all cores": np.tile([1, 0], WORTH_SHARING // 2 + 3),
    "scattered on all cores": rng_labels(WORTH_SHARING + 1, 300),
    "the last one alone": np.append(np.zeros(2 * CHUNK, int), 1),
}


def dense(labels, count):
    return sparse.csr_array((np.ones(labels.size), (np.arange(labels.size), labels)), shape=(labels.size, count))


def check_moves(device, z, w, a, moved, units):
    """z adds and subtracts what Z a is."""
    for move, sign in ((z.add, 1), (z.subtract, -1)):
        x = device.array(w.copy(), w.dtype)
        move(x, device.array(a, a.dtype))
        tolerance = units * np.finfo(w.dtype).eps
        np.testing.assert_allclose(device.to_host(x), w + sign * moved, rtol=0, atol=tolerance)


def restricted(device, z, w):
    """After a vector of NaN, nothing of which may stay."""
    assert np.isnan(device.to_host(z.restrict(device.array(np.full_like(w, np.nan), w.dtype)))).any()
    placed = device.array(w.copy(), w.dtype)
    found = device.to_host(z.restrict(placed)).copy()
    assert found.dtype == accumulator(w.dtype)
    np.testing.assert_array_equal(device.to_host(placed), w)
    return found


@on_devices(labels=list(LABELS), dtype=DTYPES)
def test_subdomains(device, case):
    labels, dtype = LABELS[case["labels"]].astype(np.int32), np.dtype(case["dtype"])
    count, wide = int(labels.max()) + 1, accumulator(dtype)
    Z, z, w = dense(labels, count), device.subdomains(labels, count, dtype), random_values(labels.size, dtype, 1)
    tolerance = 1e-15 * (1 + np.bincount(labels).max()) ** 1.5
    np.testing.assert_allclose(restricted(device, z, w), Z.T @ w.astype(wide), rtol=0, atol=tolerance)
    a = random_values(count, wide, 3)
    check_moves(device, z, w, a, Z @ a, 4)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint32, np.int64])
def test_labels_have_any_integer_type(device, kind):
    labels = LABELS["runs of all lengths"].astype(kind)
    w, a = random_values(labels.size, float), random_values(3, float, 3)
    z, Z = device.subdomains(labels, 3, w.dtype), dense(labels.astype(int), 3)
    with np.errstate(all="raise"):
        found = restricted(device, z, w)
    np.testing.assert_allclose(found, Z.T @ w)
    check_moves(device, z, w, a, Z @ a, 4)


def test_a_subdomain_without_unknowns_sums_to_zero(device):
    found = restricted(
        device, device.subdomains(np.array([0, 0, 3], np.int32), 5, np.dtype(float)), np.array([1.0, 2, 4])
    )
    np.testing.assert_array_equal(found, [3, 0, 0, 4, 0])


@pytest.mark.parametrize("kind", ["subdomains", "columns"])
def test_single_precision_is_summed_in_double(device, kind):
    w = np.full(3 * CHUNK, 0.1, np.float32)
    if kind == "subdomains":
        z = device.subdomains(np.zeros(w.size, np.int32), 1, w.dtype)
    else:
        z = device.columns(np.ones((1, w.size), np.float32))
    np.testing.assert_allclose(restricted(device, z, w), [w.size * float(np.float32(0.1))], rtol=1e-6)


SHAPES = [(1, 1), (3, 7), (2, STRIP + 1), (5, 3 * CHUNK + 11), (2, WORTH_SHARING + 3), (8, 40011), (0, 9)]


@on_devices(shape=SHAPES, dtype=DTYPES)
def test_columns(device, case):
    shape, dtype = case["shape"], np.dtype(case["dtype"])
    rows, w, wide = random_values(shape, dtype), random_values(shape[1], dtype, 1), accumulator(dtype)
    z = device.columns(rows)
    # Products of numbers in single precision are rounded before they are summed in double.
    tolerance = 20 * np.finfo(dtype).eps * shape[1] ** 0.5
    if shape[0]:
        expected = rows.conj().astype(wide) @ w.astype(wide)
        np.testing.assert_allclose(restricted(device, z, w), expected, rtol=0, atol=tolerance)
    a = random_values(shape[0], wide, 2)
    check_moves(device, z, w, a, a @ rows.astype(wide), 20)


def diffusion(grid, dtype=float):
    """-div(c grad u) with random c and one Dirichlet side, so that rows sum to zero away from it."""
    rng = np.random.default_rng(0)
    lower, main = [], np.zeros(grid)
    for axis in reversed(range(len(grid))):
        low = np.array(-rng.uniform(0.1, 1, grid))
        np.moveaxis(low, axis, 0)[0] = 0
        main -= low
        np.moveaxis(main, axis, 0)[:-1] -= np.moveaxis(low, axis, 0)[1:]
        lower.append(low.ravel().astype(dtype))
    np.moveaxis(main, -1, 0)[0] += 1
    turn = np.exp(0.7j) if np.dtype(dtype).kind == "c" else 1
    return BandStencil(grid, main.ravel().astype(dtype), tuple((low * turn).astype(dtype) for low in lower))


def check_compact_columns(device, az, w, a):
    check_update(device, device.compact_columns(az), az, w, a)


def check_update(device, columns, az, w, a):
    """w - AZ a, after an update by NaN, nothing of which may stay."""
    dense_az = az.toarray()
    columns.subtract(device.array(w.copy(), w.dtype), device.array(np.full_like(a, np.nan), a.dtype))
    x = device.array(w.copy(), w.dtype)
    columns.subtract(x, device.array(a, a.dtype))
    tolerance = 20 * np.finfo(w.dtype).eps * (1 + np.abs(dense_az).max(initial=0))
    np.testing.assert_allclose(device.to_host(x), w - dense_az @ a, rtol=0, atol=tolerance)


def check_az(operator, labels):
    """A Z, Z^T A Z and updates with A Z, against dense matrices."""
    count, dtype = int(labels.max()) + 1, operator.dtype
    Z = dense(labels, count).toarray().astype(dtype)
    expected = operator.to_csr().toarray() @ Z
    az = sparse_az(operator, labels, count)
    tolerance = 50 * np.finfo(dtype).eps * np.abs(operator.diagonal()).max()
    assert az.dtype == dtype
    np.testing.assert_allclose(az.toarray(), expected, rtol=0, atol=tolerance)
    E = galerkin_matrix(az, labels, count).toarray()
    np.testing.assert_allclose(E, Z.T @ expected, rtol=0, atol=tolerance * labels.size)
    a, w = random_values(count, accumulator(dtype), 1), random_values(labels.size, dtype, 2)
    check_compact_columns(CPU, az, w, a)
    assert CPU.compact_columns(az).entries == az.nnz
    return az


@pytest.mark.parametrize("dtype", DTYPES)
def test_az_of_a_matrix(dtype):
    check_az(random_matrix(101, dtype), rng_labels(101, 7))


@pytest.mark.parametrize(
    ("grid", "count", "dtype"),
    [
        *[((1,), 1, float), ((9,), 3, float), ((6, 7), 5, float), ((1, 6), 2, float), ((6, 1), 6, float)],
        *[((3, 4, 5), 4, float), ((2, 1, 3), 2, float), ((6, 7), 5, complex)],
    ],
)
def test_az_of_a_stencil(grid, count, dtype):
    size = int(np.prod(grid))
    check_az(diffusion(grid, dtype), np.arange(size) * count // size)
    check_az(diffusion(grid, dtype), rng_labels(size, count))


def test_only_rows_at_interfaces_are_stored():
    # Two halves of a box of 8 x 8 cells: A maps the inside of each to zero, but for the Dirichlet side at x = 0.
    labels = np.repeat([0, 1], 32)
    az = check_az(diffusion((8, 8)), labels)
    rows = np.flatnonzero(np.diff(az.indptr))
    y, x = np.divmod(rows, 8)
    assert set(zip(y, x, strict=True)) == {(y, x) for y in range(8) for x in range(8) if y in (3, 4) or x == 0}


@on_devices(space=["even stripes", "random labels", "one", "empty"], dtype=DTYPES)
def test_columns_by_diagonals(device, case):
    """Of a 2D grid with stripes, whose labels follow from the row, and of labels that do not; next to dense AZ."""
    dtype, grid = np.dtype(case["dtype"]), (9, 12)
    size, count = 108, {"even stripes": 18, "random labels": 5}.get(case["space"], 1)
    labels = rng_labels(size, count) if case["space"] == "random labels" else np.arange(size) * count // size
    az = sparse_az(diffusion(grid, dtype), labels.astype(np.int32), count)
    az = az * 0 if case["space"] == "empty" else az
    az.eliminate_zeros()
    found = storage.stored_az(az, labels)
    assert found.values - found.padding == az.nnz
    assert (found.width, found.indices) == {
        "even stripes": (5, 5), "random labels": (9, 9 + size), "one": (1, 1), "empty": (1, 1)
    }[case["space"]]  # fmt: skip
    a, w = random_values(count, accumulator(dtype), 2), random_values(size, dtype, 1)
    columns = device.diagonal_columns(az, labels.astype(np.int32))
    check_update(device, columns, az, w, a)
    assert columns.traffic >= found.nbytes(dtype.itemsize) + 2 * size * dtype.itemsize


@on_devices(form=["scattered", "empty", "all cores"], dtype=DTYPES)
def test_compact_columns(device, case):
    """Of rows of which most are empty, and of rows for many chunks on all cores."""
    dtype, rng = np.dtype(case["dtype"]), np.random.default_rng(0)
    size, count = (2 * WORTH_SHARING + 10, 2) if case["form"] == "all cores" else (3001, 7)
    values = random_values((size, count), dtype)
    if case["form"] == "all cores":
        values[1::2] = 0
    else:
        values *= (rng.random((size, count)) < 0.2) * (rng.random((size, 1)) < 0.3) * (case["form"] != "empty")
    a = random_values(count, accumulator(dtype), 2)
    check_compact_columns(device, sparse.csr_array(values), random_values(size, dtype, 1), a)


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


RESTRICTED = {
    "scattered": (diffusion, (40, 25), rng_labels(1000, 13)),
    "one subdomain": (diffusion, (7,), LABELS["one subdomain"]),
    "runs of length 1": (diffusion, (5, 3), LABELS["runs of length 1"]),
    "all cores": (diffusion, (WORTH_SHARING // 100, 103), np.arange(WORTH_SHARING // 100 * 103) // 37),
    "a matrix": (random_matrix, 101, rng_labels(101, 7)),
}


@on_devices(name=list(RESTRICTED), dtype=DTYPES)
def test_a_product_that_restricts(device, case):
    """The cores restrict a stencil's product where it is made; a matrix and an accelerator after it."""
    make, size, labels = RESTRICTED[case["name"]]
    dtype, labels = np.dtype(case["dtype"]), labels.astype(np.int32)
    operator, count = make(size, dtype), int(labels.max()) + 1
    x, out = random_values(labels.size, dtype), device.zeros(labels.size, dtype)
    product = device.restricted_product(operator.bind(device), device.subdomains(labels, count, dtype))
    dots, coarse = product.apply(device.array(x, dtype), out, "xy")
    expected, found = operator.to_csr() @ x, device.to_host(out)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=20 * np.finfo(dtype).eps * scale)
    sums = dense(labels, count).T @ found.astype(accumulator(dtype))
    np.testing.assert_allclose(device.to_host(coarse), sums, rtol=1e-12, atol=1e-13 * scale * labels.size)
    np.testing.assert_allclose(on_host(dots)[0], np.vdot(x, found), rtol=100 * np.finfo(dtype).eps)
    if device is CPU:
        assert product.saved == (x.nbytes if isinstance(operator, Stencil) else 0)


BOXES = {
    "whole rows": ((6, 8), (2, 2)),
    "rows of one cell": ((5, 7), (5, 7)),
    "one box": ((4, 5, 6), (1, 1, 1)),
    "several chunks": ((40, 50, 60), (10, 10, 15)),
    "rows that differ": ((5, 9), (2, 4)),
    "sides of four": ((8, 52, 36), (2, 13, 9)),
    "sides of eight in 2D": ((24, 88), (3, 11)),
}


@on_devices(name=list(BOXES), phases=[1, 4], dtype=DTYPES)
def test_subdomains_of_boxes_equal_those_of_their_labels(device, case):
    """Their restriction, what they add and subtract with dot products, and products and residuals that restrict."""
    (grid, per_side), dtype = BOXES[case["name"]], np.dtype(case["dtype"])
    labels, boxes = numbered_parts(np.random.default_rng(0).integers(0, case["phases"], grid), grid, per_side)
    count, size = boxes.box.size, labels.size
    operator, Z = grid_stencil(grid, dtype), dense(labels, count)
    z = device.subdomains(labels, count, dtype, boxes)
    w, b = random_values((2, size), dtype)
    tolerance = 100 * np.finfo(dtype).eps
    np.testing.assert_allclose(restricted(device, z, w), Z.T @ w, rtol=tolerance, atol=tolerance * size**0.5)
    a = random_values(count, accumulator(dtype), 2)
    x, placed, on_device = (device.array(values.copy(), values.dtype) for values in (w, b, a))
    dots, moved = on_host(z.add_paired(x, on_device, placed)), w + Z @ a
    np.testing.assert_allclose(device.to_host(x), moved, rtol=tolerance, atol=tolerance)
    products = [np.vdot(b, moved), np.vdot(moved, moved), np.vdot(b, b)]
    np.testing.assert_allclose(dots, products, rtol=10 * tolerance, atol=tolerance * size)
    z.subtract(x, on_device)
    np.testing.assert_allclose(device.to_host(x), w, rtol=tolerance, atol=2 * tolerance)
    product, out = device.restricted_product(operator.bind(device), z), device.zeros(size, dtype)
    coarse = device.to_host(product.apply(device.array(w, dtype), out)[1]).copy()
    expected = operator.to_csr() @ w
    np.testing.assert_allclose(device.to_host(out), expected, rtol=0, atol=tolerance * np.abs(expected).max())
    near = {"rtol": tolerance, "atol": 20 * tolerance * size**0.5}
    np.testing.assert_allclose(coarse, Z.T @ expected, **near)
    coarse = device.to_host(product.residual(placed, device.array(w, dtype), device.zeros(size, dtype)))
    np.testing.assert_allclose(coarse, Z.T @ (b - expected), **near)
    if dtype.kind == "c":
        return
    operator = TwoPhaseStencil(grid, some_faces(grid), dtype)
    product = device.restricted_product(operator.bind(device), z)
    coarse = device.to_host(product.residual(placed, device.array(w, dtype), device.zeros(size, dtype)))
    np.testing.assert_allclose(coarse, Z.T @ (b - operator.to_csr() @ w), **near)
    if isinstance(device, Accelerator) and case["name"].startswith("sides"):
        assert isinstance(product, ResidualOfBoxes) != device.layout.chunked
    if isinstance(product, ResidualOfBoxes):
        dots, residuals, of_b = product.paired(placed, device.array(w, dtype))
        np.testing.assert_allclose(device.to_host(residuals), coarse, **near)
        np.testing.assert_allclose(device.to_host(of_b), Z.T @ b, **near)
        found = product.complete(dots, of_b, device.array(a.real, accumulator(dtype))).to_host()
        expected = [b @ (w + Z @ a.real), 0, b @ b]
        np.testing.assert_allclose(found, expected, rtol=10 * tolerance, atol=tolerance * size)


def some_faces(grid):
    """Codes of two random phases, with a side that is open."""
    phase, sides = np.random.default_rng(3).integers(0, 2, grid), [False, *[True] * (2 * len(grid) - 1)]
    codes = face_codes(phase, (1.0, 0.5, 0.25), sides, (2.0, 3.0))
    assert codes is not None
    return codes


def definite(size, width, dtype):
    """A banded Hermitian positive definite matrix."""
    whole = random_values((size, size), dtype)
    whole = np.triu(np.tril(whole, width), -width)
    return whole @ whole.conj().T + size * np.eye(size)


@on_accelerators(
    form=["dense", "band", "band of many vectors", "host"],
    size_and_width=[(1, 0), (5, 1), (150, 70)],
    dtype=["float64", "complex128"],
)
def test_coarse_solves(accelerator, monkeypatch, case):
    form, dtype, (size, width) = case["form"], case["dtype"], case["size_and_width"]
    if form == "band of many vectors":
        monkeypatch.setattr(coarse, "MOST_DENSE_ON_GPU", 0)
    matrix, count = definite(size, width, dtype), size + 1
    order = np.random.default_rng(1).permutation(size)
    inverse = np.linalg.inv(matrix)

    def on_the_host(a):
        return np.append(inverse @ a[:size], 0)

    shape = None
    if form == "dense":
        shape = Dense(inverse)
    if form.startswith("band"):
        turned = matrix[order][:, order]
        factor = linalg.cholesky(turned, lower=True)
        band = np.zeros((size, size), dtype)
        for k in range(size):
            band[k, : size - k] = np.diag(factor, -k)
        shape = Banded(band, order)
    level = accelerator.coarse_level(shape, on_the_host, count, matrix.dtype)
    a = random_values(count, dtype, 3)
    solved = level.solve(accelerator.array(a, a.dtype))
    np.testing.assert_allclose(accelerator.to_host(solved), on_the_host(a), rtol=0, atol=1e-12)
    assert level.waits == (form == "host")
    dots = accelerator.dots(a.dtype).apply(*[accelerator.array(a, a.dtype)] * 2)
    level.correct_curvature(dots, accelerator.array(a, a.dtype), solved)
    np.testing.assert_allclose(dots.to_host()[0], np.vdot(a, a) - np.vdot(a, on_the_host(a)), rtol=1e-12)


def test_az_of_a_matrix_of_many_chunks_of_rows():
    size, count = 3 * CHUNK, 40
    rng = np.random.default_rng(0)
    A = sparse.random_array((size, size), density=3 / size, rng=rng)
    A = sparse.csr_array(A + A.T + 10 * sparse.eye_array(size))
    labels = rng_labels(size, count)
    az = sparse_az(Matrix(A), labels, count)
    assert az.has_sorted_indices
    assert abs(az - A @ dense(labels, count)).max() <= 1e-14 * 10
