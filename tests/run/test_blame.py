"""Who is blamed for a breakdown: A and M by products that rounding cannot explain, by one mechanism for all methods."""

import numpy as np
import pytest

from workbench.run import Reason, Run, Stopping, configure, run_through, solve

INDEFINITE = np.array([[2.0, 3.0], [3.0, 4.0]])
"""Eigenvalues -0.16 and 6.16."""
SINGLE = ["cg", "pipecg", "block-cg", "pseudo-block-cg"]
BLOCKS = ["block-cg", "pseudo-block-cg", "bf-block-cg", "block-cg-oleary"]


@pytest.mark.parametrize("solver", SINGLE)
@pytest.mark.parametrize("second", [-1.0, -1.0 + 1e-9])
def test_a_curvature_of_zero_shows_an_indefinite_matrix(solver, second):
    result = solve(INDEFINITE, np.array([1.0, second]), M=None, solver=solver)
    assert result.reason is Reason.INDEFINITE


@pytest.mark.parametrize("solver", BLOCKS)
def test_it_does_so_in_one_of_many_columns(solver):
    B = np.array([[1.0, 1.0], [-1.0, 0.5]])
    result = solve(INDEFINITE, B, M=None, solver=solver)
    assert result.reason is Reason.INDEFINITE
    assert "take block-cg" not in result.detail


@pytest.mark.parametrize("solver", ["cocg", "block-cocg"])
def test_a_product_that_vanishes_is_a_breakdown_of_cocg(solver):
    A = np.array([[4 + 1j, 1], [1, 4 - 1j]])
    b = np.array([1, 1j])
    result = solve(A, b, M=None, solver=solver)
    assert result.reason is Reason.VANISHED
    assert "another x0" in result.reason.sentence
    again = solve(A, b, M=None, solver=solver, x0=np.array([0.3, 0.1]))
    assert again.converged
    assert np.linalg.norm(b - A @ again.x) <= 1e-6 * np.linalg.norm(b)


def test_a_column_whose_product_vanishes_ends_a_block_of_cocg():
    A = np.array([[4 + 1j, 1], [1, 4 - 1j]])
    assert solve(A, np.array([[1, 1], [1j, 2]]), M=None, solver="cocg").reason is Reason.VANISHED


@pytest.mark.parametrize("solver", ["pseudo-block-cg", "bf-block-cg", "block-cg-oleary"])
def test_block_methods_do_not_blame_a_definite_matrix_and_return_the_best_column(solver):
    chosen = {"preconditioner": "neumann:2", "deflation": "levelset:3", "rhs": "phases", "stopping": {"rtol": 1e-12}}
    run = Run(configure("two-layer", n=40, contrast=1e-3, solver=solver, **chosen))
    result = run_through(run)
    assert result.reason not in (Reason.INDEFINITE, Reason.INDEFINITE_M), result.detail
    # The recurrence grows to 7e-4 after that.
    assert result.true_relative_residual < 1e-9


@pytest.mark.parametrize(("solver", "deflation"), [("pipecg", "none"), ("cg", "blocks:4")])
def test_more_accurate_choices_are_named_where_there_are_any(solver, deflation):
    result = run_through(
        Run(
            configure("two-layer", n=20, contrast=1e-4, solver=solver, preconditioner="jacobi", deflation=deflation,
                      rhs="random", stopping={"rtol": 1e-15, "maxiter": 5000})
        )
    )  # fmt: skip
    assert result.reason is Reason.ROUNDING
    assert ("solver cg" in result.detail) == (solver != "cg")
    assert ("deflation none" in result.detail) == (deflation != "none")


NEAR_INVERSE = np.diag(2.001 * np.ones(60)) - np.diag(np.ones(59), 1) - np.diag(np.ones(59), -1)


@pytest.mark.parametrize("norm", ["natural", "preconditioned"])
@pytest.mark.parametrize("seed", range(6))
def test_a_norm_with_m_is_verified_in_itself(norm, seed):
    """With M near A^-1 one step leaves rounding alone, of which two residuals never agree."""
    M = np.linalg.inv(NEAR_INVERSE)
    b = np.random.default_rng(seed).standard_normal(60)
    result = solve(NEAR_INVERSE, b, M=(M + M.T) / 2, norm=norm, rtol=1e-8)
    assert result.reason is Reason.CONVERGED, result.detail
    assert np.linalg.norm(b - NEAR_INVERSE @ result.x) <= 1e-12 * np.linalg.norm(b)


def test_columns_that_have_converged_stay_so_where_others_restart():
    """Recovering x from x^ twice would cost more than the tolerance."""
    chosen = {"preconditioner": "chebyshev:3", "deflation": "levelset:3", "variant": "def1", "rhs": "random:3"}
    heavy = {"n": 9, "contrast": 1e9, "count": 1, "sides": "dirichlet"}
    run = Run(configure("bubbles-3d", solver="pseudo-block-cg", stopping={"rtol": 6e-13}, **heavy, **chosen))
    result = run_through(run)
    ended = [column for column in result.columns if column.converged]
    assert ended
    # Others went on after a restart.
    assert len({column.iteration for column in result.columns}) > 1
    assert all(column.true_relative_residual <= 6.1e-13 for column in ended)


@pytest.mark.parametrize("solver", BLOCKS)
@pytest.mark.parametrize("contrast", [1e-6, 1e-3, 1e6])
def test_a_def2_without_a_first_level_is_named_with_what_converges_instead(solver, contrast):
    def result(columns, M, variant, coarse="auto"):
        method = configure(
            f"two-layer:n=7,contrast={contrast}",
            solver=solver,
            preconditioner=M,
            deflation="stripes",
            variant=variant,
            coarse=coarse,
            rhs=f"random:{columns}",
            stopping=Stopping(maxiter=300),
        )
        return run_through(Run(method))

    for columns in (4, 8):
        failed = result(columns, "none", "a-def2", "inverse")
        if not failed.converged:
            assert "variant a-def2 without a first level lets Z^T r grow from rounding" in failed.detail
            assert failed.detail.count("a-def2") == 1
        if solver == "block-cg":
            for M, variant in (("none", "bnn"), ("jacobi", "bnn"), ("jacobi", "a-def2")):
                assert result(columns, M, variant).converged
