"""The automatic coarse solver and variant."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial import Delaunay

from workbench import devices
from workbench.deflation.coarse_auto import estimated_seconds, half_bandwidth, scaled_condition, width_of_boxes
from workbench.deflation.galerkin import matrix_of_rows
from workbench.deflation.levelset import LevelSet
from workbench.deflation.parts import Parts
from workbench.registry import find
from workbench.run import Run, configure, run_through, solve


def chosen(**choices):
    configuration = configure("bubbles-3d", coarse="auto", preconditioner="neumann:1", x0="zero", **choices)
    run = Run(configuration)
    (reason,) = [note for note in run.setup.notes if note.startswith("coarse auto")]
    return run, reason


def test_few_vectors_get_cholesky_and_def1():
    run, reason = chosen(n=16, deflation="levelset:4", variant="auto")
    assert reason.startswith("coarse auto is cholesky for 128 vectors")
    assert run.setup.variant.name == "def1"


def test_a_small_and_well_conditioned_matrix_is_inverted():
    matrix = sparse.csr_array(np.diag(np.full(8, 2.0)) - np.eye(8, k=1) - np.eye(8, k=-1))
    # In the maximum norm: 4 times the largest row sum of the inverse, m (9 - m)/2 for m = 4.
    assert scaled_condition(matrix.toarray()) == pytest.approx(40)
    chosen_solver, reason = find("coarse", "auto").resolved(matrix, None, on_host=True, exact=True)
    assert chosen_solver.name == "inverse"
    assert reason.startswith("coarse auto is inverse for 8 vectors: a dense product")
    for poor in (np.diag([1.0, 0.0]), np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([[1.0, 0.9999], [0.9999, 1.0]])):
        solver, _ = find("coarse", "auto").resolved(sparse.csr_array(poor), None, on_host=True, exact=True)
        assert solver.name == "cholesky"


def test_many_boxes_get_multilevel_and_a_def2():
    run, reason = chosen(n=48, deflation="levelset:16", variant="auto")
    assert reason.startswith("coarse auto is multilevel for")
    assert run.setup.variant.name == "a-def2"
    assert run_through(run).converged


@pytest.mark.parametrize("choices", [{"variant": "def1"}, {"variant": "auto", "solver": "hybrid2"}])
def test_what_needs_an_exact_solve_gets_one(choices):
    configuration = configure(
        "bubbles-3d", n=32, deflation="levelset:16", coarse="auto", preconditioner="jacobi", device="opencl", **choices
    )
    run = Run(configuration)
    assert run.setup.projection.exact
    assert run.setup.variant.name == "def1"


def test_the_half_bandwidth_is_that_of_the_best_known_order():
    size = 50
    shuffled = np.random.default_rng(0).permutation(size)
    off = np.full(size - 1, -1.0)
    matrix = sparse.csr_array(sparse.diags_array([off, np.full(size, 2.0), off], offsets=[-1, 0, 1]))
    assert half_bandwidth(sparse.csr_array(matrix[shuffled][:, shuffled])) == 1


@pytest.mark.parametrize(("name", "n", "k"), [("bubbles-3d", 40, 10), ("two-layer", 120, 30), ("slabs-3d", 24, 6)])
def test_boxes_have_about_the_width_of_a_layer(name, n, k):
    system = configure(name, n=n).problem.assemble()
    labels, boxes = LevelSet(k).labels_and_boxes(system.operator.shape[0], system.grid, system.phase)
    matrix = matrix_of_rows(system.operator.box_matrix(devices.device("cpu"), labels, boxes))
    assert width_of_boxes(Parts.of(boxes)) == pytest.approx(half_bandwidth(matrix), rel=0.5)


def test_a_band_without_width_costs_least():
    seconds = estimated_seconds(sparse.csr_array(sparse.eye_array(5000)), on_host=True)
    assert min(seconds, key=lambda name: seconds[name]) == "cholesky"


@functools.cache
def tetrahedra(points: int, per_side: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Linear elements of -div(k grad u) + u on a Delaunay mesh, k between 1 and 1000 by cell, and labels by place."""
    rng = np.random.default_rng(3)
    places = rng.random((points, 3))
    cells = Delaunay(places).simplices
    corners = np.concatenate([np.ones((len(cells), 4, 1)), places[cells]], axis=2)
    gradients = np.linalg.inv(corners)[:, 1:]
    weights = np.abs(np.linalg.det(corners)) / 6 * 1000 ** rng.random(len(cells))
    element = weights[:, None, None] * (gradients.transpose(0, 2, 1) @ gradients)
    rows, columns = (np.broadcast_to(cells[:, :, None], element.shape), np.broadcast_to(cells[:, None], element.shape))
    stiffness = sparse.coo_array((element.ravel(), (rows.ravel(), columns.ravel())), shape=(points, points))
    boxes = (places * per_side).astype(int) @ [per_side**2, per_side, 1]
    return sparse.csr_array(stiffness + sparse.eye_array(points) / points), np.unique(boxes, return_inverse=True)[1]


def test_labels_of_an_unstructured_mesh_get_a_factorization():
    A, labels = tetrahedra(7000, 13)
    b = np.random.default_rng(4).standard_normal(A.shape[0])
    found, exact = (solve(A, b, M="jacobi", deflation=labels, coarse=coarse) for coarse in ("auto", "sparse"))
    (reason,) = [note for note in found.provenance["notes"] if note.startswith("coarse auto")]
    assert "multilevel" not in reason
    assert found.converged
    assert found.iterations == exact.iterations


def test_more_than_20_000_vectors_without_boxes_get_levels_and_a_note():
    def chosen(count, *, exact=False):
        """For an E of a random graph, whose band is wide."""
        rows, columns = np.random.default_rng(2).integers(count, size=(2, 2 * count))
        half = sparse.coo_array((-np.ones(2 * count), (rows, columns)), shape=(count, count)).tocsr()
        return find("coarse", "auto").resolved(half + half.T, None, on_host=True, exact=exact)

    assert chosen(20_000)[0].name == "sparse"
    solver, reason = chosen(20_001)
    assert solver.name == "multilevel"
    assert "vectors without boxes are merged along couplings of E" in reason
    assert chosen(20_001, exact=True)[0].name == "sparse"
