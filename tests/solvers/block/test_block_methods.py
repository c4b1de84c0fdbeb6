"""Methods for many right-hand sides: counts, dependent right-hand sides, one column as CG, breakdowns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from workbench.errors import InputError
from workbench.operators import Matrix
from workbench.problems import LinearSystem
from workbench.registry import find
from workbench.run import Reason, Run, Stopping, configure, solve
from workbench.run.choices.in_memory import InMemoryProblem
from workbench.solvers.block.pseudo_block_cg import PseudoBlockCG

HERMITIAN = ("block-cg", "block-cg-oleary", "bf-block-cg", "pseudo-block-cg")
SYMMETRIC = ("cocg", "block-cocg")


def poisson(n):
    second = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    one = sparse.eye_array(n)
    return sparse.csr_array(sparse.kron(second, one) + sparse.kron(one, second))


def normal(size, columns, seed=0):
    return np.random.default_rng(seed).standard_normal((size, columns))


@pytest.mark.parametrize(("s", "iterations"), [(1, 199), (2, 184), (4, 142), (8, 105), (16, 78)])
def test_iterations_of_block_cg_on_poisson(s, iterations):
    """Counts of an independent prototype in NumPy."""
    A, B = poisson(64), normal(4096, s)
    result = solve(A, B if s > 1 else B[:, 0], solver="block-cg", M="none", rtol=1e-8)
    assert result.converged
    assert result.iterations == pytest.approx(iterations, rel=0.02, abs=1)


def test_pseudo_block_cg_needs_as_many_iterations_as_cg():
    A, B = poisson(32), normal(1024, 4)
    single = [solve(A, b, M="none", rtol=1e-8).iterations for b in B.T]
    together = solve(A, B, solver="pseudo-block-cg", M="none", rtol=1e-8)
    assert [column.iteration for column in together.columns] == single


@pytest.mark.parametrize("method", HERMITIAN)
def test_one_column_is_the_recurrence_of_cg(method):
    A, b = poisson(31), normal(961, 1)[:, 0]
    expected = solve(A, b, M="jacobi", rtol=1e-9)
    found = solve(A, b, solver=method, M="jacobi", rtol=1e-9)
    assert found.iterations == expected.iterations
    for name in ("residual", "natural", "preconditioned", "alpha", "beta"):
        np.testing.assert_allclose(found.history[name][:40], expected.history[name][:40], rtol=1e-9, err_msg=name)


def dependent(kind, size):
    """Eight right-hand sides that depend on one another, and the rank that they have."""
    G = normal(size, 8)
    match kind:
        case "dup":
            return G[:, [0, 0, 1, 1, 2, 2, 3, 3]], 4
        case "rank4":
            return G[:, :4] @ np.random.default_rng(1).standard_normal((4, 8)), 4
        case "zero":
            return G * (np.arange(8) != 3), 7
        case "near":
            return np.column_stack([G[:, 0], G[:, 0] + 1e-10 * G[:, 1], G[:, 2:]]), 8
        case "graded":
            return G * 10.0 ** (-2 * np.arange(8)), 8
    return G, 8


@pytest.mark.parametrize("kind", ["full", "dup", "rank4", "zero", "near", "graded"])
@pytest.mark.parametrize("M", ["none", "ic"])
def test_block_cg_solves_for_dependent_right_hand_sides(kind, M):
    A = poisson(24)
    B, rank = dependent(kind, 576)
    result = solve(A, B, solver="block-cg", M=M, rtol=1e-8)
    assert result.converged, result.reason
    sizes = np.linalg.norm(B, axis=0)
    true = np.linalg.norm(B - A @ result.x, axis=0) / np.where(sizes > 0, sizes, 1)
    assert (true <= 1.01e-8).all()
    assert result.history.rank[0] == rank


def test_the_first_published_block_cg_stops_where_right_hand_sides_depend_on_one_another():
    B, _ = dependent("dup", 576)
    result = solve(poisson(24), B, solver="block-cg-oleary", M="none")
    assert result.reason is Reason.ROUNDING
    assert "take block-cg" in result.detail


@pytest.mark.parametrize("method", HERMITIAN)
@pytest.mark.parametrize("s", [1, 3])
def test_an_indefinite_preconditioner_is_named(method, s):
    A, B = poisson(12), normal(144, s)
    signs = np.where(np.arange(144) % 5 == 0, -1.0, 1.0)
    result = solve(A, B if s > 1 else B[:, 0], solver=method, M=lambda r: signs * r)
    assert result.reason is Reason.INDEFINITE_M


def test_columns_end_on_their_own():
    A, B = poisson(24), normal(576, 3)
    B[:, 1] = A @ np.ones(576)
    B[:, 2] = 0
    result = solve(A, B, solver="pseudo-block-cg", M="none", rtol=1e-8)
    ends = [column.iteration for column in result.columns]
    assert ends[2] == 0
    assert 0 < ends[1] < ends[0] == result.iterations
    assert (result.x[:, 2] == 0).all()


def test_convergence_is_said_of_the_columns_whose_true_residual_agrees():
    A, B = poisson(24), normal(576, 3)
    result = solve(A, B, M="none", maxiter=30, rtol=1e-8)
    assert result.reason is Reason.MAXITER
    assert all(column.reason is Reason.MAXITER for column in result.columns)
    true = np.linalg.norm(B - A @ result.x, axis=0) / np.linalg.norm(B, axis=0)
    np.testing.assert_allclose([column.true_relative_residual for column in result.columns], true, rtol=1e-10)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_right_hand_sides_of_any_size(scale):
    A, B = poisson(16), normal(256, 3) * [scale, 1, 1]
    result = solve(A, B, rtol=1e-8)
    assert result.converged
    true = np.linalg.norm((B - A @ result.x) / [scale, 1, 1], axis=0)
    assert (true <= 1.01e-8 * np.linalg.norm(B / [scale, 1, 1], axis=0)).all()


def test_a_start_near_the_solution():
    A = poisson(16)
    X = normal(256, 3)
    result = solve(A, A @ X, X + 1e-6 * normal(256, 3, seed=1), rtol=1e-8)
    assert result.converged
    np.testing.assert_allclose(result.x, X, atol=1e-6)


def test_a_sparse_block_and_mixed_precision():
    A = poisson(16).astype(np.float32)
    B = sparse.csr_array(np.eye(256)[:, :3])
    result = solve(A, B, rtol=1e-8)
    assert result.converged
    assert result.x.dtype == np.float64


def test_refusals_are_one_sentence():
    A = poisson(8)
    with pytest.raises(InputError, match="solver cg takes one right-hand side; for several choose block-cg"):
        solve(A, normal(64, 2), solver="cg")
    with pytest.raises(InputError, match=r"b has shape \(63, 2\), but the matrix has 64 rows; pass shape \(64, s\)"):
        solve(A, normal(63, 2))
    with pytest.raises(InputError, match=r"x0 has shape \(64, 3\), but B has shape \(64, 2\)"):
        solve(A, normal(64, 2), normal(64, 3))
    with pytest.raises(InputError, match="norm natural is not available for several right-hand sides"):
        solve(A, normal(64, 2), norm="natural")
    with pytest.raises(InputError, match="b holds nan at entry 0, 1"):
        solve(A, np.where(np.arange(2) == 1, np.nan, normal(64, 2)))


def test_a_singular_system_gets_consistent_right_hand_sides():
    second = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(12, 12)).tolil()
    second[0, 0] = second[-1, -1] = 1
    one = sparse.eye_array(12)
    A = sparse.csr_array(sparse.kron(second, one) + sparse.kron(one, second))
    B = normal(144, 3)
    result = solve(A, B, rtol=1e-8, M="jacobi")
    assert result.reason is Reason.CONSISTENT
    consistent = B - B.mean(axis=0)
    assert np.linalg.norm(consistent - A @ result.x) <= 1e-7 * np.linalg.norm(B)
    said = "A is singular: the means of all columns of B were removed so that solutions exist"
    assert [note for note in result.provenance["notes"] if "mean" in note] == [said]
    B[:, 1] -= B[:, 1].mean()
    notes = solve(A, B, rtol=1e-8, M="jacobi").provenance["notes"]
    assert any("the means of columns 1, 3 of B were removed" in note for note in notes)
    B[:, 2] = 3
    with pytest.raises(InputError, match="column 3: A is singular: the mean of b, 3, is all of b"):
        solve(A, B, M="jacobi")


def helmholtz(n):
    """A complex symmetric matrix: Poisson less (1 + 0.15i) k^2."""
    return sparse.csr_array(poisson(n) - (1 + 0.15j) * (20 / (n + 1)) ** 2 * sparse.eye_array(n * n))


@pytest.mark.parametrize(("method", "s", "low", "high"), [("cocg", 3, 415, 455), ("block-cocg", 4, 245, 270)])
def test_cocg_on_a_complex_symmetric_matrix(method, s, low, high):
    """Counts of an independent prototype in NumPy."""
    rng = np.random.default_rng(0)
    A, B = helmholtz(64), rng.standard_normal((4096, s)) + 1j * rng.standard_normal((4096, s))
    result = solve(A, B, solver=method, M="none", rtol=1e-8)
    assert result.converged
    assert low <= result.iterations <= high
    assert (np.linalg.norm(B - A @ result.x, axis=0) <= 1.01e-8 * np.linalg.norm(B, axis=0)).all()


@pytest.mark.parametrize("method", SYMMETRIC)
def test_one_column_of_cocg(method):
    A, b = helmholtz(20), np.arange(400) + 1j
    result = solve(A, b, solver=method, M="jacobi", rtol=1e-9)
    assert result.converged
    np.testing.assert_allclose(result.x, np.linalg.solve(A.toarray(), b), rtol=0, atol=1e-5 * np.abs(result.x).max())


@pytest.mark.parametrize("method", SYMMETRIC)
def test_jacobi_has_a_complex_diagonal_and_refuses_one_without_an_inverse(method):
    A = sparse.diags_array([1, 2j, 1], offsets=[-1, 0, 1], shape=(9, 9), dtype=complex).tocsr()
    b = np.arange(9) + 1j
    result = solve(A, b, solver=method, M="jacobi", rtol=1e-9)
    np.testing.assert_allclose(A @ result.x, b, atol=1e-7)
    with pytest.raises(InputError, match=r"diagonal entry 0 of A is 0\+2e-320j, whose inverse overflows in complex128"):
        solve(1e-320 * A, b, solver=method, M="jacobi")


@pytest.mark.parametrize("method", SYMMETRIC)
def test_on_a_real_matrix_cocg_takes_the_steps_of_cg(method):
    A, b = poisson(20), normal(400, 1)[:, 0]
    cg, cocg = (solve(A, b, solver=name, M="none", rtol=1e-9) for name in ("cg", method))
    assert cocg.iterations == cg.iterations
    np.testing.assert_allclose(cocg.history["alpha"][1:30], cg.history["alpha"][1:30], rtol=1e-8)


def test_cocg_refuses_a_hermitian_matrix():
    hermitian = poisson(8).astype(complex)
    hermitian[0, 1], hermitian[1, 0] = -1j, 1j
    with pytest.raises(InputError, match="the matrix is Hermitian, but COCG needs A = A"):
        solve(hermitian, np.ones(64), solver="cocg")


@pytest.mark.parametrize("method", [*HERMITIAN, *SYMMETRIC])
def test_recomputed_residuals_raise_the_attainable_accuracy(method, monkeypatch):
    """From a start of norm 1e7 the recurrence loses seven digits of A x; a restart would bring them back too."""
    monkeypatch.setattr(find("solver", method).__class__, "max_restarts", 0)
    n = 61
    scale, second = (
        sparse.diags_array(np.geomspace(1, 10, n)),
        sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n)),
    )
    A, B, x0 = sparse.csr_array(scale @ second @ scale), normal(n, 3), 1e7 * normal(n, 3, 1)
    without, renewed = (
        solve(A, B, x0=x0, solver=text, M="none", rtol=1e-13, maxiter=400) for text in (method, f"{method}:20")
    )
    worst = [np.linalg.norm(B - A @ result.x) / np.linalg.norm(B) for result in (without, renewed)]
    assert without.reason is Reason.INACCURATE
    assert worst[0] > 1e-9
    assert worst[1] < 1e-2 * worst[0]


@pytest.mark.parametrize("method", [*HERMITIAN, *SYMMETRIC])
@pytest.mark.parametrize(("device", "M"), [("cpu", "none"), ("opencl", "jacobi")])
def test_where_rounding_is_small_recomputed_residuals_change_nothing(method, device, M):
    A = poisson(13) + sparse.diags_array(np.linspace(0, 1, 169))
    A = A + 0.1j * sparse.eye_array(169) if method in SYMMETRIC else A
    B = normal(169, 3) * [1, 1, 1e-3]
    options = {"M": M, "rtol": 1e-7, "device": device}
    expected, found = (solve(A, B, solver=text, **options) for text in (method, f"{method}:7"))
    assert abs(found.iterations - expected.iterations) <= 1
    assert found.converged
    np.testing.assert_allclose(found.x, expected.x, rtol=0, atol=1e-6 * np.abs(expected.x).max())
    single = [solve(A, B[:, 0], solver=text, **options).history for text in (method, f"{method}:7")]
    for name in ("residual", "alpha", "beta"):
        np.testing.assert_allclose(single[1][name][1:20], single[0][name][1:20], rtol=1e-6, err_msg=name)


def test_the_residual_gap_stays_away_where_residuals_are_recomputed(monkeypatch):
    monkeypatch.setattr(PseudoBlockCG, "max_restarts", 0)
    n = 41
    A, B = sparse.diags_array([-1.0, 2.1, -1.0], offsets=[-1, 0, 1], shape=(n, n)).tocsr(), normal(n, 2)
    system = LinearSystem(Matrix(sparse.csr_array(A)), B)
    stopping = Stopping(rtol=1e-11, true_every=5, maxiter=300)
    gaps = []
    for solver in ("pseudo-block-cg", "pseudo-block-cg:10"):
        run = Run(configure(InMemoryProblem(), solver=solver, stopping=stopping), system, x0=1e7 * normal(n, 2, 1))
        while run.step():
            pass
        gaps.append(run.result().history.residual_gap_at)
    assert gaps[0] is not None
    assert gaps[1] is None
