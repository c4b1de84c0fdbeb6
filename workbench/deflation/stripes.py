"""Stripe subdomains along x, the paper's deflation vectors."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.deflation.base import Deflation, combine_sides, split_evenly
from workbench.errors import InputError
from workbench.registry import parameter, register


@register
@dataclasses.dataclass(frozen=True)
class Stripes(Deflation):
    """Each grid row along x split into equal stripes, by default 2 in 2D (2n stripes of n/2 unknowns), 1 in 3D (n^2).

    Source: Gupta, van Gijzen, Vuik 2013, section 4 and figures 7 and 8.
    """

    name: ClassVar[str] = "stripes"
    title: ClassVar[str] = "stripes along x"
    needs_grid: ClassVar[bool] = True
    on_ranks: ClassVar[bool] = True

    per_row: int = parameter(0, "stripes per grid row; 0 means 2 in 2D and 1 in 3D", low=0, high=65536)

    def estimated_count(self, size: int, grid: tuple[int, ...] | None, interface: float) -> int | None:
        return size // grid[-1] * self._per_row(grid) if grid else None

    def estimated_box(self, grid: tuple[int, ...]) -> tuple[float, ...]:
        return (*(1.0 for _ in grid[:-1]), grid[-1] / self._per_row(grid))

    def _per_row(self, sides: tuple[int, ...]) -> int:
        return self.per_row or (2 if len(sides) == 2 else 1)

    def check(self, sides: tuple[int, ...]) -> None:
        if self._per_row(sides) > sides[-1]:
            raise InputError(
                f"stripes: a row of {sides[-1]} cells cannot be split into {self._per_row(sides)} stripes; use at most "
                f"{sides[-1]}",
                changes={"deflation.per_row": sides[-1]},
            )

    def labels(self, size: int, grid: tuple[int, ...] | None, phase: np.ndarray | None = None) -> np.ndarray:
        return combine_sides(self.sides(self.require_grid(grid)))

    def sides(self, grid: tuple[int, ...]) -> list[tuple[np.ndarray, int]]:
        self.check(grid)
        per_row = self._per_row(grid)
        rows = [(split_evenly(cells, cells), cells) for cells in grid[:-1]]
        return [*rows, (split_evenly(grid[-1], per_row), per_row)]
