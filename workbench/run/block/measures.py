"""Measurements on the block vectors of a run: true residuals, and X of the original system."""

from __future__ import annotations

import numpy as np

from workbench.deflation.block_projection import projection_in_blocks
from workbench.devices.lines.in_blocks import in_blocks
from workbench.devices.operator_protocols import DeviceVector
from workbench.run.block.right_hand_sides import RightHandSides
from workbench.run.setup import SolveSetup
from workbench.scaling import is_extreme, scaled_scalar


class BlockMeasures:
    """Measurements at the present X. B, X: of the scaled system on the device, shape (N, s)."""

    def __init__(self, setup: SolveSetup, sides: RightHandSides) -> None:
        self._setup, self._sides = setup, sides
        device, dtype = setup.device, setup.operator.dtype
        self.size, self.columns = sides.B.shape
        self.B: DeviceVector = device.array(sides.B, dtype)
        self.X: DeviceVector = device.zero_block(self.size, self.columns, dtype)
        device.assign(self.X, device.array(sides.X0, dtype))
        self._recovered: DeviceVector = None
        """Q B + P^T X of a variant that iterates on the projected system, allocated when it is first asked for."""
        self._A = in_blocks(device, setup.bound, self.size, self.columns, dtype)
        self._projection = setup.projection and projection_in_blocks(setup.projection, self.size, self.columns)
        if setup.variant.projects_start and self._projection:
            self._projection.recover_solution(self.X, self.B)

    def keep_residuals_in(self, block: DeviceVector) -> None:
        """Where `true_residuals` may write b - A x, shape (N, s)."""
        algebra = self._setup.device.block_algebra()
        self._residual = block
        self._subtract = algebra.combine(block, self.B, block, (self.columns,))
        self._squares = algebra.column_dots(block, block)

    def solver_B(self) -> DeviceVector:
        """The right-hand sides of the system that the solver iterates on."""
        setup = self._setup
        if not (self._projection and setup.variant.projects_system):
            return self.B
        projected = setup.device.zero_block(self.size, self.columns, setup.operator.dtype)
        setup.device.assign(projected, self.B)
        self._projection.project(projected)
        return projected

    def solution(self) -> DeviceVector:
        """The solution of the scaled system that belongs to the iterates; the next call overwrites it."""
        setup = self._setup
        if not (self._projection and setup.variant.projects_system):
            return self.X
        if self._recovered is None:
            self._recovered = setup.device.zero_block(self.size, self.columns, setup.operator.dtype)
        setup.device.assign(self._recovered, self.X)
        self._projection.recover_solution(self._recovered, self.B)
        return self._recovered

    def norms_of_b(self) -> np.ndarray:
        """||b_j||, shape (s,)."""
        squares = self._setup.device.block_algebra().column_dots(self.B, self.B)()
        return np.sqrt(np.maximum(np.real(squares), 0))

    def true_residuals(self) -> np.ndarray:
        """||b_j - A x_j|| for the X that is returned, shape (s,). Cost: one application of A to a block vector."""
        return self._residuals_of(self._returned())

    def returned_X(self) -> np.ndarray:
        """X of the original system, shape (N, s), in host memory, orthogonal to the null space of A."""
        return self._in_host_memory(self._returned())

    def returned(self) -> tuple[np.ndarray, np.ndarray]:
        """The X that is returned, and ||b_j - A x_j|| of the scaled system for these very columns."""
        X = self._returned()
        return self._in_host_memory(X), self._residuals_of(X)

    def _residuals_of(self, X: DeviceVector) -> np.ndarray:
        self._A.apply(X, self._residual)
        self._subtract(-np.ones(self.columns))
        return np.sqrt(np.maximum(np.real(self._squares()), 0))

    def _in_host_memory(self, X: DeviceVector) -> np.ndarray:
        return self._sides.unscaled(self._setup.device.to_host(X))

    def _returned(self) -> DeviceVector:
        """The solution as `SolveSetup.returned` gives it, column by column in its own memory.

        Iterates may lose their component in the null space of A: no recurrence depends on it.
        """
        setup, X = self._setup, self.solution()
        for j, exponent in enumerate(self._sides.exponents):
            extreme = is_extreme(scaled_scalar(1.0, int(exponent)), setup.operator.dtype)
            if not (setup.null_space or extreme):
                continue
            column = setup.device.zeros(self.size, setup.operator.dtype)
            setup.device.take_columns(X, j, [column])
            returned = setup.returned(column, int(exponent) if extreme else 0)
            if returned is not column:
                setup.device.put_columns([returned], X, j)
        return X
