"""The condition under which truncated Neumann series converge, compared with SciPy."""

import numpy as np
import pytest
from scipy import sparse

from tests.preconditioners.by_hand import set_up
from workbench.operators import Stencil
from workbench.preconditioners.neumann import condition
from workbench.run import configure, solve


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("two-layer", {"n": 17}),
        ("bubbles-3d", {"n": 24, "count": 20, "layout": "random", "radius": 0.1}),
        ("poisson-2d", {"n": 13}),
        ("poisson27", {"n": 6}),
    ],
)
def test_the_condition_of_the_series_is_a_note(name, parameters):
    operator = configure(name, **parameters).problem.assemble().operator
    A = operator.to_csr()
    norm = abs(sparse.tril(A, -1) @ sparse.diags_array(1 / A.diagonal())).sum(axis=1).max()
    if isinstance(operator, Stencil):
        assert operator.triangle_norm == pytest.approx(norm, rel=1e-14)
    (note,) = set_up("neumann:2", operator).notes
    assert note == condition(norm)
    assert ("converges" in note) == (norm < 1)


def test_what_the_condition_says():
    assert condition(0.75) == "||L D^-1||_inf = 0.75 < 1: the Neumann series converges"
    assert condition(1.0).startswith("||L D^-1||_inf = 1, not below 1: the Neumann series may diverge")


def test_a_run_that_fails_names_a_series_that_diverges():
    places = np.linspace(0, 1, 80)
    kernel = np.exp(-50 * (places[:, None] - places) ** 2) + 0.01 * np.eye(80)
    b = np.random.default_rng(0).standard_normal(80)
    failed = solve(kernel, b, M="neumann:2", maxiter=30)
    assert not failed.converged
    assert "Neumann series may diverge and be worse than no preconditioner: try jacobi or chebyshev" in failed.detail
    assert "Neumann" not in solve(kernel, b, M="jacobi", maxiter=2).detail
    converges = 4 * np.eye(80) - np.eye(80, k=1) - np.eye(80, k=-1)
    assert "Neumann" not in solve(converges, b, M="neumann:2", maxiter=2).detail
