"""The error removed by M and by each level of a multilevel coarse solve, in one application of the preconditioner.

While the cycles run, the correction that they would give so far is the sum of those on all levels, each brought to the
unknowns. Its error is measured after every smoothing, after the solve with the last level, and after every step of
flexible CG.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import numpy as np

from workbench.deflation.coarse_sparse import SparseFactor
from workbench.deflation.galerkin import galerkin_matrix
from workbench.deflation.null_space import holds_constants
from workbench.deflation.subspace import SparseColumns
from workbench.devices.coarse import Level, Levels
from workbench.devices.cycle_parts import COARSEST
from workbench.devices.cycles import HostLevel, HostLevels
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.run.setup.solve_setup import SolveSetup

BEFORE, FIRST, STEP = "before", "M", "flexible CG"
Apply = Callable[[np.ndarray], np.ndarray]
"""An operator as a function of NumPy arrays."""


@dataclasses.dataclass(frozen=True)
class Stage:
    """One correction. by: `before`, `M`, `level 0`, .., `coarsest level`, or `flexible CG` for a step of it. left: the
    energy norm ||e - u||_A of the error that is left, relative to that before the application."""

    by: str
    left: float


@dataclasses.dataclass(frozen=True, eq=False)
class Removal:
    """One application of the preconditioner. stages: in their order. exact: what would be left after an exact solve
    with E. u: the result, shape (N,)."""

    stages: tuple[Stage, ...]
    exact: float
    u: np.ndarray

    def removed_by(self) -> dict[str, float]:
        """The error removed by each of them in all its corrections, relative to that before; negative if it added."""
        total: dict[str, float] = {}
        for before, after in zip(self.stages, self.stages[1:], strict=False):
            total[after.by] = total.get(after.by, 0.0) + before.left - after.left
        return total


class Observed:
    """The two-level preconditioner of a setup with a multilevel coarse solve, applied step by step.

    A, M: of the setup, as functions. Cost: factors A and E; then an application takes one product with A for each
    stage. For problems of some thousand unknowns. Raises InputError for a setup without levels, and for an A without
    entries.
    """

    def __init__(self, setup: SolveSetup, A: Apply, M: Apply) -> None:
        projection = setup.projection
        if projection is None or projection.levels is None or not isinstance(projection.columns, SparseColumns):
            raise InputError("only a coarse solve on levels can be observed; use coarse solver multilevel")
        self._A, self._M, self._form = A, M, projection.levels
        self._labels, self._az = projection.columns.labels, projection.columns.az
        self._projects_first = setup.variant.name == "bnn"
        self._projects_last = setup.variant.name != "ad"
        self._solve_system = _solver(setup.operator.to_csr())
        self._solve_coarse = _solver(galerkin_matrix(self._az, self._labels, projection.count))

    def apply(self, r: np.ndarray) -> Removal:
        """The stages of one application to a residual r, shape (N,)."""
        error = self._solve_system(r)
        scale = self._energy(error)
        v = r - self._az @ self._solved(self._restricted(r)) if self._projects_first else r
        u = self._M(v)
        right = self._restricted(r - self._A(u) if self._projects_last else r)

        def left(coarse: np.ndarray) -> float:
            return self._energy(error - u - coarse[self._labels]) / scale if scale > 0 else 0.0

        none = np.zeros_like(right)
        stages = [Stage(BEFORE, 1.0 if scale > 0 else 0.0), Stage(FIRST, left(none))]
        solved = self._solved(right, lambda by, coarse: stages.append(Stage(by, left(coarse))))
        return Removal(tuple(stages), left(self._solve_coarse(right)), u + solved[self._labels])

    def _energy(self, v: np.ndarray) -> float:
        return float(np.sqrt(max(0.0, np.real(np.vdot(v, self._A(v))))))

    def _restricted(self, v: np.ndarray) -> np.ndarray:
        wide = np.zeros(self._form.order.size, np.result_type(v.dtype, np.float64))
        np.add.at(wide, self._labels, v)
        return wide

    def _solved(self, right: np.ndarray, hear: Hear = lambda by, coarse: None) -> np.ndarray:
        return _ObservedLevels(self._form, hear).solve(right).copy()


Hear = Callable[[str, np.ndarray], None]
"""Takes the name of what has corrected, and the coarse solution so far, shape (d,)."""


class _ObservedLevels(HostLevels):
    """The cycles on the cores, with a report after every correction."""

    def __init__(self, form: Levels, hear: Hear) -> None:
        self._hear, self._observed = hear, form
        self._held: list[dict[str, np.ndarray]] = [{} for _ in range(len(form.levels) + 1)]
        self._made = 0
        super().__init__(form)

    def level(self, level: Level, scaling: float) -> HostLevel:
        """The operations of a level, in the order of levels."""
        self._made += 1
        return _ObservedLevel(level, scaling, functools.partial(self._report, self._made - 1))

    def _solve_bottom(self, b: np.ndarray, x: np.ndarray) -> None:
        super()._solve_bottom(b, x)
        self._report(len(self._observed.levels), COARSEST, {"cycle": x})

    def _report(self, depth: int, by: str, vectors: dict[str, np.ndarray]) -> None:
        """vectors: those of the level whose sum is its part of the solution, levels below included."""
        self._held[depth].update(vectors)
        for below in self._held[depth + 1 :]:
            below.clear()
        if by == STEP:
            self._held[depth] = vectors
        self._hear(by or f"level {depth}", self._composed())

    def _composed(self) -> np.ndarray:
        form, total = self._observed, np.zeros(0)
        for depth in reversed(range(len(self._held))):
            size = form.levels[depth].size if depth < len(form.levels) else form.bottom.shape[0]
            own = sum(self._held[depth].values(), np.zeros(size, form.bottom.dtype))
            if depth < len(form.levels):
                level = form.levels[depth]
                own = own + form.scaling * level.weights * total[level.parents]
            total = own
        solved = np.zeros_like(total)
        solved[form.order] = form.scale * total
        return solved


class _ObservedLevel(HostLevel):
    """The operations of a level that change its part of the solution, with a report after each.

    The solution of a level is `steps`, what steps of flexible CG have made so far, plus `cycle`, that of the cycle
    under way.
    """

    def __init__(self, level: Level, scaling: float, report: Callable[[str, dict[str, np.ndarray]], None]) -> None:
        super().__init__(level, scaling)
        self._report = report

    def smooth_from_zero(self, b: np.ndarray, x: np.ndarray) -> None:
        super().smooth_from_zero(b, x)
        self._report("", {"cycle": x})

    def smooth(self, r: np.ndarray, x: np.ndarray) -> None:
        super().smooth(r, x)
        self._report("", {"cycle": x})

    def first_step(self, p: np.ndarray, s: np.ndarray, b: np.ndarray, x: np.ndarray, r: np.ndarray) -> None:
        super().first_step(p, s, b, x, r)
        self._report(STEP, {"steps": x})

    def last_step(self, p: np.ndarray, x: np.ndarray) -> None:
        super().last_step(p, x)
        self._report(STEP, {"steps": x})


def _solver(matrix: sparse.csr_array) -> Apply:
    """The inverse of a matrix, up to a constant where constants are its null space."""
    if not holds_constants(matrix):
        return SparseFactor().factor(matrix).solve
    solve = SparseFactor().factor(sparse.csr_array(matrix[:-1, :-1])).solve
    return lambda right: np.append(solve(right[:-1]), right.dtype.type(0))
