"""A dry run records the same events as a traced run, and its modelled times agree with calculations by hand."""

from __future__ import annotations

import dataclasses

import pytest

from workbench.devices.dry_run import Cut, Sizes, cut_for_share
from workbench.errors import InputError
from workbench.extensions.models.schedules import box_cut, dry_run, per_iteration
from workbench.machines.profile import Number, Profile
from workbench.machines.retime import retime
from workbench.operators.box_stencil import box_nnz
from workbench.run import Run, Stopping, configure, run_through

N = 8
SIZE, ENTRIES = N**3, box_nnz((N, N, N), 2)
SIZES = Sizes(SIZE, ENTRIES, constant_diagonal=True)


def traced(spec, device, problem="poisson125", **parameters):
    stopping = Stopping(rtol=1e-10, maxiter=6)
    configuration = configure(problem, solver=spec, device=device, rhs="random", stopping=stopping, **parameters)
    return run_through(Run(configuration, trace=True)).trace


def events_and_bytes(trace, iteration):
    """The events of an iteration without their bytes, and their bytes; the driver's reads of scalars are skipped."""
    events = list(trace)

    def identity(event):
        return (event.name, event.lane, event.iteration)

    found = sorted(
        (*identity(event), event.flops, sorted(identity(events[index]) for index in event.after), event.bytes)
        for event in events
        if event.iteration == iteration and (event.name, event.bytes) != ("scalars", 0)
    )
    return [event[:-1] for event in found], [event[-1] for event in found]


def assert_same_events(made, real, layout=None):
    """Compare two traces; a tiled matrix on a GPU also stores tile bounds, so its bytes differ a little."""
    tolerance = 0 if layout is None or layout.chunked else 2e-3
    for iteration in (1, 2, 3):
        events, moved = events_and_bytes(made, iteration)
        real_events, real_moved = events_and_bytes(real, iteration)
        assert events == real_events
        assert moved == pytest.approx(real_moved, rel=tolerance, abs=0)


@pytest.mark.parametrize("spec", ["cg", "pipecg"])
def test_events_on_the_cores(spec):
    assert_same_events(dry_run(spec, SIZES, "cores").trace, traced(spec, "cpu", n=N))


@pytest.mark.parametrize("spec", ["cg", "pipecg", "hybrid1", "hybrid2", "hybrid1:fused=no", "hybrid2:merged=no"])
def test_events_on_an_accelerator(accelerator, spec):
    assert_same_events(dry_run(spec, SIZES).trace, traced(spec, accelerator.spec, n=N), accelerator.layout)


@pytest.mark.parametrize("more", ["", ",halves=no", ",fused=no,merged=no"])
def test_events_with_rows_on_both_sides(accelerator, more):
    cut = box_cut(N, planes=3)
    # Between the entries of the first three planes and those of one row more.
    share = 1 - (cut.entries + 1) / ENTRIES
    real = traced(f"hybrid3:share={share!r}{more}", accelerator.spec, n=N)
    assert_same_events(dry_run(f"hybrid3:share={share!r}{more}", SIZES, cut=cut).trace, real)


def test_events_with_a_varying_diagonal(accelerator):
    real = traced("hybrid2", accelerator.spec, "stand-in", of="gyro", scale=0.05)
    operator = configure("stand-in", of="gyro", scale=0.05).problem.assemble().operator
    assert_same_events(dry_run("hybrid2", Sizes(operator.shape[0], operator.nnz)).trace, real, accelerator.layout)


def numbers(**values):
    return {name: Number(value, "measured", "made up for a test") for name, value in values.items()}


CORES = Profile("cores", "cores", "cpu", **numbers(bandwidth_measured=1e9, launch_latency=1e-3))
GPU = Profile(
    "gpu",
    "gpu",
    "gpu",
    **numbers(
        bandwidth_measured=1e10,
        launch_latency=2e-3,
        to_host_bandwidth=1e8,
        to_host_latency=5e-3,
        to_device_bandwidth=2e8,
        to_device_latency=4e-3,
    ),
)
BIG = Sizes(10**6, 5 * 10**7)


