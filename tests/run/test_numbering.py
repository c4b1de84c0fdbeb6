"""A matrix that is numbered at random is solved in another order, and x comes back in that of A."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tests.conftest import random_matrix
from workbench.operators import Matrix
from workbench.problems import LinearSystem
from workbench.run import configure, solve
from workbench.run.choices.in_memory import InMemoryProblem
from workbench.run.setup import numbering

SIDE = 24


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(numbering, "LEAST", 100)


@pytest.fixture(scope="module")
def grid():
    A = configure("poisson5", n=SIDE).problem.assemble().operator.to_csr()
    return A, np.random.default_rng(5).permutation(SIDE**2)


def shuffled(A, order):
    return sparse.csr_array(A[order][:, order])


def note_of(result):
    return [note for note in result.provenance["notes"] if note.startswith("A is numbered at random")]


def test_the_mean_distance_of_couplings_by_hand():
    chain = sparse.csr_array(3 * np.eye(5) - np.eye(5, k=1) - np.eye(5, k=-1))
    assert numbering.distance(chain) == 1
    far = sparse.csr_array(np.array([[2.0, 0, 0, -1], [0, 2, -1, 0], [0, -1, 2, 0], [-1, 0, 0, 2]]))
    assert numbering.distance(far) == 2
    assert numbering.distance(sparse.csr_array(np.eye(4))) == 0


def test_a_matrix_in_another_order_has_the_same_entries():
    matrix = Matrix(random_matrix(30).to_csr())
    order = np.random.default_rng(0).permutation(30).astype(np.int32)
    made = matrix.in_order(order)
    np.testing.assert_array_equal(made.csr.toarray(), matrix.csr.toarray()[np.ix_(order, order)])
    assert made.csr.has_canonical_format
    assert made.csr.indptr.dtype == matrix.csr.indptr.dtype


@pytest.mark.parametrize("columns", [0, 3])
@pytest.mark.parametrize("deflation", ["none", "parts:30", "labels", "vectors"])
def test_x_comes_back_in_the_order_of_a(grid, deflation, columns):
    A, order = grid
    shape = (SIDE**2, columns) if columns else SIDE**2
    b, x0 = np.random.default_rng(6).standard_normal((2, *np.atleast_1d(shape)))
    labels = np.arange(SIDE**2) // SIDE
    given = {"labels": labels[order], "vectors": np.eye(SIDE)[labels][order] * 1.5}.get(deflation, deflation)
    levels = {"M": "jacobi", "deflation": given, "variant": "a-def2", "rtol": 1e-10}
    result = solve(shuffled(A, order), b[order], x0[order], **levels)
    assert note_of(result)
    assert result.converged
    found = np.empty_like(b)
    found[order] = result.x
    np.testing.assert_allclose(A @ found, b, atol=1e-8)
    if deflation in ("labels", "vectors"):
        assert result.iterations <= solve(A, b, x0, **{**levels, "deflation": labels}).iterations + 2


def test_the_renumbering_is_a_phase_of_the_setup(grid):
    A, order = grid
    result = solve(shuffled(A, order), np.ones(SIDE**2), M="ic")
    (note,) = note_of(result)
    assert "after reverse Cuthill-McKee, which took" in note
    phases = {phase["name"]: phase["seconds"] for phase in result.summary["setup_phases"]}
    assert 0 < phases[numbering.RENUMBERING] <= result.setup_seconds
    ordered = solve(A, np.ones(SIDE**2), M="ic")
    assert not note_of(ordered)
    assert result.iterations <= 1.3 * ordered.iterations


def test_null_vectors_move_with_the_unknowns():
    chain = sparse.csr_array(sparse.diags_array([1.0, *[2.0] * 198, 1.0]) - np.eye(200, k=1) - np.eye(200, k=-1))
    # Scaled, so that the null vector is not constant.
    scale = sparse.diags_array(np.linspace(1, 2, 200))
    order = np.random.default_rng(7).permutation(200)
    A, null = shuffled(sparse.csr_array(scale @ chain @ scale), order), (1 / np.linspace(1, 2, 200))[order]
    b = A @ np.random.default_rng(8).standard_normal(200)
    result = solve(A, b, nullspace=null, M="jacobi", rtol=1e-10)
    assert note_of(result)
    assert result.converged
    assert abs(null @ result.x) <= 1e-8
    np.testing.assert_allclose(A @ result.x, b, atol=1e-7)


@pytest.mark.parametrize(
    "choices",
    [
        {"M": lambda r: r},
        {"M": "block-ic:unknowns=20,cut=index"},
        {"deflation": "blocks:k=4,cut=index"},
        {"callback": lambda run: False},
        {"trace": True},
    ],
    ids=["function", "block-ic", "blocks", "callback", "trace"],
)
def test_the_order_stays_where_the_user_sees_it(grid, choices):
    A, order = grid
    assert not note_of(solve(shuffled(A, order), np.ones(SIDE**2), **choices))


def test_the_order_stays_on_an_accelerator(grid):
    pytest.importorskip("pyopencl")
    A, order = grid
    assert not note_of(solve(shuffled(A, order), np.ones(SIDE**2), M="jacobi", device="opencl"))


def test_the_order_of_a_graph_with_hubs_stays():
    star = np.zeros((600, 600))
    star[0, 1:] = star[1:, 0] = -1
    A = sparse.csr_array(star + np.diag(np.append(700.0, np.full(599, 3.0))))
    order = np.random.default_rng(9).permutation(600)
    assert not note_of(solve(shuffled(A, order), np.ones(600), M="jacobi"))


def test_small_matrices_and_grids_keep_their_order(grid, monkeypatch):
    A, order = grid
    configuration = configure(InMemoryProblem(), preconditioner="ic")
    matrix, b = Matrix(shuffled(A, order)), np.ones(SIDE**2)
    assert numbering.renumbered(configuration, LinearSystem(matrix, b), None)
    assert not numbering.renumbered(configuration, LinearSystem(matrix, b, grid=(SIDE, SIDE)), None)
    monkeypatch.setattr(numbering, "LEAST", SIDE**2 + 1)
    assert not numbering.renumbered(configuration, LinearSystem(matrix, b), None)
