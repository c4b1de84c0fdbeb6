"""Tracing a run: the device's clock is started and the parts of its operators are shown apart."""

from __future__ import annotations

from typing import Any

from workbench.deflation.projection import Projection
from workbench.deflation.variants import TwoLevel
from workbench.devices.clock import Clock
from workbench.errors import InputError
from workbench.machine.describe import describe_machine
from workbench.recording import Trace
from workbench.run.setting import Setting


def start_trace(setting: Setting) -> tuple[Trace, Clock]:
    """A trace of what runs from now on, and the clock that fills it.

    Steps of programs note themselves (`devices/lines/workspace.py`). Products with A outside them, and what a
    deflation does around A and M, are noted by timed methods put in front of those objects' own. Raises InputError for
    a device without a clock.
    """
    if not hasattr(setting.device, "start_clock"):
        raise InputError(f"device {setting.device.name} brings no clock to trace with; run without a trace, or on cpu")
    about = describe_machine()
    trace = Trace(machine=", ".join([about["cpu"], f"{about['cores_usable']} cores", *about["gpus"]]))
    clock = setting.device.start_clock(trace)
    _time(clock, setting.bound, "apply", "A", setting.bound.traffic, setting.bound.flops)
    for owner in (setting.projection, setting.M):
        if isinstance(owner, (Projection, TwoLevel)):
            for part in owner.parts():
                _time(clock, *part)
    return trace, clock


def _time(clock: Clock, owner: Any, method: str, name: str, traffic: int, flops: int) -> None:
    setattr(owner, method, clock.timed(getattr(owner, method), name, lambda: (traffic, flops)))
