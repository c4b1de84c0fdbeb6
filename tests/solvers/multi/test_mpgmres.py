"""Multipreconditioned GMRES against dense least squares over the space of its terms, and against SciPy's GMRES."""

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator, gmres

from tests.conftest import grid_stencil, random_matrix
from tests.preconditioners.by_hand import CPU, dense_inverse, set_up
from workbench.devices.element_wise import ElementWise
from workbench.errors import InputError
from workbench.preconditioners.schwarz import subdomains
from workbench.registry import blocks as registry
from workbench.run import Run, configure, run_through, solve
from workbench.solvers.multi.arnoldi import LeastSquares
from workbench.solvers.multi.residual_steps import Growth

SMALL = grid_stencil((3, 4))
"""Twelve unknowns, on which `BOXES` are two boxes that overlap."""
BOXES = "schwarz:2x1,overlap=1"


def boxes(operator, grid, sides, overlap):
    """M_i^-1 as dense matrices."""
    A, found = operator.to_csr().toarray(), []
    for box in subdomains.of_grid(grid, sides, overlap):
        part = subdomains.unknowns(grid, box)
        S = np.zeros_like(A)
        S[np.ix_(part, part)] = np.linalg.inv(A[np.ix_(part, part)])
        found.append(S)
    return found


def residuals(A, b, M, solver, count, rtol=1e-12):
    """||r|| of a run, from iteration 0 to `count`."""
    result = solve(A, b, M=M, solver=solver, rtol=rtol, maxiter=count)
    return result.history["residual"][: count + 1]


def least(A, b, Z):
    """The least ||b - A Z y||, by dense least squares with scaled columns."""
    W = A @ Z
    W = W / np.linalg.norm(W, axis=0)
    return np.linalg.norm(b - W @ np.linalg.lstsq(W, b, rcond=1e-12)[0])


def by_dense_least_squares(A, b, S, space, count):
    """Least residuals over explicit spaces, by the words of the method: terms of all iterations and of r in each."""
    Z, found, r, newest = np.zeros((len(b), 0), b.dtype), [np.linalg.norm(b)], b, b[:, np.newaxis]
    V = newest / np.linalg.norm(b)
    for _ in range(count):
        start = r[:, np.newaxis] if space == "residual" else newest
        terms = np.hstack([each @ start for each in S])
        Z = np.hstack([Z, terms])
        W = A @ terms
        for _ in range(2):
            W = W - V @ (V.conj().T @ W)
        u, s, _ = np.linalg.svd(W, full_matrices=False)
        newest = u[:, s > 1e-10 * s[0]]
        V = np.hstack([V, newest])
        y = np.linalg.lstsq(A @ Z, b, rcond=1e-13)[0]
        r = b - A @ Z @ y
        found.append(least(A, b, Z))
    return np.array(found)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize(("space", "count"), [("residual", 4), ("full", 3)])
def test_residuals_are_the_least_over_the_explicit_space(space, count, dtype):
    operator = grid_stencil((3, 4), dtype)
    b = np.random.default_rng(0).standard_normal(12).astype(dtype)
    expected = by_dense_least_squares(operator.to_csr().toarray(), b, boxes(operator, (3, 4), (2, 1), 1), space, count)
    found = residuals(operator, b, BOXES, f"mpgmres:space={space}", count)
    np.testing.assert_allclose(found, expected[: found.size], rtol=1e-8, atol=1e-11 * expected[0])
    assert found.size > 2


def test_the_space_of_sums_lies_in_the_full_one():
    operator, b = grid_stencil((7, 8)), np.random.default_rng(1).standard_normal(56)
    by_sum = residuals(operator, b, "schwarz:2x2,overlap=1", "mpgmres:space=sum", 3)
    full = residuals(operator, b, "schwarz:2x2,overlap=1", "mpgmres:space=full", 3)
    # The terms of r are the first of both.
    np.testing.assert_allclose(by_sum[:2], full[:2], rtol=1e-10)
    assert (full <= by_sum[: full.size] * (1 + 1e-10)).all()
    assert by_sum[-1] < 0.3 * by_sum[0]


