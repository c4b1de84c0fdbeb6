"""A run on two ranks looks like any run: history, phases, x, snapshots, trace, reasons, files."""

from __future__ import annotations

import dataclasses
import itertools
import re
import time

import numpy as np
import pytest
from scipy import sparse

from tests.extensions.mpi.conftest import ENDLESS, endless, gone, pids_of
from tests.waiting import LIMIT, until
from workbench.errors import InputError
from workbench.extensions.mpi.run.processes import RankProcesses
from workbench.extensions.mpi.run.start import START
from workbench.records import History, load, save
from workbench.run import Quantity, Reason, Run, Session, State, configure, race, run_through, solve
from workbench.run.choices.rank_rules import check_ranks

CLOCKS = r"times of ranks are on the clock of rank 0 to within ([\d.e+-]+) ms"
CHOICES = {"problem": "two-layer", "n": 33, "preconditioner": "neumann:2", "deflation": "stripes"}


@pytest.fixture(scope="module")
def both():
    """The same run on two ranks and in this process, with snapshots at iteration 3."""
    runs = [Run(configure(**CHOICES, rhs="ones-scaled", ranks=ranks), trace=True) for ranks in (2, 1)]
    snapshots = []
    for run in runs:
        for _ in range(4):
            run.step(1)
        snapshots.append([run.snapshots.request(quantity, lambda vector: vector.copy()) for quantity in Quantity])
        run.serve_snapshots()
    results = [run_through(run) for run in runs]
    return runs, *snapshots, *results


def test_history_x_and_summary_are_those_of_one_process(both):
    (run, one_run), _, _, result, one = both
    assert (result.reason, result.iterations) == (Reason.CONVERGED, one.iterations)
    assert type(result.history) is History
    np.testing.assert_allclose(result.history["residual"], one.history["residual"], rtol=1e-6)
    np.testing.assert_allclose(result.x, one.x, atol=1e-8 * abs(one.x).max())
    assert result.true_relative_residual == pytest.approx(one.true_relative_residual, rel=1e-3)
    assert result.history.true_residuals.shape == one.history.true_residuals.shape
    for name in ("N", "nnz", "solver", "deflation_vectors", "coarse_solver", "variant", "precision", "norm"):
        assert result.summary[name] == one.summary[name], name
    assert (result.summary["ranks"], one.summary["ranks"]) == (2, None)
    assert any(re.match(r"2 ranks of [\w ]+ [\d.]+ on host \S+, \d+ threads? each", note) for note in notes_of(result))
    assert not any("ranks" in note for note in notes_of(one))
    assert (run.norm_of_b, run.threshold) == pytest.approx((one_run.norm_of_b, one_run.threshold))
    until(lambda: gone(pids_of(run.setup.ranks)))


def notes_of(result):
    return result.provenance["notes"]


def test_the_phases_of_the_setup_are_those_of_the_ranks(both):
    phases = {phase["name"]: phase["seconds"] for phase in both[3].summary["setup_phases"]}
    assert {START, "problem", "A", "coarse matrix E", "rest"} <= set(phases)
    assert sum(phases.values()) == pytest.approx(both[3].setup_seconds)
    assert phases[START] > 0
    assert phases["rest"] >= 0


def test_no_phase_is_negative_where_ranks_are_ahead_of_this_process(monkeypatch):
    """On busy cores the ranks may have set up before their first message is read here."""
    read = RankProcesses.next

    def late(ranks, stopped):
        message = read(ranks, stopped)
        if first:
            time.sleep(first.pop())
        return message

    first = [1.0]
    monkeypatch.setattr(RankProcesses, "next", late)
    begun = time.perf_counter()
    run = Run(configure(**CHOICES, ranks=2))
    try:
        assert min(phase.seconds for phase in run.setup.phases.done) >= 0
        assert run.setup_seconds + run.compile_seconds < time.perf_counter() - begun
    finally:
        run.cancel()


def test_snapshots_are_those_of_one_process(both):
    _, mine, those, _, _ = both
    for quantity, snapshot, other in zip(Quantity, mine, those, strict=True):
        assert (snapshot.done, snapshot.iteration, snapshot.words) == (True, 3, other.words), quantity
        np.testing.assert_allclose(snapshot.values, other.values, atol=1e-8 * abs(other.values).max())


