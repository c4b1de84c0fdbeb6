"""A negative definite matrix is refused with what to solve instead, in whatever form it is given."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite
from scipy.sparse.linalg import aslinearoperator

from workbench.cli import main
from workbench.errors import InputError
from workbench.operators import BandStencil, BoxStencil
from workbench.problems import LinearSystem
from workbench.problems.matrix_market import read_matrix
from workbench.run import Reason, Run, configure, prepare, solve
from workbench.scipy import cg

N = 30
A = 2 * np.eye(N) - np.eye(N, k=1) - np.eye(N, k=-1)
LAPLACIAN = A - np.diag([1.0] + (N - 2) * [0.0] + [1.0])
b = np.random.default_rng(0).standard_normal(N)
ADVICE = r"solve \(-A\) x = -b, which has the same x"


def with_an_empty_row() -> np.ndarray:
    made = -A
    made[3] = made[:, 3] = 0
    return made


GIVEN = {
    "dense": lambda: solve(-A, b),
    "sparse": lambda: solve(sparse.csr_array(-A), b),
    "complex": lambda: solve(-A + 0j, b),
    "semidefinite": lambda: solve(-LAPLACIAN, b),
    "with an empty row": lambda: solve(with_an_empty_row(), b),
    "many right-hand sides": lambda: solve(-A, np.stack([b, b], axis=1)),
    "with a user's M": lambda: solve(-A, b, M=lambda r: -r),
    "operator": lambda: solve(aslinearoperator(-A), b, M=None),
    "semidefinite operator": lambda: solve(aslinearoperator(-LAPLACIAN), b, M=None),
    "operator with a diagonal": lambda: solve(aslinearoperator(-A), b, diagonal=-A.diagonal()),
    "stencil": lambda: solve(BandStencil((N,), np.full(N, -2.0), (np.r_[0.0, np.ones(N - 1)],)), b),
    "stencil of a system": lambda: Run(configure("poisson5"), LinearSystem(BoxStencil((6,), 1, -2.0, 1.0), b[:6])),
    "prepared": lambda: prepare(-A),
    "update": lambda: prepare(A).update(-A),
    "SciPy's cg": lambda: cg(-A, b),
    "SciPy's cg of an operator": lambda: cg(aslinearoperator(-A), b),
}


@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
def test_it_is_refused_with_what_to_solve_instead(given):
    with pytest.raises(InputError, match=ADVICE):
        given()


def test_so_it_is_of_a_file(tmp_path, capsys):
    path = tmp_path / "a.mtx"
    mmwrite(path, sparse.coo_array(-A))
    with pytest.raises(InputError, match=f"cannot use .*{ADVICE}"):
        read_matrix(path)
    assert main(["solve", str(path)]) == 2
    assert "solve (-A) x = -b" in capsys.readouterr().err


def test_what_shows_in_the_first_direction_alone_is_said_there():
    result = solve(aslinearoperator(-A), b, M=None, check=False)
    assert result.reason is Reason.INDEFINITE
    assert result.detail.endswith("if A is negative definite, solve (-A) x = -b, which has the same x")


def test_what_is_indefinite_has_no_such_advice():
    indefinite = np.diag(np.linspace(1, 3, N))
    indefinite[0, 1] = indefinite[1, 0] = 5
    result = solve(indefinite, b, M=None)
    assert result.reason is Reason.INDEFINITE
    assert "-b" not in result.detail
    with pytest.raises(InputError, match="not positive definite: its diagonal entry 0 is -1, and CG needs"):
        solve(np.diag([-1.0, 2.0, 3.0]), np.ones(3))


def test_a_complex_symmetric_one_is_solved():
    result = solve(-A + 0.1j * np.eye(N), b + 0j, solver="cocg", rtol=1e-10)
    np.testing.assert_allclose(result.x, np.linalg.solve(-A + 0.1j * np.eye(N), b), rtol=1e-7)
