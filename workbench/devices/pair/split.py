"""A system distributed by rows: the first rows on the cores, the others on an accelerator."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Protocol

import numpy as np

from workbench.devices.accelerator.device import Accelerator
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.clock import Clock, Recorder
from workbench.devices.cpu import Cpu
from workbench.devices.cpu.device import Watch
from workbench.devices.element_wise import ElementWise
from workbench.devices.host import memory
from workbench.devices.operator_protocols import DeviceOperator, DeviceVector
from workbench.devices.ops.csr import RowBlock
from workbench.devices.pair.decomposition import decompose
from workbench.devices.pair.sides import AcceleratorSide, CpuSide, Link, PairClock, Part, Sides
from workbench.devices.programs.workspace import Workspace
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.lines.schedule import Inlined

SUMS = ("gamma", "omega", "uu", "rr")
"""Dot products of which each side has a partial sum: `gamma_part` is the local one, `gamma_there` that of the
accelerator, on the cores."""


@dataclasses.dataclass(frozen=True)
class RowBlocks:
    """A matrix split between rows 0 to `rows` on the cores and the others on an accelerator.

    near, far: products with the local and the remote block of either side. cpu_ghosts, accelerator_ghosts: the columns
    of the other side that a side reads, first and last + 1; in the first are also those that other ranks read.
    exchanged: the host's copy of the vector that A is applied to, shape (N,), page-locked. arrived: the ghosts of the
    accelerator, shape (rows,). On ranks N is the number of rows of one, and behind them come its g ghosts, the unknowns
    of other ranks: the shapes are then (N + g,) and (rows + g,).
    """

    rows: int
    near: tuple[DeviceOperator, DeviceOperator]
    far: tuple[DeviceOperator, DeviceOperator]
    cpu_ghosts: tuple[int, int]
    accelerator_ghosts: tuple[int, int]
    exchanged: np.ndarray
    arrived: Vector

    @classmethod
    def of(cls, accelerator: Accelerator, matrix: sparse.csr_array, rows: int, note: str) -> RowBlocks:
        """The blocks of a matrix. note: the reason for these rows, for the InputError where a side would be empty."""
        size = matrix.shape[0]
        check_halves(accelerator, size, rows, note)
        data, indices, indptr = matrix.data, matrix.indices, matrix.indptr
        splits = split_rows(indices, indptr, rows)
        # Element 0 of the host's copy of the vector that A is applied to is on a cache line; `rows` need not be.
        exchanged = memory.vector(size, data.dtype, accelerator.runtime.pinned)
        near = (
            RowBlock(Cpu(), data, indices, indptr[:rows], splits[:rows]),
            RowBlock(Cpu(), data, indices, splits[:rows], indptr[1 : rows + 1], remote=exchanged, others=size - rows),
        )
        arrived = accelerator.zeros(rows, data.dtype)
        far = row_blocks_below(accelerator, matrix, splits, rows, arrived)
        return cls(rows, near, far, *ghosts(indices, indptr, splits, rows), exchanged, arrived)


def check_halves(accelerator: Accelerator, size: int, rows: int, note: str) -> None:
    """Raise InputError where a side would have no row of `size`. note: the reason for these rows."""
    if not 0 < rows < size:
        empty = "the cores" if rows <= 0 else f"device {accelerator.name}"
        raise InputError(
            f"hybrid3 would leave {empty} without a row of {size} ({note}); give another share, or use "
            f"{'solver pipecg on the device alone' if rows <= 0 else 'device cpu'}"
        )


class SplitWorkspace(Workspace):
    """A workspace of the whole system on the cores, until `sides` distributes it: `near` is then the cores' half, `far`
    the accelerator's."""

    device: Split
    near: Workspace
    far: Workspace

    def gathered(self, name: str) -> np.ndarray | None:
        """Both halves of a vector in a new array, None where a half does not have it."""
        halves = self.near.vectors, self.far.vectors
        if not all(name in half for half in halves):
            return None
        assert isinstance(self.far.device, Accelerator)
        return np.concatenate([halves[0][name], self.far.device.to_host(halves[1][name])])

    def sides(self, *, fused: bool, merged: bool, halves: bool) -> Sides:
        """Both halves and the link.

        fused: passes of the accelerator hold as many lines as the plan allows, else one; merged: the same on the cores.
        halves: copy each side's whole half of m, else only the ghosts that the other side's rows read.
        """
        sides = self.device.distribute(self, fused=fused, merged=merged, halves=halves)
        self.near, self.far = sides.cpu.space, sides.accelerator.space
        return sides


