"""The convergence plot, live: the runs being watched grow, earlier ones stay for comparison."""

from __future__ import annotations

import dataclasses
import itertools
import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import traitlets

from workbench.errors import InputError
from workbench.figures import curve_style
from workbench.live.kit.assets import module
from workbench.live.kit.stream_view import StreamView
from workbench.live.transport.publisher import PAINTS, PERIOD, RATE, Again, Publisher, message_rate_limit
from workbench.recording import BlockHistory, ColumnHistory, History, Record
from workbench.registry import unknown_name
from workbench.run import Norm, RaceEntry, Run, Session, State

MOST_SAMPLES = 1 << 18
"""Samples in one message, a megabyte; what is left goes with the next."""
AXES = ("iterations", "seconds", "bytes")
"""What residuals are drawn against: seconds of each run's own clock, bytes that its iterations read and write."""


@dataclasses.dataclass(eq=False)
class Curve:
    """One run on the plot. `session` is set as long as the run may grow; later only its history is kept.

    marked: a relative residual that is drawn in place of the run's own tolerance. setup_seconds: of the run, in s.
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
    live: bool = False
    sent: int = 0
    told: tuple[Any, ...] = ()

    @classmethod
    def of_record(cls, key: int, label: str, style: int, record: Record) -> Curve:
        """A run that has ended, for example one from a file."""
        residual = record.history["residual"]
        relative = record.relative_residual
        scale = float(residual[-1] / relative[-1]) if residual.size and relative[-1] else 1.0
        setup = float(record.summary.get("setup_seconds") or 0.0)
        curve = cls(key, label, style, history=record.history, norm_of_b=scale, setup_seconds=setup)
        stopping = record.provenance.get("configuration", {}).get("stopping", {})
        if stopping.get("norm") == Norm.RESIDUAL:
            curve.tolerance = stopping["rtol"]
        return curve

    def look(self) -> bool:
        """Take over what the session has by now; True while it may grow."""
        if self.session is None:
            return False
        # The state first: whatever the run did before it came to rest is then in the history.
        state = self.session.state
        run = self.session.run
        if run is not None and self.history is None:
            self.iteration_bytes = getattr(self.session, "iteration_bytes", None)
            self._begin(run)
        self.live = state in (State.SETUP, State.RUNNING)
        if state in (State.DONE, State.FAILED):
            self.session = None
        return self.session is not None

    @property
    def steady(self) -> bool:
        """Nothing happens by itself but that samples come, and the end, of which the publisher is told."""
        return self.session is None or self.session.steady

    @property
    def lost(self) -> bool:
        """The run failed before it began."""
        return self.session is None and self.history is None

    @property
    def last(self) -> tuple[int, float] | None:
        """The latest iteration and its relative residual."""
        count = self.history.count if self.history is not None else 0
        return (count - 1, float(self.history["residual"][count - 1]) / self.norm_of_b) if count else None

    @property
    def behind(self) -> bool:
        """There are samples that were not sent."""
        return self.history is not None and self.sent < self.history.count

    @property
    def waiting(self) -> bool:
        """The run is queued, and not on the plot before it begins."""
        session = self.session
        return session is not None and session.run is None and session.state in (State.QUEUED, State.PAUSED)

    @property
    def state(self) -> tuple[Any, ...]:
        """What the browser must know at once."""
        confirmed = 0 if self.history is None else len(self.history.true_residuals)
        return self.label, self.live, self.line, self.marked is None, confirmed, self.parted, self.session is None

    @property
    def parted(self) -> int:
        """The first iteration with a residual gap, -1 for none."""
        gap = None if self.history is None else self.history.residual_gap_at
        return -1 if gap is None else gap

    @property
    def line(self) -> float:
        """The relative residual at which a line is drawn, 0 for none."""
        return self.tolerance if self.marked is None else self.marked

    def positions(self, axis: str, *, with_setup: bool = True) -> np.ndarray:
        """Where each sample lies on one of the `AXES`, shape (iterations + 1,); NaN where its bytes are not counted.

        with_setup: seconds begin with the setup.
        """
        assert self.history is not None
        if axis == "seconds":
            return self.history["seconds"] + (self.setup_seconds if with_setup else 0.0)
        iterations = np.arange(self.history.count, dtype=np.float64)
        if axis == "iterations":
            return iterations
        return iterations * (np.nan if self.iteration_bytes is None else self.iteration_bytes)

    def news(
        self, most: int, axis: str = "iterations", *, with_setup: bool = True
    ) -> tuple[dict[str, Any], np.ndarray] | None:
        """What the browser does not have yet, at most so many samples; None when there is nothing.

        Beside the message, the samples' relative residuals, and where the axis is not iterations their positions after
        them, float32.
        """
        if self.waiting:
            return None
        fresh, positions = np.empty(0), np.empty(0)
        rings: list[list[float]] = []
        if self.history is not None:
            # The positions first: the history may grow before the residuals are taken.
            places = self.positions(axis, with_setup=with_setup)
            fresh = self.history["residual"][self.sent : places.size][:most] / self.norm_of_b
            if axis != "iterations":
                positions = places[self.sent :][: fresh.size]
            confirmed = self.history.true_residuals
            finite = confirmed[np.isfinite(confirmed[:, 1])].tolist()
            rings = [[iteration, value / self.norm_of_b] for iteration, value in finite]
        if fresh.size == 0 and self.state == self.told:
            return None
        message = {
            "key": self.key,
            "label": self.label,
            "tag": self.label.partition(": ")[0],
            "first": self.sent,
            "count": fresh.size,
            "live": self.live,
            "open": self.session is not None,
            "parted": self.parted,
            "tolerance": self.line,
            "rings": rings,
            **dataclasses.asdict(curve_style(self.style)),
        }
        self.sent += fresh.size
        self.told = self.state
        return message, np.concatenate([fresh, positions]).astype(np.float32)

    def forget(self) -> None:
        """The browser has nothing of this curve any more."""
        self.sent, self.told = 0, ()

    def _begin(self, run: Run) -> None:
        norm = run.norm_of_b
        self.norm_of_b = norm if norm > 0 else 1.0
        # Other norms have tolerances of their own, which do not belong on this axis.
        if run.configuration.stopping.norm == Norm.RESIDUAL:
            self.tolerance = run.threshold / self.norm_of_b
        self.setup_seconds = run.setup_seconds
        self.history = run.history


@dataclasses.dataclass(eq=False)
class ColumnCurve(Curve):
    """One of the right-hand sides of a run."""

    column: int = 0

    def _begin(self, run: Run) -> None:
        super()._begin(run)
        assert isinstance(run.history, BlockHistory)
        self.history = ColumnHistory(run.history, self.column)


class ConvergenceView(StreamView):
    """Relative residual against iterations as runs go on. `ConvergenceView(session)` watches one; display it to see it.

    height: of the plot, in pixels; 0 follows the height of the window. empty: said while there is no run. Pointing at
    the plot, or the arrow keys on it, read out iteration and residuals. Dragging and Ctrl with the wheel zoom.

    movable: whether the tolerance line may be moved on the plot: by dragging it or its grip, by the up and down arrow
    keys on the grip or with Shift on the plot, a tenth of a decade each; Delete gives every run its own again. A line
    that was moved or marked has a flag where the first run reaches it. It changes what is looked at and no run's
    stopping.
    """

    _esm = module("plots/convergence.js")

    height = traitlets.Int(0).tag(sync=True)
    empty = traitlets.Unicode("No run yet. Its residual will be drawn here.").tag(sync=True)
    movable = traitlets.Bool(True).tag(sync=True)

    def __init__(self, *sessions: Session, publisher: Publisher | None = None, **traits: Any) -> None:
        self._curves: list[Curve] = []
        self._keys = itertools.count(1)
        self._axis = AXES[0]
        self._with_setup = True
        self._sent_axis = self._axis, self._with_setup
        self._marked: float | None = None
        self._turn = 0
        self._hearers: list[Callable[[float | None], object]] = []
        self._rewound = True
        self._pace = message_rate_limit()
        self._changed = threading.Event()
        super().__init__(publisher, **traits)
        for session in sessions:
            self.watch(session)

    @property
    def curves(self) -> tuple[Curve, ...]:
        """The runs on the plot, oldest first."""
        return tuple(self._curves)

    @property
    def axis(self) -> str:
        """What residuals are drawn against, one of `AXES`. Bytes are known of the lanes of a race."""
        return self._axis

    @axis.setter
    def axis(self, name: str) -> None:
        if name not in AXES:
            raise InputError(unknown_name("axis", name, AXES))
        self._axis = name
        self._anew()

    @property
    def with_setup(self) -> bool:
        """Seconds count the setup too, so that a curve begins where its setup ends."""
        return self._with_setup

    @with_setup.setter
    def with_setup(self, counted: bool) -> None:
        self._with_setup = counted
        self._anew()

    @property
    def tolerance(self) -> float | None:
        """The relative residual that is marked, by `mark` or on the plot; None while each run has its own line."""
        return self._marked

    def on_tolerance(self, hear: Callable[[float | None], object]) -> None:
        """Call this with the tolerance, or None, when it was moved on the plot: ten times a second at most while it is
        dragged, and at the end. It may come on any thread and should return at once."""
        self._hearers = [*self._hearers, hear]

    def mark(self, tolerance: float | None) -> None:
        """Draw one line at this relative residual in place of every run's own tolerance; None for those again."""
        self._mark(tolerance)
        self.publisher.wake()

    def watch(self, session: Session | RaceEntry, label: str = "", style: int | None = None) -> Curve:
        """Follow a run, started or not; its label is by default that of its blocks, its style the first free one."""
        configuration = session.configuration
        label = label or configuration.label
        if isinstance(session, Session):
            session.when_over(self.publisher.wake)
        if configuration.stopping.norm != Norm.RESIDUAL:
            label += f" (stops by the {configuration.stopping.norm} norm)"
        return self._add(Curve(next(self._keys), label, self._next_style() if style is None else style, session))

    def watch_columns(self, session: Session, s: int) -> None:
        """Follow a run, started or not, with a curve for each of its s right-hand sides."""
        session.when_over(self.publisher.wake)
        for j in range(s):
            self._add(ColumnCurve(next(self._keys), f"column {j}", self._next_style(), session, column=j))

    def add(self, record: Record, label: str = "", style: int | None = None) -> Curve:
        """Put a run that has ended on the plot, for example one loaded from a file; label and style as in `watch`."""
        style = self._next_style() if style is None else style
        return self._add(Curve.of_record(next(self._keys), label or record.label, style, record))

    def redraw(self, curve: Curve, label: str, style: int) -> None:
        """Give a curve another label or style; does nothing if it has both."""
        if (curve.label, curve.style) != (label, style):
            curve.label, curve.style = label, style
            self._anew()

    def clear(self) -> None:
        """Take away all runs that have ended."""
        self._curves = [curve for curve in self._curves if curve.session is not None]
        self._anew()

    def drop(self, curve: Curve) -> None:
        """Take one run away, ended or not."""
        self._curves = [other for other in self._curves if other is not curve]
        self._anew()

    def publish(self) -> Again:
        goes_on = [curve.look() for curve in self._curves]
        if any(curve.lost for curve in self._curves):
            self._curves = [curve for curve in self._curves if not curve.lost]
            self._changed.set()
        if self.link.restart():
            self._changed.set()
        if self._changed.is_set():
            self._changed.clear()
            self._rewind()
        if self.link.free and self._is_due():
            self._send_news()
        if any(goes_on) and all(curve.steady for curve in self._curves):
            return self._pace.wait or PERIOD
        return any(goes_on) or (self.link.free and any(curve.behind for curve in self._curves))

    def _is_due(self) -> bool:
        told = not self._rewound and all(curve.waiting or curve.state == curve.told for curve in self._curves)
        running = any(curve.live for curve in self._curves)
        return not (told and running) or self._pace.due

    def _send_news(self) -> None:
        messages, samples, room = [], [], MOST_SAMPLES
        # The turn first: what it marked is then in the news.
        turn, (axis, with_setup) = self._turn, self._sent_axis
        for curve in self._curves:
            news = curve.news(room, axis, with_setup=with_setup)
            if news:
                messages.append(news[0])
                samples.append(news[1])
                room = max(0, room - news[1].size)
        if messages or self._rewound:
            buffer = np.concatenate(samples).tobytes() if samples else b""
            pace = {"paints": PAINTS, "milliseconds": 1000 / RATE}
            options = {
                "marked": self._marked is not None,
                "turn": turn,
                "pace": pace,
                "axis": axis,
                "setup": with_setup,
            }
            self.link.send({"reset": self._rewound, "curves": messages, **options}, buffer)
            self._rewound = False
            self._pace.done()

    def _receive(self, widget: Any, content: Any, buffers: Any) -> None:
        if isinstance(content, dict) and content.get("kind") == "tolerance":
            self._moved(content.get("value"), int(content.get("turn", 0)))
        else:
            super()._receive(widget, content, buffers)

    def _mark(self, tolerance: float | None) -> None:
        self._marked = tolerance
        for curve in self._curves:
            curve.marked = tolerance

    def _moved(self, tolerance: Any, turn: int) -> None:
        """Take what was done on the plot; the page goes by its own line until it is told of this turn."""
        if tolerance is not None and not (
            isinstance(tolerance, (int, float)) and math.isfinite(tolerance) and tolerance > 0
        ):
            return
        self._mark(tolerance)
        self._turn = max(self._turn, turn)
        for hear in self._hearers:
            hear(tolerance)
        self.publisher.wake()

    def _rewind(self) -> None:
        for curve in self._curves:
            curve.forget()
        self._sent_axis = self._axis, self._with_setup
        self._rewound = True

    def _anew(self) -> None:
        self._changed.set()
        self.publisher.wake()

    def _add(self, curve: Curve) -> Curve:
        curve.marked = self._marked
        self._curves = [*self._curves, curve]
        self.publisher.wake()
        return curve

    def _next_style(self) -> int:
        """The first style that no curve on the plot has."""
        used = {curve.style for curve in self._curves}
        return next(style for style in itertools.count() if style not in used)
