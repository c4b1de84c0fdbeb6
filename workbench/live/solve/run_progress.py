"""The progress of a run: phases of its setup, iterations, and an estimate of those left."""

from __future__ import annotations

import time
from typing import Any

from workbench.live.plots.curve import Curve
from workbench.run import Session, State
from workbench.run.jobs.job import ENDED
from workbench.spectra.iterations_left import Estimate, iterations_left
from workbench.words.numbers import compiling, count, duration

EVERY = 1.9
"""Seconds between two estimates of an active run, just below those between two sentences."""


class Progress:
    """The progress of one run, as the run bar shows it."""

    def __init__(self, session: Session, curve: Curve | None) -> None:
        self.session, self.curve = session, curve
        self._shown: dict[str, Any] = {}
        self._when = 0.0
        self._ended_at = ""
        self._over = False
        self.estimate: Estimate | None = None

    def read(self) -> dict[str, Any]:
        """The progress to show now; the same object while nothing changes."""
        state, now = self.session.state, time.monotonic()
        # A run that counts as ended may still make an iteration.
        over, self._over = self._over, self.session.over
        same = over == self._over and self._shown.get("state") == state.value
        same = same and self._shown.get("phase") == self.session.phases.present
        rests = state in ENDED or (state is State.PAUSED and self._shown.get("iterations") == self._iterations)
        if same and (rests or (state is not State.PAUSED and now - self._when < EVERY)):
            return self._shown
        self._when, self._shown = now, self._made(state)
        return self._shown

    @property
    def words(self) -> str:
        """The progress as a clause: iterations and those left; the basis of the estimate is always given."""
        shown = self._shown
        if not shown.get("iterations"):
            return ""
        done = f"iteration {count(shown['iterations'])}"
        if not (self.estimate and shown["left"]):
            return done
        whole, left = count(shown["iterations"] + shown["left"]), duration(shown["secondsLeft"])
        return f"{done} of about {whole}, {left} left (estimate from the {self.estimate.basis})"

    @property
    def _iterations(self) -> int:
        run = self.session.run
        return run.iterations if run else 0

    def _made(self, state: State) -> dict[str, Any]:
        session, run = self.session, self.session.run
        done = self._iterations
        if state is State.RUNNING and self.curve is not None and self.curve.history is not None:
            target = self.curve.tolerance * self.curve.norm_of_b
            self.estimate = iterations_left(self.curve.history, target)
        phases = session.phases.shown()
        ended = state in ENDED
        if ended and not self._ended_at:
            self._ended_at = time.strftime("%H:%M")
        spent = run.iteration_seconds if run else 0.0
        left = self.estimate.iterations if self.estimate and not ended else None
        return {
            "state": state.value,
            "phase": session.phases.present,
            "phases": phases,
            "iterations": done,
            "left": left,
            "spent": spent,
            "secondsLeft": self._seconds_left(done, spent) if left is not None else None,
            "endedAt": self._ended_at if ended else "",
            "when": self._ending(done, sum(seconds for _, seconds, _ in phases) + spent) if ended else "",
        }

    def _ending(self, iterations: int, seconds: float) -> str:
        """When it ended, and the time of setup and iterations together, which is that of the result."""
        if not iterations:
            return f"ended {self._ended_at}, without an iteration"
        compiled = compiling(self.session.phases.compile_seconds)
        return f"finished {self._ended_at}, {duration(seconds)}" + (f"; {compiled}" if compiled else "")

    def _seconds_left(self, done: int, spent: float) -> float | None:
        return self.estimate.iterations * spent / done if self.estimate and done else None
