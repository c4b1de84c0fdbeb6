"""Parts that grow in rounds: their definition, the same labels on every device and number of threads, and solves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

from tests.preconditioners.test_kcycle import network, triangles
from workbench import devices
from workbench.devices.ops.levels import parts_in_rounds
from workbench.jit import threads
from workbench.operators import Matrix
from workbench.operators.empty_rows import without_empty_rows
from workbench.registry import find
from workbench.run import solve

CPU = devices.device("cpu")


def parts_of(matrix, size, threshold, device=CPU):
    return parts_in_rounds((matrix.data, matrix.indices, matrix.indptr), size, threshold, device)


def seeds_of(rows, size, turn):
    """One row in each run of `size`, by a hash of the run, in Python's integers."""
    for run in range(-(-rows // size)):
        mixed = (run + 1 + 0x27D4EB2F * turn) % 2**32
        for factor in (0x1E3779B1, 0x45D9F3B, 0x27D4EB2F):
            mixed = mixed * factor % 2**32
            mixed ^= mixed >> 15
        if run * size + mixed % size < rows:
            yield run * size + mixed % size


def by_definition(matrix, size, threshold):
    """The seed of the part of each row, row by row, -1 where there is none."""
    dense, labels = -matrix.toarray(), np.full(matrix.shape[0], -1)
    np.fill_diagonal(dense, 0)
    strongest = np.maximum(dense.max(axis=1), 1e-300)

    def round_along(least):
        before = labels.copy()
        for i in np.flatnonzero(before < 0):
            sizes = np.where((before >= 0) & (dense[i] > 0), dense[i], 0)
            sizes[(sizes / strongest[i]) * (sizes / strongest) < least] = 0
            if sizes.max() > 0:
                labels[i] = before[sizes == sizes.max()].min()
        return not np.array_equal(before, labels)

    run, turn = int(1.5 * size), 0
    while run > 1:
        for seed in seeds_of(labels.size, run, turn):
            labels[seed] = seed if labels[seed] < 0 else labels[seed]
        for _ in range(2):
            round_along(threshold**2)
        run, turn = int(0.7 * run), turn + 1
    for least in (threshold**2, 0.0):
        while round_along(least):
            pass
    return labels


@pytest.mark.parametrize("threshold", [0.0, 0.17, 0.87])
def test_a_row_joins_the_part_of_its_largest_strong_coupling(threshold):
    matrix = network(300, 700)
    # Equal couplings, of which the lower label counts.
    matrix.data = np.round(matrix.data)
    labels, count = parts_of(matrix, 9, threshold)
    assert np.array_equal(np.unique(labels), np.arange(count))
    expected = by_definition(matrix, 9, threshold)
    seeds, numbers = np.unique(expected, return_inverse=True)
    reached = expected >= 0
    numbers -= seeds[0] < 0
    assert np.array_equal(labels[reached], numbers[reached])
    assert labels[~reached].min(initial=count) >= numbers.max() + 1


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


def test_rows_that_no_seed_reaches_get_parts_of_their_own_on_every_device(accelerator):
    matrix = sparse.csr_array(sparse.block_diag([network(60, 200), *[network(2, 9)] * 90, sparse.eye_array(7)]))
    expected, found = (levels_of(matrix, device) for device in (CPU, accelerator))
    assert_same(found, expected)


def levels_of(matrix, device, M="kcycle:8,growth=rounds"):
    """The levels of a cycle that are made for a device, in host memory."""
    operator, _ = without_empty_rows(Matrix(sparse.csr_array(matrix)), CPU)
    factor = find("preconditioner", M).factor_of(operator, device)
    made_there = not isinstance(factor.form.order, np.ndarray)
    assert made_there == (device is not CPU)
    return factor.levels


def assert_same(found, expected):
    """Equal parts and orders, and equal numbers up to the rounding of single precision."""
    for name in ("order", "scale", "bottom"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-4, atol=1e-4)
    assert np.array_equal(found.order, expected.order)
    assert (found.singular, found.steps) == (expected.singular, expected.steps)
    assert len(found.levels) == len(expected.levels)
    for one, other in zip(found.levels, expected.levels, strict=True):
        assert np.array_equal(one.starts, other.starts)
        assert np.array_equal(one.parents, other.parents)
        np.testing.assert_allclose(one.smoother, other.smoother, rtol=1e-12)
        np.testing.assert_allclose(one.weights, other.weights, rtol=1e-6)
        matrices = [sparse.csr_array((each.data, each.indices, each.indptr)) for each in (one, other)]
        assert abs(matrices[0] - matrices[1]).max() < 1e-6


@pytest.mark.parametrize("kind", ["mesh", "positive couplings", "components"])
def test_the_levels_are_the_same_on_every_device(accelerator, kind):
    matrix, _ = triangles(3000)
    if kind == "positive couplings":
        # Row sums bound its spectrum badly.
        signs = sparse.diags_array(np.where(np.arange(matrix.shape[0]) % 7 == 0, -1.0, 1.0))
        matrix = signs @ matrix @ signs
    if kind == "components":
        matrix = sparse.block_diag([network(900, 3000), network(300, 900), *[network(3, 9)] * 40])
    assert_same(levels_of(matrix, accelerator), levels_of(matrix, CPU))


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
