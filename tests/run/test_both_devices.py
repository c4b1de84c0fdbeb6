"""One configuration on the cores and on the accelerator: one by one where that is the processor, else at once."""

import pytest

from tests.conftest import SIDE_BY_SIDE, side_by_side
from tests.run.conftest import ENDLESS, iterating
from tests.waiting import LIMIT
from workbench import devices
from workbench.devices import default_accelerator
from workbench.errors import InputError
from workbench.run import RunQueue, State, configure, on_both
from workbench.run.jobs.both_devices import AT_ONCE, ONE_BY_ONE

pytest.importorskip("pyopencl")


@pytest.fixture
def both():
    made = []

    def begun(device, queue):
        configuration = configure("poisson5", n=257, solver="sd", device=device, stopping=ENDLESS)
        made.append(on_both(configuration, queue=queue))
        made[-1].start()
        return made[-1]

    yield begun
    for each in made:
        for run in each.runs:
            run.stop()
            run.join(LIMIT)


def test_with_the_processor_as_accelerator_they_run_one_after_the_other(both):
    queue = RunQueue()
    made = both("opencl", queue)
    cores, accelerator = made.runs
    assert made.sentence == ONE_BY_ONE
    assert [run.configuration.device for run in made.runs] == ["cpu", "opencl"]
    iterating(cores)
    assert (accelerator.state, accelerator.run) == (State.QUEUED, None)
    cores.stop()
    iterating(accelerator)
    assert {kernel.lane for kernel in cores.run.trace.kernels} == {"cpu"}
    assert "accelerator" in {kernel.lane for kernel in accelerator.run.trace.kernels}


def test_with_an_accelerator_of_its_own_they_run_at_once_and_what_follows_waits_for_both(both, monkeypatch):
    # It counts as a GPU.
    monkeypatch.setitem(devices.made, SIDE_BY_SIDE, side_by_side())
    queue = RunQueue()
    made, later = both(SIDE_BY_SIDE, queue), both("opencl", queue)
    assert made.sentence == AT_ONCE
    iterating(*made.runs)
    for run in made.runs:
        iterating(run, beyond=run.run.iterations)
    assert [run.state for run in made.runs] == [State.RUNNING] * 2
    assert later.runs[0].state is State.QUEUED
    made.runs[0].stop()
    made.runs[0].join(LIMIT)
    assert made.runs[1].state is State.RUNNING
    assert later.runs[0].state is State.QUEUED
    made.runs[1].stop()
    iterating(later.runs[0])


def test_what_one_of_the_devices_rules_out_is_refused_before_anything_runs():
    with pytest.raises(InputError, match="device cpu is the cores alone"):
        on_both(configure("poisson5", n=9, solver="hybrid1", device="opencl"))


def test_without_an_accelerator_it_says_what_to_install():
    with default_accelerator.accelerators_among(()), pytest.raises(InputError, match="install PoCL"):
        on_both(configure("poisson5", n=9))
