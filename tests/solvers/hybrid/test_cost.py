"""The cost of a schedule: words counted by hand, seconds computed by hand, and the bytes of real traced runs."""

from __future__ import annotations

import dataclasses

import pytest

from workbench.devices.dry_run import Cut, Sizes
from workbench.devices.dry_run.sizes import blocks
from workbench.devices.pair import Rates
from workbench.extensions.models.schedules import box_cut
from workbench.operators.box_stencil import box_nnz
from workbench.run import Run, Stopping, configure, run_through
from workbench.solvers.hybrid.auto import event_bytes, iteration_seconds, scheduled_events
from workbench.solvers.hybrid.hybrid1 import Hybrid1
from workbench.solvers.hybrid.hybrid2 import Hybrid2
from workbench.solvers.hybrid.hybrid3 import Hybrid3
from workbench.solvers.pipecg import PipelinedCG

CPU, ACCELERATOR, TO_DEVICE, TO_HOST = "cpu", "accelerator", "copy to device", "copy to host"


def words(solver, lane, **where):
    """The words of the passes and copies of an iteration on a lane, in order."""
    return [
        event.words
        for event in scheduled_events(solver, **where)
        if event.iteration == 4 and event.lane == lane and event.words
    ]


def test_words_of_pipelined_cg_by_hand():
    # Read: n, z, w, s, m or u, p, x, r and 1/D; written: z, s, p, x, r, w and m. u and q are not stored.
    assert words(PipelinedCG(), ACCELERATOR) == words(PipelinedCG(), CPU, cores=True) == [8 + 7]


def test_words_of_hybrid_1_by_hand():
    # Lines 10 to 17 and 21: n, z, m, q, w, s, u, p, x, r and 1/D read; z, q, s, p, x, r, u, w and m written.
    assert words(Hybrid1(), ACCELERATOR) == [11 + 9]
    # The dot products read w, r and u, which were copied.
    assert words(Hybrid1(), TO_HOST) == [1, 1, 1]
    assert words(Hybrid1(), CPU) == [3]


def test_words_of_hybrid_2_by_hand():
    assert words(Hybrid2(), ACCELERATOR) == [11 + 9]
    assert words(Hybrid2(), TO_HOST) == [1]
    # Lines 11, 12, 15 and 16: q, m, s, w, r, u read, q, s, r, u written. Lines 10, 17, 19 and 21: n, z, w, u and 1/D
    # read, z, w, m written.
    assert words(Hybrid2(), CPU) == [6 + 4, 5 + 3]


def test_words_of_hybrid_3_by_hand():
    # Lines 11 to 16: q, m, s, w, p, u, x, r read, q, s, p, x, r, u written; then as in hybrid 2.
    assert words(Hybrid3(), ACCELERATOR) == words(Hybrid3(), CPU) == [8 + 6, 5 + 3]
    assert words(Hybrid3(), TO_HOST) == words(Hybrid3(), TO_DEVICE) == [1]


def test_one_pass_per_line_moves_more_words():
    assert sum(words(Hybrid1(fused=False), ACCELERATOR)) > 20
    assert sum(words(Hybrid2(merged=False), CPU)) > 18


RATES = Rates(
    cpu_bandwidth=1e9,
    cpu_launch=1e-3,
    accelerator_bandwidth=1e10,
    accelerator_launch=2e-3,
    to_host_bandwidth=1e8,
    to_host_latency=5e-3,
    to_device_bandwidth=2e8,
    to_device_latency=4e-3,
    product_cpu=0.7,
    product_accelerator=0.05,
    basis="made up",
)
SIZES = Sizes(10**6, 5 * 10**7)


