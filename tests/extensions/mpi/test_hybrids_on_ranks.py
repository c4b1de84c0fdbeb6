"""Hybrid schedules on ranks: the iterates of pipelined CG, lanes for both sides of each rank, and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.extensions.mpi.hybrids import CASES, FEW_ROWS, REFUSED
from tests.extensions.mpi.test_operators_on_ranks import found, pytestmark  # noqa: F401  skips without MPI
from workbench.devices.clock import LANES, lane_order, rank_and_side, rank_lane
from workbench.errors import InputError
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


@pytest.fixture(scope="module")
def traced():
    """A run of hybrid 1 on two ranks that this process has started."""
    pytest.importorskip("pyopencl")
    choices = {"n": 9, "rhs": "random", "solver": "hybrid1", "device": "opencl", "ranks": 2}
    return run_through(Run(configure("poisson5", **choices, stopping=Stopping(rtol=1e-6)), trace=True))


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
