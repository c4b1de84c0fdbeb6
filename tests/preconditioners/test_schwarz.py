"""Boxes by hand, their solvers against dense algebra, and sums of first levels."""

import numpy as np
import pytest
from scipy import sparse

from tests.conftest import grid_stencil, random_matrix
from workbench import devices
from workbench.deflation.blocks import Blocks
from workbench.devices.host.growth import Growth
from workbench.errors import InputError
from workbench.operators.cuts import csr_of
from workbench.preconditioners.preconditioner_sum import PreconditionerSum
from workbench.preconditioners.schwarz import subdomains
from workbench.registry import blocks as registry
from workbench.run import configure, solve

CPU = devices.device("cpu")


def test_boxes_by_hand():
    assert subdomains.of_grid((5, 7), (2, 1), 1) == [(slice(0, 5), slice(0, 4)), (slice(0, 5), slice(2, 7))]
    assert subdomains.of_grid((4, 4), (1, 2), 0) == [(slice(0, 2), slice(0, 4)), (slice(2, 4), slice(0, 4))]
    assert len(subdomains.of_grid((4, 5, 6), (3, 2), 1)) == 6
    np.testing.assert_array_equal(subdomains.unknowns((3, 4), (slice(1, 3), slice(0, 2))), [4, 5, 8, 9])


def test_parts_grow_along_the_matrix():
    chain = sparse.csr_array(sparse.diags([np.ones(5), np.ones(6), np.ones(5)], [-1, 0, 1]))
    grown = subdomains.grown([np.array([0, 1, 2]), np.array([3, 4, 5])], chain, 1)
    np.testing.assert_array_equal(grown[0], [0, 1, 2, 3])
    np.testing.assert_array_equal(grown[1], [2, 3, 4, 5])


def dense_schwarz(operator, parts):
    """The sum of R_i^T A_i^-1 R_i."""
    A = operator.to_csr().toarray()
    found = np.zeros_like(A)
    for part in parts:
        found[np.ix_(part, part)] += np.linalg.inv(A[np.ix_(part, part)])
    return found


def columns_of(M, size, dtype, device=CPU):
    """M^-1 as a dense matrix."""
    found = []
    for unit in np.eye(size, dtype=dtype):
        u = device.zeros(size, np.dtype(dtype))
        M.apply(device.array(unit, dtype), u)
        found.append(np.array(device.to_host(u)))
    return np.stack(found, axis=1)


@pytest.mark.parametrize("grid", [(7, 5), (4, 5, 3)])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.float32])
def test_exact_boxes_are_those_of_dense_algebra(grid, dtype):
    operator = grid_stencil(grid, dtype)
    M = registry.find("preconditioner", "schwarz:2x2,overlap=1").setup(operator, CPU)
    parts = [subdomains.unknowns(grid, box) for box in subdomains.of_grid(grid, (2, 2), 1)]
    tolerance = 1e-4 if dtype == np.float32 else 1e-12
    expected = dense_schwarz(operator, parts)
    np.testing.assert_allclose(columns_of(M, operator.shape[0], dtype), expected, atol=tolerance)
    assert "4 by sparse factorization" in M.notes[0]


def test_constant_coefficients_are_solved_by_eigenvectors():
    operator = registry.find("problem", "poisson5", n=9).assemble(0).operator
    M = registry.find("preconditioner", "schwarz:3x2,overlap=1").setup(operator, CPU)
    assert "6 by eigenvectors" in M.notes[0]
    parts = [subdomains.unknowns((9, 9), box) for box in subdomains.of_grid((9, 9), (3, 2), 1)]
    np.testing.assert_allclose(columns_of(M, 81, np.float64), dense_schwarz(operator, parts), atol=1e-13)


def test_a_cube_of_constant_coefficients_too():
    operator = registry.find("problem", "poisson7", n=5).assemble(0).operator
    M = registry.find("preconditioner", "schwarz:2x1x2,overlap=1").setup(operator, CPU)
    assert "4 by eigenvectors" in M.notes[0]
    parts = [subdomains.unknowns((5, 5, 5), box) for box in subdomains.of_grid((5, 5, 5), (2, 1, 2), 1)]
    np.testing.assert_allclose(columns_of(M, 125, np.float64), dense_schwarz(operator, parts), atol=1e-13)


