"""Every solver of the family compared with `cg` and hand computations, in every precision."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench.run  # noqa: F401  registers every block
from tests.all_pairs import pairwise
from tests.conftest import grid_stencil, random_matrix
from workbench.errors import InputError
from workbench.problems import LinearSystem
from workbench.registry import blocks as registry
from workbench.run import Reason, Run, Stopping, configure, run_through, solve
from workbench.run.choices.in_memory import InMemoryProblem
from workbench.spectra import ritz_values

EVERY = sorted(
    name
    for name, solver in registry.registered("solver").items()
    if not (solver.needs_accelerator or solver.complex_symmetric or name == "petsc")
)
"""PETSc is optional, and has tests of its own."""
OF_CG = sorted(set(EVERY) - {"sd", "mpgmres"})
"""Solvers with the iterates of CG up to rounding; mpgmres has those of MINRES, see `tests/solvers/multi`."""
DERIVED = [name for name in EVERY if not registry.find("solver", name).curvature_is_recomputed]


@pytest.mark.parametrize("name", OF_CG)
def test_two_unknowns_by_hand(name):
    # A = [[2, 0], [0, 4]], b = (2, 4), x0 = 0: r0 = p0 = b, alpha = 20/72, r1 = (8, -4)/9, beta = (80/81)/20 = 4/81.
    result = solve(np.diag([2.0, 4.0]), np.array([2.0, 4.0]), M="none", rtol=1e-12, solver=name)
    assert (result.converged, result.iterations) == (True, 2)
    np.testing.assert_allclose(result.history["alpha"][1], 20 / 72)
    np.testing.assert_allclose(result.history["beta"][1], 4 / 81)
    np.testing.assert_allclose(result.history["residual"][1], np.sqrt(80) / 9)
    np.testing.assert_allclose(result.x, [1, 1])


def test_steepest_descent_on_two_unknowns_by_hand():
    # The same first step; then along r1 = (8, -4)/9 with alpha = (r1, r1)/(r1, A r1) = 80/(128 + 64).
    result = solve(np.diag([2.0, 4.0]), np.array([2.0, 4.0]), M="none", rtol=1e-12, solver="sd")
    assert result.converged
    np.testing.assert_allclose(result.history["alpha"][1:3], [20 / 72, 80 / 192])
    assert np.isnan(result.history["beta"]).all()
    # Kantorovich: the A-norm of the error falls by at least (cond - 1)/(cond + 1) = 1/3 a step.
    assert np.all(result.history["residual"][2:] <= result.history["residual"][:-2] * (1 / 3) ** 2 * (1 + 1e-9))


@pytest.mark.parametrize("name", OF_CG)
def test_it_converges_in_as_many_steps_as_distinct_eigenvalues(name):
    assert (
        solve(np.diag(np.repeat([1.0, 3.0, 10.0], 7)), np.ones(21), M="none", rtol=1e-11, solver=name).iterations == 3
    )


@pytest.mark.parametrize("name", OF_CG)
@pytest.mark.parametrize(
    ("first", "dtype"),
    [("none", np.float64), ("jacobi", np.float64), ("neumann:2", np.float64), ("jacobi", np.complex128)],
)
def test_iterates_agree_with_cg(name, first, dtype):
    operator = random_matrix(61, dtype, seed=4)
    rng = np.random.default_rng(1)
    b, x0 = rng.random(61).astype(dtype), rng.random(61).astype(dtype)
    runs = []
    for solver in ("cg", name):
        configuration = configure(
            InMemoryProblem(), solver=solver, preconditioner=first, stopping=Stopping(rtol=1e-30, maxiter=4)
        )
        runs.append(run_through(Run(configuration, LinearSystem(operator, b), x0=x0)))
    expected, found = runs
    for column in ("residual", "preconditioned", "natural", "alpha", "beta"):
        np.testing.assert_allclose(found.history[column], expected.history[column], rtol=1e-5, err_msg=column)
    np.testing.assert_allclose(found.x, expected.x, rtol=0, atol=1e-10 * np.abs(expected.x).max())


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 1e-4), (np.float64, 1e-9)])
def test_it_solves_in_every_real_precision(name, dtype, rtol):
    operator = grid_stencil((9, 11), dtype, shift=0.5)
    b = np.random.default_rng(0).random(99).astype(dtype)
    result = solve(operator, b, rtol=rtol, solver=name)
    assert result.converged
    dense = operator.to_csr().toarray().astype(np.float64)
    assert np.linalg.norm(dense @ result.x - b) <= 1.1 * rtol * np.linalg.norm(b)


@pairwise(
    solver=EVERY,
    preconditioner=["jacobi", "neumann:2"],
    second=[("blocks:4", "def1"), ("stripes", "a-def2"), ("blocks:4", "bnn")],
)
def test_it_converges_with_deflation_and_its_variants(case):
    deflation, variant = case.pop("second")
    result = run_through(Run(configure("poisson5", n=16, deflation=deflation, variant=variant, **case)))
    assert result.converged, result.detail


@pytest.mark.parametrize("name", EVERY)
def test_a_start_that_is_the_solution_and_a_zero_right_hand_side(name):
    operator = grid_stencil((4, 4))
    b = operator.to_csr() @ np.ones(16)
    assert solve(operator, b, x0=np.ones(16), rtol=1e-8, solver=name).iterations == 0
    zero = solve(operator, np.zeros(16), x0=np.ones(16), solver=name)
    assert (zero.converged, zero.iterations) == (True, 0)
    assert not zero.x.any()


@pytest.mark.parametrize("name", ["sd", *OF_CG])
def test_an_indefinite_matrix_is_diagnosed_and_the_last_valid_x_kept(name):
    A = np.array([[1.0, 2.0], [2.0, 1.0]])
    result = solve(A, np.array([1.0, -2.0]), M="none", solver=name)
    assert result.reason is Reason.INDEFINITE, result.detail
    assert "(p, A p) = −3.00" in result.detail
    assert not result.x.any()


@pytest.mark.parametrize("name", OF_CG)
def test_ritz_values_approximate_the_eigenvalues(name):
    eigenvalues = np.array([1.0, 2.0, 4.0, 7.0, 11.0])
    result = solve(np.diag(eigenvalues), np.ones(5), M="none", rtol=1e-13, solver=name)
    np.testing.assert_allclose(ritz_values(result.history, 5), eigenvalues, rtol=1e-8)


def test_steepest_descent_gives_no_ritz_values():
    result = solve(grid_stencil((5, 5)), np.ones(25), solver="sd")
    with pytest.raises(InputError, match="and so it has no Ritz values; use a run of cg"):
        ritz_values(result.history)


@settings(max_examples=25)
@given(st.integers(2, 40), st.integers(0, 10_000), st.sampled_from(OF_CG))
def test_iterations_equal_those_of_cg_on_well_conditioned_systems(size, seed, name):
    operator = random_matrix(size, seed=seed)
    b = np.random.default_rng(seed).standard_normal(size)
    expected, found = (solve(operator, b, rtol=1e-7, solver=solver) for solver in ("cg", name))
    assert found.converged
    assert abs(found.iterations - expected.iterations) <= 1
    np.testing.assert_allclose(found.x, expected.x, rtol=0, atol=1e-5 * np.abs(expected.x).max())


def test_flexible_cg_converges_with_a_varying_preconditioner_unlike_cg():
    operator = grid_stencil((30, 30), shift=0.01)
    b = np.random.default_rng(0).random(900)
    inverse = 1 / operator.diagonal()

    def changing(from_call):
        rng, calls = np.random.default_rng(7), itertools.count(1)
        return lambda r: inverse * r * (0.2 + rng.random(r.size) if next(calls) > from_call else 1)

    with pytest.raises(InputError, match="not symmetric.*or use solver fcg"):
        solve(operator, b, M=changing(0))
    # One that changes later than it is tried.
    choices = {"rtol": 1e-8, "maxiter": 2000}
    cg, flexible = (solve(operator, b, M=changing(3), solver=name, **choices) for name in ("cg", "fcg"))
    assert flexible.converged
    assert flexible.iterations < cg.iterations


def ill_conditioned():
    """Eigenvalues over ten orders of magnitude in a basis of Householder's, where rounding shows soon."""
    v = np.random.default_rng(3).standard_normal(60)
    reflect = np.eye(60) - 2 * np.outer(v, v) / (v @ v)
    A = reflect @ np.diag(np.logspace(-8, 2, 60)) @ reflect
    return (A + A.T) / 2


