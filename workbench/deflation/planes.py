"""Plane subdomains of equal z."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.deflation.base import Deflation, combine_sides, split_evenly
from workbench.registry import register


@register
@dataclasses.dataclass(frozen=True)
class Planes(Deflation):
    """One vector per plane of equal z (n vectors of n^2 unknowns); in 2D per grid row of equal y.

    Source: Gupta, van Gijzen, Vuik 2013, section 5.3 and figure 8.
    """

    name: ClassVar[str] = "planes"
    title: ClassVar[str] = "planes of equal z"
    needs_grid: ClassVar[bool] = True
    on_ranks: ClassVar[bool] = True

    def estimated_count(self, size: int, grid: tuple[int, ...] | None, interface: float) -> int | None:
        return grid[0] if grid else None

    def estimated_box(self, grid: tuple[int, ...]) -> tuple[float, ...]:
        return (1.0, *map(float, grid[1:]))

    def labels(self, size: int, grid: tuple[int, ...] | None, phase: np.ndarray | None = None) -> np.ndarray:
        return combine_sides(self.sides(self.require_grid(grid)))

    def sides(self, grid: tuple[int, ...]) -> list[tuple[np.ndarray, int]]:
        rest = [(split_evenly(cells, 1), 1) for cells in grid[1:]]
        return [(split_evenly(grid[0], grid[0]), grid[0]), *rest]
