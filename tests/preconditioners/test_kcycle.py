"""Aggregation multigrid: the cycle against its definition, iteration counts, singular matrices, refusals and traces."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial import Delaunay

from benchmarks.matrices import made
from tests.all_pairs import on_accelerators
from tests.preconditioners.by_hand import CPU, dense_inverse, set_up
from workbench.deflation.hierarchy import SMOOTHED, smoother_coefficients
from workbench.devices.host.aggregation import spectral_bound
from workbench.devices.host.growth import grown_parts
from workbench.errors import InputError
from workbench.operators import Matrix
from workbench.problems import LinearSystem
from workbench.registry import find
from workbench.run import Run, configure, prepare, run_through, solve


def triangles(count, seed=3, contrast=1000):
    """Linear elements on triangles of random points, numbered at random, with coefficients 1 and `contrast` in strips
    and the boundary left out; and a right-hand side."""
    rng = np.random.default_rng(seed)
    places = rng.random((count, 2))
    cells = Delaunay(places).simplices
    gradients = np.linalg.inv(np.concatenate([np.ones((len(cells), 3, 1)), places[cells]], axis=2))[:, 1:]
    coefficients = np.where(places[cells].mean(axis=1)[:, 0] * 8 % 2 < 1, 1, contrast)
    weights = coefficients * np.abs(np.linalg.det(np.concatenate([np.ones((len(cells), 3, 1)), places[cells]], 2))) / 2
    element = weights[:, None, None] * (gradients.transpose(0, 2, 1) @ gradients)
    rows, columns = np.broadcast_to(cells[:, :, None], element.shape), np.broadcast_to(cells[:, None], element.shape)
    matrix = sparse.coo_array((element.ravel(), (rows.ravel(), columns.ravel())), shape=(count, count)).tocsr()
    inner = np.flatnonzero(np.abs(places - 0.5).max(axis=1) < 0.48)
    return sparse.csr_array(matrix[inner][:, inner]), rng.standard_normal(inner.size)


def network(size, edges, seed=1):
    """The Laplacian of a random network, whose conductances are from 0.1 to 10."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(size, size=(2, edges))
    half = sparse.coo_array((10 ** rng.uniform(-1, 1, edges), (rows, columns)), shape=(size, size)).tocsr()
    half.setdiag(0)
    couplings = half + half.T
    return sparse.csr_array(sparse.diags_array(couplings.sum(axis=1)) - couplings)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_a_cycle_of_two_levels_is_that_of_its_definition(dtype):
    """From x = 0: x = S b, x = x + Z E^-1 Z^H (b - A x), x = x + S (b - A x), with S = a D^-1 - b' D^-1 A D^-1."""
    size = 400
    A = network(size, 1200).astype(dtype) + 0.5 * sparse.eye_array(size)
    if dtype == np.complex128:
        turns = sparse.diags_array(np.exp(1j * np.arange(size)))
        A = sparse.csr_array(turns @ A @ turns.conj())
        A = sparse.csr_array((A + A.conj().T) / 2)
    A.sort_indices()
    labels, count = grown_parts((A.data, A.indices, A.indptr.astype(np.int64)), 8, 0.15)
    dense, Z = A.toarray(), np.eye(count)[labels]
    D = np.diag(1 / np.diag(dense))
    one, two = smoother_coefficients(SMOOTHED * 2, 2.0)
    S, unit = one * D - two * D @ dense @ D, np.eye(size)
    correction = Z @ np.linalg.solve(Z.T @ dense @ Z, Z.T)
    expected = 2 * S - S @ dense @ S + (unit - S @ dense) @ correction @ (unit - dense @ S)
    operator = Matrix(A)
    found = dense_inverse(set_up("kcycle", operator), operator)
    # Levels are in single precision.
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize(("dtype", "of_modes"), [(float, float), (complex, float), (complex, complex)])
def test_a_cycle_with_near_null_vectors_is_that_of_its_definition(dtype, of_modes):
    """As above, with an orthonormal basis of the vectors in each part as columns of Z."""
    size, rng = 401, np.random.default_rng(5)
    A = sparse.csr_array(network(size, 1200) + 0.5 * sparse.eye_array(size), dtype=dtype)
    if dtype is complex:
        turns = sparse.diags_array(np.exp(0.3j * np.arange(size)))
        A = sparse.csr_array(turns @ A @ turns.conj())
        A = sparse.csr_array((A + A.conj().T) / 2)
    modes = np.column_stack([np.ones(size), rng.random(size)]).astype(of_modes)
    modes = modes * np.exp(0.3j * np.arange(size))[:, None] if of_modes is complex else modes
    A.sort_indices()
    labels, count = grown_parts((A.data, A.indices, A.indptr.astype(np.int64)), 16, 0.15)
    dense, Z = A.toarray(), np.zeros((size, 2 * count), of_modes)
    for part in range(count):
        rows = np.flatnonzero(labels == part)
        Z[rows, 2 * part : 2 * part + 2] = np.linalg.qr(modes[rows])[0]
    bound = max(2.0, spectral_bound(A.data, A.indices, A.indptr, np.real(A.diagonal()), 3))
    one, two = smoother_coefficients(SMOOTHED * bound, bound)
    D, unit = np.diag(1 / np.diag(dense)), np.eye(size)
    S = one * D - two * D @ dense @ D
    # A part of one unknown has one column twice.
    correction = Z @ np.linalg.pinv(Z.conj().T @ dense @ Z) @ Z.conj().T
    expected = 2 * S - S @ dense @ S + (unit - S @ dense) @ correction @ (unit - dense @ S)
    system = LinearSystem(Matrix(A), np.ones(size), near_null=modes)
    found = dense_inverse(find("preconditioner", "kcycle").setup_of(system, CPU), system.operator)
    # Levels are in single precision.
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())


