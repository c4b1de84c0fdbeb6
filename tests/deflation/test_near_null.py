"""Deflation with the near null space of A, part by part: rigid-body modes of elastic bodies, and sparse Z."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tests.all_pairs import on_accelerators
from tests.conftest import random_matrix
from tests.elastic import BEAM, BODIES, PLATE, cantilever, stiffness
from workbench.deflation import DenseSubspace, SparseSubspace, as_subspace, rigid_body_modes
from workbench.devices.host.modes import node_size, orthonormal_modes
from workbench.errors import InputError
from workbench.run import prepare, solve

SMALL = (9, 4, 3)


@pytest.fixture(scope="module")
def beam():
    """A, b and the rigid-body modes of a cantilever."""
    A, places, b = cantilever(BEAM)
    return A, b, rigid_body_modes(places)


@pytest.mark.parametrize("sides", [(7, 4), SMALL])
def test_a_free_body_resists_no_rigid_body_mode(sides):
    A, places = stiffness(sides)
    modes = rigid_body_modes(places + 5)
    assert modes.shape == (places.size, 3 if len(sides) == 2 else 6)
    assert np.linalg.matrix_rank(modes) == modes.shape[1]
    np.testing.assert_allclose(A @ modes, 0, atol=1e-12 * np.abs(modes).max())


@pytest.mark.parametrize("body", BODIES)
def test_modes_take_a_fraction_of_the_iterations(body):
    A, places, b = cantilever(BODIES[body])
    modes = rigid_body_modes(places)
    none, labels, found = (
        solve(A, b, M="ic", rtol=1e-8, deflation=deflation, near_null=near_null)
        for deflation, near_null in (("none", None), ("parts:60", None), ("parts:60", modes))
    )
    assert found.converged
    assert np.linalg.norm(b - A @ found.x) <= 1.1e-8 * np.linalg.norm(b)
    assert found.iterations <= 40
    assert found.iterations < 0.5 * min(none.iterations, labels.iterations)
    nodes = places.shape[1]
    assert any(f"of nodes with {nodes} unknowns" in note for note in found.provenance["notes"])


def test_a_vector_for_each_unknown_of_a_node_serves_without_coordinates(beam):
    A, b, modes = beam
    mixed, apart, whole = (
        solve(A, b, M="ic", rtol=1e-8, deflation=deflation, near_null=near_null).iterations
        for deflation, near_null in (("parts:60", None), ("parts:60,node=3", None), ("parts:60", modes))
    )
    assert whole < apart < mixed


@on_accelerators(M=["jacobi", "chebyshev"], variant=["def1", "a-def2"])
def test_accelerators_take_as_many_iterations(accelerator, case, beam):
    A, b, modes = beam
    expected, found = (
        solve(A, b, deflation="parts:60", near_null=modes, rtol=1e-8, device=name, **case)
        for name in ("cpu", accelerator.spec)
    )
    assert expected.converged
    assert found.converged
    assert abs(found.iterations - expected.iterations) <= 2


def test_a_free_body_is_solved_with_its_modes_as_null_space_and_as_near_null_space():
    A, places = stiffness(SMALL)
    modes = rigid_body_modes(places)
    two, both = sparse.csr_array(sparse.block_diag([A, A])), np.concatenate([modes, modes])
    null = np.kron(np.eye(2), modes)
    b = two @ np.random.default_rng(0).standard_normal(two.shape[0])
    found = solve(two, b, M="jacobi", deflation="parts:30", near_null=both, nullspace=null, rtol=1e-9)
    assert found.converged
    assert np.linalg.norm(b - two @ found.x) <= 1e-8 * np.linalg.norm(b)
    assert np.abs(null.T @ found.x).max() <= 1e-8 * np.linalg.norm(found.x) * np.linalg.norm(modes)
    plain = solve(two, b, M="jacobi", nullspace=null, rtol=1e-9)
    assert found.iterations < 0.7 * plain.iterations
    # A part of each of the two bodies goes without its six modes.
    (note,) = [note for note in found.provenance["notes"] if "modes are kept" in note]
    kept, made = (int(part.split()[0]) for part in note.replace("the ", "").split(" unknowns, ")[1].split(" of "))
    assert kept == made - 12


def test_block_vectors_and_single_precision(beam):
    A, b, modes = beam
    B = np.column_stack([b, np.random.default_rng(1).standard_normal((b.size, 2))])
    found = solve(A, B, M="ic", deflation="parts:60", near_null=modes, rtol=1e-8)
    assert found.converged
    np.testing.assert_array_less(np.linalg.norm(B - A @ found.x, axis=0), 1.1e-8 * np.linalg.norm(B, axis=0))
    D = sparse.csr_array(A + 1e-3 * sparse.eye_array(b.size))
    single, double = (
        solve(sparse.csr_array(D, dtype=dtype), b.astype(dtype), M="jacobi", deflation="parts:60", near_null=modes,
              rtol=1e-4)
        for dtype in (np.float32, np.float64)
    )  # fmt: skip
    assert single.converged
    assert abs(single.iterations - double.iterations) <= 2


def test_a_prepared_system_keeps_its_modes(beam):
    A, b, modes = beam
    prepared = prepare(A, M="ic", deflation="parts:60", near_null=modes, rtol=1e-8)
    first = prepared.solve(b).iterations
    prepared.update(2 * A)
    found = prepared.solve(b)
    assert found.converged
    assert abs(found.iterations - first) <= 1


def test_modes_are_orthonormal_within_each_part_and_those_that_depend_on_others_are_left_out():
    # The nodes of the last part lie on one line: a rotation about it moves none of them.
    places = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [5, 5, 5], [6, 6, 6]])
    labels = np.repeat([0, 0, 0, 0, 0, 1, 1], 3).astype(np.int32)
    modes, kept = orthonormal_modes(rigid_body_modes(places), labels, 2)
    assert kept.sum(axis=1).tolist() == [6, 5]
    for part in range(2):
        rows, columns = modes[labels == part], kept[part]
        gram = rows.T @ rows
        np.testing.assert_allclose(gram[np.ix_(columns, columns)], np.eye(columns.sum()), atol=1e-14)
        assert not gram[~columns].any()


def test_the_unknowns_of_a_node_are_those_whose_translations_come_first():
    places = np.random.default_rng(0).random((5, 3))
    assert node_size(rigid_body_modes(places)) == 3
    assert node_size(rigid_body_modes(places[:, :2])) == 2
    assert node_size(rigid_body_modes(places)[1:]) == 1
    assert node_size(np.ones((6, 1))) == 1


def blocks_of_columns(size, parts, columns, seed=3):
    """A sparse Z: random entries in disjoint ranges of rows."""
    rng = np.random.default_rng(seed)
    return sparse.csr_array(sparse.block_diag([rng.random((size // parts, columns)) for _ in range(parts)]))


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_a_sparse_z_deflates_as_a_dense_one(dtype):
    operator = random_matrix(120, dtype)
    Z = blocks_of_columns(120, 10, 2)
    Z = Z + 0.3j * blocks_of_columns(120, 10, 2, seed=4) if dtype == np.complex128 else Z
    assert isinstance(as_subspace(Z, 120), SparseSubspace)
    assert isinstance(as_subspace(Z.toarray()[:, :4], 120), DenseSubspace)
    b = np.random.default_rng(0).random(120).astype(dtype)
    found = solve(operator, b, rtol=1e-10, deflation=Z)
    expected = solve(operator, b, rtol=1e-10, deflation=Z.toarray()[:, np.random.default_rng(5).permutation(20)])
    assert found.iterations == expected.iterations
    np.testing.assert_allclose(found.x, np.linalg.solve(operator.to_csr().toarray(), b), atol=1e-8)


def test_sparse_columns_that_depend_on_others_are_dropped_as_those_of_a_dense_z():
    Z = blocks_of_columns(120, 10, 2)
    twice = sparse.csr_array(sparse.hstack([Z, 2 * Z[:, :3]]))
    result = solve(random_matrix(120), np.ones(120), deflation=twice, rtol=1e-10)
    assert result.converged
    assert "3 linearly dependent deflation vectors were dropped" in result.provenance["notes"]


def test_a_near_null_space_that_does_not_fit_is_refused_in_a_sentence(beam):
    A, b, modes = beam
    with pytest.raises(InputError, match=r"near_null has shape \(10, 6\), but the matrix has"):
        solve(A, b, deflation="parts:60", near_null=modes[:10])
    with pytest.raises(InputError, match="near_null is for deflation parts .*leave near_null out"):
        solve(A, b, M="ic", near_null=modes)
    with pytest.raises(InputError, match="near_null holds nan"):
        solve(A, b, deflation="parts:60", near_null=np.full_like(modes, np.nan))
    with pytest.raises(InputError, match="no whole nodes of 7 unknowns"):
        solve(A, b, deflation="parts:60,node=7")
    with pytest.raises(InputError, match=r"coordinates have shape \(4,\)"):
        rigid_body_modes(np.ones(4))


@pytest.mark.parametrize("body", BODIES)
def test_the_k_cycle_with_modes_takes_few_iterations(body):
    A, places, b = cantilever(BODIES[body])
    plain, found = (
        solve(A, b, M="kcycle", near_null=near_null, rtol=1e-8, maxiter=200)
        for near_null in (None, rigid_body_modes(places))
    )
    assert found.converged
    assert np.linalg.norm(b - A @ found.x) <= 1.1e-8 * np.linalg.norm(b)
    assert found.iterations <= 30
    assert found.iterations < 0.25 * plain.iterations
    prepared = prepare(A, M="kcycle", near_null=rigid_body_modes(places), rtol=1e-8)
    prepared.update(2 * A)
    assert abs(prepared.solve(b).iterations - found.iterations) <= 1


@on_accelerators(dtype=["float32", "float64", "complex128"])
def test_the_k_cycle_with_modes_on_accelerators(accelerator, case):
    A, places, b = cantilever((12, 4, 4))
    # Single precision resolves no softer body.
    A, modes = sparse.csr_array(A + 1e-2 * sparse.eye_array(b.size), dtype=case["dtype"]), rigid_body_modes(places)
    b = b.astype(case["dtype"])
    if case["dtype"] == "complex128":
        # Nodes turned by a number each: translations are no unit vectors any more.
        turns = np.repeat(np.exp(0.1j * np.arange(len(places))), places.shape[1])
        A = sparse.csr_array(sparse.diags_array(turns) @ A @ sparse.diags_array(turns.conj()))
        A, b, modes = sparse.csr_array((A + A.conj().T) / 2), turns * b, turns[:, None] * modes
    expected, found = (
        solve(A, b, M="kcycle", near_null=modes, rtol=1e-4, device=name) for name in ("cpu", accelerator.spec)
    )
    assert expected.converged
    assert found.converged
    assert abs(found.iterations - expected.iterations) <= 1


@on_accelerators(dtype=["complex64", "complex128"])
def test_the_k_cycle_with_one_complex_vector_on_accelerators(accelerator, case):
    size = 700
    turns = np.exp(0.7j * np.arange(size))
    A = sparse.diags_array([-1.0, -1.0, 4.01, -1.0, -1.0], offsets=[-23, -1, 0, 1, 23], shape=(size, size))
    A = sparse.csr_array(sparse.diags_array(turns) @ A @ sparse.diags_array(turns.conj()), dtype=case["dtype"])
    b = turns.astype(case["dtype"])
    expected, found = (
        solve(A, b, M="kcycle", near_null=turns, rtol=1e-4, device=name, maxiter=99)
        for name in ("cpu", accelerator.spec)
    )
    assert expected.converged
    assert found.converged
    assert abs(found.iterations - expected.iterations) <= 1


def test_near_null_vectors_lie_in_memory_as_they_like(beam):
    A, b, modes = beam
    backwards = np.concatenate([modes, modes])[::-1][: len(modes)][::-1]
    found = [
        solve(A, b, M="kcycle", near_null=each).iterations for each in (modes, np.asfortranarray(modes), backwards)
    ]
    assert len(set(found)) == 1


def test_the_k_cycle_leaves_out_modes_that_depend_on_others_and_those_that_nothing_resists():
    """Two free bodies and rods of two nodes, which have no rotation about their axis: six or five null vectors each."""
    A, places = stiffness((13, 5, 4))
    axis = np.array([1.0, 2.0, 3.0])
    rod = np.kron([[1, -1], [-1, 1]], np.outer(axis, axis)) / 14
    ends = np.stack([np.zeros(3), axis])
    whole = sparse.csr_array(sparse.block_diag([A, *[rod] * 7, A]))
    modes = rigid_body_modes(np.concatenate([places, *[ends + 3 * k for k in range(7)], places + 20]))
    b = whole @ np.random.default_rng(0).standard_normal(whole.shape[0])
    found = solve(whole, b, M="kcycle", near_null=modes, rtol=1e-8)
    assert found.converged
    assert found.iterations <= 30
    assert np.linalg.norm(b - whole @ found.x) <= 1.1e-8 * np.linalg.norm(b)


@pytest.mark.parametrize("scale", [1e-160, 1e160])
def test_the_k_cycle_with_modes_does_not_depend_on_the_scale_of_a(scale):
    A, places, b = cantilever(PLATE)
    one, other = (
        solve(by * A, by * b, M="kcycle", near_null=rigid_body_modes(places), rtol=1e-8) for by in (1.0, scale)
    )
    assert other.converged
    assert abs(one.iterations - other.iterations) <= 1


def test_amg_interpolates_the_modes(beam):
    pytest.importorskip("pyamg")
    A, b, modes = beam
    plain, found = (solve(A, b, M="amg:sa", near_null=given, rtol=1e-8).iterations for given in (None, modes))
    assert found < 0.7 * plain
    with pytest.raises(InputError, match="takes no near_null; use amg:sa"):
        solve(A, b, M="amg:rs", near_null=modes)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_near_null_vectors_of_any_length(scale):
    size = 300
    matrix = sparse.diags_array([-np.ones(299), 2.001 * np.ones(size), -np.ones(299)], offsets=[-1, 0, 1]).tocsr()
    found = [
        solve(matrix, np.ones(size), deflation="parts:30", near_null=np.full((size, 1), by)).iterations
        for by in (1.0, scale)
    ]
    assert found[0] == found[1]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e-288, 1e288])
@pytest.mark.parametrize("length", [1e-25, 1e25, 1e288])
def test_parts_with_modes_do_not_depend_on_the_scales_of_a_and_of_the_modes(scale, length):
    A, places, b = cantilever(PLATE)
    A, modes = A / abs(A).max(), rigid_body_modes(places)
    one, other = (
        solve(by * A, b, deflation="parts:30", near_null=of * modes, rtol=1e-8)
        for by, of in ((1.0, 3.0), (scale, length))
    )
    assert other.converged
    assert abs(one.iterations - other.iterations) <= 1


def test_near_null_vectors_that_are_zero_and_no_nodes_are_refused():
    with pytest.raises(InputError, match="near_null column 1 is zero; leave it out"):
        solve(sparse.eye_array(4, format="csr"), np.ones(4), deflation="parts:2", near_null=np.eye(4, 2) * [1, 0])
    with pytest.raises(InputError, match="coordinates have no row; pass one for each node"):
        rigid_body_modes(np.zeros((0, 2)))
