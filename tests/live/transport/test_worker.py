"""Jobs in order: one after the other, waiting ones of the same key replaced, a mistake stops nothing."""

import threading

import pytest

from tests.waiting import LIMIT
from workbench.live.transport.worker import InOrder


@pytest.fixture
def held():
    """A queue whose first job waits until it is let go."""
    jobs, go, begun = InOrder("test"), threading.Event(), threading.Event()

    def first() -> None:
        begun.set()
        assert go.wait(LIMIT)

    jobs.ask(first)
    assert begun.wait(LIMIT)
    yield jobs, go
    go.set()


def test_jobs_are_done_in_order(held):
    jobs, go = held
    done = []
    for k in range(5):
        jobs.ask(lambda k=k: done.append(k))
    assert not jobs.wait(0.01)
    go.set()
    assert jobs.wait(LIMIT)
    assert done == [0, 1, 2, 3, 4]


def test_a_waiting_job_is_replaced_by_the_next_of_its_key(held):
    jobs, go = held
    done = []
    for key, k in [("a", 0), ("a", 1), ("b", 2), ("a", 3), (None, 4), (None, 5), ("a", 6), ("a", 7)]:
        jobs.ask(lambda k=k: done.append(k), key)
    go.set()
    assert jobs.wait(LIMIT)
    assert done == [1, 2, 3, 4, 5, 7]


def test_a_mistake_stops_nothing_and_is_logged(caplog):
    jobs = InOrder("test")
    done = []
    jobs.ask(lambda: 1 / 0)
    jobs.ask(lambda: done.append(jobs.wait(LIMIT)))
    assert jobs.wait(LIMIT)
    # A job that waits for itself would wait for ever.
    assert done == [True]
    assert "test could not do what it was asked for" in caplog.text
