"""The runs on a timeline: how much of them the browser has, and the messages that bring the rest."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

from workbench.live.plots.modelled_trace import totals, where
from workbench.plots.scenes.timeline import GrowingLanes
from workbench.records import AlignedTraces, Trace
from workbench.run import Session, State

_KEYS = itertools.count(1)
NOTHING = GrowingLanes(Trace()).part()


@dataclasses.dataclass(eq=False)
class Watched:
    """A run on the timeline. `session` is set as long as it may grow."""

    title: str = ""
    session: Session | None = None
    trace: Trace | None = None
    state: str = "none"
    error: str = ""
    _about: str = ""

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
        """True while nothing happens by itself except that events come, and the end, which the publisher receives."""
        return self.session is None or self.session.steady

    @property
    def live(self) -> bool:
        return self.state in (State.SETUP, State.RUNNING)

    @property
    def begun(self) -> bool:
        """True if it has events."""
        return self.trace is not None and self.trace.count > 0

    @property
    def about(self) -> str:
        """The label of its trace and the machine of its times; empty before it has events."""
        if not self._about and self.begun and self.trace:
            self._about = f"{self.trace.label}, {where(self.trace)}"
        return self._about

    def note(self, hint: str) -> str:
        """Why there is nothing to see; empty where there are events."""
        if self.begun:
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


@dataclasses.dataclass(eq=False)
class Shown:
    """The runs on the timeline, each a set of lanes, and how much of them the browser has.

    made: the first run as it would be on another machine, while all are at rest; words: on that.
    """

    runs: list[Watched] = dataclasses.field(default_factory=lambda: [Watched()])
    sent: int = 0
    kernels: int = 0
    reported: tuple[object, ...] = ()
    made: Trace | None = None
    words: str = ""
    key: int = dataclasses.field(default_factory=lambda: next(_KEYS))
    _events: AlignedTraces | None = None
    _lanes: GrowingLanes | None = None
    _compared: str = ""

    def look(self) -> bool:
        """Take over what the sessions have by now; True while one may grow."""
        grows = [run.look() for run in self.runs]
        self._gather()
        return any(grows)

    @property
    def trace(self) -> Trace | None:
        """The trace of the first run."""
        return self.runs[0].trace

    @property
    def traces(self) -> list[Trace | None]:
        """The traces of all sets of lanes."""
        return [*(run.trace for run in self.runs), *([self.made] if self.made is not None else [])]

    @property
    def several(self) -> bool:
        """True if there are several sets of lanes."""
        return len(self.runs) > 1 or self.made is not None

    @property
    def titles(self) -> list[str]:
        """The titles of all sets of lanes, where there are several."""
        return [group["title"] for group in self.groups]

    @property
    def groups(self) -> list[dict[str, Any]]:
        """Each set of lanes, where there are several: its title, its name in few words, whether it grows, and its kind:
        the first run, another one, or the first as modelled."""
        if not self.several:
            return []
        compared = len(self.runs) > 1
        groups: list[dict[str, Any]] = []
        for place, run in enumerate(self.runs):
            title = run.about or run.note(f"{run.title} is not started")
            title = f"{run.title}: {run.about}" if compared and run.about else title
            short = run.title if compared or not run.trace else run.trace.label
            groups.append({"title": title, "name": short, "live": run.live, "kind": "other" if place else "first"})
        if made := self.made:
            of = f"{self.runs[0].title}: " if compared else ""
            groups.append(
                {"title": f"{of}{made.label}, {made.machine}", "name": made.label, "live": False, "kind": "model"}
            )
        return groups

    @property
    def steady(self) -> bool:
        """True while nothing happens by itself except that events come, and the end of a run."""
        return any(run.session for run in self.runs) and all(run.steady for run in self.runs)

    @property
    def behind(self) -> bool:
        """True while there are events that were not sent."""
        return self.events is not None and self.sent < self.events.count

    @property
    def events(self) -> Trace | AlignedTraces | None:
        """The events for the browser."""
        return self._events if self.several else self.trace

    @property
    def live(self) -> bool:
        return any(run.live for run in self.runs)

    def note(self, hint: str) -> str:
        """Why there is nothing to see; empty where there are events."""
        notes = [run.note(hint) for run in self.runs]
        return notes[0] if all(notes) else ""

    @property
    def compared(self) -> str:
        """The times of runs that have ended, compared in words, where there are several."""
        if not self._compared and len(self.runs) > 1 and all(run.begun and not run.session for run in self.runs):
            self._compared = totals([(run.title, run.trace) for run in self.runs if run.trace])
        return self._compared

    def news(self, hint: str, most: int) -> tuple[dict[str, Any], bytes] | None:
        """The news for the browser, with at most `most` events; None without any."""
        states, note, groups, words = status = self.status(hint)
        if not self.behind and self.reported == status:
            return None
        events, trace = self.events, next((run.trace for run in self.runs if run.begun), self.trace)
        self.reported = status
        if self._lanes is None and events is not None:
            self._lanes = GrowingLanes(events, events.groups if isinstance(events, AlignedTraces) else None)
        message = {
            "run": self.key,
            "title": "" if len(self.runs) > 1 else self.runs[0].title,
            "state": states[0],
            "live": self.live,
            "over": not any(run.session for run in self.runs),
            "note": note,
            "label": trace.label if trace else "",
            "machine": trace.machine if trace else "",
            "notes": list(trace.notes) if trace else [],
            "first": self.sent,
            "groups": groups,
            "words": words,
        }
        part = self._lanes.part(self.sent, self.sent + most) if self._lanes else NOTHING
        said, packed = part.since(self.kernels)
        self.sent += part.rows.size
        self.kernels = len(part.kernels)
        return message | said, packed

    def status(self, hint: str) -> tuple[Any, ...]:
        """The facts that go with events: the state of each run, why there is nothing to see, the sets, and words."""
        words = " ".join(filter(None, (self.compared, self.words)))
        return [run.state for run in self.runs], self.note(hint), self.groups, words

    def compare(self, made: Trace | None) -> bool:
        """Take a model of the first run; True when that has changed."""
        if made is self.made:
            return False
        self.made, self._events = made, None
        self._gather()
        return True

    def _gather(self) -> None:
        if self.several:
            self._events = self._events or AlignedTraces(start=0.0 if len(self.runs) > 1 else None)
            self._events.take(self.traces)

    def forget(self) -> None:
        """Count nothing as sent, since the browser has lost it."""
        self.sent, self.kernels, self.reported, self._lanes = 0, 0, (), None
