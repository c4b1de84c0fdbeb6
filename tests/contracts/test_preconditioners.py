"""What every first-level preconditioner promises: a Hermitian positive definite M^-1 that solves."""

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

from tests.conftest import grid_stencil, random_matrix
from tests.contracts.cases import FIRST
from workbench import devices
from workbench.errors import InputError
from workbench.operators import BandStencil, BoxStencil, as_operator
from workbench.registry import blocks as registry
from workbench.run import solve

OPERATORS = {
    "2D": lambda: grid_stencil((5, 7)),
    "3D": lambda: grid_stencil((3, 4, 5)),
    "complex stencil": lambda: grid_stencil((4, 5), np.complex128, shift=2),
    "single precision": lambda: grid_stencil((6, 5), np.float32, shift=2),
    "matrix": lambda: random_matrix(37),
    "complex matrix": lambda: random_matrix(29, np.complex128),
    "box": lambda: BoxStencil((3, 4, 5), 2, 124.0, -1.0),
    "one unknown": lambda: grid_stencil((1, 1)),
}


def first_level(name, case):
    """The default of a name; a single unknown has room for one box alone."""
    return registry.find("preconditioner", "schwarz:1x1" if (name, case) == ("schwarz", "one unknown") else name)


STENCILS = [name for name in OPERATORS if "matrix" not in name and name != "box"]
"""Operators that every preconditioner takes; one that needs a stencil takes no others."""
PAIRS = [
    (name, case)
    for name in FIRST
    for case in OPERATORS
    if case in STENCILS or not registry.find("preconditioner", name).needs_stencil
]


def applied(M, size, dtype):
    """A function of r: u = M^-1 r as a solver sees it, and the three dot products."""
    r = np.zeros(size, dtype)
    space = devices.device("cpu").workspace(size, r.dtype, vectors={"r": r, "u": np.zeros_like(r)}, operators={"M": M})
    (program,) = space.lines("u = M(r)\nru = (r, u)\nuu = (u, u)\nrr = (r, r)")

    def apply(values):
        space.vector("r")[:] = values
        program()
        assert np.array_equal(space.vector("r"), values)
        return space.vector("u").copy(), [space.scalar(name) for name in ("ru", "uu", "rr")]

    return apply


@pytest.mark.parametrize(("name", "case"), PAIRS)
def test_the_inverse_is_hermitian_positive_definite_and_its_dot_products_are_those_of_the_vectors(name, case):
    operator = OPERATORS[case]()
    size, tolerance = operator.shape[0], 100 * np.finfo(operator.dtype).eps
    apply = applied(first_level(name, case).setup(operator, devices.device("cpu")), size, operator.dtype)
    dense = np.column_stack([apply(unit)[0] for unit in np.eye(size, dtype=operator.dtype)])
    assert np.abs(dense - dense.conj().T).max() <= tolerance * np.abs(dense).max()
    assert np.linalg.eigvalsh(dense).min() > 0
    r = np.random.default_rng(1).random(size).astype(operator.dtype)
    u, dots = apply(r)
    np.testing.assert_allclose(dots, [np.vdot(r, u), np.vdot(u, u), np.vdot(r, r)], rtol=tolerance)


@pytest.mark.parametrize(("name", "case"), PAIRS)
def test_cg_with_it_finds_the_dense_solution(name, case):
    operator = OPERATORS[case]()
    dense = operator.to_csr().toarray()
    b = np.random.default_rng(2).random(operator.shape[0]).astype(operator.dtype)
    rtol = 1e-4 if operator.dtype == np.float32 else 1e-10
    result = solve(operator, b, rtol=rtol, M=first_level(name, case))
    assert result.converged
    expected = np.linalg.solve(dense, b)
    assert np.linalg.norm(result.x - expected) <= 100 * rtol * np.linalg.cond(dense) * np.linalg.norm(expected)


@pytest.mark.parametrize("name", [name for name in FIRST if registry.find("preconditioner", name).needs_stencil])
@pytest.mark.parametrize("case", [name for name in OPERATORS if name not in STENCILS])
def test_what_needs_a_stencil_refuses_other_matrices_in_a_sentence(name, case):
    with pytest.raises(InputError, match=f"preconditioner {name} needs a .* stencil on a grid"):
        registry.find("preconditioner", name).setup(OPERATORS[case](), devices.device("cpu"))


@pytest.mark.parametrize("name", ["ic", "mic", "block-ic", "ssor", "chebyshev", "fsai", "amg"])
def test_an_operator_without_entries_is_refused(name):
    if name == "amg":
        pytest.importorskip("pyamg")
    operator = as_operator(aslinearoperator(np.eye(3)))
    with pytest.raises(InputError, match="of a LinearOperator (is|are) not available"):
        registry.find("preconditioner", name).setup(operator, devices.device("cpu"))


def test_jacobi_of_a_constant_diagonal_is_one_number():
    operator = BandStencil((5,), np.full(5, 4.0), (np.array([0.0, -1, -1, -1, -1]),))
    M = registry.find("preconditioner", "jacobi").setup(operator, devices.device("cpu"))
    assert not M.factors
    np.testing.assert_array_equal(applied(M, 5, float)(np.arange(5.0))[0], np.arange(5.0) / 4)
