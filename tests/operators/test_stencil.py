"""Stencils: messages of refusals, and the assembled matrix compared with a loop over cells."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.conftest import DTYPES
from workbench.devices.cpu import Cpu
from workbench.errors import InputError
from workbench.operators import BandStencil, Operator

GRIDS = [(1,), (2,), (9,), (1, 1), (1, 6), (6, 1), (4, 5), (1, 1, 4), (1, 4, 1), (4, 1, 1), (1, 3, 4), (3, 4, 5)]


def random_stencil(grid, dtype=float, zeros=0.2, seed=0):
    """Random faces, a fifth of them zero, and a positive diagonal; imaginary parts on the faces of a complex one."""
    rng = np.random.default_rng(seed)
    lower = []
    for k in range(len(grid)):
        low = rng.uniform(-1, 1, grid) * (rng.random(grid) > zeros)
        if np.dtype(dtype).kind == "c":
            low = low * np.exp(1j * rng.uniform(0, 6, grid))
        np.moveaxis(low, -1 - k, 0)[0] = 0
        lower.append(low.ravel().astype(dtype))
    return BandStencil(grid, rng.uniform(1, 2, int(np.prod(grid))).astype(dtype), tuple(lower))


def dense(stencil):
    """The matrix by its definition: i = x + nx*(y + ny*z), and lower[k][i] couples i to its lower neighbour in k."""
    grid = stencil.grid
    sizes = grid[::-1]
    matrix = np.diag(stencil.main).astype(stencil.dtype)
    for cell in itertools.product(*(range(side) for side in sizes)):  # x first
        i = sum(cell[k] * int(np.prod(sizes[:k])) for k in range(len(sizes)))
        for k, low in enumerate(stencil.lower):
            if cell[k] > 0:
                j = i - int(np.prod(sizes[:k]))
                matrix[i, j] += low[i]
                matrix[j, i] += np.conj(low[i])
    return matrix


def arrays(grid=(3, 4), dtype=float):
    stencil = random_stencil(grid, dtype, zeros=0)
    return stencil.main.copy(), [low.copy() for low in stencil.lower]


def refusal(grid, main, lower):
    with pytest.raises(InputError) as caught:
        BandStencil(grid, main, tuple(lower))
    return str(caught.value)


@pytest.mark.parametrize("grid", GRIDS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_assembled_matrix_agrees_with_the_definition(grid, dtype):
    stencil = random_stencil(grid, dtype)
    assembled, expected = stencil.to_csr(), dense(stencil)
    assert assembled.dtype == stencil.dtype == np.dtype(dtype)
    assert assembled.has_canonical_format
    np.testing.assert_array_equal(assembled.toarray(), expected)
    assert stencil.nnz == assembled.nnz == np.count_nonzero(expected)
    np.testing.assert_array_equal(stencil.diagonal(), np.diag(expected))
    assert stencil.shape == assembled.shape


def test_a_zero_diagonal_entry_is_not_stored():
    stencil = BandStencil((3,), np.array([1.0, 0.0, 1.0]), (np.array([0.0, 0.5, 0.0]),))
    assert stencil.nnz == stencil.to_csr().nnz == 4


def test_assembly_does_not_modify_the_arrays():
    stencil = random_stencil((3, 4), complex)
    before = [values.copy() for values in (stencil.main, *stencil.lower)]
    stencil.to_csr()
    for values, kept in zip((stencil.main, *stencil.lower), before, strict=True):
        np.testing.assert_array_equal(values, kept)


def test_strides_are_index_distances_in_x_y_and_z():
    assert random_stencil((3, 4, 5)).strides == (1, 5, 20)
    assert random_stencil((4, 1)).strides == (1, 1)


def test_binding_to_the_cpu_does_not_copy():
    stencil = random_stencil((3, 4))
    assert isinstance(stencil, Operator)
    x, out = np.arange(12.0), np.empty(12)
    dots = stencil.bind(Cpu()).apply(x, out)
    np.testing.assert_allclose(out, dense(stencil) @ x, rtol=1e-13)
    np.testing.assert_allclose(dots, [x @ out, out @ out, x @ x], rtol=1e-13)
    with pytest.raises(AttributeError, match="no setter"):
        stencil.main = x


def test_a_wrong_number_of_lower_arrays_is_refused():
    main, lower = arrays()
    assert refusal((3, 4), main, lower[:1]) == "a grid of 2 dimensions needs as many lower arrays, got 1"
    assert refusal((12,), main, lower) == "a grid of 1 dimensions needs as many lower arrays, got 2"


def test_a_wrong_shape_is_refused():
    main, lower = arrays()
    assert refusal((3, 5), main, lower) == (
        "stencil array main must have shape (15,) and dtype float64, got (12,) and float64"
    )
    assert refusal((3, 4), main, [lower[0], lower[1][:-1]]) == (
        "stencil array lower[1] must have shape (12,) and dtype float64, got (11,) and float64"
    )
    assert refusal((3, 4), main, [lower[0].reshape(3, 4), lower[1]]) == (
        "stencil array lower[0] must have shape (12,) and dtype float64, got (3, 4) and float64"
    )


def test_a_wrong_dtype_is_refused():
    main, lower = arrays()
    assert refusal((3, 4), main, [lower[0].astype(np.float32), lower[1]]) == (
        "stencil array lower[0] must have shape (12,) and dtype float64, got (12,) and float32"
    )
    whole = np.ones(12, int)
    assert refusal((3, 4), whole, [0 * whole, 0 * whole]) == (
        "stencil arrays must be float32, float64, complex64 or complex128, got int64"
    )


@pytest.mark.parametrize("grid", [(), (0,), (3, 0), (-2, -2)], ids=str)
def test_an_empty_grid_is_refused(grid):
    none = np.zeros(abs(int(np.prod(grid))))
    assert refusal(grid, none, [none] * len(grid)) == (
        f"a stencil needs at least one cell per side, got the grid {grid}"
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_first_nonfinite_entry_is_named(bad):
    main, lower = arrays()
    main[7] = bad
    assert refusal((3, 4), main, lower) == "stencil array main holds NaN or infinity at unknown 7"
    main, lower = arrays()
    lower[1][9] = lower[1][11] = bad
    assert refusal((3, 4), main, lower) == "stencil array lower[1] holds NaN or infinity at unknown 9"


def test_a_coupling_across_the_boundary_is_refused():
    sentence = "stencil array lower[{}] couples across the edge of the box; those entries must be 0"
    main, lower = arrays()
    lower[0][4] = 0.5  # the first cell of the second row
    assert refusal((3, 4), main, lower) == sentence.format(0)
    main, lower = arrays()
    lower[1][3] = 0.5  # in the first row
    assert refusal((3, 4), main, lower) == sentence.format(1)
    main, lower = arrays((2, 3, 4))
    lower[2][11] = 0.5  # in the first plane
    assert refusal((2, 3, 4), main, lower) == sentence.format(2)


def test_a_side_of_one_cell_has_no_couplings():
    assert refusal((1, 3), np.ones(3), [np.zeros(3), np.array([0, 0, 0.5])]) == (
        "stencil array lower[1] couples across the edge of the box; those entries must be 0"
    )


def test_a_complex_diagonal_is_refused():
    main, lower = arrays(dtype=complex)
    main[5] = 2 + 1j
    assert refusal((3, 4), main, lower) == ("the stencil is not Hermitian: diagonal entry 5 is (2+1j); it must be real")
