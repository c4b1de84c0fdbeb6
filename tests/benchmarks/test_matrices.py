"""The matrices of the benchmark: symmetric, definite or singular as they say, the same every time; and its figures."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import matrices
from benchmarks.matrices import contestants, made


@pytest.mark.parametrize("case", made.CASES, ids=lambda case: case.name)
def test_matrices_are_symmetric_and_semidefinite_and_follow_from_the_seed(case):
    size = 400 if case.make is not made.beam else 800
    system = case.make(size)
    A = system.matrix.toarray()
    again = case.make(size)
    np.testing.assert_array_equal(A, again.matrix.toarray())
    np.testing.assert_array_equal(system.b, again.b)
    np.testing.assert_array_equal(A, A.T)
    assert system.b.size == len(A)
    assert 0.5 * size <= len(A) <= 1.5 * size
    values = np.linalg.eigvalsh(A)
    assert np.count_nonzero(values <= 1e-12 * values[-1]) == system.singular
    assert values[0] >= -1e-12 * values[-1]
    if system.singular:
        assert abs(system.b.sum()) <= 1e-9
        np.testing.assert_allclose(A.sum(axis=1), 0, atol=1e-9 * values[-1])


def test_the_energy_of_a_linear_function_is_exact():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]])
    gradients, volumes, cells = made.gradients_of(points, np.array([[0, 1, 2, 3]]))
    assert volumes == pytest.approx([1.0])
    local = np.einsum("cid,cjd,c->cij", gradients, gradients, volumes)
    u = points @ [2.0, 3.0, 5.0]
    assert u @ made.assembled(local, cells, 4) @ u == pytest.approx(4 + 9 + 25)


def test_rigid_body_modes_have_no_energy_away_from_the_clamped_end():
    system = made.beam(800)
    assert system.modes is not None
    forces = np.abs(system.matrix @ system.modes)
    # Of the first layer behind the clamped end, 4 x 4 nodes or so, alone.
    assert np.count_nonzero(forces.max(axis=1) > 1e-9) <= 0.2 * system.b.size
    assert np.linalg.matrix_rank(system.modes) == 6


def test_two_point_fluxes_by_hand():
    matrix = made.two_point([np.array([1.0, 3.0])], [np.array([1.0, 3.0])], {(0, 0)})
    # Conductances: half cells 2 and 2 in series, and 2 to the side with value 0.
    np.testing.assert_allclose(matrix.toarray(), [[3, -1], [-1, 1]])


def test_a_quick_run_has_all_contestants_and_ratios(capsys):
    found = matrices.figures(quick=True, only="pore network 27,000")
    ((name, case),) = found["matrices"].items()
    assert name == "pore network 27,000"
    assert len(case["pairs"]) == len(contestants.pairs("cpu"))
    rows = case["solves"]
    assert {matrices.DEFAULT, "PyAMG SA", "PyAMG RS", "SciPy CG, Jacobi", "SciPy splu"} <= set(rows)
    for row in rows.values():
        assert row["true_residual"] <= contestants.ROUNDED * contestants.RTOL
        assert row["together_s"] == pytest.approx(row["setup_s"] + row["iterate_s"])
    assert case["ratios"][matrices.BEST] > 0
    assert found["summary"]["SciPy"]["at"] == name
    assert matrices.DEFAULT in capsys.readouterr().err


def test_files_of_a_folder_are_read_and_others_left_out(tmp_path, capsys):
    text = "%%MatrixMarket matrix coordinate real {}\n2 2 {}\n"
    (tmp_path / "good.mtx").write_text(text.format("symmetric", 3) + "1 1 2\n2 1 -1\n2 2 2\n")
    (tmp_path / "other.mtx").write_text(text.format("general", 3) + "1 1 2\n2 1 -1\n2 2 2\n")
    files = matrices.matrix_files(tmp_path)
    ((name, system),) = matrices.systems([], files, quick=True)
    assert name == "good.mtx"
    np.testing.assert_array_equal(system.matrix.toarray(), [[2, -1], [-1, 2]])
    assert "other.mtx: is not real and symmetric" in capsys.readouterr().err


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match="no matrix is named 'disc'; choose among disk 130,000"):
        matrices.figures(quick=True, only="disc")
