"""Roofline points of the kernels of a trace: operations per byte and operations per second."""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench.devices.clock import lane_order
from workbench.errors import InputError
from workbench.records import Trace


@dataclasses.dataclass(frozen=True)
class RooflinePoint:
    """Totals over all calls of one kernel: seconds, bytes and operations; zero if the kernel does not state them.

    share: fraction of the time of all kernels in its lane.

    Examples:
        >>> from workbench.costs import RooflinePoint
        >>> point = RooflinePoint("A p", calls=10, seconds=1e-3, share=0.5, bytes=8_000_000, flops=2_000_000)
        >>> point.intensity, point.bandwidth, point.of_roof(bandwidth=16e9)
        (0.25, 8000000000.0, 0.5)
    """

    kernel: str
    calls: int
    seconds: float
    share: float
    bytes: int
    flops: int

    @property
    def intensity(self) -> float | None:
        """Operations per byte; None if either is unknown or zero."""
        return self.flops / self.bytes if self.flops and self.bytes else None

    @property
    def flop_rate(self) -> float | None:
        """Operations per second."""
        return self.flops / self.seconds if self.flops and self.seconds > 0 else None

    @property
    def bandwidth(self) -> float | None:
        """Bytes per second."""
        return self.bytes / self.seconds if self.bytes and self.seconds > 0 else None

    def of_roof(self, bandwidth: float, flops: float | None = None) -> float | None:
        """The larger of the achieved shares of peak bandwidth and of peak operation rate.

        bandwidth: peak in bytes per second; flops: peak in operations per second. The share exceeds 1 if caches served
        part of the traffic.
        """
        if self.bandwidth is None:
            return None
        share = self.bandwidth / bandwidth
        return max(share, self.flop_rate / flops) if flops and self.flop_rate else share


def roofline_points(trace: Trace, lane: str = "cpu") -> list[RooflinePoint]:
    """The kernels of a lane, longest total time first. Calls of one kernel with different sizes make one point.

    Source: Williams, Waterman, Patterson, Communications of the ACM 52(4), 2009. Cost: a pass over the events. Raises
    InputError for an unknown lane, for a lane without events, and for a trace without times (a dry run).

    Examples:
        >>> from workbench.costs import roofline_points
        >>> from workbench.run import Run, configure, run_through
        >>> trace = run_through(Run(configure("two-layer", n=16), trace=True)).trace
        >>> all(point.bytes > 0 for point in roofline_points(trace))
        True
    """
    lane_order(lane)
    events, kernels = trace.rows, list(trace.kernels)
    calls = np.bincount(events["kernel"], minlength=len(kernels))
    seconds = np.bincount(events["kernel"], events["end"] - events["start"], minlength=len(kernels))
    in_lane = [number for number, kernel in enumerate(kernels) if kernel.lane == lane and calls[number]]
    total = float(seconds[in_lane].sum())
    if not in_lane:
        raise InputError(f"the trace has no events on lane {lane}; it has {', '.join(trace.busy()) or 'none at all'}")
    if total <= 0:
        raise InputError(f"the trace is {trace.label} and its events take no time; retime it on a machine first")
    points = []
    for name in dict.fromkeys(kernels[number].name for number in in_lane):
        same = [number for number in in_lane if kernels[number].name == name]
        moved = sum(kernels[number].bytes * int(calls[number]) for number in same)
        flops = sum(kernels[number].flops * int(calls[number]) for number in same)
        time = float(seconds[same].sum())
        points.append(RooflinePoint(name, int(calls[same].sum()), time, time / total, moved, flops))
    return sorted(points, key=lambda point: -point.seconds)
