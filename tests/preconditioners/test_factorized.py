"""IC with fill and without, modified and block IC, SSOR: compared with hand computations and dense algebra, counts."""

import itertools
import statistics

import numpy as np
import pytest
from scipy import sparse

from tests.all_pairs import pairwise
from tests.conftest import grid_stencil, random_matrix
from tests.preconditioners.by_hand import CPU, dense_inverse, set_up
from workbench.devices.host.factorization import lower_factor
from workbench.devices.host.growth import Growth
from workbench.devices.host.pattern import colours_of, with_fill
from workbench.errors import InputError
from workbench.jit import threads
from workbench.jit.work_stealing import counters
from workbench.operators import BandStencil, Matrix, as_operator
from workbench.operators.cuts import csr_of
from workbench.preconditioners.factorized import incomplete_cholesky
from workbench.registry import blocks as registry
from workbench.run import Run, configure, run_through, solve

GRIDS = [((7,), float), ((5, 7), float), ((17, 9), np.float32), ((9, 11), complex), ((3, 4, 5), float)]
GRIDS += [((4, 3, 21), complex), ((5, 1, 9), float), ((6, 1), float), ((2, 3), float), ((1, 1), float)]
COUNTS = {2: 81, 4: 68, 8: 62}
"""Means over five seeds of an independent implementation, two-layer n = 128 with stripes."""


def dense_incomplete(A, block, omega):
    """M^-1 by dense incomplete elimination on the pattern of A within blocks."""
    size = len(A)
    part = np.arange(size) // block
    W = np.where(part[:, None] == part, A, 0).astype(np.result_type(A, float))
    pattern = W != 0
    for k in range(size):
        neighbours = k + 1 + np.flatnonzero(pattern[k + 1 :, k])
        for i, j in itertools.product(neighbours, neighbours):
            fill = W[i, k] * W[k, j] / W[k, k]
            if pattern[i, j]:
                W[i, j] -= fill
            else:
                W[i, i] -= omega * fill.real
    upper, pivots = np.triu(W), np.diag(1 / np.diag(W))
    return np.linalg.inv(upper.conj().T @ pivots @ upper)


def assert_close(found, expected):
    tolerance = 1e-12 if found.dtype != np.float32 else 1e-5
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


def poisson(*grid):
    """-1 between neighbours, twice the number of dimensions on the diagonal: Dirichlet on all sides."""
    operator = grid_stencil(grid)
    lower = tuple(-(low != 0).astype(float) for low in operator.lower)
    return BandStencil(grid, np.full(operator.shape[0], 2.0 * len(grid)), lower)


def neumann_sides(*grid):
    """Row sums zero: constants are the null space."""
    inner = poisson(*grid)
    coupled = -(inner.to_csr() - sparse.diags_array(inner.main)).sum(axis=1)
    return BandStencil(grid, np.asarray(coupled).ravel(), inner.lower)


def test_the_pivots_of_four_cells_by_hand():
    four = poisson(2, 2)
    np.testing.assert_allclose(set_up("ic", four).pivots, [4, 15 / 4, 15 / 4, 52 / 15])
    np.testing.assert_allclose(set_up("mic:1", four).pivots, [4, 7 / 2, 7 / 2, 24 / 7])
    np.testing.assert_allclose(set_up("block-ic:1", four).pivots, [4, 15 / 4, 4, 15 / 4])
    np.testing.assert_allclose(set_up("ssor:1.6", four).pivots, [2.5] * 4)


def test_three_unknowns_by_hand():
    """A = [[4, 2, 0], [2, 5, 4], [0, 4, 9]]: pivots 4, 5 - 1 = 4, 9 - 4 = 5."""
    A = Matrix(sparse.csr_array(np.array([[4.0, 2, 0], [2, 5, 4], [0, 4, 9]])))
    M = set_up("ic", A)
    np.testing.assert_allclose(M.pivots, [4, 4, 5])
    u = np.empty(3)
    # M = A here, since nothing fills in.
    dots = M.apply(np.array([6.0, 11, 13]), u)
    np.testing.assert_allclose(u, [1, 1, 1])
    np.testing.assert_allclose(dots, [30, 3, 326])


