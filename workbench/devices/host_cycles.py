"""Cycles over the levels of a coarse system on the cores, for device cpu and for coarse solves on the host."""

from __future__ import annotations

import numpy as np

from workbench.devices import cycles
from workbench.devices.clock import TimedCalls
from workbench.devices.coarse import Level, Levels
from workbench.devices.on_cores import OnCores
from workbench.devices.ops.levels import LevelOperations, solution
from workbench.devices.programs.on_cores import OnePassOnCores
from workbench.jit.compiled import kernel
from workbench.jit.indices import as_unsigned
from workbench.jit.threads import launch, prepare


class HostLevel(LevelOperations):
    """The operations of a level on the cores."""

    def __init__(self, level: Level, scaling: float) -> None:
        super().__init__(OnCores, level, scaling)

        def one_pass(text: str, *names: str, **numbers: complex) -> OnePassOnCores:
            made = OnePassOnCores(text, names, numbers=numbers)
            made.prepare(level.data.dtype)
            return made

        self._first = one_pass(cycles.FIRST_STEP, "p", "s", "b", "x", "r", alpha=0)
        self._projected = one_pass(cycles.PROJECTION, "s", "z")
        self._orthogonal = one_pass(cycles.ORTHOGONALIZE, "z", "p", beta=0)
        self._last = one_pass(cycles.LAST_STEP, "p", "x", alpha=0)

    def first_step(self, p: np.ndarray, s: np.ndarray, b: np.ndarray, x: np.ndarray, r: np.ndarray) -> None:
        """x = alpha p and r = b - alpha s."""
        self._first.numbers[0] = self._over_curvature(self._sums[0])
        self._first.apply(p, s, b, x, r)

    def orthogonalize(self, z: np.ndarray, s: np.ndarray, p: np.ndarray) -> None:
        """p = z - (s, z)/(p, s) p."""
        projected = self._projected.apply(s, z)
        assert projected is not None
        self._orthogonal.numbers[0] = self._over_curvature(projected[0])
        self._orthogonal.apply(z, p)

    def last_step(self, p: np.ndarray, x: np.ndarray) -> None:
        """x = x + alpha p."""
        self._last.numbers[0] = self._over_curvature(self._sums[0])
        self._last.apply(p, x)

    def _over_curvature(self, number: np.number) -> complex:
        """The number over (p, s), or 0 without curvature; of Python's numbers, which warn of no infinity."""
        curvature = self._sums[1].item()
        return number.item() / curvature if curvature.real > 0 else 0


class HostLevels:
    """E^-1 a by cycles; a and the result in double precision."""

    def __init__(self, form: Levels) -> None:
        self._order, self._singular = as_unsigned(form.order), form.singular
        self._scale, self._inverse = form.scale, form.bottom
        self._cycles = cycles.Cycles(form, self.level, np.zeros, self._solve_bottom)
        wide = np.result_type(form.bottom.dtype, np.float64)
        self._solved = np.zeros(form.order.size, wide)
        prepare(_enter, self._order, self._scale, self._solved, 0.0 * wide.type(), self._cycles.right)
        self._leave = solution(OnCores, form, self._cycles.solution, self._solved)

    def level(self, level: Level, scaling: float) -> HostLevel:
        """The operations of a level."""
        return HostLevel(level, scaling)

    def _solve_bottom(self, b: np.ndarray, x: np.ndarray) -> None:
        np.dot(self._inverse, b, out=x)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """E^-1 a, shape (d,); the array is reused by the next call."""
        right = np.ascontiguousarray(right, self._solved.dtype)
        self.enter(right)
        self._cycles.solve()
        self.leave()
        return self._solved

    def enter(self, right: np.ndarray) -> None:
        """The right-hand side of the first level, from a without its mean where E is singular."""
        mean = right.mean() if self._singular else self._solved.dtype.type(0)
        launch(right.size, _enter, self._order, self._scale, right, mean, self._cycles.right)

    def leave(self) -> None:
        """E^-1 a from the solution of the first level."""
        self._leave()

    def parts(self) -> TimedCalls:
        """The calls of a solve that a trace records separately."""
        return self._cycles.parts(self, self._solved.itemsize)


@kernel()
def _enter(taken, order, scale, right, mean, b):  # pragma: no cover
    # On one thread: once in a solve.
    for i in range(b.size):
        b[i] = scale[i] * (right[order[i]] - mean)
