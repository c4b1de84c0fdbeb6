"""Two-level variants: known equivalences of iterates, and M1 compared with dense algebra."""

import numpy as np
import pytest

from tests.conftest import grid_stencil, projection_of
from workbench import devices
from workbench.extensions.petsc import library as petsc
from workbench.problems import LinearSystem
from workbench.registry import blocks as registry
from workbench.run import Run, Stopping, configure
from workbench.run.choices.in_memory import InMemoryProblem

VARIANTS = sorted(set(registry.registered("variant")) - (set() if petsc.installed() else {"pcdeflation"}))


def iterates(variant, preconditioner, start, steps=9):
    operator = grid_stencil((8, 8), seed=2, shift=0.4)
    b = np.random.default_rng(0).random(64)
    configuration = configure(
        InMemoryProblem(), preconditioner=preconditioner, deflation="blocks:3", variant=variant,
        stopping=Stopping(rtol=1e-14, maxiter=steps),
    )  # fmt: skip
    run = Run(configuration, LinearSystem(operator, b, grid=(8, 8)), x0=start)
    found = []
    while run.step():
        found.append(run.x.copy())
    return found


def projected_start():
    """Q b + P^T x0 for a random x0, the common start of all variants."""
    operator = grid_stencil((8, 8), seed=2, shift=0.4)
    b, x0 = np.random.default_rng(0).random(64), np.random.default_rng(1).random(64)
    projection_of(operator, registry.find("deflation", "blocks:3").labels(64, (8, 8))).recover_solution(x0, b)
    return x0


@pytest.mark.parametrize("preconditioner", ["none", "jacobi", "neumann:2"])
@pytest.mark.parametrize("variant", ["def2", "a-def2"])
def test_def1_def2_and_a_def2_have_equal_iterates(variant, preconditioner):
    start = np.random.default_rng(1).random(64)
    for ours, other in zip(
        iterates("def1", preconditioner, start), iterates(variant, preconditioner, start), strict=True
    ):
        np.testing.assert_allclose(ours, other, atol=1e-10)


@pytest.mark.parametrize("preconditioner", ["jacobi", "neumann:2"])
def test_bnn_from_a_projected_start_has_equal_iterates(preconditioner):
    start = projected_start()
    pairs = zip(iterates("def1", preconditioner, start), iterates("bnn", preconditioner, start), strict=True)
    for ours, other in pairs:
        np.testing.assert_allclose(ours, other, atol=1e-9)


def test_the_additive_variant_has_different_iterates():
    start = projected_start()
    ours, other = iterates("def1", "jacobi", start), iterates("ad", "jacobi", start)
    assert np.abs(ours[4] - other[4]).max() > 1e-6


def dense_pieces():
    operator = grid_stencil((4, 5), seed=3, shift=0.2)
    A = operator.to_csr().toarray()
    labels = registry.find("deflation", "blocks:2").labels(20, (4, 5))
    Z = np.eye(4)[labels]
    Q = Z @ np.linalg.solve(Z.T @ A @ Z, Z.T)
    return operator, labels, np.diag(1 / np.diag(A)), Q, np.eye(20) - A @ Q


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_preconditioner_agrees_with_its_formula(variant):
    operator, labels, inverse, Q, P = dense_pieces()
    formulas = {
        "def1": inverse,
        "def2": P.T @ inverse,
        "pcdeflation": P.T @ inverse,
        "a-def1": inverse @ P + Q,
        "a-def2": P.T @ inverse + Q,
        "bnn": P.T @ inverse @ P + Q,
        "ad": inverse + Q,
        # E is solved with to rounding here, which makes it DEF1.
        "auto": inverse,
    }
    device = devices.device("cpu")
    projection = projection_of(operator, labels)
    diagonal = registry.find("preconditioner", "jacobi").setup(operator, device)
    jacobi = device.applied(diagonal, operator.shape[0], operator.dtype)
    M1 = registry.find("variant", variant).resolved(projection.exact).precondition(projection, jacobi, device)
    r, u = np.random.default_rng(4).random(20), np.zeros(20)
    before = r.copy()
    dots = M1.apply(r, u, "xy", "yy", "xx")
    np.testing.assert_allclose(u, formulas[variant] @ r, atol=1e-12)
    assert np.array_equal(r, before)
    paired = inverse @ r if variant == "def2" else u
    np.testing.assert_allclose(dots, [r @ paired, paired @ paired, r @ r], rtol=1e-10)