@pytest.mark.parametrize("omega", [0.0, 0.7])
@pytest.mark.parametrize(("grid", "dtype"), GRIDS)
def test_blocks_of_a_stencil_agree_with_dense_elimination(grid, dtype, omega):
    operator = grid_stencil(grid, dtype)
    A = operator.to_csr().toarray()
    for block in {1, 5, grid[-1], 2 * grid[-1], 3 * grid[-1], len(A)}:
        expected = dense_incomplete(A, block, omega)
        for form in (operator, Matrix(operator.to_csr())):
            M = incomplete_cholesky("ic", form, CPU, block, omega)
            assert_close(dense_inverse(M, form), expected)
            assert M.notes == []


@pytest.mark.parametrize("omega", [0.0, 1.0])
@pytest.mark.parametrize("dtype", [float, complex])
def test_blocks_of_a_csr_matrix_agree_with_dense_elimination(dtype, omega):
    operator = random_matrix(37, dtype)
    for block in (1, 5, 10, 37):
        expected = dense_incomplete(operator.to_csr().toarray(), block, omega)
        assert_close(dense_inverse(incomplete_cholesky("ic", operator, CPU, block, omega), operator), expected)


def dense_with_fill(A, fill):
    """M^-1 by dense elimination on entries of at most that level, and the levels, by the rule of the textbook."""
    size = len(A)
    W, level = A.astype(np.result_type(A, float)), np.where(A != 0, 0, 99)
    for k in range(size):
        for i, j in itertools.product(range(k + 1, size), repeat=2):
            level[i, j] = min(level[i, j], level[i, k] + level[k, j] + 1)
    for k in range(size):
        for i, j in itertools.product(k + 1 + np.flatnonzero(level[k + 1 :, k] <= fill), repeat=2):
            if level[i, j] <= fill:
                W[i, j] -= W[i, k] * W[k, j] / W[k, k]
    W[level > fill] = 0
    upper, pivots = np.triu(W), np.diag(1 / np.diag(W))
    return np.linalg.inv(upper.conj().T @ pivots @ upper), level


@pytest.mark.parametrize("fill", [1, 2, 3, 16])
@pytest.mark.parametrize("form", [grid_stencil((5, 6)), grid_stencil((3, 3, 4), complex), random_matrix(31, complex)])
def test_levels_of_fill_agree_with_dense_elimination(form, fill):
    expected, level = dense_with_fill(form.to_csr().toarray(), fill)
    stored = with_fill(form.to_csr(), fill)
    stored.data[:] = 1
    assert np.array_equal(stored.toarray() == 1, level <= fill)
    M = set_up(f"ic:{fill}", form)
    assert_close(dense_inverse(M, form), expected)
    assert any("times the entries of that of A" in note for note in M.notes)


