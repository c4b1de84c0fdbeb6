"""A day of runs in one process leaves memory, threads and widgets as they were."""

import gc
import threading
import weakref

import pytest

from tests.live.conftest import widgets
from tests.waiting import LIMIT
from workbench.live import RaceView, explore
from workbench.live.ui import run_list
from workbench.run import Session, configure

BYTES_PER_RUN = 16384
"""Growth allowed for each run, of pages that the allocator keeps. The history of one run alone takes 31 kB."""


def resident():
    """Bytes of this process in memory."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * 4096
    except OSError:
        pytest.skip("this system does not say how much memory a process has")


@pytest.mark.parametrize(("first", "last"), [(120, 200), pytest.param(200, 1000, marks=pytest.mark.slow)])
def test_many_runs_leave_memory_flat(tmp_path, eventually, monkeypatch, first, last):
    # So that one goes for each that comes, and tables are short.
    monkeypatch.setattr(run_list, "KEPT", kept := 20)
    others = set(threading.enumerate())
    explorer = explore(n=4, folder=tmp_path, preconditioner="jacobi", deflation="none")
    seen, counts = {}, {}
    sessions: weakref.WeakSet[Session] = weakref.WeakSet()

    def at_rest():
        """Threads that work on request end some seconds after the last one."""
        return [thread.name for thread in set(threading.enumerate()) - others] == ["workbench-publish"]

    for number in range(1, last + 1):
        session = explorer.run()
        sessions.add(session)
        session.wait(LIMIT)
        if number in (first, last):
            del session
            eventually(at_rest)
            gc.collect()
            seen[number] = resident()
            counts[number] = len(widgets())
    assert counts[last] <= counts[first]
    assert seen[last] - seen[first] < BYTES_PER_RUN * (last - first)
    # The last one is what the buttons and the status line are about.
    assert len(sessions) <= 2
    assert len(explorer.records) == kept
    eventually(lambda: len(explorer.convergence.curves) == kept)
    eventually(lambda: len(explorer.table.table.rows) == kept)
    assert explorer.runs.dropped == last - kept
    explorer.close()


def test_lanes_that_are_removed_leave_no_widget(eventually, opened):
    view = opened(RaceView(configure("poisson5", n=8)))
    view.race.wait(LIMIT)
    before = widgets()
    for _ in range(3):
        lane = view.add(configure("poisson5", n=8))
        eventually(lambda lane=lane: lane.over)
        view.remove(lane)
    assert widgets() <= before
