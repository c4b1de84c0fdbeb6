"""A traced run: the same numbers as an untraced one, and nothing left out or counted twice."""

import numpy as np
import pytest

from tests.waiting import LIMIT
from workbench.deflation.nested import NestedParts
from workbench.devices.cycle_parts import level_of
from workbench.jit.launches import Launches
from workbench.records import kernel_table
from workbench.run import Quantity, Run, Session, Stopping, configure, run_through, solve
from workbench.run.loop.traffic import iteration_bytes

CHOICES = [
    {},
    {"preconditioner": "neumann:2"},
    {"preconditioner": "ssor", "deflation": "stripes"},
    *({"deflation": "blocks:4", "variant": variant} for variant in ("def1", "def2", "a-def1", "a-def2", "bnn", "ad")),
    {"preconditioner": "none", "deflation": "blocks:2", "coarse": "inverse"},
]


@pytest.mark.parametrize("choices", CHOICES, ids=str)
def test_a_traced_run_is_the_same_run(choices):
    configuration = configure("two-layer", n=24, **choices)
    plain = run_through(Run(configuration))
    traced = run_through(Run(configuration, trace=True))
    np.testing.assert_array_equal(traced.history["residual"], plain.history["residual"])
    np.testing.assert_array_equal(traced.x, plain.x)
    assert plain.trace is None
    trace = traced.trace
    assert trace.label == "measured"
    assert trace.machine
    starts, ends = trace.column("start"), trace.column("end")
    assert (starts[1:] >= ends[:-1]).all()
    assert set(trace.column("iteration").tolist()) == set(range(traced.iterations + 1))
    assert {event.lane for event in trace} == {"cpu"}


def test_bytes_are_those_of_the_compiled_lines():
    run = Run(configure("poisson5", n=32, rhs="random"), trace=True)
    (_, iterate) = run.workspace.lines(run.configuration.solver.start, run.configuration.solver.iterate)
    for _ in range(4):
        run.step()
    second = [event for event in run.trace if event.iteration == 2]
    assert sum(event.bytes for event in second) == iterate.bytes
    assert sum(event.flops for event in second) == iterate.flops
    assert [event.name for event in second] == [
        "A p",
        "r = r - alpha*s; u = M(r); gamma = (r, u); uu = (u, u); rr = (r, r)",
        "u = M(r); x = x + alpha*p; p = u + beta*p",
    ]


def test_the_parts_of_a_deflated_product_move_what_the_whole_does():
    run = Run(configure("two-layer", n=32, deflation="stripes"), trace=True)
    for _ in range(3):
        run.step()
    parts = [event for event in run.trace if event.iteration == 1 and event.name in ("A p, Z^T", "AZ")]
    coarse = run.setup.projection.solve_traffic
    assert sum(event.bytes for event in parts) + coarse == run.setup.projection.traffic
    names = [event.name for event in run.trace if event.iteration == 1]
    assert names[:3] == ["A p, Z^T", "E^-1", "AZ"]


@pytest.mark.parametrize("preconditioner", ["none", "jacobi"])
def test_an_element_wise_first_level_is_counted_before_it_is_applied(device, preconditioner):
    choices = {"deflation": "blocks:4", "variant": "a-def2", "device": device.spec}
    run = Run(configure("two-layer", n=16, preconditioner=preconditioner, **choices), trace=True)
    nbytes = iteration_bytes(run.setup)
    run.step(), run.step()
    vector, jacobi = 8 * 16 * 16, preconditioner == "jacobi"
    # M^-1 = I is scaled next to Q.
    events = [event for event in run.trace if event.name == "M"]
    assert events
    assert {(event.bytes, event.flops) for event in events} == {((2 + jacobi) * vector, 16 * 16)}
    assert nbytes == iteration_bytes(run.setup) > 0


def test_untraced_steps_are_bound_without_a_clock():
    run = Run(configure("poisson5", n=8))
    assert run.workspace.clock is None
    (program,) = run.workspace.lines("r = r - s")
    assert all(isinstance(step, Launches) for step in program.runs)


def test_a_trace_is_one_runs_own():
    traced = Run(configure("poisson5", n=8), trace=True)
    other = Run(configure("poisson5", n=8))
    before = len(traced.trace)
    run_through(other)
    assert len(traced.trace) == before


def snapshots(run):
    """Snapshots of all that can be looked at, each of which applies A, E^-1 or both."""
    looks = [run.snapshots.request(quantity, np.array) for quantity in Quantity]
    run.serve_snapshots()
    assert all(look.values is not None for look in looks), [look.words for look in looks]


