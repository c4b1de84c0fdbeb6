"""Block subdomains: a grid split into k parts per side."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.deflation.base import Deflation, DeflationContext, combine_sides, split_evenly
from workbench.deflation.subspace import PiecewiseConstant, Subspace
from workbench.devices.host.boxes import Boxes
from workbench.devices.host.growth import Growth
from workbench.errors import InputError
from workbench.operators import Operator
from workbench.operators.cuts import csr_of, cut_parameter, grid_of, grows
from workbench.registry import parameter, register


@register
@dataclasses.dataclass(frozen=True)
class Blocks(Deflation):
    """k parts per side: k^2 vectors in 2D, k^3 in 3D. Without a grid, about k parts grown along the couplings of A.

    cut=index takes k ranges of consecutive unknowns instead, as ranks and an A without entries do: where neighbours
    have numbers far apart, these may take more iterations than no deflation.

    Source: subdomain deflation, Nicolaides 1987; for bubbly flow Tang and Vuik 2007; growth: Farhat 1988.
    """

    name: ClassVar[str] = "blocks"
    title: ClassVar[str] = "blocks"
    on_ranks: ClassVar[bool] = True

    k: int = parameter(8, "parts per side", low=1, high=4096)
    cut: str = cut_parameter()

    def estimated_count(self, size: int, grid: tuple[int, ...] | None, interface: float) -> int:
        return self.k ** len(grid or (size,))

    def fewest(self, size: int, grid: tuple[int, ...] | None, *, closed: bool) -> int:
        # Parts that remain small join a neighbour.
        return super().fewest(size, grid, closed=closed) if grid else max(1, self.k // 4) - closed

    def estimated_box(self, grid: tuple[int, ...]) -> tuple[float, ...]:
        return tuple(cells / self.k for cells in grid)

    def space(self, context: DeflationContext) -> Subspace | None:
        grid = grid_of(context.operator, context.grid)
        grown = None if context.slab or grid else self.grown(context.operator)
        if grown is None:
            return super().space(dataclasses.replace(context, grid=grid))
        return PiecewiseConstant(grown.labels, notes=(f"deflation blocks: {grown.in_words}",))

    def grown(self, operator: Operator) -> Growth | None:
        """About k parts of an A without a grid; None where it is cut by index. Raises InputError for more parts than
        unknowns."""
        if not grows(operator, self.cut):
            return None
        size = operator.shape[0]
        self.check((size,))
        return Growth.of(csr_of(operator), -(-size // self.k))

    def labels_and_boxes(
        self, size: int, grid: tuple[int, ...] | None, phase: np.ndarray | None
    ) -> tuple[np.ndarray, Boxes | None]:
        return self.labels(size, grid, phase), self.boxes(grid) if grid else None

    def boxes(self, grid: tuple[int, ...]) -> Boxes:
        return Boxes.whole(grid, (self.k,) * len(grid))

    def labels(self, size: int, grid: tuple[int, ...] | None, phase: np.ndarray | None = None) -> np.ndarray:
        return combine_sides(self.sides(grid or (size,)))

    def labels_of(
        self, operator: Operator, grid: tuple[int, ...] | None, phase: np.ndarray | None = None
    ) -> np.ndarray:
        grown = None if grid_of(operator, grid) else self.grown(operator)
        return self.labels(operator.shape[0], grid_of(operator, grid), phase) if grown is None else grown.labels

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
