"""Conjugate gradients compared with a dense textbook recurrence and with hand computations."""

import itertools

import numpy as np
import pytest

from tests.conftest import grid_stencil, random_matrix
from tests.solvers.textbook import textbook
from workbench.problems import LinearSystem
from workbench.run import Run, Stopping, configure, solve
from workbench.run.choices.in_memory import InMemoryProblem


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("make", [lambda dtype: grid_stencil((5, 6), dtype), lambda dtype: random_matrix(31, dtype)])
def test_iterates_agree_with_the_textbook_recurrence(make, dtype):
    operator = make(dtype)
    rng = np.random.default_rng(5)
    b, x0 = rng.random(operator.shape[0]).astype(dtype), rng.random(operator.shape[0]).astype(dtype)
    configuration = configure(InMemoryProblem(), stopping=Stopping(rtol=1e-14, maxiter=8))
    run = Run(configuration, LinearSystem(operator, b), x0=x0)
    while run.step():
        pass
    steps = textbook(operator.to_csr().toarray(), b, x0, np.diag(1 / operator.diagonal()))
    xs, norms = zip(*itertools.islice(steps, 9), strict=True)
    np.testing.assert_allclose(run.history["residual"], norms, rtol=1e-9)
    np.testing.assert_allclose(run.x, xs[-1], rtol=1e-9)


def test_memory_stays_within_six_vectors():
    configuration = configure("poisson7", n=16)
    system = configuration.problem.assemble()
    run = Run(configuration, system)
    run.step()
    run.step()
    held = [run.setup.x, run.true_residual(), *run.setup.M.factors.values()]
    held += [run.workspace.vector(name) for name in run.workspace.added]
    assert run.setup.b is not None
    assert len(held) <= 6
    assert all(vector.size == system.b.size for vector in held)


def test_peak_memory_of_a_solve_is_that_of_its_vectors():
    import tracemalloc

    configuration = configure("poisson7", n=96)
    system = configuration.problem.assemble()
    solve(system.operator, system.b, maxiter=3, M="jacobi")
    tracemalloc.start()
    solve(system.operator, system.b, maxiter=3, M="jacobi")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Four of CG, the scratch of A's residual, the best x so far, one on the way, and x = 0, whose residual is smaller.
    assert peak <= 8.3 * system.b.nbytes