@pytest.mark.parametrize("space", ["residual", "sum", "full"])
@pytest.mark.parametrize("M", ["none", "jacobi", "ic", "chebyshev:3"])
def test_one_preconditioner_is_gmres(M, space):
    operator = random_matrix(61, seed=2)
    A, b = operator.to_csr(), np.random.default_rng(0).standard_normal(61)
    made = set_up(M, operator)
    inverse = dense_inverse(CPU.applied(made, 61, operator.dtype) if isinstance(made, ElementWise) else made, operator)
    seen = []
    # From the right: A M^-1 w = b, whose residual is that of x = M^-1 w.
    right = LinearOperator((61, 61), matvec=lambda w: A @ (inverse @ w))
    gmres(right, b, rtol=1e-9, restart=61, maxiter=1, callback=seen.append, callback_type="pr_norm")
    result = solve(operator, b, M=M, solver=f"mpgmres:space={space}", rtol=1e-9)
    assert result.converged
    assert result.iterations == len(seen)
    found = result.history["residual"] / np.linalg.norm(b)
    np.testing.assert_allclose(found[1:], seen, rtol=1e-5)


def test_the_full_space_is_at_least_as_good_as_gmres_with_each_and_as_mpcg():
    operator, b = grid_stencil((9, 8)), np.random.default_rng(3).standard_normal(72)
    full = residuals(operator, b, "jacobi + ic", "mpgmres:space=full", 4)
    for M, solver in (("jacobi", "mpgmres"), ("ic", "mpgmres"), ("jacobi + ic", "mpcg"), ("jacobi + ic", "mpgmres")):
        other = residuals(operator, b, M, solver, 4)
        assert (full <= other * (1 + 1e-10)).all(), (M, solver)
    assert full[-1] < 0.9 * residuals(operator, b, "ic", "mpgmres", 4)[-1]


def test_the_first_step_has_the_least_residual_in_the_space_of_mpcg():
    operator, b = grid_stencil((9, 8)), np.random.default_rng(4).standard_normal(72)
    ours, other = (residuals(operator, b, "schwarz:3x2,overlap=1", name, 1)[1] for name in ("mpgmres", "mpcg"))
    S = boxes(operator, (9, 8), (3, 2), 1)
    expected = least(operator.to_csr().toarray(), b, np.column_stack([each @ b for each in S]))
    assert ours == pytest.approx(expected, rel=1e-10)
    assert expected < other


def test_restarts_drop_all_terms():
    operator, b = grid_stencil((9, 8)), np.random.default_rng(5).standard_normal(72)
    whole = residuals(operator, b, BOXES, "mpgmres", 6)
    found = residuals(operator, b, BOXES, "mpgmres:restart=2", 6)
    np.testing.assert_allclose(found[:3], whole[:3], rtol=1e-10)
    assert (np.diff(found) <= 0).all()
    assert found[-1] > whole[-1]
    # After a restart it is a run from the residual.
    begun = solve(operator, b, M=BOXES, solver="mpgmres", maxiter=2, rtol=1e-12)
    again = residuals(operator, b - operator.to_csr() @ begun.x, BOXES, "mpgmres", 2)
    np.testing.assert_allclose(found[2:5], again, rtol=1e-8)


@pytest.mark.parametrize("space", ["residual", "sum", "full"])
def test_equal_preconditioners_are_one(space):
    operator, b = grid_stencil((9, 8)), np.ones(72)
    result = solve(operator, b, M="ic + ic", solver=f"mpgmres:space={space}", rtol=1e-9)
    assert result.converged
    assert "search directions that depend on others were dropped" in result.provenance["notes"]
    assert result.iterations == solve(operator, b, M="ic", solver="mpgmres", rtol=1e-9).iterations


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-10), (np.float32, 1e-4)])
def test_a_residual_that_no_term_reduces_is_left_by_the_sum(dtype, rtol):
    """(r, A M^-1 r) = 0 for r = b, though both are positive definite: the first step is zero, up to rounding."""
    A, S = np.diag([1.0, 100.0]).astype(dtype), np.array([[1.0, 1.0], [1.0, 2.0]], dtype)
    b = np.array([1.0, (np.sqrt(101**2 - 800) - 101) / 400], dtype)
    assert b @ A @ S @ b == pytest.approx(0, abs=100 * float(np.finfo(dtype).eps))
    result = solve(A, b, M=S, solver="mpgmres", rtol=rtol, maxiter=20)
    assert result.history["residual"][1] == pytest.approx(np.linalg.norm(b), rel=1e-6)
    assert result.converged
    assert result.iterations == 2


