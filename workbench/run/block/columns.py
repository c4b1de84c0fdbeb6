"""When a run with many right-hand sides ends: a verdict for every column, and one for all."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from workbench.run.breakdown import Diagnosis
from workbench.run.judge import DIVERGENCE, PROGRESS, RECHECK, RESIDUAL_GAP, RESTARTED, Ending, far_start
from workbench.run.result import Column
from workbench.run.stopping import Reason, Stopping
from workbench.solvers.block.base import BlockSolver
from workbench.solvers.block.row import BlockRow


class ColumnsJudge:
    """The stopping criteria of all columns. Norms are those of the scaled system, shape (s,).

    norms_of_b: ||b_j||. true_residuals: measures ||b_j - A x_j|| of all columns, at the cost of one application of A to
    a block vector; called when a column seems to have converged. best_residuals: the same for the best columns so far.
    diagnose: recomputes what should be positive, called at a breakdown. frozen: columns that have ended, whose X stays.
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
        best_residuals: Callable[[], np.ndarray],
        diagnose: Callable[[], Diagnosis],
        solver: BlockSolver,
    ) -> None:
        self._stopping, self._limit, self._roundoff = stopping, limit, roundoff
        self._norms_of_b, self._removed = norms_of_b, removed
        self._true_residuals, self._best_residuals = true_residuals, best_residuals
        self._diagnose, self._solver = diagnose, solver
        self.restart_is_due = False
        """Whether the method is to begin again from the best columns, because of rounding."""
        self._restarts, self._restarted_at = 0, math.inf
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
    def has_converged(self) -> np.ndarray:
        """Shape (s,)."""
        ended = {j for j, (reason, _) in self._reasons.items() if reason.converged}
        return np.isin(np.arange(self.norms.size), sorted(ended))

    @property
    def relative(self) -> np.ndarray:
        """||r_j||/||b_j||; ||r_j|| where b_j = 0."""
        return self.norms / np.where(self._norms_of_b > 0, self._norms_of_b, 1)

    def judge(self, row: BlockRow, iteration: int, seconds: float) -> Ending | None:
        """Why the run ends with this row, None if it does not. Freezes the columns that end with it."""
        self.norms = np.where(self.frozen, self.norms, row.norms)
        if iteration == 0:
            self._first = self.norms.copy()
            self._restarted_at = float(self.relative.sum())
        active = ~self.frozen
        if np.isfinite(self.norms[active]).all() and (self.norms[active] <= self._confirm_below[active]).any():
            self._confirm(iteration)
        if self.frozen.all():
            return self._all(iteration)
        ending = self._failure(row, iteration, seconds)
        if ending and ending.reason in RESTARTED and self.restart_is_due:
            return None
        if ending and ending.reason in RESTARTED and not row.breakdown and self._restarts_from_best():
            return None
        return ending

    def _restarts_from_best(self) -> bool:
        """Ask for a restart from the best columns, if the method may and they are closer than its last start was."""
        if self._restarts >= self._solver.max_restarts:
            return False
        of_b = np.where(self._norms_of_b > 0, self._norms_of_b, 1)
        score = float((self._best_residuals() / of_b).sum())
        if not score <= PROGRESS * self._restarted_at:
            self._restarts = self._solver.max_restarts
            return False
        self._restarts += 1
        self._restarted_at = score
        self._best = math.inf
        self.restart_is_due = True
        return True

    def confirm_best(self, true: np.ndarray, iteration: int) -> None:
        """End as converged the columns that meet the tolerance by an earlier x. true: ||b_j - A x_j|| of that."""
        for j in np.flatnonzero(~self.has_converged & (true <= self.tolerance)):
            consistent = np.hypot(true[j], self._removed[j]) <= self.tolerance[j]
            self._end(int(j), Reason.CONVERGED if consistent else Reason.CONSISTENT, iteration)

    def about_starts(self) -> str:
        """A clause on starts that are too far off, of columns that have not converged; empty without any."""
        first = np.where(self.has_converged, 0, self._first)
        worst = int(np.argmax(first / np.maximum(self.tolerance, np.finfo(float).tiny)))
        return far_start(first[worst], self.tolerance[worst], self._norms_of_b[worst], self._roundoff)

    def columns(self, iteration: int, ending: Ending | None, true_residuals: np.ndarray) -> tuple[Column, ...]:
        """The end of every column. true_residuals: ||b_j - A x_j|| of the X that is returned."""
        reason = ending.reason if ending else Reason.CANCELLED
        # For the b that was given: x takes no part in the component that was removed.
        given = np.hypot(self._norms_of_b, self._removed)
        true = np.hypot(true_residuals, self._removed) / np.where(given > 0, given, 1)
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
            elif not self.restart_is_due and not self._restarts_from_best():
                self._end(int(j), Reason.INACCURATE, iteration)

    def _end(self, column: int, reason: Reason, iteration: int) -> None:
        self.frozen[column] = True
        self._reasons[column] = reason, iteration

    def _all(self, iteration: int) -> Ending:
        """The end of a run whose columns have all ended: the worst of theirs."""
        reasons = [reason for reason, _ in self._reasons.values()]
        failed = [j for j, (reason, _) in self._reasons.items() if not reason.converged]
        if failed:
            which = f"columns {', '.join(map(str, sorted(failed)))}, at iteration {iteration}"
            return Ending(Reason.INACCURATE, which)
        worst = Reason.CONSISTENT if Reason.CONSISTENT in reasons else Reason.CONVERGED
        return Ending(worst, f"at iteration {iteration}")

    def _failure(self, row: BlockRow, iteration: int, seconds: float) -> Ending | None:
        norms = self.norms[~self.frozen]
        at = f"at iteration {iteration}"
        if not np.isfinite(norms).all() or math.isnan(row.curvature):
            return Ending(Reason.NOT_FINITE, f"a residual norm is {norms[~np.isfinite(norms)][:1]} {at}")
        gamma = row.gamma[~self.frozen]
        if row.breakdown or row.curvature <= 0 or ((gamma < 0) | ((gamma == 0) & (norms > 0))).any():
            return self._breakdown(row, float(gamma.min(initial=np.inf)), at)
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

    def _breakdown(self, row: BlockRow, gamma: float, at: str) -> Ending:
        """A number that is positive for definite A and M is not: recompute to find the cause."""
        if self._solver.complex_symmetric:
            return Ending(Reason.VANISHED, f"{row.breakdown or 'in a column'} {at}")
        detail = f"(r, M^-1 r) = {gamma:.6g}"
        if row.curvature <= 0:
            detail = f"P^H A P, scaled, has the eigenvalue {row.curvature:.6g}"
        found = self._diagnose()
        detail = f"{detail} {at} by the recurrence; recomputed, {found}"
        if found.reason is Reason.ROUNDING and row.breakdown:
            detail = f"{row.breakdown}; {at}"
        return Ending(found.reason, detail)
