"""IC by a threshold: computed by hand, and compared with dense elimination and with the Cholesky factorization."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg, sparse

from tests.conftest import grid_stencil, random_matrix
from tests.preconditioners.by_hand import CPU, dense_inverse, set_up
from workbench.devices.host import threshold
from workbench.devices.host.threshold import COPIES, WORK, Dropping, threshold_factor
from workbench.errors import InputError
from workbench.jit.threads import launch
from workbench.operators import BandStencil, Matrix, as_operator, stored_bytes
from workbench.registry import blocks as registry
from workbench.run import Run, configure, run_through, solve

ALL = 10**9
NO_COLOURS = np.empty(0, np.int64)
FORMS = [grid_stencil((5, 7)), grid_stencil((3, 3, 5), complex), random_matrix(1), random_matrix(2, complex)]
FORMS += [random_matrix(37, complex), random_matrix(41), grid_stencil((7, 9), np.float32)]


def upper_of(A, least, extra, shift=0.0, room=10**9):
    """E + L^H as a dense matrix."""
    found = threshold_factor(sparse.csr_array(A), Dropping(least, extra, NO_COLOURS), shift, room)
    assert found.failed == -1
    rows = sparse.csr_array((found.data, found.indices, found.indptr), shape=A.shape)
    assert rows.has_sorted_indices
    return rows.toarray() + np.diag(found.pivots)


def dense_upper(A, threshold, extra):
    """E + L^H by dense elimination of one unknown after the other, dropping in the row of each."""
    W, size = A.astype(np.result_type(A, float)), len(A)
    for k in range(size):
        row, own = W[k, k + 1 :].copy(), np.count_nonzero(A[k, k + 1 :])
        row[np.abs(row) < threshold * np.linalg.norm(A[k])] = 0
        row[np.argsort(-np.abs(row), kind="stable")[own + extra :]] = 0
        W[k, k + 1 :] = row
        W[k + 1 :, k + 1 :] -= np.outer(row.conj(), row) / W[k, k]
    return np.triu(W)


BY_HAND = np.array([[4, 2, 0.2, 0], [2, 5, 1, 2], [0.2, 1, 6, 0], [0, 2, 0, 3]])


@pytest.mark.parametrize(
    ("threshold", "extra", "expected"),
    [
        # Of row 0 (norm 4.48) 0.2 is dropped, of row 2 (norm 6.09) the fill -1/4 x 2.
        (0.1, ALL, [[4, 2, 0, 0], [0, 4, 1, 2], [0, 0, 5.75, 0], [0, 0, 0, 2]]),
        # Row 2 of A has nothing right of its diagonal, so that the fill -0.9/4 x 2 finds no room.
        (0, 0, [[4, 2, 0.2, 0], [0, 4, 0.9, 2], [0, 0, 5.7875, 0], [0, 0, 0, 2]]),
        (0, 1, [[4, 2, 0.2, 0], [0, 4, 0.9, 2], [0, 0, 5.7875, -0.45], [0, 0, 0, 2 - 0.45**2 / 5.7875]]),
    ],
)
def test_four_unknowns_by_hand(threshold, extra, expected):
    np.testing.assert_allclose(upper_of(BY_HAND, threshold, extra), expected, rtol=1e-14, atol=1e-15)
    M = set_up(f"ict:{threshold},entries={extra}", as_operator(BY_HAND))
    np.testing.assert_allclose(M.pivots, np.diag(expected))


@pytest.mark.parametrize("form", FORMS)
def test_without_dropping_it_is_the_cholesky_factorization(form):
    A = form.to_csr().toarray().astype(np.result_type(form.dtype, np.float64))
    found = upper_of(A, 0, ALL)
    R = linalg.cholesky(A)
    np.testing.assert_allclose(found / np.sqrt(np.diag(found).real)[:, None], R, rtol=1e-12, atol=1e-12 * abs(R).max())
    M = set_up(f"ict:0,entries={ALL}", form)
    tolerance = 1e-12 if form.dtype != np.float32 else 1e-5
    np.testing.assert_allclose(dense_inverse(M, form) @ A, np.eye(len(A)), atol=tolerance)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("threshold", "extra"), [(0.1, ALL), (0.01, 2), (0, 1), (0.03, 0)])
def test_it_agrees_with_dense_elimination(form, threshold, extra):
    A = form.to_csr().toarray().astype(np.result_type(form.dtype, np.float64))
    expected = dense_upper(A, threshold, extra)
    np.testing.assert_allclose(upper_of(A, threshold, extra), expected, rtol=1e-12, atol=1e-14 * abs(A).max())


@given(seed=st.integers(0, 200), size=st.integers(1, 31), threshold=st.floats(0, 0.5), extra=st.integers(0, 8))
def test_both_limits_are_kept(seed, size, threshold, extra):
    A = random_matrix(size, complex if seed % 2 else float, seed=seed).to_csr().toarray()
    strict = np.abs(np.triu(upper_of(A, threshold, extra), 1))
    assert ((strict == 0) | (strict >= threshold * np.linalg.norm(A, axis=1)[:, None])).all()
    assert (np.count_nonzero(strict, axis=1) <= np.count_nonzero(np.triu(A, 1), axis=1) + extra).all()


def test_fill_grows_and_iterations_fall_with_smaller_thresholds_and_more_entries():
    A = grid_stencil((13, 11)).to_csr().toarray()
    for chosen in ([(t, ALL) for t in (0.3, 0.1, 0.01, 1e-4, 0)], [(0, extra) for extra in (0, 1, 2, 5, ALL)]):
        counts = [np.count_nonzero(upper_of(A, *each)) for each in chosen]
        assert counts == sorted(counts)
        assert counts[0] < counts[-1]
    specs = ("ict:0.1", "ict:0.01", "ict:0.001", "ict:0.0001,entries=30")
    runs = [run_through(Run(configure("poisson5", n=64, rhs="random", preconditioner=spec))) for spec in specs]
    assert [run.iterations for run in runs] == sorted((run.iterations for run in runs), reverse=True)
    assert runs[-1].iterations < runs[0].iterations / 3
    assert any("ict: a triangle of the factor has" in note for note in runs[-1].provenance["notes"])


@pytest.mark.parametrize("form", [grid_stencil((6, 7)), random_matrix(29, complex)])
def test_colours_are_not_coupled_and_many_of_them_factorize_exactly(form):
    M = set_up(f"ict:0,entries={ALL},ordering=colours", form)
    inverse, A = dense_inverse(M, form), form.to_csr().toarray()
    values = linalg.eigvalsh(linalg.inv(inverse), A)
    assert values.min() > 0
    # Fill between unknowns of a colour is all that differs from A.
    assert "colours, so that a solve with a triangle is" in M.notes[-1]
    assert np.linalg.cond(inverse @ A) < np.linalg.cond(A)
    dense = as_operator(np.diag(np.arange(1.0, 10)) + 0.1)
    exact = dense_inverse(set_up(f"ict:0,entries={ALL},ordering=colours", dense), dense)
    np.testing.assert_allclose(exact @ dense.to_csr().toarray(), np.eye(9), atol=1e-13)


def test_the_natural_ordering_is_refused_on_an_accelerator(accelerator):
    with pytest.raises(InputError, match="ict solves with a triangle of .* use block-ic, ict:ordering=colours, or"):
        registry.find("preconditioner", "ict").check(accelerator)


KERSHAW = np.array([[3.0, -2, 0, 2], [-2, 3, -2, 0], [0, -2, 3, -2], [2, 0, -2, 3]])
"""Kershaw's matrix: positive definite, but with as many entries as A has the last pivot is -5."""


