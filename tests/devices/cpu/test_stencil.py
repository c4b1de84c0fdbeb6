"""Products with stencils and with their triangular halves against the dense matrix, the same from a loop over cells."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

from tests.conftest import random_values
from workbench.devices.cpu import Cpu
from workbench.jit.threads import CHUNK, WORTH_SHARING
from workbench.lines.types import accumulator

CPU = Cpu()
# Grids as (.., y, x): sides of one cell, odd sides, fewer rows than the largest stride reaches over.
SMALL = {
    1: [(1,), (2,), (7,)],
    2: [(1, 1), (1, 6), (6, 1), (2, 2), (5, 7), (8, 3)],
    3: [(1, 1, 1), (1, 1, 5), (1, 5, 1), (5, 1, 1), (1, 3, 4), (3, 1, 4), (3, 4, 1), (2, 2, 2), (3, 5, 4), (2, 7, 5)],
}
# One chunk and the border to two; several chunks on one core; more than WORTH_SHARING on all of them; a plane of more
# cells than a chunk, so that whole chunks lie at the edge of the box.
LARGE = {
    1: [(CHUNK - 1,), (2 * CHUNK + 1,), (WORTH_SHARING + 3,)],
    2: [(181, 181), (3, 20001), (401, 333)],
    3: [(41, 43, 31), (2, 211, 317), (3, 150, 301)],
}


def random_stencil(grid, dtype, seed=0):
    """Arrays and strides of a random stencil, nothing dominant, complex Hermitian for a complex dtype."""
    rng = np.random.default_rng(seed)
    count = int(np.prod(grid))

    def values(shape):
        real = rng.uniform(-1, 1, shape)
        return real + 1j * rng.uniform(-1, 1, shape) if np.dtype(dtype).kind == "c" else real

    lower, strides = [], []
    for k, axis in enumerate(range(len(grid) - 1, -1, -1)):
        low = values(grid)
        low[(slice(None),) * axis + (0,)] = 0
        lower.append(low.ravel().astype(dtype))
        strides.append(int(np.prod(grid[::-1][:k])))
    return rng.uniform(-1, 1, count).astype(dtype), tuple(lower), tuple(strides)


def random_vectors(count, number, dtype, seed=1):
    return tuple(random_values((number, count), dtype, seed))


def assembled(main, lower, strides):
    """The same matrix from its bands; the tests of operators hold this to a loop over cells."""
    count = main.size
    whole = sparse.diags_array([main], offsets=[0], dtype=main.dtype).tocsr()
    for low, stride in zip(lower, strides, strict=True):
        if stride < count:
            band = sparse.diags_array([low[stride:]], offsets=[-stride], shape=(count, count), dtype=main.dtype).tocsr()
            whole = whole + band + band.conj().T
    return sparse.csr_array(whole)


def looped(grid, main, lower):
    """The dense matrix, cell by cell."""
    count = main.size
    number = np.arange(count).reshape(grid)
    dense = np.diag(main).astype(main.dtype)
    for cell in itertools.product(*(range(side) for side in grid)):
        for k, low in enumerate(lower):
            axis = len(grid) - 1 - k
            if cell[axis] > 0:
                below = (*cell[:axis], cell[axis] - 1, *cell[axis + 1 :])
                i, j = number[cell], number[below]
                dense[i, j] += low[i]
                dense[j, i] += np.conj(low[i])
    return dense


def assert_near(found, expected, dtype, size=1.0):
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=0, atol=20 * np.finfo(dtype).eps * size)


def assert_dots(found, left, right):
    """(left, right), (right, right), (left, left) of the vectors as they are, to the random walk of N roundings."""
    wide = accumulator(left.dtype)
    left, right = left.astype(wide), right.astype(wide)
    expected = [np.vdot(left, right), np.vdot(right, right), np.vdot(left, left)]
    scale = np.linalg.norm(left) ** 2 + np.linalg.norm(right) ** 2
    assert found.dtype == wide
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15 * (1 + left.size**0.5) * scale)


def check_product(grid, dtype):
    main, lower, strides = random_stencil(grid, dtype)
    matrix = looped(grid, main, lower) if main.size < 200 else assembled(main, lower, strides)
    product = CPU.stencil(main, lower, strides)
    for seed in (1, 2):
        (x,) = random_vectors(main.size, 1, dtype, seed)
        kept, out = x.copy(), np.full_like(x, np.nan)
        dots = product.apply(x, out)
        assert_near(out, matrix @ x, dtype)
        assert_dots(dots, x, out)
        np.testing.assert_array_equal(x, kept)


@pytest.mark.parametrize("grid", [grid for grids in SMALL.values() for grid in grids], ids=str)
def test_products_on_small_boxes(grid):
    check_product(grid, np.float64)


@pytest.mark.parametrize("grid", [grid for grids in LARGE.values() for grid in grids], ids=str)
def test_products_on_large_boxes(grid):
    check_product(grid, np.float64)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128"])
def test_products_in_every_dtype(dtype):
    for grid in (*SMALL[2], *LARGE[2]):
        check_product(grid, np.dtype(dtype))


@pytest.mark.parametrize("dtype", ["complex128"])
def test_hermitian_products_in_three_dimensions(dtype):
    for grid in (*SMALL[3], LARGE[3][1]):
        check_product(grid, np.dtype(dtype))


def test_a_complex_product_is_hermitian():
    main, lower, strides = random_stencil((5, 7), complex)
    x, y = random_vectors(35, 2, complex)
    product = CPU.stencil(main, lower, strides)
    ax, ay = np.empty_like(x), np.empty_like(y)
    product.apply(x, ax)
    product.apply(y, ay)
    assert abs(np.vdot(x, ay) - np.vdot(ax, y)) < 1e-13
    assert np.any(lower[0].imag)


def test_dot_products_of_single_precision_are_summed_in_double():
    # Each square is 1e40, beyond single precision.
    x = np.full(5, 1e20, np.float32)
    dots = CPU.stencil(np.full(5, 2, np.float32), (np.zeros(5, np.float32),), (1,)).apply(x, np.empty_like(x))
    np.testing.assert_allclose(dots, [10e40, 20e40, 5e40], rtol=1e-6)


def test_not_a_number_does_not_outlive_its_vector():
    main, lower, strides = random_stencil((2 * CHUNK + 1,), float)
    product = CPU.stencil(main, lower, strides)
    (x,) = random_vectors(main.size, 1, float)
    out = np.empty_like(x)
    assert np.isnan(product.apply(np.full_like(x, np.nan), out)).all()
    assert_dots(product.apply(x, out), x, out)


def test_read_only_arrays_serve_as_a_stencil():
    main, lower, strides = random_stencil((7,), float)
    expected = assembled(main, lower, strides)
    for values in (main, *lower):
        values.setflags(write=False)
    (x,) = random_vectors(7, 1, float)
    out = np.empty(7)
    CPU.stencil(main, lower, strides).apply(x, out)
    assert_near(out, expected @ x, float)


def test_traffic_and_flops():
    main, lower, strides = random_stencil((2, 3, 4), float)
    product = CPU.stencil(main, lower, strides)
    assert product.traffic == 6 * 24 * 8  # main, three lower, x in; out
    assert product.flops == 7 * 2 * 24
    main, lower, strides = random_stencil((3, 4), np.complex64)
    product = CPU.stencil(main, lower, strides)
    assert product.traffic == 5 * 12 * 8
    assert product.flops == 5 * 8 * 12


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_a_constant_diagonal_is_read_as_one_number(dtype):
    for grid in (*SMALL[2], LARGE[2][2]):
        main, lower, strides = random_stencil(grid, np.dtype(dtype))
        main[:] = 4
        product = CPU.stencil(main, lower, strides)
        (x,) = random_vectors(main.size, 1, np.dtype(dtype))
        out = np.empty_like(x)
        dots = product.apply(x, out)
        assert_near(out, assembled(main, lower, strides) @ x, np.dtype(dtype))
        assert_dots(dots, x, out)
        assert product.traffic == 4 * main.nbytes
