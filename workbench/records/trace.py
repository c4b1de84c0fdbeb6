"""Traces: events of kernels and copies on lanes, readable from another thread while they are written."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.devices.clock import WAITING, earliest, lane_order
from workbench.errors import InputError
from workbench.records.typed import read

LABELS = ("measured", "modelled", "replayed", "dry run")
"""Origin of the times: timed on this machine; computed from a machine profile; played back from a recording; or absent,
in a dry run, which records events without computing."""
MEASURED, MODELLED, REPLAYED, DRY_RUN = LABELS
FORMER_LABELS = {"rehearsed": DRY_RUN}
"""Labels in files of earlier versions."""

MAX_ITERATIONS = 2**31 - 1
ROW = np.dtype([("start", np.float64), ("end", np.float64), ("kernel", np.int32), ("iteration", np.int32)])
"""An event as it is stored."""


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel or copy: name, lane, and bytes and operations per call, zero if unknown."""

    name: str
    lane: str
    bytes: int = 0
    flops: int = 0


@dataclasses.dataclass(frozen=True)
class Event:
    """One call of a kernel or copy.

    start, end: seconds from the trace's origin. after: indices of events that it depends on; the order within a lane is
    implied and not included.

    Examples:
        >>> from workbench.records import Event
        >>> Event("A p", "cpu", start=0.5, end=0.75, bytes=8_000_000).seconds
        0.25
    """

    name: str
    lane: str
    start: float
    end: float
    bytes: int = 0
    flops: int = 0
    iteration: int = 0
    after: tuple[int, ...] = ()

    @property
    def seconds(self) -> float:
        """Its duration."""
        return self.end - self.start


