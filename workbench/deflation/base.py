"""What a deflation space is: a registered block that labels every unknown with its subdomain."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.blocks import Block
from workbench.errors import InputError


@dataclasses.dataclass(frozen=True)
class Deflation(Block):
    """Base of all second levels whose deflation vectors are piecewise constant."""

    kind: ClassVar[str] = "deflation"

    def labels(self, size: int, grid: tuple[int, ...] | None, phase: np.ndarray | None = None) -> np.ndarray | None:
        """The subdomain 0..d-1 of every unknown, shape (N,), int32; None for no second level.

        grid: cells per side, (ny, nx) or (nz, ny, nx), None for a matrix without a grid. phase: the phase of each
        unknown, shape (N,), None where there is none. Raises InputError where the space needs what is not there, or has
        more vectors than unknowns.
        """
        raise TypeError(f"deflation {self.name} does not say how it labels the unknowns")

    def need_grid(self, grid: tuple[int, ...] | None) -> tuple[int, ...]:
        """The grid, or InputError when there is none."""
        if grid is None:
            raise InputError(
                f"deflation {self.name} needs a grid, and a matrix from a file has none; "
                "use deflation blocks, which cuts the unknowns in their order, or none"
            )
        return grid


def cut(size: int, parts: int) -> np.ndarray:
    """The part, 0..parts-1, of each of `size` cells in a row, parts as equal as can be; int32, shape (size,)."""
    return (np.arange(size, dtype=np.int64) * parts // size).astype(np.int32)


def compose(sides: list[tuple[np.ndarray, int]]) -> np.ndarray:
    """Labels of a box from the parts along each side, slowest side first; each side is (part of each cell, parts)."""
    labels = np.zeros((1,) * len(sides), dtype=np.int32)
    for axis, (parts, count) in enumerate(sides):
        shape = [1] * len(sides)
        shape[axis] = parts.size
        labels = labels * count + parts.reshape(shape)
    return np.ascontiguousarray(labels).ravel()
