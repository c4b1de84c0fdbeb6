"""Solves with Kronecker sums on many boxes of an accelerator: by hand, and against dense solves."""

from __future__ import annotations

import functools

import numpy as np

from tests.all_pairs import on_accelerators
from workbench import devices
from workbench.devices.fast_diagonalization import Diagonalized

GRIDS = (
    ((1, 1),),
    ((7,), (1,), (70,)),
    ((3, 2),),
    ((1, 9), (9, 1)),
    ((33, 31), (5, 64), (1, 1), (32, 32), (16, 17)),
    ((2, 3, 5), (7, 1, 4), (1, 1, 33), (9, 10, 11)),
)
PRECISIONS = (("float64", "float64"), ("float64", "float32"), ("float32", "float32"))


def tridiagonal(rng, points):
    """A symmetric positive definite tridiagonal matrix."""
    below = -rng.random(points - 1)
    return np.diag(2 + rng.random(points)) + np.diag(below, 1) + np.diag(below, -1)


def box_of(rng, grid):
    """The dense Kronecker sum of random tridiagonal matrices, and what a device is given of it."""
    parts = [tridiagonal(rng, points) for points in grid]
    pairs = [np.linalg.eigh(part) for part in parts]
    eyes = [np.eye(points) for points in grid]
    places = range(len(grid))
    terms = [functools.reduce(np.kron, [parts[k] if k == axis else eyes[k] for k in places]) for axis in places]
    sums = functools.reduce(np.add.outer, [values for values, _ in pairs])
    return sum(terms), Diagonalized(tuple(vectors for _, vectors in pairs), 1 / sums)


def rounded(box, precision):
    return Diagonalized(tuple(v.astype(precision) for v in box.vectors), box.inverse.astype(precision))


def solved(device, boxes, r, precision):
    made = device.fast_diagonalization([rounded(box, precision) for box in boxes], r.dtype, np.dtype(precision))
    z = device.zeros(r.size, r.dtype)
    made.apply(device.array(r, r.dtype), z)
    return device.to_host(z)


def test_one_unknown_is_divided_by_its_eigenvalue(accelerator):
    box = Diagonalized((np.ones((1, 1)), np.ones((1, 1))), np.full((1, 1), 0.25))
    np.testing.assert_array_equal(solved(accelerator, [box], np.array([6.0]), "float64"), [1.5])


def test_two_unknowns_by_hand(accelerator):
    """A = (2 -1; -1 2) has the eigenvalues 1 and 3; A (2 1)^T = (3 0)^T."""
    vectors = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
    box = Diagonalized((vectors,), np.array([1, 1 / 3]))
    np.testing.assert_allclose(solved(accelerator, [box], np.array([3.0, 0.0]), "float64"), [2, 1], rtol=1e-15)


@on_accelerators(grids=GRIDS, precisions=PRECISIONS)
def test_boxes_of_any_size_are_dense_solves(accelerator, case):
    rng, (dtype, precision) = np.random.default_rng(5), case["precisions"]
    matrices, boxes = zip(*(box_of(rng, grid) for grid in case["grids"]), strict=True)
    parts = [rng.standard_normal(len(matrix)) for matrix in matrices]
    r = np.concatenate(parts).astype(dtype)
    expected = np.concatenate([np.linalg.solve(A, part) for A, part in zip(matrices, parts, strict=True)])
    z = solved(accelerator, boxes, r, precision)
    assert z.dtype == r.dtype
    np.testing.assert_allclose(z, expected, atol=40 * np.finfo(precision).eps * np.abs(expected).max())


def test_boxes_may_share_a_factor(accelerator):
    rng = np.random.default_rng(1)
    (A, one), (B, other) = box_of(rng, (4, 3)), box_of(rng, (2, 5))
    r = rng.standard_normal(34)
    made = accelerator.fast_diagonalization([one, other, one], r.dtype, r.dtype)
    z = accelerator.zeros(34, r.dtype)
    made.apply(accelerator.array(r, r.dtype), z)
    expected = [np.linalg.solve(matrix, part) for matrix, part in ((A, r[:12]), (B, r[12:22]), (A, r[22:]))]
    np.testing.assert_allclose(accelerator.to_host(z), np.concatenate(expected), rtol=1e-12)
    assert not made.waits


def test_float32_inside_takes_any_magnitude(accelerator):
    """Each box is scaled by its own; zeros remain zeros."""
    rng = np.random.default_rng(2)
    matrices, boxes = zip(*(box_of(rng, (3, 5)) for _ in range(3)), strict=True)
    r = np.concatenate([1e-200 * rng.standard_normal(15), 1e200 * rng.standard_normal(15), np.zeros(15)])
    z = solved(accelerator, boxes, r, "float32")
    for A, low in zip(matrices, (0, 15), strict=False):
        expected = np.linalg.solve(A, r[low : low + 15])
        np.testing.assert_allclose(z[low : low + 15], expected, atol=1e-5 * np.abs(expected).max())
    assert not z[30:].any()


def test_bytes_and_operations(accelerator):
    """Four passes over 6 unknowns; 4 and 9 entries of eigenvectors, read twice, and 6 inverse eigenvalues."""
    _, box = box_of(np.random.default_rng(0), (2, 3))
    made = accelerator.fast_diagonalization([box, box], np.dtype(float), np.dtype(float))
    assert made.traffic == 2 * 8 * (4 * 2 * 6 + 2 * 13 + 6)
    assert made.flops == 2 * (4 * 6 * (2 + 3) + 6)


def test_the_cores_leave_it_to_numpy():
    _, box = box_of(np.random.default_rng(0), (2, 3))
    assert devices.device("cpu").fast_diagonalization([box], np.dtype(float), np.dtype(float)) is None
