"""Singular systems: null vectors found or given, and what is said of a b or x that was changed."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

from tests.conftest import relative_residual
from workbench.errors import InputError
from workbench.run import Reason, Run, configure, solve
from workbench.words.numbers import relative

N = 40
PATH = sparse.diags_array([-np.ones(N - 1), np.full(N, 2.0), -np.ones(N - 1)], offsets=[-1, 0, 1]).tocsr()
"""Dirichlet on both sides."""
FREE = sparse.csr_array(PATH - sparse.diags_array(np.eye(N)[0] + np.eye(N)[-1]))
"""Neumann on both sides."""
PARTS = sparse.csr_array(sparse.block_diag([FREE, 3 * FREE]))
"""Two components, each defined up to a constant."""
OF_PARTS = np.repeat(np.eye(2), N, axis=0)
WEIGHTS = 0.5 + np.random.default_rng(1).random(N)
WEIGHTED = sparse.csr_array(sparse.diags_array(1 / WEIGHTS) @ FREE @ sparse.diags_array(1 / WEIGHTS))
"""Its null vector is WEIGHTS."""
WEIGHTED_PARTS = sparse.csr_array(sparse.block_diag([WEIGHTED, WEIGHTED]))


class TestNoUnits:
    def test_an_operator_in_small_units_is_not_singular(self):
        x = np.linspace(1, 2, N)
        A = 1e-14 * PATH
        result = solve(linalg.aslinearoperator(A), A @ x, M=None)
        assert result.reason is Reason.CONVERGED
        np.testing.assert_allclose(result.x, x, rtol=1e-12)

    @pytest.mark.parametrize("scale", [1e-30, 1e30])
    def test_a_singular_operator_is_found_in_any_units(self, scale):
        b = scale * (FREE @ np.arange(N))
        result = solve(linalg.aslinearoperator(scale * FREE), b, M=None)
        assert result.reason is Reason.CONVERGED
        np.testing.assert_allclose(result.x, np.arange(N) - (N - 1) / 2, atol=1e-4)

    def test_a_stiff_inclusion_is_not_singular(self):
        conductance = np.where(abs(np.arange(N + 1) - 20) < 6, 1e12, 1.0)
        A = sparse.csr_array(
            sparse.diags_array(
                [-conductance[1:-1], conductance[1:] + conductance[:-1], -conductance[1:-1]], offsets=[-1, 0, 1]
            )
        )
        result = solve(A, np.ones(N), rtol=1e-6)
        assert "singular" not in " ".join([result.summary["reason"], *result.provenance["notes"]])
        np.testing.assert_allclose(result.x, linalg.spsolve(A.tocsc(), np.ones(N)), rtol=1e-2)
        assert result.true_relative_residual == pytest.approx(relative_residual(A, np.ones(N), result.x), rel=0.1)

    @pytest.mark.parametrize(
        ("adapt", "deflation"),
        [(sparse.csr_array, "none"), (sparse.csr_array, "blocks:4"), (linalg.aslinearoperator, "none")],
    )
    def test_a_weakly_anchored_matrix_is_not_singular(self, adapt, deflation):
        A = sparse.csr_array(FREE + 1e-12 * sparse.eye_array(N))
        b = np.arange(N) - (N - 1) / 2
        result = solve(adapt(A), b + 1e-3, M=None, deflation=deflation, maxiter=200)
        assert "pure Neumann" not in " ".join(result.provenance["notes"])
        assert "singular" not in " ".join([result.detail, *result.provenance["notes"]])

    def test_single_precision_data_is_judged_by_its_rounding(self):
        rng = np.random.default_rng(0)
        weights = rng.random(N - 1).astype(np.float32)
        diagonal = np.append(weights, 0) + np.insert(weights, 0, 0)
        A = sparse.csr_array(sparse.diags_array([-weights, diagonal.astype(np.float32), -weights], offsets=[-1, 0, 1]))
        result = solve(A.astype(np.float32), rng.random(N))
        assert "the mean of b" in result.detail


class TestGiven:
    def test_one_constant_for_each_component(self, device):
        b = np.random.default_rng(2).random(2 * N)
        result = solve(PARTS, b, nullspace=OF_PARTS, device=device.spec, rtol=1e-9)
        assert result.reason is Reason.CONSISTENT
        np.testing.assert_allclose(result.x, np.linalg.pinv(PARTS.toarray(), rcond=1e-10) @ b, atol=1e-6)
        assert result.true_relative_residual == pytest.approx(relative_residual(PARTS, b, result.x), rel=1e-6)
        assert (
            f"||b - A x|| is {relative(result.true_relative_residual)} of ||b|| for the b that was given"
            in result.detail
        )

    @pytest.mark.parametrize("adapt", [sparse.csr_array, linalg.aslinearoperator])
    def test_a_weighted_null_vector(self, adapt):
        b = np.random.default_rng(2).random(N)
        result = solve(adapt(WEIGHTED), b, M=None, nullspace=7 * WEIGHTS, x0=100 * WEIGHTS, rtol=1e-9)
        assert result.reason is Reason.CONSISTENT
        np.testing.assert_allclose(result.x, np.linalg.pinv(WEIGHTED.toarray(), rcond=1e-10) @ b, atol=1e-6)
        assert "the component of x0 in the null space of A was removed" in result.detail

    def test_rigid_body_modes_of_a_truss(self):
        rng = np.random.default_rng(3)
        points = np.array([(i, j) for i in range(4) for j in range(3)]) + 0.1 * rng.random((12, 2))
        K = np.zeros((24, 24))
        for i in range(12):
            for j in range(i):
                along = points[i] - points[j]
                if (length := np.linalg.norm(along)) < 1.7:
                    row = np.zeros(24)
                    row[2 * i : 2 * i + 2], row[2 * j : 2 * j + 2] = along / length, -along / length
                    K += np.outer(row, row) / length
        modes = np.zeros((24, 3))
        modes[::2, 0] = modes[1::2, 1] = 1
        modes[::2, 2], modes[1::2, 2] = -points[:, 1], points[:, 0]
        b = rng.standard_normal(24)
        result = solve(K, b, nullspace=modes, rtol=1e-10)
        np.testing.assert_allclose(result.x, np.linalg.pinv(K, rcond=1e-10) @ b, atol=1e-7)

    @pytest.mark.parametrize("columns", [1, 2])
    def test_many_right_hand_sides(self, columns):
        B = np.random.default_rng(4).random((2 * N, columns))
        result = solve(PARTS, B, nullspace=OF_PARTS, rtol=1e-9)
        assert [column.reason for column in result.columns] == [Reason.CONSISTENT] * columns
        np.testing.assert_allclose(result.x, np.linalg.pinv(PARTS.toarray(), rcond=1e-10) @ B, atol=1e-6)
        for j, column in enumerate(result.columns):
            assert column.true_relative_residual == pytest.approx(
                relative_residual(PARTS, B[:, j], result.x[:, j]), rel=1e-6
            )
        assert "of all columns of B were removed" in result.detail
        assert "x0" not in result.detail
        started = solve(PARTS, B, x0=B, nullspace=OF_PARTS, rtol=1e-9)
        assert "the components of all columns of x0 in the null space of A were removed" in started.detail

    def test_a_complex_hermitian_matrix(self):
        phases = np.exp(1j * np.arange(N))
        A = sparse.csr_array(sparse.diags_array(phases) @ FREE @ sparse.diags_array(phases.conj()))
        b = np.random.default_rng(5).random(N) + 0j
        result = solve(A, b, nullspace=phases, rtol=1e-9)
        np.testing.assert_allclose(result.x, np.linalg.pinv(A.toarray(), rcond=1e-10) @ b, atol=1e-5)

    def test_a_complex_symmetric_matrix(self):
        D = sparse.diags_array(np.exp(0.3j * np.sin(np.arange(N))))
        A = sparse.csr_array(D @ FREE @ D)
        v = 1 / D.diagonal()
        b = A @ np.random.default_rng(5).random(N) + v.conj()
        result = solve(A, b, nullspace=v, solver="cocg", M=None, rtol=1e-9)
        assert result.converged
        assert np.linalg.norm(A @ result.x - (b - v.conj())) <= 1e-8 * np.linalg.norm(b)
        assert abs(np.vdot(v, result.x)) <= 1e-10 * np.linalg.norm(result.x)

    @pytest.mark.parametrize("adapt", [sparse.csr_array, linalg.aslinearoperator])
    def test_no_vectors_say_that_there_is_no_null_space(self, adapt):
        result = solve(adapt(FREE), FREE @ np.arange(N) + 1e-3, M=None, nullspace=np.empty((N, 0)), maxiter=100)
        assert "was removed" not in result.detail

    @pytest.mark.parametrize("adapt", [sparse.csr_array, linalg.aslinearoperator])
    def test_a_wrong_vector_is_refused_with_its_row(self, adapt):
        wrong = OF_PARTS.copy()
        wrong[50, 1] = 2
        with pytest.raises(InputError, match=r"column 1 of nullspace is not mapped to zero: \|\(A v\)\[50\]\| = 6,"):
            solve(adapt(PARTS), np.ones(2 * N), M=None, nullspace=wrong)

    @pytest.mark.parametrize(
        ("wrong", "said"),
        [
            (np.ones(3), r"nullspace has shape \(3,\), but the matrix has 40 rows"),
            (np.zeros((N, 1)), "column 0 of nullspace is zero"),
            (np.full(N, np.nan), "nullspace holds nan at entry 0"),
            (1j * np.ones(N), "nullspace is complex"),
        ],
    )
    def test_what_is_no_vector_is_refused(self, wrong, said):
        with pytest.raises(InputError, match=said):
            solve(FREE, np.arange(N), nullspace=wrong)


class TestInconsistent:
    def test_nothing_is_left_of_a_constant_right_hand_side(self):
        with pytest.raises(InputError, match="the mean of b, 1, is all of b, so nothing is left"):
            solve(FREE, np.ones(N))

    @pytest.mark.parametrize("matrix", [WEIGHTED, WEIGHTED_PARTS], ids=["weighted", "parts"])
    @pytest.mark.parametrize("M", [None, "jacobi", "ic"])
    def test_a_failure_names_the_null_space(self, matrix, M):
        b = np.random.default_rng(6).random(matrix.shape[0])
        result = solve(matrix, b, M=M)
        assert result.reason is Reason.INCONSISTENT
        assert "nullspace=" in result.summary["reason"]
        assert "loosen" not in result.summary["reason"]

    def test_many_right_hand_sides(self):
        result = solve(WEIGHTED_PARTS, np.random.default_rng(6).random((2 * N, 2)))
        assert result.reason is Reason.INCONSISTENT
        assert "for column" in result.detail

    def test_a_hard_regular_system_is_not_called_singular(self):
        A = sparse.csr_array(FREE + 1e-9 * sparse.eye_array(N))
        result = solve(A, np.random.default_rng(7).random(N), rtol=1e-14)
        assert result.reason is not Reason.INCONSISTENT


class TestReturned:
    """What is verified is what is returned."""

    @pytest.mark.parametrize("columns", [None, 2])
    def test_the_true_residual_is_that_of_the_x_returned(self, columns, device):
        problem = configure("poisson-2d", {"n": 20, "a": "where(x<0.5,1,1e9)", "sides": "neumann"}).problem
        A = problem.assemble(0).operator.to_csr()
        B = np.random.default_rng(8).standard_normal((400, columns or 1))
        B -= B.mean(axis=0)
        b = B if columns else B[:, 0]
        result = solve(A, b, M="jacobi", rtol=1e-9, device=device.spec)
        for column, end in enumerate(result.columns or [result]):
            found = relative_residual(A, B[:, column], result.x.reshape(400, -1)[:, column])
            # At this accuracy, rounding in the computation of b - A x is a part of it.
            assert found / 2 <= end.true_relative_residual <= 2 * found
            assert found <= 2e-9 or not end.converged


@pytest.mark.parametrize("end", ["maxiter", "cancelled"])
def test_every_reason_says_what_was_changed(end):
    if end == "maxiter":
        result = solve(FREE, np.arange(N), maxiter=3)
        assert result.reason is Reason.MAXITER
    else:
        run = Run(configure("poisson-2d", {"n": 8, "sides": "neumann"}, rhs="random"))
        run.step()
        run.cancel()
        result = run.result()
        assert result.reason is Reason.CANCELLED
    assert "A is singular: the mean of b" in result.detail
    assert result.detail in result.summary["reason"]
