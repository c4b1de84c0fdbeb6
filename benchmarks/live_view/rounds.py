"""What runs in the kernel: a solve that is watched and left alone in turns, and where its time went."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from pathlib import Path
from typing import Any

from workbench.live import Explorer, TimelineView, explore
from workbench.run import Run, Stopping, configure

N, ACCELERATED_N = 1024, 4096
"""Cells per side on the cores and on an accelerator, which needs more of them to have much to do."""
EVENTS = 50_000
SETTLE = 0.5
"""Seconds before a window, so that what the one before has left to do does not fall into it."""
WINDOW = 1.2
"""Seconds of a window: three messages of the curves."""
ENDLESS = Stopping(rtol=1e-300, maxiter=10**6, stagnation=10**9)


def explorer(device: str = "cpu") -> Explorer:
    """The explorer with the problem that is measured."""
    n = N if device == "cpu" else ACCELERATED_N
    return explore("two-layer", n=n, preconditioner="jacobi", deflation="none", stopping=ENDLESS, device=device)


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
    """So many pairs of windows: of each run, two pairs, watched first in the one and alone first in the other."""
    found: list[dict[str, Any]] = []
    # What comes first in a process takes longer.
    _of_one_run(view, (True,))
    while len(found) < count:
        watched, alone, again_alone, again_watched = _of_one_run(view, (True, False, False, True))
        found += [{"watched": watched, "alone": alone}, {"watched": again_watched, "alone": again_alone}]
        view.clear()
    return found[:count]


def _of_one_run(view: Explorer, turns: tuple[bool, ...]) -> list[dict[str, Any]]:
    """Windows of one run, watched or alone: while it is alone nothing is sent, and the page paints nothing."""
    session = view.run()
    while session.run is None:
        time.sleep(0.001)
    found = []
    for watched in turns:
        with contextlib.nullcontext() if watched else view.publisher.at_rest():
            time.sleep(SETTLE)
            found.append(_window(session.run))
    view.stop()
    session.wait()
    return found


def _window(run: Run) -> dict[str, Any]:
    """Iterations a second; shares of the solver's thread on a core, waiting for one and asleep; and what Python's other
    threads ran, in seconds a second. None for the shares where the system does not tell."""
    before, begun, first = run.history.count, time.perf_counter(), _threads()
    time.sleep(WINDOW)
    after, ended, last = run.history.count, time.perf_counter(), _threads()
    wall = ended - begun
    told = {"rate": (after - before) / wall}
    if _SOLVER not in first or _SOLVER not in last:
        return {**told, "solver": None, "others": None}
    on, waiting = (last[_SOLVER][k] - first[_SOLVER][k] for k in (0, 1))
    others = sum(last[name][0] - first[name][0] for name in last if name in first and name != _SOLVER)
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
