"""A known by its products alone: deflation by products, a diagonal that is passed, and what is refused."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

from tests.conftest import random_matrix
from workbench.errors import InputError
from workbench.run import solve

N = 81
LABELS = np.arange(N, dtype=np.int32) // 21
VECTORS = np.random.default_rng(5).random((N, 3))
SCALED = sparse.diags_array(10.0 ** np.linspace(-1, 1, N))


def matrix_of(dtype=np.float64):
    return sparse.csr_array(SCALED @ random_matrix(N, dtype).csr @ SCALED).astype(dtype)


def free(A):
    return linalg.LinearOperator(A.shape, matvec=lambda v: A @ v, dtype=A.dtype)


@pytest.mark.parametrize(
    ("dtype", "choices"),
    [
        (np.float64, {"deflation": LABELS, "M": None}),
        (np.float64, {"deflation": LABELS, "coarse": "sparse", "variant": "def1"}),
        (np.float64, {"deflation": "blocks:4", "coarse": "multilevel", "device": "opencl"}),
        (np.float64, {"deflation": "ritz:3"}),
        (np.complex128, {"deflation": LABELS}),
        (np.float32, {"deflation": VECTORS.astype(np.float32)}),
    ],
    ids=["none", "def1", "multilevel", "ritz", "complex", "single"],
)
def test_deflation_by_products_is_that_of_the_entries(dtype, choices):
    if choices.get("device") == "opencl":
        pytest.importorskip("pyopencl")
    A, b = matrix_of(dtype), np.random.default_rng(1).random(N).astype(dtype)
    rtol = 1e-4 if dtype is np.float32 else 1e-9
    expected = solve(A, b, rtol=rtol, **choices)
    diagonal = None if "M" in choices else np.real(A.diagonal())
    found = solve(free(A), b, rtol=rtol, diagonal=diagonal, **choices)
    assert expected.converged
    assert found.converged
    assert abs(found.iterations - expected.iterations) <= max(1, expected.iterations / 20)
    assert np.linalg.norm(b - A @ found.x) <= rtol * np.linalg.norm(b)


def test_deflation_by_products_of_a_singular_matrix():
    main = np.full(N, 2.0)
    main[[0, -1]] = 1
    A = sparse.diags_array([-np.ones(N - 1), main, -np.ones(N - 1)], offsets=[-1, 0, 1]).tocsr()
    b = A @ np.random.default_rng(1).random(N)
    expected, found = (solve(form, b, M=None, deflation=LABELS, rtol=1e-9) for form in (A, free(A)))
    assert found.converged
    assert found.iterations == expected.iterations
    assert np.linalg.norm(b - A @ found.x) <= 1e-9 * np.linalg.norm(b)


def test_deflation_by_products_of_many_right_hand_sides():
    A, B = matrix_of(), np.random.default_rng(1).random((N, 3))
    found = solve(free(A), B, deflation=LABELS, diagonal=A.diagonal(), rtol=1e-9)
    assert found.converged
    assert (np.linalg.norm(B - A @ found.x, axis=0) <= 1e-9 * np.linalg.norm(B, axis=0)).all()


@pytest.mark.parametrize("name", ["jacobi", "chebyshev", "chebyshev:4"])
def test_preconditioners_take_the_diagonal(name):
    A, b = matrix_of(), np.random.default_rng(1).random(N)
    plain = solve(free(A), b, M=None, rtol=1e-9)
    expected = solve(A, b, M=name, rtol=1e-9)
    found = solve(free(A), b, M=name, diagonal=A.diagonal(), rtol=1e-9)
    assert found.converged
    assert abs(found.iterations - expected.iterations) <= 1
    assert found.iterations < plain.iterations / 2
    assert np.linalg.norm(b - A @ found.x) <= 1e-9 * np.linalg.norm(b)


def test_the_diagonal_of_a_complex_symmetric_A():
    A = matrix_of().astype(complex) + 1j * sparse.diags_array(np.linspace(0, 3, N))
    b = np.ones(N, complex)
    expected = solve(A.tocsr(), b, solver="cocg", rtol=1e-9)
    found = solve(free(A.tocsr()), b, solver="cocg", diagonal=A.diagonal(), rtol=1e-9)
    assert found.converged
    assert found.iterations == expected.iterations
    with pytest.raises(InputError, match="A, a LinearOperator, is not symmetric"):
        solve(free(A.tocsr()), b, diagonal=A.diagonal())
    with pytest.raises(InputError, match="diagonal is complex"):
        solve(free(matrix_of().astype(complex)), b, diagonal=A.diagonal())


def test_whatever_has_a_shape_and_a_product_is_an_operator():
    A, b = matrix_of(), np.ones(N)

    class Products:
        shape, dtype = A.shape, A.dtype

        def matvec(self, v):
            return A @ v

    assert np.linalg.norm(b - A @ solve(Products(), b, diagonal=A.diagonal(), rtol=1e-9).x) <= 1e-9 * np.sqrt(N)


@pytest.mark.parametrize(
    ("diagonal", "sentence"),
    [
        (lambda d: 1.001 * d, "diagonal holds .* at entry .*, but A has .* there"),
        (lambda d: 1 / d, "diagonal holds .* at entry .*, but A has .* there"),
        (lambda d: np.where(d == d.min(), 0, d), "diagonal entry 0 is 0, in a row with other entries, and CG needs"),
        (lambda d: np.where(d == d.max(), np.inf, d), "diagonal holds inf at entry 80; entries must be finite"),
        (lambda d: d[:-1], r"diagonal has shape \(80,\), but the matrix has 81 rows"),
        (lambda d: d + 1j, "diagonal is complex"),
    ],
)
def test_a_diagonal_that_cannot_be_that_of_A_is_refused(diagonal, sentence):
    A = matrix_of()
    with pytest.raises(InputError, match=sentence):
        solve(free(A), np.ones(N), diagonal=diagonal(A.diagonal()))


def test_a_diagonal_next_to_entries_is_refused():
    with pytest.raises(InputError, match="A has entries, so leave diagonal out"):
        solve(matrix_of(), np.ones(N), diagonal=np.ones(N))


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({}, "preconditioner jacobi needs the diagonal of A, .*diagonal=, or choose preconditioner none"),
        ({"M": "neumann:2"}, "preconditioner neumann needs the entries of A"),
        ({"M": "ssor"}, "preconditioner ssor needs the entries of A"),
        ({"M": "schwarz:2x2"}, "preconditioner schwarz needs the entries of A"),
        (
            {"M": None, "deflation": "eigenvectors:2"},
            "deflation eigenvectors needs the entries of A, .*deflation blocks",
        ),
        ({"M": None, "deflation": "stripes"}, "deflation stripes needs a grid, and this matrix has none"),
    ],
)
def test_what_needs_entries_is_named(choices, sentence):
    with pytest.raises(InputError, match=sentence):
        solve(free(matrix_of()), np.ones(N), **choices)
