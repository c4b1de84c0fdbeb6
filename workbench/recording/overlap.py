"""How much of the copies of a trace is hidden behind computing."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.devices.clock import TO_DEVICE, TO_HOST
from workbench.recording.trace import Trace

COPIES = (TO_DEVICE, TO_HOST)


def hidden_fraction(trace: Trace) -> float | None:
    """The part of the time of all copies in which cores or accelerator computed; None where nothing was copied."""
    events = list(trace)
    computing = _merged((event.start, event.end) for event in events if event.lane not in COPIES)
    copying = [(event.start, event.end) for event in events if event.lane in COPIES]
    total = sum(end - start for start, end in copying)
    if total <= 0:
        return None
    hidden, place = 0.0, 0
    for start, end in sorted(copying):
        # Spans that end before this copy begins end before all later ones do.
        while place < len(computing) and computing[place][1] <= start:
            place += 1
        for low, high in computing[place:]:
            if low >= end:
                break
            hidden += min(end, high) - max(start, low)
    return hidden / total


def _merged(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """The same times as spans that do not touch, in order."""
    merged: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
