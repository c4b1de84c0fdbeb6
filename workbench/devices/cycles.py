"""The V-cycle and the K-cycle over the levels of a coarse system, pass by pass, and both on the cores, for device cpu
and for coarse solves on the host; on accelerators in fewer passes, see `accelerator.cycles`.

On a level with the scaled matrix E (unit diagonal), from x = 0 and for right-hand side b:

    x = a b - b' E b                        smoothing: a polynomial of degree 1 in E, the residual one of degree 2
    r = b - E x,  b_next = W^T r            W: the weights of a row at its parent
    x = x + scaling W e                     e: the next level's solution for b_next
    r = b - E x,  x = x + a r - b' E r      smoothing

With steps of flexible CG, the cycle is their preconditioner: each direction is made E-orthogonal to the one before. Two
steps take two cycles and two more products.

Source: the V-cycle as in Briggs, Henson, McCormick 2000; corrections scaled as in Braess 1995; flexible CG around a
cycle on each level (K-cycle) as in Notay and Vassilevski 2008.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.devices.clock import TimedCalls
from workbench.devices.coarse import Level, Levels
from workbench.devices.cycle_parts import bottom_part, entry_parts, level_parts
from workbench.devices.on_cores import OnCores, as_unsigned
from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.ops.levels import LevelOperations, solution
from workbench.devices.programs.on_cores import OnePassOnCores
from workbench.jit.compiled import kernel
from workbench.jit.threads import launch, prepare

FIRST_STEP = """
x = alpha*p
r = b - alpha*s
"""
"""The first step of flexible CG; alpha = (p, r)/(p, s), or 0 without curvature: b is zero, or in the null space."""
PROJECTION = "sz = (s, z)"
ORTHOGONALIZE = "p = z - beta*p"
"""beta = (s, z)/(p, s), or 0 without curvature."""
LAST_STEP = "x = x + alpha*p"


class Cycles:
    """x = an approximation of E^-1 b on the scaled system, by the cycles that `form` describes.

    level: makes the operations of a level, with the factor of corrections. vector: makes vectors of zeros. bottom:
    solves with the last level. The vectors of all levels are allocated here.
    """

    def __init__(
        self,
        form: Levels,
        level: Callable[[Level, float], LevelOperations],
        vector: Callable[[int, np.dtype], DeviceVector],
        bottom: Callable[[DeviceVector, DeviceVector], object],
    ) -> None:
        self._form, self._bottom = form, bottom
        self._levels = [level(one, form.scaling) for one in form.levels]
        dtype = form.bottom.dtype
        sizes = [level.size for level in form.levels]
        self._residual = [vector(size, dtype) for size in sizes]
        self._right = [vector(size, dtype) for size in (*sizes, form.bottom.shape[0])]
        self._solution = [vector(size, dtype) for size in (*sizes, form.bottom.shape[0])]
        self._steps = [form.steps_at(depth) for depth in range(len(sizes))]
        self._krylov = [
            [vector(size, dtype) for _ in range(4)] if steps else []
            for size, steps in zip(sizes, self._steps, strict=True)
        ]
        self.right, self.solution = self._right[0], self._solution[0]
        self._total = vector(form.levels[0].size, dtype) if form.repeats > 1 and form.levels else None

    def parts(self, entry: object, wide: int) -> TimedCalls:
        """The calls of a solve that a trace records separately, with names such as `smooth, level 1`.

        entry: the owner of `enter` and `leave`, which bring a right-hand side to the first level and its solution back.
        wide: bytes of an entry outside of the levels.
        """
        yield from entry_parts(entry, self._form, wide)
        for depth, (operations, level) in enumerate(zip(self._levels, self._form.levels, strict=True)):
            yield from level_parts(operations, level, depth, steps=self._steps[depth] > 0)
        yield from bottom_part(self, "_bottom", self._form)

    def solve(self) -> None:
        """`solution` for `right`."""
        self._solve(0, self.right, self.solution)
        if self._total is None:
            return
        self._total.fill(0)
        for _ in range(1, self._form.repeats):
            # What is left of the right-hand side takes its place.
            self._total += self.solution
            self._levels[0].residual(self.right, self.solution, self._residual[0])
            self.right[:] = self._residual[0]
            self._solve(0, self.right, self.solution)
        self.solution += self._total

    def _solve(self, depth: int, b: DeviceVector, x: DeviceVector) -> None:
        if depth == len(self._levels):
            self._bottom(b, x)
        elif not self._steps[depth]:
            self._cycle(depth, b, x)
        else:
            self._flexible(depth, b, x, self._steps[depth])

    def _flexible(self, depth: int, b: DeviceVector, x: DeviceVector, steps: int) -> None:
        level, (p, s, z, r) = self._levels[depth], self._krylov[depth]
        self._cycle(depth, b, p)
        level.energy(p, b, s)
        level.first_step(p, s, b, x, r)
        if steps == 2:
            self._cycle(depth, r, z)
            level.orthogonalize(z, s, p)
            level.energy(p, r, s)
            level.last_step(p, x)

    def _cycle(self, depth: int, b: DeviceVector, x: DeviceVector) -> None:
        level, r = self._levels[depth], self._residual[depth]
        below, correction = self._right[depth + 1], self._solution[depth + 1]
        level.smooth_from_zero(b, x)
        level.residual(b, x, r)
        level.restrict(r, below)
        self._solve(depth + 1, below, correction)
        level.correct(x, correction)
        level.residual(b, x, r)
        level.smooth(r, x)


class HostLevel(LevelOperations):
    """The operations of a level on the cores."""

    def __init__(self, level: Level, scaling: float) -> None:
        super().__init__(OnCores, level, scaling)

        def one_pass(text: str, *names: str, **numbers: complex) -> OnePassOnCores:
            made = OnePassOnCores(text, names, numbers=numbers)
            made.prepare(level.data.dtype)
            return made

        self._first = one_pass(FIRST_STEP, "p", "s", "b", "x", "r", alpha=0)
        self._projected = one_pass(PROJECTION, "s", "z")
        self._orthogonal = one_pass(ORTHOGONALIZE, "z", "p", beta=0)
        self._last = one_pass(LAST_STEP, "p", "x", alpha=0)

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
        self._cycles = Cycles(form, self.level, np.zeros, self._solve_bottom)
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
def _enter(
    taken: np.ndarray, order: np.ndarray, scale: np.ndarray, right: np.ndarray, mean: float, b: np.ndarray
) -> None:  # pragma: no cover
    # On one thread: once in a solve.
    for i in range(b.size):
        b[i] = scale[i] * (right[order[i]] - mean)
