"""Components of A whose rows several ranks have: those of the whole matrix, with the same numbers on all of them.

Ranks are threads here, which meet at a barrier as processes do in a collective operation."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from workbench.devices import device
from workbench.devices.cpu import Cpu
from workbench.devices.host.slab import Slab
from workbench.operators import as_operator
from workbench.operators.components import Components, components_of
from workbench.operators.matrix_rows import MatrixRows


class Meeting:
    """The place where threads exchange values."""

    def __init__(self, ranks: int) -> None:
        self.barrier, self.values = threading.Barrier(ranks, timeout=60), [None] * ranks


class Rank(Cpu):
    """One of several threads with rows of a matrix each."""

    def __init__(self, meeting: Meeting, rank: int, rows: MatrixRows) -> None:
        super().__init__()
        self._meeting, self.rank, self.ranks = meeting, rank, len(meeting.values)
        self.slab, self._ghosts = rows.slab, rows.ghosts

    def gathered(self, value):
        self._meeting.values[self.rank] = value
        self._meeting.barrier.wait()
        found = list(self._meeting.values)
        self._meeting.barrier.wait()
        return found

    def total(self, value):
        return sum(self.gathered(value))

    def largest(self, value):
        return max(self.gathered(value))

    def with_ghosts(self, values, slab):
        whole, rows = np.concatenate(self.gathered(values)), np.arange(slab.rows.start, slab.rows.stop)
        return whole[np.sort(np.concatenate([self._ghosts, rows]))]


def on_ranks(A, cuts, call):
    """call(rows, rank) for the rows of A between the cuts, in a thread for each; its results in order."""
    ends = [0, *cuts, A.shape[0]]
    parts = [
        MatrixRows.of(A[first:last], Slab((A.shape[0],), first, last, 0)) for first, last in itertools.pairwise(ends)
    ]
    meeting = Meeting(len(parts))
    with ThreadPoolExecutor(len(parts)) as threads:
        made = [threads.submit(call, rows, Rank(meeting, k, rows)) for k, rows in enumerate(parts)]
        return [each.result(60) for each in made]


def graph(size, edges, zeros=()):
    """The Laplacian of a graph with these edges, and stored zeros in some places."""
    weights = np.zeros((size, size))
    for i, j in edges:
        weights[i, j] = weights[j, i] = float(i != j)
    L = sparse.coo_array(np.diag(weights.sum(axis=0)) - weights)
    rows, columns = np.array([*zeros, *((j, i) for i, j in zeros)], int).reshape(-1, 2).T
    free = weights[rows, columns] == 0
    rows, columns = rows[free & (rows != columns)], columns[free & (rows != columns)]
    places = np.concatenate([L.row, rows]), np.concatenate([L.col, columns])
    return sparse.csr_array(sparse.coo_array((np.concatenate([L.data, np.zeros(rows.size)]), places), shape=L.shape))


def empty_of(A):
    """The empty rows, and A with 1 on their diagonal, as a run has it."""
    empty = np.flatnonzero(abs(A).max(axis=1).toarray().ravel() == 0)
    return empty, sparse.csr_array(A + sparse.coo_array((np.ones(empty.size), (empty, empty)), shape=A.shape))


N = 24
NODES = st.integers(0, N - 1)
EDGES = st.lists(st.tuples(NODES, NODES), max_size=30)


@settings(deadline=None, max_examples=60)
@given(EDGES, st.lists(st.tuples(NODES, NODES), max_size=5), st.sets(st.integers(1, N - 1), max_size=3))
def test_ranks_find_those_of_the_whole_matrix_with_the_same_numbers(edges, zeros, cuts):
    """Isolated nodes, stored zeros across ranks, components of one rank and of all, and any split of the rows."""
    empty, A = empty_of(graph(N, edges, zeros))
    some = empty if empty.size else None
    whole = components_of(as_operator(A), some, device())

    def call(rows, rank):
        mine = empty[(empty >= rows.slab.rows.start) & (empty < rows.slab.rows.stop)] - rows.slab.rows.start
        if rank.total(rows.slab.size - mine.size) == 0:
            return None
        return components_of(rows, None if some is None else mine, rank)

    found = on_ranks(A, sorted(cuts), call)
    if whole is None:
        assert not any(found)
        return
    assert {each.count for each in found} == {whole.count}
    assert np.concatenate([each.labels for each in found]).tolist() == whole.labels.tolist()


def test_a_chain_through_all_ranks_is_one_component():
    A = graph(9, [(0, 8), (8, 3), (3, 6), (6, 1), (1, 5), (2, 4), (4, 7)])
    for found in on_ranks(A, (2, 5), lambda rows, rank: components_of(rows, None, rank)):
        assert found.count == 2
    chain = graph(9, itertools.pairwise(range(9)))
    assert on_ranks(chain, (1, 2, 8), lambda rows, rank: components_of(rows, None, rank)) == 4 * [None]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_means_over_ranks_are_those_of_one_process(dtype):
    """Rows 0, 3, 4 and 1, 2 are components, row 5 is empty: means by hand."""
    x = np.array([1, 10, 20, 4, 7, 99]).astype(dtype)
    labels = np.array([0, 1, 1, 0, 0, 2], np.int32)
    x = x * (1 + 2j) if x.dtype.kind == "c" else x
    by_hand = np.array([4, 15, 15, 4, 4, 99]) * (x[0] / x[0].real)
    left, removed = Components(labels, 2).without_means(x.copy(), device())
    np.testing.assert_allclose(left, x - by_hand, rtol=1e-6)
    assert removed == pytest.approx(np.linalg.norm(by_hand))
    A = sparse.csr_array(sparse.eye_array(6))

    def call(rows, rank):
        mine = Components(labels[rows.slab.rows], 2)
        return (*mine.without_means(x[rows.slab.rows].copy(), rank), mine.largest_mean(x[rows.slab.rows], 1, rank))

    parts = on_ranks(A, (1, 4), call)
    np.testing.assert_allclose(np.concatenate([part[0] for part in parts]), x - by_hand, rtol=1e-6)
    for _, of_rank, largest in parts:
        assert of_rank == pytest.approx(removed)
        assert (largest.row, largest.above, largest.value) == (1, 2, pytest.approx(by_hand[1]))


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_the_norm_of_means_of_any_scale_is_in_range(scale):
    x = scale * np.array([3.0, 4.0, 3.0])
    assert Components(np.array([0, 1, 0], np.int32), 2).without_means(x, device())[1] / scale == pytest.approx(34**0.5)


def test_the_largest_mean_is_that_of_the_longest_vector_of_constants():
    """Of 4 rows with a mean of 1 and one row with 1.5 the former has length 2."""
    parts = Components(np.array([0, 1, 1, 1, 1], np.int32), 2)
    x = np.array([1.5, 1, 1, 1, 1])
    assert parts.largest_mean(x, 1e-9, device())[:2] == (1, 1)
    assert parts.largest_mean(x, 1.8, device()).above == 1
    assert parts.largest_mean(x, 2.1, device()) is None
    assert parts.largest_mean(x, 0, device(), np.array([4, 3, 2, 1, 0])).row == 0
