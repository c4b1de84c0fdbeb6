"""What a caller passes to solve: taken whole, in a precision that holds it, unchanged, or refused in one sentence."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

from tests.conftest import relative_residual
from workbench.errors import InputError
from workbench.problems import LinearSystem
from workbench.run import Configuration, Quantity, Reason, Run, configure, solve
from workbench.run.choices.in_memory import InMemoryProblem
from workbench.words.numbers import chosen, relative

N = 60
A = sparse.csr_array(sparse.diags_array([[-1.0] * (N - 1), [2.1] * N, [-1.0] * (N - 1)], offsets=[-1, 0, 1]))
ONES = np.ones(N)


@pytest.mark.parametrize("scale", [1e-310, 1e-300, 1e-200, 1e-162, 1e-160, 1e-158, 1e150, 1e200, 1e300])
@pytest.mark.parametrize("solver", ["cg", "pipecg", "fcg"])
def test_any_scale_of_b_gives_the_same_answer(scale, solver):
    result = solve(A, ONES * scale, solver=solver)
    expected = solve(A, ONES, solver=solver)
    assert result.reason is Reason.CONVERGED
    assert abs(result.iterations - expected.iterations) <= 1
    assert relative_residual(A, ONES * scale, result.x) <= 1e-6
    assert result.true_relative_residual <= 1e-6
    assert any("scaled by 2^" in note for note in result.provenance["notes"])


@pytest.mark.parametrize("exponent", [-700, -300, 300, 900])
def test_a_power_of_two_scales_the_whole_run(exponent):
    x, scaled = solve(A, ONES), solve(A, np.ldexp(ONES, exponent))
    assert np.array_equal(np.ldexp(x.x, exponent), scaled.x)
    assert np.array_equal(np.ldexp(x.history["residual"], exponent), scaled.history["residual"])
    assert np.array_equal(x.history["alpha"], scaled.history["alpha"], equal_nan=True)


@pytest.mark.parametrize(("dtype", "exponent"), [("f8", 1022), ("c16", 1022), ("f4", 126)])
@pytest.mark.parametrize("solver", ["cg", "cocg"])
def test_a_matrix_whose_rows_add_up_to_more_than_the_largest_number_is_refused_with_its_scale(dtype, exponent, solver):
    """The sizes of the first row add up to 3.1, those of the next one to 4.1."""
    sentence = r"row 1 of the matrix has entries up to .*e\+\d+, whose sizes add up to .* divide A and b by 2\^64"
    with pytest.raises(InputError, match=sentence):
        solve((A * 2.0**exponent).astype(dtype), ONES.astype(dtype), solver=solver)
    result = solve((A * 2.0 ** (exponent - 30)).astype(dtype), ONES.astype(dtype), solver=solver, rtol=1e-4)
    assert result.converged


def test_one_entry_near_the_largest_number_is_taken():
    matrix = sparse.diags_array(np.r_[1.7e308, np.ones(N - 1)]).tocsr()
    np.testing.assert_allclose(solve(matrix, ONES).x, np.r_[1 / 1.7e308, np.ones(N - 1)])


@pytest.mark.parametrize(("scale", "rtol"), [(1e-18, 1e-6), (1e-18, 1e-9), (1e30, 1e-6), (1e-36, 1e-5), (1e36, 1e-6)])
def test_single_precision_says_what_is_true(scale, rtol):
    small, b = A.astype(np.float32), (ONES * scale).astype(np.float32)
    result = solve(small, b, rtol=rtol)
    true = relative_residual(small, b, result.x)
    assert result.converged == (true <= rtol)
    # Computed in single precision, the true residual holds rounding of its own.
    assert 0.98 * true <= result.true_relative_residual <= 1.5 * true


def test_a_norm_that_no_number_holds_is_refused():
    with pytest.raises(InputError, match=r"\|\|b\|\| is above 1.8e308"):
        solve(A, ONES * 1.7e308)


def test_x_that_falls_among_the_subnormal_numbers_is_not_called_converged():
    b = ONES * 1e-320
    result = solve(A, b)
    assert not result.converged
    assert result.true_relative_residual > 1e-6


def test_looks_at_a_scaled_run_show_the_system_that_was_given():
    run = Run(configure("two-layer", n=8))
    assert run.setup.exponent == 0
    system = run.setup.system
    tiny = Run(configure(InMemoryProblem()), LinearSystem(system.operator, system.b * 1e-250))
    while tiny.step():
        pass
    look = tiny.snapshots.request(Quantity.SOLUTION, np.array)
    tiny.step()
    assert look.done
    assert np.array_equal(look.values, tiny.x)


def test_a_norm_of_b_that_underflows_measures_nothing():
    with pytest.raises(InputError, match="the preconditioned norm of b is 3.69"):
        solve(A * 1e250, ONES, norm="preconditioned")


@pytest.mark.parametrize("which", ["b", "x0", "both"])
def test_complex_vectors_make_a_complex_system(which):
    b = ONES + 1j if which != "x0" else ONES
    x0 = 1j * ONES if which != "b" else None
    result = solve(A, b, x0)
    assert result.reason is Reason.CONVERGED
    assert result.x.dtype == np.complex128
    assert relative_residual(A, b, result.x) <= 1e-6
    assert any("the system was promoted to complex128" in note for note in result.provenance["notes"])


def test_a_real_linear_operator_and_a_real_m_take_complex_vectors():
    real = linalg.LinearOperator((N, N), matvec=lambda v: A @ np.asarray(v, dtype=np.float64), dtype=np.float64)
    M = linalg.LinearOperator((N, N), matvec=lambda v: np.asarray(v, dtype=np.float64) / 2.1, dtype=np.float64)
    b = ONES + 1j * np.arange(N)
    result = solve(real, b, M=M)
    assert result.converged
    assert relative_residual(A, b, result.x) <= 1e-6


def test_an_operator_that_declares_float64_and_returns_complex_is_told_so_for_a_complex_b():
    with pytest.raises(InputError, match="A declares float64, but returned complex128; declare it as complex128"):
        solve(declared_real(lambda v: A @ (v * 1j)), ONES * 1j)


def test_digits_of_b_that_single_precision_lacks_are_kept():
    b = np.random.default_rng(0).random(N)
    result = solve(A.astype(np.float32), b, rtol=1e-12)
    assert (result.x.dtype, result.converged) == (np.float64, True)
    assert relative_residual(A.astype(np.float32), b, result.x) <= 1e-12


def declared_real(values):
    return linalg.LinearOperator((N, N), matvec=values, dtype=np.float64)


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        (declared_real(lambda v: v * 1j), "A declares float64, but returned complex128"),
        (declared_real(lambda v: None), "A, a LinearOperator, failed"),
        (declared_real(lambda v: v[:4]), "A, a LinearOperator, failed"),
        (A * 1e-320, "whose inverse overflows"),
        (np.ma.masked_array(A.toarray()), "A is a masked array"),
        (A.toarray().astype(object), "A must hold numbers"),
        ([[2.0]], "cannot use list as A"),
    ],
)
def test_matrices_that_cannot_be_used_are_named(matrix, sentence):
    with pytest.raises(InputError, match=sentence):
        solve(matrix, ONES, M="none")


@pytest.mark.parametrize("place", [0, 5, N])
@pytest.mark.parametrize("value", [-1, 10**6])
def test_damaged_index_arrays_are_refused_before_anyone_reads_through_them(place, value):
    damaged = A.copy()
    damaged.indptr = damaged.indptr.copy()
    damaged.indptr[place] = value
    with pytest.raises(InputError, match="the sparse matrix is damaged"):
        solve(damaged, ONES)
    with pytest.raises(InputError, match="M is damaged"):
        solve(A, ONES, M=damaged)
    with pytest.raises(InputError, match="Z is damaged"):
        solve(A, ONES, deflation=damaged)


DIAGONAL = 0.3 + np.random.default_rng(1).random(N)
BUFFER = np.empty(N)


def into_a_buffer(r):
    return np.multiply(r, DIAGONAL, out=BUFFER)


def in_place(r):
    r *= DIAGONAL
    return r


def clears_its_argument(r):
    u = r * DIAGONAL
    r[:] = 0
    return u


@pytest.mark.parametrize("M", [into_a_buffer, in_place, clears_its_argument])
@pytest.mark.parametrize("solver", ["cg", "fcg", "pipecg"])
def test_functions_may_work_in_place_or_return_one_buffer(M, solver):
    b, expected = ONES.copy(), solve(A, ONES, M=lambda r: r * DIAGONAL, solver=solver)
    result = solve(A, b, M=M, solver=solver)
    assert np.array_equal(b, ONES)
    assert np.array_equal(result.x, expected.x)


def test_functions_may_be_compiled_by_numba():
    numba = pytest.importorskip("numba")

    @numba.njit
    def product(x):
        y = 2.1 * x
        y[1:] -= x[:-1]
        y[:-1] -= x[1:]
        return y

    compiled = linalg.LinearOperator(A.shape, product, dtype=A.dtype)
    result = solve(compiled, ONES, M=numba.njit(lambda r: r * DIAGONAL))
    assert result.iterations == solve(A, ONES, M=lambda r: r * DIAGONAL).iterations
    assert relative_residual(A, ONES, result.x) <= 1e-6


@pytest.mark.parametrize("made", [np.diag, sparse.diags_array, lambda values: linalg.aslinearoperator(np.diag(values))])
def test_m_may_be_a_matrix_near_the_inverse_as_in_scipy(made):
    assert solve(A, ONES, M=made(DIAGONAL)).iterations == solve(A, ONES, M=lambda r: r * DIAGONAL).iterations


def test_no_m_and_no_deflation_may_be_said_by_none():
    result = solve(A, ONES, M=None, deflation=None)
    assert result.iterations == solve(A, ONES, M="none").iterations


@pytest.mark.parametrize(
    ("keywords", "sentence"),
    [
        ({"M": 5}, "M must be the name of a preconditioner, a function"),
        ({"M": np.ma.masked_array(np.eye(N))}, "M is a masked array"),
        ({"M": np.eye(3)}, r"M has shape \(3, 3\), but the matrix has 60 rows"),
        ({"M": lambda r: 1j * r}, "M returned complex128"),
        ({"M": lambda r: 1j * r, "solver": "fcg"}, "M returned complex128"),
        ({"solver": 5}, "solver must be a name such as 'cg'"),
        ({"coarse": 5}, "coarse must be a name"),
        ({"variant": None, "callback": 5}, "callback must be a function"),
        ({"deflation": 5}, "deflation vectors have shape"),
        ({"device": 5}, "unknown device '5'"),
        ({"rtol": "x"}, "rtol must be a number, got 'x'"),
        ({"x0": ONES[:3]}, r"x0 has shape \(3,\)"),
        ({"deflation": 1j * np.random.default_rng(0).random((N, 2))}, "a deflation vector is complex"),
        ({"deflation": np.array([[None]] * N)}, "Z must hold numbers"),
        ({"deflation": np.ma.masked_array(np.ones((N, 2)))}, "Z is a masked array"),
    ],
)
def test_keywords_that_make_no_sense_are_refused_in_a_sentence(keywords, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        solve(A, ONES, **keywords)
    assert "\n" not in str(caught.value)


def test_a_product_with_x0_that_overflows_to_nan_is_named():
    rows = sparse.csr_array(sparse.diags_array([[-1.0] * (N - 1), [4.0] * N, [-1.0] * (N - 1)], offsets=[-1, 0, 1]))
    with pytest.raises(InputError, match="A x0 overflows"):
        solve(rows, ONES, x0=np.full(N, 1e308))


@pytest.mark.parametrize("spec", ["cpu", "opencl"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_right_hand_side_that_is_not_finite_is_named(spec, bad):
    configuration = configure("two-layer", n=20, device=spec)
    system = configuration.problem.assemble()
    b = np.ones(400)
    b[7] = bad
    with pytest.raises(InputError, match=f"b holds {bad} at entry 7; entries must be finite"):
        Run(configuration, dataclasses.replace(system, given_b=b))


def test_a_configuration_takes_names():
    named = Configuration("poisson5", "cg", "jacobi", "none", "auto")
    assert named == configure("poisson5")
    assert Run(named).setup.operator.shape[0] == named.problem.n**2


def test_half_precision_vectors_deflate():
    Z = (np.arange(N)[:, None] ** np.arange(2)).astype(np.float16)
    assert solve(A, ONES, deflation=Z).converged


RING = sparse.csr_array(
    sparse.diags_array(
        [[2.0] * N, [-1.0] * (N - 1), [-1.0] * (N - 1), [-1.0], [-1.0]], offsets=[0, 1, -1, N - 1, 1 - N]
    )
)


def test_a_run_whose_b_was_changed_says_so_in_its_reason():
    b = np.random.default_rng(2).random(N)
    result = solve(RING, b)
    assert (result.reason, result.converged) == (Reason.CONSISTENT, True)
    of_given = relative_residual(RING, b, result.x)
    assert f"the mean of b, {chosen(b.mean())}, was removed" in result.detail
    assert f"||b - A x|| is {relative(of_given)} of ||b|| for the b that was given" in result.detail
    np.testing.assert_allclose(result.true_relative_residual, of_given, rtol=1e-6)
    assert relative_residual(RING, b - b.mean(), result.x) <= 1e-6


def test_a_mean_below_the_tolerance_is_no_change_worth_a_word():
    b = np.random.default_rng(2).standard_normal(N)
    b -= b.mean() - 1e-9
    assert solve(RING, b).reason is Reason.CONVERGED


@pytest.mark.parametrize("solver", ["cg", "cocg"])
def test_an_operator_that_is_not_symmetric_is_refused_with_both_products(solver):
    rolled = linalg.LinearOperator((N, N), matvec=lambda v: 2 * v + np.roll(v, 1), dtype=float)
    with pytest.raises(InputError, match=r"A, a LinearOperator, is not symmetric: .* = -?\d.* and .* = -?\d"):
        solve(rolled, ONES, M=None, solver=solver)


def test_a_complex_symmetric_operator_is_tested_by_the_bilinear_form():
    shifted = sparse.csr_array(A + 1j * sparse.eye_array(N))
    b = shifted @ np.arange(N)
    result = solve(linalg.aslinearoperator(shifted), b, M=None, solver="cocg", rtol=1e-9)
    np.testing.assert_allclose(result.x, np.arange(N), atol=1e-5)
    with pytest.raises(InputError, match="A, a LinearOperator, is not symmetric"):
        solve(linalg.aslinearoperator(shifted), b, M=None)


@pytest.mark.parametrize("solver", [None, "cg", "block-cg"])
@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array, np.asmatrix], ids=["dense", "sparse", "matrix"])
def test_one_column_is_a_case_of_many(solver, wrap):
    b = np.random.default_rng(3).random((N, 1))
    result = solve(A, wrap(b), solver=solver, x0=np.ones((N, 1)))
    assert np.array_equal(result.x, solve(A, wrap(b), solver=solver, x0=np.ones(N)).x)
    assert result.x.shape == (N, 1)
    assert [column.reason for column in result.columns] == [Reason.CONVERGED]
    assert np.linalg.norm(b - A @ result.x) <= 1.01e-6 * np.linalg.norm(b)
