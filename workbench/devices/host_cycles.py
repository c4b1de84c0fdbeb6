"""Cycles over the levels of a coarse system on the cores, for device cpu and for coarse solves on the host."""

from __future__ import annotations

import numpy as np

from workbench.devices import cycles
from workbench.devices.clock import TimedCalls
from workbench.devices.coarse import Level, Levels
from workbench.devices.programs.on_cores import OnePassOnCores
from workbench.jit.compiled import REORDERED, kernel
from workbench.jit.dot_sums import total
from workbench.jit.indices import as_unsigned
from workbench.jit.threads import launch, prepare
from workbench.jit.work_stealing import shared, threads

ROWS_PER_CHUNK = 8192
PARENTS_PER_CHUNK = 1024
FROM_ZERO, RESIDUAL, SMOOTH, ENERGY = range(4)
"""What a pass over the matrix computes."""


class HostLevel:
    """The operations of `cycles.LevelOperations`, in the precision of the level, with sums in double precision."""

    def __init__(self, level: Level, scaling: float) -> None:
        self._matrix = (level.data, as_unsigned(level.indices), as_unsigned(level.indptr))
        self._parents, self._starts = as_unsigned(level.parents), as_unsigned(level.starts)
        self._weights, self._scaled = level.weights, (scaling * level.weights).astype(level.weights.dtype)
        self._smoother = np.array(level.smoother, level.weights.dtype)
        wide = np.result_type(level.data.dtype, np.float64)
        chunks = max(1, level.size // ROWS_PER_CHUNK)
        self._partial, self._dots = np.zeros((chunks, 2), wide), np.zeros(2, wide)
        self._work = level.data.size
        vector = np.empty(0, level.data.dtype)
        sums = (self._smoother, self._partial, self._dots)
        prepare(_pass, FROM_ZERO, *self._matrix, vector, vector, vector, *sums)
        prepare(_restrict, self._starts, self._weights, vector, vector)
        prepare(_correct, self._parents, self._scaled, vector, vector)

        def one_pass(text: str, *names: str, **numbers: complex) -> OnePassOnCores:
            made = OnePassOnCores(text, names, numbers=numbers)
            made.prepare(level.data.dtype)
            return made

        self._first = one_pass(cycles.FIRST_STEP, "p", "s", "b", "x", "r", alpha=0)
        self._projected = one_pass(cycles.PROJECTION, "s", "z")
        self._orthogonal = one_pass(cycles.ORTHOGONALIZE, "z", "p", beta=0)
        self._last = one_pass(cycles.LAST_STEP, "p", "x", alpha=0)

    def _run(self, what: int, source: np.ndarray, other: np.ndarray, target: np.ndarray) -> None:
        sums = (self._smoother, self._partial, self._dots)
        launch(self._work, _pass, what, *self._matrix, source, other, target, *sums)

    def smooth_from_zero(self, b: np.ndarray, x: np.ndarray) -> None:
        """x = a b - b' E b."""
        self._run(FROM_ZERO, b, b, x)

    def residual(self, b: np.ndarray, x: np.ndarray, r: np.ndarray) -> None:
        """r = b - E x."""
        self._run(RESIDUAL, x, b, r)

    def smooth(self, r: np.ndarray, x: np.ndarray) -> None:
        """x = x + a r - b' E r."""
        self._run(SMOOTH, r, r, x)

    def energy(self, p: np.ndarray, r: np.ndarray, s: np.ndarray) -> None:
        """s = E p, and (p, r) and (p, s)."""
        self._run(ENERGY, p, r, s)

    def restrict(self, r: np.ndarray, below: np.ndarray) -> None:
        """below = W^T r."""
        launch(r.size, _restrict, self._starts, self._weights, r, below)

    def correct(self, x: np.ndarray, below: np.ndarray) -> None:
        """x = x + scaling W below."""
        launch(x.size, _correct, self._parents, self._scaled, below, x)

    def first_step(self, p: np.ndarray, s: np.ndarray, b: np.ndarray, x: np.ndarray, r: np.ndarray) -> None:
        """x = alpha p and r = b - alpha s."""
        self._first.numbers[0] = self._over_curvature(self._dots[0])
        self._first.apply(p, s, b, x, r)

    def orthogonalize(self, z: np.ndarray, s: np.ndarray, p: np.ndarray) -> None:
        """p = z - (s, z)/(p, s) p."""
        projected = self._projected.apply(s, z)
        assert projected is not None
        self._orthogonal.numbers[0] = self._over_curvature(projected[0])
        self._orthogonal.apply(z, p)

    def last_step(self, p: np.ndarray, x: np.ndarray) -> None:
        """x = x + alpha p."""
        self._last.numbers[0] = self._over_curvature(self._dots[0])
        self._last.apply(p, x)

    def _over_curvature(self, number: np.number) -> complex:
        """The number over (p, s), or 0 without curvature; of Python's numbers, which warn of no infinity."""
        curvature = self._dots[1].item()
        return number.item() / curvature if curvature.real > 0 else 0


class HostLevels:
    """E^-1 a by cycles; a and the result in double precision."""

    def __init__(self, form: Levels) -> None:
        self._order, self._singular = as_unsigned(form.order), form.singular
        self._scale, self._inverse = form.scale, form.bottom
        self._cycles = cycles.Cycles(form, self, self._solve_bottom)
        wide = np.result_type(form.bottom.dtype, np.float64)
        self._solved = np.zeros(form.order.size, wide)
        prepare(_enter, self._order, self._scale, self._solved, 0.0 * wide.type(), self._cycles.right)
        prepare(_leave, self._order, self._scale, self._cycles.solution, self._solved)

    def level(self, level: Level, scaling: float) -> HostLevel:
        """The operations of a level."""
        return HostLevel(level, scaling)

    def vector(self, size: int, dtype: np.dtype) -> np.ndarray:
        """A vector of zeros."""
        return np.zeros(size, dtype)

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
        launch(self._solved.size, _leave, self._order, self._scale, self._cycles.solution, self._solved)

    def parts(self) -> TimedCalls:
        """The calls of a solve that a trace records separately."""
        return self._cycles.parts(self, self._solved.itemsize)


@kernel(error_model="numpy", fastmath=REORDERED)
def _pass(taken, what, data, indices, indptr, source, other, target, smoother, partial, dots):  # pragma: no cover
    size, chunks = target.size, partial.shape[0]
    wide = dots.dtype.type
    one, two = smoother[0], smoother[1]
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            pr, ps = wide(0), wide(0)
            for i in range(size * chunk // chunks, size * (chunk + 1) // chunks):
                product = data.dtype.type(0)
                for j in range(indptr[i], indptr[i + 1]):
                    product += data[j] * source[indices[j]]
                if what == FROM_ZERO:
                    target[i] = one * source[i] - two * product
                elif what == RESIDUAL:
                    target[i] = other[i] - product
                elif what == SMOOTH:
                    target[i] += one * source[i] - two * product
                else:
                    target[i] = product
                    left = np.conj(wide(source[i]))
                    pr += left * wide(other[i])
                    ps += left * wide(product)
            partial[chunk, 0], partial[chunk, 1] = pr, ps
    if what == ENERGY:
        total(partial, dots)


@kernel()
def _restrict(taken, starts, weights, r, below):  # pragma: no cover
    chunks = max(1, below.size // PARENTS_PER_CHUNK)
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            for parent in range(below.size * chunk // chunks, below.size * (chunk + 1) // chunks):
                weighted = r.dtype.type(0)
                for i in range(starts[parent], starts[parent + 1]):
                    weighted += weights[i] * r[i]
                below[parent] = weighted


@kernel()
def _correct(taken, parents, weights, below, x):  # pragma: no cover
    chunks = max(1, x.size // ROWS_PER_CHUNK)
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            for i in range(x.size * chunk // chunks, x.size * (chunk + 1) // chunks):
                x[i] += weights[i] * below[parents[i]]


@kernel()
def _enter(taken, order, scale, right, mean, b):  # pragma: no cover
    # On one thread, as `_leave`: twice in a solve.
    for i in range(b.size):
        b[i] = scale[i] * (right[order[i]] - mean)


@kernel()
def _leave(taken, order, scale, x, solved):  # pragma: no cover
    for i in range(x.size):
        solved[order[i]] = scale[i] * x[i]
