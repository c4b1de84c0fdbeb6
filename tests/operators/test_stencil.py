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


LOW = np.zeros(12)
SHAPE = "stencil array {} must have shape ({},) and dtype float64, got {} and float{}"
CELLS = "a stencil needs at least one cell per side, got the grid {}"
FINITE = "stencil array {} holds NaN or infinity at unknown {}"
EDGE = "stencil array lower[{}] couples across the edge of the box; those entries must be 0"


def holding(value, *places, size=12):
    """Zeros but for these places."""
    array = np.zeros(size, np.result_type(value))
    array[list(places)] = value
    return array


@pytest.mark.parametrize(
    ("grid", "main", "lower", "sentence"),
    [
        ((3, 4), LOW, [LOW], "a grid of 2 dimensions needs as many lower arrays, got 1"),
        ((12,), LOW, [LOW, LOW], "a grid of 1 dimensions needs as many lower arrays, got 2"),
        ((3, 5), LOW, [LOW, LOW], SHAPE.format("main", 15, "(12,)", 64)),
        ((3, 4), LOW, [LOW, LOW[:-1]], SHAPE.format("lower[1]", 12, "(11,)", 64)),
        ((3, 4), LOW, [LOW.reshape(3, 4), LOW], SHAPE.format("lower[0]", 12, "(3, 4)", 64)),
        ((3, 4), LOW, [LOW.astype("f4"), LOW], SHAPE.format("lower[0]", 12, "(12,)", 32)),
        (
            (3, 4),
            LOW.astype(int),
            [LOW.astype(int)] * 2,
            "stencil arrays must be float32, float64, complex64 or complex128, got int64",
        ),
        *(
            (grid, np.zeros(size), [np.zeros(size)] * len(grid), CELLS.format(grid))
            for grid, size in (((), 1), ((0,), 0), ((3, 0), 0), ((-2, -2), 4))
        ),
        *(((3, 4), holding(bad, 7), [LOW, LOW], FINITE.format("main", 7)) for bad in (np.nan, np.inf, -np.inf)),
        # The first one is named.
        *(((3, 4), LOW, [LOW, holding(bad, 9, 11)], FINITE.format("lower[1]", 9)) for bad in (np.nan, np.inf, -np.inf)),
        # The first cell of the second row; one in the first row; one in the first plane; a side of one cell.
        ((3, 4), LOW, [holding(0.5, 4), LOW], EDGE.format(0)),
        ((3, 4), LOW, [LOW, holding(0.5, 3)], EDGE.format(1)),
        ((2, 3, 4), np.zeros(24), [np.zeros(24), np.zeros(24), holding(0.5, 11, size=24)], EDGE.format(2)),
        ((1, 3), np.ones(3), [np.zeros(3), holding(0.5, 2, size=3)], EDGE.format(1)),
        (
            (3, 4),
            holding(2 + 1j, 5),
            [LOW.astype(complex)] * 2,
            "the stencil is not Hermitian: diagonal entry 5 is (2+1j); it must be real",
        ),
    ],
)
def test_arrays_that_are_no_stencil_are_refused(grid, main, lower, sentence):
    with pytest.raises(InputError) as caught:
        BandStencil(grid, main, tuple(lower))
    assert str(caught.value) == sentence