class Split(Cpu):
    """The device of a run in two halves: rows 0 to `rows` of A and of all vectors on the cores, the others on the
    accelerator.

    Outside the recurrence it is the CPU: whole vectors, and products with the whole matrix, for the true residual. That
    matrix is stored once in host memory. The cores' local and remote blocks are views of it, separated by one pointer a
    row; the accelerator stores its rows once, its two blocks separated in the same way. In addition to its half of the
    vectors each side holds the ghosts: the other half of the vector that A is applied to. The host's is page-locked.
    Source: Tiwari, Vadhiyar 2021, section IV-C, "2-D decomposition".
    """

    Space = SplitWorkspace

    def __init__(self, accelerator: Accelerator, blocks: RowBlocks, note: str) -> None:
        self.name, self.note = accelerator.name, f"{accelerator.note}; {note}"
        self.accelerator, self.runtime, self.rows = accelerator, accelerator.runtime, blocks.rows
        self.blocks: RowBlocks | None = blocks
        self._x: np.ndarray | None = None
        self._far_x: Vector | None = None

    @property
    def cores(self) -> Cpu:
        """The device of the cores' half, whose dot products are those of its rows."""
        return self

    def clock(self, recorder: Recorder) -> Clock:
        return PairClock(self.runtime, recorder)

    def release(self) -> None:
        """Free all memory on the accelerator; nothing can be run after it."""
        self.blocks, self._far_x = None, None

    def whole(self, vector: np.ndarray) -> np.ndarray:
        """x with the accelerator's half copied in; other vectors are whole already."""
        if self._far_x is not None and vector is self._x:
            self.runtime.download(self._far_x.handle, vector[self.rows :])
        return vector

    def watch(self, workspace: Workspace, every: int | None) -> Watch:
        assert isinstance(workspace, SplitWorkspace)
        return Watch(workspace.near)

    def distribute(self, space: Workspace, *, fused: bool, merged: bool, halves: bool) -> Sides:
        """Both halves of a workspace with b, x and M, with the operators A1 and A2 of section IV-C.2.

        A1 is the local block; n = A2(v) is v plus the product of the remote block with the ghosts, for which the vector
        `m` must have been exchanged.
        """
        b, x, M = space.vectors["b"], space.vectors["x"], space.operators["M"]
        if not isinstance(M, Inlined):
            raise InputError("hybrid3 needs a preconditioner that acts element by element; use jacobi or none")
        blocks, accelerator, clock = self.blocks, self.accelerator, space.clock
        assert blocks is not None
        rows, exchanged = blocks.rows, blocks.exchanged
        factors: Mapping[str, DeviceVector] = M.factors
        near_m = ElementWise(M.formula, {name: factor[:rows] for name, factor in factors.items()})
        far_m = ElementWise(
            M.formula, {name: accelerator.array(factor[rows:], space.dtype) for name, factor in factors.items()}
        )
        near = Workspace(
            self.cores,
            rows,
            space.dtype,
            vectors={"b": b[:rows], "x": x[:rows], "m": exchanged[:rows]},
            operators={"A1": blocks.near[0], "A2": blocks.near[1], "M": near_m},
            scalars=[f"{name}_there" for name in SUMS],
            fuse=merged,
            clock=clock,
        )
        far_b, far_x = (accelerator.array(vector[rows:], space.dtype) for vector in (b, x))
        far = accelerator.workspace(
            x.size - rows,
            space.dtype,
            vectors={"b": far_b, "x": far_x, "m": accelerator.zeros(x.size - rows, space.dtype)},
            operators={"A1": blocks.far[0], "A2": blocks.far[1], "M": far_m},
            fuse=fused,
            clock=clock,
        )
        self._x, self._far_x = x, far_x
        cpu, other = CpuSide(near), AcceleratorSide(far)
        to_host = (rows, x.size) if halves else blocks.cpu_ghosts
        to_device = (0, rows) if halves else blocks.accelerator_ghosts
        arriving = Part(exchanged[slice(*to_host)], to_host[0] - rows)
        leaving = Part(exchanged[slice(*to_device)], to_device[0])
        return self.linked(cpu, other, {"m": arriving}, {"m": (leaving, blocks.arrived)})

    def linked(
        self, cpu: CpuSide, other: AcceleratorSide, arriving: dict[str, Part], leaving: dict[str, tuple[Part, Vector]]
    ) -> Sides:
        """Both halves, with a link; arriving, leaving: see `Link`."""
        return Sides(cpu, other, Link(cpu, other, arriving, leaving))


