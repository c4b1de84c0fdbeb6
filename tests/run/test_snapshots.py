"""Looks at a run's vectors: right, between iterations, by the thread that iterates, and free when nobody looks."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from workbench.devices.plane_slice import PlaneSlice
from workbench.run import Quantity, Run, Session, State, Stopping, configure, run_through
from workbench.run.snapshots import UNKNOWN, at_rest

ENDLESS = Stopping(rtol=1e-300, maxiter=10**9, stagnation=10**9)


def looked(run, quantity):
    look = run.looks.ask(quantity, np.array)
    run.serve_snapshots()
    assert look.done
    return look


def stepped(times=8, **choices):
    run = Run(configure("two-layer", n=16, rhs="ones-scaled", **choices))
    for _ in range(times):
        run.step()
    return run


def until(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.005)


def matrix(run):
    return run.setting.operator.to_csr()


@pytest.mark.parametrize("deflation", ["none", "stripes:2"])
@pytest.mark.parametrize("solver", ["cg", "pipecg", "cg3", "gropp", "lanczos-cg"])
def test_what_is_seen_is_the_vector_itself(solver, deflation):
    run = stepped(solver=solver, deflation=deflation)
    x = run.x
    exact = np.full(x.size, 1 / np.sqrt(x.size))
    b = matrix(run) @ exact
    np.testing.assert_array_equal(looked(run, Quantity.SOLUTION).values, x)
    np.testing.assert_allclose(looked(run, Quantity.ERROR).values, exact - x, atol=1e-14)
    residual = looked(run, Quantity.RESIDUAL)
    np.testing.assert_allclose(residual.values, b - matrix(run) @ x, atol=1e-11 * np.linalg.norm(b))
    assert residual.words == ("b − A x computed afresh" if solver == "lanczos-cg" else "r of the recurrence")
    assert residual.iteration == run.iterations == 7


def test_a_run_that_was_not_started_shows_b_less_a_x0():
    run = stepped(0, x0="zero")
    look = looked(run, Quantity.RESIDUAL)
    np.testing.assert_allclose(np.linalg.norm(look.values), run.norm_of_b)
    assert look.words == "b − A x computed afresh"


@pytest.mark.parametrize("deflation", ["none", "stripes:2"])
def test_looking_changes_nothing(deflation):
    plain, watched = (stepped(0, deflation=deflation, solver="pipecg") for _ in range(2))
    while plain.step():
        watched.step()
        for quantity in Quantity:
            looked(watched, quantity)
    watched.step()
    np.testing.assert_array_equal(plain.history["residual"], watched.history["residual"])
    np.testing.assert_array_equal(plain.x, watched.x)
    assert plain.looks.count == 0
    assert plain.looks.seconds == 0.0
    assert watched.looks.seconds > 0


def test_the_error_needs_a_known_solution():
    run = Run(configure("poisson5", n=8))
    run.step()
    look = looked(run, Quantity.ERROR)
    assert look.values is None
    assert look.words == UNKNOWN


def test_a_singular_system_is_seen_with_zero_mean():
    run = Run(configure("bubbles-2d", n=16, sides="neumann", rhs="random"))
    for _ in range(5):
        run.step()
    assert abs(looked(run, Quantity.SOLUTION).values.mean()) < 1e-14


def test_a_mistake_in_a_cut_is_told_and_the_run_goes_on(caplog):
    run = stepped()
    look = run.looks.ask(Quantity.SOLUTION, lambda vector: vector.reshape(3, 3))
    assert run.step()
    assert look.done
    assert look.values is None
    assert "the look failed: cannot reshape" in look.words
    assert "a look at a run failed" in caplog.text


@pytest.mark.parametrize("paused", [False, True])
def test_the_thread_that_iterates_takes_the_look_of_a_session(paused):
    session = Session(configure("poisson5", n=64, stopping=ENDLESS))
    session.start()
    until(lambda: session.run is not None and session.run.iterations > 3)
    if paused:
        session.pause()
        until(lambda: session.state is State.PAUSED)
        time.sleep(0.05)
    names = []
    look = session.run.looks.ask(Quantity.SOLUTION, lambda x: names.append(threading.current_thread().name) or x[:4])
    until(lambda: look.done)
    assert names == ["workbench-solve"]
    assert look.values.shape == (4,)
    session.stop()
    session.wait(30)


@pytest.mark.parametrize("work", [Run.step, Run.result])
def test_a_look_asked_for_while_the_run_is_at_work_is_taken(work):
    """Whoever asks cannot take it then, also not at the very end, where nobody else looks for those that wait."""

    class AskedAtTheEnd:
        look = None

        def __enter__(self):
            lock.acquire()

        def __exit__(self, *_about):
            self.look = run.looks.ask(Quantity.SOLUTION, np.array)
            asker = threading.Thread(target=run.serve_snapshots)
            asker.start()
            asker.join()
            assert not self.look.done
            lock.release()

        def acquire(self, blocking):
            return lock.acquire(blocking)

        def release(self):
            lock.release()

    run = stepped()
    lock, run._at_work = run._at_work, AskedAtTheEnd()
    work(run)
    assert run._at_work.look.done


@pytest.mark.parametrize("singular", [False, True])
def test_a_run_that_has_ended_is_seen_from_its_x(singular):
    configuration = configure("poisson5", n=12, rhs="ones-scaled", stopping=Stopping(rtol=1e-3))
    if singular:
        configuration = configure("bubbles-2d", n=16, sides="neumann", rhs="random", stopping=Stopping(rtol=1e-3))
    run = Run(configuration)
    assert run.setting.singular == singular
    result = run_through(run)
    system = configuration.problem.assemble()
    x, words = at_rest(configuration, system, result.x, Quantity.SOLUTION)
    assert words == ""
    np.testing.assert_array_equal(x, result.x)
    residual, words = at_rest(configuration, system, result.x, Quantity.RESIDUAL)
    assert np.linalg.norm(residual) / run.norm_of_b == pytest.approx(result.true_relative_residual, rel=1e-6)
    assert words == "b − A x computed afresh"
    error, words = at_rest(configuration, system, result.x, Quantity.ERROR)
    if singular:
        assert error is None
        assert words == UNKNOWN
    else:
        np.testing.assert_allclose(error, 1 / 12 - result.x, atol=1e-15)


def test_accelerators_are_looked_at_by_a_copy(accelerator):
    run = stepped(device=accelerator.spec)
    host = stepped()
    while run.iterations < host.iterations:
        run.step(1)
    while host.iterations < run.iterations:
        host.step()
    for quantity in Quantity:
        expected = looked(host, quantity).values
        np.testing.assert_allclose(looked(run, quantity).values, expected, atol=1e-9 * np.abs(expected).max() + 1e-12)


class Narrow:
    """A cut with a plane slice; the whole vector is more than it may be given."""

    plane_slice = PlaneSlice(0, (16, 1), (16, 16), 4, peaks=True)

    def __call__(self, vector):
        raise AssertionError("the whole vector was copied")


@pytest.mark.parametrize("quantity", [Quantity.RESIDUAL, Quantity.SOLUTION, Quantity.ERROR])
def test_an_accelerator_copies_no_more_than_a_plane_slice_shows(accelerator, quantity):
    run = stepped(device=accelerator.spec)
    seen = run.looks.ask(quantity, Narrow())
    run.serve_snapshots()
    np.testing.assert_array_equal(seen.values, Narrow.plane_slice(looked(run, quantity).values))


class Either(Narrow):
    """A plane slice that takes whole vectors as well."""

    def __call__(self, vector):
        return self.plane_slice(vector)


@pytest.mark.parametrize("quantity", [Quantity.RESIDUAL, Quantity.SOLUTION])
@pytest.mark.parametrize("solver", ["hybrid1", "hybrid2", "hybrid3"])
def test_runs_on_two_devices_are_looked_at_through_plane_slices(accelerator, solver, quantity):
    run = stepped(device=accelerator.spec, solver=solver)
    seen = run.looks.ask(quantity, Either())
    run.serve_snapshots()
    np.testing.assert_array_equal(seen.values, Either.plane_slice(looked(run, quantity).values))
