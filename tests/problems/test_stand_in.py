"""Stand-ins: sizes of the real matrices, symmetry, definiteness, reproducibility."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

from tests.conftest import refusal
from workbench.errors import InputError
from workbench.problems.catalogue import catalogue
from workbench.problems.stand_in import SUBSTITUTES, StandIn, Thinned
from workbench.problems.synthetic_rows import ThinnedGrid, triangulated_grid
from workbench.process import limits
from workbench.run import solve

BLOCK_CG = {
    "1138_bus": (1138, 4054, 2, 18),
    "mhd1280b": (1280, 22778, 1, 32),
    "m_t1": (97578, 9753570, 48, 237),
    "parabolic_fem": (525825, 3674625, 3, 7),
    "helm_fem": (16384, 113666, 3, 7),
}
"""N, entries, shortest and longest row as in Table I of the block CG paper."""
SCALES = {"bcsstk15": 0.2, "gyro": 0.05, "boneS01": 0.01, "hood": 5e-3, "offshore": 4e-3, "Serena": 7e-4}
SCALES |= {"Queen_4147": 4e-4}
PRINTED = {name: (catalogue()[name].N, catalogue()[name].nnz + catalogue()[name].zeros) for name in SCALES}
"""N and entries, as the hybrid pipelined CG papers print them."""


def matrix_of(problem):
    return problem.assemble().operator.to_csr()


def test_there_is_a_stand_in_for_each_matrix_of_the_papers():
    assert set(SUBSTITUTES) == {*PRINTED, *BLOCK_CG}
    for name, (rows, entries) in PRINTED.items():
        problem = StandIn(of=name)
        assert (problem.unknowns, problem.entries) == (rows, entries)


@pytest.mark.parametrize("name", ["bcsstk15", "gyro"])
def test_rows_and_entries_agree_with_the_real_matrix(name):
    csr = matrix_of(StandIn(of=name))
    rows, entries = PRINTED[name]
    assert csr.shape == (rows, rows)
    assert abs(csr.nnz - entries) <= 0.02 * entries


@pytest.mark.parametrize("name", PRINTED)
def test_scaled_stand_ins_have_equally_long_rows(name):
    for scale in (SCALES[name], 0.02 + SCALES[name]):
        problem = StandIn(of=name, scale=scale)
        csr = matrix_of(problem)
        substitute = SUBSTITUTES[name]
        assert isinstance(substitute, Thinned)
        assert abs(csr.shape[0] - scale * PRINTED[name][0]) <= substitute.each
        mean = PRINTED[name][1] / PRINTED[name][0]
        assert abs(csr.nnz / csr.shape[0] - mean) <= 0.02 * mean


@pytest.mark.parametrize("name", PRINTED)
def test_stand_ins_are_symmetric_positive_definite_and_sorted(name):
    csr = matrix_of(StandIn(of=name, scale=SCALES[name]))
    assert abs(csr - csr.T).max() == 0
    assert linalg.eigsh(csr, k=1, sigma=0, which="LM", return_eigenvectors=False)[0] > 0
    assert np.count_nonzero(csr.data) == csr.nnz
    assert csr.indices.dtype == csr.indptr.dtype == np.int32
    assert sparse.csr_array((csr.data, csr.indices, csr.indptr), shape=csr.shape).has_canonical_format


def test_unknowns_of_a_node_have_the_same_neighbours():
    csr = matrix_of(StandIn(of="gyro", scale=0.05))
    pattern = sparse.csr_array((np.ones(csr.nnz), csr.indices, csr.indptr), shape=csr.shape)
    nodes = sparse.kron(sparse.eye_array(csr.shape[0] // 3), np.ones((3, 1)), format="csr")
    assert set((nodes.T @ pattern @ nodes).data) == {9.0}


@pytest.mark.parametrize("name", BLOCK_CG)
def test_rows_are_as_long_as_the_block_cg_paper_prints(name):
    rows, entries, shortest, longest = BLOCK_CG[name]
    problem = StandIn(of=name)
    assert (problem.unknowns, problem.entries) == (rows, entries)
    symmetric = name == "helm_fem"
    assert problem.is_complex_symmetric == symmetric
    csr = (problem.assemble_complex_symmetric() if symmetric else problem.assemble()).operator.to_csr()
    lengths = np.diff(csr.indptr)
    assert (csr.shape, csr.nnz) == ((rows, rows), entries)
    assert (lengths.min(), lengths.max()) == (shortest, longest)
    assert np.count_nonzero(csr.data) == csr.nnz
    other = csr.conj().T if name == "mhd1280b" else csr.T
    assert abs(csr - other).max() == 0
    assert (csr.dtype.kind == "c") == (name in ("mhd1280b", "helm_fem"))


@pytest.mark.parametrize(
    ("name", "scale"), [("1138_bus", 1.0), ("m_t1", 0.02), ("parabolic_fem", 0.002), ("mhd1280b", 0.6)]
)
def test_those_for_hermitian_matrices_are_definite(name, scale):
    problem = StandIn(of=name, scale=scale)
    csr = matrix_of(problem)
    assert csr.shape == (problem.unknowns, problem.unknowns)
    assert abs(csr.nnz - problem.entries) <= 0.02 * problem.entries
    assert linalg.eigsh(csr, k=1, sigma=0, which="LM", return_eigenvectors=False)[0] > 0


def test_linear_elements_are_exact_for_linear_functions():
    grid = triangulated_grid(5, 4, 0.0)
    x, y = np.meshgrid(np.arange(4.0), np.arange(5.0))
    residual = (grid @ (2 * x - 3 * y + 1).ravel()).reshape(5, 4)
    assert np.abs(residual[1:-1, 1:-1]).max() < 1e-14
    # The mass matrix sums to the area of the grid.
    mass = triangulated_grid(5, 4, 1.0) - grid
    assert mass.sum() == pytest.approx(12)


def test_the_helmholtz_stand_in_is_complex_symmetric():
    with pytest.raises(InputError, match=r"complex symmetric, not Hermitian; .* choose solver cocg"):
        StandIn(of="helm_fem").assemble()
    system = StandIn(of="helm_fem", scale=0.1).assemble_complex_symmetric()
    assert system.operator.dtype == system.b.dtype == np.complex128


def test_the_matrix_depends_on_the_seed():
    first, again, other = (matrix_of(StandIn(scale=0.3, geometry_seed=seed)) for seed in (1, 1, 2))
    assert (first != again).nnz == 0
    assert np.array_equal(first.data, again.data)
    assert (first != other).nnz > first.nnz // 4


@pytest.mark.parametrize("each", [1, 3])
def test_without_thinning_all_neighbours_in_the_box_exist(each):
    nodes, side = 60, 4
    csr = ThinnedGrid(nodes, each, 10**9, seed=0).to_csr()
    points = np.array(list(itertools.product(range(side), repeat=3))[:nodes])
    far = np.abs(points[:, None, :] - points[None, :, :]).max(axis=2)
    expected = np.kron(far <= 3, np.ones((each, each), bool))
    np.testing.assert_array_equal(csr.toarray() != 0, expected)


def test_the_matrix_does_not_depend_on_the_block_size(monkeypatch):
    whole = ThinnedGrid(500, 3, 60_000, seed=5).to_csr()
    monkeypatch.setattr("workbench.problems.synthetic_rows.NODES_PER_BLOCK", 37)
    pieces = ThinnedGrid(500, 3, 60_000, seed=5).to_csr()
    assert np.array_equal(whole.indptr, pieces.indptr)
    assert np.array_equal(whole.indices, pieces.indices)
    np.testing.assert_allclose(whole.data, pieces.data, rtol=1e-14)


def test_assembly_needs_less_than_twice_the_memory():
    tracemalloc.start()
    try:
        csr = matrix_of(StandIn(of="boneS01", scale=0.5))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.8 * (csr.data.nbytes + csr.indices.nbytes + csr.indptr.nbytes)


def test_cg_converges_on_stand_ins():
    problem = StandIn(of="boneS01", scale=0.02)
    system = problem.assemble()
    result = solve(system.operator, system.b, rtol=1e-8)
    assert result.converged
    np.testing.assert_allclose(system.operator.to_csr() @ result.x, system.b, atol=1e-6)


def test_the_label_says_that_it_is_not_the_real_matrix():
    assert StandIn(of="Serena").label == "Stand-in for Serena"
    assert StandIn(of="Serena", scale=0.25).label == "Stand-in for Serena, share of the unknowns 0.25"
    assert "STAND-IN" in StandIn.title
    assert StandIn(of="Serena").to_dict()["name"] == "stand-in"


def test_refusals(monkeypatch):
    assert refusal(StandIn, of="bcsstk15", scale=0.1) == (
        "stand-in: scale 0.1 leaves 396 unknowns of bcsstk15, at least 600 are needed; use a larger scale"
    )
    with pytest.raises(InputError, match=r"unknown of 'Queen'; did you mean Queen_4147\?"):
        StandIn(of="Queen")

    monkeypatch.setattr(limits, "memory", lambda: (2**40, 2**30))
    with pytest.raises(InputError, match=r"Stand-in for Queen_4147 needs about 4.6 GiB of memory, .* smaller sc"):
        StandIn(of="Queen_4147").assemble()
