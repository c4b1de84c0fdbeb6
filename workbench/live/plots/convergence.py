"""The convergence plot, live: runs that are active grow, earlier ones stay, and runs of a list keep their styles."""

from __future__ import annotations

import dataclasses
import itertools
import math
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import traitlets

from workbench.errors import InputError
from workbench.live.plots.curve import AXES, Curve
from workbench.live.transport.publisher import PAINTS, PERIOD, RATE, PollAgain, Publisher, message_rate_limit
from workbench.live.ui.assets import script
from workbench.live.ui.run_handle import ACTIVE
from workbench.live.ui.run_list import ListedRun, RunList, labels
from workbench.live.ui.stream_view import StreamView
from workbench.plots.scenes.convergence import AGAINST, RESIDUAL
from workbench.plots.scenes.scene import LineAt, Scene
from workbench.records import Record
from workbench.registry import unknown_name
from workbench.run import Norm, RaceEntry, Session
from workbench.run.jobs.ranking import Sample

MOST_SAMPLES = 1 << 18
"""Samples in one message, a megabyte; what is left goes with the next."""


class ConvergenceView(StreamView):
    """Relative residual against iterations as runs proceed. `ConvergenceView(session)` watches one; display it.

    height: of the plot, in pixels; 0 follows the height of the window. nothing: said while there is no run;
    empty: said while there is no curve; phases: then those of the setup of the first run, [name, seconds, done].
    Pointing at the plot, or the arrow keys on it, read out iteration and residuals. Dragging and Ctrl with the wheel
    zoom.

    movable: whether the tolerance line may be moved on the plot: by dragging it or its grip, by the up and down arrow
    keys on the grip or with Shift on the plot, a tenth of a decade each; Delete gives every run its own again. A line
    that was moved or marked has a flag where the first run reaches it. It changes what is looked at and no run's
    stopping.

    Examples:
        >>> from workbench.live import ConvergenceView
        >>> from workbench.run import Run, configure, run_through
        >>> view = ConvergenceView()
        >>> curve = view.add(run_through(Run(configure("two-layer", n=16))).record())
        >>> view.close()
    """

    _script = script("plots/convergence.js")

    height = traitlets.Int(0).tag(sync=True)
    empty = traitlets.Unicode().tag(sync=True)
    phases = traitlets.List().tag(sync=True)
    nothing = traitlets.Unicode("No run yet. Its residual will be drawn here.")
    movable = traitlets.Bool(True).tag(sync=True)
    what = "Run"
    """The word before a number in sentences."""

    def __init__(self, *sessions: Session, publisher: Publisher | None = None, **traits: Any) -> None:
        self._failed, self._lost = "", 0
        self._curves: list[Curve] = []
        self._keys = itertools.count(1)
        self._axis = AXES[0]
        self._with_setup = True
        self._sent_axis = self._axis, self._with_setup
        self._marked: float | None = None
        self._turn = 0
        self._subscribers: list[Callable[[float | None], object]] = []
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
        """The quantity on the horizontal axis, one of `AXES`. Bytes are known of race entries."""
        return self._axis

    @axis.setter
    def axis(self, name: str) -> None:
        if name not in AXES:
            raise InputError(unknown_name("axis", name, AXES))
        self._axis = name
        self._resend()

    @property
    def with_setup(self) -> bool:
        """True if seconds count the setup too, so that a curve begins where its setup ends."""
        return self._with_setup

    @with_setup.setter
    def with_setup(self, counted: bool) -> None:
        self._with_setup = counted
        self._resend()

    @property
    def tolerance(self) -> float | None:
        """The relative residual that is marked, by `mark` or on the plot; None while each run has its own line."""
        return self._marked

    def on_tolerance(self, hear: Callable[[float | None], object]) -> None:
        """Call this with the tolerance, or None, when it was moved on the plot: ten times a second at most while it is
        dragged, and at the end. It may come on any thread and should return at once."""
        self._subscribers = [*self._subscribers, hear]

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

    def add(self, record: Record, label: str = "", style: int | None = None) -> Curve:
        """Put a run that has ended on the plot, for example one loaded from a file. Its label is by default that of its
        blocks, its style that which its file keeps or the first free one."""
        style = self._next_style(record.style) if style is None else style
        return self._add(Curve.of_record(next(self._keys), label or record.label, style, record))

    def scene(self) -> Scene:
        """The runs on the plot that have ended, as they are drawn, for a file.

        Raises InputError while there is none, and against bytes if those of no run are counted.
        """
        against = "total" if self._axis == "seconds" and self._with_setup else self._axis
        ended = [curve for curve in self._curves if curve.ended]
        if not ended:
            raise InputError("no run on the plot has ended; wait, or choose others")
        layers = [layer for curve in ended for layer in curve.layers(self._axis, with_setup=self._with_setup)]
        if not layers:
            raise InputError("the bytes of no run are counted; choose iterations or seconds for the picture")
        lines = dict.fromkeys(curve.line for curve in ended if curve.line)
        marks = [LineAt(line, "tolerance {}", fitted=True) for line in lines]
        return Scene("convergence", AGAINST[against], RESIDUAL, [*layers, *marks], logs="y")

    def redraw(self, curve: Curve, label: str, style: int) -> None:
        """Give a curve another label or style; does nothing if it has both."""
        if (curve.label, curve.style) != (label, style):
            curve.label, curve.style = label, style
            self._resend()

    def time_by(self, curve: Curve, clock: Sample | None) -> None:
        """Draw a curve by the clock of a repetition of its run; by its own for None. Does nothing where it is so."""
        if curve.clock is not clock:
            curve.clock = clock
            self._resend()

    def clear(self) -> None:
        """Take away all runs that have ended."""
        self._curves = [curve for curve in self._curves if curve.session is not None]
        self._resend()

    def drop(self, curve: Curve) -> None:
        """Take one run away, ended or not."""
        self._curves = [other for other in self._curves if other is not curve]
        self._resend()

    def close(self) -> None:
        self._curves = []
        super().close()

    def publish(self) -> PollAgain:
        goes_on = [curve.update() for curve in self._curves]
        if lost := [curve for curve in self._curves if curve.lost]:
            self._lost += len(lost)
            who = _named(lost[-1], self.what) if self._lost == 1 else f"Each of {self._lost}"
            self._failed = f"{who} ended before its first iteration."
            self._curves = [curve for curve in self._curves if not curve.lost]
            self._changed.set()
        self.empty = self._words()
        self.phases = next((shown for curve in self._curves if (shown := curve.phases)), [])
        if self.link.restart():
            self._changed.set()
        if self._changed.is_set():
            self._changed.clear()
            self._rewind()
        if self.link.free and self._is_due():
            self._send_news()
        if any(goes_on) and all(curve.steady for curve in self._curves):
            return self._pace.wait or PERIOD
        return any(goes_on) or (self.link.free and any(curve.has_unsent for curve in self._curves))

    def _words(self) -> str:
        """The sentence in place of the curves."""
        waiting = {_named(curve, self.what): curve.phase for curve in self._curves if curve.phase}
        # One that is set up is what the others wait for.
        busy = {_named(curve, self.what): curve.phase for curve in self._curves if curve.phases}
        if self._curves:
            return "; ".join(f"{name}: {doing}" for name, doing in (busy or waiting).items())
        return self._failed or self.nothing

    def _is_due(self) -> bool:
        reported = not self._rewound and all(curve.waiting or curve.state == curve.reported for curve in self._curves)
        running = any(curve.live for curve in self._curves)
        return not (reported and running) or self._pace.due

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
            options = {
                "marked": self._marked is not None,
                "turn": turn,
                "pace": {"paints": PAINTS, "milliseconds": 1000 / RATE},
                "axis": axis,
                "setup": with_setup,
                "against": dataclasses.asdict(AGAINST["total" if axis == "seconds" and with_setup else axis]),
            }
            self.link.send({"reset": self._rewound, "curves": messages, **options}, buffer)
            self._rewound = False
            self._pace.done()

    def _receive(self, widget: object, content: object, buffers: list[memoryview]) -> None:
        if isinstance(content, dict) and content.get("kind") == "tolerance":
            self._moved(content.get("value"), int(content.get("turn", 0)))
        else:
            super()._receive(widget, content, buffers)

    def _mark(self, tolerance: float | None) -> None:
        self._marked = tolerance
        for curve in self._curves:
            curve.marked = tolerance

    def _moved(self, tolerance: object, turn: int) -> None:
        """Take a move on the plot; the page goes by its own line until this turn is confirmed."""
        if tolerance is not None and not (
            isinstance(tolerance, (int, float)) and math.isfinite(tolerance) and tolerance > 0
        ):
            return
        self._mark(tolerance)
        self._turn = max(self._turn, turn)
        for hear in self._subscribers:
            hear(tolerance)
        self.publisher.wake()

    def _rewind(self) -> None:
        for curve in self._curves:
            curve.send_all_again()
        self._sent_axis = self._axis, self._with_setup
        self._rewound = True

    def _resend(self) -> None:
        self._changed.set()
        self.publisher.wake()

    def _add(self, curve: Curve) -> Curve:
        curve.marked = self._marked
        self._failed, self._lost = "", 0
        self._curves = [*self._curves, curve]
        self.publisher.wake()
        return curve

    def _next_style(self, kept: int | None = None) -> int:
        """The style that a run had, or the first, that no curve on the plot has."""
        used = {curve.style for curve in self._curves}
        free = next(style for style in itertools.count() if style not in used)
        return free if kept is None or kept in used else kept


