"""Deflation with parts of the graph, and cycles over parts of E, on matrices without a grid."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial import Delaunay

from tests.all_pairs import on_accelerators
from workbench.deflation.grown_levels import grown_levels
from workbench.deflation.hierarchy import hierarchy
from workbench.deflation.multilevel import REPEATS, STEPS
from workbench.devices.cycles import HostLevels
from workbench.errors import InputError
from workbench.registry import find
from workbench.run import Run, configure, solve

SIZE = 30


@pytest.fixture(scope="module")
def mesh():
    """Linear elements on triangles of random points, numbered at random, with coefficients 1 and 1000 in eight strips
    and the boundary left out; and a right-hand side."""
    rng = np.random.default_rng(3)
    places = rng.random((7000, 2))
    cells = Delaunay(places).simplices
    corners = np.concatenate([np.ones((len(cells), 3, 1)), places[cells]], axis=2)
    gradients = np.linalg.inv(corners)[:, 1:]
    coefficients = np.where(places[cells].mean(axis=1)[:, 0] * 8 % 2 < 1, 1, 1000)
    weights = coefficients * np.abs(np.linalg.det(corners)) / 2
    element = weights[:, None, None] * (gradients.transpose(0, 2, 1) @ gradients)
    rows, columns = np.broadcast_to(cells[:, :, None], element.shape), np.broadcast_to(cells[:, None], element.shape)
    matrix = sparse.coo_array((element.ravel(), (rows.ravel(), columns.ravel())), shape=(7000, 7000)).tocsr()
    inner = np.flatnonzero(np.abs(places - 0.5).max(axis=1) < 0.48)
    return sparse.csr_array(matrix[inner][:, inner]), rng.standard_normal(inner.size)


def test_parts_take_fewer_iterations_than_ranges_of_numbers_and_than_none(mesh):
    A, b = mesh
    counts = {
        deflation: solve(A, b, M="jacobi", deflation=deflation, rtol=1e-8).iterations
        for deflation in ("none", f"blocks:k={A.shape[0] // SIZE},cut=index", f"parts:{SIZE}")
    }
    none, ranges, parts = counts.values()
    assert parts < 0.4 * none, counts
    assert parts < 0.4 * ranges, counts


def test_labels_of_a_matrix_are_those_that_a_run_deflates_with():
    deflation = find("deflation", f"parts:{SIZE}")
    assert deflation.labels(1000, None) is None
    run = Run(configure("stand-in", scale=0.2, deflation=deflation))
    assert np.array_equal(deflation.labels_of(run.setup.system.operator, None), run.setup.labels)
    # Spaces that need no entries have the labels of their grid.
    blocks, square = find("deflation", "blocks:2"), find("problem", "poisson5:4").assemble().operator
    assert np.array_equal(blocks.labels_of(square, (4, 4)), blocks.labels(16, (4, 4)))


def test_parts_of_a_laplacian_with_components_solve_a_singular_system():
    rng = np.random.default_rng(1)
    rows, columns = rng.integers(300, size=(2, 900))
    half = sparse.coo_array((np.ones(900), (rows, columns)), shape=(300, 300)).tocsr()
    half.setdiag(0)
    couplings = half + half.T
    one = sparse.diags_array(couplings.sum(axis=1)) - couplings
    A = sparse.block_diag([one, one, sparse.csr_array((3, 3))]).tocsr()
    b = A @ rng.standard_normal(A.shape[0])
    found = solve(A, b, M="jacobi", deflation="parts:20", rtol=1e-9)
    assert found.converged
    assert np.linalg.norm(b - A @ found.x) <= 1e-8 * np.linalg.norm(b)


@on_accelerators(coarse=["sparse", "multilevel"], M=["jacobi", "chebyshev"])
def test_accelerators_take_as_many_iterations(accelerator, case, mesh):
    A, b = mesh
    expected, found = (
        solve(A, b, deflation=f"parts:{SIZE}", variant="a-def2", rtol=1e-8, device=name, **case)
        for name in ("cpu", accelerator.spec)
    )
    assert found.converged
    # With cycles M is not linear, and rounding decides on some iterations.
    slack = 2 if case["coarse"] == "sparse" else 0.2 * expected.iterations
    assert abs(found.iterations - expected.iterations) <= slack


def test_cycles_over_parts_of_e_take_about_as_many_iterations_as_its_factorization(mesh):
    A, b = mesh
    exact, cycles = (
        solve(A, b, M="chebyshev", deflation="parts:8", coarse=coarse, rtol=1e-8)
        for coarse in ("sparse", "multilevel:bottom=40")
    )
    assert cycles.converged
    assert cycles.iterations <= 1.5 * exact.iterations
    (note,) = [note for note in cycles.provenance["notes"] if "has levels of" in note]
    assert note.endswith("takes cycle k 4 times")


def test_repeated_solves_are_those_of_what_is_left(mesh):
    matrix, _ = mesh
    b = np.random.default_rng(2).standard_normal(matrix.shape[0])
    once, repeated = (HostLevels(hierarchy(matrix, None, 100, 1.8, STEPS["k"], repeats)) for repeats in (1, REPEATS))
    x = np.zeros(b.size)
    for _ in range(REPEATS):
        x += once.solve(b - matrix @ x)
    # Levels are in single precision.
    assert np.linalg.norm(repeated.solve(b) - x) <= 1e-2 * np.linalg.norm(x)


def test_levels_are_parts_of_parts(mesh):
    A, _ = mesh
    grown = grown_levels(A, 50)
    parents, count = [level.parents for level in grown.levels], grown.diagonal.size
    assert count <= 50 or len(parents) == 0
    sizes = [parent.size for parent in parents]
    assert sizes[0] == A.shape[0]
    assert [int(parent.max()) + 1 for parent in parents] == [*sizes[1:], count]
    assert all(fewer < 0.3 * more for more, fewer in zip(sizes, [*sizes[1:], count], strict=True))


def test_a_size_below_two_is_refused_in_a_sentence():
    with pytest.raises(InputError, match="size"):
        find("deflation", "parts:1")
