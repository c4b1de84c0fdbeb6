"""`workbench.scipy` in the place of SciPy's `cg` and `factorized`: SciPy's own tests, M and deflation by name, arrays
of other libraries, and what is refused."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

from tests.devices.test_interchange import Tensor
from workbench.errors import InputError
from workbench.run import prepare
from workbench.run.jobs import prepared as prepared_systems
from workbench.scipy import cg, factorized

SUITE = "scipy.sparse.linalg._isolve.tests.test_iterative"
IN_PLACE = """
import scipy.sparse.linalg._isolve as isolve
from workbench.scipy import cg

isolve.cg = cg
"""


def squares(side):
    line = sparse.diags_array([-np.ones(side - 1), 2 * np.ones(side), -np.ones(side - 1)], offsets=[-1, 0, 1])
    return sparse.csr_array(sparse.kron(line, sparse.eye_array(side)) + sparse.kron(sparse.eye_array(side), line))


def test_the_tests_of_scipy_pass(tmp_path):
    if importlib.util.find_spec(SUITE) is None:
        pytest.skip("this SciPy was installed without its tests")
    (tmp_path / "in_place.py").write_text(IN_PLACE, encoding="utf-8")
    root = Path(__file__).parent.parent
    made = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "in_place", "-p", "no:cacheprovider",
         "--pyargs", SUITE, "-k", "cg and not bicg and not cgs"],
        cwd=tmp_path,
        # None of this environment's plugins, which take longer than the tests.
        env={**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{tmp_path}", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stdout[-3000:]
    assert " passed" in made.stdout


def test_results_are_those_of_scipy():
    A, b = squares(20), np.arange(400.0)
    ours, theirs = [], []
    x, info = cg(A, b, rtol=1e-8, callback=lambda x: ours.append(np.linalg.norm(b - A @ x)))
    expected, expected_info = linalg.cg(A, b, rtol=1e-8, callback=lambda x: theirs.append(np.linalg.norm(b - A @ x)))
    assert info == expected_info == 0
    assert abs(len(ours) - len(theirs)) <= 1
    np.testing.assert_allclose(ours[:20], theirs[:20], rtol=1e-6)
    np.testing.assert_allclose(x, expected, rtol=1e-6)


def test_m_and_deflation_by_name_take_fewer_iterations():
    A, b = squares(60), np.ones(3600)
    counts = []
    for choices in ({}, {"M": "ic"}, {"M": "ic", "deflation": "parts:30"}):
        seen = []
        x, info = cg(A, b, rtol=1e-8, callback=seen.append, **choices)
        assert info == 0
        assert np.linalg.norm(b - A @ x) <= 1e-8 * np.linalg.norm(b)
        counts.append(len(seen))
    assert counts[0] > 1.5 * counts[1] > 2 * counts[2]


def test_what_does_not_converge_returns_its_iterations():
    assert cg(squares(20), np.ones(400), maxiter=3)[1] == 3


def test_a_linear_operator_takes_one_product_an_iteration_and_one_for_the_end():
    A, products, iterations = squares(10), [], []
    operator = linalg.LinearOperator(A.shape, lambda x: products.append(1) or A @ x, dtype=float)
    _, info = cg(operator, np.ones(100), rtol=1e-8, callback=iterations.append)
    assert info == 0
    assert len(products) <= len(iterations) + 2


def test_a_start_of_m_b_and_columns_are_taken():
    A, b = squares(10), np.ones((100, 1))
    M = sparse.diags_array(1 / A.diagonal())
    for start in ("Mb", M @ b):
        x, info = cg(A, b, start, M=M)
        assert info == 0
        assert x.shape == (100,)


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"rtol": -1}, "rtol must be a number of at least 0, got -1"),
        ({"atol": None}, "atol must be a number"),
        ({"x0": "zero"}, 'x0 must be a vector, "Mb" or None'),
        ({"x0": np.ones(3)}, "x0"),
        ({"M": np.eye(3)}, "M has shape"),
        ({"M": "nothing"}, "nothing"),
    ],
)
def test_wrong_arguments_are_refused_in_a_sentence(choices, sentence):
    with pytest.raises(InputError) as refused:
        cg(squares(4), np.ones(16), **choices)
    assert sentence in str(refused.value)
    assert isinstance(refused.value, ValueError)


def test_a_right_hand_side_of_zeros_has_the_solution_zero():
    x, info = cg(squares(4), np.zeros(16), np.ones(16))
    assert info == 0
    assert not x.any()


def test_a_tolerance_of_infinity_is_met_by_the_start():
    x, info = cg(squares(4), np.ones(16), np.full(16, 2.0), atol=np.inf)
    assert info == 0
    assert x.tolist() == [2.0] * 16


@pytest.mark.parametrize("returned", [True, np.ones(2), "stop"])
def test_what_a_callback_returns_ends_nothing(returned):
    seen = []
    _, info = cg(squares(6), np.ones(36), rtol=1e-8, callback=lambda x: seen.append(x) or returned)
    assert info == 0
    assert len(seen) > 1


@pytest.mark.parametrize("M", ["none", "jacobi", "neumann:2", "ic"])
def test_a_start_of_m_b_takes_an_m_by_name(M):
    A, b = squares(8), np.arange(1.0, 65.0)
    start, info = cg(A, b, "Mb", M=M, atol=np.inf)
    assert info == 0
    np.testing.assert_array_equal(start, prepare(A, M=M).precondition(b))
    seen = []
    x, info = cg(A, b, "Mb", M=M, rtol=1e-8, callback=seen.append)
    assert info == 0
    assert np.linalg.norm(A @ x - b) <= 1e-8 * np.linalg.norm(b)


def test_the_start_of_an_exact_m_is_the_solution():
    A = sparse.csr_array(2 * np.eye(30) - np.eye(30, k=1) - np.eye(30, k=-1))
    seen = []
    x, info = cg(A, np.ones(30), "Mb", M="ic", rtol=1e-10, callback=seen.append)
    assert (info, len(seen)) == (0, 0)
    np.testing.assert_allclose(A @ x, 1, rtol=1e-9)


@pytest.mark.parametrize("shape", [(64,), (64, 1)])
def test_arrays_of_another_library_come_back_as_such(shape):
    A, b, seen = squares(8), np.arange(1.0, 65.0), []
    x, info = cg(A, Tensor(b.reshape(shape)), Tensor(b.reshape(shape)), rtol=1e-9, M="ic", callback=seen.append)
    assert info == 0
    assert {type(each) for each in (x, *seen)} == {Tensor}
    assert x.shape == (64,)
    np.testing.assert_array_equal(x.values, cg(A, b, b, rtol=1e-9, M="ic")[0])
    for choices in ({"atol": np.inf}, {"atol": np.inf, "x0": "Mb", "M": "ic"}):
        assert type(cg(A, Tensor(b), **choices)[0]) is Tensor
    assert type(cg(A, Tensor(0 * b))[0]) is Tensor
    assert type(factorized(A)(Tensor(b))) is Tensor


@pytest.mark.parametrize("device", [None, "cpu", "cuda"])
def test_arrays_of_cupy_come_back_as_such(device):
    cupy = pytest.importorskip("cupy")
    A, b, seen = squares(20), np.arange(400.0), []
    x, info = cg(A, cupy.asarray(b), M="neumann:2", rtol=1e-9, device=device, callback=seen.append)
    assert info == 0
    assert {type(each) for each in (x, *seen)} == {cupy.ndarray}
    np.testing.assert_allclose(A @ x.get(), b, atol=1e-6)
    solved = factorized(A, M="neumann:2", device=device or "cuda")(cupy.asarray(b))
    np.testing.assert_allclose(A @ solved.get(), b, atol=1e-6)


def test_a_factorized_system_is_set_up_once_for_many_right_hand_sides(monkeypatch):
    setups, set_up = [], prepared_systems.set_up
    monkeypatch.setattr(prepared_systems, "set_up", lambda *given, **more: setups.append(1) or set_up(*given, **more))
    A, draw = squares(12), np.random.default_rng(2)
    solve, exact = factorized(A, M="ic", deflation="parts:20"), linalg.factorized(sparse.csc_array(A))
    assert solve.shape == (144, 144)
    for b in draw.standard_normal((3, 144)):
        np.testing.assert_allclose(solve(b), exact(b), rtol=1e-7)
    B = draw.standard_normal((144, 5))
    x = solve.solve(B)
    assert x.shape == (144, 5)
    np.testing.assert_allclose(A @ x, B, atol=1e-8)
    assert len(setups) == 1


def test_a_singular_system_has_the_solution_of_minimum_norm():
    A = squares(5)
    A = sparse.csr_array(A - sparse.diags_array(A.sum(axis=1)))
    x = factorized(A)(np.arange(25.0))
    np.testing.assert_allclose(x, np.linalg.pinv(A.toarray()) @ np.arange(25.0), atol=1e-8)


def test_a_solve_of_a_factorized_system_that_does_not_converge_is_refused():
    with pytest.raises(InputError, match=r"ended at a relative residual of .*, above rtol 1e-10: .*raise maxiter"):
        factorized(squares(20), maxiter=3)(np.ones(400))
    with pytest.raises(InputError, match="b has shape"):
        factorized(squares(4))(np.ones(15))


def test_several_right_hand_sides_are_refused():
    with pytest.raises(InputError, match=r"b has shape \(3, 2\), and cg takes one right-hand side"):
        cg(np.eye(3), np.ones((3, 2)))