def test_seconds_of_pipelined_cg_by_hand():
    assert iteration_seconds(PipelinedCG(), RATES, SIZES, cores=True) == pytest.approx(0.7 + 15 * 8e6 / 1e9 + 1e-3)
    # Launches: scalars before the pass, the pass, its sums, the product.
    one_by_one = 0.05 + 15 * 8e6 / 1e10 + 4 * 2e-3
    assert iteration_seconds(PipelinedCG(), RATES, SIZES) == pytest.approx(one_by_one)
    recorded = dataclasses.replace(RATES, repeated=True)
    assert iteration_seconds(PipelinedCG(), recorded, SIZES) == pytest.approx(one_by_one - 3 * 2e-3)


def test_seconds_of_hybrid_1_by_hand():
    # alpha and beta are set by a launch each; three copies, and the dot products, take longer than the product.
    updates, copies, dots = 20 * 8e6 / 1e10 + 3 * 2e-3, 3 * (8e6 / 1e8 + 5e-3), 3 * 8e6 / 1e9 + 1e-3
    assert iteration_seconds(Hybrid1(), RATES, SIZES) == pytest.approx(updates + copies + dots)


def test_seconds_of_hybrid_2_by_hand():
    # The copy of n is longer than the updates that hide it and than all work on the accelerator.
    assert iteration_seconds(Hybrid2(), RATES, SIZES) == pytest.approx(8e6 / 1e8 + 5e-3 + 8 * 8e6 / 1e9 + 1e-3)


def test_seconds_of_hybrid_3_by_hand():
    fast = dataclasses.replace(RATES, to_host_bandwidth=1e15, to_host_latency=0.0, to_device_bandwidth=1e15)
    even = dataclasses.replace(
        fast, product_cpu=0.1, product_accelerator=0.1, accelerator_launch=0.0, to_device_latency=0.0, assembled=1.5
    )
    # The cores are the slower side; each side has half of the rows and the bytes of both blocks. A plane of 100^2 cells
    # couples rows on either side; the row pointers and both vectors of a block are counted for each.
    half = SIZES.size // 2
    remote = round((50 ** (2 / 3) - 1) / 8 / (50 ** (1 / 3) * 100) * SIZES.entries)
    moved = 12 * SIZES.entries // 2 + 2 * 2 * 12 * half + 8 * min(remote, half)
    product = 0.1 * 1.5 * moved / SIZES.product_bytes
    passes = (14 + 8) * 8 * half / 1e9 + 2e-3
    assert iteration_seconds(Hybrid3(), even, SIZES) == pytest.approx(product + passes, rel=1e-6)


def test_the_dry_run_of_a_schedule_is_done_once():
    scheduled_events.cache_clear()
    for size in (10, 10**4, 10**8):
        iteration_seconds(Hybrid2(), RATES, Sizes(size, 7 * size))
    assert scheduled_events.cache_info().misses == 1


@pytest.mark.parametrize("solver", [PipelinedCG(), Hybrid1(), Hybrid2(), Hybrid3()])
def test_systems_of_a_few_unknowns_have_a_cost(solver):
    assert iteration_seconds(solver, RATES, Sizes(2, 2)) > 0


def test_extreme_speeds_leave_both_sides_a_row():
    for slow in (1e9, 1e-9):
        rates = dataclasses.replace(RATES, product_cpu=slow)
        assert iteration_seconds(Hybrid3(), rates, SIZES) > 0


N = 8
ENTRIES = box_nnz((N, N, N), 2)


def traced(spec, device, problem="stand-in", **parameters):
    stopping = Stopping(rtol=1e-10, maxiter=6)
    configuration = configure(problem, solver=spec, device=device, rhs="random", stopping=stopping, **parameters)
    trace = run_through(Run(configuration, trace=True)).trace
    return list(trace)


def assert_same_bytes(solver, events, sizes, layout, cut=None, **where):
    """Every kernel and copy of iterations 2 and 3 moves as many bytes as its event says, with the same dependencies."""
    for iteration in (2, 3):
        made = sorted(
            (event.name, event.lane, event_bytes(event, sizes, cut), len(event.after))
            for event in scheduled_events(solver, **where)
            if event.iteration == iteration and event.name != "scalars"
        )
        real = sorted(
            (event.name, event.lane, event.bytes, len(event.after))
            for event in events
            if event.iteration == iteration and event.name != "scalars"
        )
        # A tiled matrix on a GPU also stores tile bounds.
        if not layout.chunked:
            made, real = ([(*row[:2], row[3]) for row in rows if row[0] != "A m"] for rows in (made, real))
        assert made == real


