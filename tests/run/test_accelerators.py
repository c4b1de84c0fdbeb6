"""How the driver looks at an accelerator: now and then, and yet every iteration is there and none too many is made."""

from __future__ import annotations

import gc
import math

import numpy as np
import pytest

from tests.conftest import SIDE_BY_SIDE, grid_stencil, random_matrix
from tests.run.conftest import run_of
from workbench import devices
from workbench.devices.accelerator.runtime import Vector
from workbench.run import Reason, Run, Stopping, configure, run_through, solve
from workbench.run.loop.single import check_interval


@pytest.fixture(scope="module")
def system():
    operator = grid_stencil((19, 23))
    return operator, np.random.default_rng(0).random(operator.shape[0])


@pytest.mark.parametrize("every", [1, 3, 16, 1000])
def test_the_history_does_not_depend_on_how_often_the_host_looks(accelerator, system, every):
    expected = run_through(run_of(*system, rtol=1e-9))
    found = run_through(run_of(*system, device=accelerator.spec, rtol=1e-9, check_every=every))
    assert found.iterations == expected.iterations
    for column in ("residual", "preconditioned", "natural", "alpha", "beta"):
        np.testing.assert_allclose(found.history[column], expected.history[column], rtol=1e-6)
    assert np.all(np.diff(found.history["seconds"]) >= 0)
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-10)


def test_one_step_can_be_asked_for(accelerator, system, monkeypatch):
    # However slow the machine is at the moment.
    monkeypatch.setattr(check_interval, "LONGEST_SECONDS", math.inf)
    run = run_of(*system, device=accelerator.spec, rtol=1e-9)
    for count in range(1, 6):
        assert run.step(1)
        assert run.history.count == count
    assert run.step()
    # Several again, of which those that take as long as a check are the least.
    assert 5 + 1 < run.history.count <= 5 + accelerator.check_every


@pytest.mark.parametrize("norm", ["preconditioned", "natural", "error"])
def test_every_norm(accelerator, norm):
    choices = {"n": 15, "rhs": "ones-scaled", "stopping": Stopping(rtol=1e-8, norm=norm)}
    expected, found = (run_through(Run(configure("poisson5", device=d, **choices))) for d in ("cpu", accelerator.spec))
    assert found.converged
    assert abs(found.iterations - expected.iterations) <= 1
    np.testing.assert_allclose(found.history[norm][:10], expected.history[norm][:10], rtol=1e-6)


@pytest.mark.parametrize("solver", ["cg", "pipecg", "pipe-pr-cg", "cg3", "lanczos-cg"])
def test_a_breakdown_leaves_the_last_good_x(accelerator, solver):
    operator = random_matrix(60, seed=2).csr.toarray()
    operator[0, 59] = operator[59, 0] = 1e4
    b = np.ones(60)
    expected, found = (solve(operator, b, device=name, rtol=1e-12, solver=solver) for name in ("cpu", accelerator.spec))
    assert expected.reason is found.reason is Reason.INDEFINITE
    assert expected.iterations == found.iterations
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-8)


def test_a_tolerance_out_of_reach_restarts_and_ends_with_a_reason(accelerator, system):
    found = run_through(run_of(*system, device=accelerator.spec, rtol=1e-17, stagnation=100))
    assert not found.converged
    assert found.reason in (Reason.INACCURATE, Reason.STAGNATED, Reason.MAXITER)


def test_the_notes_say_which_device_it_was(accelerator, system):
    found = run_through(run_of(*system, device=accelerator.spec))
    assert any(accelerator.runtime.title in note for note in found.provenance["notes"])


def test_memory_is_freed(accelerator):
    def used():
        return sum(made.nbytes for made in gc.get_objects() if isinstance(made, Vector))

    counts = []
    gc.disable()
    try:
        for _ in range(4):
            for n in (16, 23):
                run_through(Run(configure("two-layer", n=n, deflation="blocks:4", device=accelerator.spec)))
            counts.append(used())
    finally:
        gc.enable()
    assert counts[-1] <= counts[0]


@pytest.mark.parametrize("accelerator", [SIDE_BY_SIDE, "cuda"], indirect=True)
def test_recorded_launches_give_the_same(accelerator, system, monkeypatch):
    runtime, recorded = accelerator.runtime, []
    real = {name: getattr(runtime, name) for name in ("record", "repeated")}

    def counted(name):
        return lambda *given: recorded.append(name) or real[name](*given)

    levels = ({}, {"deflation": "blocks:2", "variant": "bnn"}, {"M": "neumann:2"}, {"M": "chebyshev"})
    for choices in (*levels, {"solver": "pipecg"}, {"solver": "pipe-pr-cg", "M": "neumann:2"}, {"solver": "pipecg-rr"}):
        for name in real:
            monkeypatch.setattr(runtime, name, lambda *_: None)
        expected = solve(*system, rtol=1e-9, device=accelerator.spec, **choices)
        for name in real:
            monkeypatch.setattr(runtime, name, counted(name))
        found = solve(*system, rtol=1e-9, device=accelerator.spec, **choices)
        np.testing.assert_array_equal(found.x, expected.x)
        assert found.iterations == expected.iterations
    # The launches of one iteration, and where a run lasts long enough those of all until the next look.
    assert set(recorded) == set(real)


def test_the_fastest_device_is_one_of_this_machine():
    from workbench.devices import fastest

    assert devices.device(fastest.fastest()) is devices.device("auto")
