"""The one run on a timeline: how much of it the browser has, and the messages that bring the rest."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

from workbench.live.plots.modelled_trace import Comparison
from workbench.recording import Trace
from workbench.run import Session, State
from workbench.scenes.timeline import GrowingLanes

_KEYS = itertools.count(1)
NOTHING = GrowingLanes(Trace()).part()


@dataclasses.dataclass(eq=False)
class Shown:
    """The one run on the timeline, and how much of it the browser has. `session` is set as long as the run may grow.

    comparison: the run with what it would be on another machine, while it is at rest; words: on that.
    """

    title: str = ""
    session: Session | None = None
    trace: Trace | None = None
    state: str = "none"
    error: str = ""
    sent: int = 0
    kernels: int = 0
    reported: tuple[str, ...] = ()
    comparison: Comparison | None = None
    words: str = ""
    key: int = dataclasses.field(default_factory=lambda: next(_KEYS))
    _lanes: GrowingLanes | None = None

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
    def steady(self) -> bool:
        """Nothing happens by itself but that events come, and the end, which the publisher receives."""
        return self.session is not None and self.session.steady

    @property
    def behind(self) -> bool:
        """There are events that were not sent."""
        return self.events is not None and self.sent < self.events.count

    @property
    def events(self) -> Trace | Comparison | None:
        """What the browser should have."""
        return self.trace if self.comparison is None else self.comparison

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
        if not self.behind and self.reported == (self.state, note, self.words):
            return None
        if self._lanes is None and events is not None:
            self._lanes = GrowingLanes(events, self.comparison.own if self.comparison else None)
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
            "groups": self.comparison.titles if self.comparison else (),
            "words": self.words,
        }
        part = self._lanes.part(self.sent, self.sent + most) if self._lanes else NOTHING
        said, packed = part.since(self.kernels)
        self.sent += part.rows.size
        self.kernels = len(part.kernels)
        self.reported = (self.state, note, self.words)
        return message | said, packed

    def forget(self) -> None:
        """The browser has nothing of this run any more."""
        self.sent, self.kernels, self.reported, self._lanes = 0, 0, (), None
