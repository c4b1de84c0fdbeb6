"""The timeline, live: what ran when on which lane, while the run goes on or from a recording."""

from __future__ import annotations

import dataclasses
import itertools
import time
from typing import Any

import numpy as np
import traitlets
from matplotlib.figure import Figure

from workbench.devices.clock import LANES
from workbench.errors import InputError
from workbench.figures import timeline
from workbench.figures.style import COLOURS
from workbench.live._assets import module
from workbench.live._stream import PERIOD, Publisher
from workbench.live._view import StreamView
from workbench.live._worker import LatestOnly
from workbench.live.modelled import Beside
from workbench.machine.profile import profile, profiles
from workbench.recording import Record, Trace
from workbench.recording.trace import Kernel
from workbench.run import Result, Run, Session, State

MOST_EVENTS = 1 << 16
"""Events in one message, 1.3 megabytes; what is left goes with the next."""
STROKES = 2
"""Paints per message while a run goes on, five a second: each draws all that is in sight anew."""
HATCHES = 4
"""Plain, striped, dotted, crossed: with the colours enough to tell 28 kernels apart."""
HINT = "Trace a run to see where its time goes: Session(configuration, trace=True)."
LATER = "What it would take on the machine that was chosen is computed when the run is held or over."
_KEYS = itertools.count(1)


@dataclasses.dataclass(eq=False)
class Shown:
    """The one run on the timeline, and how much of it the browser has. `session` is set as long as the run may grow.

    beside: the run with what it would be on another machine, while it is at rest; words: on that.
    """

    title: str = ""
    session: Session | None = None
    trace: Trace | None = None
    state: str = "none"
    error: str = ""
    sent: int = 0
    kernels: int = 0
    told: tuple[str, ...] = ()
    beside: Beside | None = None
    words: str = ""
    key: int = dataclasses.field(default_factory=lambda: next(_KEYS))
    _styles: dict[str, int] = dataclasses.field(default_factory=dict)

    def look(self) -> bool:
        """Take over what the session has by now; True while it may grow."""
        session = self.session
        if session is None:
            return False
        # The state first: whatever the run did before it came to rest is then in the trace.
        self.state = session.state.value
        if session.run is not None:
            self.trace = session.run.trace
        if session.state in (State.DONE, State.FAILED):
            self.error = session.error
            self.session = None
        return self.session is not None

    @property
    def behind(self) -> bool:
        """There are events that were not sent."""
        return self.events is not None and self.sent < self.events.count

    @property
    def events(self) -> Trace | Beside | None:
        """What the browser should have."""
        return self.trace if self.beside is None else self.beside

    @property
    def live(self) -> bool:
        return self.state in (State.SETUP, State.RUNNING)

    def note(self, hint: str) -> str:
        """Why there is nothing to see."""
        if self.trace is not None and self.trace.count:
            return ""
        name = self.title or "this run"
        if self.error:
            return f"{name}: {self.error}"
        if self.state in ("none", State.IDLE):
            return hint
        if self.state == State.QUEUED:
            return f"{name} is queued"
        if self.state == State.SETUP or self.trace is not None:
            return f"{name}: no events yet"
        return f"{name} has no trace. {hint}"

    def news(self, hint: str, most: int) -> tuple[dict[str, Any], bytes] | None:
        """What the browser does not have yet, at most so many events; None when there is nothing."""
        trace, events, note = self.trace, self.events, self.note(hint)
        if not self.behind and self.told == (self.state, note, self.words):
            return None
        # The rows first: every kernel that they name is then in the list.
        rows = events.rows[self.sent :][:most] if events else np.empty(0)
        kernels = events.kernels[self.kernels :] if events else []
        message = {
            "run": self.key,
            "title": self.title,
            "state": self.state,
            "live": self.live,
            "over": self.session is None,
            "note": note,
            "label": trace.label if trace else "",
            "machine": trace.machine if trace else "",
            "notes": list(trace.notes) if trace else [],
            "first": self.sent,
            "count": int(rows.size),
            "firstKernel": self.kernels,
            "kernels": [self._described(kernel, place) for place, kernel in enumerate(kernels, self.kernels)],
            "groups": self.beside.titles if self.beside else (),
            "words": self.words,
        }
        self.sent += int(rows.size)
        self.kernels += len(kernels)
        self.told = (self.state, note, self.words)
        return message, _packed(rows) if rows.size else b""

    def forget(self) -> None:
        """The browser has nothing of this run any more."""
        self.sent, self.kernels, self.told = 0, 0, ()

    def _described(self, kernel: Kernel, place: int) -> dict[str, Any]:
        """A kernel with its style. One name looks the same on every lane, for every size and on every machine."""
        style = self._styles.setdefault(kernel.name, len(self._styles))
        colour, hatch = COLOURS[style % len(COLOURS)], style // len(COLOURS) % HATCHES
        looks = {"rank": LANES.index(kernel.lane), "style": style, "colour": colour, "hatch": hatch}
        group = int(self.beside is not None and place >= self.beside.own)
        return {**dataclasses.asdict(kernel), **looks, "group": group}


