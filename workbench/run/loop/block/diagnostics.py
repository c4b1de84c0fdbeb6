"""Measurements on the block vectors of a run: true residuals, and X of the original system."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from workbench.arrays.scaling import in_range, is_extreme, scaled_scalar
from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.programs.in_blocks import in_blocks
from workbench.run.loop.diagnostics import Diagnostics
from workbench.run.setup.consistency import on_host
from workbench.run.setup.right_hand_side import RightHandSides
from workbench.run.setup.solve_setup import SolveSetup


class BlockDiagnostics(Diagnostics):
    """Measurements at the present X. B, X: of the scaled system on the device, shape (N, s)."""

    stored_residual: ClassVar[str] = "R"

    def __init__(self, setup: SolveSetup, sides: RightHandSides) -> None:
        self.size, s = sides.B.shape
        device, dtype, self._sides = setup.device, setup.operator.dtype, sides
        super().__init__(setup)
        self._exponents, self._removed = sides.exponents.tolist(), sides.removed.tolist()
        self._projection = setup.projection and setup.projection.block(s)
        self.right_hand_sides, self.x = device.array(sides.B, dtype), device.zero_block(self.size, s, dtype)
        device.assign(self.x, device.array(sides.X0, dtype))
        self._recovered: DeviceVector = None
        self._projected: DeviceVector = None
        """Memory for Q B + P^T X, and for P B, allocated when they are first asked for."""
        self._A: Any = in_blocks(device, setup.bound, self.size, s, dtype)
        if setup.variant.projects_start and self._projection:
            self._projection.recover_solution(self.x, self.right_hand_sides)

    def release(self) -> None:
        super().release()
        self._recovered = self._projected = self._A = None
        del self._subtract, self._squares

    def keep_residuals_in(self, block: DeviceVector) -> None:
        """Let `true_residuals` write b - A x into a block vector, shape (N, s)."""
        algebra = self._setup.device.block_algebra()
        self.residual = block
        self._subtract = algebra.combine(block, self.right_hand_sides, block, (self.columns,))
        self._squares = algebra.column_dots(block, block)

    @property
    def solver_b(self) -> DeviceVector:
        setup = self._setup
        if not (self._projection and setup.variant.projects_system):
            return self.right_hand_sides
        if self._projected is None:
            self._projected = setup.device.zero_block(self.size, self.columns, setup.operator.dtype)
            setup.device.assign(self._projected, self.right_hand_sides)
            self._projection.project(self._projected)
        return self._projected

    def begin_columns_at(self, X: DeviceVector, which: np.ndarray) -> None:
        """Let the solutions of other iterates be the starts of some columns, projected as at first, and orthogonal to
        the null space of A. The rest, which was verified, stays as it is. which: shape (s,), bool."""
        setup = self._setup
        starts = np.array(setup.device.to_host(self.solution(X)))
        for j in np.flatnonzero(which) if setup.null_space else ():
            starts[:, j], _ = setup.null_space.complement(starts[:, j].copy(), on_host(setup.device))
        made = np.where(which, starts, setup.device.to_host(self.x))
        self._set(made)
        if setup.variant.projects_start and self._projection:
            self._projection.recover_solution(self.x, self.right_hand_sides)
            self._set(np.where(which, setup.device.to_host(self.x), made))

    def _set(self, X: np.ndarray) -> None:
        device, dtype = self._setup.device, self._setup.operator.dtype
        device.assign(self.x, device.array(np.ascontiguousarray(X, dtype), dtype))

    def _starts(self) -> DeviceVector:
        X0, device = self._sides.X0, self._setup.device
        return device.array(X0, self._setup.operator.dtype) if device.largest(float(X0.any())) else None

    def _taken(self, vectors: DeviceVector, column: int) -> DeviceVector:
        taken = self._setup.device.zeros(self.size, self._setup.operator.dtype)
        self._setup.device.take_columns(vectors, column, [taken])
        return taken

    def _put(self, vector: DeviceVector, vectors: DeviceVector, column: int) -> DeviceVector:
        self._setup.device.put_columns([vector], vectors, column)
        return vectors

    @functools.cached_property
    def norms_of_b(self) -> np.ndarray:
        B = self.right_hand_sides
        squares = self._setup.device.block_algebra().column_dots(B, B)()
        return self._norms(B, squares, np.zeros(self.columns, bool))

    @functools.cached_property
    def _vanishing(self) -> np.ndarray:
        """The columns where b and x0 are zero, and so are all residuals; shape (s,), bool."""
        found, device = self.norms_of_b == 0, on_host(self._setup.device)
        for j in np.flatnonzero(found).tolist():
            found[j] = device.norm(np.ascontiguousarray(self._sides.X0[:, j])) == 0
        return found

    def _norms(self, block: DeviceVector, squares: np.ndarray, zero: np.ndarray) -> np.ndarray:
        """The norms of its columns, given the sums of their squares, and which are zero. Cost: a pass over each other
        column whose squares under- or overflow."""
        squares = np.real(squares)
        norms = np.sqrt(np.maximum(squares, 0))
        for j in np.flatnonzero(~in_range(squares, squares.dtype) & ~((squares == 0) & zero)).tolist():
            norms[j] = self._setup.device.norm(self._taken(block, j))
        return norms

    def _copy(self, x: DeviceVector) -> DeviceVector:
        device = self._setup.device
        if self._recovered is None:
            self._recovered = device.zero_block(self.size, self.columns, self._setup.operator.dtype)
        device.assign(self._recovered, x)
        return self._recovered

    def _residuals(self, solution: DeviceVector) -> np.ndarray:
        self._A.apply(solution, self.residual)
        self._subtract(-np.ones(self.columns))
        return self._norms(self.residual, self._squares(), self._vanishing)

    def _verified(self) -> tuple[DeviceVector, np.ndarray]:
        # X changes with every iteration.
        self.verified = None
        return super()._verified()

    @property
    def _scales(self) -> Sequence[int]:
        dtype = self._setup.operator.dtype
        return [exponent if is_extreme(scaled_scalar(1.0, exponent), dtype) else 0 for exponent in self._exponents]
