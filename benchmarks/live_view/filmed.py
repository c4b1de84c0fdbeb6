"""What the film of its fields costs a run: the same run with and without it, alternating, in this process."""

from __future__ import annotations

import dataclasses
import time

from benchmarks.live_view import rounds
from workbench.records.film import Film
from workbench.run import Run, Stopping, run_through
from workbench.run.results.filming import Camera

ITERATIONS = 300
STOPPING = Stopping(rtol=1e-300, maxiter=ITERATIONS, stagnation=10**9)


def filmed(count: int) -> list[dict[str, dict[str, float]]]:
    """So many rounds of a run "with" and "without" a film: seconds of the clock, of the cores, and of iterations."""
    # What comes first in a process takes longer.
    _run(film=True)
    return [{name: _run(film=name == "with") for name in _order(turn)} for turn in range(count)]


def _order(turn: int) -> tuple[str, str]:
    return ("without", "with") if turn % 2 else ("with", "without")


def _run(*, film: bool) -> dict[str, float]:
    chosen = dataclasses.replace(rounds.configuration(), stopping=STOPPING)
    run = Run(chosen, camera=Camera(Film()) if film else None)
    begun, spent = time.perf_counter(), time.process_time()
    run_through(run)
    passed, used = time.perf_counter() - begun, time.process_time() - spent
    return {"clock": passed, "cores": used, "iterating": run.iteration_seconds, "frames": _frames(run)}


def _frames(run: Run) -> int:
    return len(run.film.frames) if run.film else 0
