"""Tracing a run: a clock of the device is put around its steps, and the parts of its operators are shown apart."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from workbench.deflation.projection import Projection
from workbench.deflation.variants import TwoLevel
from workbench.devices.clock import Clock
from workbench.machine.describe import machine_line
from workbench.recording import Trace
from workbench.run.setup import SolveSetup


def start_trace(setting: SolveSetup) -> tuple[Trace, Clock]:
    """An empty trace, and the clock that fills it with what runs while it is `noting`.

    Workspaces put the clock around the steps of their programs. Products with A outside them, and what a deflation does
    around A and M, are noted by timed methods put in front of those objects' own.
    """
    trace = Trace(machine=machine_line())
    clock = setting.device.clock(trace)
    _time(clock, setting.bound, "apply", "A", setting.bound.traffic, setting.bound.flops)
    for owner in (setting.projection, setting.M):
        if isinstance(owner, (Projection, TwoLevel)):
            for part in owner.parts():
                _time(clock, *part)
    clock.noting = False
    return trace, clock


@contextlib.contextmanager
def noting(clock: Clock | None) -> Iterator[None]:
    """What runs inside is part of the solve and goes into its trace; nothing else ever does.

    Snapshots of vectors, the report of a result and the solution that a caller asks for apply the same operators during
    a run and long after its end. They must not lengthen the trace of the solve.
    """
    if clock is None:
        yield
        return
    clock.noting = True
    try:
        yield
    finally:
        clock.noting = False


def _time(clock: Clock, owner: Any, method: str, name: str, traffic: int, flops: int) -> None:
    setattr(owner, method, clock.timed(getattr(owner, method), name, lambda: (traffic, flops)))
