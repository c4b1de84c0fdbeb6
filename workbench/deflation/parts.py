"""Where the deflation vectors of nested boxes lie, and how boxes are merged."""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench.devices.boxes import Boxes


@dataclasses.dataclass(frozen=True, eq=False)
class Parts:
    """Where deflation vectors lie: the box of each on a grid of boxes, slowest side first, shape (d, dimensions), and
    its phase, shape (d,)."""

    boxes: np.ndarray
    phases: np.ndarray

    @classmethod
    def in_order(cls, count: int) -> Parts:
        """Vectors of which nothing is known but their numbers."""
        return cls(np.arange(count)[:, None], np.zeros(count, np.int64))

    @classmethod
    def of(cls, boxes: Boxes) -> Parts:
        """The parts of boxes."""
        return cls(np.stack(np.unravel_index(boxes.box, boxes.per_side), axis=1), boxes.phases)

    def merged(self) -> tuple[Parts, np.ndarray]:
        """The parts of the next level, and the one that each part goes to."""
        boxes = self.boxes // 2
        key = self.phases.astype(np.int64)
        for side in boxes.T:
            key = key * (int(side.max(initial=0)) + 1) + side
        _, first, parents = np.unique(key, return_index=True, return_inverse=True)
        return Parts(boxes[first], self.phases[first]), parents