class Trace:
    """Events in the order in which they were added, 24 bytes each.

    label: `measured`, `modelled`, `replayed` or `dry run`. machine: description for display. notes: limits of a
    model, as sentences. Thread safety: one thread adds events, any number read; the count is increased after an event
    is written, and growing replaces the array.

    Examples:
        >>> from workbench.records import Trace
        >>> trace = Trace("one core")
        >>> event = trace.add(trace.kernel("A p", "cpu", bytes_moved=8_000_000), start=0.0, end=0.5)
        >>> trace.busy(), len(trace.rows)
        ({'cpu': 0.5}, 1)
    """

    def __init__(self, machine: str = "", label: str = MEASURED, notes: Sequence[str] = ()) -> None:
        if label not in LABELS:
            raise InputError(f"a trace is {', '.join(LABELS)}, got {label!r}")
        self.machine, self.label, self.notes = machine, label, list(notes)
        self.origin = time.perf_counter()
        self.count = 0
        """Number of events."""
        self.kernels: list[Kernel] = []
        self._numbers: dict[Kernel, int] = {}
        self._rows = np.empty(1024, ROW)
        # Few events depend on other lanes, so a dictionary takes less memory than a column.
        self._after: dict[int, tuple[int, ...]] = {}

    def kernel(self, name: str, lane: str, bytes_moved: int = 0, flops: int = 0) -> int:
        """The number of a kernel, for `add`. Raises InputError for an unknown lane."""
        lane_order(lane)
        kernel = Kernel(name, lane, int(bytes_moved), int(flops))
        number = self._numbers.setdefault(kernel, len(self.kernels))
        if number == len(self.kernels):
            self.kernels.append(kernel)
        return number

    def add(self, kernel: int, start: float, end: float, iteration: int = 0, after: tuple[int, ...] = ()) -> int:
        """Add an event and return its index. Cost: 0.5 microseconds. Raises InputError for invalid times or `after`."""
        index = self.count
        if not end >= start:
            raise InputError(f"event {index} ends at {end} s, before it starts at {start} s")
        if index == self._rows.size:
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        if after:
            if max(after) >= index or min(after) < 0:
                raise InputError(f"event {index} can only wait for earlier events, got {after}")
            self._after[index] = after
        self._rows[index] = (start, end, kernel, iteration)
        self.count = index + 1
        return index

    def append(self, event: Event) -> int:
        """Add an `Event` and return its index."""
        kernel = self.kernel(event.name, event.lane, event.bytes, event.flops)
        return self.add(kernel, event.start, event.end, event.iteration, tuple(event.after))

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Event:
        if not 0 <= index < self.count:
            raise IndexError(f"the trace has {self.count} events, there is no event {index}")
        start, end, number, iteration = self._rows[index].item()
        kernel = self.kernels[number]
        after = self._after.get(index, ())
        return Event(kernel.name, kernel.lane, start, end, kernel.bytes, kernel.flops, iteration, after)

    def __iter__(self) -> Iterator[Event]:
        return (self[index] for index in range(self.count))

    @property
    def rows(self) -> np.ndarray:
        """All events as a read-only structured array with start, end, kernel and iteration, shape (count,).

        While the trace grows, take several fields from one returned array, so that they have the same length.
        """
        count = self.count
        view = self._rows[:count].view()
        view.flags.writeable = False
        return view

    def column(self, name: str) -> np.ndarray:
        """One field of `rows`."""
        return self.rows[name]

    def waits(self, first: int = 0, last: int | None = None) -> np.ndarray:
        """The waits of events from `first` to before `last` for others, as pairs of indices, shape (k, 2)."""
        last = self.count if last is None else last
        # Not the dictionary's items, which another thread may add to.
        found = [(k, cause) for k in range(first, last) for cause in self._after.get(k, ())] if self._after else []
        return np.array(found, np.int64).reshape(-1, 2)

    @property
    def seconds(self) -> float:
        """Seconds from the first start to the last end."""
        rows = self.rows
        return float(rows["end"].max() - rows["start"].min()) if rows.size else 0.0

    def busy(self) -> dict[str, float]:
        """Busy seconds by lane, for lanes with events; a worker that waits is not busy."""
        rows, kernels = self.rows, self.kernels
        seconds = np.bincount(rows["kernel"], rows["end"] - rows["start"], minlength=len(kernels))
        used = {kernels[number].lane for number in np.unique(rows["kernel"])}
        busy = dict.fromkeys(sorted(used, key=lane_order), 0.0)
        for kernel, spent in zip(kernels, seconds.tolist(), strict=False):
            if kernel.lane in busy and kernel.name != WAITING:
                busy[kernel.lane] += spent
        return busy

    def rescheduled(
        self, seconds: Callable[[Event], float], machine: str, label: str, notes: Sequence[str] = ()
    ) -> Trace:
        """The events with durations `seconds(event)`, each starting as early as possible.

        An event starts when the previous event of its lane and its dependencies have ended. Host work between events
        is not modelled.
        """
        events = list(self)
        return scheduled(events, map(seconds, events), Trace(machine, label, notes))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: a list of kernels, and columns of events."""
        rows = self.rows
        columns = {name: rows[name].tolist() for name in ROW.names or ()}
        return {
            "label": self.label,
            "machine": self.machine,
            "notes": list(self.notes),
            "kernels": [dataclasses.asdict(kernel) for kernel in self.kernels],
            **columns,
            "after": {str(index): list(after) for index, after in self._after.items()},
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Trace:
        """The inverse of `to_dict`. Raises InputError for invalid data."""
        data = read(_Columns, plain, "trace")
        trace = cls(data.machine, FORMER_LABELS.get(data.label, data.label), data.notes)
        numbers = [trace.kernel(kernel.name, kernel.lane, kernel.bytes, kernel.flops) for kernel in data.kernels]
        columns = (data.start, data.end, data.kernel, data.iteration)
        if len(set(map(len, columns))) > 1:
            lengths = ", ".join(str(len(column)) for column in columns)
            raise InputError(f"the columns of its trace have different lengths: {lengths}")
        if not all(0 <= number < len(numbers) for number in data.kernel):
            raise InputError(f"an event of its trace has a kernel number that is not below {len(numbers)}")
        for index, (start, end, number, iteration) in enumerate(zip(*columns, strict=True)):
            check_times(index, start, end, iteration)
            trace.add(numbers[number], start, end, iteration, tuple(data.after.get(str(index), ())))
        return trace


def scheduled(events: Sequence[Event], seconds: Iterable[float], trace: Trace) -> Trace:
    """The empty trace with these events, each starting as early as possible; their own times do not matter.

    after: places in the list. An event `waiting` that names what it waits for begins when its lane is free and ends
    with that. It is left out if that has ended before, and what is after it is after what it waited for.

    Examples:
        >>> from workbench.records.trace import Event, Trace, scheduled
        >>> events = [Event("sum", "network", 0, 0), Event("waiting", "rank 0", 0, 0, after=(0,))]
        >>> [(event.lane, event.end) for event in scheduled(events, [2.0, 0.0], Trace())]
        [('network', 2.0), ('rank 0', 2.0)]
    """
    spans = earliest((event.lane, length, event.after) for event, length in zip(events, seconds, strict=True))
    free: dict[str, float] = {}
    # By place in the list, the event of the trace; of a wait those that it waited for.
    added: list[tuple[int, ...]] = []
    for event, (start, end) in zip(events, spans, strict=True):
        after = tuple(index for place in event.after for index in added[place])
        waits = event.name == WAITING and bool(after)
        begun = free.get(event.lane, 0.0) if waits else start
        free[event.lane] = end
        if waits and end == begun:
            added.append(after)
            continue
        number = trace.kernel(event.name, event.lane, event.bytes, event.flops)
        index = trace.add(number, begun, end, event.iteration, () if waits else after)
        added.append(after if waits else (index,))
    return trace


def check_times(index: int, start: float, end: float, iteration: int) -> None:
    """Raise InputError for invalid times or iteration of an event from a file; `Trace.add` does not check them."""
    if not (math.isfinite(start) and math.isfinite(end)):
        raise InputError(f"event {index} starts at {start} s and ends at {end} s, which are not both finite")
    if not 0 <= iteration <= MAX_ITERATIONS:
        raise InputError(f"event {index} is of iteration {iteration}, which must be between 0 and {MAX_ITERATIONS}")


@dataclasses.dataclass(frozen=True)
class _Columns:
    """The plain data of `Trace.to_dict`."""

    label: str
    machine: str
    notes: list[str]
    kernels: list[Kernel]
    start: list[float]
    end: list[float]
    kernel: list[int]
    iteration: list[int]
    after: dict[str, list[int]]