@pytest.mark.parametrize(("problem", "counts"), [("poisson5", (3, 2)), ("poisson7", (2, 1, 3))])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_an_accelerator_solves_kronecker_sums_as_the_cores_do(accelerator, problem, counts, precision):
    operator = registry.find("problem", problem, n=10).assemble(0).operator
    text = f"schwarz:{'x'.join(map(str, counts))},overlap=1,precision={precision}"
    found = []
    for device in (CPU, accelerator):
        M = registry.find("preconditioner", text).setup(operator, device)
        assert not M.waits
        assert "host" not in M.notes[0]
        r, terms = np.random.default_rng(3).standard_normal(operator.shape[0]), M.zeros()
        M.terms(device.array(r, r.dtype), terms)
        found.append(np.array(device.to_host(terms[0])))
    largest = np.abs(found[0]).max()
    np.testing.assert_allclose(found[1], found[0], atol=20 * np.finfo(precision).eps * largest)


def test_an_accelerator_leaves_sparse_factors_to_the_host(accelerator):
    operator = grid_stencil((7, 6))
    M = registry.find("preconditioner", "schwarz:2x2,overlap=1").setup(operator, accelerator)
    assert M.waits
    assert M.notes[0].endswith("4 different factors, on the host")
    parts = [subdomains.unknowns((7, 6), box) for box in subdomains.of_grid((7, 6), (2, 2), 1)]
    found = columns_of(M, 42, np.float64, accelerator)
    np.testing.assert_allclose(found, dense_schwarz(operator, parts), atol=1e-12)


def test_single_precision_in_boxes():
    operator = grid_stencil((8, 9))
    exact, rounded = (
        registry.find("preconditioner", f"schwarz:2x2,precision={name}").setup(operator, CPU)
        for name in ("float64", "float32")
    )
    a, b = (columns_of(M, 72, np.float64) for M in (exact, rounded))
    assert 0 < np.abs(a - b).max() <= 1e-5 * np.abs(a).max()


def test_sweeps_are_those_of_jacobis_method(accelerator):
    operator = grid_stencil((5, 6))
    part = subdomains.unknowns((5, 6), subdomains.of_grid((5, 6), (2, 1), 1)[0])
    A = operator.to_csr().toarray()[np.ix_(part, part)]
    r = np.random.default_rng(0).standard_normal(30)
    z = np.zeros(part.size)
    for _ in range(7):
        z = z + (r[part] - A @ z) / np.diag(A)
    for device in (CPU, accelerator):
        M = registry.find("preconditioner", "schwarz:2x1,overlap=1,solver=sweeps,sweeps=7").setup(operator, device)
        terms = M.zeros()
        M.terms(device.array(r, r.dtype), terms)
        np.testing.assert_allclose(np.array(device.to_host(terms[0]))[: part.size], z, rtol=1e-12)


def test_coefficients_of_the_centre():
    problem = registry.find("problem", "poisson-fd", n=12, a="1 + y", b="1 + x")
    operator = problem.assemble(0).operator
    M = registry.find("preconditioner", "schwarz:2x2,coefficients=constant").setup(operator, CPU)
    assert "by eigenvectors" in M.notes[0]
    result = solve(operator, np.ones(121), M="schwarz:2x2,coefficients=constant", solver="mpcg", rtol=1e-8)
    assert result.converged


@pytest.mark.parametrize("n", [4, 6])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_constant_coefficients_of_a_stencil_that_varies_are_hermitian(n, dtype):
    operator = grid_stencil((n, n), dtype)
    M = registry.find("preconditioner", "schwarz:2x2,overlap=0,coefficients=constant").setup(operator, CPU)
    inverse = columns_of(M, n * n, dtype)
    np.testing.assert_allclose(inverse, inverse.conj().T, atol=1e-14)


def test_boxes_are_boxes_of_the_grid_where_a_is_no_stencil():
    system = registry.find("problem", "poisson27", n=6).assemble(0)
    M = registry.find("preconditioner", "schwarz:2x2x2,overlap=1").setup_of(system, CPU)
    parts = [subdomains.unknowns((6, 6, 6), box) for box in subdomains.of_grid((6, 6, 6), (2, 2, 2), 1)]
    expected = dense_schwarz(system.operator, parts)
    np.testing.assert_allclose(columns_of(M, 216, np.float64), expected, atol=1e-13)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("schwarz:2x2,solver=jacobi,precision=float32", "precision float32 is for solver exact or sweeps, got jacobi"),
        ("schwarz:2x2,coefficients=constant,phases=yes", "coefficients constant needs whole boxes"),
    ],
)
def test_parameters_that_would_be_ignored_are_refused(text, sentence):
    with pytest.raises(InputError, match=sentence):
        registry.find("preconditioner", text)


