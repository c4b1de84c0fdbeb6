"""Tracing a run: a clock of the device times the steps of its programs and the parts of its operators."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Generator

from workbench.devices.clock import Clock, HasParts, TimedCall
from workbench.machines.describe import machine_line
from workbench.records import Trace
from workbench.run.setup.solve_setup import SolveSetup


def start_trace(setup: SolveSetup) -> tuple[Trace, Clock]:
    """An empty trace, and the clock that records into it while it `is_recording`.

    Workspaces time the steps of their programs with the clock. Applications of A outside of programs, and the parts of
    deflation, two-level preconditioner and multigrid, are recorded by timed wrappers of those objects' methods.
    """
    trace = Trace(machine=machine_line())
    clock = setup.device.clock(trace)
    product = setup.solver.product_label
    _time(clock, TimedCall(setup.bound, "apply", product, setup.bound.traffic, setup.bound.flops))
    first_level = setup.first_level if setup.first_level is not setup.M else None
    for owner in (setup.projection, setup.M, first_level):
        if isinstance(owner, HasParts):
            for call in owner.parts():
                _time(clock, call._replace(name=re.sub("^A(?=,)", product, call.name)))
    clock.is_recording = False
    if setup.workers:
        trace.notes += setup.workers.start_lanes(clock, trace)
    return trace, clock


def resolve(clock: Clock, setup: SolveSetup) -> None:
    """Complete the trace with what the device and the workers of a cluster have done."""
    clock.resolve()
    if setup.workers:
        setup.workers.resolve()


@contextlib.contextmanager
def recording(clock: Clock | None) -> Generator[None]:
    """Record the kernels that run in this context; only these belong to the trace of the solve.

    Snapshots, the report of a result and `Run.x` apply the same operators, during a run and after its end, and must not
    be recorded.
    """
    if clock is None:
        yield
        return
    clock.is_recording = True
    try:
        yield
    finally:
        clock.is_recording = False


def _time(clock: Clock, call: TimedCall) -> None:
    """Replace the method of the object by one that the clock times."""
    untimed = getattr(call.owner, call.method)
    setattr(call.owner, call.method, clock.timed(untimed, call.name, lambda: (call.traffic, call.flops)))
