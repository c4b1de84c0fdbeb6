"""Alternating directions: the parts of A, solves on lines, and the short recurrence of two of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tests.conftest import grid_stencil
from tests.preconditioners.by_hand import dense_inverse, set_up
from workbench.errors import InputError
from workbench.operators import BandStencil
from workbench.preconditioners.adi import parts_of
from workbench.run import Run, Stopping, configure, run_through, solve


def dense(part, operator):
    """A part of A as a matrix."""
    size = part.diagonal.size
    below = np.zeros((size, size), operator.dtype)
    rows = np.arange(part.step, size)
    below[rows, rows - part.step] = part.low[part.step :]
    return np.diag(part.diagonal) + below + below.conj().T


def test_parts_of_the_printed_operator_are_those_of_its_two_terms():
    """-u_xx - 10 u_yy on 3 x 3 points: 2 and 20 on the diagonals, at walls too."""
    operator = configure("poisson-fd", n=4, b="10").problem.assemble().operator
    x, y = parts_of(operator)
    line = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(3, 3)).toarray()
    np.testing.assert_allclose(dense(x, operator), np.kron(np.eye(3), line), atol=1e-14)
    np.testing.assert_allclose(dense(y, operator), np.kron(10 * line, np.eye(3)), atol=1e-13)


@pytest.mark.parametrize("grid", [(7,), (5, 7), (1, 6), (3, 4, 5)])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_parts_sum_to_a_and_their_inverses_are_the_preconditioner(grid, dtype):
    operator, rho = grid_stencil(grid, dtype), 0.3
    parts = [dense(part, operator) for part in parts_of(operator)]
    assert len(parts) == sum(side > 1 for side in grid)
    A = operator.to_csr().toarray()
    np.testing.assert_allclose(sum(parts), A, atol=1e-13)
    assert all(np.linalg.eigvalsh(part).min() > -1e-12 for part in parts)
    shifted = [dense(part, operator) for part in parts_of(operator, rho)]
    np.testing.assert_allclose(sum(shifted) - A, rho * np.diag(np.diag(A)), atol=1e-13)
    expected = sum(map(np.linalg.inv, shifted))
    np.testing.assert_allclose(
        dense_inverse(set_up(f"adi:{rho}", operator), operator), expected, rtol=1e-10, atol=1e-12
    )


def test_two_parts_that_sum_to_a_need_the_last_block_alone():
    """Coefficients of x and y, so that the parts do not commute; with a shift all blocks are needed."""

    def residuals(solver, rho):
        problem = {"n": 10, "a": "1 + x", "b": "3 + y*y + x"}
        chosen = configure("poisson-fd", **problem, solver=solver, preconditioner=f"adi:{rho}", rhs="random")
        return run_through(Run(chosen)).history["residual"]

    whole, last = residuals("mpcg", 0), residuals("mpcg:keep=1", 0)
    assert whole.size == last.size
    np.testing.assert_allclose(last[:15], whole[:15], rtol=1e-6)
    whole, last = residuals("mpcg", 0.1), residuals("mpcg:keep=1", 0.1)
    assert last.size > whole.size


def test_each_direction_gives_a_search_direction_and_fewer_iterations_than_the_sum():
    counts = {}
    for solver in ("sum-cg", "mpcg"):
        chosen = configure(
            "poisson-fd", n=32, b="10", solver=solver, preconditioner="adi", stopping=Stopping(rtol=1e-8)
        )
        result = run_through(Run(chosen))
        assert result.converged
        counts[solver] = result.iterations
    assert counts["mpcg"] < 0.6 * counts["sum-cg"]


def test_a_line_that_no_wall_ends_needs_a_shift():
    low = np.array([0.0, -1.0, -1.0, -1.0])
    free = BandStencil((4,), np.array([1.0, 2.0, 2.0, 1.0]), (low,))
    with pytest.raises(
        InputError, match="adi: A along x is singular or not positive definite on a line.*use rho above 0"
    ):
        set_up("adi:0", free)
    b = np.array([1.0, 0.0, 0.0, -1.0])
    assert solve(free, b, M="adi:0.1").converged


def test_a_shift_that_is_too_small_is_told_a_larger_one():
    """Lines along x end at no wall, and a negative shift of A makes them indefinite, though A is not."""
    x, y = np.full((4, 6), -1.0), np.full((4, 6), -1.0)
    x[:, 0], y[0] = 0, 0
    main = np.full((4, 6), 3.65)
    main[:, [0, -1]] -= 1
    operator = BandStencil((4, 6), main.ravel(), (x.ravel(), y.ravel()))
    with pytest.raises(InputError, match=r"use rho above 0\.1, such as adi:0\.2,") as refused:
        set_up("adi:0.1", operator)
    assert refused.value.changes == {"preconditioner.rho": 0.2}
    assert solve(operator, np.arange(24.0), M="adi:0.2").converged


@pytest.mark.parametrize("scale", [1e-200, 1e200])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_a_stencil_of_any_scale(dtype, scale):
    """Squares of its couplings under- or overflow."""
    operator = grid_stencil((3, 4), dtype)
    expected = dense_inverse(set_up("adi", operator), operator)
    scale = operator.dtype.type(scale)
    scaled = BandStencil(operator.grid, operator.main * scale, tuple(low * scale for low in operator.lower))
    np.testing.assert_allclose(dense_inverse(set_up("adi", scaled), scaled) * scale, expected, rtol=1e-10)