@pytest.mark.parametrize("name", DERIVED)
def test_rounding_is_not_diagnosed_as_an_indefinite_matrix(name):
    result = solve(ill_conditioned(), np.ones(60), M="none", rtol=1e-14, maxiter=3000, solver=name)
    assert result.reason is not Reason.INDEFINITE, result.detail
    assert result.converged == (result.true_relative_residual <= 1e-14)


def _numbers(sentence):
    """Those after an equals sign, which have three digits."""
    return [float(found.replace("−", "-")) for found in re.findall(r"= (−?[\d.]+)", sentence)]


@pytest.mark.parametrize("name", DERIVED)
@pytest.mark.parametrize("first", ["none", "neumann:1"])
def test_the_recomputed_direction_is_that_of_the_breakdown(name, first):
    # (p, A p) by the recurrence and afresh are one number while rounding has had no time.
    A = np.diag([1.0, 2.0, 3.0, -4.0, 5.0]) + 6 * np.eye(5)
    A[3, 3] = 0.1
    A[0, 3] = A[3, 0] = 3.0
    result = solve(A, np.array([1.0, 1.0, 1.0, 2.0, 1.0]), M=first, solver=name, rtol=1e-12)
    assert result.reason is Reason.INDEFINITE, result.detail
    told, measured = (_numbers(text)[0] for text in result.detail.split("; ")[:2])
    assert told < 0
    assert measured == told


