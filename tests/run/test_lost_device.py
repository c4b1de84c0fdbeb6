"""A device that fails during a run ends it with a reason, and the run's memory there is released."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from tests.waiting import LIMIT
from workbench import devices
from workbench.devices.accelerator.device import Accelerator
from workbench.devices.accelerator.runtime import Vector
from workbench.errors import DeviceError
from workbench.run import Reason, Run, Session, configure, run_through

NAME = "opencl:failing"


class Failing:
    """A runtime that answers so many launches and then none."""

    def __init__(self, runtime):
        self._runtime, self.left = runtime, 10**9

    def __getattr__(self, name):
        return getattr(self._runtime, name)

    def launch(self, *given, spread=False):
        self.left -= 1
        if self.left < 0:
            raise DeviceError("device stub does not answer (the plug was pulled); restart Python")
        self._runtime.launch(*given, spread=spread)

    def record(self, work):
        """One by one, so that each is counted."""

    def repeated(self, work, times, scalars):
        """The same."""

    def download(self, *given):
        if self.left < 0:
            raise DeviceError("device stub does not answer (the plug was pulled); restart Python")
        self._runtime.download(*given)


@pytest.fixture
def failing(accelerator):
    runtime = Failing(accelerator.runtime)
    devices.made[NAME] = Accelerator(runtime)
    yield runtime
    devices.made.pop(NAME, None)


def held():
    gc.collect()
    return sum(made.nbytes for made in gc.get_objects() if isinstance(made, Vector))


PLAIN = [(spec, False) for spec in ("cg", "pipecg", "block-cg", "hybrid1", "hybrid2", "hybrid3:share=0.5")]


@pytest.mark.parametrize(("spec", "trace"), [*PLAIN, ("cg", True), ("hybrid1", True)])
def test_the_run_ends_and_keeps_its_history(failing, spec, trace):
    before = held()
    rhs = "random:3" if spec == "block-cg" else "random"
    run = Run(configure("poisson7", n=10, rhs=rhs, solver=spec, device=NAME), trace=trace)
    for _ in range(4):
        run.step(1)
    assert run.history.count == 4
    failing.left = 3
    assert not run.step(1)
    assert run.reason is Reason.DEVICE_LOST
    assert "the plug was pulled" in run.detail
    result = run.result()
    assert not result.converged
    assert result.history.count == 4
    assert np.isfinite(result.history["residual"]).all()
    assert np.isnan(result.x).all()
    assert np.isnan(result.true_relative_residual)
    assert "a device or a process of the run failed" in result.summary["reason"]
    assert not run.step()
    # Only the run's own operators are the cores' now; the device itself keeps a few sums.
    del result
    assert held() - before < 1000 * 8
    assert NAME not in devices.made


def test_the_device_is_made_anew(accelerator, failing):
    run = Run(configure("poisson7", n=8, solver="hybrid1", device=NAME))
    failing.left = 0
    assert not run.step()
    devices.made[NAME] = Accelerator(accelerator.runtime)
    assert run_through(Run(configure("poisson7", n=8, solver="hybrid1", device=NAME))).converged


def test_a_session_ends_with_the_reason(failing):
    session = Session(configure("poisson7", n=10, rhs="random", solver="hybrid2", device=NAME))
    session.start(paused=True)
    while session.run is None:
        session.join(0.01)
    failing.left = 20
    session.resume()
    assert session.wait(LIMIT).reason is Reason.DEVICE_LOST
