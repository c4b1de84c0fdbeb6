"""Ritz vectors of runs that terminate early: by rounding, in the null space, or on an indefinite matrix."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

from workbench.errors import InputError
from workbench.run import Reason, RitzKeeper, Run, Stopping, configure, run_through, solve


def tridiagonal(main: float, size: int = 60, dtype: type = np.float64) -> sparse.csr_array:
    off = np.full(size - 1, -1.0)
    return sparse.csr_array(sparse.diags_array([off, np.full(size, main), off], offsets=[-1, 0, 1])).astype(dtype)


def low_rank(rank: int) -> sparse.csr_array:
    vectors = np.random.default_rng(0).random((60, rank))
    return sparse.csr_array(vectors @ vectors.T)


@pytest.mark.parametrize("main", [1.1, 0.3])
def test_an_indefinite_matrix_is_refused(main):
    with pytest.raises(InputError, match=r"ritz: .* \(p, A p\) = -.*the matrix is not positive definite"):
        solve(tridiagonal(main), np.ones(60), deflation="ritz:2")


@pytest.mark.parametrize("rank", [1, 3, 8])
def test_a_matrix_of_low_rank_gives_as_many_directions_as_its_rank(rank):
    A = low_rank(rank)
    result = solve(A, A @ np.ones(60), deflation="ritz:2", rtol=1e-8)
    assert result.converged, result.detail
    assert 1 <= result.summary["deflation_vectors"] <= 2


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("steps", [60, 400])
def test_single_precision_stops_at_the_rounding_level(dtype, steps):
    """More steps than the Krylov space has dimensions: without the stop, norms and alpha would decrease to zero."""
    A = tridiagonal(2.1, dtype=dtype)
    result = solve(A, np.ones(60, dtype), deflation=f"ritz:count=4,steps={steps}", rtol=1e-5)
    assert result.converged, result.detail
    assert result.summary["deflation_vectors"] == 4
    assert result.iterations < solve(A, np.ones(60, dtype), rtol=1e-5, M="none").iterations


@pytest.mark.parametrize("problem", [("bubbles-3d", 17), ("bubbles-3d", 8), ("two-layer", 16)])
@pytest.mark.parametrize("method", ["sa", "rs"])
def test_multigrid_ends_the_preceding_run_early(problem, method):
    pytest.importorskip("pyamg")
    name, n = problem
    chosen = configure(
        name, {"n": n}, preconditioner=f"amg:{method}", deflation="ritz:5", stopping=Stopping(rtol=1e-10)
    )
    result = run_through(Run(chosen))
    assert result.converged, result.detail
    assert result.summary["deflation_vectors"] >= 1


def test_an_indefinite_preconditioner_is_refused():
    with pytest.raises(InputError, match=r"\(r, M\^-1 r\) = -.*the preconditioner is not positive definite"):
        solve(tridiagonal(2.1), np.ones(60), deflation="ritz:2", M=lambda r: -r)


def test_a_run_without_an_iteration_is_refused():
    zero = linalg.LinearOperator((60, 60), matvec=np.zeros_like, dtype=np.float64)
    b = np.arange(60.0)
    with pytest.raises(InputError, match="ended before its first direction, with alpha = 0"):
        solve(zero, b, deflation="ritz:2", M="none")


def test_no_direction_is_stored_after_a_breakdown():
    keeper = RitzKeeper(50)
    # One negative eigenvalue, -1e-3, which CG meets after some iterations.
    pair = 1e-3 * np.array([[1.0, 2.0], [2.0, 1.0]])
    A = sparse.csr_array(sparse.block_diag([pair, sparse.diags_array(np.linspace(1, 9, 58))]))
    result = solve(A, np.random.default_rng(0).random(60), callback=keeper, M="none")
    assert result.reason is Reason.INDEFINITE
    steps = result.iterations - 1
    assert steps > 3
    assert np.isfinite(keeper.vectors(steps)).all()
    with pytest.raises(InputError, match=f"the run made {steps}"):
        keeper.vectors(steps + 1)
