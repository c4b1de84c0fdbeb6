"""Rows in two blocks on either side, and the rows that each side gets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tests.all_pairs import on_devices
from tests.conftest import DTYPES, random_matrix, random_values
from workbench import devices
from workbench.devices.accelerator.launcher import USABLE
from workbench.devices.ops.csr import RowBlock
from workbench.devices.pair import RowBlocks, decompose, decomposition, measure
from workbench.devices.pair.decomposition import bytes_needed, least_rows, sampled_rows
from workbench.devices.pair.split import ghosts, row_blocks_below, split_rows
from workbench.errors import InputError
from workbench.operators import BoxStencil


def box(n, reach):
    """The assembled box operator of poisson27 and poisson125."""
    return BoxStencil((n,) * 3, reach, float((2 * reach + 1) ** 3 - 1), -1.0).to_csr()


def close(found, expected):
    eps = np.finfo(found.dtype).eps
    np.testing.assert_allclose(found, expected, rtol=0, atol=200 * eps * np.abs(expected).max())


@on_devices(rows=[1, 37, 100, 700], dtype=DTYPES)
def test_two_blocks_of_rows_make_the_rows_of_a_side(device, case):
    """The first rows on the cores, the others on an accelerator: its own columns, then the others.

    Many work-items share a row of the largest matrix.
    """
    rows, dtype = case["rows"], np.dtype(case["dtype"])
    matrix = sparse.csr_array(box(12, 2).astype(dtype)) if rows > 101 else random_matrix(101, dtype.type).csr
    x, splits = random_values(matrix.shape[0], dtype), split_rows(matrix.indices, matrix.indptr, rows)
    here, there = (slice(rows), slice(rows, None))[:: 1 if device.name == "cpu" else -1]
    if device.name == "cpu":
        local = RowBlock(device, matrix.data, matrix.indices, matrix.indptr[:rows], splits[:rows])
        remote = RowBlock(device, matrix.data, matrix.indices, splits[:rows], matrix.indptr[1 : rows + 1], remote=x)
        assert local.entries + remote.entries == matrix.indptr[rows]
    else:
        local, remote = row_blocks_below(device, matrix, splits, rows, device.array(x[there], dtype))
    first, whole = (device.zeros(x[here].size, dtype) for _ in range(2))
    local.apply(device.array(x[here].copy(), dtype), first)
    close(device.to_host(first), matrix[here, here] @ x[here])
    remote.apply(first, whole)
    close(device.to_host(whole), (matrix @ x)[here])


def graded(size=20_000, seed=1):
    """A matrix whose rows have from 1 to some 200 entries, the longer ones later."""
    rng = np.random.default_rng(seed)
    lengths = 1 + (199 * (np.arange(size) / size) ** 3).astype(int)
    rows = np.repeat(np.arange(size), lengths)
    return sparse.csr_array((np.ones(rows.size), (rows, rng.integers(0, size, rows.size))), shape=(size, size))


@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
def test_sampled_rows_have_the_lengths_of_the_matrix(share):
    matrix = graded()
    rows = sampled_rows(matrix.indptr, int(share * matrix.nnz))
    lengths, all_lengths = np.diff(matrix.indptr)[rows], np.diff(matrix.indptr)
    assert 0.25 * share * matrix.nnz <= lengths.sum() <= share * matrix.nnz
    assert np.all(np.diff(rows) > 0)
    assert lengths.mean() == pytest.approx(all_lengths.mean(), rel=0.15)
    for part in (0.25, 0.5, 0.75, 0.95):
        assert np.quantile(lengths, part) == pytest.approx(np.quantile(all_lengths, part), rel=0.2, abs=2)


def test_the_first_rows_would_not_stand_for_it():
    # What the paper did for want of something better.
    matrix = graded()
    first = np.diff(matrix.indptr)[: int(np.searchsorted(matrix.indptr, matrix.nnz // 10))]
    assert first.mean() < 0.5 * np.diff(matrix.indptr).mean()


def test_no_sample_where_there_is_no_room():
    assert sampled_rows(graded().indptr, 3).size == 0


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_a_share_is_a_share_of_the_non_zeros(accelerator, share):
    matrix = graded()
    rows, why = decompose(accelerator, matrix, share, 13)
    assert matrix.indptr[rows] <= (1 - share) * matrix.nnz < matrix.indptr[rows + 1]
    assert f"{rows} of 20000 rows" in why


def test_the_model_weighs_both_sides(accelerator):
    speeds = measure(accelerator, box(16, 1))
    assert speeds.cpu > 0
    assert speeds.accelerator > 0
    assert speeds.share == pytest.approx(speeds.accelerator / (speeds.cpu + speeds.accelerator))


@pytest.mark.parametrize(("cpu", "there", "rows"), [(1.0, 1e9, 1), (1e9, 1.0, 4095), (1.0, 1.0, 2048)])
def test_a_side_that_was_slow_while_it_was_measured_has_a_row_all_the_same(accelerator, monkeypatch, cpu, there, rows):
    """Other work on the machine may hold up either side for longer than its products take."""
    monkeypatch.setattr(decomposition, "measure", lambda *_: decomposition.Speeds(cpu, there, "made up"))
    found, why = decompose(accelerator, box(16, 1), None, 13)
    assert found == pytest.approx(rows, abs=rows > 1000 and rows != 4095)
    assert "made up" in why
    RowBlocks.of(accelerator, box(16, 1), found, why)


def test_a_clock_that_sees_no_time_pass_gives_speeds(accelerator, monkeypatch):
    monkeypatch.setattr(accelerator.runtime, "timed", lambda work, name: (work(), lambda: (1.0, 1.0)))
    monkeypatch.setattr(decomposition.time, "perf_counter", lambda: 1.0)
    assert 0 < measure(accelerator, box(8, 1)).share < 1


def test_what_does_not_fit_stays_on_the_cores(accelerator):
    matrix = box(16, 1)
    needed = bytes_needed(matrix, 13)
    limited = accelerator.limited(int((needed[2000] + 400_000) / USABLE))
    least = least_rows(limited, matrix, 13)
    assert 0 < least <= 2000
    rows, why = decompose(limited, matrix, 1.0, 13)
    assert rows == least
    assert "no room" in why
    # The count is of what is really taken.
    RowBlocks.of(limited, matrix, rows, why)
    assert limited.budget.used <= limited.budget.limit


def test_a_matrix_too_large_is_measured_by_a_sample(accelerator):
    matrix = box(16, 1)
    limited = accelerator.limited(matrix.data.nbytes)
    assert "rows that stand for the matrix" in measure(limited, matrix).basis
    with pytest.raises(InputError, match="no room for a sample"):
        measure(accelerator.limited(100_000), matrix)
    with pytest.raises(InputError, match="may use 0 MB, which is not enough for one row"):
        least_rows(accelerator.limited(100), matrix, 13)


@pytest.mark.parametrize(("rows", "side"), [(0, "the cores"), (4096, "device")])
def test_an_empty_side_is_refused(accelerator, rows, side):
    with pytest.raises(InputError, match=f"would leave {side}.* without a row of 4096"):
        RowBlocks.of(accelerator, box(16, 1), rows, "as asked")


def test_a_budget_counts_what_is_held_and_forgets_what_is_dropped(accelerator):
    limited = accelerator.limited(10_000)
    held = limited.zeros(1000, np.dtype(np.float64))
    assert limited.budget.used == 8000
    with pytest.raises(InputError, match=r"may use 0.009 of 0.01 MB for vectors and matrices, and 0.016 MB are needed"):
        limited.zeros(1000, np.dtype(np.float64))
    del held
    assert limited.budget.used == 0
    assert accelerator.limited(None) is accelerator
    assert devices.device("cpu").limited(None) is devices.device("cpu")


@pytest.mark.parametrize("rows", [1, 20, 63])
def test_what_a_side_needs_of_the_other_is_no_more_than_a_run(rows):
    matrix = box(4, 1)
    dense = matrix.toarray() != 0
    here, there = ghosts(matrix.indices, matrix.indptr, split_rows(matrix.indices, matrix.indptr, rows), rows)
    read_here = rows + np.flatnonzero(dense[:rows, rows:].any(axis=0))
    read_there = np.flatnonzero(dense[rows:, :rows].any(axis=0))
    assert here == (read_here.min(), read_here.max() + 1)
    assert there == (read_there.min(), read_there.max() + 1)


def test_sides_without_a_coupling_need_nothing():
    matrix = sparse.csr_array(np.eye(6))
    assert ghosts(matrix.indices, matrix.indptr, split_rows(matrix.indices, matrix.indptr, 2), 2) == ((2, 2), (0, 0))
