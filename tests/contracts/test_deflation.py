"""What every deflation space and coarse solver promises."""

import numpy as np
import pytest
from scipy import sparse

import workbench.deflation  # noqa: F401
from tests.all_pairs import pairwise
from tests.conftest import DTYPES, grid_stencil, projection_of, random_matrix, random_values
from tests.contracts.cases import COARSE, VARIANTS
from workbench.deflation import DenseSubspace, PiecewiseConstant
from workbench.errors import InputError
from workbench.problems import LinearSystem
from workbench.registry import blocks as registry
from workbench.run import Stopping, configure, run_through
from workbench.run.choices.in_memory import InMemoryProblem
from workbench.run.driver import Run

SPACES = ["blocks", "levelset", "planes", "stripes"]
"""Those whose vectors are piecewise constant; the others are in tests/deflation/test_vectors.py."""
GRIDS = [(8, 8), (9, 13), (8, 9, 10)]


def block(name):
    return registry.find("deflation", f"{name}:3" if name in ("blocks", "levelset") else name)


def phase_of(size):
    """Two phases in broad bands, as an interface would cut them."""
    return (np.arange(size) % 8 > 4).astype(np.int64)


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_labels_number_the_subdomains_without_gaps(name, grid):
    size = int(np.prod(grid))
    labels = block(name).labels(size, grid, phase_of(size))
    assert labels.shape == (size,)
    assert labels.dtype == np.int32
    assert np.array_equal(np.unique(labels), np.arange(labels.max() + 1))


def subspace_of(name, grid, dtype):
    """The subspace, and Z."""
    size = int(np.prod(grid))
    if name == "dense":
        Z = random_values((size, 4), dtype)
        return DenseSubspace(Z), Z
    labels = block(name).labels(size, grid, phase_of(size))
    return PiecewiseConstant(labels), np.eye(labels.max() + 1)[labels]


@pytest.mark.parametrize("coarse", COARSE)
@pytest.mark.parametrize("name", [*SPACES, "dense"])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_the_projection_is_the_papers(name, coarse, dtype):
    grid = (6, 8)
    operator = grid_stencil(grid, dtype)
    subspace, Z = subspace_of(name, grid, dtype)
    projection = projection_of(operator, subspace, coarse)
    A = operator.to_csr().toarray()
    Q = Z @ np.linalg.solve(Z.conj().T @ A @ Z, Z.conj().T)
    P = np.eye(48) - A @ Q
    x = np.random.default_rng(0).random(48).astype(dtype)

    projected = x.copy()
    projection.project(projected)
    np.testing.assert_allclose(projected, P @ x, atol=1e-12)
    assert projection.drift(projected) < 1e-12

    product = np.zeros_like(x)
    dots = projection.apply(x, product, "xy")
    np.testing.assert_allclose(product, P @ A @ x, atol=1e-12)
    np.testing.assert_allclose(dots[0], np.vdot(x, P @ A @ x), rtol=1e-10)

    b = A @ np.ones(48)
    finished = x.copy()
    projection.recover_solution(finished, b)
    np.testing.assert_allclose(finished, Q @ b + P.conj().T @ x, atol=1e-12)


@pairwise(name=SPACES, coarse=COARSE, sides=["neumann", "x-:dirichlet"])
def test_deflated_cg_finds_the_same_solution_as_cg(case):
    name, coarse, sides = case["name"], case["coarse"], case["sides"]
    found = {}
    for deflation in ("none", block(name).spec):
        configuration = configure(
            "bubbles-2d", n=16, count=1, sides=sides, preconditioner="neumann:2", deflation=deflation, coarse=coarse,
            stopping=Stopping(rtol=1e-6),
        )  # fmt: skip
        result = run_through(Run(configuration))
        assert result.converged, result.reason
        found[deflation] = result.x
    first, second = found.values()
    np.testing.assert_allclose(first, second, atol=1e-4 * np.abs(first).max())


@pytest.mark.parametrize("name", COARSE)
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("size", [1, 2, 31])
def test_coarse_solvers_solve(name, dtype, size):
    matrix = random_matrix(size, dtype, seed=4).csr
    right = np.random.default_rng(3).random(size).astype(dtype)
    solution = registry.find("coarse", name).factor(matrix).solve(right.copy())
    np.testing.assert_allclose(matrix @ solution, right, atol=1e-12)


@pytest.mark.parametrize("name", COARSE)
def test_coarse_solvers_refuse_an_indefinite_matrix(name):
    indefinite = sparse.csr_array(np.array([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(InputError, match="not positive definite"):
        registry.find("coarse", name).factor(indefinite).solve(np.array([1.0, -1.0]))


EVERY_SPACE = ("blocks:3", "parts:5", "levelset:2", "stripes", "planes", "ritz:3", "eigenvectors:3")


def test_every_space_is_among_those_of_the_pairs():
    named = {space.split(":")[0] for space in EVERY_SPACE}
    assert named == set(registry.registered("deflation")) - {"none", "file"}


@pairwise(deflation=EVERY_SPACE, variant=VARIANTS, coarse=COARSE, dtype=DTYPES)
def test_pairs_of_spaces_variants_coarse_solvers_and_precisions_solve(case):
    choices = dict(case)
    dtype = np.dtype(choices.pop("dtype"))
    grid = (6, 8)
    operator = grid_stencil(grid, dtype, shift=1)
    b = np.random.default_rng(2).random(48).astype(dtype)
    if np.dtype(dtype).kind == "c":
        b = b * np.exp(1j * np.random.default_rng(3).random(48)).astype(dtype)
    system = LinearSystem(operator, b, grid=grid, phase=phase_of(48))
    rtol = 1e-4 if np.dtype(dtype).itemsize // (1 + (np.dtype(dtype).kind == "c")) == 4 else 1e-9
    chosen = configure(InMemoryProblem(), preconditioner="jacobi", stopping=Stopping(rtol=rtol), **choices)
    result = run_through(Run(chosen, system))
    assert result.converged, (result.reason, result.detail)
    assert result.x.dtype == dtype
    assert result.summary["deflation_vectors"] > 0
