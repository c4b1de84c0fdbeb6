"""The levels of a coarse solver as a page offers them: their parts and their names."""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench.deflation.nested import NestedParts
from workbench.words.numbers import count as grouped


@dataclasses.dataclass(frozen=True, eq=False)
class Nesting:
    """labels: the subdomain of each cell, shape of the grid. names: of the levels, finest first."""

    labels: np.ndarray
    nested: NestedParts
    names: tuple[str, ...]

    @classmethod
    def of(cls, labels: np.ndarray, nested: NestedParts) -> Nesting:
        """The levels over subdomains with these labels. Cost: some passes over the labels."""
        sizes, widest = nested.sizes, nested.widest(labels)
        names = [_name(level, *known, labels.shape) for level, known in enumerate(zip(sizes, widest, strict=True))]
        return cls(labels, nested, (*names[:-1], f"{names[-1]}, the coarsest"))

    def parts(self, level: int) -> np.ndarray:
        """The part of each subdomain on a level, or on the last for numbers beyond it."""
        return self.nested.parts[min(level, len(self.names) - 1)]

    def name(self, level: int) -> str:
        """The name of a level, or of the last for numbers beyond it."""
        return self.names[min(level, len(self.names) - 1)]


def _name(level: int, count: int, box: tuple[int, ...], grid: tuple[int, ...]) -> str:
    """A level in words, as in level 2: 768 parts, boxes of 16 x 16 x 16 cells."""
    even = all(cells % side == 0 for cells, side in zip(grid, box, strict=True))
    sides = " x ".join(map(str, reversed(box)))
    return f"level {level}: {grouped(count)} parts, boxes of {'' if even else 'up to '}{sides} cells"