def test_a_breakdown_is_shifted_and_noted():
    M = set_up("ict:0,entries=0", as_operator(KERSHAW))
    assert M.shift > 0
    assert M.pivots.min() > 0
    assert M.notes[0] == f"ict: a pivot of A was not positive, so A + {M.shift:g} D was factorized"
    np.testing.assert_allclose(M.pivots, np.diag(upper_of(KERSHAW + M.shift * 3 * np.eye(4), 0, 0)))
    assert solve(KERSHAW, np.arange(1.0, 5), M="ict:0,entries=0").converged
    with pytest.raises(InputError, match="ict finds no positive pivot in row 1, .* use jacobi"):
        set_up("ict", BandStencil((3,), np.array([1.0, -1, 1]), (np.array([0, -1.0, -1]),)))


def test_a_singular_matrix_has_its_last_pivot_replaced():
    A = np.array([[1.0, -1, 0], [-1, 2, -1], [0, -1, 1]])
    M = set_up("ict", as_operator(A))
    np.testing.assert_allclose(M.pivots, 1)
    assert M.notes[0] == "ict: A is singular, 1 last pivot(s) of about zero were replaced by the diagonal"
    assert solve(A, np.array([1.0, -2, 1]), M="ict").converged


def test_a_factor_that_does_not_fit_is_refused():
    operator = Matrix(grid_stencil((60, 61)).to_csr())
    found = f"factor of ict may need more than the 0.* MB that are free, from row .* of {60 * 61} on; take a larger"
    with pytest.raises(InputError, match=found):
        registry.find("preconditioner", f"ict:0,entries={ALL}").setup(operator, CPU.limited(10**6))
    assert registry.find("preconditioner", "ict:0.1,entries=0").setup(operator, CPU.limited(10**6)).pivots.min() > 0


