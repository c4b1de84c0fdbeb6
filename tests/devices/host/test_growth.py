"""Parts of a graph: hand-checkable ones, what holds for every matrix, and the quality that deflation needs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csgraph

from workbench.devices.host.growth import _join, grown_parts
from workbench.jit import threads
from workbench.jit.threads import launch


def parts_of(matrix, size, threshold=0.1):
    matrix = sparse.csr_array(matrix)
    return grown_parts((matrix.data, matrix.indices, matrix.indptr), size, threshold)


def path(count, weights=None):
    """The Laplacian of a path."""
    weights = np.ones(count - 1) if weights is None else np.asarray(weights, float)
    degree = np.zeros(count)
    degree[:-1] += weights
    degree[1:] += weights
    return sparse.diags_array([-weights, degree, -weights], offsets=[-1, 0, 1]).tocsr()


def squares(side, weak=1.0):
    """The 5-point matrix of a square, couplings along y times `weak`."""
    line, one = path(side), sparse.eye_array(side)
    return (sparse.kron(one, line) + weak * sparse.kron(line, one)).tocsr()


def test_a_path_is_cut_into_intervals():
    labels, count = parts_of(path(9), 3)
    assert labels.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert count == 3


def test_what_remains_small_joins_its_neighbour():
    # Three and a rest of one, below a third of the size.
    labels, count = parts_of(path(13), 6)
    assert labels.tolist() == [0] * 6 + [1] * 7
    assert count == 2


def test_parts_do_not_cross_weak_couplings():
    labels, _ = parts_of(path(8, [1, 1, 1, 1e-6, 1, 1, 1]), 100)
    assert labels.tolist() == [0] * 4 + [1] * 4


def test_parts_follow_the_strong_direction():
    labels, count = parts_of(squares(20, weak=1e-3), 10)
    rows = labels.reshape(20, 20)
    for part in range(count):
        assert np.unique(np.nonzero(rows == part)[0]).size == 1


def test_rows_without_couplings_are_put_together():
    labels, count = parts_of(sparse.eye_array(10), 4)
    assert labels.tolist() == [0] * 4 + [1] * 4 + [2] * 2
    assert count == 3


@pytest.mark.parametrize("size", [0, 1])
def test_tiny_matrices_have_as_many_parts_as_rows(size):
    labels, count = parts_of(sparse.csr_array((size, size)), 5)
    assert labels.shape == (size,)
    assert count == size


def test_stored_zeros_couple_nothing():
    size, coupled = 200, 150
    dense = 2 * np.eye(size) - np.eye(size, k=1) - np.eye(size, k=-1)
    dense[coupled:] = dense[:, coupled:] = 0
    dense[coupled:, coupled:] = np.eye(size - coupled)
    columns, starts = np.tile(np.arange(size, dtype=np.int32), size), np.arange(size + 1, dtype=np.int64) * size
    found, count = grown_parts((dense.ravel(), columns, starts), 10, 0.1)
    expected, number = parts_of(dense, 10)
    assert (found.tolist(), count) == (expected.tolist(), number)
    assert number == size // 10


def test_a_row_with_more_stored_zeros_than_there_are_parts_lists_none_of_them():
    """Row 0 is a part, and stores five zeros in the columns of the other one."""
    data, columns, starts = np.zeros(5), np.arange(1, 6, dtype=np.int32), np.array([0, 5, 5, 5, 5, 5, 5])
    labels, order = np.array([1, 0, 0, 0, 0, 0], np.int32), np.array([1, 2, 3, 4, 5, 0], np.int32)
    parents, sizes, listed = np.arange(2, dtype=np.int32), np.array([5, 1], np.int32), np.full(9, -1, np.int32)
    couplings = data, columns, starts, np.zeros(6), 0.1
    launch(0, _join, *couplings, 6, True, labels, order, np.array([0, 5, 6]), parents, sizes, np.zeros(2), listed)
    assert listed.tolist() == [-1] * 9
    assert parents.tolist() == [0, 1]


def test_positive_couplings_alone_still_join():
    labels, _ = parts_of(abs(squares(12)), 9)
    assert np.bincount(labels).min() > 1


@st.composite
def graphs(draw):
    """A symmetric matrix with random couplings of either sign, real or Hermitian, and some empty rows."""
    size, entries, seed = draw(st.integers(1, 60)), draw(st.integers(0, 150)), draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(size, size=(2, entries))
    values = rng.choice([-1, -1, -1, 1], entries) * 10.0 ** rng.integers(-8, 8, entries)
    if draw(st.booleans()):
        values = values * np.exp(1j * rng.random(entries))
    half = sparse.coo_array((values, (rows, columns)), shape=(size, size)).tocsr()
    return (half + half.conj().T).tocsr()


@settings(max_examples=150, deadline=None)
@given(graphs(), st.integers(2, 20), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_every_row_has_a_part_and_every_part_rows(matrix, size, threshold):
    labels, count = parts_of(matrix, size, threshold)
    assert labels.dtype == np.int32
    assert np.array_equal(np.unique(labels), np.arange(count))
    again, _ = parts_of(matrix, size, threshold)
    assert np.array_equal(labels, again)


@settings(max_examples=50, deadline=None)
@given(graphs(), st.integers(2, 20))
def test_parts_hold_what_couples_or_couple_to_nothing(matrix, size):
    labels, count = parts_of(matrix, size)
    alone = csgraph.connected_components(abs(matrix), directed=False)[1]
    sizes = np.bincount(alone)
    for part in range(count):
        found = np.unique(alone[labels == part])
        assert found.size == 1 or sizes[found].max() == 1


def test_parts_do_not_depend_on_the_number_of_threads(monkeypatch):
    matrix = squares(150)
    expected, _ = parts_of(matrix, 30)
    monkeypatch.setattr(threads, "cores", lambda: 1)
    assert np.array_equal(parts_of(matrix, 30)[0], expected)


def test_parts_of_a_grid_are_of_the_size_asked_for():
    labels, count = parts_of(squares(100), 50)
    sizes = np.bincount(labels)
    assert 180 <= count <= 230
    assert sizes.min() >= 50 // 3
    assert sizes.max() <= 4 * 50


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e200])
def test_parts_do_not_depend_on_the_scale(scale):
    expected, _ = parts_of(squares(20, weak=1e-3), 10)
    assert np.array_equal(parts_of(scale * squares(20, weak=1e-3), 10)[0], expected)


def test_rows_without_strong_couplings_do_not_become_one_part():
    chain = sparse.csr_array(np.eye(30) + np.eye(30, k=1) + np.eye(30, k=-1))
    labels, parts = parts_of(chain, 5)
    assert np.bincount(labels).max() <= 10
    assert parts >= 3
