"""PyAMG's cycles on singular and ill-conditioned matrices, and failures of its setup."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from tests.conftest import grid_stencil
from workbench.errors import InputError
from workbench.preconditioners.amg import Amg, CoarseInverse
from workbench.preconditioners.cycle_checks import check_cycle
from workbench.preconditioners.pinned import pin_unknowns, project_out
from workbench.run import Run, Stopping, configure, run_through, solve

pytest.importorskip("pyamg")

SINGULAR = [
    ("bubbles-3d", {"n": 8}),
    ("bubbles-3d", {"n": 17}),
    ("bubbles-3d", {"n": 17, "contrast": 1e-6}),
    ("bubbles-3d", {"n": 17, "layout": "random", "count": 20, "geometry_seed": 1}),
    ("bubbles-3d", {"n": 24}),
    ("bubbles-2d", {"n": 9}),
    ("bubbles-2d", {"n": 65}),
    ("bubbles-2d", {"n": 32, "contrast": 1e-5}),
]


@pytest.mark.parametrize("method", ["sa", "rs"])
@pytest.mark.parametrize(("problem", "parameters"), SINGULAR, ids=str)
def test_cg_converges_on_singular_problems(problem, parameters, method):
    # With a contrast of 1e-6 rounding ends the true residual at 1e-10, a little above or below it by processor.
    chosen = configure(problem, parameters, preconditioner=f"amg:{method}", stopping=Stopping(rtol=1e-9))
    result = run_through(Run(chosen))
    assert result.converged, result.detail
    assert result.true_relative_residual <= 1e-9
    assert abs(result.x.mean()) <= 1e-12 * np.abs(result.x).max()
    assert any("pins 1 of its unknowns" in note for note in result.provenance["notes"])


def laplacian(*sizes: int) -> sparse.csr_array:
    """Graph Laplacians of uncoupled paths of `sizes` nodes, each singular."""
    parts = []
    for size in sizes:
        main = np.full(size, 2.0)
        main[[0, -1]] = 1
        parts.append(sparse.diags_array([-np.ones(size - 1), main, -np.ones(size - 1)], offsets=[-1, 0, 1]))
    return sparse.csr_array(sparse.block_diag(parts))


def test_a_projected_solve_with_the_pinned_matrix_is_the_pseudo_inverse():
    A = laplacian(12)
    regular, pins, null = pin_unknowns(A)
    assert pins == 1
    inverse = np.linalg.inv(regular.toarray())
    made = np.column_stack([project_out(lambda r: inverse @ r, null)(unit) for unit in np.eye(12)])
    np.testing.assert_allclose(made, np.linalg.pinv(A.toarray()), atol=1e-12)


def test_every_connected_component_is_pinned():
    A = laplacian(5, 9, 4)
    regular, pins, _ = pin_unknowns(A)
    assert pins == 3
    assert np.linalg.eigvalsh(regular.toarray()).min() > 1e-3
    b = A @ np.random.default_rng(0).random(18)
    assert solve(A, b, M="amg:sa", rtol=1e-10).converged


def test_a_nonsingular_matrix_is_not_pinned():
    A = sparse.csr_array(grid_stencil((6, 7)).to_csr())
    regular, pins, null = pin_unknowns(A)
    assert regular is A
    assert (pins, null) == (0, None)


@pytest.mark.parametrize("method", ["sa", "rs"])
def test_the_projected_cycle_is_symmetric_and_semidefinite(method):
    system = configure("bubbles-3d", {"n": 8}).problem.assemble()
    action, _ = Amg(method).v_cycle(system.operator)
    dense = np.column_stack([action(unit) for unit in np.eye(512)])
    assert np.abs(dense - dense.T).max() <= 1e-12 * np.abs(dense).max()
    values = np.linalg.eigvalsh((dense + dense.T) / 2)
    # The constants alone are mapped to zero.
    assert values[0] >= -1e-12 * values[-1]
    assert values[1] > 1e-6 * values[-1]


def test_the_coarse_inverse_drops_eigenvalues_that_are_negative_by_rounding():
    basis, _ = np.linalg.qr(np.random.default_rng(0).random((4, 4)))
    matrix = sparse.csr_array((basis * [-1e-17, 1e-17, 1.0, 2.0]) @ basis.T)
    inverse = np.column_stack([CoarseInverse("amg:sa")(matrix, unit) for unit in np.eye(4)])
    np.testing.assert_allclose(inverse, (basis[:, 2:] / [1.0, 2.0]) @ basis[:, 2:].T, atol=1e-12)


def test_a_coarsest_grid_that_is_too_large_is_refused():
    with pytest.raises(InputError, match="below 5001 unknowns"):
        CoarseInverse("amg:rs")(sparse.eye_array(5001), np.ones(5001))


def test_coarse_matrices_with_nan_are_refused(real_matrices):
    chosen = configure(str(real_matrices / "nos5.mtx.gz"), preconditioner="amg:rs")
    with pytest.raises(InputError, match="amg:rs gives coarse matrices with NaN or infinity"):
        Run(chosen)


@pytest.mark.parametrize("error", [ValueError("array must not contain infs or NaNs"), RuntimeError("no convergence")])
def test_a_failed_pyamg_setup_raises_one_sentence(monkeypatch, error):
    import pyamg

    def fail(*_, **__):
        raise error

    monkeypatch.setattr(pyamg, "smoothed_aggregation_solver", fail)
    with pytest.raises(InputError, match="amg:sa could not be set up: .*; use ssor or block-ic"):
        solve(grid_stencil((5, 6)), np.ones(30), M="amg:sa")


def test_output_of_pyamg_goes_to_standard_error(real_matrices):
    """Its compiled interpolation prints a line for every row of this matrix whose weights cancel."""
    command = [sys.executable, "-m", "workbench.cli", "solve", str(real_matrices / "bcsstk14.mtx.gz"), "--json"]
    done = subprocess.run([*command, "--preconditioner", "amg:rs"], capture_output=True, text=True, timeout=300)
    assert json.loads(done.stdout)["converged"], done.stderr
    assert "denominator was zero" in done.stderr


@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        (lambda r: np.concatenate([r[1:], [0.0]]) + 3 * r, "the cycle of amg:sa is not symmetric"),
        (lambda r: -r, "the cycle of amg:sa is not positive definite"),
    ],
)
def test_an_asymmetric_or_indefinite_cycle_is_noted(action, sentence):
    (note,) = check_cycle("amg:sa", action, 40, np.dtype(float))
    assert sentence in note
    assert check_cycle("amg:sa", lambda r: 2 * r, 40, np.dtype(float)) == ()


def test_a_nonfinite_cycle_is_refused():
    with pytest.raises(InputError, match="gives NaN or infinity"):
        check_cycle("amg:rs", lambda r: r * np.nan, 40, np.dtype(float))


@pytest.mark.parametrize("deflation", ["none", "blocks:3"])
@pytest.mark.parametrize("variant", ["def1", "a-def2"])
def test_a_breakdown_by_an_indefinite_cycle_names_the_cycle(monkeypatch, deflation, variant):
    monkeypatch.setattr(Amg, "v_cycle", lambda self, operator, near_null: (lambda r: -r, ()))
    chosen = configure("poisson5", {"n": 9}, preconditioner="amg:sa", deflation=deflation, variant=variant)
    result = run_through(Run(chosen))
    assert not result.converged
    assert "the multigrid cycle of amg:sa, not A, is not positive definite: use another preconditioner" in result.detail


def test_a_breakdown_by_an_indefinite_matrix_does_not_name_the_cycle(monkeypatch):
    monkeypatch.setattr(Amg, "v_cycle", lambda self, operator, near_null: (lambda r: r, ()))
    A = sparse.diags_array([np.full(59, -1.0), np.full(60, 1.6), np.full(59, -1.0)], offsets=[-1, 0, 1])
    result = solve(sparse.csr_array(A), np.ones(60), M="amg:sa")
    assert result.detail.startswith("(p, A p) = −")
    assert "amg:sa" not in result.detail