def test_a_limit_bounds_all_copies_of_the_factor():
    operator = Matrix(grid_stencil((40, 41)).to_csr())
    block = registry.find("preconditioner", f"ict:0,entries={ALL}")
    entries = threshold_factor(operator.to_csr(), Dropping(0, ALL, NO_COLOURS), 0, 10**9).data.size
    room = stored_bytes(operator) + COPIES * 16 * (entries + 40 * 41)
    with pytest.raises(InputError, match="may need more than"):
        block.setup(operator, CPU.limited(room // 2))
    tracemalloc.start()
    assert block.setup(operator, CPU.limited(room)).pivots.min() > 0
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Vectors of the setup come in addition.
    assert room / 3 < peak < room + 20 * 8 * 40 * 41


def test_a_long_factorization_is_several_launches(monkeypatch):
    """Each leaves the cores to other kernels; together they change n^3 / 6 entries."""
    A, launches = random_matrix(37).to_csr().toarray(), []
    large = np.kron(np.eye(25), A)[:880, :880] + 0.01

    def counted(*arguments):
        launches.append(1)
        return launch(*arguments)

    monkeypatch.setattr(threshold, "launch", counted)
    found = upper_of(large, 0, ALL)
    assert WORK < 880**3 / 6
    assert len(launches) == 2
    np.testing.assert_allclose(found / np.sqrt(np.diag(found))[:, None], linalg.cholesky(large), atol=1e-10)


def test_too_many_colours_are_refused_with_a_way_out():
    dense = as_operator(np.eye(300) * 400 + 1)
    with pytest.raises(InputError, match=r"ict needs 300 colours .* use ordering natural, or ic:ordering=colours$"):
        set_up("ict:ordering=colours", dense)
    with pytest.raises(InputError, match=r"ic needs 300 colours .* use ordering natural, or less fill$"):
        set_up("ic:ordering=colours", dense)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_a_matrix_of_any_scale(scale):
    A = random_matrix(17, complex).to_csr().toarray()
    np.testing.assert_allclose(upper_of(A * scale, 0.01, 2) / scale, upper_of(A, 0.01, 2), rtol=1e-10)
