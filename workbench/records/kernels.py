"""Statistics of a trace: calls, time, bytes and bandwidth of kernels, and the overlap of copies and computation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from workbench.devices.clock import ACCELERATOR, CPU, TO_DEVICE, TO_HOST, rank_and_side
from workbench.devices.cycle_parts import COARSE_SOLVE, level_of, level_rank, summed_name
from workbench.records.trace import Trace

COPIES = (TO_DEVICE, TO_HOST)


def hidden_fraction(trace: Trace) -> float | None:
    """The fraction of the total copy time that overlaps with computation, on ranks that of the same rank; None without
    copies. Cost: a sort of the events.

    Examples:
        >>> from workbench.records import Event, Trace, hidden_fraction
        >>> trace = Trace()
        >>> _ = trace.append(Event("A p", "cpu", 0.0, 2.0)), trace.append(Event("r", "copy to host", 1.0, 3.0))
        >>> hidden_fraction(trace)
        0.5
    """
    by_rank: dict[str, tuple[list[tuple[float, float]], list[tuple[float, float]]]] = {}
    for event in trace:
        rank, side = rank_and_side(event.lane)
        if side in (CPU, ACCELERATOR, *COPIES):
            by_rank.setdefault(rank, ([], []))[side in COPIES].append((event.start, event.end))
    total = sum(end - start for _, copying in by_rank.values() for start, end in copying)
    if total <= 0:
        return None
    return sum(_hidden(*spans) for spans in by_rank.values()) / total


def _hidden(computing: list[tuple[float, float]], copying: list[tuple[float, float]]) -> float:
    """The seconds of copies that overlap with computation."""
    hidden, first, computing = 0.0, 0, _merged(computing)
    for start, end in sorted(copying):
        # Intervals that end before this copy starts cannot overlap with later copies either.
        while first < len(computing) and computing[first][1] <= start:
            first += 1
        for low, high in computing[first:]:
            if low >= end:
                break
            hidden += min(end, high) - max(start, low)
    return hidden


def _merged(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """The union of intervals as disjoint intervals in ascending order."""
    merged: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


BETWEEN = "(between kernels)"


def kernel_table(trace: Trace, bandwidth: float | None = None) -> list[dict[str, Any]]:
    """One row per kernel, longest total time first, and one for the time in which all lanes were idle.

    bandwidth: of the machine's memory in bytes per second; with it, rows have their fraction of it, which exceeds 1 if
    caches served part of the traffic. Bytes and derived values are None if the kernel does not state its bytes. Cost: a
    few passes over the events.

    Examples:
        >>> from workbench.records import kernel_table
        >>> from workbench.run import Run, configure, run_through
        >>> table = kernel_table(run_through(Run(configure("two-layer", n=16), trace=True)).trace)
        >>> sorted(table[0])
        ['GB_per_s', 'bytes', 'calls', 'kernel', 'lane', 'of_bandwidth', 'seconds', 'share']
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


def with_levels_summed(table: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of `kernel_table` with all kernels of a coarse solve by cycles in one row, `coarse solve`.

    Behind it comes a row for each level, finest first, such as `coarse solve, level 1`; their sum is the row before.

    Examples:
        >>> from workbench.records import kernel_table, with_levels_summed
        >>> from workbench.run import Run, configure, run_through
        >>> run = Run(configure("two-layer", n=64, deflation="blocks:32", coarse="multilevel"), trace=True)
        >>> rows = with_levels_summed(kernel_table(run_through(run).trace))
        >>> [row["kernel"] for row in rows if row["kernel"].startswith("coarse solve")]
        ['coarse solve', 'coarse solve, level 0', 'coarse solve, coarsest level']
    """
    kept = [row for row in table if not level_of(row["kernel"])]
    for lane in dict.fromkeys(row["lane"] for row in table):
        mine = [row for row in table if row["lane"] == lane and level_of(row["kernel"])]
        if not mine:
            continue
        levels = sorted({summed_name(row["kernel"]) for row in mine}, key=level_rank)
        rows = [_summed(COARSE_SOLVE, mine)]
        rows += [_summed(name, [row for row in mine if summed_name(row["kernel"]) == name]) for name in levels]
        place = sum(row["kernel"] != BETWEEN and row["seconds"] > rows[0]["seconds"] for row in kept)
        kept[place:place] = rows
    return kept


def _summed(name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """One row for several kernels of a lane; bytes and rates as far as they state their bytes."""
    total = {what: sum(row[what] or 0 for row in rows) for what in ("calls", "seconds", "share", "bytes")}
    rate = total["bytes"] / total["seconds"] if total["seconds"] > 0 else 0.0
    # The bandwidth of the machine is the same for all rows.
    known = [row["GB_per_s"] / row["of_bandwidth"] for row in rows if row["of_bandwidth"]]
    return {
        "kernel": name,
        "lane": rows[0]["lane"],
        **total,
        "GB_per_s": rate / 1e9 or None,
        "of_bandwidth": rate / 1e9 / known[0] if known else None,
    }


def busy_seconds(events: np.ndarray) -> float:
    """Seconds in which at least one lane was busy, from the rows of a trace."""
    if not events.size:
        return 0.0
    order = np.argsort(events["start"], kind="stable")
    starts, ends = events["start"][order], events["end"][order]
    latest = np.maximum.accumulate(ends)
    before = np.concatenate([[starts[0]], latest[:-1]])
    return float(np.maximum(ends - np.maximum(starts, before), 0).sum())
