"""How a prepared system may be used: its copies of arrays, threads, updates of every kind, what its results say."""

import copy
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import linalg

from tests.run.test_prepared import discs, of_phase
from workbench.errors import InputError
from workbench.operators import BandStencil, Matrix, TwoPhaseStencil
from workbench.run import Prepared, configure, prepare, solve

N = 41
GRID = (8, 7, 6)


def tridiagonal(diagonal=2.5):
    return sparse.csr_array(diagonal * np.eye(N) - np.eye(N, k=1) - np.eye(N, k=-1))


@pytest.mark.parametrize("kept", ["csr", "csc", "dense", "M", "labels", "Z", "nullspace"])
def test_what_is_solved_is_what_was_prepared(kept):
    """An array that is changed after `prepare` or `update` changes nothing, even where all is made anew."""
    singular, scale = kept == "nullspace", np.linspace(1, 2, N)
    A = tridiagonal(2.0).tolil() if singular else tridiagonal()
    if singular:
        # The null vector 1/scale is no constant, of which nothing is kept.
        A[0, 0] = A[-1, -1] = 1
        A = sparse.diags_array(scale) @ A @ sparse.diags_array(scale)
    A = sparse.csr_array(A)
    given = {"csr": A, "csc": A.tocsc(), "dense": A.toarray()}.get(kept, A)
    more = {
        "M": {"M": sparse.csr_array(np.diag(1 / A.diagonal()))},
        "labels": {"deflation": np.arange(N, dtype=np.int32) // 6},
        "Z": {"deflation": np.random.default_rng(1).standard_normal((N, 3))},
        "nullspace": {"nullspace": 1 / scale},
    }.get(kept, {})
    b = np.random.default_rng(0).standard_normal(N)
    b -= singular * (b @ (1 / scale)) / (1 / scale @ (1 / scale)) / scale
    fresh = solve(A.copy(), b, **copy.deepcopy(more))
    prepared, renewed = prepare(given, **more), A.copy()
    changed = [given, *more.values()]

    def spoil():
        for array in changed:
            values = array.data if sparse.issparse(array) else array
            values[...] = values[::-1] * 3

    spoil()
    np.testing.assert_array_equal(prepared.solve(b).x, fresh.x)
    prepared.update(renewed)
    changed[:] = [renewed]
    spoil()
    np.testing.assert_array_equal(prepared.solve(b).x, fresh.x)


def test_a_phase_changed_in_place_is_a_phase_that_has_moved():
    phase = discs((12, 11), [(5, 5)], 3)
    system = of_phase(phase)
    prepared = prepare(system)
    system.phase[5] ^= 1
    for changed in (1, 0):
        with pytest.raises(ValueError, match="read-only"):
            prepared.system.phase[0] = 1
        assert prepared.update(system.phase).changed == changed


def test_threads_wait_for_each_other():
    prepared, bad = prepare(tridiagonal(), M="neumann:2"), []

    def work(shift):
        b = np.roll(np.arange(1.0, N + 1), shift)
        for _ in range(10):
            if not np.linalg.norm(b - tridiagonal() @ prepared.solve(b).x) <= 2e-6 * np.linalg.norm(b):
                bad.append(shift)

    threads = [threading.Thread(target=work, args=(shift,)) for shift in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not bad


def test_a_call_within_a_call_is_refused_and_leaves_a_usable_system():
    inner: list[Prepared] = []
    A = linalg.LinearOperator((N, N), lambda v: tridiagonal() @ (inner[0].product(v) if inner else v), dtype=np.float64)
    prepared = prepare(A, M=None)
    inner.append(prepared)
    with pytest.raises(InputError, match="within a call of its own"):
        prepared.solve(np.ones(N))
    inner.clear()
    assert prepared.solve(np.ones(N)).converged


@pytest.mark.parametrize("made", [copy.copy, copy.deepcopy, pickle.dumps])
def test_it_is_not_copied_or_pickled(made):
    with pytest.raises(InputError, match="cannot be copied or pickled; prepare another one"):
        made(prepare(tridiagonal()))


def test_the_detail_says_what_was_removed_from_b_as_that_of_a_solve_does():
    system = of_phase(discs((9, 8), [(4, 4)], 2))
    b = np.arange(72.0)
    detail = prepare(system).solve(b).detail
    assert detail == solve(system.operator, b).detail
    assert "of ||b|| for the b that was given" in detail


def test_columns_with_masked_entries_are_refused():
    B = np.ma.masked_array(np.ones((N, 2)), np.eye(N, 2))
    with pytest.raises(InputError, match="masked"):
        prepare(tridiagonal()).solve(B)
    with pytest.raises(InputError, match="masked"):
        prepare(tridiagonal()).solve(np.ones((N, 2)), B)


def grains(share, seed):
    return np.random.default_rng(seed).random(GRID) < share


def test_an_update_keeps_the_storage_format():
    prepared = prepare(configure("bubbles-2d", n=9, format="csr"))
    phase = np.array(prepared.system.phase)
    phase[3] ^= 1
    assert prepared.update(phase).changed == 1
    assert isinstance(prepared._setup.operator, Matrix)


def test_a_phase_of_more_kinds_of_cells_than_a_byte_tells_apart_is_followed_by_any_other():
    prepared = prepare(of_phase(np.zeros(GRID, int), "dirichlet"))
    kinds = []
    for phase in (grains(0.3, 1), grains(0.02, 2), np.zeros(GRID, bool), grains(0.3, 3)):
        prepared.update(phase)
        kinds.append(type(prepared.system.operator))
        b = np.random.default_rng(4).standard_normal(phase.size)
        fresh = prepare(of_phase(prepared.system.phase.reshape(GRID), "dirichlet"))
        np.testing.assert_array_equal(prepared.solve(b).x, fresh.solve(b).x)
    assert set(kinds) == {BandStencil, TwoPhaseStencil}


def test_mixed_precision_refuses_such_a_phase_with_the_sentence_of_prepare():
    prepared = prepare(configure("bubbles-3d", n=8, count=1, sides="dirichlet", precision="mixed"))
    before = prepared.solve(prepared.system.b).x
    noise = np.random.default_rng(0).random((8, 8, 8)) < 0.3
    with pytest.raises(InputError, match="precision mixed needs a problem of two phases"):
        prepared.update(noise)
    np.testing.assert_array_equal(prepared.solve(prepared.system.b).x, before)


@pytest.mark.parametrize("moved", [[-1], [400], [0.5], [[0]], "all", [None]])
def test_places_of_moved_cells_that_are_none_are_refused(moved):
    prepared = prepare(of_phase(discs((12, 11), [(5, 5)], 3)))
    with pytest.raises(InputError):
        prepared.update(np.zeros(132, int), numbered=True, moved=np.array(moved))


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("solve"), st.integers(0, 9)),
        st.tuples(st.just("move"), st.integers(0, 9)),
        st.tuples(st.just("grains"), st.integers(0, 9)),
        st.tuples(st.just("refused"), st.integers(0, 3)),
        st.tuples(st.just("wrong"), st.integers(0, 2)),
    ),
    min_size=3,
    max_size=9,
)
REFUSED = (np.full(GRID, np.nan), -np.ones(GRID, int), np.ones((3, 3), int), np.eye(5))
WRONG = (np.ones(7), np.full(336, np.nan), 1j * np.ones(336))


