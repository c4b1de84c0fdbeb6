"""A method that deteriorates at its limit returns the best x it had, with an honest reason."""

import numpy as np
import pytest
from scipy import sparse

import workbench.run
from workbench.devices import device
from workbench.operators import as_operator
from workbench.problems import LinearSystem
from workbench.registry import blocks as registry
from workbench.run import Reason, Run, Stopping, configure, run_through
from workbench.run.choices.in_memory import InMemoryDeflation, InMemoryProblem
from workbench.run.loop.best import FALL, BestIterates

EVERY = [
    name for name, cls in sorted(registry.registered("solver").items()) if not cls.needs_accelerator and name != "petsc"
]
SIDE = 24


def two_materials(contrast=1e-4):
    """Five points on 24 x 24 cells, a disc of another material in the middle, one side held."""
    rows, columns = np.indices((SIDE, SIDE)) - SIDE / 2
    k = np.where(rows**2 + columns**2 < 36, contrast, 1.0)
    number = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    p = np.concatenate([number[:-1].ravel(), number[:, :-1].ravel()])
    q = np.concatenate([number[1:].ravel(), number[:, 1:].ravel()])
    weight = 2 * k.ravel()[p] * k.ravel()[q] / (k.ravel()[p] + k.ravel()[q])
    upper = sparse.coo_array((-weight, (p, q)), shape=(SIDE * SIDE,) * 2)
    A = upper + upper.T
    held = np.zeros(SIDE * SIDE)
    held[:SIDE] = 2 * k[0]
    return sparse.csr_array(A + sparse.diags_array(held - np.asarray(A.sum(axis=1)).ravel()))


LABELS = np.arange(SIDE * SIDE) // SIDE * 8 // SIDE


@pytest.mark.parametrize("solver", EVERY)
def test_deflated_runs_at_their_limit_return_their_best_x(solver):
    A, b = two_materials(), np.random.default_rng(0).standard_normal(SIDE * SIDE)
    configuration = configure(
        InMemoryProblem(),
        solver=solver,
        preconditioner="jacobi",
        deflation=InMemoryDeflation(LABELS),
        stopping=Stopping(rtol=1e-15, maxiter=600, true_every=1),
    )
    result = run_through(Run(configuration, LinearSystem(as_operator(A), b)))
    assert result.reason not in (Reason.INDEFINITE, Reason.INDEFINITE_M), result.detail
    true = result.history.true_residuals[:, 1] / np.linalg.norm(b)
    assert result.true_relative_residual <= 10 * FALL * np.nanmin(true), result.detail
    assert not result.converged or result.true_relative_residual <= 1e-15


def test_the_breakdown_of_def1_keeps_the_x_from_before_and_says_which():
    A, b = two_materials(), np.random.default_rng(0).standard_normal(SIDE * SIDE)
    result = workbench.run.solve(A, b, deflation=LABELS, rtol=1e-15, maxiter=3000)
    assert result.reason is Reason.ROUNDING
    assert "x is that of iteration" in result.detail
    assert result.relative_residual > 1e4 * result.true_relative_residual


def test_copies_are_made_as_the_norm_falls():
    cpu, x = device("cpu"), np.zeros(3)
    best = BestIterates(cpu, x)
    norms = [1.0, 0.5, 0.2, 0.19, 3.0, 0.06, 0.01]
    kept = []
    for iteration, norm in enumerate(norms):
        x[:] = iteration
        best.update([norm], iteration, x, np.zeros(1, bool))
        kept.append(best.iterations[0])
        assert best.x[0] == best.iterations[0]
    assert kept == [0, 0, 2, 2, 2, 2, 6]


def test_columns_are_copied_together_or_one_by_one():
    cpu, x = device("cpu"), np.zeros((3, 2))
    best = BestIterates(cpu, x)
    norms = [(1.0, 1.0), (0.2, 0.1), (0.04, 0.09), (0.001, 0.001)]
    expected = [(0, 0), (1, 1), (2, 1), (2, 3)]
    for iteration, (fallen, kept) in enumerate(zip(norms, expected, strict=True)):
        x[:] = iteration
        # The first column has ended before the last iteration.
        best.update(fallen, iteration, x, np.array([iteration == 3, False]))
        np.testing.assert_array_equal(best.x, np.tile(kept, (3, 1)))


def test_a_run_that_goes_on_well_keeps_its_last_x():
    A, b = two_materials(), np.random.default_rng(0).standard_normal(SIDE * SIDE)
    result = workbench.run.solve(A, b, rtol=1e-10, maxiter=60)
    assert result.reason is Reason.MAXITER
    assert "x is that of" not in result.detail
