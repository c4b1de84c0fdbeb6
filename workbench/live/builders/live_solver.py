"""Solves of a problem that is being drawn: the newest request wins, and each starts from the last solution."""

from __future__ import annotations

import dataclasses
import functools
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.run import Configuration, Session
from workbench.spectra.convergence_estimates import ritz_values, usable_iterations

Key = tuple[type, int, bool]
"""Properties shared by two problems if one can start from the other's solution: class, n, and whether it is complex."""


@dataclasses.dataclass(eq=False)
class LiveSolve:
    """One solve. warm: it starts from the last solution. why: see `live_configuration`. begun: `time.perf_counter` at
    the request. over: it has ended and was not overtaken."""

    session: Session
    warm: bool
    why: str
    begun: float
    over: bool = False

    @functools.cached_property
    def ritz_values(self) -> np.ndarray:
        """The Ritz values of a solve that has ended with a result, ascending; empty where it made no iteration. Cost:
        O(k^2) for k iterations, of which at most 1000 are used. Raises InputError for a method without beta."""
        assert self.session.run is not None
        history = self.session.run.history
        k = usable_iterations(history)
        return ritz_values(history, k) if k else np.empty(0)


class LiveSolver:
    """One solve at a time, in the run queue of the machine and in no list of runs.

    A request cancels the solve before it, so that at most one waits; what cannot be interrupted ends in the background.
    The start is the solution of the last solve that has converged, if it has the same grid, else zero. A solve that
    ends without convergence leaves no start. changed: called from any thread when a solve has begun or ended.
    """

    def __init__(self, changed: Callable[[], object]) -> None:
        self.latest: LiveSolve | None = None
        """The solve requested last, active or ended; None after `stop`."""
        self.shown: LiveSolve | None = None
        """The last solve that has ended with a result."""
        self.before: LiveSolve | None = None
        """The solve that was shown before it."""
        self._changed = changed
        self._solution: tuple[Key, np.ndarray] | None = None
        self._lock = threading.Lock()

    def solve(self, configuration: Configuration, why: str = "") -> LiveSolve:
        """Begin a solve in place of the present one; returns at once."""
        with self._lock:
            self._cancel()
            key, x0 = _key(configuration), None
            if self._solution is not None and self._solution[0] == key:
                x0 = self._solution[1]
            session = Session(configuration, x0=x0, on_end=self._end)
            self.latest = LiveSolve(session, x0 is not None, why, time.perf_counter())
            session.start()
        self._changed()
        return self.latest

    def stop(self) -> None:
        """End the present solve; what is shown stays."""
        with self._lock:
            if self.latest is None:
                return
            self._cancel()
            self.latest = None
        self._changed()

    def _cancel(self) -> None:
        if self.latest is not None:
            self.latest.session.stop()

    def _end(self, session: Session) -> None:
        """Record the end of a solve; runs in the thread of the session."""
        with self._lock:
            solve = self.latest
            # A solve that was overtaken or stopped is of no more interest.
            if solve is None or solve.session is not session:
                return
            solve.over = True
            self._solution = None
            if session.result is not None:
                self.before, self.shown = self.shown, solve
                if session.result.converged:
                    self._solution = _key(session.configuration), session.result.x
        self._changed()


def _key(configuration: Configuration) -> Key:
    problem: Any = configuration.problem
    return type(problem), problem.n, configuration.solver.complex_symmetric