def gyro():
    operator = configure("stand-in", of="gyro", scale=0.05).problem.assemble().operator
    return Sizes(operator.shape[0], operator.nnz or 0)


@pytest.mark.parametrize("solver", [PipelinedCG(), Hybrid1(), Hybrid2(), Hybrid1(fused=False), Hybrid2(merged=False)])
def test_bytes_are_those_of_a_traced_run(accelerator, solver):
    spec = solver.spec if solver.needs_accelerator else solver.name
    events = traced(spec, accelerator.spec, of="gyro", scale=0.05)
    assert_same_bytes(solver, events, gyro(), accelerator.layout)


def test_bytes_of_pipelined_cg_are_those_of_a_traced_run_on_the_cores(accelerator):
    events = traced("pipecg", "cpu", of="gyro", scale=0.05)
    assert_same_bytes(PipelinedCG(), events, gyro(), accelerator.layout, cores=True)


def test_bytes_of_split_rows_are_those_of_a_traced_run(accelerator):
    cut = box_cut(N, planes=3)
    solver = Hybrid3(share=1 - (cut.entries + 1) / ENTRIES)
    events = traced(f"hybrid3:share={solver.share!r}", accelerator.spec, "poisson125", n=N)
    sizes = Sizes(N**3, ENTRIES)
    made = {
        (event.name, event.lane): event_bytes(event, sizes, cut)
        for event in scheduled_events(solver)
        if event.iteration == 2 and event.name != "scalars"
    }
    real = {
        (event.name, event.lane): event.bytes
        for event in events
        if event.iteration == 2 and event.name != "scalars" and event.bytes
    }
    # This matrix has a constant diagonal, which is not read: a word less where M is applied.
    for lane, rows in ((CPU, cut.rows), (ACCELERATOR, sizes.size - cut.rows)):
        (applied,) = [key for key in real if key[1] == lane and "m = M(w)" in key[0]]
        real[applied] += 8 * rows
    assert {key: nbytes for key, nbytes in made.items() if nbytes} == real


def test_blocks_have_the_bytes_of_the_matrix():
    near, far = blocks(SIZES, Cut(400_000, 20_000_000, 1_000_000, 1))
    assert [block.entries for block in (*near, *far)] == [19_000_000, 1_000_000, 29_000_000, 1_000_000]
    # Values and indices, two pointers and two vector elements per row, and the ghosts of a remote block.
    assert near[1].nbytes == 12 * 10**6 + 24 * 400_000 + 8 * 600_000
    assert far[0].nbytes == 12 * 29_000_000 + 24 * 600_000


@pytest.mark.parametrize("solver", [PipelinedCG(), Hybrid1(), Hybrid2(), Hybrid3(share=0.5)])
def test_launches_are_those_of_a_real_run(accelerator, monkeypatch, solver):
    runtime, count, found = type(accelerator.runtime), 0, {}
    launch, timed = runtime.launch, runtime.timed

    def counted(self, *arguments, **options):
        nonlocal count
        count += 1
        return launch(self, *arguments, **options)

    def noted(self, work, name):
        before = count
        returned = timed(self, work, name)
        if count > before:
            found[name] = count - before
        return returned

    monkeypatch.setattr(runtime, "launch", counted)
    monkeypatch.setattr(runtime, "timed", noted)
    traced(solver.spec if solver.needs_accelerator else "pipecg", accelerator.spec, of="gyro", scale=0.05)
    made = {event.name: event.launches for event in scheduled_events(solver) if event.iteration >= 2 and event.launches}
    assert made == {name: found[name] for name in made}
