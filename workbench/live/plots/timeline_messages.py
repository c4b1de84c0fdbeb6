"""The one run on a timeline: how much of it the browser has, and the messages that bring the rest."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np

from workbench.devices.clock import WAITING, is_worker, rank
from workbench.devices.cycle_names import level_of
from workbench.live.plots.modelled_trace import Comparison
from workbench.naming import kernel_name
from workbench.recording import Trace
from workbench.recording.trace import Kernel
from workbench.run import Session, State
from workbench.scenes.style import KernelLooks

_KEYS = itertools.count(1)


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
    _looks: KernelLooks = dataclasses.field(default_factory=KernelLooks)

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
        # The rows first: every kernel that they name is then in the list.
        rows = events.rows[self.sent :][:most] if events else np.empty(0)
        kernels = events.kernels[self.kernels :] if events else []
        flows = _flows(events, self.sent, self.sent + rows.size) if events else np.empty((0, 4))
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
            "flows": len(flows),
            "firstKernel": self.kernels,
            "kernels": [self._described(kernel, place) for place, kernel in enumerate(kernels, self.kernels)],
            "groups": self.comparison.titles if self.comparison else (),
            "words": self.words,
        }
        self.sent += int(rows.size)
        self.kernels += len(kernels)
        self.reported = (self.state, note, self.words)
        return message, _packed(rows) + flows.tobytes() if rows.size else b""

    def forget(self) -> None:
        """The browser has nothing of this run any more."""
        self.sent, self.kernels, self.reported = 0, 0, ()

    def _described(self, kernel: Kernel, place: int) -> dict[str, Any]:
        """A kernel with its style. One name looks the same on every lane, for every size and on every machine."""
        style, colour = self._looks.of(kernel.name, kernel.lane)
        looks = {"rank": rank(kernel.lane), "style": style, "colour": colour}
        looks |= {"worker": is_worker(kernel.lane), "idle": kernel.name == WAITING}
        looks |= {"level": level_of(kernel.name)}
        group = int(self.comparison is not None and place >= self.comparison.own)
        names = {"name": kernel_name(kernel.name), "code": kernel.name}
        return {**dataclasses.asdict(kernel), **names, **looks, "group": group}


def _flows(events: Trace | Comparison, first: int, last: int) -> np.ndarray:
    """What some events wait for: the end of that, the start of the event, and both kernels, float64, shape (k, 4)."""
    rows, (after, before) = events.rows, events.waits(first, last).T
    columns = (rows["end"][before], rows["start"][after], rows["kernel"][before], rows["kernel"][after])
    return np.stack(columns, axis=1).astype("<f8")


def _packed(rows: np.ndarray) -> bytes:
    """Columns one after another: starts as float64, lengths as float32, kernels and iterations as int32."""
    starts = rows["start"]
    lengths = (rows["end"] - starts).astype("<f4")
    columns = (starts.astype("<f8"), lengths, rows["kernel"].astype("<i4"), rows["iteration"].astype("<i4"))
    return b"".join(column.tobytes() for column in columns)
