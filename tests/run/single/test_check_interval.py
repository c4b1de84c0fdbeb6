"""How long intervals become, by recorded norms alone; and that no run ends otherwise for it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import grid_stencil
from tests.run.conftest import run_of
from workbench.devices.accelerator.device import CHECK_EVERY, LONGEST_INTERVAL
from workbench.run import Reason, Run, Stopping, configure, run_through
from workbench.run.loop import column_state
from workbench.run.loop.single import recurrence
from workbench.run.loop.single.check_interval import CHECK_SECONDS, GROWTH, SECONDS, next_interval, remaining

NORMS = st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=60).map(np.array)


def falling(rate, count):
    """Norms that lose so many powers of ten an iteration."""
    return 10.0 ** (-rate * np.arange(count))


def interval(norms, target=1e-30, *, before=0, seconds=0.0, **others):
    return next_interval(norms, target, before=before, least=16, most=1024, seconds=seconds, **others)


def test_endless_time_ends_nothing(accelerator):
    endless = Stopping(max_seconds=math.inf)
    assert run_through(Run(configure("poisson5", n=8, device=accelerator.spec, stopping=endless))).converged


def test_batches_grow_while_nothing_is_near():
    lengths, norms = [], np.ones(1)
    for _ in range(6):
        lengths.append(interval(norms, before=lengths[-1] if lengths else 0))
        norms = np.ones(norms.size + lengths[-1])
    assert lengths == [16, 64, 256, 1024, 1024, 1024]


def test_a_batch_reaches_to_where_the_norm_meets_the_target():
    norms = falling(0.01, 301)
    # From 1e-3 to 1e-5 at a hundredth of a power of ten an iteration: 200, in whole sixteens.
    assert remaining(norms, 1e-5, 64) == pytest.approx(200)
    assert interval(norms, 1e-5, before=1024) == 192
    assert interval(norms, 1e-5, before=16) == 64
    assert interval(norms, 1.1e-3 / 1.1, before=1024) == 16


def test_the_fastest_of_the_average_rates_counts():
    """Norms that stood still for long and fall now are near; so are those that fell and hesitate."""
    still_then_fast = np.concatenate([np.ones(1000), falling(0.1, 33)[1:]])
    assert remaining(still_then_fast, 1e-5, 32) == pytest.approx((5 - 3.2) / 0.1, rel=0.05)
    fast_then_still = np.concatenate([falling(0.1, 33), np.full(10, 10**-3.2)])
    assert remaining(fast_then_still, 1e-5, 5) < 40


def test_norms_that_do_not_fall_say_nothing():
    for norms in (np.array([1.0]), np.array([1.0, 2.0, 4.0]), np.array([0.0, 1.0]), np.array([1.0, math.inf])):
        assert remaining(norms, 1e-6, 16) == math.inf
    assert remaining(np.array([1.0, 1e-7]), 1e-6, 16) == 0


def test_a_batch_takes_no_longer_than_it_may():
    norms = np.ones(500)
    assert interval(norms, before=1024, seconds=SECONDS / 200) == 200
    # Those that take longer than a check are made one by one.
    assert interval(norms, before=1024, seconds=1.0) == 1
    assert interval(falling(0.01, 301), 1e-5, before=1024, seconds=CHECK_SECONDS / 3) == 198
    assert interval(norms, before=1024, may_end_in=5) == 5
    assert interval(norms, before=1024, may_end_in=-3) == 1


@given(NORMS, st.floats(1e-12, 1e12), st.integers(0, 1024), st.floats(0, 10), st.integers(-5, 2000))
def test_a_batch_is_always_within_its_bounds(norms, target, before, seconds, may_end_in):
    length = interval(norms, target, before=before, seconds=seconds, may_end_in=may_end_in)
    assert 1 <= length <= 1024
    assert length <= max(16, GROWTH * before)
    assert length <= max(1, may_end_in)


@pytest.fixture(scope="module")
def system():
    operator = grid_stencil((61, 67), shift=1e-4)
    return operator, np.random.default_rng(0).random(operator.shape[0])


def lengths_of(run):
    """The rows of every step of a run."""
    found, before = [], 0
    while run.step():
        found.append(run.history.count - before)
        before = run.history.count
    return [*found, run.history.count - before]


def quick(monkeypatch, run):
    """Iterations that are timed as if a GPU made them, since intervals depend on that."""
    monkeypatch.setattr(recurrence.time, "perf_counter", iter(1e-6 * np.arange(10**7)).__next__)
    return run


def test_a_run_looks_seldom_and_ends_at_the_very_iteration(accelerator, system, monkeypatch):
    plain = run_of(*system, device=accelerator.spec, rtol=1e-10, check_every=1)
    expected = run_through(plain)
    run = quick(monkeypatch, run_of(*system, device=accelerator.spec, rtol=1e-10))
    lengths = lengths_of(run)
    assert run.reason is Reason.CONVERGED
    assert run.iterations == expected.iterations == sum(lengths) - 1
    assert lengths[:3] == [1, CHECK_EVERY, GROWTH * CHECK_EVERY]
    assert max(lengths) <= LONGEST_INTERVAL
    assert len(lengths) < 1 + expected.iterations / CHECK_EVERY / 2
    np.testing.assert_allclose(run.history["residual"], plain.history["residual"], rtol=1e-6)
    np.testing.assert_allclose(run.x, expected.x, rtol=1e-9)


def test_who_says_how_often_to_look_means_it(accelerator, system, monkeypatch):
    lengths = lengths_of(quick(monkeypatch, run_of(*system, device=accelerator.spec, rtol=1e-10, check_every=7)))
    assert lengths[0] == 1
    assert set(lengths[1:-1]) == {7}


def test_stagnation_ends_a_run_at_its_iteration(accelerator, system, monkeypatch):
    run = quick(monkeypatch, run_of(*system, device=accelerator.spec, rtol=1e-300, stagnation=30, maxiter=5000))
    lengths_of(run)
    assert run.reason is Reason.STAGNATED
    assert run.iterations - int(np.argmin(run.history["residual"])) == 31


def test_the_iteration_limit_and_true_residuals_are_kept(accelerator, system, monkeypatch):
    run = quick(monkeypatch, run_of(*system, device=accelerator.spec, rtol=1e-300, maxiter=131, true_every=25))
    lengths_of(run)
    assert (run.reason, run.iterations) == (Reason.MAXITER, 131)
    np.testing.assert_array_equal(run.history.true_residuals[:, 0], [0, 25, 50, 75, 100, 125, 131])


def test_the_time_limit_is_kept(accelerator, system):
    run = run_of(*system, device=accelerator.spec, rtol=1e-300, stagnation=10**6, maxiter=10**6, max_seconds=0.05)
    last = lengths_of(run)[-1]
    assert run.reason is Reason.TIME
    # Under load, the first interval may already be the last.
    before = max(0, run.history.count - last - 2)
    assert run.history["seconds"][before] < 0.05


def test_the_device_stops_at_the_iteration_that_diverges(accelerator, monkeypatch):
    """Not at the end of the interval, whose further rows would say nothing."""
    monkeypatch.setattr(column_state, "DIVERGENCE", 1.5)
    operator = grid_stencil((61, 67), shift=1e-6)
    b = np.zeros(operator.shape[0])
    b[0] = 1.0
    run = run_of(operator, b, device=accelerator.spec, rtol=1e-10, check_every=500)
    run_through(run)
    if run.reason is not Reason.DIVERGED:
        pytest.fail(f"the norm never rose by half: {run.reason}, {run.history['residual'].max()}")
    highest = 1.5 * max(1.0, run.history["residual"][0])
    assert run.history["residual"][-1] > highest
    assert (run.history["residual"][:-1] <= highest).all()
