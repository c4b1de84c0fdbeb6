"""Block subdomains: a grid split into k parts per side."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.deflation.base import Deflation, combine_sides, split_evenly
from workbench.devices.host.boxes import Boxes
from workbench.errors import InputError
from workbench.registry import parameter, register


@register
@dataclasses.dataclass(frozen=True)
class Blocks(Deflation):
    """k parts per side: k^2 vectors in 2D, k^3 in 3D. Without a grid, k ranges of consecutive unknowns.

    Ranges of an unstructured matrix need not be neighbours, and may take more iterations than no deflation: there
    deflation parts follows the couplings of A, and labels by place, such as those of boxes of the coordinates, can be
    given as deflation vectors.

    Source: subdomain deflation, Nicolaides 1987; for bubbly flow Tang and Vuik 2007.
    """

    name: ClassVar[str] = "blocks"
    title: ClassVar[str] = "blocks"
    on_ranks: ClassVar[bool] = True
    cuts_by_index: ClassVar[bool] = True

    k: int = parameter(8, "parts per side", low=1, high=4096)

    def estimated_count(self, size: int, grid: tuple[int, ...] | None, interface: float) -> int:
        return self.k ** len(grid or (size,))

    def estimated_box(self, grid: tuple[int, ...]) -> tuple[float, ...]:
        return tuple(cells / self.k for cells in grid)

    def labels_and_boxes(
        self, size: int, grid: tuple[int, ...] | None, phase: np.ndarray | None
    ) -> tuple[np.ndarray, Boxes | None]:
        return self.labels(size, grid, phase), self.boxes(grid) if grid else None

    def boxes(self, grid: tuple[int, ...]) -> Boxes:
        return Boxes.whole(grid, (self.k,) * len(grid))

    def labels(self, size: int, grid: tuple[int, ...] | None, phase: np.ndarray | None = None) -> np.ndarray:
        return combine_sides(self.sides(grid or (size,)))

    def sides(self, grid: tuple[int, ...]) -> list[tuple[np.ndarray, int]]:
        self.check(grid)
        return [(split_evenly(cells, self.k), self.k) for cells in grid]

    def check(self, sides: tuple[int, ...]) -> None:
        if self.k > min(sides):
            raise InputError(
                f"blocks: {self.k} parts per side need as many cells, but a side has {min(sides)}; "
                f"use at most {min(sides)} or there are more deflation vectors than unknowns",
                changes={"deflation.k": min(sides)},
            )
