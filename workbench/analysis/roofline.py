"""Where the kernels of a trace lie under a machine's roof: operations per byte, and operations per second.

Source: Williams, Waterman, Patterson, Roofline: an insightful visual performance model for multicore architectures,
Communications of the ACM 52(4), 2009.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench.devices.clock import LANES
from workbench.errors import InputError
from workbench.recording import Trace


@dataclasses.dataclass(frozen=True)
class Spot:
    """All calls of one kernel together: seconds, bytes and operations; zero where the kernel does not tell them.

    share: of the time of all kernels in its lane.
    """

    kernel: str
    calls: int
    seconds: float
    share: float
    bytes: int
    flops: int

    @property
    def intensity(self) -> float | None:
        """Operations per byte; None where one of the two is not known or zero."""
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
        """Bytes or operations per second as a share of what the machine can do, whichever is nearer its limit.

        Above 1 where caches served a part. bandwidth in bytes, flops in operations per second.
        """
        if self.bandwidth is None:
            return None
        share = self.bandwidth / bandwidth
        return max(share, self.flop_rate / flops) if flops and self.flop_rate else share


def spots(trace: Trace, lane: str = "cpu") -> list[Spot]:
    """The kernels of a lane, the longest first. A kernel that appears with several sizes is one spot.

    Raises InputError for an unknown lane, for one without events, and for times that are not there because the trace is
    rehearsed.
    """
    if lane not in LANES:
        raise InputError(f"a lane is one of {', '.join(LANES)}, got {lane!r}")
    events, kernels = trace.rows, list(trace.kernels)
    calls = np.bincount(events["kernel"], minlength=len(kernels))
    seconds = np.bincount(events["kernel"], events["end"] - events["start"], minlength=len(kernels))
    mine = [number for number, kernel in enumerate(kernels) if kernel.lane == lane and calls[number]]
    total = float(seconds[mine].sum())
    if not mine:
        raise InputError(f"the trace has no events on lane {lane}; it has {', '.join(trace.busy()) or 'none at all'}")
    if total <= 0:
        raise InputError(f"the trace is {trace.label} and its events take no time; retime it on a machine first")
    found = []
    for name in dict.fromkeys(kernels[number].name for number in mine):
        same = [number for number in mine if kernels[number].name == name]
        moved, done = (sum(getattr(kernels[n], what) * int(calls[n]) for n in same) for what in ("bytes", "flops"))
        taken = float(seconds[same].sum())
        found.append(Spot(name, int(calls[same].sum()), taken, taken / total, moved, done))
    return sorted(found, key=lambda spot: -spot.seconds)