def test_iterations_hardly_grow_with_the_number_of_unknowns():
    counts = []
    for count in (2000, 8000, 32000):
        A, b = triangles(count)
        found = solve(A, b, M="kcycle", rtol=1e-8)
        assert found.converged
        assert np.linalg.norm(b - A @ found.x) <= 1.1e-8 * np.linalg.norm(b)
        counts.append(found.iterations)
    assert max(counts) <= 36
    assert counts[-1] <= 1.5 * counts[0]


def test_flexible_cg_needs_about_as_many_iterations():
    A, b = triangles(8000)
    plain, flexible = (solve(A, b, M="kcycle", solver=solver, rtol=1e-10).iterations for solver in ("cg", "fcg"))
    assert abs(plain - flexible) <= 2


def test_a_laplacian_with_several_components_of_any_size_is_solved():
    one = network(3000, 9000)
    pair = sparse.csr_array([[2.0, -2.0], [-2.0, 2.0]])
    path = network(5, 30, seed=4)
    A = sparse.csr_array(sparse.block_diag([one, pair, one, path, *[pair] * 40, sparse.csr_array((3, 3))]))
    b = A @ np.random.default_rng(0).standard_normal(A.shape[0])
    found = solve(A, b, M="kcycle", rtol=1e-9)
    assert found.converged
    assert found.iterations <= 60
    assert np.linalg.norm(b - A @ found.x) <= 1.1e-9 * np.linalg.norm(b)


def test_single_precision_and_many_right_hand_sides():
    A, b = triangles(4000)
    counts = [solve(sparse.csr_array(A, dtype=t), b.astype(t), M="kcycle", rtol=1e-4).iterations for t in "fd"]
    assert abs(counts[0] - counts[1]) <= 1
    B = np.column_stack([b, b[::-1], np.ones(b.size)])
    found = solve(A, B, M="kcycle", rtol=1e-8)
    assert found.converged
    np.testing.assert_array_less(np.linalg.norm(B - A @ found.x, axis=0), 1.1e-8 * np.linalg.norm(B, axis=0))


@on_accelerators(dtype=["float32", "float64"], size=[1500, 6000])
def test_accelerators_take_as_many_iterations(accelerator, case):
    A, b = triangles(case["size"])
    A, b, rtol = sparse.csr_array(A, dtype=case["dtype"]), b.astype(case["dtype"]), 1e-4
    on_host, there = "cpu", accelerator.spec
    for M in ("kcycle:8,growth=rounds", "kcycle:8,growth=queue"):
        expected, found = (solve(A, b, M=M, rtol=rtol, device=name) for name in (on_host, there))
        assert expected.converged
        assert found.converged
        assert abs(found.iterations - expected.iterations) <= 1
    # Where the device is an accelerator, parts grow in rounds by default.
    usual = solve(A, b, M="kcycle", rtol=rtol, device=there)
    assert usual.iterations == solve(A, b, M="kcycle:8,growth=rounds", rtol=rtol, device=there).iterations


