"""Snapshots: of the right vectors, between iterations, by the solver thread, and free without requests."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from tests.all_pairs import on_accelerators
from tests.run.conftest import iterating
from tests.waiting import until
from workbench.devices.slices import PlaneSlice, VolumeSlice
from workbench.run import Quantity, Run, State, Stopping, configure, run_through
from workbench.run.results.snapshots import RECOMPUTED, UNKNOWN, of_result


def snapshot_of(run, quantity):
    snapshot = run.snapshots.request(quantity, np.array)
    run.serve_snapshots()
    assert snapshot.done
    return snapshot


def stepped(times=8, **choices):
    run = Run(configure("two-layer", n=16, rhs="ones-scaled", **choices))
    for _ in range(times):
        run.step()
    return run


def matrix(run):
    return run.setup.operator.to_csr()


@pytest.mark.parametrize("deflation", ["none", "stripes:2"])
@pytest.mark.parametrize("solver", ["cg", "pipecg", "cg3", "gropp", "lanczos-cg"])
def test_a_snapshot_is_the_vector_itself(solver, deflation):
    run = stepped(solver=solver, deflation=deflation)
    x = run.x
    exact = np.full(x.size, 1 / np.sqrt(x.size))
    b = matrix(run) @ exact
    np.testing.assert_array_equal(snapshot_of(run, Quantity.SOLUTION).values, x)
    np.testing.assert_allclose(snapshot_of(run, Quantity.ERROR).values, exact - x, atol=1e-14)
    residual = snapshot_of(run, Quantity.RESIDUAL)
    np.testing.assert_allclose(residual.values, b - matrix(run) @ x, atol=1e-11 * np.linalg.norm(b))
    assert residual.words == (RECOMPUTED if solver == "lanczos-cg" else "r of the recurrence")
    assert residual.iteration == run.iterations == 7


def test_a_run_that_was_not_started_shows_b_less_a_x0():
    run = stepped(0, x0="zero")
    snapshot = snapshot_of(run, Quantity.RESIDUAL)
    np.testing.assert_allclose(np.linalg.norm(snapshot.values), run.norm_of_b)
    assert snapshot.words == RECOMPUTED


@pytest.mark.parametrize("deflation", ["none", "stripes:2"])
def test_snapshots_change_nothing(deflation):
    plain, watched = (stepped(0, deflation=deflation, solver="pipecg") for _ in range(2))
    while plain.step():
        watched.step()
        for quantity in Quantity:
            snapshot_of(watched, quantity)
    watched.step()
    np.testing.assert_array_equal(plain.history["residual"], watched.history["residual"])
    np.testing.assert_array_equal(plain.x, watched.x)
    assert plain.snapshots.count == 0
    assert plain.snapshots.seconds == 0.0
    assert watched.snapshots.seconds > 0


def test_the_error_needs_a_known_solution():
    run = Run(configure("poisson5", n=8))
    run.step()
    snapshot = snapshot_of(run, Quantity.ERROR)
    assert snapshot.values is None
    assert snapshot.words == UNKNOWN


def test_a_singular_system_is_shown_with_zero_mean():
    run = Run(configure("bubbles-2d", n=16, sides="neumann", rhs="random"))
    for _ in range(5):
        run.step()
    assert abs(snapshot_of(run, Quantity.SOLUTION).values.mean()) < 1e-14


def test_an_error_in_a_cut_is_reported_and_the_run_continues(caplog):
    run = stepped()
    snapshot = run.snapshots.request(Quantity.SOLUTION, lambda vector: vector.reshape(3, 3))
    assert run.step()
    assert snapshot.done
    assert snapshot.values is None
    assert "the snapshot failed: cannot reshape" in snapshot.words
    assert "a snapshot of a run failed" in caplog.text


@pytest.mark.parametrize("paused", [False, True])
def test_the_solver_thread_takes_the_snapshot_of_a_session(paused, endless):
    session = endless()
    session.start()
    iterating(session)
    if paused:
        session.pause()
        until(lambda: session.state is State.PAUSED)
        time.sleep(0.05)
    names = []
    snapshot = session.run.snapshots.request(
        Quantity.SOLUTION, lambda x: names.append(threading.current_thread().name) or x[:4]
    )
    until(lambda: snapshot.done)
    assert names == ["workbench-solve"]
    assert snapshot.values.shape == (4,)


def test_a_look_returns_what_it_took():
    run = stepped(3)
    look = run.snapshots.look(lambda: run.iterations * 10)
    run.serve_snapshots()
    assert (look.done, look.iteration, look.value, look.words) == (True, 2, 20, "")


def test_a_look_that_fails_does_not_end_the_run(caplog):
    run = stepped(3)
    look = run.snapshots.look(lambda: 1 / 0)
    run.serve_snapshots()
    assert (look.done, look.value, look.words) == (True, None, "the snapshot failed: division by zero")
    assert run.step()


@pytest.mark.parametrize("work", [Run.step, Run.result])
def test_a_request_made_during_a_step_is_served(work, monkeypatch):
    """The requesting thread cannot serve it then, not even at the very end of the step."""
    run, lock, made = None, threading.Lock(), []

    class RequestedAtTheEnd:
        def __init__(self, *_refusal):
            made.append(self)

        def __enter__(self):
            lock.acquire()

        def __exit__(self, *_about):
            self.snapshot = run.snapshots.request(Quantity.SOLUTION, np.array)
            requester = threading.Thread(target=run.serve_snapshots)
            requester.start()
            requester.join()
            assert not self.snapshot.done
            lock.release()

        def acquire(self, *, blocking):
            return lock.acquire(blocking)

        def release(self):
            lock.release()

    monkeypatch.setattr("workbench.run.driver.WorkLock", RequestedAtTheEnd)
    run = Run(configure("two-layer", n=16))
    work(run)
    assert made[0].snapshot.done


@pytest.mark.parametrize("singular", [False, True])
def test_a_run_that_has_ended_is_shown_from_its_x(singular):
    configuration = configure("poisson5", n=12, rhs="ones-scaled", stopping=Stopping(rtol=1e-3))
    if singular:
        configuration = configure("bubbles-2d", n=16, sides="neumann", rhs="random", stopping=Stopping(rtol=1e-3))
    run = Run(configuration)
    assert bool(run.setup.null_space) == singular
    result = run_through(run)
    system = configuration.problem.assemble()
    x, words = of_result(configuration, system, result.x, Quantity.SOLUTION)
    assert words == ""
    np.testing.assert_array_equal(x, result.x)
    residual, words = of_result(configuration, system, result.x, Quantity.RESIDUAL)
    # Of the part of b in the range of A; the result is for the b that was given.
    removed = run.setup.removed
    of_given = np.hypot(np.linalg.norm(residual), removed) / np.hypot(run.norm_of_b, removed)
    assert of_given == pytest.approx(result.true_relative_residual, rel=1e-6)
    assert words == RECOMPUTED
    error, words = of_result(configuration, system, result.x, Quantity.ERROR)
    if singular:
        assert error is None
        assert words == UNKNOWN
    else:
        np.testing.assert_allclose(error, 1 / 12 - result.x, atol=1e-15)


def test_snapshots_of_accelerators_are_copies(accelerator):
    run = stepped(device=accelerator.spec)
    host = stepped()
    while run.iterations < host.iterations:
        run.step(1)
    while host.iterations < run.iterations:
        host.step()
    for quantity in Quantity:
        expected = snapshot_of(host, quantity).values
        np.testing.assert_allclose(
            snapshot_of(run, quantity).values, expected, atol=1e-9 * np.abs(expected).max() + 1e-12
        )


class Narrow:
    """A cut with a plane slice; the whole vector is more than it may be given."""

    plane_slice = PlaneSlice(0, (16, 1), (16, 16), 4, peaks=True)

    def __call__(self, vector):
        raise AssertionError("the whole vector was copied")


class Whole(Narrow):
    """The same for a volume."""

    plane_slice = None
    volume_slice = VolumeSlice((4, 8, 8), 3, peaks=True)


@on_accelerators(cut=[Narrow, Whole], quantity=[Quantity.RESIDUAL, Quantity.SOLUTION, Quantity.ERROR])
def test_an_accelerator_copies_no_more_than_is_seen(accelerator, case):
    cut, quantity = case["cut"](), case["quantity"]
    run = stepped(device=accelerator.spec)
    seen = run.snapshots.request(quantity, cut)
    run.serve_snapshots()
    expected = (cut.plane_slice or cut.volume_slice)(snapshot_of(run, quantity).values)
    np.testing.assert_array_equal(seen.values, expected)


class Either(Narrow):
    """A plane slice that takes whole vectors as well."""

    def __call__(self, vector):
        return self.plane_slice(vector)


@on_accelerators(solver=["hybrid1", "hybrid2", "hybrid3"], quantity=[Quantity.RESIDUAL, Quantity.SOLUTION])
def test_snapshots_of_runs_on_two_devices_through_slices(accelerator, case):
    solver, quantity = case["solver"], case["quantity"]
    run = stepped(device=accelerator.spec, solver=solver)
    seen = run.snapshots.request(quantity, Either())
    run.serve_snapshots()
    np.testing.assert_array_equal(seen.values, Either.plane_slice(snapshot_of(run, quantity).values))
