"""The matrices of the benchmark: symmetric, definite or singular as they say, the same every time; and its figures."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import amgx, matrices
from benchmarks.matrices import contestants, made, tables


@pytest.mark.parametrize("case", made.CASES, ids=lambda case: case.name)
def test_matrices_are_symmetric_and_semidefinite_and_follow_from_the_seed(case):
    size = 400 if not case.name.startswith("beam") else 800
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


@pytest.fixture
def no_petsc(monkeypatch):
    monkeypatch.setattr(type(contestants.PETSC), "python", lambda self: None)


@pytest.mark.usefixtures("no_petsc")
def test_a_quick_run_has_all_contestants_and_ratios(capsys, tmp_path):
    found = matrices.figures(quick=True, only="pore network 27,000", keep=tmp_path / "kept")
    assert "apt-get install python3-petsc4py" in found["PETSc with hypre"]
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
    # What is kept is not measured again, and is in the table.
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(matrices, "measured", None)
        again = matrices.figures(quick=True, only="pore network 27,000", keep=tmp_path / "kept")
    assert again["matrices"][name]["solves"] == rows
    assert f"| {name} | 2,197 |" in (tmp_path / "kept" / matrices.TABLE).read_text()


def test_files_of_a_folder_are_read_and_others_left_out(tmp_path, capsys):
    text = "%%MatrixMarket matrix coordinate real {}\n2 2 {}\n"
    (tmp_path / "good.mtx").write_text(text.format("symmetric", 3) + "1 1 2\n2 1 -1\n2 2 2\n")
    (tmp_path / "other.mtx").write_text(text.format("general", 3) + "1 1 2\n2 1 -1\n2 2 2\n")
    files = matrices.matrix_files(tmp_path)
    other, system = map(matrices.read, reversed(files))
    assert other is None
    assert system is not None
    np.testing.assert_array_equal(system.matrix.toarray(), [[2, -1], [-1, 2]])
    assert "other.mtx: is not real and symmetric" in capsys.readouterr().err


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match="no matrix is named 'disc'; choose among disk 130,000"):
        matrices.figures(quick=True, only="disc")


@pytest.mark.usefixtures("no_petsc")
def test_a_small_growing_disk_has_its_ratio_of_iterations(monkeypatch):
    sizes = [made.Case(f"growth, disk {size}", made.disk, size, size) for size in (300, 600)]
    monkeypatch.setattr(made, "GROWTH", tuple(sizes))
    found = matrices.figures(quick=True, growth=True)
    few, many = (one["solves"][matrices.DEFAULT]["iterations"] for one in found["matrices"].values())
    assert found["growth"][matrices.DEFAULT] == many / few > 1
    assert all(contestants.PLAIN not in one["solves"] for one in found["matrices"].values())


def test_slow_contestants_are_solved_with_once():
    calls = []

    def contestant(name, seconds):
        def run():
            calls.append(name)
            if seconds is None:
                raise ValueError("refused")
            return {"together_s": seconds, "iterations": len(calls)}

        return run

    runs = {name: contestant(name, seconds) for name, seconds in (("fast", 1.0), ("slow", 6.0), ("broken", None))}
    rows = amgx.solves("here", runs, 3, patience=5.0)
    assert [calls.count(name) for name in runs] == [4, 1, 1]
    assert list(rows) == list(runs)
    assert rows["slow"] == {"together_s": 6.0, "iterations": 2}
    assert rows["broken"] == {"failed": "ValueError: refused"}


def test_both_petsc_cycles_take_the_modes_and_the_recommended_options():
    plane, space, elastic = made.disk(100), made.pores(64), made.beam(800)
    for system, threshold in ((plane, None), (space, 0.5)):
        for _, cycle, options, modes in contestants.cycles_of_petsc(system):
            assert options.get("pc_hypre_boomeramg_strong_threshold") == (threshold if cycle == "hypre" else None)
            assert not modes
    taken = {name: modes for name, _, _, modes in contestants.cycles_of_petsc(elastic)}
    assert taken == {"gamg": True, "hypre": False, "hypre, HMIS": False, "hypre, modes": True}
    assert elastic.node == 3


@pytest.mark.slow
@pytest.mark.parametrize("make", [made.geometric_graph, made.beam], ids=lambda make: make.__name__)
def test_petsc_and_hypre_solve_on_one_and_two_ranks(make, tmp_path):
    python = contestants.PETSC.python()
    if python is None:
        pytest.skip("PETSc is not installed")
    system = make(800)
    for name, run in contestants.petsc_peers(system, python, tmp_path):
        row = run()
        assert row["true_residual"] <= contestants.ROUNDED * contestants.RTOL, name
        assert 0 < row["iterations"] < 60, name


def test_the_markdown_table_by_hand():
    def row(iterations, seconds):
        return {"iterations": iterations, "together_s": seconds}

    rows = {"ours, by default": row(30, 0.5), "ours, best pair (ic + none)": row(40, 0.25)}
    rows |= {"PyAMG SA": row(9, 2.0), "PETSc hypre, ranks: 1": row(8, 1.5), "PETSc hypre, ranks: 2": row(9, 1.0)}
    rows["SciPy splu"] = {"failed": "no memory"}
    one = {"N": 120_000, "load": [0.4, 1.0], "solves": rows, "ratios": {matrices.SETUP: 0.25}}
    lines = tables.markdown({"disk": one}, matrices.DEFAULT, matrices.BEST).splitlines()
    assert lines[0].endswith("| our best pair | PyAMG SA | PETSc hypre |")
    assert lines[2] == "| disk | 120,000 | 0 | **30 / 0.50** | 25% | ic + none, 40 / 0.25 | 9 / 2.00 | 9 / 1.00 |"
    assert matrices.ratios({**rows, "ours, by default": {**rows["ours, by default"], "setup_s": 0.1}}) == {
        matrices.SETUP: 0.2,
        matrices.BEST: 0.5,
        "PyAMG": 4.0,
        "PETSc hypre": 2.0,
        matrices.ANY: 2.0,
    }