def test_constant_coefficients_of_a_matrix_are_refused():
    with pytest.raises(InputError, match="needs a nearest-neighbour stencil; leave coefficients out"):
        registry.find("preconditioner", "schwarz:2x2,coefficients=constant").setup(random_matrix(40), CPU)


def test_a_matrix_without_a_grid():
    operator = random_matrix(40)
    ranges = [np.arange(10 * k, 10 * k + 10) for k in range(4)]
    grown = Growth.of(csr_of(operator), 10).members
    for cut, members in (("index", ranges), ("couplings", grown)):
        M = registry.find("preconditioner", f"schwarz:2x2,overlap=1,cut={cut}").setup(operator, CPU)
        parts = subdomains.grown(members, operator.to_csr(), 1)
        np.testing.assert_allclose(columns_of(M, 40, np.float64), dense_schwarz(operator, parts), atol=1e-12)


def test_a_sum_is_the_sum_of_its_members(accelerator):
    operator = grid_stencil((6, 7))
    r = np.random.default_rng(0).standard_normal(42)
    for device in (CPU, accelerator):
        M = registry.find("preconditioner", "jacobi + neumann:2 + coarse:2").setup(operator, device)
        assert isinstance(M, PreconditionerSum)
        assert M.names == ("jacobi", "neumann", "coarse:2")
        u = device.zeros(42, r.dtype)
        M.apply(device.array(r, r.dtype), u)
        found = np.array(device.to_host(u))
        A = operator.to_csr().toarray()
        labels = Blocks(2).labels(42, (6, 7))
        Z = np.eye(4)[labels]
        expected = r / np.diag(A) + Z @ np.linalg.solve(Z.T @ A @ Z, Z.T @ r)
        neumann = device.zeros(42, r.dtype)
        registry.find("preconditioner", "neumann:2").setup(operator, device).apply(device.array(r, r.dtype), neumann)
        np.testing.assert_allclose(found, expected + device.to_host(neumann), rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("schwarz:3y3", "written as 3x3"),
        ("schwarz:0x2", "between 1 and 4096"),
        ("schwarz:2x2x2", "on a grid of 2 dimensions; name no more"),
        ("schwarz:9x1", "9 boxes along a side of 8 points; take at most 8"),
        ("schwarz:4x1,overlap=3", "thinner than their overlap of 3; take fewer boxes or an overlap of at most 2"),
        ("schwarz:2x2,solver=nosuch", "unknown preconditioner 'nosuch'"),
        ("sum:jacobi", "at least two first levels"),
        ("jacobi + nosuch", "unknown preconditioner 'nosuch'"),
        ("jacobi + coarse:99", "99 parts per side"),
    ],
)
def test_wrong_input_is_one_sentence(text, sentence):
    with pytest.raises(InputError, match=sentence):
        registry.find("preconditioner", text).setup(grid_stencil((8, 8)), CPU)


def test_overlap_zero_is_block_jacobi():
    operator = grid_stencil((6, 6))
    M = registry.find("preconditioner", "schwarz:2x2,overlap=0").setup(operator, CPU)
    parts = [subdomains.unknowns((6, 6), box) for box in subdomains.of_grid((6, 6), (2, 2), 0)]
    np.testing.assert_allclose(columns_of(M, 36, np.float64), dense_schwarz(operator, parts), atol=1e-13)


def test_the_texts_are_read_back():
    for text in ("schwarz:3x2,overlap=4", "ic + neumann:3", "schwarz:2x2,solver=chebyshev:8,sweeps=3"):
        block = registry.find("preconditioner", text)
        assert registry.find("preconditioner", block.text) == block
        assert registry.from_dict(block.to_dict()) == block
    assert configure("poisson5", preconditioner="ic + neumann:3").preconditioner.text == "ic + neumann:3"


def test_boxes_that_follow_the_phases():
    system = registry.find("problem", "two-layer", n=8).assemble(0)
    M = registry.find("preconditioner", "schwarz:1x2,overlap=0,phases=yes").setup_of(system, CPU)
    pieces = M.members[0].vectors.pieces
    parts = [pieces.part(k) for k in range(pieces.count)]
    assert sorted(np.concatenate(parts)) == list(range(64))
    assert all(np.unique(system.phase[part]).size == 1 for part in parts)
    with pytest.raises(InputError, match="needs a problem with phases"):
        registry.find("preconditioner", "schwarz:1x2,phases=yes").setup(grid_stencil((8, 8)), CPU)
