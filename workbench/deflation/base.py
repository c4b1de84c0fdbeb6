"""What a deflation space is: a registered block that labels every unknown with its subdomain, or makes vectors."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from workbench.deflation.subspace import PiecewiseConstant, Subspace
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators import Operator
from workbench.registry import Block


@dataclasses.dataclass(frozen=True, eq=False)
class DeflationContext:
    """What a deflation space may be made from.

    A, M: bound operators with apply; M may act element by element instead. grid: cells per side, (ny, nx) or
    (nz, ny, nx), None for a matrix without a grid. phase: the phase of each unknown, shape (N,), None where there is
    none. singular: A maps constants to zero. seed: for spaces that draw random numbers.
    """

    operator: Operator
    A: Any
    M: Any
    device: Device
    grid: tuple[int, ...] | None = None
    phase: np.ndarray | None = None
    singular: bool = False
    seed: int = 0


@dataclasses.dataclass(frozen=True)
class Deflation(Block):
    """Base of all second levels. Piecewise constant spaces say their `labels`, others override `space`."""

    kind: ClassVar[str] = "deflation"
    needs_grid: ClassVar[bool] = False
    needs_phases: ClassVar[bool] = False

    def space(self, given: DeflationContext) -> Subspace | None:
        """The deflation vectors; None for no second level. Raises InputError where they cannot be had."""
        labels = self.labels(given.operator.shape[0], given.grid, given.phase)
        return None if labels is None else PiecewiseConstant(labels)

    def labels(self, size: int, grid: tuple[int, ...] | None, phase: np.ndarray | None = None) -> np.ndarray | None:
        """The subdomain 0..d-1 of every unknown, shape (N,), int32; None where there are no subdomains.

        grid, phase: as in `DeflationContext`. Raises InputError where the space needs what is not there, or has more
        vectors than unknowns.
        """
        return None

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