@pytest.mark.parametrize("name", DERIVED)
def test_the_diagnosis_of_an_indefinite_matrix_has_the_numbers_of_cg(name):
    matrix = random_matrix(80, seed=4).csr.toarray()
    matrix[3, 70] = matrix[70, 3] = 1e3
    b = np.random.default_rng(1).random(80)
    told = [solve(matrix, b, solver=solver, rtol=1e-12) for solver in ("cg", name)]
    assert [result.reason for result in told] == [Reason.INDEFINITE] * 2
    assert told[0].iterations == told[1].iterations
    expected, found = (_numbers(result.detail) for result in told)
    assert found[:2] == expected[:1] * 2
    residual = told[0].history["natural"][-1] ** 2
    assert found[2] == pytest.approx(residual, rel=5e-3)


@pytest.mark.parametrize(("first", "passes"), [("none", 2), ("jacobi", 2), ("neumann:2", 3)])
def test_cg_in_two_kernels_has_two_where_m_is_a_number(first, passes):
    """All vector updates, and A p with its dot products; the diagonal of this A is constant."""
    run = Run(configure("poisson5", n=9, solver="two-kernel-cg", preconditioner=first))
    assert run.workspace.programs[-1].passes == passes
    assert run_through(run).converged


def test_cg_in_two_kernels_takes_a_pass_for_a_diagonal_that_varies():
    run = Run(configure("two-layer", n=9, solver="two-kernel-cg", preconditioner="jacobi"))
    assert run.workspace.programs[-1].passes == 3


def test_a_single_reduction_attains_what_chronopoulos_gear_does_and_pipelining_does_not():
    """The least true residual: the same vectors with (p, A p) by another recurrence."""
    least = {}
    for name in ("cg", "cgcg", "single-reduction", "pipecg"):
        stopping = Stopping(rtol=1e-18, maxiter=700, stagnation=5000, true_every=5)
        run = Run(configure("two-layer", n=32, solver=name, stopping=stopping))
        least[name] = run_through(run).history.true_residuals[:, 1].min()
    assert least["single-reduction"] == pytest.approx(least["cgcg"], rel=1)
    assert 3 * least["cg"] < least["single-reduction"] < least["pipecg"] / 30
