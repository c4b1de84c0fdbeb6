"""Measurements on the block vectors of a run: true residuals, and X of the original system."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np

from workbench.arrays.scaling import in_range, is_extreme, scaled_scalar
from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.programs.in_blocks import in_blocks
from workbench.run.choices.stopping import Norm
from workbench.run.loop.diagnostics import Diagnostics, References
from workbench.run.setup.right_hand_side import on_host
from workbench.run.setup.right_hand_sides import RightHandSides
from workbench.run.setup.solve_setup import SolveSetup


class BlockDiagnostics(Diagnostics):
    """Measurements at the present X. B, X: of the scaled system on the device, shape (N, s)."""

    stored_residual: ClassVar[str] = "R"

    def __init__(self, setup: SolveSetup, sides: RightHandSides) -> None:
        self.size, s = sides.B.shape
        super().__init__(setup, s, setup.projection and setup.projection.block(s))
        device, dtype, self._sides = setup.device, setup.operator.dtype, sides
        self.B: DeviceVector = device.array(sides.B, dtype)
        self.X: DeviceVector = device.zero_block(self.size, self.columns, dtype)
        device.assign(self.X, device.array(sides.X0, dtype))
        self._recovered: DeviceVector = None
        """Memory for Q B + P^T X, allocated when it is first asked for."""
        self._A: Any = in_blocks(device, setup.bound, self.size, self.columns, dtype)
        if setup.variant.projects_start and self._projection:
            self._projection.recover_solution(self.X, self.B)

    @property
    def x(self) -> DeviceVector:
        return self.X

    @property
    def right_hand_sides(self) -> DeviceVector:
        return self.B

    def release(self) -> None:
        self.B = self.X = self._recovered = self._residual = self._A = self._projection = self._solver_B = None
        del self._subtract, self._squares

    def keep_residuals_in(self, block: DeviceVector) -> None:
        """Let `true_residuals` write b - A x into a block vector, shape (N, s)."""
        algebra = self._setup.device.block_algebra()
        self._residual = block
        self._subtract = algebra.combine(block, self.B, block, (self.columns,))
        self._squares = algebra.column_dots(block, block)

    def solver_B(self) -> DeviceVector:
        """The right-hand sides of the system that the solver iterates on."""
        setup = self._setup
        self._solver_B = self.B
        if not (self._projection and setup.variant.projects_system):
            return self.B
        self._solver_B = projected = setup.device.zero_block(self.size, self.columns, setup.operator.dtype)
        setup.device.assign(projected, self.B)
        self._projection.project(projected)
        return projected

    def solution_on_host(self, X: DeviceVector = None) -> np.ndarray:
        """The result of `solution` in a new array, shape (N, s)."""
        return np.array(self._setup.device.to_host(self.solution(X)))

    def begin_at(self, X: DeviceVector, which: np.ndarray) -> None:
        """Let the solutions of other iterates be the starts of some columns, projected as at first, and orthogonal to
        the null space of A. The rest, which was verified, stays as it is. which: shape (s,), bool."""
        setup = self._setup
        starts = self.solution_on_host(X)
        for j in np.flatnonzero(which) if setup.null_space else ():
            starts[:, j], _ = setup.null_space.complement(starts[:, j].copy(), on_host(setup.device))
        made = np.where(which, starts, setup.device.to_host(self.X))
        self._set(made)
        if setup.variant.projects_start and self._projection:
            self._projection.recover_solution(self.X, self.B)
            self._set(np.where(which, setup.device.to_host(self.X), made))

    def _starts(self) -> DeviceVector:
        X0, device = self._sides.X0, self._setup.device
        return device.array(X0, self._setup.operator.dtype) if device.largest(float(X0.any())) else None

    def _choose(self, chosen: np.ndarray, best: DeviceVector) -> None:
        made = self.solution_on_host()
        if (chosen == 1).any():
            made[:, chosen == 1] = self.solution_on_host(best)[:, chosen == 1]
        made[:, chosen == 2] = 0
        made[:, chosen == 3] = self._sides.X0[:, chosen == 3]
        self._set(made)
        self._is_solution = True

    def _set(self, X: np.ndarray) -> None:
        device, dtype = self._setup.device, self._setup.operator.dtype
        device.assign(self.X, device.array(np.ascontiguousarray(X, dtype), dtype))

    def b(self, column: int) -> DeviceVector:
        return self._taken(self.B, column)

    def solver_system(self, column: int) -> tuple[DeviceVector, DeviceVector]:
        return self._taken(self._solver_B, column), self._taken(self.X, column)

    def references(self, norm: Norm, atol: float) -> list[References]:
        """Reference values of the test in norm residual."""
        norms = self.norms_of_b().tolist()
        atols = np.ldexp(atol, -self._sides.exponents).tolist()
        return list(map(References, norms, norms, atols, self._sides.removed.tolist()))

    def _taken(self, block: DeviceVector, column: int) -> DeviceVector:
        taken = self._setup.device.zeros(self.size, self._setup.operator.dtype)
        self._setup.device.take_columns(block, column, [taken])
        return taken

    def norms_of_b(self) -> np.ndarray:
        """||b_j||, shape (s,)."""
        return self._norms_of_b

    @functools.cached_property
    def _norms_of_b(self) -> np.ndarray:
        squares = self._setup.device.block_algebra().column_dots(self.B, self.B)()
        return self._norms(self.B, squares, np.zeros(self.columns, bool))

    @functools.cached_property
    def _vanishing(self) -> np.ndarray:
        """The columns where b and x0 are zero, and so are all residuals; shape (s,), bool."""
        found, device = self.norms_of_b() == 0, on_host(self._setup.device)
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
        self._A.apply(solution, self._residual)
        self._subtract(-np.ones(self.columns))
        return self._norms(self._residual, self._squares(), self._vanishing)

    def _in_host_memory(self, solution: DeviceVector) -> np.ndarray:
        return self._sides.unscaled(self._setup.device.to_host(solution))

    def _returned(self) -> DeviceVector:
        """X, column by column in its own memory.

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
