"""Jobs in threads: states, cancellation, and what is called at the end."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from tests.waiting import LIMIT, until
from workbench.run import QueueSlot, RunQueue, State, cancellation
from workbench.run.cancellation import GRACE, StoppedError
from workbench.run.jobs.thread_job import ThreadJob


def job_of(work, **more):
    return ThreadJob(work, "workbench-test", QueueSlot(RunQueue()), **more)


def test_a_job_runs_once():
    calls = []
    job = job_of(lambda: calls.append(job.state))
    assert (job.state, job.alive, job.over) == (State.IDLE, False, False)
    job.start()
    job.join(LIMIT)
    job.start()
    assert calls == [State.RUNNING]
    assert (job.state, job.over, job.working, job.error) == (State.DONE, True, False, "")


def test_a_job_stopped_before_its_start_never_runs():
    calls = []
    job = job_of(lambda: calls.append(1))
    job.stop()
    job.start()
    job.join(LIMIT)
    assert calls == []
    assert (job.state, job.error) == (State.DONE, "stopped before it began")


def test_the_end_of_a_job_that_was_not_started_is_announced():
    events = []
    job = job_of(lambda: None, on_end=lambda ended: events.append(("on_end", ended.over)))
    job.when_over(lambda: events.append("a listener"))
    job.stop()
    job.stop()
    assert events == [("on_end", True), "a listener"]


@pytest.mark.parametrize("error", [ValueError("the matrix is gone"), SystemExit("the matrix is gone")])
def test_a_failed_job_has_a_sentence_and_releases_its_slot(error):
    def work():
        job.slot.enqueue()
        raise error

    job = job_of(work)
    job.start()
    job.join(LIMIT)
    assert job.state is State.FAILED
    assert "the matrix is gone" in job.error
    assert not job.slot.held


def test_a_cancelled_job_counts_as_ended_before_its_thread_has(monkeypatch):
    """By a clock of the test: on a busy machine more than `GRACE` may pass between two lines of it."""
    now = [0.0]
    monkeypatch.setattr(cancellation, "time", SimpleNamespace(monotonic=lambda: now[0]))
    release = threading.Event()
    job = job_of(lambda: release.wait(LIMIT))
    job.start()
    job.stop()
    now[0] = GRACE
    assert (job.ending, job.lingering, job.state) == (True, False, State.RUNNING)
    now[0] = 1.01 * GRACE
    assert (job.ending, job.state) == (False, State.DONE)
    assert (job.lingering, job.over, job.alive) == (True, False, False)
    release.set()
    until(lambda: job.over)
    assert not job.lingering


def test_a_job_that_notices_its_cancellation_has_not_failed():
    def work():
        until(lambda: job.stopping)
        raise StoppedError

    job = job_of(work)
    job.start()
    job.stop()
    job.join(LIMIT)
    assert (job.state, job.error) == (State.DONE, "")


def test_the_end_is_announced_after_the_last_change_of_state():
    events = []
    job = job_of(lambda: None, on_end=lambda ended: events.append(("on_end", ended.over)))
    job.when_over(lambda: events.append("a listener"))
    job.start()
    job.join(LIMIT)
    job.when_over(lambda: events.append("at once"))
    assert events == [("on_end", True), "a listener", "at once"]