class TimelineView(StreamView):
    """Kernels on lanes over time: of a session as it runs, of a record, a result or a trace that has been loaded.

    `TimelineView(session)` follows the last iterations until you pan. The wheel or + and - zoom, dragging or the arrow
    keys pan, Home shows all, Shift with the arrow keys goes from event to event. height: of the lanes, in pixels.
    hint: said while there is nothing to see. machine: the name of a profile; while the run is at rest, what it would
    take there stands below what was measured, from the same start on.
    """

    _esm = module("timeline.js")
    _worker = traitlets.Unicode(module("timelineworker.js")).tag(sync=True)

    height = traitlets.Int(300).tag(sync=True)
    machine = traitlets.Unicode("").tag(sync=True)
    machines = traitlets.List().tag(sync=True)

    def __init__(
        self,
        source: Session | Record | Result | Trace | None = None,
        *,
        hint: str = HINT,
        publisher: Publisher | None = None,
        **traits: Any,
    ) -> None:
        self._hint = hint
        self._shown = Shown()
        self._drawn: Shown | None = None
        self._rewound = True
        self._next = 0.0
        self._worker_of_models = LatestOnly("workbench-model")
        self._wanted: tuple[Shown, str, int] | None = None
        self._made: tuple[object, Beside | None, str] = (None, None, "")
        super().__init__(publisher, **traits)
        self.machines = [[name, made.title] for name, made in profiles().items()]
        self.observe(lambda _change: self.publisher.wake(), ["machine"])
        if source is not None:
            self.show(source)

    @property
    def trace(self) -> Trace | None:
        """What is on the timeline."""
        return self._shown.trace

    def figures(self, iterations: tuple[int, int] | None = None) -> dict[str, Figure]:
        """The boxes of some iterations, first and last, by the name `timeline`; by default of the two in the middle.

        Raises InputError when nothing was noted in them.
        """
        trace = self.trace
        return {"timeline": timeline(trace, iterations, title=self._shown.title)} if trace and trace.count else {}

    def show(self, source: Session | Run | Record | Result | Trace, title: str = "") -> None:
        """Show another run instead. A session may be started or not, and is followed."""
        if isinstance(source, Session):
            self._shown = Shown(title or source.configuration.label, session=source)
        else:
            trace = source if isinstance(source, Trace) else source.trace
            self._shown = Shown(title, trace=trace, state=State.DONE.value)
        self.publisher.wake()

    def clear(self) -> None:
        """Take away the run, if it has ended."""
        if self._shown.session is None or not self._shown.session.alive:
            self._shown = Shown()
        self.publisher.wake()

    def publish(self) -> bool:
        shown = self._shown
        goes_on = shown.look()
        modelled = self.link.free and self._model(shown)
        if self.link.restart() or shown is not self._drawn or modelled:
            self._drawn = shown
            shown.forget()
            self._rewound = True
        if self.link.free and self._is_due(shown):
            self._send_news(shown)
        return goes_on or (self.link.free and shown.behind)

    def _model(self, shown: Shown) -> bool:
        """Put the events of the chosen machine beside those of a run at rest; True when what is there has changed."""
        before = shown.beside
        wanted = None
        if self.machine and shown.trace is not None and shown.trace.count:
            shown.words = LATER if shown.live else ""
            wanted = None if shown.live else (shown, self.machine, shown.trace.count)
        else:
            shown.words = ""
        if wanted is None:
            shown.beside = None
        elif wanted != self._wanted:
            self._worker_of_models.ask(lambda: self._make_model(wanted))
        elif self._made[0] == wanted:
            _, shown.beside, shown.words = self._made
        self._wanted = wanted
        return shown.beside is not before

    def _make_model(self, wanted: tuple[Shown, str, int]) -> None:
        """In the worker: the events of a trace on a machine, or the sentence that says why there are none."""
        shown, machine, _ = wanted
        assert shown.trace is not None
        try:
            beside = Beside(shown.trace, profile(machine))
        except InputError as error:
            self._made = wanted, None, f"{error}."
        else:
            notes = (f"{note[0].upper()}{note[1:]}." for note in beside.notes)
            self._made = wanted, beside, " ".join([beside.sentence, *notes])
        self.publisher.wake()

    def _is_due(self, shown: Shown) -> bool:
        told = shown.told == (shown.state, shown.note(self._hint), shown.words)
        return not (told and shown.live) or time.monotonic() >= self._next

    def _send_news(self, shown: Shown) -> None:
        news = shown.news(self._hint, MOST_EVENTS)
        if news is None:
            return
        message, buffer = news
        pace = {"paints": STROKES, "milliseconds": 1000 * PERIOD / STROKES}
        self.link.send({"reset": self._rewound, **message, "pace": pace}, buffer)
        self._rewound = False
        # A little early, so that a tick that comes in time is never put off to the next.
        self._next = time.monotonic() + 0.9 * PERIOD


def _packed(rows: np.ndarray) -> bytes:
    """Columns one after another: starts as float64, lengths as float32, kernels and iterations as int32."""
    starts = rows["start"]
    lengths = (rows["end"] - starts).astype("<f4")
    columns = (starts.astype("<f8"), lengths, rows["kernel"].astype("<i4"), rows["iteration"].astype("<i4"))
    return b"".join(column.tobytes() for column in columns)
