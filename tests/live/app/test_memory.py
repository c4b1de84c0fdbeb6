"""A day of runs in one process leaves memory, threads and widgets as they were."""

import gc
import threading
import weakref

import pytest

from tests.live.conftest import widgets
from tests.live.states import bring
from tests.waiting import LIMIT
from workbench.live import RaceView, explore
from workbench.live.ui import run_list
from workbench.run import Session, configure

BYTES_PER_RUN = 16384
"""Growth allowed for each run, of pages that the allocator keeps. The history of one run alone takes 31 kB."""
WINDOWS = 4
"""Windows of runs at most, until one is flat. A leak grows in each of them; pages that the allocator takes in a process
with other tests grow in some."""


def resident():
    """Bytes of this process in memory."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * 4096
    except OSError:
        pytest.skip("this system does not say how much memory a process has")


@pytest.mark.parametrize(("before", "length"), [(120, 40), pytest.param(200, 200, marks=pytest.mark.slow)])
def test_many_runs_leave_memory_flat(tmp_path, eventually, monkeypatch, before, length):
    # So that one goes for each that comes, and tables are short.
    monkeypatch.setattr(run_list, "KEPT", kept := 20)
    others = set(threading.enumerate())
    explorer = explore(n=4, folder=tmp_path, preconditioner="jacobi", deflation="none")
    sessions: weakref.WeakSet[Session] = weakref.WeakSet()

    def at_rest():
        """Threads that work on request end some seconds after the last one."""
        return [thread.name for thread in set(threading.enumerate()) - others] == ["workbench-publish"]

    def run(times):
        """Returns the bytes in memory and the widgets after this number of runs."""
        for _ in range(times):
            session = explorer.run()
            sessions.add(session)
            session.wait(LIMIT)
        del session
        eventually(at_rest)
        gc.collect()
        return resident(), len(widgets())

    bytes_before, count = run(before)
    growth = []
    while len(growth) < WINDOWS and (not growth or growth[-1] >= BYTES_PER_RUN * length):
        now, widgets_now = run(length)
        assert widgets_now <= count
        growth.append(now - bytes_before)
        bytes_before = now
    assert growth[-1] < BYTES_PER_RUN * length, growth
    # The last one is what the buttons and the status line are about.
    assert len(sessions) <= 2
    assert len(explorer.records) == kept
    eventually(lambda: len(explorer.convergence.curves) == kept)
    eventually(lambda: len(explorer.table.table.rows) == kept)
    assert explorer.runs.dropped == before + length * len(growth) - kept
    explorer.close()


def test_lanes_that_are_removed_leave_no_widget(eventually, opened):
    view = opened(RaceView(configure("poisson5", n=8)))
    # All that the end of a race shows is then there.
    bring(view, "ended")
    before = widgets()
    for _ in range(3):
        lane = view.add(configure("poisson5", n=8))
        eventually(lambda lane=lane: lane.over)
        view.remove(lane)
    assert widgets() <= before
