"""The kernels of a trace as a table: how often, how long, how many bytes, how near the machine's limit."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.recording.trace import Trace

BETWEEN = "(between kernels)"


def kernel_table(trace: Trace, bandwidth: float | None = None) -> list[dict[str, Any]]:
    """A row per kernel, the longest first, and one for the time in which no lane was at work.

    bandwidth: of the machine's memory, bytes per second; with it each row says its fraction of that. A fraction above 1
    means that caches served a part. Bytes and what follows from them are None where the kernel does not tell.
    """
    rows = []
    numbers, lengths = trace.column("kernel"), trace.column("end") - trace.column("start")
    calls = np.bincount(numbers, minlength=len(trace.kernels))
    seconds = np.bincount(numbers, lengths, minlength=len(trace.kernels))
    # A kernel that appears with several sizes is one row.
    for name, lane in dict.fromkeys((kernel.name, kernel.lane) for kernel in trace.kernels):
        mine = [number for number, kernel in enumerate(trace.kernels) if (kernel.name, kernel.lane) == (name, lane)]
        total = float(seconds[mine].sum())
        moved = sum(trace.kernels[number].bytes * int(calls[number]) for number in mine)
        rate = moved / total if moved and total > 0 else None
        rows.append(
            {
                "kernel": name,
                "lane": lane,
                "calls": int(calls[mine].sum()),
                "seconds": total,
                "share": total / trace.seconds if trace.seconds > 0 else None,
                "bytes": moved or None,
                "GB_per_s": rate / 1e9 if rate else None,
                "of_bandwidth": rate / bandwidth if rate and bandwidth else None,
            }
        )
    rows.sort(key=lambda row: -row["seconds"])
    idle = trace.seconds - covered(trace)
    empty = {"bytes": None, "GB_per_s": None, "of_bandwidth": None}
    if trace.seconds > 0:
        share = idle / trace.seconds
        rows.append({"kernel": BETWEEN, "lane": "", "calls": 0, "seconds": idle, "share": share, **empty})
    return rows


def covered(trace: Trace) -> float:
    """Seconds in which at least one lane was at work."""
    if not trace.count:
        return 0.0
    order = np.argsort(trace.column("start"), kind="stable")
    starts, ends = trace.column("start")[order], trace.column("end")[order]
    latest = np.maximum.accumulate(ends)
    before = np.concatenate([[starts[0]], latest[:-1]])
    return float(np.maximum(ends - np.maximum(starts, before), 0).sum())
