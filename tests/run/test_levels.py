"""Levels that a run has by default, by the size, the rows and the couplings of its matrix."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

from benchmarks.matrices import made
from tests.conftest import grid_stencil
from workbench.deflation.coarse import not_definite
from workbench.devices import device
from workbench.errors import InputError
from workbench.operators import Matrix, as_operator, cuts
from workbench.preconditioners import kcycle
from workbench.run import prepare, solve
from workbench.run.choices import levels
from workbench.scipy import cg, factorized
from workbench.solvers import Solver

CPU, CG = device(), Solver.named("cg")


@pytest.fixture
def small(monkeypatch):
    """Bounds that small matrices reach."""
    monkeypatch.setattr(levels, "FEW", 200)
    monkeypatch.setattr(levels, "FROM", 500)
    monkeypatch.setattr(levels, "SIZES", ((900, 30), (math.inf, 60)))
    monkeypatch.setattr(levels, "LONG", ((900, 20.0), (math.inf, 10.0)))
    monkeypatch.setattr(levels, "CYCLE_FROM", 2500)


def chosen(A, solver=CG, on=CPU):
    return levels.chosen_levels(as_operator(A), solver, on)[:2]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("make", "least", "few", "many"),
    [
        (made.pores, ("ic", "none"), ("ic", "parts:30"), ("ic", "parts:60")),
        (made.disk, ("ic", "none"), ("ic", "parts:30"), ("ic", "parts:60")),
        (made.tetrahedra, ("ic", "none"), ("ic", "parts:30"), ("jacobi", "parts:60")),
        (made.geometric_graph, ("ic", "none"), ("jacobi", "parts:30"), ("jacobi", "parts:60")),
        (made.anisotropic, ("ic", "none"), ("ic", "none"), ("ic", "none")),
        (made.beam, ("ic", "none"), ("ic", "none"), ("ic", "none")),
    ],
)
def test_the_rule_by_size_and_rows(make, least, few, many):
    for size, expected in ((350, least), (700, few), (1500, many)):
        if make is not made.beam or size == 1500:
            assert chosen(make(size).matrix) == expected, size


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (made.disk, ("kcycle", "none")),
        (made.geometric_graph, ("kcycle", "none")),
        (made.anisotropic, ("ic", "none")),
        (made.beam, ("ic", "none")),
    ],
)
def test_large_matrices_have_multigrid_on_their_graph(make, expected):
    assert chosen(make(3000).matrix) == expected


@pytest.mark.usefixtures("small")
def test_methods_that_update_m_r_by_a_recurrence_have_parts_at_any_size():
    pipelined = Solver.named("pipecg")
    assert not pipelined.applies_m_to_r
    assert chosen(made.disk(3000).matrix, pipelined) == ("ic", "parts:60")


@pytest.mark.usefixtures("small")
def test_large_matrices_are_solved_by_default():
    for make in (made.disk, made.geometric_graph):
        system = make(3000)
        result = solve(system.matrix, system.b, rtol=1e-8)
        assert result.provenance["configuration"]["preconditioner"]["name"] == "kcycle"
        assert result.converged
        assert np.linalg.norm(system.b - system.matrix @ result.x) <= 1.1e-8 * np.linalg.norm(system.b)
        assert 2 * result.iterations < solve(system.matrix, system.b, rtol=1e-8, M="jacobi").iterations


@pytest.mark.usefixtures("small")
def test_prepared_systems_have_the_levels_of_solve():
    for size, expected in ((1500, ("ic", "parts")), (3000, ("kcycle", "none"))):
        system = made.disk(size)
        prepared = prepare(system.matrix, rtol=1e-8)
        configuration = prepared.configuration
        assert (configuration.preconditioner.name, configuration.deflation.name) == expected
        assert any(note.startswith("levels by default: ") for note in prepared.notes)
        of_solve = solve(system.matrix, system.b, rtol=1e-8)
        result = prepared.solve(system.b)
        assert (result.converged, result.iterations) == (True, of_solve.iterations)
        prepared.update(sparse.csr_array(2 * system.matrix))
        again = prepared.solve(2 * system.b)
        np.testing.assert_allclose(again.x, result.x, atol=1e-6 * np.abs(result.x).max())
    for given, expected in (
        ({"M": "ic"}, ("ic", "none")),
        ({"deflation": "parts:40"}, ("jacobi", "parts")),
        ({"format": "csr", "reduction": "device", "ranks": 1}, ("ic", "parts")),
        ({"memory_limit": 10**9}, ("jacobi", "none")),
    ):
        configuration = prepare(made.disk(1500).matrix, **given).configuration
        assert (configuration.preconditioner.name, configuration.deflation.name) == expected


@pytest.mark.usefixtures("small")
def test_factorized_has_the_levels_of_solve_and_cg_the_none_of_scipy():
    system = made.disk(1500)
    found = factorized(system.matrix)
    assert found._prepared.configuration.preconditioner.name == "ic"
    assert found._prepared.configuration.deflation.name == "parts"
    x = found(system.b)
    assert np.linalg.norm(system.b - system.matrix @ x) <= 1.1e-10 * np.linalg.norm(system.b)
    counts = []
    cg(system.matrix, system.b, callback=counts.append)
    assert len(counts) == solve(system.matrix, system.b, rtol=1e-5, M=None).iterations


def test_parts_are_so_large_that_e_is_factorized():
    assert [levels.parts_size(size) for size in (5_000, 35_000, 1_200_000, 2_000_001)] == [30, 60, 60, 101]


@pytest.mark.usefixtures("small")
def test_a_hermitian_matrix_has_the_levels_of_a_real_one():
    for size, expected in ((1500, ("ic", "parts:60")), (3000, ("kcycle", "none"))):
        system = made.disk(size)
        turns = np.exp(2j * np.arange(system.b.size))
        A = sparse.csr_array(sparse.diags_array(turns) @ system.matrix @ sparse.diags_array(turns.conj()))
        A = sparse.csr_array((A + A.conj().T) / 2)
        assert chosen(sparse.csr_array(system.matrix, dtype=complex)) == expected
        assert solve(sparse.csr_array(system.matrix, dtype=complex), system.b + 0j).converged
        assert solve(A, turns * system.b).converged


def test_strong_couplings_by_hand():
    chain = sparse.csr_array(
        3 * np.eye(6) - np.eye(6, k=1) - np.eye(6, k=-1) - 0.05 * (np.eye(6, k=3) + np.eye(6, k=-3))
    )
    assert levels.strong_couplings(chain) == pytest.approx(10 / 6)


@pytest.mark.usefixtures("small")
def test_positive_couplings_take_no_second_level():
    A = made.disk(1500).matrix
    assert levels.positive_share(A) == 0
    A = sparse.csr_array(abs(A) + sparse.diags_array(np.ones(1500)))
    assert levels.positive_share(A) == pytest.approx(1)
    assert chosen(A) == ("ic", "none")


def test_the_share_of_positive_couplings_by_hand():
    A = sparse.csr_array(np.array([[4.0, -3, 0], [-3, 5, 1], [0, 1, 2]]))
    assert levels.positive_share(A) == 0.25
    assert levels.positive_share(sparse.csr_array(np.eye(3))) == 0


@pytest.mark.usefixtures("small")
def test_a_gpu_has_jacobi_alone_unless_modes_are_given():
    @dataclasses.dataclass(frozen=True)
    class Gpu:
        whole_triangles = False

    A = made.disk(1500).matrix
    assert chosen(A, on=Gpu()) == levels.ALONE
    with_modes = levels.chosen_levels(as_operator(A), CG, Gpu(), modes=True)
    assert with_modes[:2] == ("chebyshev:3", f"parts:{levels.WITH_MODES}")


@pytest.mark.usefixtures("small")
def test_everything_else_has_jacobi_alone():
    A = made.disk(1500).matrix
    assert chosen(A, Solver.named("block-cg")) == levels.ALONE
    assert chosen(A, Solver.named("cocg")) == levels.ALONE
    assert chosen(aslinearoperator(A)) == levels.ALONE
    assert chosen(grid_stencil((40, 40))) == levels.ALONE
    assert chosen(made.disk(150).matrix) == levels.ALONE


@pytest.mark.usefixtures("small")
def test_a_graph_with_hubs_has_jacobi_alone(monkeypatch):
    A = made.social_graph(2000).matrix
    assert np.diff(A.indptr).max() > 10 * A.nnz / A.shape[0]
    monkeypatch.setattr(cuts, "HUB", 10)
    assert chosen(A) == levels.ALONE


@pytest.mark.usefixtures("small")
def test_solve_takes_the_rule_where_both_levels_are_left_out():
    system = made.disk(1500)
    for given, expected in (
        ({}, ("ic", "parts")),
        ({"M": "auto", "deflation": "auto"}, ("ic", "parts")),
        ({"M": "chebyshev:3"}, ("chebyshev", "none")),
        ({"deflation": "parts:40"}, ("jacobi", "parts")),
        ({"deflation": None}, ("jacobi", "none")),
        ({"M": None}, ("none", "none")),
    ):
        result = solve(system.matrix, system.b, **given)
        blocks = result.provenance["configuration"]
        assert (blocks["preconditioner"]["name"], blocks["deflation"]["name"]) == expected
        notes = [note for note in result.provenance["notes"] if note.startswith("levels by default: ")]
        assert bool(notes) == (expected == ("ic", "parts"))
        assert result.converged
    assert (
        "ic and deflation parts:60, for 1500 unknowns without a grid and 6.80"
        in solve(system.matrix, system.b).provenance["notes"][0]
    )


@pytest.mark.usefixtures("small")
def test_methods_that_need_an_element_wise_m_keep_jacobi(monkeypatch):
    def refuse(self, device, traits):
        if not traits.element_wise:
            raise levels.InputError("element-wise alone")

    cls = type(CG)
    monkeypatch.setattr(cls, "check", refuse)
    assert chosen(Matrix(made.disk(1500).matrix)) == levels.ALONE


@pytest.mark.usefixtures("small")
def test_a_near_null_space_has_a_second_level_by_default():
    system = made.beam(1500)
    result = solve(system.matrix, system.b, near_null=system.modes, rtol=1e-8)
    blocks = result.provenance["configuration"]
    assert (blocks["preconditioner"]["name"], blocks["deflation"]["parameters"]["size"]) == ("ic", levels.WITH_MODES)
    assert result.converged
    assert 2 * result.iterations < solve(system.matrix, system.b, rtol=1e-8).iterations


@pytest.mark.usefixtures("small")
def test_default_levels_that_cannot_be_set_up_give_way_to_jacobi_in_words(monkeypatch):
    def refuse(*_args, **_more):
        raise not_definite("its smallest eigenvalue is -0.1")

    system = made.disk(3000)
    monkeypatch.setattr(kcycle, "hierarchy", refuse)
    said = (
        "levels by default: jacobi and deflation none, since preconditioner kcycle cannot be set up: a matrix of its "
        "levels is not positive definite (its smallest eigenvalue is -0.1)"
    )
    result, prepared = solve(system.matrix, system.b), prepare(system.matrix)
    for notes, blocks in (
        (result.provenance["notes"], result.provenance["configuration"]),
        (prepared.notes, prepared.configuration.to_dict()),
    ):
        assert [note for note in notes if note.startswith("levels by default")] == [said]
        assert blocks["preconditioner"]["name"] == "jacobi"
    assert result.converged
    assert prepared.solve(system.b).iterations == result.iterations
    with pytest.raises(InputError, match="kcycle cannot be set up"):
        solve(system.matrix, system.b, M="kcycle")


@pytest.mark.usefixtures("small")
def test_other_refusals_are_those_of_the_default_levels_too():
    system = made.disk(1500)
    with pytest.raises(InputError, match="b holds nan"):
        solve(system.matrix, np.full(system.b.size, np.nan))
