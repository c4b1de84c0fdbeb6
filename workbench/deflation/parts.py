"""Where the deflation vectors of nested boxes lie, and how boxes are merged."""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench.host.boxes import Boxes


@dataclasses.dataclass(frozen=True, eq=False)
class Parts:
    """Where deflation vectors lie; they are numbered box by box, within a box by phase.

    per_side: boxes of each side, slowest first. firsts: the first vector of each box, and d. phases: the phase of each
    vector, shape (d,), ascending within a box.
    """

    per_side: tuple[int, ...]
    firsts: np.ndarray
    phases: np.ndarray

    @classmethod
    def in_order(cls, count: int) -> Parts:
        """Vectors of which nothing is known but their numbers."""
        return cls((count,), np.arange(count + 1), np.zeros(count, np.int32))

    @classmethod
    def of(cls, boxes: Boxes) -> Parts:
        """The parts of boxes."""
        return cls(boxes.per_side, boxes.firsts, boxes.phases.astype(np.int32, copy=False))

    @property
    def kinds(self) -> int:
        """The number of phases. Cost: a read of phases that are below d, a sort of others."""
        phases = self.phases
        if phases.size and phases.min() >= 0 and phases.max() < phases.size:
            return int(np.count_nonzero(np.bincount(phases)))
        return np.unique(phases).size

    def merged(self) -> tuple[Parts, np.ndarray]:
        """The parts of 2 x 2 x 2 boxes (2 x 2 in 2D, 2 in 1D), and the one that each part goes to.

        Cost: two reads of the phases.
        """
        from workbench.host.box_merging import merged_parts

        firsts, phases, parents = merged_parts(self.firsts, self.phases, self.per_side)
        return Parts(tuple(-(-boxes // 2) for boxes in self.per_side), firsts, phases), parents
