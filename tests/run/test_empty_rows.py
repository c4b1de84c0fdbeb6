"""Rows of zeros, as of isolated nodes: x is 0 there, the rest is solved as without them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import linalg

from tests.contracts.cases import FIRST
from workbench.devices import device
from workbench.errors import InputError
from workbench.operators import BandStencil, ComplexSymmetricMatrix, UnsymmetricMatrix, as_operator
from workbench.operators.empty_rows import empty_rows, without_empty_rows
from workbench.problems import LinearSystem
from workbench.problems.matrix_market import read_matrix
from workbench.run import Reason, configure, prepare, solve
from workbench.spectra import spectrum

N = 60
FIRST_LAST_AND_A_RUN = np.array([0, 1, 20, 21, 22, 23, 24, 25, 26, 27, 40, 58, 59])
"""A whole subdomain of blocks:15 among them."""


def graph(anchored: bool, empty: np.ndarray = FIRST_LAST_AND_A_RUN, of_path: np.ndarray | None = None) -> np.ndarray:
    """The Laplacian of a random connected graph on the other nodes, plus a small diagonal there if anchored. of_path:
    weights of the edges between successive nodes, shape (N,)."""
    rng = np.random.default_rng(7)
    nodes = np.setdiff1d(np.arange(N), empty)
    path = rng.uniform(0.5, 1.5, nodes.size - 1)
    weights = np.diag(path if of_path is None else of_path[: nodes.size - 1], 1)
    chords = rng.integers(nodes.size, size=(40, 2))
    weights[chords.min(axis=1), chords.max(axis=1)] += chords[:, 0] != chords[:, 1]
    weights += weights.T
    core = np.diag(weights.sum(axis=0) + anchored * rng.uniform(0.1, 0.2, nodes.size)) - weights
    A = np.zeros((N, N))
    A[np.ix_(nodes, nodes)] = core
    return A


def check(A: np.ndarray, found: np.ndarray, b: np.ndarray) -> None:
    """Compare with the solution of minimum norm."""
    np.testing.assert_allclose(found, np.linalg.pinv(A, rcond=1e-12) @ b, atol=1e-7 * np.abs(b).max())
    assert not found[~A.any(axis=1)].any()


b = np.random.default_rng(1).standard_normal(N)
CONNECTED = {True: FIRST, False: [name for name in FIRST if name != "schwarz"]}
"""A box of schwarz that is all of a singular A has no factor, with empty rows or without."""


@pytest.mark.parametrize(
    ("anchored", "M"), [(anchored, M) for anchored, names in CONNECTED.items() for M in names if M not in ("adi", "mg")]
)
def test_every_preconditioner_takes_them(anchored, M):
    A = graph(anchored)
    result = solve(sparse.csr_array(A), b, M=M, rtol=1e-10)
    assert result.reason is Reason.CONSISTENT
    check(A, result.x, b)
    assert "A has 13 empty rows, of zeros alone; x is 0 there" in result.provenance["notes"]
    assert result.converged
    within = A @ np.arange(N)
    assert solve(sparse.csr_array(A), within, M=M).reason is Reason.CONVERGED


@pytest.mark.parametrize("anchored", [True, False])
@pytest.mark.parametrize("deflation", ["blocks:4", "blocks:15", "eigenvectors:3", "ritz:3"])
def test_every_second_level_without_a_grid_takes_them(deflation, anchored):
    A = graph(anchored)
    check(A, solve(sparse.csr_array(A), b, deflation=deflation, rtol=1e-10).x, b)


EXACT = ["auto", "cholesky", "dense-cholesky", "inverse", "sparse", "pseudo-inverse", "inner-cg"]
COARSE = st.tuples(st.sampled_from(EXACT), st.sampled_from(["def1", "a-def2", "bnn"]))
INEXACT = st.tuples(st.sampled_from(["inner-cg:0.01", "multilevel"]), st.just("a-def2"))
LABELS = np.arange(N) // 12
OWN = st.sets(st.integers(0, 4), min_size=1, max_size=4)
"""Subdomains of empty rows alone, of five."""


@settings(deadline=None, max_examples=20)
@given(OWN, st.integers(0, 1000), COARSE | INEXACT)
def test_subdomains_of_empty_rows_alone_are_no_part_of_a_null_vector_of_E(own, seed, chosen):
    weights = np.exp(np.random.default_rng(seed).uniform(-3, 3, N))
    A = graph(False, np.flatnonzero(np.isin(LABELS, list(own))), weights)
    coarse, variant = chosen
    result = solve(sparse.csr_array(A), b, deflation=LABELS, coarse=coarse, variant=variant, rtol=1e-10)
    assert result.reason is Reason.CONSISTENT
    check(A, result.x, b)
    dropped = 5 - max(set(range(5)) - own)
    many = f"{dropped} redundant deflation vectors" if dropped > 1 else "one redundant deflation vector"
    assert any(f"pure Neumann problem: {many} removed" in note for note in result.provenance["notes"])


@pytest.mark.parametrize("choices", [{"device": "opencl"}, {"ranks": 3}, {}], ids=str)
def test_so_on_every_machine_and_for_null_vectors_that_are_given(choices):
    if "ranks" in choices:
        pytest.importorskip("mpi4py")
    A = graph(False, np.r_[12:24, 48:60])
    others = A.any(axis=1)
    vectors = None if choices else np.stack([0.3 * others, ~others], axis=1)
    choices = {"deflation": "blocks:5", "coarse": "cholesky", "rtol": 1e-10, **choices}
    check(A, solve(sparse.csr_array(A), b, nullspace=vectors, **choices).x, b)


@pytest.mark.parametrize("M", ["none", "jacobi", "mg", "neumann:2", "chebyshev", "ic"])
def test_cells_of_a_stencil_may_be_without_an_equation(M):
    main, west, south = np.full(36, 4.0), np.full(36, -1.0), np.full(36, -1.0)
    west[::6] = south[:6] = 0
    for cell in (0, 14, 35):
        main[cell] = west[cell] = south[cell] = 0
        west[cell + 1 : cell + 2] = south[cell + 6 : cell + 7] = 0
    stencil = BandStencil((6, 6), main, (west, south))
    check(stencil.to_csr().toarray(), solve(stencil, b[:36], M=M, deflation="blocks:2", rtol=1e-10).x, b[:36])


@settings(deadline=None, max_examples=20)
@given(st.sets(st.integers(0, N - 1), min_size=1, max_size=N - 2), st.booleans(), st.integers(-300, 300))
def test_whichever_rows_and_whatever_units(rows, anchored, exponent):
    A = graph(anchored, np.array(sorted(rows)))
    result = solve(np.ldexp(1.0, exponent) * A, b, rtol=1e-10)
    check(A, np.ldexp(result.x, exponent), b)


@pytest.mark.parametrize(
    "choices",
    # Ranks take such rows in the test of subdomains of empty rows, too.
    [{"device": "opencl"}, {"format": "ell"}, pytest.param({"ranks": 3}, marks=pytest.mark.slow)],
    ids=str,
)
def test_on_every_machine(choices):
    if "ranks" in choices:
        pytest.importorskip("mpi4py")
    A = graph(anchored=False)
    check(A, solve(sparse.csr_array(A), b, rtol=1e-10, **choices).x, b)


def test_many_right_hand_sides_a_start_and_a_prepared_system():
    A = graph(anchored=False)
    X = solve(A, np.stack([b, A @ b], axis=1), rtol=1e-10).x
    check(A, X[:, 0], b)
    check(A, X[:, 1], A @ b)
    result = solve(A, b, x0=b, rtol=1e-10)
    check(A, result.x, b)
    assert "the component of x0 in the null space of A was removed" in result.detail
    prepared = prepare(A, rtol=1e-10)
    check(A, prepared.solve(b).x, b)
    np.testing.assert_allclose(prepared.product(b), A @ b, atol=1e-13)
    prepared.update(2 * A)
    check(2 * A, prepared.solve(b).x, b)


def test_null_vectors_that_are_given_are_those_of_the_other_rows():
    A = graph(anchored=False)
    isolated = ~A.any(axis=1)
    vectors = np.stack([~isolated, isolated, np.arange(N) == 0], axis=1).astype(float)
    for given_vectors in (vectors, vectors[:, 1:], np.empty((N, 0))):
        result = solve(A, A @ b, nullspace=given_vectors, rtol=1e-10)
        assert result.converged
        assert not result.x[isolated].any()
    check(A, solve(A, b, nullspace=vectors, rtol=1e-10).x, b)


@pytest.mark.parametrize("M", ["jacobi", "chebyshev"])
@pytest.mark.parametrize("anchored", [True, False])
def test_the_diagonal_of_an_operator_shows_them(M, anchored):
    A = graph(anchored)
    check(A, solve(linalg.aslinearoperator(A), b, M=M, diagonal=A.diagonal(), deflation="blocks:15", rtol=1e-10).x, b)


def test_they_get_the_largest_diagonal_entry_and_are_empty_no_more():
    A = graph(anchored=True)
    filled, rows = without_empty_rows(as_operator(sparse.csr_array(A)), device())
    np.testing.assert_array_equal(rows, FIRST_LAST_AND_A_RUN)
    assert set(filled.diagonal()[rows]) == {A.diagonal().max()}
    assert not empty_rows(filled).size


@pytest.mark.parametrize(("cell", "empty"), [(0, []), (1, []), (2, [2])])
def test_a_zero_on_the_diagonal_of_a_coupled_cell_is_no_empty_row(cell, empty):
    """Cells 0 and 1 are coupled, which is stored with 1."""
    west = np.array([0, -1.0, 0, 0])
    stencil = BandStencil((2, 2), np.where(np.arange(4) == cell, 0, 2.0), (west, np.zeros(4)))
    assert empty_rows(stencil).tolist() == empty


def test_the_spectrum_is_that_of_A():
    A = graph(anchored=True)
    found = spectrum(configure("poisson5", preconditioner="none"), LinearSystem(as_operator(A), b))
    np.testing.assert_allclose(found, np.linalg.eigvalsh(A), atol=1e-12)


def test_nothing_but_empty_rows():
    for A in (np.zeros((1, 1)), np.zeros((4, 4)), sparse.csr_array((4, 4))):
        result = solve(A, np.zeros(A.shape[0]))
        assert result.converged
        assert not result.x.any()
        with pytest.raises(InputError, match="nothing is left"):
            solve(A, np.ones(A.shape[0]))


def test_a_complex_symmetric_matrix_may_have_them():
    A = graph(anchored=True) + 0.1j * np.diag(graph(anchored=True).diagonal())
    result = solve(A, b + 0j, solver="cocg", rtol=1e-10)
    check(A, result.x, b)


def test_a_file_may_have_them(tmp_path):
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n4 4 3\n1 1 2\n3 1 -1\n3 3 2\n")
    matrix, _ = read_matrix(path)
    assert matrix.empty_rows.tolist() == [1, 3]
    assert matrix.nnz == 4
    result = solve(matrix, np.ones(4))
    np.testing.assert_allclose(result.x, [1, 0, 1, 0])


def test_a_zero_next_to_an_entry_is_none():
    unsymmetric = np.array([[0.0, 0.0], [1.0, 2.0]])
    for A, kind in ((np.array([[0.0, 1.0], [1.0, 2.0]]), None), (unsymmetric, UnsymmetricMatrix)):
        with pytest.raises(InputError, match="diagonal entry 0 is 0, in a row with other entries"):
            as_operator(A, kind) if kind else as_operator(A)
    assert not ComplexSymmetricMatrix(sparse.csr_array(np.array([[0.0, 1.0], [1.0, 2.0]]))).empty_rows.size
