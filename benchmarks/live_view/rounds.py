"""What runs in the kernel: the same solve with the explorer watching and alone, in turns, and where its time went."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from pathlib import Path
from typing import Any

from workbench.live import Explorer, TimelineView, explore
from workbench.run import Run, Session, Stopping, configure

N = 1024
ITERATIONS = 2000
EVENTS = 50_000
REST = 0.5
"""Seconds between two runs, so that what one has left to do does not fall into the next."""
LOOK = 0.05
"""Seconds between two looks at the clocks of threads."""
LIMIT = Stopping(rtol=1e-300, maxiter=ITERATIONS, stagnation=10**9)


def explorer() -> Explorer:
    """The explorer with the problem that is measured."""
    return explore("two-layer", n=N, preconditioner="jacobi", deflation="none", stopping=LIMIT)


def timeline() -> TimelineView:
    """A timeline of a run that was traced until it had as many events as the requirement says."""
    endless = Stopping(rtol=0, atol=1e-300, maxiter=10**9, stagnation=10**9)
    run = Run(configure("two-layer", n=48, preconditioner="jacobi", stopping=endless, solver="sd"), trace=True)
    assert run.trace is not None
    while run.trace.count < EVENTS and run.step():
        pass
    assert run.trace.count >= EVENTS
    run.cancel()
    return TimelineView(run.result())


def begin(view: Explorer, count: int, path: str) -> None:
    """Make so many rounds in a thread of its own, which leaves the kernel free to hear what the page has painted."""
    threading.Thread(target=_write, args=(view, count, Path(path)), daemon=True).start()


def read(path: Path) -> list[dict[str, Any]]:
    """The rounds that `begin` wrote. Raises RuntimeError with what went wrong in the kernel."""
    found = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(found, str):
        raise RuntimeError(f"the rounds broke off in the kernel: {found}")
    return found


def _write(view: Explorer, count: int, path: Path) -> None:
    try:
        found: Any = _rounds(view, count)
    # Whoever waits for the file must be told.
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
    part = path.with_suffix(".part")
    part.write_text(json.dumps(found), encoding="utf-8")
    os.rename(part, path)


def _rounds(view: Explorer, count: int) -> list[dict[str, Any]]:
    def watched() -> dict[str, Any]:
        return _timed(view.run())

    def alone() -> dict[str, Any]:
        session = Session(view.form.configuration())
        session.start()
        return _timed(session)

    watched(), alone()
    found = []
    for k in range(count):
        order = [("watched", watched), ("alone", alone)][:: 1 if k % 2 == 0 else -1]
        found.append({name: (time.sleep(REST), go())[1] for name, go in order})
        view.clear()
    return found


def _timed(session: Session) -> dict[str, Any]:
    """Seconds of one run; of the solver's thread on a core, waiting for one and asleep; and of Python's other threads.

    Threads are as of the last look before the end. None for theirs where the system does not tell.
    """
    while session.run is None:
        time.sleep(0.001)
    begun, first = time.time(), _threads()
    last, seen = first, begun
    while session.alive:
        time.sleep(LOOK)
        now = _threads()
        if _SOLVER in now:
            last, seen = now, time.time()
    result = session.wait()
    ended = time.time()
    assert result.iterations == ITERATIONS, result.summary["reason"]
    told = {"begun": begun, "ended": ended, "iterating": result.iteration_seconds}
    if _SOLVER not in first or seen == begun:
        return {**told, "solver": None, "others": None}
    on, waiting = (last[_SOLVER][k] - first[_SOLVER][k] for k in (0, 1))
    others = sum(last[name][0] - first[name][0] for name in last if name in first and name != _SOLVER)
    wall = seen - begun
    solver = {"on_a_core": on / wall, "waiting_for_a_core": waiting / wall, "asleep": 1 - (on + waiting) / wall}
    return {**told, "solver": solver, "others": others / wall}


_SOLVER = "workbench-solve"


def _threads() -> dict[Any, tuple[float, float]]:
    """Seconds on a core and waiting for one of each thread of Python's, the solver's by its name; numba's are none."""
    found: dict[Any, tuple[float, float]] = {}
    for thread in threading.enumerate():
        # A thread may have ended since, and other systems have no such file.
        with contextlib.suppress(OSError, ValueError):
            on, waiting, _ = Path(f"/proc/self/task/{thread.native_id}/schedstat").read_text().split()
            name = _SOLVER if thread.name == _SOLVER else thread.native_id
            found[name] = int(on) * 1e-9, int(waiting) * 1e-9
    return found