def test_full_fill_is_a_direct_solver_and_fill_takes_fewer_iterations():
    operator = grid_stencil((6, 7))
    A = operator.to_csr().toarray()
    np.testing.assert_allclose(dense_inverse(set_up("ic:16", operator), operator) @ A, np.eye(42), atol=1e-12)
    counts = [
        run_through(Run(configure("poisson5", n=64, rhs="random", preconditioner=f"ic:{fill}"))).iterations
        for fill in range(4)
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[3] < 0.6 * counts[0]


@pytest.mark.parametrize("fill", [0, 1, 2])
@pytest.mark.parametrize("form", [grid_stencil((5, 6)), grid_stencil((3, 3, 4), complex), random_matrix(31, complex)])
def test_colours_are_a_factorization_in_their_order(form, fill):
    matrix = form.to_csr()
    A = matrix.toarray()
    colours = colours_of(matrix, fill + 1)
    near = np.linalg.matrix_power((A != 0).astype(float), fill + 1) > 0
    assert not (near & (colours[:, None] == colours) & ~np.eye(len(A), dtype=bool)).any()
    order = np.argsort(colours, kind="stable")
    sorted_inverse, _ = dense_with_fill(A[np.ix_(order, order)], fill)
    expected = np.empty_like(sorted_inverse)
    expected[np.ix_(order, order)] = sorted_inverse
    M = set_up(f"ic:{fill},ordering=colours", form)
    assert_close(dense_inverse(M, form), expected)
    assert f"{colours.max() + 1} colours" in M.notes[0]


def test_a_grid_is_red_and_black_and_needs_more_iterations_than_in_its_natural_order():
    colours = colours_of(grid_stencil((6, 7)).to_csr(), 1)
    assert np.array_equal(colours.reshape(6, 7), np.indices((6, 7)).sum(axis=0) % 2)
    natural, coloured = (
        run_through(Run(configure("poisson5", n=64, rhs="random", preconditioner=spec))).iterations
        for spec in ("ic", "ic:ordering=colours")
    )
    assert natural < coloured


@pytest.mark.parametrize("name", ["ic:1,ordering=colours", "ict:0.001,ordering=colours"])
@pytest.mark.parametrize("form", [grid_stencil((9, 8)), random_matrix(41, complex)])
def test_colours_on_an_accelerator(accelerator, form, name):
    block = registry.find("preconditioner", name)
    r = np.random.default_rng(4).random(form.shape[0]).astype(form.dtype)
    u = np.empty_like(r)
    block.setup(form, CPU).apply(r, u)
    there, found = accelerator.array(r, r.dtype), accelerator.zeros(r.size, r.dtype)
    block.setup(form, accelerator).apply(there, found)
    np.testing.assert_allclose(accelerator.to_host(found), u, rtol=1e-12)


def test_too_many_colours_are_refused():
    whole = Matrix(sparse.csr_array(np.ones((300, 300)) + 300 * np.eye(300)))
    with pytest.raises(InputError, match="ic needs 300 colours within 1 coupling.s., and takes at most 256"):
        set_up("ic:ordering=colours", whole)


@pytest.mark.parametrize("grid", [(5, 1030), (301, 64), (9, 7, 37), (3, 2000)])
@pytest.mark.parametrize("spec", ["ic", "block-ic:2", "block-ic:3", "mic:1", "ssor:1.5"])
def test_long_grid_rows_agree_with_the_assembled_matrix(grid, spec):
    operator = grid_stencil(grid)
    matrix = Matrix(operator.to_csr())
    r = np.random.default_rng(1).random(operator.shape[0])
    block = registry.find("preconditioner", spec)
    if spec.startswith("block"):
        block = block.changed({"unknowns": block.rows * grid[-1], "cut": "index"})
    first, second = np.empty_like(r), np.empty_like(r)
    dots = block.setup(operator, CPU).apply(r, first).copy()
    block.setup(matrix, CPU).apply(r, second)
    np.testing.assert_allclose(first, second, rtol=1e-11)
    np.testing.assert_allclose(dots, [r @ first, first @ first, r @ r], rtol=1e-12)


@pytest.mark.parametrize("form", [lambda A: A, lambda A: Matrix(A.to_csr())])
def test_a_tridiagonal_matrix_is_factorized_exactly(form):
    operator = form(grid_stencil((23,), complex))
    product = dense_inverse(set_up("ic", operator), operator) @ operator.to_csr().toarray()
    np.testing.assert_allclose(product, np.eye(23), atol=1e-12)


@pytest.mark.parametrize("spec", ["block-ic:2", "block-ic:1"])
def test_blocks_are_independent(spec):
    operator = grid_stencil((7, 6))
    inverse = dense_inverse(set_up(spec, operator), operator)
    part = np.arange(42) // (6 * int(spec[-1]))
    apart = part[:, None] != part
    assert not inverse[apart].any()
    assert np.count_nonzero(inverse[~apart]) == np.count_nonzero(~apart)


def test_a_single_block_is_ic():
    operator = grid_stencil((6, 9))
    assert_close(
        dense_inverse(set_up("block-ic:99", operator), operator), dense_inverse(set_up("ic", operator), operator)
    )


def test_block_sizes_of_partial_grid_rows_and_without_a_grid():
    operator = grid_stencil((6, 9))
    block = registry.find("preconditioner", "block-ic:2", unknowns=7)
    expected = dense_incomplete(operator.to_csr().toarray(), 7, 0)
    assert_close(dense_inverse(block.setup(operator, CPU), operator), expected)
    # Without a grid, 54 unknowns count as rows of 8.
    matrix = Matrix(operator.to_csr())
    expected = dense_incomplete(operator.to_csr().toarray(), 16, 0)
    assert_close(dense_inverse(set_up("block-ic:rows=2,cut=index", matrix), matrix), expected)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_blocks_along_couplings_agree_with_dense_elimination_in_their_order(dtype):
    operator = random_matrix(41, dtype)
    grown = Growth.of(csr_of(operator), 7)
    A = operator.to_csr().toarray()
    expected = dense_incomplete(np.where(grown.labels[:, None] == grown.labels, A, 0), 41, 0)
    M = registry.find("preconditioner", "block-ic:unknowns=7").setup(operator, CPU)
    assert grown.sizes.size > 3
    assert_close(dense_inverse(M, operator), expected)
    assert M.notes[-1].startswith(f"block-ic: {grown.sizes.size} parts of ")


def test_blocks_along_couplings_on_an_accelerator(accelerator):
    operator = random_matrix(41)
    block = registry.find("preconditioner", "block-ic:unknowns=7")
    r = np.random.default_rng(4).random(41)
    u = np.empty_like(r)
    block.setup(operator, CPU).apply(r, u)
    there, found = accelerator.array(r, r.dtype), accelerator.zeros(41, r.dtype)
    block.setup(operator, accelerator).apply(there, found)
    np.testing.assert_allclose(accelerator.to_host(found), u, rtol=1e-12)


@pytest.mark.parametrize("operator", [poisson(8, 9), poisson(3, 5, 4), Matrix(poisson(8, 9).to_csr())])
def test_modified_ic_keeps_the_row_sums(operator):
    M = dense_inverse(set_up("mic:1", operator), operator)
    ones = np.ones(operator.shape[0])
    np.testing.assert_allclose(M @ (operator.to_csr() @ ones), ones, atol=1e-10)


@pytest.mark.parametrize("omega", [0.3, 1.0, 1.7])
@pytest.mark.parametrize("form", [grid_stencil((5, 6), complex), grid_stencil((3, 4, 5)), random_matrix(31, complex)])
def test_ssor_agrees_with_its_formula(omega, form):
    A = form.to_csr().toarray()
    D, L = np.diag(np.diag(A)), np.tril(A, -1)
    M = (D + omega * L) @ np.linalg.inv(D) @ (D + omega * L.conj().T) / (omega * (2 - omega))
    assert_close(dense_inverse(set_up(f"ssor:{omega}", form), form), np.linalg.inv(M))


KERSHAW = np.array([[3.0, -2, 0, 2], [-2, 3, -2, 0], [0, -2, 3, -2], [2, 0, -2, 3]])
"""Kershaw's matrix: positive definite, but IC(0) has the pivot -5."""


def kershaw_on_a_grid():
    lower = (np.array([0, -2.0, 0, -2]), np.array([0, 0, -2.0, 2]))
    return BandStencil((2, 2), np.full(4, 3.0), lower)


@pytest.mark.parametrize("operator", [as_operator(KERSHAW), kershaw_on_a_grid()])
def test_a_breakdown_is_shifted_and_noted(operator):
    M = set_up("ic", operator)
    assert M.shift > 0
    assert M.shift in 1e-3 * 2.0 ** np.arange(20)
    assert M.pivots.min() > 0
    (note,) = M.notes
    assert note == f"ic: a pivot of A was not positive, so A + {M.shift:g} D was factorized"
    A = operator.to_csr().toarray()
    assert_close(dense_inverse(M, operator), dense_incomplete(A + M.shift * np.diag(np.diag(A)), 4, 0))
    assert solve(operator, np.arange(1.0, 5), M="ic").converged


def test_a_breakdown_despite_the_largest_shift_is_refused():
    operator = BandStencil((3,), np.array([1.0, -1, 1]), (np.array([0, -1.0, -1]),))
    with pytest.raises(InputError, match="ic finds no positive pivot in row 1, .* by 1050; use jacobi"):
        set_up("ic", operator)


@pairwise(
    spec=["ic", "mic:1", "mic:0.9", "block-ic:2", "ssor:1.4"], grid=[(50,), (6, 9), (4, 5, 3)], assembled=[False, True]
)
def test_a_last_pivot_of_zero_is_noted_and_singular_problems_are_solved(case):
    grid, spec, assembled = case["grid"], case["spec"], case["assembled"]
    operator = neumann_sides(*grid)
    if assembled:
        operator = Matrix(operator.to_csr())
    M = set_up(spec, operator)
    ends_at_zero = spec == "mic:1" or (len(grid) == 1 and spec != "ssor:1.4" and not (assembled and "block" in spec))
    assert bool([note for note in M.notes if " parts of " not in note]) == (
        ends_at_zero or (len(grid) == 1 and spec == "mic:0.9")
    )
    assert M.pivots.min() > 0
    b = np.random.default_rng(3).random(operator.shape[0])
    result = solve(operator, b, M=spec, rtol=1e-9)
    assert result.converged
    assert np.linalg.norm(operator.to_csr() @ result.x - (b - b.mean())) <= 1e-8 * np.linalg.norm(b)


@pytest.mark.parametrize("spec", ["ic", "block-ic:2"])
def test_results_do_not_depend_on_the_number_of_threads(spec, monkeypatch):
    operator = grid_stencil((390, 351))
    M = set_up(spec, operator)
    r = np.random.default_rng(1).random(operator.shape[0])
    found = []
    for count in (1, threads.cores()):
        u = np.empty_like(r)
        monkeypatch.setattr(threads, "_all", counters(count))
        dots = M.apply(r, u).copy()
        found.append((u, dots))
    assert np.array_equal(found[0][0], found[1][0])
    assert np.array_equal(found[0][1], found[1][1])


@pytest.mark.parametrize("rows", COUNTS)
def test_iterations_with_the_papers_blocks_equal_an_independent_implementation(rows):
    counts = []
    for seed in range(5):
        run = Run(configure("two-layer", n=128, preconditioner=f"block-ic:{rows}", deflation="stripes", seed=seed))
        result = run_through(run)
        assert result.converged
        counts.append(result.iterations)
    assert statistics.mean(counts) == pytest.approx(COUNTS[rows], abs=2)


@pytest.mark.parametrize(
    ("strongest_first", "factor"),
    [
        (("mic:0.95", "ic", "block-ic:16", "block-ic:4", "jacobi"), 3),
        (("chebyshev:9", "chebyshev:3", "fsai", "jacobi"), 4),
    ],
)
def test_stronger_preconditioners_take_fewer_iterations(strongest_first, factor):
    counts = [
        run_through(Run(configure("poisson5", n=64, rhs="random", preconditioner=spec))).iterations
        for spec in strongest_first
    ]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] / factor


