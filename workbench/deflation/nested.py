"""The subdomains of deflation on each level of a coarse solver by cycles."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence

import numpy as np

from workbench.deflation.hierarchy import merged_levels
from workbench.deflation.multilevel import LISTED
from workbench.deflation.parts import Parts
from workbench.devices.coarse import Levels
from workbench.devices.host.boxes import Boxes


@dataclasses.dataclass(frozen=True, eq=False)
class NestedParts:
    """The part that each of d subdomains belongs to on each level, shape (d,) each; on level 0 it is a part itself."""

    parts: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, levels: Levels) -> NestedParts:
        """The parts of a factored E."""
        from workbench.devices.host.aggregation import places

        row = places(levels.order)
        return cls._chained(row, (level.parents for level in levels.levels))

    @classmethod
    def recorded(cls, boxes: Boxes | None, notes: Sequence[str]) -> NestedParts | None:
        """The parts of a run that was recorded with these notes, by merging its subdomains again.

        None for a run without levels, where merging gives other levels than it noted, and without boxes, where the
        levels follow from E.
        """
        noted = next((found[1] for note in notes if (found := re.search(rf"{LISTED} ([\d, ]+) vectors", note))), "")
        if not noted or boxes is None:
            return None
        sizes = [int(size) for size in noted.split(", ")]
        parents, _ = merged_levels(Parts.of(boxes), sizes[-1])
        made = cls._chained(np.arange(boxes.phases.size), parents)
        return made if list(made.sizes) == sizes else None

    @classmethod
    def _chained(cls, row: np.ndarray, parents: Iterable[np.ndarray]) -> NestedParts:
        """row: where the parents of each subdomain are found on the first level."""
        parts = [np.arange(row.size)]
        for parent in parents:
            row = parent[row]
            parts.append(row)
        return cls(tuple(parts))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Parts of each level, finest first."""
        return tuple(int(parts.max()) + 1 for parts in self.parts)

    def widest(self, labels: np.ndarray) -> list[tuple[int, ...]]:
        """Cells per side of the smallest box that holds any part, for each level, slowest side first.

        labels: the subdomain of each cell, shape of the grid. Cost: two passes over them.
        """
        # Imported here because it takes a tenth of a second, and a run does not need it.
        from scipy import ndimage

        found = ndimage.find_objects(labels + 1)
        low = np.array([[side.start for side in sides] for sides in found])
        high = np.array([[side.stop for side in sides] for sides in found])
        return [tuple(_widest(parts, low, high).tolist()) for parts in self.parts]


def _widest(parts: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    order = np.argsort(parts, kind="stable")
    firsts = np.flatnonzero(np.diff(parts[order], prepend=-1))
    return (np.maximum.reduceat(high[order], firsts) - np.minimum.reduceat(low[order], firsts)).max(axis=0)
