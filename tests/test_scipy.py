"""`workbench.scipy.cg` in the place of SciPy's: SciPy's own tests, M and deflation by name, and what is refused."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

from workbench.errors import InputError
from workbench.scipy import cg

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
        env={**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{tmp_path}"},
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
        ({"x0": "Mb", "M": "ic"}, 'x0="Mb" needs an M that is a matrix or a function'),
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