def test_traffic_and_flops():
    operator = grid_stencil((4, 5))
    M = set_up("ic", operator)
    assert M.traffic == 11 * 20 * 8
    assert M.flops == 2 * 5 * 20
    lower = sparse.tril(operator.to_csr(), k=-1).nnz
    assert set_up("ic", Matrix(operator.to_csr())).flops == 2 * (2 * lower + 20)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("size", [1, 2, 61])
def test_the_lower_factor_is_the_adjoint_of_the_entries_right_of_the_diagonal(size, dtype):
    rng = np.random.default_rng(size)
    matrix = sparse.csr_array(sparse.random_array((size, size), density=0.2, rng=rng), dtype=dtype)
    matrix.data = matrix.data * np.exp(1j * np.arange(matrix.nnz)) if dtype is complex else matrix.data
    matrix.sort_indices()
    lower = sparse.csr_array(lower_factor(matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
    assert lower.has_sorted_indices
    assert np.array_equal(lower.toarray(), np.triu(matrix.toarray(), 1).conj().T)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
@pytest.mark.parametrize("spec", ["ic", "mic", "block-ic:4", "ssor"])
@pytest.mark.parametrize("dtype", [float, complex])
def test_a_stencil_of_any_scale(dtype, spec, scale):
    """Squares of its couplings under- or overflow."""
    operator = grid_stencil((3, 4), dtype)
    expected = dense_inverse(set_up(spec, operator), operator)
    scale = operator.dtype.type(scale)
    scaled = BandStencil(operator.grid, operator.main * scale, tuple(low * scale for low in operator.lower))
    np.testing.assert_allclose(dense_inverse(set_up(spec, scaled), scaled) * scale, expected, rtol=1e-10)