@settings(max_examples=12, deadline=None)
@given(STEPS, st.sampled_from(["dirichlet", "neumann"]))
def test_any_sequence_of_updates_and_solves_equals_fresh_solves(steps, sides):
    """Bit by bit, for solves that converge; what is refused changes nothing."""
    phase = discs(GRID, [(4, 3, 3)], 2)
    prepared = prepare(of_phase(phase, sides), M="neumann:2")
    for what, number in [*steps, ("solve", 0)]:
        if what in ("refused", "wrong"):
            with pytest.raises(InputError):
                prepared.update(REFUSED[number]) if what == "refused" else prepared.solve(WRONG[number])
            continue
        if what != "solve":
            moved = discs(GRID, [(3 + number / 5, 3, 3)], 2)
            phase = moved if what == "move" else np.array(phase) ^ grains(0.02 * number, number)
            prepared.update(phase)
            continue
        b, x0 = np.random.default_rng(number).standard_normal((2, phase.size))
        fresh = prepare(of_phase(prepared.system.phase.reshape(GRID), sides), M="neumann:2")
        np.testing.assert_array_equal(prepared.system.phase.reshape(GRID) > 0, phase > 0)
        result, own = prepared.solve(b, x0), fresh.solve(b, x0)
        assert result.converged
        assert result.iterations == own.iterations
        np.testing.assert_array_equal(result.x, own.x)