def modelled(spec, machine=(CORES, GPU), sizes=BIG, **more):
    return per_iteration(retime(dry_run(spec, sizes, **more).trace, *machine))


def test_the_time_of_cg_by_hand():
    # The product 12 nnz + 4 (N + 1) + 16 N, r, s, 1/D read and r written, then those and x, p: 10 words.
    moved = 600e6 + 4e6 + 4 + 16e6 + 10 * 8e6
    assert modelled("cg", on="cores") == pytest.approx(moved / 1e9 + 3e-3, rel=1e-12)
    assert modelled("cg") == pytest.approx(moved / 1e10 + 6e-3, rel=1e-12)


def test_hybrid_3_on_two_equal_sides_takes_half_of_one():
    free = numbers(to_host_bandwidth=1e15, to_host_latency=1e-12, to_device_bandwidth=1e15, to_device_latency=1e-12)
    even = dataclasses.replace(GPU, **numbers(bandwidth_measured=1e9, launch_latency=1e-9), **free)
    cores = dataclasses.replace(CORES, **numbers(launch_latency=1e-9))
    cut = Cut(rows=BIG.size // 2, entries=BIG.entries // 2, coupled=0, border=1)
    # Each half: 12 bytes an entry, pointers and v of the two blocks, 14 and 8 words of the passes.
    half = 12 * 25e6 + 2 * 2 * 12 * 5e5 + (14 + 8) * 8 * 5e5
    assert modelled("hybrid3", (cores, even), cut=cut) == pytest.approx(half / 1e9, rel=1e-3)


def test_dry_runs_are_labelled_and_have_no_times():
    made = dry_run("hybrid1", BIG).trace
    assert made.label == "dry run"
    assert made.seconds == 0
    assert "nothing was computed" in made.machine
    assert retime(made, CORES, GPU).label == "modelled"
    assert any("no times" in note for note in retime(made, CORES, GPU).notes)
    assert not any("bytes unknown" in note for note in retime(made, CORES, GPU).notes)


def test_device_bytes_are_those_of_matrix_and_vectors():
    matrix = 12 * BIG.entries + 4 * (BIG.size + 1)
    # b, x, r, p, s, 1/D and the driver's residual.
    assert dry_run("cg", BIG).device_bytes == matrix + 7 * 8 * BIG.size
    assert dry_run("cg", BIG, "cores").device_bytes == 0


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: Sizes(1, 1), "at least 2 unknowns, got 1"),
        (lambda: Sizes(10, 9), "at least 10 entries, one a row, got 9"),
        (lambda: dry_run("hybrid", BIG), "chooses among schedules"),
        (lambda: dry_run("hybrid3", BIG), "pass a cut"),
        (lambda: dry_run("hybrid3", BIG, cut=Cut(0, 0, 0, 0)), "rows on both sides, got 0 of 1000000"),
        (lambda: dry_run("cg", BIG, "gpu"), "unknown side 'gpu'"),
        (lambda: dry_run("cg", BIG, iterations=0), "a dry run needs at least 1 iteration, got 0"),
        (lambda: cut_for_share(BIG, 1.0), "without a row"),
        (lambda: box_cut(8, 1), "at least two on either side, got 1"),
    ],
)
def test_invalid_dry_runs_are_refused(act, message):
    with pytest.raises(InputError, match=message):
        act()


def test_the_default_cut_is_that_of_a_box_stencil_on_a_cube():
    n = 200
    sizes = Sizes(n**3, box_nnz((n, n, n), 2))
    exact, guessed = box_cut(n, 50), cut_for_share(sizes, 0.75)
    assert guessed.rows == exact.rows
    assert guessed.entries == pytest.approx(exact.entries, rel=0.02)
    assert guessed.coupled == pytest.approx(exact.coupled, rel=0.02)
    assert guessed.border == pytest.approx(exact.border, rel=0.02)
