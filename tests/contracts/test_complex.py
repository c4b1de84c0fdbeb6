"""Complex Hermitian systems: every solver takes as many iterations as the same method in NumPy on dense arrays."""

from __future__ import annotations

import numpy as np
from scipy import sparse

import workbench.run  # noqa: F401  registers every block
from tests.all_pairs import on_accelerators, pairwise
from tests.contracts.cases import ON_CORES
from tests.solvers.textbook import textbook
from workbench.registry import blocks as registry
from workbench.run import solve

WIDTH, SIZE = 12, 132
SOLVERS = {
    name: solver
    for name, solver in registry.registered("solver").items()
    if not solver.complex_symmetric and name != "petsc"
}
DIAGONAL_ONLY = sorted(name for name, solver in SOLVERS.items() if getattr(solver, "both_precondition", False))
"""These take preconditioners that act element by element."""
RTOL = {"complex64": 1e-4, "complex128": 1e-10}
FIRST = ("none", "jacobi", "neumann:1")


def system(dtype):
    """-Laplace on a small grid, every coupling with a phase of its own, which no diagonal scaling makes real; and b.

    Its condition number, about 60, makes rounding in an imaginary part that should be zero grow where it can.
    """
    rng = np.random.default_rng(11)
    matrix = sparse.lil_array((SIZE, SIZE), dtype=np.complex128)
    for row in range(SIZE):
        matrix[row, row] = 4 + 0.01 * rng.random()
        right = [row + 1] if (row + 1) % WIDTH else []
        for column in (*right, *([row + WIDTH] if row + WIDTH < SIZE else [])):
            matrix[row, column] = -np.exp(0.1j * np.pi * rng.random())
            matrix[column, row] = np.conj(matrix[row, column])
    b = rng.standard_normal(SIZE) + 1j * rng.standard_normal(SIZE)
    return sparse.csr_array(matrix).astype(dtype), b.astype(dtype)


def inverse_of(first, dense):
    """M^-1 as a dense matrix."""
    diagonal = np.diag(np.diag(dense))
    if first == "none":
        return np.eye(len(dense))
    if first == "jacobi":
        return np.linalg.inv(diagonal)
    kept = np.eye(len(dense)) - np.tril(dense, -1) @ np.linalg.inv(diagonal)
    return kept.conj().T @ np.linalg.inv(diagonal) @ kept


def assert_as_the_textbook(solver, device, first, dtype):
    matrix, b = system(dtype)
    dense, right = matrix.toarray().astype(np.complex128), b.astype(np.complex128)
    rtol = RTOL[dtype]
    steps = enumerate(textbook(dense, right, np.zeros(SIZE), inverse_of(first, dense), steepest=solver == "sd"))
    expected, (solution, _) = next(step for step in steps if step[1][1] <= rtol * np.linalg.norm(right))
    found = solve(matrix, b, M=first, solver=solver, device=device, rtol=rtol)
    assert found.converged, (found.reason, found.detail)
    assert abs(found.iterations - expected) <= 1 + expected // 100
    np.testing.assert_allclose(found.x, solution, rtol=0, atol=100 * rtol * np.abs(solution).max())


@pairwise(solver=ON_CORES, first=FIRST, dtype=sorted(RTOL))
def test_on_the_cores(case):
    assert_as_the_textbook(device="cpu", **case)


@on_accelerators(solver=sorted(set(SOLVERS) - set(DIAGONAL_ONLY)), first=FIRST, dtype=sorted(RTOL))
def test_on_accelerators(accelerator, case):
    assert_as_the_textbook(device=accelerator.spec, **case)


@on_accelerators(solver=DIAGONAL_ONLY, first=("none", "jacobi"), dtype=sorted(RTOL))
def test_methods_of_two_devices(accelerator, case):
    assert_as_the_textbook(device=accelerator.spec, **case)
