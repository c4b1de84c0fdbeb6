"""Overlap of copies and computation in a trace."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.devices.clock import ACCELERATOR, CPU, TO_DEVICE, TO_HOST
from workbench.records.trace import Trace

COPIES = (TO_DEVICE, TO_HOST)


def hidden_fraction(trace: Trace) -> float | None:
    """The fraction of the total copy time that overlaps with computation; None without copies. Cost: a sort of the
    events.

    Examples:
        >>> from workbench.records import Event, Trace, hidden_fraction
        >>> trace = Trace()
        >>> _ = trace.append(Event("A p", "cpu", 0.0, 2.0)), trace.append(Event("r", "copy to host", 1.0, 3.0))
        >>> hidden_fraction(trace)
        0.5
    """
    events = list(trace)
    computing = _merged((event.start, event.end) for event in events if event.lane in (CPU, ACCELERATOR))
    copying = [(event.start, event.end) for event in events if event.lane in COPIES]
    total = sum(end - start for start, end in copying)
    if total <= 0:
        return None
    hidden, first = 0.0, 0
    for start, end in sorted(copying):
        # Intervals that end before this copy starts cannot overlap with later copies either.
        while first < len(computing) and computing[first][1] <= start:
            first += 1
        for low, high in computing[first:]:
            if low >= end:
                break
            hidden += min(end, high) - max(start, low)
    return hidden / total


def _merged(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """The union of intervals as disjoint intervals in ascending order."""
    merged: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
