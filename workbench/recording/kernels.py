"""Kernel statistics of a trace: calls, time, bytes, bandwidth."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.recording.trace import Trace

BETWEEN = "(between kernels)"


def kernel_table(trace: Trace, bandwidth: float | None = None) -> list[dict[str, Any]]:
    """One row per kernel, longest total time first, and one for the time in which all lanes were idle.

    bandwidth: of the machine's memory in bytes per second; with it, rows have their fraction of it, which exceeds 1 if
    caches served part of the traffic. Bytes and derived values are None if the kernel does not state its bytes.
    """
    events, kernels = trace.rows, list(trace.kernels)
    span = float(events["end"].max() - events["start"].min()) if events.size else 0.0
    calls = np.bincount(events["kernel"], minlength=len(kernels))
    seconds = np.bincount(events["kernel"], events["end"] - events["start"], minlength=len(kernels))
    rows = []
    # A kernel that appears with several sizes is one row.
    for name, lane in dict.fromkeys((kernel.name, kernel.lane) for kernel in kernels):
        same = [number for number, kernel in enumerate(kernels) if (kernel.name, kernel.lane) == (name, lane)]
        total = float(seconds[same].sum())
        moved = sum(kernels[number].bytes * int(calls[number]) for number in same)
        rate = moved / total if moved and total > 0 else None
        rows.append(
            {
                "kernel": name,
                "lane": lane,
                "calls": int(calls[same].sum()),
                "seconds": total,
                "share": total / span if span > 0 else None,
                "bytes": moved or None,
                "GB_per_s": rate / 1e9 if rate else None,
                "of_bandwidth": rate / bandwidth if rate and bandwidth else None,
            }
        )
    rows.sort(key=lambda row: -row["seconds"])
    idle = span - busy_seconds(events)
    empty = {"bytes": None, "GB_per_s": None, "of_bandwidth": None}
    if span > 0:
        share = idle / span
        rows.append({"kernel": BETWEEN, "lane": "", "calls": 0, "seconds": idle, "share": share, **empty})
    return rows


def busy_seconds(events: np.ndarray) -> float:
    """Seconds in which at least one lane was busy, from the rows of a trace."""
    if not events.size:
        return 0.0
    order = np.argsort(events["start"], kind="stable")
    starts, ends = events["start"][order], events["end"][order]
    latest = np.maximum.accumulate(ends)
    before = np.concatenate([[starts[0]], latest[:-1]])
    return float(np.maximum(ends - np.maximum(starts, before), 0).sum())
