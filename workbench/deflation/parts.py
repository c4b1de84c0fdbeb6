"""The places of deflation vectors in nested boxes, and the merging of boxes."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np

from workbench.devices.host.boxes import Boxes
from workbench.devices.operator_protocols import DeviceVector

FEW = 4096
"""Parts whose phases are sorted."""


@dataclasses.dataclass(frozen=True, eq=False)
class Parts:
    """The places of deflation vectors, which are numbered box by box, within a box by phase.

    The arrays are in the memory of `device`, or in host memory where it is None.

    per_side: boxes of each side, slowest first. firsts: the first vector of each box, and d. phases: the phase of each
    vector, shape (d,), ascending within a box.
    """

    per_side: tuple[int, ...]
    firsts: DeviceVector
    phases: DeviceVector
    device: Any = None

    @classmethod
    def in_order(cls, count: int) -> Parts:
        """Vectors of which only the numbers are known."""
        return cls((count,), np.arange(count + 1), np.zeros(count, np.int32))

    @classmethod
    def of(cls, boxes: Boxes) -> Parts:
        """The parts of boxes, in the memory of the boxes."""
        if placed := boxes.placed:
            return cls(boxes.per_side, placed["firsts"], placed["phases"], boxes.device)
        return cls(boxes.per_side, boxes.firsts, boxes.phases.astype(np.int32, copy=False))

    @functools.cached_property
    def on_host(self) -> Parts:
        """These parts in host memory."""
        if self.device is None:
            return self
        firsts, phases = map(self.device.to_host, (self.firsts, self.phases))
        return Parts(self.per_side, firsts, phases)

    @functools.cached_property
    def kinds(self) -> int:
        """The number of phases, found among merged parts, which have as many."""
        if self.phases.size > FEW and max(self.per_side) > 1:
            return self.merged[0].kinds
        return np.unique(self.on_host.phases).size

    @functools.cached_property
    def merged(self) -> tuple[Parts, Any]:
        """The parts of 2 x 2 x 2 boxes (2 x 2 in 2D, 2 in 1D), and the one that each part goes to, shape (d,), or
        what a device has in its place.

        Cost: two reads of the phases.
        """
        if self.device is None:
            from workbench.devices.host.box_merging import merged_parts

            firsts, phases, parents = merged_parts(self.firsts, self.phases, self.per_side)
        else:
            firsts, phases, parents = self.device.merged_parts(self.firsts, self.phases, self.per_side)
        return Parts(tuple(-(-boxes // 2) for boxes in self.per_side), firsts, phases, self.device), parents