def test_every_rank_is_a_lane_of_the_trace(both):
    trace, one = both[3].trace, both[4].trace
    lanes = {lane: [event for event in trace if event.lane == lane] for lane in ("rank 0", "rank 1")}
    assert sum(map(len, lanes.values())) == len(trace)
    kernels = [{event.name for event in events} for events in lanes.values()]
    assert kernels[0] == kernels[1]
    assert {event.name for event in one} & kernels[0] >= {"A p", "Z^T", "x = x + alpha*p; p = u + beta*p"}
    assert kernels[0] >= {"halo", "sum"}
    for events in lanes.values():
        assert all(a.end <= b.start for a, b in itertools.pairwise(events))
        assert {event.iteration for event in events} == set(range(both[3].iterations + 1))
    (error,) = (float(found[1]) / 1e3 for note in trace.notes if (found := re.match(CLOCKS, note)))
    assert error < 1
    # Each iteration has a sum, which waits for the other rank: neither begins the next one before both have begun it.
    for here, there in (("rank 0", "rank 1"), ("rank 1", "rank 0")):
        mine, other = (
            [min(event.start for event in lanes[lane] if event.iteration == k) for k in range(both[3].iterations + 1)]
            for lane in (here, there)
        )
        # The note rounds.
        assert all(begun <= later + 1.1 * error for begun, later in zip(mine, other[1:], strict=False))


def test_a_run_on_ranks_is_saved_and_read_as_any(both, tmp_path):
    save(both[3].record(with_solution=True), tmp_path / "a.run.npz")
    read = load(tmp_path / "a.run.npz")
    np.testing.assert_array_equal(read.solution, both[3].x)
    assert read.provenance["configuration"]["ranks"] == 2
    assert read.trace is not None


def test_a_session_on_ranks_pauses_steps_resumes_and_stops():
    session = Session(endless())
    session.start(paused=True)
    until(lambda: session.state is State.PAUSED)
    session.step()
    until(lambda: session.run is not None and session.run.history.count == 1)
    until(lambda: session.state is State.PAUSED and not session.pausing)
    assert session.run.history.count == 1
    look = session.run.snapshots.request(Quantity.SOLUTION, lambda vector: vector.copy())
    until(lambda: look.done)
    assert look.values.shape == (33**2,)
    session.resume()
    until(lambda: session.run.iterations > 5)
    session.stop()
    assert session.wait(LIMIT).reason is Reason.CANCELLED


def test_a_race_of_ranks_and_one_process():
    on_two, alone = race([configure(**CHOICES, ranks=ranks) for ranks in (2, 1)])
    assert (on_two.converged, on_two.iterations) == (True, alone.iterations)


def test_a_time_limit_ends_all_ranks_at_once():
    result = run_through(Run(endless(stopping=dataclasses.replace(ENDLESS, max_seconds=0.05))))
    assert result.reason is Reason.TIME
    assert result.iteration_seconds >= 0.05


def test_three_ranks_and_a_slab_too_thin():
    result = run_through(Run(configure("poisson5", n=7, ranks=3)))
    np.testing.assert_allclose(result.x, run_through(Run(configure("poisson5", n=7))).x, atol=1e-9)
    with pytest.raises(InputError, match="block-ic needs 8 planes on a rank, and 7 planes on 2 ranks leave 3"):
        check_ranks(configure("two-layer", n=7, preconditioner="block-ic:8", ranks=2))
    with pytest.raises(InputError, match="8 planes on 3 ranks leave 2; use at most 2 ranks"):
        Run(configure("bubbles-3d", n=8, preconditioner="neumann:4", ranks=3))


def test_a_matrix_in_memory_is_shared_by_its_rows():
    n = 17
    T = 2 * sparse.eye_array(n) - sparse.eye_array(n, k=1) - sparse.eye_array(n, k=-1)
    A = sparse.csr_array(sparse.kron(T, sparse.eye_array(n)) + sparse.kron(sparse.eye_array(n), T))
    B = np.random.default_rng(1).random((n * n, 3))
    for b, choices in ((B[:, 0], {"M": "neumann:2", "deflation": "blocks:4"}), (B, {"M": "jacobi"})):
        alone, shared = (solve(A, b, rtol=1e-9, ranks=ranks, **choices) for ranks in (1, 2))
        assert abs(alone.iterations - shared.iterations) <= 1
        np.testing.assert_allclose(shared.x, alone.x, atol=1e-8 * abs(alone.x).max())
    with pytest.raises(InputError, match="preconditioner given does not run on ranks; use"):
        solve(A, B[:, 0], M=lambda r: r, ranks=2)
