"""Several traces as one stream of events that grows with them, their starts aligned."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from workbench.records.trace import ROW, Kernel, Trace

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


class AlignedTraces:
    """The events of several traces, each shifted so that its first one starts at the same time.

    start: that time, in s; by default when the first event that is taken starts. kernels: of all traces; groups: the
    place of each one's trace among them. `take` adds events; one thread calls it. Cost: 32 bytes an event.

    Examples:
        >>> from workbench.records import AlignedTraces, Event, Trace
        >>> early, late = Trace(), Trace()
        >>> _ = early.append(Event("A p", "cpu", 1.0, 2.0)), late.append(Event("A p", "cpu", 5.0, 6.0))
        >>> AlignedTraces([early, late]).rows["start"].tolist()
        [1.0, 1.0]
    """

    def __init__(self, traces: Sequence[Trace | None] = (), start: float | None = None) -> None:
        self.kernels: list[Kernel] = []
        self.groups: list[int] = []
        self._rows, self._waits = _Grown(ROW), _Grown(np.int64, 2)
        self._taken: list[_Taken] = []
        self._start = start
        self.take(traces)

    @property
    def count(self) -> int:
        """Events of all traces that were taken."""
        return self._rows.count

    @property
    def rows(self) -> np.ndarray:
        """`Trace.rows` of all traces; kernel numbers are places in `kernels`."""
        return self._rows.values

    def waits(self, first: int, last: int) -> np.ndarray:
        """`Trace.waits` of all traces."""
        found = self._waits.values
        return found[slice(*np.searchsorted(found[:, 0], (first, last)))]

    def take(self, traces: Sequence[Trace | None]) -> None:
        """Add the events that the traces have gained; None stands for one that does not exist yet."""
        self._taken += [_Taken() for _ in traces[len(self._taken) :]]
        for group, (trace, taken) in enumerate(zip(traces, self._taken, strict=True)):
            known = taken.places.count
            # The rows first: every kernel that they name is then in the list.
            if trace is None or not (rows := trace.rows[known:].copy()).size:
                continue
            new = trace.kernels[taken.kernels.count :]
            taken.kernels.add(np.arange(len(self.kernels), len(self.kernels) + len(new)))
            self.groups += [group] * len(new)
            self.kernels += new
            if taken.later is None:
                first = float(rows["start"].min())
                self._start = first if self._start is None else self._start
                taken.later = self._start - first
            rows["start"] += taken.later
            rows["end"] += taken.later
            rows["kernel"] = taken.kernels.values[rows["kernel"]]
            taken.places.add(np.arange(self.count, self.count + rows.size))
            self._rows.add(rows)
            self._waits.add(taken.places.values[trace.waits(known, known + rows.size)])


class _Grown:
    """An array that grows along its first axis."""

    def __init__(self, kind: DTypeLike, *shape: int) -> None:
        self.count = 0
        self._room = np.empty((64, *shape), kind)

    @property
    def values(self) -> np.ndarray:
        return self._room[: self.count]

    def add(self, new: np.ndarray) -> None:
        needed = self.count + len(new)
        if needed > len(self._room):
            room = np.empty((2 * needed, *self._room.shape[1:]), self._room.dtype)
            room[: self.count] = self.values
            self._room = room
        self._room[self.count : needed] = new
        self.count = needed


@dataclasses.dataclass
class _Taken:
    """The places of a trace's events and kernels in the stream. later: seconds by which its events are later there."""

    places: _Grown = dataclasses.field(default_factory=lambda: _Grown(np.int64))
    kernels: _Grown = dataclasses.field(default_factory=lambda: _Grown(np.int64))
    later: float | None = None
