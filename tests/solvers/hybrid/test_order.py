"""Delayed copies and kernels do not change results bitwise: no read before or after the data is valid."""

from __future__ import annotations

import numpy as np
import pytest

from tests.all_pairs import on_accelerators
from workbench.run import Run, configure, run_through

SCHEDULES = ("hybrid1", "hybrid2", "hybrid3:share=0.4", "hybrid3:share=0.7,halves=no")
JUNK = 1 << 20
"""Elements of a copy that takes longer than an iteration of a small problem."""


def history(accelerator, spec):
    configuration = configure("poisson27", n=9, rhs="random", solver=spec, device=accelerator.spec)
    result = run_through(Run(configuration))
    return result.history["residual"].tolist(), result.x.tolist()


def slow_copies(accelerator, monkeypatch, way):
    """A long copy in front of every copy of one way, in its stream."""
    junk, runtime = accelerator.zeros(JUNK, np.dtype(np.float64)), accelerator.runtime
    host = runtime.pinned(junk.nbytes).view(np.float64)
    stream = type(runtime.stream())
    original, kept = getattr(stream, way), []

    def late(self, one, other, *more):
        # PyOpenCL waits for a copy whose event is dropped.
        kept.append(original(self, *((host, junk.handle) if way == "to_host" else (junk.handle, host))))
        return original(self, one, other, *more)

    monkeypatch.setattr(stream, way, late)


def slow_kernels(accelerator, monkeypatch):
    """A long copy on the device in front of every tenth kernel."""
    runtime = accelerator.runtime
    one, other = (accelerator.zeros(JUNK, np.dtype(np.float64)) for _ in range(2))
    launch, count = runtime.launch, [0]

    def late(*given, **more):
        count[0] += 1
        if count[0] % 10 == 0:
            runtime.copy(one.handle, other.handle, one.nbytes)
        launch(*given, **more)

    monkeypatch.setattr(runtime, "launch", late)


@on_accelerators(late=["to_host", "to_device", "kernels"], spec=SCHEDULES)
def test_delayed_copies_and_kernels_do_not_change_results(accelerator, case, monkeypatch):
    late, spec = case["late"], case["spec"]
    expected = history(accelerator, spec)
    if late == "kernels":
        slow_kernels(accelerator, monkeypatch)
    else:
        slow_copies(accelerator, monkeypatch, late)
    assert history(accelerator, spec) == expected


@pytest.mark.parametrize("spec", ["hybrid1", "hybrid2", "hybrid3:share=0.4"])
def test_a_schedule_without_waits_is_detected(accelerator, monkeypatch, spec):
    """The test above is worth something: without the waits of the cores the numbers are others."""
    from workbench.devices.pair import sides

    expected = history(accelerator, spec)
    slow_copies(accelerator, monkeypatch, "to_host")

    def wait(self, *copies):
        for copy in copies:
            copy.landed()

    monkeypatch.setattr(sides.CpuSide, "wait", wait)
    # Where other work holds up the cores, a copy may still be there in time.
    assert any(history(accelerator, spec) != expected for _ in range(20))
