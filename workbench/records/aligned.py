"""Several traces as one stream of events that grows with them; all traces start at the same time in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from workbench.records.trace import ROW, Kernel, Trace

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


class AlignedTraces:
    """The events of several traces, each trace shifted in time so that all start together.

    start: the time of the first event of every trace, in s; by default that of the first event that is added. kernels:
    of all traces. groups: for each kernel, the index of its trace. `take` adds new events; only one thread may call it.
    Cost: 32 bytes for each event.

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
        self._rows, self._waits = _GrowingArray(ROW), _GrowingArray(np.int64, 2)
        self._mappings: list[_Mapping] = []
        self._start = start
        self.take(traces)

    @property
    def count(self) -> int:
        """The number of events."""
        return self._rows.count

    @property
    def rows(self) -> np.ndarray:
        """The events as `Trace.rows` has them; kernel numbers are places in `kernels`."""
        return self._rows.values

    def waits(self, first: int, last: int) -> np.ndarray:
        """The events that events `first` to before `last` have waited for, as `Trace.waits` has them."""
        pairs = self._waits.values
        return pairs[slice(*np.searchsorted(pairs[:, 0], (first, last)))]

    def take(self, traces: Sequence[Trace | None]) -> None:
        """Add the events that the traces have gained. None stands for a trace that does not exist yet."""
        self._mappings += [_Mapping() for _ in traces[len(self._mappings) :]]
        for group, (trace, mapping) in enumerate(zip(traces, self._mappings, strict=True)):
            if trace is not None:
                self._take(group, trace, mapping)

    def _take(self, group: int, trace: Trace, mapping: _Mapping) -> None:
        """Add the new events of a trace."""
        known = mapping.events.count
        # The rows first: every kernel that they name is then in the list.
        rows = trace.rows[known:].copy()
        if not rows.size:
            return
        new = trace.kernels[mapping.kernels.count :]
        mapping.kernels.add(np.arange(len(self.kernels), len(self.kernels) + len(new)))
        self.groups += [group] * len(new)
        self.kernels += new
        if mapping.shift is None:
            first = float(rows["start"].min())
            self._start = first if self._start is None else self._start
            mapping.shift = self._start - first
        rows["start"] += mapping.shift
        rows["end"] += mapping.shift
        rows["kernel"] = mapping.kernels.values[rows["kernel"]]
        mapping.events.add(np.arange(self.count, self.count + rows.size))
        self._rows.add(rows)
        self._waits.add(mapping.events.values[trace.waits(known, known + rows.size)])


class _GrowingArray:
    """An array that grows along its first axis, into memory of twice the size when it is full."""

    def __init__(self, dtype: DTypeLike, *shape: int) -> None:
        self.count = 0
        self._memory = np.empty((64, *shape), dtype)

    @property
    def values(self) -> np.ndarray:
        """The array as far as it is filled."""
        return self._memory[: self.count]

    def add(self, new: np.ndarray) -> None:
        """Append rows."""
        needed = self.count + len(new)
        if needed > len(self._memory):
            memory = np.empty((2 * needed, *self._memory.shape[1:]), self._memory.dtype)
            memory[: self.count] = self.values
            self._memory = memory
        self._memory[self.count : needed] = new
        self.count = needed


@dataclasses.dataclass
class _Mapping:
    """The map from a trace to the stream. events, kernels: by their numbers in the trace, those in the stream. shift:
    seconds added to the times of its events; None before the first one."""

    events: _GrowingArray = dataclasses.field(default_factory=lambda: _GrowingArray(np.int64))
    kernels: _GrowingArray = dataclasses.field(default_factory=lambda: _GrowingArray(np.int64))
    shift: float | None = None
