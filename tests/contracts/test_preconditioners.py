"""What every first-level preconditioner promises: a Hermitian positive definite M^-1 that solves."""

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

from tests.all_pairs import pairwise
from tests.conftest import grid_stencil, random_matrix
from tests.contracts.cases import FIRST
from workbench import devices
from workbench.errors import InputError
from workbench.operators import BandStencil, BoxStencil, Matrix, as_operator
from workbench.registry import blocks as registry
from workbench.run import solve


def barely_definite() -> BandStencil:
    """A stencil whose couplings are above the diagonal entry in sum: series and smoothers have to be scaled down."""
    plain = grid_stencil((6, 5))
    roots = np.sqrt(plain.main)
    least = np.linalg.eigvalsh(plain.to_csr().toarray() / np.outer(roots, roots)).min()
    return BandStencil(plain.grid, (1 - 0.8 * least) * plain.main, plain.lower)


OPERATORS = {
    "2D": lambda: grid_stencil((5, 7)),
    "3D": lambda: grid_stencil((3, 4, 5)),
    "complex stencil": lambda: grid_stencil((4, 5), np.complex128, shift=2),
    "single precision": lambda: grid_stencil((6, 5), np.float32, shift=2),
    "matrix": lambda: random_matrix(37),
    "complex matrix": lambda: random_matrix(29, np.complex128),
    "box": lambda: BoxStencil((3, 4, 5), 2, 124.0, -1.0),
    "one unknown": lambda: grid_stencil((1, 1)),
    "barely definite": barely_definite,
}


def first_level(name, case):
    """The default of a name; a single unknown has room for one box alone."""
    return registry.find("preconditioner", "schwarz:1x1" if (name, case) == ("schwarz", "one unknown") else name)


STENCILS = [name for name in OPERATORS if "matrix" not in name and name not in ("box", "barely definite")]
"""Operators that every preconditioner takes; one that needs a stencil takes no others."""
TAKES_ALL = [name for name in OPERATORS if name != "barely definite"]
"""With a diagonal that dominates, which a series needs to be definite."""
ODD = {
    "barely definite": ("mg",),
    "2D": [f"chebyshev:{degree},ratio={ratio}" for degree in (1, 2, 5, 6) for ratio in (1.01, 1000.0)],
}
"""Parameters away from the defaults with which a first level is harder to keep definite, by operator."""
PAIRS = [
    (name, case)
    for name in FIRST
    for case in TAKES_ALL
    if case in STENCILS or not registry.find("preconditioner", name).needs_stencil
] + [(text, case) for case, texts in ODD.items() for text in texts]


def applied(M, size, dtype):
    """A function of r: u = M^-1 r as a solver sees it, and the three dot products."""
    r = np.zeros(size, dtype)
    space = devices.device("cpu").workspace(size, r.dtype, vectors={"r": r, "u": np.zeros_like(r)}, operators={"M": M})
    (program,) = space.lines("u = M(r)\nru = (r, u)\nuu = (u, u)\nrr = (r, r)")

    def apply(values):
        space.vector("r")[:] = values
        program()
        assert np.array_equal(space.vector("r"), values, equal_nan=True)
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
    # An application leaves nothing behind for the next one.
    with np.errstate(invalid="ignore"):
        apply(np.full_like(r, np.nan))
    assert np.array_equal(apply(r)[0], u)


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


def singular(grid: tuple[int, ...]) -> BandStencil:
    """Row sums zero: constants are the null space."""
    lower = tuple(-(low != 0).astype(float) for low in grid_stencil(grid).lower)
    coupled = BandStencil(grid, np.zeros(int(np.prod(grid))), lower).to_csr()
    return BandStencil(grid, -np.asarray(coupled.sum(axis=1)).ravel(), lower)


@pairwise(name=FIRST, grid=[(60,), (6, 9), (7, 8, 9)], assembled=[False, True])
def test_singular_problems_are_solved(case):
    block, operator = registry.find("preconditioner", case["name"]), singular(case["grid"])
    if case["assembled"] and not block.needs_stencil:
        operator = Matrix(operator.to_csr())
    b = np.random.default_rng(3).random(operator.shape[0])
    # A segment has boxes along its one dimension alone.
    result = solve(
        operator, b, M="schwarz:2" if case["name"] == "schwarz" and len(case["grid"]) == 1 else block, rtol=1e-9
    )
    assert result.converged
    assert np.linalg.norm(operator.to_csr() @ result.x - (b - b.mean())) <= 1e-8 * np.linalg.norm(b)


@pytest.mark.parametrize("name", [name for name in FIRST if registry.find("preconditioner", name).needs_stencil])
@pytest.mark.parametrize("case", [name for name in TAKES_ALL if name not in STENCILS])
def test_what_needs_a_stencil_refuses_other_matrices_in_a_sentence(name, case):
    with pytest.raises(InputError, match=f"preconditioner {name} needs a .* stencil on a grid"):
        registry.find("preconditioner", name).setup(OPERATORS[case](), devices.device("cpu"))


@pytest.mark.parametrize("name", ["ic", "mic", "block-ic", "ssor", "chebyshev", "fsai", "kcycle", "amg"])
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
