"""b and x0 of any scale, by every method and in every place of memory: what is called converged is so, a definite A is
not blamed, and what rounding hides is not stated as measured."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from tests.contracts.cases import ON_CORES
from tests.run.conftest import run_of
from workbench.errors import InputError
from workbench.operators import as_operator
from workbench.registry import registered
from workbench.run import Reason, prepare, solve
from workbench.run.choices.stopping import Norm
from workbench.run.loop.breakdown import diagnose
from workbench.run.loop.diagnostics import Diagnostics
from workbench.run.loop.energy import energy_norm
from workbench.words.numbers import relative

N, RTOL = 9, 1e-8
A = sparse.diags_array([-np.ones(N - 1), 2.1 * np.ones(N), -np.ones(N - 1)], offsets=[-1, 0, 1]).tocsr()
BLOCKS = [name for name in ON_CORES if registered("solver")[name].takes_blocks]
STOPPING = {"rtol": RTOL, "maxiter": 60}
SCALES = st.integers(-308, 307)


def columns(shape, exponent):
    return 10.0**exponent * np.random.default_rng(0).uniform(0.5, 1, shape)


def check(solved, b):
    """Who says converged has a true residual within the tolerance, here in extended precision."""
    try:
        result = solved()
    except InputError as refused:
        assert "start from a smaller x0" in str(refused) or "scale b down" in str(refused)  # noqa: PT017
        return
    assert result.reason not in (Reason.INDEFINITE, Reason.INDEFINITE_M), result.detail
    wide, x = (np.reshape(values, (N, -1)).astype(np.longdouble) for values in (b, result.x))
    with np.errstate(invalid="ignore"):
        true = np.linalg.norm(wide - A.toarray() @ x, axis=0) / np.linalg.norm(wide, axis=0)
    said = [column.converged for column in getattr(result, "columns", ())] or [result.converged]
    assert all(true[said] <= 1.001 * RTOL), (result.detail, true)


@pytest.mark.parametrize("solver", ON_CORES)
@settings(max_examples=3)
@given(of_b=SCALES, of_x0=SCALES)
@example(of_b=-200, of_x0=0)
@example(of_b=-181, of_x0=281)
def test_every_method_on_the_cores(solver, of_b, of_x0):
    shape = (N, 2) if solver in BLOCKS else N
    b, x0 = columns(shape, of_b), columns(shape, of_x0)
    check(lambda: solve(A, b, x0, solver=solver, M="jacobi", **STOPPING), b)


@pytest.mark.parametrize("solver", ["cg", "block-cg"])
@settings(max_examples=3)
@given(of_b=SCALES, of_x0=SCALES)
@example(of_b=-200, of_x0=0)
def test_on_accelerators(accelerator, solver, of_b, of_x0):
    shape = (N, 2) if solver in BLOCKS else N
    b, x0 = columns(shape, of_b), columns(shape, of_x0)
    check(lambda: solve(A, b, x0, solver=solver, M="jacobi", device=accelerator.spec, **STOPPING), b)


@pytest.fixture(scope="module")
def prepared():
    return prepare(A, M="jacobi", **STOPPING)


@settings(max_examples=10)
@given(of_b=SCALES, of_x0=SCALES)
@example(of_b=-200, of_x0=0)
def test_prepared(prepared, of_b, of_x0):
    b, x0 = columns(N, of_b), columns(N, of_x0)
    check(lambda: prepared.solve(b, x0), b)


@pytest.mark.parametrize("solver", ["cg", pytest.param("block-cg", marks=pytest.mark.slow)])
def test_on_ranks(solver):
    shape = (N, 2) if solver in BLOCKS else N
    b = columns(shape, -200)
    check(lambda: solve(A, b, np.ones(shape), solver=solver, M="jacobi", ranks=2, **STOPPING), b)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
def test_norms_in_device_memory(device, dtype):
    for exponent in (-30, 0, 30) if dtype == "f4" else (-300, -170, 0, 170, 300):
        vector = columns(200, exponent).astype(dtype)
        expected = np.linalg.norm(vector.astype(np.clongdouble))
        assert device.norm(device.array(vector, vector.dtype)) == pytest.approx(float(expected), rel=1e-6, abs=0)
    assert device.norm(device.array(np.array([0.0, np.inf]), np.dtype(dtype))) == np.inf
    assert np.isnan(device.norm(device.array(np.array([1.0, np.nan]), np.dtype(dtype))))


def test_energies(device):
    for of_a, of_b in ((-170, -170), (-300, 200), (170, 170), (0, 0), (-300, -301)):
        a, b = columns(50, of_a), -columns(50, of_b)
        expected = np.sqrt(abs(np.dot(a.astype(np.longdouble), b)))
        found = energy_norm(device.array(a, a.dtype), device.array(b, b.dtype), device)
        assert found == pytest.approx(float(expected), rel=1e-12, abs=0)


@pytest.mark.parametrize("norm", [Norm.PRECONDITIONED, Norm.NATURAL])
def test_norms_with_m(norm):
    measures = Diagnostics(run_of(as_operator(A * 1e140), np.ones(N)).setup)
    size = {Norm.PRECONDITIONED: 1e-100 / 2.1e140, Norm.NATURAL: 1e-100 / np.sqrt(2.1e140)}[norm] * np.sqrt(N)
    measures.residual[:] = 1e-100
    assert measures.norms_of_residuals(norm, [1.0]) == pytest.approx([size], rel=1e-12, abs=0)


def test_a_direction_whose_product_underflows_does_not_show_an_indefinite_matrix():
    run = run_of(as_operator(A), np.ones(N))
    run.step()
    run.workspace.vectors["p"][:], run.workspace.vectors["r"][:] = 1.7e-162, 0
    found = diagnose(run.setup, run.workspace)
    assert found.reason is Reason.ROUNDING
    assert "for p times 2^" in str(found)


def test_a_float32_b_that_x0_would_make_vanish_is_refused():
    small, far = columns(N, -15).astype("f4"), columns(N, 35).astype("f4")
    for b, x0 in ((small, far), (small[:, None], far[:, None])):
        with pytest.raises(InputError, match="cannot hold both at once; start from a smaller x0"):
            solve(A.astype("f4"), b, x0)


def test_a_residual_below_rounding_is_not_stated_as_measured():
    result = solve(np.diag([1.0, 2.0, 3.0]), np.array([1.0, 0, 0]), M=None, rtol=0, atol=1e-20)
    assert result.true_relative_residual == 0
    said = f"the true residual is below {relative(2.0**-53)} of ||b||, less than rounding lets one verify"
    assert said in result.detail
    assert not result.history.true_residuals[:, 1].any()


@pytest.mark.parametrize("scale", [1e-300, 1e-60, 1e60, 1e300])
def test_levels_in_single_precision_take_a_matrix_of_any_scale(scale):
    wide = _long()
    usual = solve(wide, np.ones(1000), M="kcycle", rtol=RTOL)
    result = solve(wide * scale, np.ones(1000), M="kcycle", rtol=RTOL)
    assert result.converged
    assert abs(result.iterations - usual.iterations) <= 1


@pytest.mark.parametrize("levels", [{"M": "kcycle"}, {"M": "ic", "deflation": "parts:2", "coarse": "multilevel"}])
@pytest.mark.parametrize("scale", [1e-60, 1e-50, 1e50])
def test_levels_in_single_precision_take_a_right_hand_side_of_any_scale(levels, scale):
    wide = _long()
    usual, result = (solve(wide, np.full(1000, by), rtol=RTOL, **levels) for by in (1.0, scale))
    assert (result.reason, result.iterations) == (Reason.CONVERGED, usual.iterations)


def _long():
    """A chain of 1000 unknowns, so that 500 parts of it have levels."""
    return sparse.diags_array([-np.ones(999), 2.1 * np.ones(1000), -np.ones(999)], offsets=[-1, 0, 1]).tocsr()


def test_an_x_that_was_better_before_rounding_ended_a_run_is_found():
    rng, size = np.random.default_rng(0), 1501
    rows, columns_of, ring = rng.integers(0, size, 3002), rng.integers(0, size, 3002), np.arange(size)
    places = np.r_[rows, ring], np.r_[columns_of, (ring + 1) % size]
    weights = sparse.coo_array((np.r_[rng.random(3002) + 0.1, np.ones(size)], places), shape=(size, size)).tocsr()
    weights = weights + weights.T
    weights.setdiag(0)
    matrix = sparse.csr_array(sparse.diags_array(weights.sum(axis=1) + 0.01) - weights, dtype="f4")
    b = np.random.default_rng(1).random(size).astype("f4")
    result = solve(matrix, b, M="ic", deflation=ring // 100)
    assert result.reason is Reason.ROUNDING
    assert result.true_relative_residual <= 4 * np.linalg.norm(b - matrix @ solve(matrix, b).x) / np.linalg.norm(b)


SYMMETRIC = sparse.csr_array(A + 0.3j * sparse.eye_array(N))
"""Complex symmetric."""


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("M", ["none", "jacobi"])
@pytest.mark.parametrize("solver", ["cocg", "block-cocg"])
def test_methods_for_complex_symmetric_matrices_take_a_matrix_of_any_scale(solver, M):
    B = columns((N, 2), 0)
    usual = solve(SYMMETRIC, B, solver=solver, M=M, **STOPPING)
    for exponent in (-290, -160, 160, 290):
        result = solve(SYMMETRIC * 10.0**exponent, B, solver=solver, M=M, **STOPPING)
        assert (result.reason, result.iterations) == (Reason.CONVERGED, usual.iterations), exponent
        np.testing.assert_allclose(result.x * 10.0**exponent, usual.x, rtol=1e-6)


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
@pytest.mark.parametrize("M", ["none", "jacobi"])
def test_a_residual_whose_square_vanishes_is_found_at_any_scale(M, scale):
    """r^T r = 1 + i^2 = 0."""
    result = solve(scale * np.array([[2.0, 1j], [1j, 2.0]]), np.array([1, 1j]), solver="cocg", M=M)
    assert result.reason is Reason.VANISHED
