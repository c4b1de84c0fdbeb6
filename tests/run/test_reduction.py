"""Partial sums added on the host: the iterations of the default, and copies that a trace shows."""

from __future__ import annotations

import json

import numpy as np
import pytest

from workbench.cli.program import run as command
from workbench.devices.accelerator.block_algebra import ELEMENTS_PER_GROUP
from workbench.devices.clock import ACCELERATOR, CPU, TO_HOST
from workbench.errors import InputError
from workbench.run import Configuration, Run, configure, solve


def finished(reduction, *, trace=False, **choices):
    run = Run(configure(**choices, reduction=reduction), trace=trace)
    while run.step():
        pass
    return run.result()


CASES = [
    {"problem": "bubbles-2d", "n": 47, "deflation": "blocks:3"},
    {"problem": "poisson7", "n": 13, "solver": "pipecg", "preconditioner": "neumann:2"},
    {"problem": "two-layer", "n": 31, "solver": "mpcg", "preconditioner": "neumann:1 + jacobi"},
    {"problem": "bubbles-2d", "n": 47, "rhs": "random:3", "solver": "block-cg"},
    {"problem": "bubbles-2d", "n": 47, "rhs": "random:5", "solver": "pseudo-block-cg"},
]


@pytest.mark.parametrize("choices", CASES, ids=lambda choices: choices.get("solver", "cg"))
def test_iterations_are_those_of_sums_on_the_device(accelerator, choices):
    device, host = (finished(reduction, device=accelerator.spec, **choices) for reduction in ("device", "host"))
    assert (host.iterations, host.reason) == (device.iterations, device.reason)
    np.testing.assert_allclose(host.x, device.x, rtol=0, atol=1e-6 * np.abs(device.x).max())


@pytest.mark.parametrize("choices", [CASES[0], CASES[4]], ids=["cg", "pseudo-block-cg"])
def test_a_trace_shows_the_copies_and_waits(accelerator, choices):
    result = finished("host", device=accelerator.spec, trace=True, **choices)
    events = list(result.trace)
    copies = [event for event in events if event.lane == TO_HOST and event.name.startswith("copy partial sums")]
    added = [event for event in events if event.lane == CPU and event.name.startswith("add partial sums")]
    # Two reductions in an iteration: of delta, and of gamma and norms; one at the start.
    assert len(copies) == len(added) == 2 * result.iterations + 1
    if "rhs" in choices:
        groups = 5 * 47 * 47 // ELEMENTS_PER_GROUP
        assert {event.bytes for event in copies if event.name.endswith(" of delta")} == {8 * groups * 5}
    kernels = [(event.start, event.end) for event in events if event.lane == ACCELERATOR]
    # While the host adds, no kernel runs. The clocks of both agree to some microseconds.
    middles = [(event.start + event.end) / 2 for event in added]
    running = sum(any(start < middle < end for start, end in kernels) for middle in middles)
    assert running <= len(middles) // 4
    assert not any(
        "partial sums" in event.name
        for event in finished("device", device=accelerator.spec, trace=True, **choices).trace
    )


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"device": "cpu"}, "the cores of device cpu share the host's memory; leave out the reduction"),
        ({"device": "opencl", "solver": "hybrid2"}, "solver hybrid2 adds them in its own schedule of both devices"),
        ({"device": "opencl", "reduction": "hots"}, "unknown reduction 'hots'; did you mean host"),
    ],
)
def test_what_does_not_go_together_is_refused(choices, sentence):
    with pytest.raises(InputError, match=sentence):
        Run(configure("poisson5", n=8, **{"reduction": "host", **choices}))


def test_command_line_solve_and_saved_configurations_have_it(capsys):
    arguments = ["solve", "poisson5", "--n", "16", "--device", "opencl", "--reduction", "host", "--json"]
    assert command(arguments) == 0
    assert json.loads(capsys.readouterr().out)["converged"]
    plain = configure("poisson5", reduction="host").to_dict()
    assert Configuration.from_dict(json.loads(json.dumps(plain))).reduction == "host"
    del plain["reduction"]
    assert Configuration.from_dict(plain).reduction == "device"
    assert solve(np.diag([2.0, 3.0, 5.0]), np.ones(3), device="opencl", reduction="host").converged
