"""How far a run is: phases of its setup, iterations, and an estimate of those left."""

from __future__ import annotations

import time
from typing import Any

from workbench.analysis.iterations_left import Estimate, iterations_left
from workbench.live.kit.number_text import count, duration
from workbench.live.plots.convergence import Curve
from workbench.run import Session, State
from workbench.run.job import ENDED

EVERY = 0.5
"""Seconds between two estimates of an active run."""


class Progress:
    """The progress of one run, as the run bar shows it."""

    def __init__(self, session: Session, curve: Curve | None) -> None:
        self.session, self.curve = session, curve
        self._shown: dict[str, Any] = {}
        self._when = 0.0
        self._ended_at = ""
        self.estimate: Estimate | None = None

    def read(self) -> dict[str, Any]:
        """What to show now; the same object where nothing is to change."""
        state, now = self.session.state, time.monotonic()
        same = self._shown.get("state") == state.value and self._shown.get("phase") == self.session.phases.present
        if same and (state in (*ENDED, State.PAUSED) or now - self._when < EVERY):
            return self._shown
        self._when, self._shown = now, self._made(state)
        return self._shown

    @property
    def words(self) -> str:
        """Iterations so far and left, as a clause; the basis of the estimate is always said."""
        run = self.session.run
        if run is None:
            return ""
        iterations = run.iterations
        done = f"iteration {count(iterations)}"
        if self.estimate is None or not self.estimate.iterations:
            return done
        whole = count(iterations + self.estimate.iterations)
        left = duration(self._seconds_left(iterations, run.iteration_seconds))
        return f"{done} of about {whole}, {left} left (estimate from the {self.estimate.basis})"

    def _made(self, state: State) -> dict[str, Any]:
        session, run = self.session, self.session.run
        done = run.iterations if run else 0
        if state is State.RUNNING and self.curve is not None and self.curve.history is not None:
            target = self.curve.tolerance * self.curve.norm_of_b
            self.estimate = iterations_left(self.curve.history, target)
        present = session.phases.present
        phases = [[phase.name, phase.seconds, True] for phase in session.phases.done if phase.name != present]
        ended = state in ENDED
        if ended and not self._ended_at:
            self._ended_at = time.strftime("%H:%M")
        spent = run.iteration_seconds if run else 0.0
        left = self.estimate.iterations if self.estimate and not ended else None
        return {
            "state": state.value,
            "phase": present,
            "phases": [*phases, *([[present, 0.0, False]] if present else [])],
            "iterations": done,
            "left": left,
            "spent": spent,
            "secondsLeft": self._seconds_left(done, spent) if left is not None else None,
            "ahead": session.ahead if state is State.QUEUED else 0,
            "endedAt": self._ended_at if ended else "",
        }

    def _seconds_left(self, done: int, spent: float) -> float | None:
        return self.estimate.iterations * spent / done if self.estimate and done else None
