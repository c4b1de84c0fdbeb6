"""Tracing a run: a clock of the device is put around its steps, and the parts of its operators are shown apart."""

from __future__ import annotations

from typing import Any

from workbench.deflation.projection import Projection
from workbench.deflation.variants import TwoLevel
from workbench.devices.clock import Clock
from workbench.machine.describe import machine_line
from workbench.recording import Trace
from workbench.run.setting import Setting


def start_trace(setting: Setting) -> tuple[Trace, Clock]:
    """A trace of what runs from now on, and the clock that fills it.

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
    return trace, clock


def _time(clock: Clock, owner: Any, method: str, name: str, traffic: int, flops: int) -> None:
    setattr(owner, method, clock.timed(getattr(owner, method), name, lambda: (traffic, flops)))
