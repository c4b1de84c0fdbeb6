"""Where the time of a run went: events on lanes, readable from another thread while they are written."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.devices.clock import LANES
from workbench.errors import InputError
from workbench.recording.typed import read

MEASURED, MODELLED, REPLAYED, REHEARSED = LABELS = ("measured", "modelled", "replayed", "rehearsed")
"""Four words that are never mixed: timed here, computed from a machine's profile, run again from a recording, or noted
by a schedule that ran on nothing and took no time."""

MOST_ITERATIONS = 2**31 - 1
_ROW = np.dtype([("start", np.float64), ("end", np.float64), ("kernel", np.int32), ("iteration", np.int32)])


@dataclasses.dataclass(frozen=True)
class Kernel:
    """What one kind of event does each time. Bytes and operations are zero where they are not known."""

    name: str
    lane: str
    bytes: int = 0
    flops: int = 0


@dataclasses.dataclass(frozen=True)
class Event:
    """One thing that ran: start and end in seconds from the trace's origin; after: indices of events it waited for.

    That events of one lane follow one another is understood and not repeated in `after`.
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
        return self.end - self.start


class Trace:
    """Events in the order in which they were noted, 24 bytes each.

    label: `measured`, `modelled`, `replayed` or `rehearsed`. machine: on what, for people. notes: sentences on what a
    model had to leave out. One thread adds events, any number read: an event counts only after it is written
    whole, and growing replaces the array.
    """

    def __init__(self, machine: str = "", label: str = MEASURED, notes: Sequence[str] = ()) -> None:
        if label not in LABELS:
            raise InputError(f"a trace is {', '.join(LABELS)}, got {label!r}")
        self.machine, self.label, self.notes = machine, label, list(notes)
        self.origin = time.perf_counter()
        self.count = 0
        """Events so far."""
        self.kernels: list[Kernel] = []
        self._numbers: dict[Kernel, int] = {}
        self._rows = np.empty(1024, _ROW)
        # Few events wait for another lane, so a dictionary of those is less than a column of all.
        self._after: dict[int, tuple[int, ...]] = {}

    def kernel(self, name: str, lane: str, bytes_moved: int = 0, flops: int = 0) -> int:
        """The number of a kernel, to be given to `add`. Raises InputError for an unknown lane."""
        if lane not in LANES:
            raise InputError(f"a lane is one of {', '.join(LANES)}, got {lane!r}")
        kernel = Kernel(name, lane, int(bytes_moved), int(flops))
        number = self._numbers.setdefault(kernel, len(self.kernels))
        if number == len(self.kernels):
            self.kernels.append(kernel)
        return number

    def add(self, kernel: int, start: float, end: float, iteration: int = 0, after: tuple[int, ...] = ()) -> int:
        """Note one event and return its index. Costs half a microsecond. Raises InputError for what is no event."""
        place = self.count
        if not end >= start:
            raise InputError(f"event {place} ends at {end} s, before it starts at {start} s")
        if place == self._rows.size:
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        if after:
            if max(after) >= place or min(after) < 0:
                raise InputError(f"event {place} can only wait for earlier events, got {after}")
            self._after[place] = after
        self._rows[place] = (start, end, kernel, iteration)
        self.count = place + 1
        return place

    def append(self, event: Event) -> int:
        """Note one event given whole; returns its index."""
        kernel = self.kernel(event.name, event.lane, event.bytes, event.flops)
        return self.add(kernel, event.start, event.end, event.iteration, tuple(event.after))

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, place: int) -> Event:
        if not 0 <= place < self.count:
            raise IndexError(f"the trace has {self.count} events, there is no event {place}")
        start, end, number, iteration = self._rows[place].item()
        kernel = self.kernels[number]
        after = self._after.get(place, ())
        return Event(kernel.name, kernel.lane, start, end, kernel.bytes, kernel.flops, iteration, after)

    def __iter__(self) -> Iterator[Event]:
        return (self[place] for place in range(self.count))

    @property
    def rows(self) -> np.ndarray:
        """All events so far with the fields start, end, kernel and iteration, shape (count,), read-only.

        While the trace grows, columns that belong together must come from one look at the rows.
        """
        count = self.count
        view = self._rows[:count].view()
        view.flags.writeable = False
        return view

    def column(self, name: str) -> np.ndarray:
        """One field of `rows`."""
        return self.rows[name]

    @property
    def seconds(self) -> float:
        """From the first start to the last end."""
        rows = self.rows
        return float(rows["end"].max() - rows["start"].min()) if rows.size else 0.0

    def busy(self) -> dict[str, float]:
        """Seconds that each lane was at work, for lanes that were."""
        rows = self.rows
        lane_of = np.array([LANES.index(kernel.lane) for kernel in self.kernels], dtype=int)
        lanes = lane_of[rows["kernel"]]
        sums = np.bincount(lanes, rows["end"] - rows["start"], minlength=len(LANES))
        return {LANES[lane]: float(sums[lane]) for lane in np.unique(lanes)}

    def rescheduled(
        self, seconds: Callable[[Event], float], machine: str, label: str, notes: Sequence[str] = ()
    ) -> Trace:
        """The same events, each taking `seconds(event)` and starting as soon as it can.

        An event starts when the one before it in its lane and all that it waited for have ended. What the host did
        between events is left out.
        """
        made = Trace(machine, label, notes)
        free: dict[str, float] = dict.fromkeys(LANES, 0.0)
        ends: list[float] = []
        for event in self:
            start = max([free[event.lane], *(ends[place] for place in event.after)])
            end = start + seconds(event)
            free[event.lane] = end
            ends.append(end)
            number = made.kernel(event.name, event.lane, event.bytes, event.flops)
            made.add(number, start, end, event.iteration, event.after)
        return made

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: the kernels once, and columns of events."""
        rows = self.rows
        columns = {name: rows[name].tolist() for name in _ROW.names or ()}
        return {
            "label": self.label,
            "machine": self.machine,
            "notes": list(self.notes),
            "kernels": [dataclasses.asdict(kernel) for kernel in self.kernels],
            **columns,
            "after": {str(place): list(after) for place, after in self._after.items()},
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Trace:
        """The inverse of `to_dict`. Raises InputError for what that did not make."""
        given = read(_Columns, plain, "trace")
        made = cls(given.machine, given.label, given.notes)
        numbers = [made.kernel(kernel.name, kernel.lane, kernel.bytes, kernel.flops) for kernel in given.kernels]
        columns = (given.start, given.end, given.kernel, given.iteration)
        if len(set(map(len, columns))) > 1:
            raise InputError(f"the columns of its trace have the lengths {', '.join(str(len(own)) for own in columns)}")
        if not all(0 <= number < len(numbers) for number in given.kernel):
            raise InputError(f"an event of its trace is of a kernel that is not one of its {len(numbers)}")
        for place, (start, end, number, iteration) in enumerate(zip(*columns, strict=True)):
            check_times(place, start, end, iteration)
            made.add(numbers[number], start, end, iteration, tuple(given.after.get(str(place), ())))
        return made


def check_times(place: int, start: float, end: float, iteration: int) -> None:
    """Raise InputError for an event of a file that cannot have been noted. `Trace.add`, which is fast, trusts these."""
    if not (math.isfinite(start) and math.isfinite(end)):
        raise InputError(f"event {place} starts at {start} s and ends at {end} s, which are not both finite")
    if not 0 <= iteration <= MOST_ITERATIONS:
        raise InputError(f"event {place} is of iteration {iteration}, which must be between 0 and {MOST_ITERATIONS}")


@dataclasses.dataclass(frozen=True)
class _Columns:
    """What `Trace.to_dict` makes."""

    label: str
    machine: str
    notes: list[str]
    kernels: list[Kernel]
    start: list[float]
    end: list[float]
    kernel: list[int]
    iteration: list[int]
    after: dict[str, list[int]]