DEFLATED = {"preconditioner": "neumann:1", "deflation": "stripes", "rhs": "ones-scaled"}


def test_nothing_but_the_solve_is_in_a_trace(device):
    configuration = configure("two-layer", n=24, **DEFLATED, device=device.spec)
    alone = Run(configuration, trace=True)
    while alone.step(1):
        pass
    watched = Run(configuration, trace=True)
    snapshots(watched)
    assert len(watched.trace) == 0
    while watched.step(1):
        before = len(watched.trace)
        snapshots(watched)
        watched.x, watched.result()
        assert len(watched.trace) == before
    before = list(watched.trace)
    snapshots(watched)
    watched.true_residual()
    for _ in range(2):
        watched.x, watched.result()
    assert list(watched.trace) == before
    # Looked at or not, it is the same solve, kernel by kernel.
    assert [event.name for event in before] == [event.name for event in alone.trace]


def test_a_trace_on_an_accelerator_tells_its_kernels(accelerator):
    choices = {"preconditioner": "neumann:2", "deflation": "stripes", "device": accelerator.spec}
    configuration = configure("two-layer", n=33, **choices)
    plain = run_through(Run(configuration))
    traced = run_through(Run(configuration, trace=True))
    assert traced.iterations == plain.iterations
    lanes = {event.lane for event in traced.trace}
    assert {"accelerator", "copy to host"} <= lanes
    kernels = [event for event in traced.trace if event.lane == "accelerator"]
    assert {"A p", "M r", "AZ", "E^-1"} <= {event.name for event in kernels}
    assert all(event.end >= event.start for event in kernels)
    assert max(event.end for event in kernels) <= traced.setup_seconds + traced.iteration_seconds + 60


def test_solve_and_session_trace_too():
    A = np.diag(np.arange(1.0, 40.0))
    result = solve(A, np.ones(39), trace=True)
    assert result.converged
    assert kernel_table(result.trace)[-1]["kernel"] == "(between kernels)"
    session = Session(configure("poisson5", n=8, stopping=Stopping(maxiter=3)), trace=True)
    assert len(session.wait().trace) > 3
    assert session.run.trace is session.result.trace


def test_two_traced_runs_at_once_on_one_device(accelerator):
    configuration = configure("two-layer", n=40, preconditioner="neumann:2", device=accelerator.spec)
    alone = run_through(Run(configuration, trace=True))
    sessions = [Session(configuration, trace=True) for _ in range(2)]
    for session in sessions:
        session.start()
    for session in sessions:
        found = session.wait(LIMIT)
        assert found.iterations == alone.iterations
        assert {kernel.name for kernel in found.trace.kernels} == {kernel.name for kernel in alone.trace.kernels}


LEVELS = {"deflation": "levelset:8", "coarse": "multilevel:bottom=60,cycle=cg", "preconditioner": "jacobi"}
ON_TWO_LEVELS = {
    "reorder, level 0",
    *(f"{work}, level 0" for work in ("smooth", "residual", "flexible CG, product", "flexible CG, step")),
    *("restrict to level 1", "correct from level 1", "coarsest level"),
}


def test_the_cycles_of_a_coarse_solve_are_named_by_level(device):
    configuration = configure("bubbles-2d", n=48, **LEVELS, device=device.spec)
    run = Run(configuration, trace=True)
    assert len(NestedParts.of(run.setup.projection.levels).sizes) == 2
    for _ in range(3):
        run.step()
    mine = [event for event in run.trace if level_of(event.name)]
    cores = device.name == "cpu"
    # Accelerators correct, restrict and begin a second cycle in passes of other names.
    assert {event.name for event in mine} == ON_TWO_LEVELS - (set() if cores else {"correct from level 1"})
    assert {event.lane for event in mine} == {"cpu" if cores else "accelerator"}
    assert all(event.bytes > 0 for event in mine)
    assert "E^-1" not in {event.name for event in run.trace}
    # Two V-cycles a solve, each with two smoothing steps, two residuals and one solve with the last level.
    smoothed, residuals, steps = (4, 4, 3) if cores else (3, 2, 2)
    calls = {row["kernel"]: row["calls"] for row in kernel_table(run.trace)}
    solves = calls["coarsest level"] // 2
    assert calls["smooth, level 0"] == smoothed * solves
    assert calls["residual, level 0"] == residuals * solves
    assert calls["flexible CG, step, level 0"] == steps * solves


def test_an_untraced_run_calls_the_operations_of_levels_as_they_are():
    run = Run(configure("bubbles-2d", n=48, **LEVELS))
    for owner, method, *_ in run.setup.projection.parts():
        assert method not in vars(owner) or method == "_bottom"
