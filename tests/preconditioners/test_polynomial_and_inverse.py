"""Chebyshev polynomials, factorized sparse inverses and PyAMG cycles compared with dense algebra."""

import importlib

import numpy as np
import pytest
from numpy.polynomial.chebyshev import Chebyshev as Series
from scipy import sparse

from tests.conftest import grid_stencil, random_matrix
from tests.preconditioners.by_hand import dense_inverse, set_up
from workbench.devices.host.sparse_inverse import inverse_factor
from workbench.errors import InputError
from workbench.operators import BandStencil, Matrix, as_operator
from workbench.run import Run, configure, run_through

OPERATORS = {
    "2D": lambda: grid_stencil((5, 7)),
    "3D complex": lambda: grid_stencil((3, 4, 5), complex),
    "single": lambda: grid_stencil((6, 5), np.float32),
    "matrix": lambda: random_matrix(37),
    "complex matrix": lambda: random_matrix(29, complex),
    "singular": lambda: path(30),
}


def path(cells):
    low = -np.ones(cells)
    low[0] = 0
    main = np.full(cells, 2.0)
    main[[0, -1]] = 1
    return BandStencil((cells,), main, (low,))


def tolerance(operator):
    return 1e-5 if operator.dtype == np.float32 else 1e-11


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("degree", [1, 2, 3, 8])
def test_the_error_of_chebyshev_is_the_shifted_chebyshev_polynomial(name, degree):
    """1 - z p(z) = T((high + low - 2 z)/(high - low)) / T((high + low)/(high - low)) with T of degree + 1."""
    operator = OPERATORS[name]()
    M = set_up(f"chebyshev:{degree}", operator, ratio=7.0)
    A = operator.to_csr().toarray().astype(np.result_type(operator.dtype, float))
    scale = np.sqrt(np.diag(A).real)
    values, vectors = np.linalg.eigh(A / np.outer(scale, scale))
    T = Series.basis(degree + 1)
    error = T((M.high + M.low - 2 * values) / (M.high - M.low)) / T((M.high + M.low) / (M.high - M.low))
    # On the vectors of a zero eigenvalue p is the limit, which is not needed: multiply by A from the right.
    left = (vectors * (1 - error)) @ vectors.conj().T
    expected = left / scale[:, None] * scale[None, :]
    found = dense_inverse(M, operator) @ A
    assert np.abs(found - expected).max() <= tolerance(operator) * np.abs(expected).max()


@pytest.mark.parametrize("name", OPERATORS)
def test_the_chebyshev_interval_contains_the_largest_eigenvalue(name):
    operator = OPERATORS[name]()
    M = set_up("chebyshev:3", operator, ratio=10.0)
    A = operator.to_csr().toarray()
    scale = np.sqrt(np.diag(A).real)
    largest = np.linalg.eigvalsh(A / np.outer(scale, scale)).max()
    assert largest <= M.high * 1.0001
    assert M.high <= 1.2 * largest
    assert M.low == pytest.approx(M.high / 10)


def test_fsai_of_three_unknowns_by_hand():
    """A = [[4, 2, 0], [2, 5, 4], [0, 4, 9]]: rows (1)/2, (-1/2, 1)/2 and (0, -4/5, 1)/sqrt(29/5)."""
    A = Matrix(sparse.csr_array(np.array([[4.0, 2, 0], [2, 5, 4], [0, 4, 9]])))
    G = np.array([[1 / 2, 0, 0], [-1 / 4, 1 / 2, 0], [0, -0.8 / np.sqrt(5.8), 1 / np.sqrt(5.8)]])
    np.testing.assert_allclose(dense_inverse(set_up("fsai", A), A), G.T @ G)


@pytest.mark.parametrize("name", OPERATORS)
def test_fsai_satisfies_its_optimality_conditions(name):
    """The conditions that define G: (G A)_ij = 0 off the diagonal of the pattern, (G A G^H)_ii = 1."""
    operator = OPERATORS[name]()
    A = operator.to_csr()
    factor, failed = inverse_factor(A)
    assert failed == -1
    G, A = factor.toarray(), A.toarray()
    pattern = np.tril(A != 0)
    assert not G[~pattern].any()
    product = G @ A
    off = pattern & ~np.eye(len(A), dtype=bool)
    assert np.abs(product[off]).max(initial=0) <= tolerance(operator) * np.abs(product).max()
    np.testing.assert_allclose(np.diag(product @ G.conj().T), 1, rtol=tolerance(operator))
    expected = G.conj().T @ G
    found = dense_inverse(set_up("fsai", operator), operator)
    assert np.abs(found - expected).max() <= tolerance(operator) * np.abs(expected).max()


def test_fsai_of_a_large_stencil_on_all_cores():
    operator = grid_stencil((150, 149))
    M = set_up("fsai", operator)
    factor, _ = inverse_factor(operator.to_csr())
    r = np.random.default_rng(0).random(operator.shape[0])
    u = np.empty_like(r)
    dots = M.apply(r, u)
    np.testing.assert_allclose(u, factor.T @ (factor @ r), rtol=1e-10)
    np.testing.assert_allclose(dots, [r @ u, u @ u, r @ r], rtol=1e-11)


def test_fsai_refuses_long_rows_and_indefinite_submatrices():
    indefinite = as_operator(np.array([[1.0, 2], [2, 1]]))
    with pytest.raises(InputError, match="fsai needs positive definite principal submatrices of A, .* row 1 is not"):
        set_up("fsai", indefinite)
    full = as_operator(np.ones((1100, 1100)) + 1100 * np.eye(1100))
    with pytest.raises(InputError, match="at most 1024 unknowns; row 1099 has 1100 entries .*: use ic or jacobi"):
        set_up("fsai", full)


@pytest.mark.parametrize("spec", ["amg:sa", "amg:rs"])
def test_a_multigrid_cycle_takes_few_iterations_and_is_deterministic(spec):
    pytest.importorskip("pyamg")
    system = configure("poisson5", n=48, rhs="random").problem.assemble()
    before = np.random.get_state()[1].copy()
    first, second = (set_up(spec, system.operator) for _ in range(2))
    assert np.array_equal(np.random.get_state()[1], before)
    r = np.random.default_rng(0).random(system.operator.shape[0])
    u, v = np.empty_like(r), np.empty_like(r)
    first.apply(r, u)
    second.apply(r, v)
    assert np.array_equal(u, v)
    result = run_through(Run(configure("poisson5", n=48, rhs="random", preconditioner=spec)))
    assert result.converged
    assert result.iterations <= 12


def test_ruge_stuben_of_a_complex_matrix_is_refused():
    with pytest.raises(InputError, match="amg: Ruge-Stuben needs a real matrix, got complex entries; use amg:sa"):
        set_up("amg:rs", random_matrix(9, complex))


def test_a_missing_pyamg_raises_an_install_hint(monkeypatch):
    real = importlib.import_module

    def missing(name, package=None):
        if name == "pyamg":
            raise ImportError(name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(InputError, match="amg needs PyAMG, which is not installed; run: pip install pyamg"):
        set_up("amg", grid_stencil((3, 3)))