def test_memory_of_the_full_space_is_bounded():
    chosen = {"preconditioner": "schwarz:4x4,overlap=1", "n": 25}
    with pytest.raises(
        InputError,
        match=r"4 iteration\(s\) of mpgmres with space=full .* of 16 .* than the 2048 that fit.*restart=2 or less",
    ):
        Run(configure("poisson-fd", solver=registry.find("solver", "mpgmres:full,restart=4"), **chosen))
    free = run_through(Run(configure("poisson-fd", solver="mpgmres", **chosen)))
    result = run_through(Run(configure("poisson-fd", solver="mpgmres", memory_limit=24**2 * 8 * 200, **chosen)))
    assert result.converged
    assert result.iterations >= free.iterations
    assert any("iterations fit the memory; they are dropped" in note for note in result.provenance["notes"])
    with pytest.raises(InputError, match=r"1 iteration\(s\) of mpgmres .* take fewer preconditioners"):
        Run(configure("poisson-fd", solver="mpgmres", memory_limit=24**2 * 8 * 24, **chosen))


def test_growth_counts_the_applications_of_a_full_space():
    """1 in the first iteration, 1 + 3 in two, 1 + 3 + 9 in three."""
    growth = Growth("full")
    assert [growth.iterations(most, 3) for most in (-1, 0, 1, 3, 4, 12, 13)] == [0, 0, 1, 1, 2, 2, 3]
    assert Growth("sum").iterations(12, 3) == 12


@pytest.mark.parametrize("restart", [2000, 10**6])
def test_a_full_space_of_any_length_is_refused_in_a_sentence(restart):
    found = f"{restart} .*mpgmres with space=full keep more terms of 2 .*; take restart=10 or less"
    with pytest.raises(InputError, match=found):
        solve(SMALL, np.ones(12), M=BOXES, solver=f"mpgmres:full,restart={restart}")


@pytest.mark.parametrize("scale", [1e-300, 1e300])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_a_matrix_of_any_scale(scale, dtype):
    """Without a preconditioner terms do not have the scale of A^-1, and squares of A Z leave the range of numbers."""
    A, b = grid_stencil((5, 6), dtype).to_csr(), np.random.default_rng(6).standard_normal(30).astype(dtype)
    expected = solve(A, b, M="none", solver="mpgmres", rtol=1e-8)
    found = solve(A * scale, b * scale, M="none", solver="mpgmres", rtol=1e-8)
    assert found.converged
    assert abs(found.iterations - expected.iterations) <= 1
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-6, atol=1e-6 * abs(expected.x).max())


def test_least_squares_with_dependent_columns():
    rng = np.random.default_rng(0)
    H, least_squares = np.zeros((0, 0)), LeastSquares(np.dtype(float))
    for rows in (4, 7, 9):
        columns = rng.standard_normal((rows, 3)) * [1, 1e-9, 1e9]
        columns[:, 2] = columns[:, 0] * 2e9
        H = np.hstack([np.pad(H, ((0, rows - H.shape[0]), (0, 0))), columns])
        least_squares.grow(columns)
        assert least_squares.newest == 2
        g = rng.standard_normal(rows)
        y, gain = least_squares.solve(g)
        scaled = H / np.linalg.norm(H, axis=0)
        best = scaled @ np.linalg.lstsq(scaled, g, rcond=1e-12)[0]
        np.testing.assert_allclose(H @ y, best, atol=1e-10)
        assert gain == pytest.approx(best @ best / (g @ g))


def test_on_an_accelerator(accelerator):
    chosen = {"n": 32, "preconditioner": "schwarz:2x2,overlap=2", "solver": "mpgmres"}
    here, there = (run_through(Run(configure("poisson-fd", device=d, **chosen))) for d in ("cpu", accelerator.spec))
    assert there.converged
    assert abs(here.iterations - there.iterations) <= 1