@on_accelerators(kind=["no couplings", "positive couplings"])
def test_parts_grow_one_after_the_other_by_default_where_rounds_hardly_merge(accelerator, case):
    identity = sparse.eye_array(1500, format="csr")
    A = Matrix(identity if case["kind"] == "no couplings" else abs(triangles(1500)[0]))
    made = [find("preconditioner", M).factor_of(A, accelerator) for M in ("kcycle", "kcycle:growth=queue")]
    sizes = [each.sizes for each in made]
    assert sizes[0] == sizes[1]
    assert sizes[0][-1] <= 120


def test_a_grid_is_solved_as_any_matrix():
    result = run_through(Run(configure("bubbles-2d", n=64, preconditioner="kcycle", sides="x-:dirichlet")))
    assert result.converged
    assert result.iterations <= 25


def test_a_prepared_system_is_updated():
    A, b = triangles(2000)
    prepared = prepare(A, M="kcycle", rtol=1e-8)
    first = prepared.solve(b)
    prepared.update(sparse.csr_array(3 * A))
    second = prepared.solve(b)
    np.testing.assert_allclose(3 * second.x, first.x, atol=1e-6 * np.abs(first.x).max())


def test_notes_and_traces_name_the_levels():
    A, b = triangles(3000)
    result = solve(A, b, M="kcycle", trace=True)
    (note,) = [note for note in result.provenance["notes"] if "kcycle" in note]
    sizes = [int(size) for size in note.split("levels of ")[1].split(" unknowns")[0].split(", ")]
    assert sizes[0] == A.shape[0]
    assert sizes[-1] <= 120
    names = {kernel.name for kernel in result.trace.kernels}
    assert {"smooth, level 0", "restrict to level 1", "smooth, level 1", "coarsest level"} <= names
    moved = sum(kernel.bytes for kernel in result.trace.kernels if "level 0" in kernel.name)
    assert moved > 0


def test_what_it_cannot_do_is_refused_in_a_sentence():
    A, b = triangles(2000)
    with pytest.raises(InputError, match="pipecg updates M\\^-1 r by a recurrence"):
        solve(A, b, M="kcycle", solver="pipecg")
    with pytest.raises(InputError, match="size"):
        solve(A, b, M="kcycle:1")
    indefinite = sparse.csr_array(A - 0.7 * sparse.diags_array(A.diagonal()))
    with pytest.raises(InputError, match=r"kcycle cannot be set up: .* not positive definite .* use preconditioner ja"):
        solve(indefinite, b, M="kcycle")


@pytest.mark.parametrize("growth", ["auto", "rounds", "queue"])
def test_a_row_without_a_diagonal_entry_is_refused_in_a_sentence(device, growth):
    A, b = triangles(300)
    A.setdiag(np.where(np.arange(b.size) % (b.size - 1) == 0, 0, A.diagonal()))
    A.eliminate_zeros()
    with pytest.raises(InputError, match="its diagonal entry 0 is 0"):
        solve(A, b, solver="cocg", M=f"kcycle:growth={growth}", device=device.spec)


def test_pieces_that_do_not_merge_are_refused_in_a_sentence(monkeypatch):
    # Two vectors for each piece of three unknowns are more than 0.6 of those.
    pieces = sparse.csr_array(sparse.block_diag([4 * np.eye(3) - 1] * 50))
    monkeypatch.setattr("workbench.deflation.hierarchy.MOST_DENSE", 130)
    with pytest.raises(InputError, match="kcycle cannot be set up: merging parts leaves 150 vectors, and the last"):
        solve(pieces, np.ones(150), M="kcycle", near_null=np.random.default_rng(0).random((150, 2)))


@pytest.mark.parametrize("span", [2, 4])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_laplacian_in_single_precision_is_semidefinite_up_to_its_own_rounding(device, span, seed):
    """Couplings from 10^-span to 10^span, whose sums over parts cancel to what float32 leaves of them."""
    rng = np.random.default_rng(seed)
    pattern = sparse.triu(made.geometric_graph(2000).matrix, 1).tocoo()
    weights = (10 ** rng.uniform(-span, span, pattern.nnz)).astype(np.float32)
    half = sparse.coo_array((weights, (pattern.row, pattern.col)), shape=pattern.shape).tocsr()
    whole = half + half.T
    A = sparse.csr_array(sparse.diags_array(whole.sum(axis=1)) - whole).astype(np.float32)
    b = A @ rng.standard_normal(A.shape[0]).astype(np.float32)
    found, plain = (solve(A, b, M=M, rtol=1e-4, device=device.spec) for M in ("kcycle", "jacobi"))
    assert found.converged
    assert 4 * found.iterations < plain.iterations
