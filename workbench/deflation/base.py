"""Base class of deflation spaces: subdomain labels or general deflation vectors."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from workbench.deflation.subspace import PiecewiseConstant, Subspace
from workbench.devices.host.boxes import Boxes, EarlierParts
from workbench.devices.host.slab import Slab
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lines.schedule import Inlined
from workbench.operators import BoundOperator, Operator
from workbench.operators.matrix_rows import MatrixRows
from workbench.operators.null_space import NullSpace
from workbench.registry import Block


@dataclasses.dataclass(frozen=True, eq=False)
class DeflationContext:
    """The data from which a deflation space is constructed.

    A, M: bound operators with apply, or for M an `ElementWise`.
    grid: cells per side, (ny, nx) or (nz, ny, nx); None for a matrix without a grid.
    phase: the phase of each unknown, shape (N,); None for a problem without phases.
    null_space: of A.
    seed: of random numbers.
    slab: the rows of a rank, None for all; grid is that of all ranks, phase has the rows alone.
    earlier: the subdomains of an earlier phase, see `PiecewiseConstant.earlier`.
    near_null: as in `LinearSystem`.

    Examples:
        >>> from workbench.deflation import DeflationContext
        >>> from workbench.devices import device
        >>> from workbench.registry import find
        >>> A, M = find("problem", "poisson5:4").assemble().operator, find("preconditioner", "jacobi")
        >>> DeflationContext(A, A.bind(device()), M.setup(A, device()), device(), grid=(4, 4)).null_space.is_constant
        False
    """

    operator: Operator
    A: BoundOperator
    M: BoundOperator | Inlined
    device: Device
    grid: tuple[int, ...] | None = None
    phase: np.ndarray | None = None
    null_space: NullSpace = dataclasses.field(default_factory=NullSpace)
    seed: int = 0
    slab: Slab | None = None
    earlier: EarlierParts | None = None
    near_null: np.ndarray | None = None


@dataclasses.dataclass(frozen=True)
class Deflation(Block):
    """Base of all deflation spaces. Piecewise constant spaces implement `labels`, others override `space`.

    Examples:
        >>> from workbench.registry import find
        >>> find("deflation", "blocks:2").labels(16, (4, 4)).reshape(4, 4).tolist()
        [[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3]]
    """

    kind: ClassVar[str] = "deflation"
    needs_grid: ClassVar[bool] = False
    needs_phases: ClassVar[bool] = False
    takes_near_null: ClassVar[bool] = False
    """True if it makes its vectors from a near null space where one is given."""
    cuts_by_index: ClassVar[bool] = False
    """True if its subdomains are ranges of consecutive unknowns in the absence of a grid."""
    by_entries: ClassVar[bool] = False
    """True if its subdomains follow from the entries of A: `labels_of` has them, and `labels` none."""

    def estimated_count(self, size: int, grid: tuple[int, ...] | None, interface: float) -> int | None:
        """The number of vectors before anything is assembled, None where it follows from A.

        interface: as `Problem.interface`.
        """
        return None

    def fewest(self, size: int, grid: tuple[int, ...] | None, *, closed: bool) -> int:
        """A number of vectors that E has at least, before anything is assembled. closed: A maps constants to zero, so
        that one of the subdomains may be dropped."""
        return (self.estimated_count(size, grid, 0.0) or 1) - closed

    def estimated_box(self, grid: tuple[int, ...]) -> tuple[float, ...]:
        """Cells of a subdomain along each side of the grid, before phases split it; the whole grid by default."""
        return tuple(map(float, grid))

    def check(self, sides: tuple[int, ...]) -> None:
        """Raise InputError for parameters that do not suit a grid with these cells per side, or this number of unknowns
        without a grid; called before any setup."""

    def space(self, context: DeflationContext) -> Subspace | None:
        """The deflation subspace, or None without deflation. Raises InputError if it cannot be constructed."""
        if context.slab:
            return self.slab_space(context, context.slab)
        labels, layout = self.labels_and_boxes(context.operator.shape[0], context.grid, context.phase)
        return None if labels is None else PiecewiseConstant(labels, layout)

    def slab_space(self, context: DeflationContext, slab: Slab) -> Subspace | None:
        """The deflation subspace on the rows of a rank; None for a space without `sides`."""
        sides = self.sides(slab.grid)
        if not sides:
            return None
        from workbench.deflation.slab_subspace import RowsSubspace, SlabSubspace

        sizes = np.ones(1, np.int64)
        for parts, count in sides:
            sizes = np.outer(sizes, np.bincount(parts, minlength=count)).ravel()
        if isinstance(context.operator, MatrixRows):
            return RowsSubspace(combine_sides(sides, slab.within(0).planes), slab, sizes, context.device)
        return SlabSubspace(combine_sides(sides, slab.within(1).planes), slab, sizes, self.boxes(slab.grid))

    def sides(self, grid: tuple[int, ...]) -> list[tuple[np.ndarray, int]]:
        """The part of each cell along each side of a grid and their number, slowest side first, of subdomains that
        are made of such parts."""
        return []

    def boxes(self, grid: tuple[int, ...]) -> Boxes | None:
        """The boxes that the labels number; None where subdomains are not boxes of equal shares of the grid."""
        return None

    def labels_and_boxes(
        self, size: int, grid: tuple[int, ...] | None, phase: np.ndarray | None
    ) -> tuple[np.ndarray | None, Boxes | None]:
        """The labels, and the boxes that they number, None where subdomains are not boxes of a grid. Raises InputError
        as `labels` does."""
        return self.labels(size, grid, phase), None

    def labels(self, size: int, grid: tuple[int, ...] | None, phase: np.ndarray | None = None) -> np.ndarray | None:
        """The subdomain 0..d-1 of every unknown, shape (N,), int32; None for a space without subdomains.

        grid, phase: as in `DeflationContext`.

        Raises InputError if the space needs a grid or phases and there are none, or if it has more vectors than
        unknowns.
        """
        return None

    def labels_of(
        self, operator: Operator, grid: tuple[int, ...] | None, phase: np.ndarray | None = None
    ) -> np.ndarray | None:
        """`labels` for a given A, from whose entries some spaces make them. Raises InputError as `labels` does, and
        where such a space gets an A without entries."""
        return self.labels(operator.shape[0], grid, phase)

    def require_grid(self, grid: tuple[int, ...] | None) -> tuple[int, ...]:
        """The grid. Raises InputError if there is none."""
        if grid is None:
            raise InputError(
                f"deflation {self.name} needs a grid, and this matrix has none; "
                "use deflation parts, which grows subdomains along the couplings of A, or none"
            )
        return grid


def split_evenly(size: int, parts: int) -> np.ndarray:
    """The part 0..parts-1 of each of `size` consecutive cells, sizes differing by at most one; int32, shape (size,)."""
    return (np.arange(size, dtype=np.int64) * parts // size).astype(np.int32)


def combine_sides(sides: list[tuple[np.ndarray, int]], planes: slice = slice(None)) -> np.ndarray:
    """Labels of a grid from the parts along each side, slowest side first; each side is (part of each cell, parts).

    planes: those to label, of the slowest side.
    """
    labels = np.zeros((1,) * len(sides), dtype=np.int32)
    for axis, (parts, count) in enumerate(sides):
        parts = parts[planes] if axis == 0 else parts
        shape = [1] * len(sides)
        shape[axis] = parts.size
        labels = labels * count + parts.reshape(shape)
    return np.ascontiguousarray(labels).ravel()
