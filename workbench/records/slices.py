"""Parts of a trace: its events of some iterations, or of iterations that take as long as most do."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from workbench.errors import InputError
from workbench.records.trace import Trace


def slice_iterations(trace: Trace, first: int, last: int) -> Trace:
    """The events of iterations `first` to `last` of a trace, shifted to start at 0.

    Instants before the first event that takes time are left out: scalars of the host, which nothing gives a time.
    Dependencies on events that are left out are dropped. Cost: some microseconds an event of the trace.

    Examples:
        >>> from workbench.records import slice_iterations
        >>> from workbench.run import Run, configure, run_through
        >>> trace = run_through(Run(configure("poisson5", n=8), trace=True)).trace
        >>> {event.iteration for event in slice_iterations(trace, 2, 3)}
        {2, 3}
    """
    rows = trace.rows
    chosen = (rows["iteration"] >= first) & (rows["iteration"] <= last)
    timed = chosen & (rows["end"] > rows["start"])
    origin = float(rows["start"][timed if timed.any() else chosen].min(initial=math.inf))
    part, new_index = Trace(trace.machine, trace.label, trace.notes), {}
    for index in np.flatnonzero(chosen & (rows["start"] >= origin)).tolist():
        event = trace[index]
        after = tuple(new_index[earlier] for earlier in event.after if earlier in new_index)
        shifted = dataclasses.replace(event, start=event.start - origin, end=event.end - origin, after=after)
        new_index[index] = part.append(shifted)
    return part


def typical_iterations(trace: Trace | None, count: int = 3) -> Trace:
    """`count` iterations in a row of a measured trace whose time is the median of all such parts, from time 0 on.

    Other work of the machine prolongs some iterations by far, and the total with them; the median it leaves alone. The
    last iteration is in no part, since none follows that would end it. Raises InputError without a trace, and for one
    of fewer than count + 1 iterations.

    Examples:
        >>> from workbench.records import typical_iterations
        >>> from workbench.run import Run, configure, run_through
        >>> trace = run_through(Run(configure("two-layer", n=16), trace=True)).trace
        >>> part = typical_iterations(trace, 2)
        >>> len(set(part.column("iteration").tolist())), part.seconds < trace.seconds
        (2, True)
    """
    if count < 1:
        raise InputError(f"a part of a trace has at least 1 iteration, not {count}")
    if trace is None:
        raise InputError("the run has no trace; start it with trace=True")
    rows = trace.rows
    begun = np.full(int(rows["iteration"].max(initial=0)) + 1, np.inf)
    np.minimum.at(begun, rows["iteration"], rows["start"])
    spans = begun[count + 1 :] - begun[1 : begun.size - count]
    if not spans.size:
        raise InputError(f"{count} typical iterations need a trace of at least {count + 1}, this has {begun.size - 1}")
    first = 1 + int(np.argsort(spans, kind="stable")[spans.size // 2])
    return slice_iterations(trace, first, first + count - 1)
