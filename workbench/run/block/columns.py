"""When a run with many right-hand sides ends: a verdict for every column, and one for all."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from workbench.run.judge import DIVERGENCE, RECHECK, RESIDUAL_GAP, Ending
from workbench.run.result import Column
from workbench.run.stopping import Reason, Stopping
from workbench.solvers.block.row import BlockRow

ROUNDING = 1e4
"""An eigenvalue of P^H A P with a unit diagonal proves that A is indefinite below minus this times the roundoff."""


class ColumnsJudge:
    """The stopping criteria of all columns. Norms are those of the scaled system, shape (s,).

    norms_of_b: ||b_j||. true_residuals: measures ||b_j - A x_j|| of all columns, at the cost of one application of A to
    a block vector; called when a column seems to have converged. frozen: columns that have ended, whose X stays.
    """

    def __init__(
        self,
        stopping: Stopping,
        atol: np.ndarray,
        norms_of_b: np.ndarray,
        removed: np.ndarray,
        limit: int,
        roundoff: float,
        true_residuals: Callable[[], np.ndarray],
    ) -> None:
        self._stopping, self._limit, self._roundoff = stopping, limit, roundoff
        self._norms_of_b, self._removed = norms_of_b, removed
        self._true_residuals = true_residuals
        self.tolerance = np.maximum(stopping.rtol * norms_of_b, atol)
        """The norm at which a column has converged."""
        self._confirm_below = self.tolerance.copy()
        self.norms = np.full(norms_of_b.size, np.inf)
        """||r_j|| by the recurrence; of a frozen column that of its end."""
        self.frozen = np.zeros(norms_of_b.size, bool)
        self._reasons: dict[int, tuple[Reason, int]] = {}
        self._first = np.zeros(norms_of_b.size)
        self._best, self._best_at = math.inf, 0

    @property
    def relative(self) -> np.ndarray:
        """||r_j||/||b_j||; ||r_j|| where b_j = 0."""
        return self.norms / np.where(self._norms_of_b > 0, self._norms_of_b, 1)

    def judge(self, row: BlockRow, iteration: int, seconds: float) -> Ending | None:
        """Why the run ends with this row, None if it does not. Freezes the columns that end with it."""
        self.norms = np.where(self.frozen, self.norms, row.norms)
        if iteration == 0:
            self._first = self.norms.copy()
        going = ~self.frozen
        if np.isfinite(self.norms[going]).all() and (self.norms[going] <= self._confirm_below[going]).any():
            self._confirm(iteration)
        if self.frozen.all():
            return self._all(iteration)
        return self._failure(row, iteration, seconds)

    def columns(self, iteration: int, ending: Ending | None, true_residuals: np.ndarray) -> tuple[Column, ...]:
        """The end of every column. true_residuals: ||b_j - A x_j|| of the X that is returned."""
        reason = ending.reason if ending else Reason.CANCELLED
        true = true_residuals / np.where(self._norms_of_b > 0, self._norms_of_b, 1)
        return tuple(
            Column(*self._reasons.get(j, (reason, iteration)), float(self.relative[j]), float(true[j]))
            for j in range(self.norms.size)
        )

    def _confirm(self, iteration: int) -> None:
        """Confirm by their true residuals that columns have converged."""
        true = np.maximum(self._true_residuals(), self._roundoff / 2 * self._norms_of_b)
        for j in np.flatnonzero(~self.frozen & (self.norms <= self._confirm_below)):
            if true[j] <= self.tolerance[j]:
                consistent = np.hypot(true[j], self._removed[j]) <= self.tolerance[j]
                self._end(int(j), Reason.CONVERGED if consistent else Reason.CONSISTENT, iteration)
            elif self.norms[j] > RESIDUAL_GAP * self.tolerance[j]:
                self._confirm_below[j] = RECHECK * self.norms[j]
            else:
                self._end(int(j), Reason.INACCURATE, iteration)

    def _end(self, column: int, reason: Reason, iteration: int) -> None:
        self.frozen[column] = True
        self._reasons[column] = reason, iteration

    def _all(self, iteration: int) -> Ending:
        """The end of a run whose columns have all ended: the worst of theirs."""
        reasons = [reason for reason, _ in self._reasons.values()]
        failed = [j for j, (reason, _) in self._reasons.items() if not reason.converged]
        if failed:
            return Ending(Reason.INACCURATE, f"columns {', '.join(map(str, sorted(failed)))}, at iteration {iteration}")
        worst = Reason.CONSISTENT if Reason.CONSISTENT in reasons else Reason.CONVERGED
        return Ending(worst, f"at iteration {iteration}")

    def _failure(self, row: BlockRow, iteration: int, seconds: float) -> Ending | None:
        norms = self.norms[~self.frozen]
        at = f"at iteration {iteration}"
        if not np.isfinite(norms).all() or math.isnan(row.curvature):
            return Ending(Reason.NOT_FINITE, f"a residual norm is {norms[~np.isfinite(norms)][:1]} {at}")
        if row.curvature < -ROUNDING * self._roundoff:
            return Ending(Reason.INDEFINITE, f"P^H A P has the scaled eigenvalue {row.curvature:.6g} {at}")
        if (row.gamma[~self.frozen] < 0).any():
            smallest = float(row.gamma[~self.frozen].min())
            return Ending(Reason.INDEFINITE_M, f"(r, M^-1 r) = {smallest:.6g} {at}")
        if row.breakdown or row.curvature <= 0:
            return Ending(Reason.ROUNDING, row.breakdown or f"P^H A P is singular to rounding {at}")
        largest = DIVERGENCE * np.maximum(self._norms_of_b, self._first)
        if (self.norms > largest)[~self.frozen].any():
            return Ending(Reason.DIVERGED, f"the residual of column {int(np.argmax(self.norms / largest))}, {at}")
        if iteration >= self._limit:
            return Ending(Reason.MAXITER, f"{iteration} iterations")
        if taken := self._stopping.out_of_time(seconds):
            return Ending(Reason.TIME, taken)
        # Columns that have ended make the sum smaller too.
        score = float(self.relative.sum())
        if score < self._best:
            self._best, self._best_at = score, iteration
        elif iteration - self._best_at > self._stopping.stagnation:
            return Ending(Reason.STAGNATED, f"the smallest norms were at iteration {self._best_at}")
        return None
