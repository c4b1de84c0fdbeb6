"""Solves of a problem that is being drawn: their configuration, and a solver that the newest request takes."""

from __future__ import annotations

import dataclasses
import functools
import threading
import time
from collections.abc import Callable

import numpy as np

from workbench.deflation import Deflation
from workbench.errors import InputError
from workbench.problems.bubbles import Bubbles
from workbench.run import Configuration, Session, configure
from workbench.run.choices.configuration import asks_for_blocks
from workbench.spectra.convergence_estimates import ritz_values, usable_iterations

CHEAP = "neumann:2"
"""The preconditioner without a page: it costs next to no setup."""
MOST_CELLS = 1 << 18
"""The most cells that are solved while they are drawn, those of 512^2 and of 64^3: half a second on two cores."""
Key = tuple[type, int | None, bool]
"""Properties shared by two problems if one can start from the other's solution: class, n, and whether it is complex."""


def live_configuration(
    chosen: Callable[[], Configuration] | None, problem: Bubbles, deflation: Deflation
) -> tuple[Configuration, str]:
    """The configuration to solve, and why it differs from the chosen one; empty where it does not.

    chosen: returns the configuration of the page, or raises InputError; None without a page. Its problem and deflation
    are replaced by those drawn, its start by zero. One with many right-hand sides or on a cluster is not taken.
    """
    why = ""
    if chosen is not None:
        try:
            return dataclasses.replace(_fitting(chosen()), problem=problem, deflation=deflation, x0="zero"), ""
        except InputError as error:
            why = str(error)
    return configure(problem, preconditioner=CHEAP, deflation=deflation, x0="zero"), why


def too_many_cells(problem: Bubbles) -> str:
    """Why a problem is not solved while it is drawn; empty where it is."""
    if problem.n**problem.dimensions <= MOST_CELLS:
        return ""
    most = round(MOST_CELLS ** (1 / problem.dimensions))
    return f"n = {problem.n} has too many cells for that; it works up to n = {most} in {problem.dimensions}D"


def _fitting(chosen: Configuration) -> Configuration:
    if asks_for_blocks(chosen, None):
        raise InputError(f"rhs {chosen.rhs} of Solve has several right-hand sides")
    if chosen.cluster:
        raise InputError(f"connecting to the cluster {chosen.cluster} takes longer than a solve")
    # Processes take longer to start than a small problem to be solved.
    return dataclasses.replace(chosen, ranks=1)


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
        """The solve that was shown before it; None where that was on another grid."""
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
                key, last = _key(session.configuration), self.shown
                self.before = last if last is not None and _key(last.session.configuration) == key else None
                self.shown = solve
                if session.result.converged:
                    self._solution = key, session.result.x
        self._changed()


def _key(configuration: Configuration) -> Key:
    problem = configuration.problem
    return type(problem), problem.per_side, configuration.solver.complex_symmetric
