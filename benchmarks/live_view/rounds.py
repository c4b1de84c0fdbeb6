"""A solve with and without the page showing it, alternating, and its CPU times; most of this runs in the kernel."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from benchmarks.live_view.processes import more, on_cores, schedstat
from workbench.live import ConvergenceView, Explorer, TimelineView, explore
from workbench.records import History
from workbench.run import Configuration, Run, Session, Stopping, configure, run_through

N, ACCELERATED_N = 1024, 4096
"""Cells per side on the CPU and on an accelerator, which needs more of them to be busy."""
EVENTS = 50_000
MANY_CURVES, SAMPLES = 20, 5000
"""Curves of the plot that is zoomed, and their samples."""
SETTLE = 0.5
"""Seconds before a window, so that remaining work of the previous one does not fall into it."""
WINDOW = 1.2
"""Seconds of a window: three messages of the curves."""
PROBLEM = "two-layer"
CHOICES: dict[str, Any] = {
    "preconditioner": "jacobi",
    "deflation": "none",
    "stopping": Stopping(rtol=1e-300, maxiter=10**6, stagnation=10**9),
}
"""An endless run."""


class Watched(Protocol):
    """Anything that starts runs that are painted."""

    def run(self) -> Session: ...

    def stop(self) -> object: ...

    def clear(self) -> object: ...


Rest = Callable[[], contextlib.AbstractContextManager[None]]
"""Paint nothing inside."""


def configuration() -> Configuration:
    """The measured problem, on the CPU."""
    return configure(PROBLEM, n=N, **CHOICES)


def explorer(device: str = "cpu") -> Explorer:
    """The explorer with the measured problem."""
    return explore(PROBLEM, n=N if device == "cpu" else ACCELERATED_N, **CHOICES, device=device)


def many_curves() -> ConvergenceView:
    """A plot of so many curves with noise, at rest."""
    view = ConvergenceView()
    record = run_through(Run(configure(PROBLEM, n=8))).record()
    noise = np.random.default_rng(1)
    for place in range(MANY_CURVES):
        fall = np.linspace(0, -4 - 0.2 * place, SAMPLES) + 0.02 * noise.standard_normal(SAMPLES)
        arrays = {"residual": 10**fall, "true_residuals": np.empty((0, 2))}
        history = History.from_arrays(arrays)
        view.add(dataclasses.replace(record, history=history), f"{place + 1}: curve")
    return view


def timeline() -> TimelineView:
    """A timeline of a run that was traced until it had the required number of events."""
    endless = Stopping(rtol=0, atol=1e-300, maxiter=10**9, stagnation=10**9)
    run = Run(configure("two-layer", n=48, preconditioner="jacobi", stopping=endless, solver="sd"), trace=True)
    assert run.trace is not None
    while run.trace.count < EVENTS and run.step():
        pass
    assert run.trace.count >= EVENTS
    run.cancel()
    return TimelineView(run.result())


def begin(view: Explorer, count: int, path: str, browser: int | None = None) -> None:
    """Make so many rounds in a separate thread, so that the kernel can receive acknowledgements."""
    threading.Thread(target=_write, args=(view, count, Path(path), browser), daemon=True).start()


def read(path: Path) -> list[dict[str, Any]]:
    """The rounds that `begin` wrote. Raises RuntimeError with the error of the kernel."""
    found = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(found, str):
        raise RuntimeError(f"the rounds broke off in the kernel: {found}")
    return found


def _write(view: Explorer, count: int, path: Path, browser: int | None) -> None:
    try:
        found: Any = made(view, view.publisher.at_rest, count, browser)
    # The reader of the file must get the error.
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
    part = path.with_suffix(".part")
    part.write_text(json.dumps(found), encoding="utf-8")
    os.rename(part, path)


def made(view: Watched, rest: Rest, count: int, browser: int | None = None) -> list[dict[str, Any]]:
    """So many pairs of windows: two pairs per run, the first in one order and the second in the other. browser: the
    process whose CPU time is recorded too."""
    found: list[dict[str, Any]] = []
    # What comes first in a process takes longer.
    _of_one_run(view, rest, (True,), browser)
    while len(found) < count:
        watched, alone, again_alone, again_watched = _of_one_run(view, rest, (True, False, False, True), browser)
        found += [{"watched": watched, "alone": alone}, {"watched": again_watched, "alone": again_alone}]
        view.clear()
    return found[:count]


def _of_one_run(view: Watched, rest: Rest, turns: tuple[bool, ...], browser: int | None) -> list[dict[str, Any]]:
    """Windows of one run, shown or not: if not, nothing is sent and the page paints nothing."""
    session = view.run()
    while session.run is None:
        time.sleep(0.001)
    found = []
    for watched in turns:
        with contextlib.nullcontext() if watched else rest():
            time.sleep(SETTLE)
            found.append(_window(session.run, browser))
    view.stop()
    session.wait()
    return found


def _window(run: Run, browser: int | None) -> dict[str, Any]:
    """Iterations per second; shares of the solver's thread on a core, waiting for one and asleep; and CPU time of
    Python's other threads and of the browser, in seconds per second. None for the shares if the system does not
    report them."""
    browsed = on_cores(browser) if browser else {}
    before, begun, first = run.history.count, time.perf_counter(), _threads()
    time.sleep(WINDOW)
    after, ended, last = run.history.count, time.perf_counter(), _threads()
    spent = more(browsed, on_cores(browser) if browser else {})
    wall = ended - begun
    told = {"rate": (after - before) / wall, "browser": None if spent is None else spent / wall}
    if _SOLVER not in first or _SOLVER not in last:
        return {**told, "solver": None, "others": None}
    on, waiting = (last[_SOLVER][k] - first[_SOLVER][k] for k in (0, 1))
    others = sum(last[name][0] - first[name][0] for name in last if name in first and name != _SOLVER)
    solver = {"on_a_core": on / wall, "waiting_for_a_core": waiting / wall, "asleep": 1 - (on + waiting) / wall}
    return {**told, "solver": solver, "others": others / wall}


_SOLVER = "workbench-solve"


def _threads() -> dict[Any, tuple[float, float]]:
    """Seconds on a core and waiting for one of each thread of Python, the solver's by its name; threads of
    kernels are left out."""
    found: dict[Any, tuple[float, float]] = {}
    for thread in threading.enumerate():
        # A thread may have ended since, and other systems have no such file.
        with contextlib.suppress(OSError, ValueError):
            name = _SOLVER if thread.name == _SOLVER else thread.native_id
            found[name] = schedstat(Path(f"/proc/self/task/{thread.native_id}"))
    return found
