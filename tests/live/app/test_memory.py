"""A day of runs in one process leaves memory, threads and widgets as they were."""

from __future__ import annotations

import gc
import threading
import weakref

import ipywidgets as widgets
import pytest

from tests.waiting import LIMIT
from workbench.live import (
    BubbleBuilder,
    InsideView,
    MatrixBuilder,
    OwnMethod,
    PoissonBuilder,
    RaceView,
    Replay,
    RooflineView,
    SpectrumView,
    SweepView,
    explore,
)
from workbench.live.build.builder import KINDS, Builder
from workbench.live.plots.convergence import ConvergenceView
from workbench.live.ui.run_list import KEPT
from workbench.run import Run, Session, configure, run_through

BYTES_PER_RUN = 16384
"""Growth allowed for each run, of pages that the allocator keeps. The history of one run alone takes 31 kB."""


def resident():
    """Bytes of this process in memory."""
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * 4096
    except OSError:
        pytest.skip("this system does not say how much memory a process has")


def registered():
    return len(widgets.widget._instances)


@pytest.mark.parametrize(("first", "last"), [(120, 240), pytest.param(200, 1000, marks=pytest.mark.slow)])
def test_many_runs_leave_memory_flat(tmp_path, eventually, first, last):
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
            counts[number] = registered()
    assert counts[last] <= counts[first]
    assert seen[last] - seen[first] < BYTES_PER_RUN * (last - first)
    # The last one is what the buttons and the status line are about.
    assert len(sessions) <= 2
    assert len(explorer.records) == KEPT
    eventually(lambda: len(explorer.convergence.curves) == KEPT)
    eventually(lambda: len(explorer.table.table.rows) == KEPT)
    assert explorer.runs.dropped == last - KEPT
    explorer.close()


def views(folder):
    yield lambda: explore(n=8, folder=folder)
    yield lambda: RaceView(configure("poisson5", n=8), folder=folder)
    yield lambda: SweepView("poisson5", {"n": [8, 9]}, folder=folder)
    yield lambda: ConvergenceView(Session(configure("poisson5", n=8)))
    traced = run_through(Run(configure("two-layer", n=12), trace=True))
    yield lambda: SpectrumView(traced)
    yield lambda: RooflineView(traced, "v100")
    yield lambda: looked_into(InsideView(folder=folder), traced)
    yield lambda: opened_twice(Replay(folder=folder), traced.record())
    yield lambda: raced(OwnMethod("cg", "two-layer", n=12, folder=folder))
    yield from (BubbleBuilder, lambda: dragged(BubbleBuilder()), PoissonBuilder, MatrixBuilder)
    yield lambda: all_kinds(Builder())


def looked_into(view, run):
    for _ in range(2):
        view.follow(run)
        assert view._worker.wait(LIMIT)
    return view


def opened_twice(view, record):
    for name in ("Spectrum", "Timeline"):
        view.show(record)
        view.view(name)
    return view


def raced(view):
    for _ in range(2):
        view.race().race.wait(LIMIT)
    return view


def dragged(view):
    view.live.check.value = True
    assert view.live.wait(LIMIT)
    view.live.solver.latest.session.join(LIMIT)
    return view


def all_kinds(view):
    for view.kind.value in KINDS:
        assert view.builder
    return view


def test_closed_views_leave_no_thread_and_no_widget(tmp_path, eventually):
    for make in views(tmp_path):
        others = set(threading.enumerate())
        make().close()
        eventually(lambda others=others: set(threading.enumerate()) <= others)
        before = registered()
        view = make()
        assert registered() > before
        kept = weakref.ref(view)
        view.close()
        eventually(lambda others=others: set(threading.enumerate()) <= others)
        assert registered() == before, type(view)
        del view
        gc.collect()
        assert kept() is None


def test_lanes_that_are_removed_leave_no_widget(eventually):
    view = RaceView(configure("poisson5", n=8))
    view.race.wait(LIMIT)
    before = registered()
    for _ in range(3):
        lane = view.add(configure("poisson5", n=8))
        eventually(lambda lane=lane: lane.over)
        view.remove(lane)
    assert registered() == before
    view.close()
