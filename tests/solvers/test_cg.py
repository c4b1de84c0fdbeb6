"""Conjugate gradients compared with a dense textbook recurrence and with hand computations."""

import numpy as np
import pytest

from tests.conftest import grid_stencil, random_matrix
from workbench.problems import LinearSystem
from workbench.run import Run, Stopping, configure, solve
from workbench.run.in_memory import InMemoryProblem


def textbook(A, b, x, inverse_diagonal, steps):
    """Iterates and residual norms of preconditioned CG, Saad 2003, Algorithm 9.1, in dense algebra."""
    r = b - A @ x
    z = inverse_diagonal * r
    p = z.copy()
    norms = [np.linalg.norm(r)]
    for _ in range(steps):
        Ap = A @ p
        alpha = np.vdot(r, z) / np.vdot(p, Ap)
        x = x + alpha * p
        r_new = r - alpha * Ap
        z_new = inverse_diagonal * r_new
        beta = np.vdot(r_new, z_new) / np.vdot(r, z)
        p, r, z = z_new + beta * p, r_new, z_new
        norms.append(np.linalg.norm(r))
    return x, norms


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
    x, norms = textbook(operator.to_csr().toarray(), b, x0, 1 / operator.diagonal(), 8)
    np.testing.assert_allclose(run.history["residual"], norms, rtol=1e-9)
    np.testing.assert_allclose(run.x, x, rtol=1e-9)


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
