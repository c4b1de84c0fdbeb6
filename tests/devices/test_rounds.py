"""Parts that grow in rounds: their definition, the same labels on every device and number of threads, and solves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

from tests.preconditioners.test_kcycle import network, triangles
from workbench import devices
from workbench.devices.ops.levels import parts_in_rounds, seeds_of
from workbench.jit import threads
from workbench.run import solve

CPU = devices.device("cpu")


def parts_of(matrix, size, threshold, device=CPU):
    return parts_in_rounds((matrix.data, matrix.indices, matrix.indptr), size, threshold, device)


def by_definition(matrix, labels, threshold):
    """The labels after rounds from seeds, row by row."""
    dense, labels = -matrix.toarray(), labels.copy()
    np.fill_diagonal(dense, 0)
    strongest = np.maximum(dense.max(axis=1), 1e-300)
    for least in (threshold**2, 0.0):
        changed = True
        while changed:
            before, changed = labels.copy(), False
            for i in np.flatnonzero(before < 0):
                sizes = np.where((before >= 0) & (dense[i] > 0), dense[i], 0)
                sizes[(sizes / strongest[i]) * (sizes / strongest) < least] = 0
                if sizes.max() > 0:
                    labels[i], changed = before[sizes == sizes.max()].min(), True
    return labels


@pytest.mark.parametrize("threshold", [0.0, 0.17, 0.87])
def test_a_row_joins_the_part_of_its_largest_strong_coupling(threshold):
    matrix = network(300, 700)
    # Equal couplings, of which the lower label counts.
    matrix.data = np.round(matrix.data)
    labels, count = parts_of(matrix, 9, threshold)
    assert np.array_equal(np.unique(labels), np.arange(count))
    seeds, numbers = np.full(300, -1), seeds_of(300, 9)
    seeds[numbers] = np.arange(numbers.size)
    expected = by_definition(matrix, seeds, threshold)
    reached = expected >= 0
    assert np.array_equal(labels[reached], expected[reached])
    assert labels[~reached].min(initial=numbers.size) >= numbers.size


@pytest.mark.parametrize("scale", [2.0**-530, 2.0**530])
def test_the_parts_are_connected_and_do_not_depend_on_the_scale(scale):
    matrix, _ = triangles(4000)
    labels, count = parts_of(sparse.csr_array(scale * matrix), 20, 0.1)
    assert np.array_equal(labels, parts_of(matrix, 20, 0.1)[0])
    assert 0.5 < count * 20 / labels.size < 2
    within = matrix.tocoo()
    same = labels[within.coords[0]] == labels[within.coords[1]]
    inner = sparse.coo_array((np.ones(same.sum()), [each[same] for each in within.coords]), shape=matrix.shape)
    assert csgraph.connected_components(inner, directed=False)[0] == count


def test_the_labels_are_the_same_on_every_device_and_number_of_threads(accelerator, monkeypatch):
    large, _ = triangles(30_000)
    turns = sparse.diags_array(np.exp(1j * np.arange(900)))
    turned = sparse.csr_array(turns @ network(900, 2500) @ turns.conj())
    loose = sparse.csr_array(sparse.block_diag([network(500, 1500), *[sparse.eye_array(1)] * 50, *[network(3, 9)] * 9]))
    for matrix in (large, turned, loose):
        expected = parts_of(matrix, 8, 0.15)
        with monkeypatch.context() as patched:
            patched.setattr(threads, "_all", threads._one)
            alone = parts_of(matrix, 8, 0.15)
        found = parts_of(matrix, 8, 0.15, accelerator)
        for each in (alone, found):
            assert np.array_equal(each[0], expected[0])
            assert each[1] == expected[1]


def test_rows_that_no_seed_reaches_get_parts_of_their_own():
    matrix = sparse.csr_array(sparse.block_diag([network(3, 9)] * 40))
    labels, count = parts_of(matrix, 50, 0.1)
    assert labels.min() == 0
    assert np.array_equal(np.unique(labels), np.arange(count))


def test_a_k_cycle_of_such_parts_takes_two_thirds_more_iterations_at_most(accelerator):
    A, b = triangles(8000)
    queue, rounds, there = (
        solve(A, b, M=M, rtol=1e-8, device=name)
        for M, name in (
            ("kcycle", "cpu"),
            ("kcycle:8,growth=rounds", "cpu"),
            ("kcycle:8,growth=rounds", accelerator.spec),
        )
    )
    assert rounds.converged
    assert np.linalg.norm(b - A @ rounds.x) <= 1.1e-8 * np.linalg.norm(b)
    assert rounds.iterations <= 1.6 * queue.iterations
    assert abs(there.iterations - rounds.iterations) <= 1