def _named(curve: Curve, what: str) -> str:
    """A run in a sentence: by its number, where its label has one. what: the word before the number."""
    number = curve.label.partition(": ")[0]
    return f"{what} {number}" if number.isdigit() else curve.label


class ListedCurves:
    """Keeps one curve for each run of a list that `shows` returns true for, in the run's name, colour, dash and mark.
    The name begins with the problem where the plot has runs on several.

    named: the names of several runs in the legend.

    A run without a history, such as one that failed in its setup, has no curve.
    """

    def __init__(
        self,
        view: ConvergenceView,
        runs: RunList,
        shows: Callable[[ListedRun], bool],
        named: Callable[[Sequence[ListedRun]], list[str]] = labels,
    ) -> None:
        self.view, self.runs, self._shows, self._named = view, runs, shows, named
        self._curves: dict[ListedRun, Curve] = {}
        self._nothing = view.nothing
        self._lock = threading.RLock()
        runs.on_change(self.sync)
        self.sync()

    def of(self, run: ListedRun | None) -> Curve | None:
        """The curve of a run; None where it is not on the plot."""
        return self._curves.get(run) if run is not None else None

    def sync(self) -> None:
        """Add and remove curves, and rename and recolour those that stay."""
        with self._lock:
            shown = [run for run in self.runs.runs if self._shows(run)]
            wanted = [run for run in shown if not run.hidden]
            self.view.nothing = "All runs are hidden." if shown and not wanted else self._nothing
            for run in [run for run in self._curves if run not in wanted]:
                self.view.drop(self._curves.pop(run))
            for run, name in zip(wanted, self._named(wanted), strict=True):
                curve = self._curves.get(run)
                if curve is not None:
                    self.view.redraw(curve, _with_norm(name, run), run.style)
                elif (made := self._made(run, name)) is not None:
                    self._curves[run] = made

    def close(self) -> None:
        """Follow the list no more."""
        self.runs.forget(self.sync)
        self._curves = {}

    def _made(self, run: ListedRun, name: str) -> Curve | None:
        source = run.source
        if isinstance(source, ACTIVE):
            return None if source.ended and source.run is None else self.view.watch(source, name, run.style)
        record = source if isinstance(source, Record) else run.record
        return None if record is None else self.view.add(record, _with_norm(name, run), run.style)


def _with_norm(name: str, run: ListedRun) -> str:
    """A label as `ConvergenceView.watch` writes it: with the norm where the run does not stop by the residual."""
    return name if run.norm in ("", Norm.RESIDUAL) else f"{name} (stops by the {run.norm} norm)"
