"""Tracing a run: a clock of the device times the steps of its programs and the parts of its operators."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Generator

from workbench.devices.clock import Clock, HasParts
from workbench.machines.describe import machine_line
from workbench.records import Trace
from workbench.run.setup.solve_setup import SolveSetup


def start_trace(setup: SolveSetup) -> tuple[Trace, Clock]:
    """An empty trace, and the clock that records into it while it is `noting`.

    Workspaces time the steps of their programs with the clock. Applications of A outside of programs, and the parts of
    deflation, two-level preconditioner and multigrid, are recorded by timed wrappers of those objects' methods.
    """
    trace = Trace(machine=machine_line())
    clock = setup.device.clock(trace)
    product = setup.solver.product_label
    _time(clock, setup.bound, "apply", product, setup.bound.traffic, setup.bound.flops)
    first_level = setup.first_level if setup.first_level is not setup.M else None
    for owner in (setup.projection, setup.M, first_level):
        if isinstance(owner, HasParts):
            for part, method, name, *work in owner.parts():
                _time(clock, part, method, re.sub("^A(?=,)", product, name), *work)
    clock.noting = False
    if setup.workers:
        trace.notes += setup.workers.start_lanes(clock, trace)
    return trace, clock


def resolve(clock: Clock, setup: SolveSetup) -> None:
    """Complete the trace with what the device and the workers of a cluster have done."""
    clock.resolve()
    if setup.workers:
        setup.workers.resolve()


@contextlib.contextmanager
def noting(clock: Clock | None) -> Generator[None]:
    """Record the kernels that run in this context; only these belong to the trace of the solve.

    Snapshots, the report of a result and `Run.x` apply the same operators, during a run and after its end, and must not
    be recorded.
    """
    if clock is None:
        yield
        return
    clock.noting = True
    try:
        yield
    finally:
        clock.noting = False


def _time(clock: Clock, owner: object, method: str, name: str, traffic: int, flops: int) -> None:
    setattr(owner, method, clock.timed(getattr(owner, method), name, lambda: (traffic, flops)))
