"""The number of right-hand sides that fit the memory of a device at once."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from workbench.devices.element_wise import ElementWise
from workbench.devices.kernels.block_algebra import MOST_COLUMNS
from workbench.devices.programs.block_workspace import BlockWorkspace
from workbench.devices.programs.counting import CountingDevice
from workbench.devices.programs.in_blocks import MOST_TOGETHER, has_blocks
from workbench.errors import InputError
from workbench.lines.block_passes import scaling
from workbench.lines.schedule import Inlined
from workbench.operators.base import stored_bytes
from workbench.run.setup.solve_setup import SolveSetup
from workbench.solvers.block.base import BlockSolver

SQUARES, ROWS = 16, 400
"""Small matrices of a method that an accelerator holds, at most, and rows of numbers that it keeps of iterations."""


def chunks_of(setup: SolveSetup, count: int) -> list[slice]:
    """The right-hand sides that are solved at once: of nearly equal numbers, in as few chunks as memory allows.

    Raises InputError where not even one fits.
    """
    most = min(MOST_COLUMNS, count)
    room = setup.device.available_memory(stored_bytes(setup.operator))
    if room is not None:
        most = next((s for s in range(most, 0, -1) if bytes_of(setup, s) <= room), 0)
        # As many as fit on every rank.
        most = -int(setup.device.largest(-most))
        if not most:
            raise InputError(
                f"one right-hand side needs {bytes_of(setup, 1) / 1e6:.4g} MB for the vectors of solver "
                f"{setup.solver.name}, and device {setup.device.name} has {room / 1e6:.4g} MB left; take a smaller "
                "problem or raise the memory limit"
            )
    chunks = -(-count // most)
    ends = [count * k // chunks for k in range(chunks + 1)]
    return [slice(begin, end) for begin, end in itertools.pairwise(ends)]


def bytes_of(setup: SolveSetup, columns: int) -> int:
    """Device memory that `columns` right-hand sides take at once, in bytes: block vectors, the copies of columns for
    operators that are applied column by column, Z and AZ for block vectors, and small matrices."""
    by_column = sum(not has_blocks(operator) for operator in (setup.bound, setup.first_level))
    copies = 2 * min(columns, MOST_TOGETHER) * by_column
    vector = setup.operator.shape[0] * setup.operator.dtype.itemsize
    basis = setup.projection.columns.block_bytes if setup.projection else 0
    fuses = setup.device.block_algebra().fuses(columns)
    small = columns * (SQUARES * columns + ROWS) * setup.operator.dtype.itemsize
    return small + columns * bytes_per_column(setup, fuses=fuses) + copies * vector + basis


def bytes_per_column(setup: SolveSetup, *, fuses: bool) -> int:
    """Device memory that one more right-hand side takes, in bytes: the block vectors of the method. fuses: the device
    makes passes of lines on them.

    Block vectors that a method needs only where columns depend on one another are not counted.
    """
    solver = setup.solver
    assert isinstance(solver, BlockSolver)
    # P B and x next to x^ of a projected system, and the work space of P, of which a second level may have two; the
    # best columns.
    further = 1 + (0 if setup.projection is None else 3 if setup.variant.projects_system else 2)
    M = setup.M
    inlined = isinstance(M, Inlined)
    remade = inlined and fuses and scaling("", "", M.formula, M.factors) is not None
    vectors = blocks_of(solver, plain=inlined and M.formula == "v", remade=remade) + further
    return vectors * setup.operator.shape[0] * setup.operator.dtype.itemsize


@functools.cache
def blocks_of(solver: BlockSolver, *, plain: bool, remade: bool = False) -> int:
    """Block vectors that a method stores, B and X included, found by planning its lines on a device that only counts.

    plain: M is the identity. remade: its products join passes.
    """
    device = CountingBlocks()
    M = ElementWise("v", {}) if plain else device
    vectors = {name: device.zero_block(1, 1, np.dtype(float)) for name in "BX"}
    space = CountedSpace(device, 1, 1, np.dtype(float), vectors=vectors, operators={"A": device, "M": M})
    space.remade = remade
    solver.block_iterates(space, np.zeros(1, bool))
    return len({id(vector) for name, vector in space.vectors.items() if name not in space.dropped})


class CountedSpace(BlockWorkspace):
    """A workspace whose operators need no memory."""

    remade = False

    def remakes(self, operator: str) -> bool:
        return self.remade

    def operator(self, name: str) -> Any:
        return self.device


class CountingBlocks(CountingDevice):
    """The parts of a device that block vectors need, as operators too. What is made here does nothing."""

    traffic: ClassVar[int] = 0
    flops: ClassVar[int] = 0

    def block_algebra(self) -> CountingBlocks:
        return self

    def gram(self, *_: object, **__: object) -> Callable[..., None]:
        return lambda *_: None

    column_dots = combine = apply = gram

    def device_matrices(self, *_: object) -> None:
        """No small matrices."""

    fused = device_matrices

    def fuses(self, columns: int) -> bool:
        """One line at a time."""
        return False
