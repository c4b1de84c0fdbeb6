"""Hybrid schedules on ranks: the iterates of pipelined CG, lanes for both sides of each rank, and refusals."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import random_matrix
from tests.extensions.mpi.hybrids import CASES, FEW_ROWS, REFUSED
from tests.extensions.mpi.test_operators_on_ranks import found, pytestmark  # noqa: F401  skips without MPI
from workbench.devices.clock import LANES, lane_order, rank_and_side, rank_lane
from workbench.devices.host.slab import Slab
from workbench.errors import InputError
from workbench.extensions.mpi.device.split import blocks_of_rank
from workbench.operators.matrix_rows import MatrixRows
from workbench.records import hidden_fraction
from workbench.run import Run, Stopping, configure, run_through
from workbench.run.choices.rank_rules import check_ranks

SCRIPT = Path(__file__).with_name("hybrids.py")
DEVICES = {"hybrid1": "RankPair", "hybrid2": "RankPair", "hybrid3": "RankSplit"}


@pytest.mark.parametrize(("ranks", "cases"), [(2, CASES), (3, (CASES[1], CASES[-1], *FEW_ROWS, *REFUSED))])
def test_iterates_are_those_of_pipelined_cg_and_x_is_that_of_a_direct_solver(ranks, cases):
    pytest.importorskip("pyopencl")
    results = found(ranks, cases, SCRIPT)
    if REFUSED[0] in results:
        sentence = results.pop(REFUSED[0])["refused"]
        assert sentence.startswith("rank 0: hybrid3 would leave the cores without a row of 1")
    for case, one in results.items():
        counts = one["iterations"]
        assert abs(counts[0] - counts[1]) <= 1, case
        assert one["reason"].startswith("converged"), case
        assert one["history"] <= 1e-8, case
        assert one["error"] <= 1e-7, case
        assert len(one["rows"]) == ranks, case
        assert one["device"] == DEVICES[case.rpartition("solver=")[2].partition(":")[0]], case
        assert f", 1 shared by {ranks} ranks; " in one["note"], case
        if "share=0.6" in case:
            share = re.search(r"on all ranks they have (.*)% to (.*)% of the rows", one["note"])
            assert share is not None, one["note"]
            # The rows of the graph have some two to five non-zeros, so that the rows are 0.4 by and large.
            assert 20 < float(share[1]) <= float(share[2]) < 60


@pytest.mark.parametrize("cores", [1, 8, 19])
def test_blocks_of_both_sides_make_the_rows_of_a_rank(accelerator, cores):
    """The rows in the middle of a matrix, with unknowns of ranks before and behind as ghosts."""
    matrix, slab = random_matrix(61).csr, Slab((61,), 20, 40, 0)
    rows = MatrixRows.of(matrix[slab.rows], slab)
    below, size = rows.below, slab.size
    assert 0 < below < rows.ghosts.size
    x = np.random.default_rng(2).standard_normal(size + rows.ghosts.size)
    own, ghosts = x[below : below + size], np.delete(x, np.s_[below : below + size])
    sent = np.array([0, 19, 3])
    blocks = blocks_of_rank(accelerator, rows, cores, sent)
    expected = matrix[slab.rows][:, np.r_[rows.ghosts[:below], slab.rows, rows.ghosts[below:]]] @ x

    # What a side does not read is not there: with a NaN in its place, the products are right.
    blocks.exchanged[:] = np.nan
    blocks.exchanged[slice(*blocks.cpu_ghosts)] = own[slice(*blocks.cpu_ghosts)]
    blocks.exchanged[size:] = ghosts
    assert all(blocks.cpu_ghosts[0] <= row < blocks.cpu_ghosts[1] for row in sent if row >= cores)
    halves = np.zeros(cores), np.zeros(cores)
    blocks.near[0].apply(own[:cores].copy(), halves[0])
    blocks.near[1].apply(*halves)
    np.testing.assert_allclose(halves[1], expected[:cores], atol=1e-12 * abs(expected).max())

    arrived = np.full(cores + ghosts.size, np.nan)
    arrived[slice(*blocks.accelerator_ghosts)] = own[slice(*blocks.accelerator_ghosts)]
    arrived[cores:] = ghosts
    accelerator.runtime.upload(blocks.arrived.handle, arrived)
    there = [accelerator.array(own[cores:].copy(), np.float64), *(accelerator.zeros(size - cores, float) for _ in "ab")]
    blocks.far[0].apply(there[0], there[1])
    blocks.far[1].apply(there[1], there[2])
    np.testing.assert_allclose(accelerator.to_host(there[2]), expected[cores:], atol=1e-12 * abs(expected).max())


def result(solver):
    """A traced run on two ranks that this process has started."""
    pytest.importorskip("pyopencl")
    choices = {"n": 9, "rhs": "random", "solver": solver, "device": "opencl", "ranks": 2}
    return run_through(Run(configure("poisson5", **choices, stopping=Stopping(rtol=1e-6)), trace=True))


@pytest.fixture(scope="module")
def traced():
    """Hybrid 1."""
    return result("hybrid1")


def causes_of(trace, name, iteration=3):
    """The kernels that an event of each rank on the lane of its cores has waited for, with their lanes."""
    events = list(trace)
    made = []
    for rank in range(2):
        (event,) = (
            event
            for event in events
            if (event.name, event.lane, event.iteration) == (name, rank_lane(rank, "cpu"), iteration)
        )
        made.append({(rank_and_side(events[k].lane)[1], events[k].name) for k in event.after})
    return made


def test_each_side_of_a_rank_is_a_lane(traced):
    expected = [rank_lane(rank, side) for rank in range(2) for side in ("cpu", "accelerator", "copy to host")]
    assert sorted({event.lane for event in traced.trace}, key=lane_order) == expected
    third = [event for event in traced.trace if event.iteration == 3]
    for rank in range(2):
        names = {side: [e.name for e in third if e.lane == rank_lane(rank, side)] for side in LANES}
        assert names["copy to host"] == ["w", "r", "u"]
        assert "A m" in names["accelerator"]
        assert any(name.startswith("gamma = (r, u)") for name in names["cpu"])
        # Ghosts travel through host memory here, and dot products are those of the cores.
        assert names["cpu"].count("halo") == 1
        assert names["cpu"].count("sum") == 1
        assert not any("(r, u)" in name for name in names["accelerator"])
    fraction = hidden_fraction(traced.trace)
    assert fraction is not None
    assert 0 <= fraction <= 1


def test_copies_of_a_rank_are_after_the_kernels_of_its_own_accelerator(traced):
    events = list(traced.trace)
    for rank in range(2):
        copies = [event for event in events if event.lane == rank_lane(rank, "copy to host") and event.name == "w"]
        assert len(copies) == traced.iterations + 1
        for copy in copies:
            causes = [events[place] for place in copy.after]
            assert rank_lane(rank, "accelerator") in {cause.lane for cause in causes}
            assert {rank_and_side(cause.lane)[0] for cause in causes} == {f"rank {rank}"}
            assert all(cause.iteration == copy.iteration for cause in causes)


def test_messages_are_after_the_work_that_they_send_alone(traced):
    for halo, total in zip(causes_of(traced.trace, "halo"), causes_of(traced.trace, "sum"), strict=True):
        # The accelerator has made m, whose ghosts are sent; its product A m, which the sum overlaps with, is no cause.
        assert any(side == "accelerator" and "m" in name for side, name in halo)
        assert not any(side == "accelerator" for side, _ in total)


def test_messages_of_hybrid_3_are_after_copies():
    trace = result("hybrid3:share=0.5").trace
    for halo, total in zip(causes_of(trace, "halo"), causes_of(trace, "sum"), strict=True):
        assert ("copy to host", "m") in halo
        assert ("copy to host", "scalars") in total
        assert not any(side == "accelerator" for side, _ in halo | total)


def test_a_product_begins_when_its_ghosts_have_come(traced):
    for rank in range(2):
        of_rank = [
            event for event in traced.trace if event.iteration == 3 and rank_and_side(event.lane)[0] == f"rank {rank}"
        ]
        (halo,) = (event for event in of_rank if event.name == "halo")
        product = max((event for event in of_rank if event.name == "A m"), key=lambda event: event.end)
        assert product.start >= halo.end - 50e-6


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"solver": "hybrid"}, "solver hybrid does not run on ranks; use .*hybrid1, hybrid2, hybrid3"),
        (
            {"problem": "poisson27", "n": 7, "solver": "hybrid1"},
            "ranks share the rows of a matrix on device cpu, or by solver hybrid3, got opencl",
        ),
    ],
)
def test_what_is_refused(choices, sentence):
    with pytest.raises(InputError, match=sentence):
        check_ranks(configure(**{"problem": "poisson5", "n": 9, "device": "opencl", "ranks": 2, **choices}))