class HasEntries(Protocol):
    """An operator whose entries are available."""

    def to_csr(self) -> sparse.csr_array:
        """The assembled matrix."""
        ...


@functools.singledispatch
def split_of(accelerator: Accelerator, operator: HasEntries, share: float | None, vectors: int) -> Split:
    """The rows of an operator on the cores and on an accelerator; that of a rank registers a split of its own.

    share, vectors: as in `decompose`. Raises InputError if a side has no row.
    """
    matrix = operator.to_csr()
    rows, why = decompose(accelerator, matrix, share, vectors)
    return Split(accelerator, RowBlocks.of(accelerator, matrix, rows, why), why)


def row_blocks_below(
    accelerator: Accelerator, matrix: sparse.csr_array, splits: np.ndarray, top: int, remote: Vector
) -> tuple[RowBlock, RowBlock]:
    """The local and the remote block of rows `top` to N, whose entries the device stores once.

    splits: where in each row the columns from `top` on begin, shape (N,). remote: the columns before, shape (top,).
    """
    first = int(matrix.indptr[top])
    below = matrix.data[first:], matrix.indices[first:], matrix.indptr[top:] - first
    return accelerator_blocks(accelerator, below, splits[top:] - first, top, remote)


def accelerator_blocks(
    accelerator: Accelerator,
    rows: tuple[np.ndarray, np.ndarray, np.ndarray],
    splits: np.ndarray,
    column: int,
    remote: Vector,
) -> tuple[RowBlock, RowBlock]:
    """The local block, of the columns from `column` on, and the remote block, of those before.

    rows: CSR arrays of the accelerator's rows. splits: where in each of them the local columns begin.
    """
    data, indices, indptr = rows
    return (
        RowBlock(accelerator, data, indices, splits, indptr[1:], first=column),
        RowBlock(accelerator, data, indices, indptr[:-1], splits, remote=remote),
    )


def split_rows(indices: np.ndarray, indptr: np.ndarray, column: int) -> np.ndarray:
    """The place where the entries from `column` on begin in each row of a CSR matrix, shape (N,).

    Indices are sorted and no row is empty, as `Matrix` guarantees. Cost: one pass over the indices; temporary memory of
    a byte for each.
    """
    before = np.add.reduceat(indices < column, indptr[:-1], dtype=indptr.dtype)
    return indptr[:-1] + before


def ghosts(
    indices: np.ndarray, indptr: np.ndarray, splits: np.ndarray, rows: int
) -> tuple[tuple[int, int], tuple[int, int]]:
    """The ghost columns of the rows before `rows`, and those of the other rows: first and last + 1 each.

    Each is one range of columns, which holds others too where the matrix is not banded. Cost: two reads a row.
    """
    ends = indptr[1 : rows + 1]
    beyond = np.flatnonzero(splits[:rows] < ends)
    lower = (
        (int(indices[splits[:rows][beyond]].min()), int(indices[ends[beyond] - 1].max()) + 1) if beyond.size else None
    )
    starts = indptr[rows:-1]
    before = np.flatnonzero(starts < splits[rows:])
    upper = (
        (int(indices[starts[before]].min()), int(indices[splits[rows:][before] - 1].max()) + 1) if before.size else None
    )
    return lower or (rows, rows), upper or (0, 0)
