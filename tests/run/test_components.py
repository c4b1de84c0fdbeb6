"""A singular matrix of several connected components: x has mean 0 in each, as the solution of minimum norm has."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from tests.contracts.cases import FIRST
from workbench.devices import device
from workbench.errors import InputError
from workbench.operators import as_operator
from workbench.operators.components import components_of
from workbench.operators.cuts import components
from workbench.operators.null_space import null_space_of
from workbench.preconditioners.pinned import pin_unknowns
from workbench.run import Reason, prepare, solve
from workbench.run.setup import numbering
from workbench.scipy import cg
from workbench.words.numbers import chosen, relative

SIZES = (14, 1, 9, 2, 1, 13)


def laplacian(size: int, seed: int) -> np.ndarray:
    """That of a random connected graph."""
    weights = np.triu(np.random.default_rng(seed).random((size, size)) < 0.2, 1).astype(float)
    weights[np.arange(size - 1), np.arange(1, size)] = 1
    weights += weights.T
    return np.diag(weights.sum(axis=0)) - weights


def graph(seed: int = 0, sizes: tuple[int, ...] = SIZES) -> np.ndarray:
    """Components of these sizes, numbered at random; one of size 1 is an empty row."""
    A = sparse.block_diag([laplacian(size, seed + k) for k, size in enumerate(sizes)]).toarray()
    order = np.random.default_rng(seed).permutation(len(A))
    return A[np.ix_(order, order)]


A = graph()
N = len(A)
b = np.random.default_rng(1).standard_normal(N)


def check(A: np.ndarray, x: np.ndarray, b: np.ndarray) -> None:
    np.testing.assert_allclose(x, np.linalg.pinv(A, rcond=1e-12) @ b, atol=1e-7 * np.abs(b).max())


@pytest.mark.parametrize("M", [name for name in FIRST if name not in ("adi", "mg", "schwarz")])
def test_every_preconditioner_takes_them(M):
    result = solve(sparse.csr_array(A), b, M=M, rtol=1e-10)
    assert result.reason is Reason.CONSISTENT
    check(A, result.x, b)
    assert "A has 4 components that nothing couples; x has mean 0 in each" in result.provenance["notes"]
    within = A @ np.arange(N)
    result = solve(sparse.csr_array(A), within, M=M, rtol=1e-10)
    assert result.reason is Reason.CONVERGED
    check(A, result.x, within)


COARSE = ("auto", "cholesky", "dense-cholesky", "inverse", "sparse", "pseudo-inverse", "inner-cg")


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.integers(0, 5), min_size=N, max_size=N).map(np.array),
    st.sampled_from(COARSE),
    st.sampled_from(["def1", "a-def2", "bnn"]),
    st.integers(0, 50),
)
def test_whatever_subdomains_there_are(labels, coarse, variant, seed):
    """Within components, across them, and of empty rows alone."""
    labels = np.unique(labels, return_inverse=True)[1]
    A = graph(seed)
    result = solve(sparse.csr_array(A), b, deflation=labels, coarse=coarse, variant=variant, rtol=1e-10)
    assert result.reason is Reason.CONSISTENT
    check(A, result.x, b)


@pytest.mark.parametrize("deflation", ["parts:4", "blocks:5", "eigenvectors:6", "ritz:3"])
def test_every_second_level_without_a_grid_takes_them(deflation):
    check(A, solve(sparse.csr_array(A), b, deflation=deflation, rtol=1e-10).x, b)


def test_components_of_a_subdomain_each_are_said():
    sizes = (10, 20, 15)
    A = sparse.block_diag([laplacian(size, size) for size in sizes]).toarray()
    result = solve(A, b[:1] * np.arange(45.0), deflation=np.repeat([0, 1, 2], sizes), coarse="cholesky", rtol=1e-10)
    check(A, result.x, b[:1] * np.arange(45.0))
    said = "A has several components: 3 diagonal entries of E enlarged, so that E is definite (expected)"
    assert said in result.provenance["notes"]


@pytest.mark.parametrize("k", [1, 2])
def test_null_vectors_that_are_given_are_theirs(k):
    labels = components_of(as_operator(sparse.csr_array(A)), np.flatnonzero(~A.any(axis=1)), device()).labels
    # Both empty rows have the last number.
    assert sorted(np.bincount(labels)) == [2, 2, 9, 13, 14]
    vectors = np.eye(labels.max() + 1)[labels]
    # In another basis, or without one of them: then the user knows better.
    given_vectors = vectors @ np.random.default_rng(2).random((5, 5)) if k == 1 else vectors[:, :3]
    deflation = "parts:3" if k == 1 else None
    result = solve(sparse.csr_array(A), A @ b, nullspace=given_vectors, deflation=deflation, rtol=1e-10)
    assert result.converged
    if k == 1:
        check(A, result.x, A @ b)


def test_on_accelerators_in_block_methods_and_prepared():
    B = np.stack([b, A @ b], axis=1)
    for choices in ({}, {"device": "opencl"}, {"device": "opencl", "deflation": "parts:3"}):
        check(A, solve(sparse.csr_array(A), b, rtol=1e-10, **choices).x, b)
        X = solve(sparse.csr_array(A), B, rtol=1e-10, **choices).x
        check(A, X[:, 0], b)
        check(A, X[:, 1], A @ b)
    prepared = prepare(A, rtol=1e-10)
    check(A, prepared.solve(b).x, b)
    prepared.update(3 * A)
    check(3 * A, prepared.solve(b).x, b)
    x, info = cg(A, A @ b, rtol=1e-10)
    assert info == 0
    check(A, x, A @ b)


def test_the_component_in_which_b_has_the_largest_mean_is_named_by_its_first_row():
    halves = sparse.csr_array(sparse.block_diag([laplacian(5, 1), laplacian(4, 2), laplacian(6, 3)]))
    one = np.r_[np.zeros(5), np.full(4, 0.5), np.zeros(6)]
    other = one + np.r_[np.zeros(9), np.full(6, 0.125)]
    within = halves @ np.arange(15.0)
    for scale in (1.0, 1e200):
        for right, many in ((one, 1), (other, 2)):
            result = solve(halves, scale * (within + right), rtol=1e-10)
            part = relative(np.linalg.norm(right) / np.linalg.norm(within + right))
            said = f"the mean of b in {many} of the 3 components of A, {part} of ||b|| and {chosen(0.5 * scale)} in"
            assert f"A is singular: {said} that of row 5, was removed so that a solution exists" in result.detail
    with pytest.raises(InputError, match=r"in that of row 5, is all of b, so nothing is left"):
        solve(halves, one)


def test_that_row_is_one_of_a_also_where_the_unknowns_are_renumbered(monkeypatch):
    monkeypatch.setattr(numbering, "LEAST", 10)
    whole = sparse.block_diag([laplacian(30, 1), laplacian(20, 2)]).toarray()
    order = np.random.default_rng(0).permutation(50)
    first = int(np.flatnonzero(order >= 30)[0])
    right = (order >= 30).astype(float) + whole[np.ix_(order, order)] @ np.arange(50.0)
    result = solve(sparse.csr_array(whole[np.ix_(order, order)]), right, M="jacobi", rtol=1e-10)
    assert any("numbered at random" in note for note in result.provenance["notes"])
    assert "in 1 of the 2 components of A, " in result.detail
    assert f" in that of row {first}, was removed" in result.detail


def test_complex_vectors_have_mean_zero_too():
    result = solve(sparse.csr_array(A), b + 1j * np.arange(N), rtol=1e-10)
    check(A, result.x, b + 1j * np.arange(N))


def test_a_random_graph_with_isolated_nodes_and_small_components():
    rng = np.random.default_rng(3)
    ends = rng.integers(3000, size=(2, 4500))
    ends = ends[:, ends[0] != ends[1]]
    edges = sparse.coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(3000, 3000)).tocsr()
    weights = edges + edges.T
    L = sparse.csr_array(sparse.diags_array(weights.sum(axis=0)) - weights)
    right = rng.standard_normal(3000)
    result = solve(L, right, rtol=1e-10)
    assert result.reason is Reason.CONSISTENT
    labels = sparse.csgraph.connected_components(L, directed=False)[1]
    assert labels.max() > np.count_nonzero(L.diagonal() == 0) > 100
    means = np.bincount(labels, result.x) / np.bincount(labels)
    assert np.abs(means).max() < 1e-12
    np.testing.assert_allclose(
        L @ result.x, right - (np.bincount(labels, right) / np.bincount(labels))[labels], atol=1e-7
    )


def test_one_component_and_what_is_anchored_have_no_numbers():
    cores = device()
    for matrix in (laplacian(20, 1), graph() + np.eye(N)):
        operator = as_operator(sparse.csr_array(matrix))
        assert null_space_of(operator, None, operator.bind(cores), cores).components is None


def test_stored_zeros_couple_nothing():
    two = sparse.block_diag([laplacian(4, 1), laplacian(5, 2)]).tocoo()
    places = np.r_[two.row, 3, 4], np.r_[two.col, 4, 3]
    stored = sparse.csr_array(sparse.coo_array((np.r_[two.data, 0, 0], places), shape=(9, 9)))
    assert stored.nnz == two.nnz + 2
    operator = as_operator(stored)
    assert components_of(operator, None, device()).labels.tolist() == 4 * [0] + 5 * [1]
    assert operator.csr.nnz == stored.nnz
    np.testing.assert_array_equal(operator.csr.toarray(), two.toarray())


@pytest.mark.parametrize("stored_zero", [False, True])
@pytest.mark.parametrize("boxes", ["schwarz:1", "schwarz:2", "schwarz:2,cut=index", "schwarz:2,solver=chebyshev:4"])
def test_schwarz_boxes_that_hold_whole_components(boxes, stored_zero):
    chain = np.diag(np.r_[1.0, np.full(7, 2.0), 1.0]) - np.eye(9, k=1) - np.eye(9, k=-1)
    dense = np.kron(np.eye(3), chain)
    matrix = sparse.csr_array(dense)
    if stored_zero:
        entries = matrix.tocoo()
        places = np.r_[entries.row, 0, 26], np.r_[entries.col, 26, 0]
        matrix = sparse.csr_array((np.r_[entries.data, 0.0, 0.0], places), shape=dense.shape)
    b = dense @ np.random.default_rng(0).random(27)
    result = solve(matrix, b, M=boxes, rtol=1e-10)
    assert result.converged
    assert np.allclose(result.x, np.linalg.pinv(dense) @ b, atol=1e-7)


def test_stored_zeros_join_no_components_that_are_pinned():
    path = np.array([[1.0, -1], [-1, 1]])
    A = sparse.csr_array(sparse.block_diag([path, path]))
    rows, columns = [0, 3], [3, 0]
    stored = sparse.coo_array(
        (np.append(A.tocoo().data, [0.0, 0.0]), tuple(map(np.append, A.tocoo().coords, (rows, columns)))), shape=A.shape
    )
    stored = sparse.csr_array(stored)
    assert stored.nnz == A.nnz + 2
    count, labels = components(stored)
    assert (count, labels.tolist()) == (2, [0, 0, 1, 1])
    # One unknown of each is pinned, so that the matrix is definite.
    regular, pins, _ = pin_unknowns(stored)
    assert pins == 2
    assert np.linalg.eigvalsh(regular.toarray()).min() > 0.1
