"""A run on the convergence plot: the samples that the browser has, and those still to be sent."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from workbench.live.ui.run_handle import RunHandle
from workbench.plots.scenes.convergence import run_layers
from workbench.plots.scenes.scene import Layer
from workbench.plots.scenes.style import curve_style
from workbench.records import History, Record
from workbench.run import Norm, RaceEntry, Run, Session, State
from workbench.run.jobs.ranking import Sample

AXES = ("iterations", "seconds", "bytes")
"""Quantities on the horizontal axis: seconds of each run's own clock, bytes that its iterations read and write."""


@dataclasses.dataclass(eq=False)
class Curve:
    """One run on the plot. `session` is set as long as the run may grow; later only its history is kept.

    marked: a relative residual that is drawn in place of the run's own tolerance. setup_seconds: of the run, in s.
    clock: of a repetition of the run, whose seconds are drawn in place of its own.
    """

    key: int
    label: str
    style: int
    session: Session | RaceEntry | None = None
    history: History | None = None
    norm_of_b: float = 1.0
    tolerance: float = 0.0
    marked: float | None = None
    iteration_bytes: int | None = None
    setup_seconds: float = 0.0
    clock: Sample | None = None
    live: bool = False
    sent: int = 0
    reported: tuple[Any, ...] = ()

    @classmethod
    def of_record(cls, key: int, label: str, style: int, record: Record) -> Curve:
        """A run that has ended, for example one from a file."""
        residual = record.history["residual"]
        relative = record.relative_residual
        scale = float(residual[-1] / relative[-1]) if residual.size and relative[-1] else 1.0
        setup = float(record.summary.get("setup_seconds") or 0.0)
        curve = cls(key, label, style, history=record.history, norm_of_b=scale, setup_seconds=setup)
        counted = record.summary.get("iteration_bytes")
        curve.iteration_bytes = counted if isinstance(counted, int) else None
        stopping = record.provenance.get("configuration", {}).get("stopping", {})
        if stopping.get("norm") == Norm.RESIDUAL:
            curve.tolerance = stopping["rtol"]
        return curve

    def update(self) -> bool:
        """Take the state and the history of the session; true while the history may grow."""
        if self.session is None:
            return False
        # The state first: whatever the run did before it came to rest is then in the history.
        state = self.session.state
        run = self.session.run
        if run is not None and self.history is None:
            self.iteration_bytes = self.session.iteration_bytes if isinstance(self.session, RaceEntry) else None
            self._begin(run)
        self.live = state in (State.SETUP, State.RUNNING)
        if state in (State.DONE, State.FAILED):
            self.session = None
        return self.session is not None

    @property
    def steady(self) -> bool:
        """True while nothing happens by itself except that samples come, and the end, which the publisher receives."""
        return self.session is None or self.session.steady

    @property
    def lost(self) -> bool:
        """True if the run failed before it began."""
        return self.session is None and self.history is None

    @property
    def last(self) -> tuple[int, float] | None:
        """The latest iteration and its relative residual."""
        count = self.history.count if self.history is not None else 0
        return (count - 1, float(self.history["residual"][count - 1]) / self.norm_of_b) if count else None

    @property
    def has_unsent(self) -> bool:
        """True while there are samples that were not sent."""
        return self.history is not None and self.sent < self.history.count

    @property
    def waiting(self) -> bool:
        """True while the run is queued, or paused before it begins; it is not on the plot then."""
        session = self.session
        return session is not None and session.run is None and session.state in (State.QUEUED, State.PAUSED)

    @property
    def phase(self) -> str:
        """The state of the run before it iterates; empty afterwards."""
        return RunHandle(self.session).waiting if self.session is not None else ""

    @property
    def phases(self) -> list[list[Any]]:
        """The phases of an active setup, as `SetupPhases.shown`; none afterwards."""
        return RunHandle(self.session).phases if self.session is not None else []

    @property
    def state(self) -> tuple[Any, ...]:
        """The facts that the browser must receive at once."""
        confirmed = 0 if self.history is None else len(self.history.true_residuals)
        return (
            self.label,
            self.live,
            self.line,
            self.marked is None,
            confirmed,
            self.residual_gap_at,
            self.session is None,
        )

    @property
    def residual_gap_at(self) -> int:
        """The first iteration with a residual gap, -1 for none."""
        gap = None if self.history is None else self.history.residual_gap_at
        return -1 if gap is None else gap

    @property
    def line(self) -> float:
        """The relative residual at which a line is drawn, 0 for none."""
        return self.tolerance if self.marked is None else self.marked

    def positions(self, axis: str, *, with_setup: bool = True) -> np.ndarray:
        """The position of each sample on one of the `AXES`, shape (iterations + 1,); NaN if its bytes are not counted.

        with_setup: seconds begin with the setup.
        """
        assert self.history is not None
        if axis == "seconds":
            return self._seconds(self.history, with_setup=with_setup)
        iterations = np.arange(self.history.count, dtype=np.float64)
        if axis == "iterations":
            return iterations
        return iterations * (np.nan if self.iteration_bytes is None else self.iteration_bytes)

    def _seconds(self, history: History, *, with_setup: bool) -> np.ndarray:
        seconds, setup = history["seconds"], self.setup_seconds
        if self.clock is not None:
            # Where sums are added in another order, the repetition may have an iteration less.
            places = np.minimum(np.arange(seconds.size), self.clock.seconds.size - 1)
            seconds, setup = self.clock.seconds[places], self.clock.setup
        return seconds + (setup if with_setup else 0.0)

    @property
    def ended(self) -> bool:
        """True if the run is over, and its history complete."""
        return not self.update() or (self.session is not None and self.session.ended)

    def layers(self, axis: str, *, with_setup: bool = True) -> list[Layer]:
        """The run as it is drawn; nothing where it has no sample on one of the `AXES`."""
        if self.history is None:
            return []
        # The positions first: the history may grow before the residuals are taken.
        x = self.positions(axis, with_setup=with_setup)
        relative = self.history["residual"][: x.size] / self.norm_of_b
        if not np.isfinite(x).any():
            return []
        return run_layers(self.label, x, relative, np.array(self._rings).reshape(-1, 2), self.style)

    @property
    def _rings(self) -> list[list[float]]:
        """Iterations and relative true residuals."""
        confirmed = self.history.true_residuals if self.history is not None else np.empty((0, 2))
        finite = confirmed[np.isfinite(confirmed[:, 1])].tolist() if confirmed.size else []
        return [[iteration, value / self.norm_of_b] for iteration, value in finite]

    def news(
        self, most: int, axis: str = "iterations", *, with_setup: bool = True
    ) -> tuple[dict[str, Any], np.ndarray] | None:
        """The news for the browser, with at most `most` samples; None without any.

        A message, and the samples' relative residuals, followed by their positions where the axis is not iterations;
        float32.
        """
        if self.waiting:
            return None
        fresh, positions = np.empty(0), np.empty(0)
        if self.history is not None:
            # The positions first: the history may grow before the residuals are taken.
            places = self.positions(axis, with_setup=with_setup)
            fresh = self.history["residual"][self.sent : places.size][:most] / self.norm_of_b
            if axis != "iterations":
                positions = places[self.sent :][: fresh.size]
        if fresh.size == 0 and self.state == self.reported:
            return None
        message = {
            "key": self.key,
            "label": self.label,
            "first": self.sent,
            "count": fresh.size,
            "live": self.live,
            "open": self.session is not None,
            "residualGapAt": self.residual_gap_at,
            "tolerance": self.line,
            "rings": self._rings,
            **dataclasses.asdict(curve_style(self.style)),
        }
        self.sent += fresh.size
        self.reported = self.state
        return message, np.concatenate([fresh, positions]).astype(np.float32)

    def send_all_again(self) -> None:
        """Count nothing of this curve as sent: the browser has lost it."""
        self.sent, self.reported = 0, ()

    def _begin(self, run: Run) -> None:
        norm = run.norm_of_b
        self.norm_of_b = norm if norm > 0 else 1.0
        # Other norms have tolerances of their own, which do not belong on this axis.
        if run.configuration.stopping.norm == Norm.RESIDUAL:
            self.tolerance = run.threshold / self.norm_of_b
        self.setup_seconds = run.setup_seconds
        self.history = run.history
