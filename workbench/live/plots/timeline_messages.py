"""The runs on a timeline: messages that bring their events to the browser, and their comparison with a model."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.machines.describe import machine_line
from workbench.machines.profile import Profile
from workbench.machines.retime import retime
from workbench.plots.scenes.timeline import GrowingLanes
from workbench.records import AlignedTraces, Trace
from workbench.run import Session, State
from workbench.words.numbers import counted, duration, number

IN_MODEL = "The model leaves out the host between kernels."
_KEYS = itertools.count(1)
NOTHING = GrowingLanes(Trace()).part()


def modelled(trace: Trace, profile: Profile, accelerator: Profile | None = None, name: str = "") -> tuple[Trace, str]:
    """The trace on a machine, and both totals in words with the limits of the model. profile, accelerator: as in
    `retime`, which says what is raised. name: of the run, where there are several. Cost: some microseconds an event."""
    made = retime(trace, profile, accelerator)
    notes = (f"{note[0].upper()}{note[1:]}." for note in made.notes)
    titles = f"{name}, {trace.label}".removeprefix(", ") + f", {where(trace)}", f"{made.label}, {made.machine}"
    return made, " ".join([totals([(titles[0], trace), (titles[1], made)]), IN_MODEL, *notes])


def where(trace: Trace) -> str:
    """The machine of a trace in words."""
    return "this machine" if trace.machine == machine_line() else trace.machine or "a machine that is not named"


def totals(named: Sequence[tuple[str, Trace]]) -> str:
    """The total of each trace from the first start to the last end and that of its kernels, and the ratios to the
    first; iterations where their numbers differ."""
    (title, first), *others = named
    at_work = sum(first.busy().values())
    if not (at_work and all(one.seconds for _, one in named)):
        return f"{title}: no time to compare with."
    # Iteration 0 is the start.
    made = [np.unique(one.column("iteration")[one.column("iteration") > 0]).size for _, one in named]
    steps = [f" for {counted(each, 'iteration')}" if len({*made}) > 1 else "" for each in made]
    said = [f"{title}: {duration(first.seconds)}{steps[0]}, of which kernels {duration(at_work)}"]
    for (name, one), step in zip(others, steps[1:], strict=True):
        alone = sum(one.busy().values()) / at_work
        ratio = one.seconds / first.seconds
        said.append(f"{name}: {duration(one.seconds)}{step}, {_times(ratio)}, kernels alone {_times(alone)}")
    return "; ".join(said) + "."


def _times(ratio: float) -> str:
    # Kernels may be shorter than the clock can tell.
    if ratio <= 0:
        return "too short to be timed"
    return f"{number(1 / ratio)} times as fast" if ratio < 1 else f"{number(ratio)} times as long"


@dataclasses.dataclass(eq=False)
class TimelineRun:
    """A run on the timeline: the state that is reported and its trace so far.

    session: None once the trace cannot grow. error: the message of a run that failed.
    """

    title: str = ""
    session: Session | None = None
    trace: Trace | None = None
    state: str = "none"
    error: str = ""
    _about: str = ""

    def update(self) -> bool:
        """Take the state and the trace of the session; true while the trace may grow."""
        session = self.session
        if session is None:
            return False
        # The state first: all that the run did before that state is then in the trace.
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
        name = self.title or "This run"
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
class TimelineRuns:
    """The runs on the timeline, each a set of lanes, and the part of them that the browser has.

    sent, kernels: events and kernels that were sent. reported: the `status` that was sent last. model: the trace of the
    first run on another machine, while no run is active. model_words: the sentence next to it. key: the number by which
    the browser knows these runs.
    """

    runs: list[TimelineRun] = dataclasses.field(default_factory=lambda: [TimelineRun()])
    sent: int = 0
    kernels: int = 0
    reported: tuple[object, ...] = ()
    model: Trace | None = None
    model_words: str = ""
    key: int = dataclasses.field(default_factory=lambda: next(_KEYS))
    _events: AlignedTraces | None = None
    _lanes: GrowingLanes | None = None
    _compared: str = ""

    def update(self) -> bool:
        """Take the states and traces of the sessions; true while a trace may grow."""
        grows = [run.update() for run in self.runs]
        self._gather()
        return any(grows)

    @property
    def trace(self) -> Trace | None:
        """The trace of the first run."""
        return self.runs[0].trace

    @property
    def traces(self) -> list[Trace | None]:
        """The traces of all sets of lanes."""
        return [*(run.trace for run in self.runs), *([self.model] if self.model is not None else [])]

    @property
    def several(self) -> bool:
        """True if there are several sets of lanes."""
        return len(self.runs) > 1 or self.model is not None

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
        if model := self.model:
            of = f"{self.runs[0].title}: " if compared else ""
            title = f"{of}{model.label}, {model.machine}"
            groups.append({"title": title, "name": model.label, "live": False, "kind": "model"})
        return groups

    @property
    def steady(self) -> bool:
        """True while nothing happens by itself except that events come, and the end of a run."""
        return any(run.session for run in self.runs) and all(run.steady for run in self.runs)

    @property
    def has_unsent(self) -> bool:
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
        if not self.has_unsent and self.reported == status:
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
        words = " ".join(filter(None, (self.compared, self.model_words)))
        return [run.state for run in self.runs], self.note(hint), self.groups, words

    def show_model(self, model: Trace | None) -> bool:
        """Show a model of the first run, or None; true if that is another one than before."""
        if model is self.model:
            return False
        self.model, self._events = model, None
        self._gather()
        return True

    def _gather(self) -> None:
        if self.several:
            self._events = self._events or AlignedTraces(start=0.0 if len(self.runs) > 1 else None)
            self._events.take(self.traces)

    def send_all_again(self) -> None:
        """Count nothing as sent: the browser has lost all."""
        self.sent, self.kernels, self.reported, self._lanes = 0, 0, (), None
