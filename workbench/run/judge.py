"""When a run ends, and why: every row of the history is judged, and convergence is confirmed by the true residual."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from workbench.recording import History
from workbench.run.best import BestIterate
from workbench.run.breakdown import diagnose, suspects
from workbench.run.configuration import Configuration
from workbench.run.measures import Measures
from workbench.run.setup import SolveSetup
from workbench.run.stopping import Norm, Reason

DIVERGENCE = 1e12
"""A norm this many times max(||b||, its start) counts as divergence: CG may rise by sqrt(cond) before it falls."""
DETERIORATED = 10.0
"""A run that ends without convergence returns its best iterate where the true residual was smaller by this factor."""
RECHECK = 0.9
"""After a true residual that does not confirm convergence, the next one is when the norm has fallen by this factor."""
RESIDUAL_GAP = 0.1
"""When the recurrence is this factor below a tolerance that the true residual misses, the residual gap is final."""
AGREEMENT = 1.01
"""How far the true residual may lie above the recurrence's when another norm decides."""


class Row(NamedTuple):
    """An iteration: number, the norm of choice, ||r||, (p, A p), (r, M^-1 r), and the iteration time so far, in s."""

    iteration: int
    norm: float
    residual: float
    curvature: float
    gamma: float
    seconds: float


Ending = tuple[Reason, str]
"""Why a run ends, and at which iteration and value."""


class Judge:
    """The stopping criteria of one run. Norms are those of the scaled system that the run solves.

    limit: iterations at most. Cost: nothing a row, a product with A for a confirmation, three products for a breakdown.
    Memory: one vector, the best iterate.
    """

    def __init__(
        self, configuration: Configuration, setting: SolveSetup, measures: Measures, history: History, limit: int
    ) -> None:
        self._stopping, self._advice = configuration.stopping, configuration.coarse.advice
        self._setting, self._history, self._limit = setting, history, limit
        self._measures: Any = measures
        self._norm = Norm(self._stopping.norm)
        self._scale, self.norm_of_b = measures.references(self._norm)
        self.tolerance = max(self._stopping.rtol * self._scale, setting.scaled_norm(self._stopping.atol))
        """The norm at which the run ends."""
        self.confirm_below = self.tolerance
        """The norm at which the true residual is measured next."""
        self.best = (math.inf, 0)
        """The smallest norm so far, and its iteration."""
        self.restart_is_due = False
        """Whether to restart the recurrence from the present x because of the residual gap."""
        self._restarts = 0
        self._first = 0.0
        self._kept: Any = BestIterate(setting.device, setting.x)

    @property
    def divergence(self) -> float:
        """The norm from which on the run counts as diverged."""
        return DIVERGENCE * max(self._scale, self._first)

    def relative(self, norm: float) -> float:
        """A norm over ||b||, or as it is where b = 0."""
        return norm / self.norm_of_b if self.norm_of_b > 0 else norm

    def release(self) -> None:
        """Let go of all that lies on the device."""
        self._kept = self._measures = None

    def note(self, row: Row, *, last: bool) -> None:
        """Take the first norm, and the best x. last: the vectors are those of this row."""
        if row.iteration == 0:
            self._first = row.norm
        if last:
            self._kept.see(row.norm, row.iteration, self._setting.x)

    def verdict(self, row: Row, workspace: Any, *, last: bool) -> Ending | None:
        """Whether the run ends with the newest row, and why. Only the last row of a batch can be confirmed."""
        ending = self._by_norm(row, workspace, last=last)
        limit = self._stopping.max_seconds
        if ending is None and row.iteration >= self._limit:
            ending = Reason.MAXITER, f"{row.iteration} iterations"
        if ending is None and limit is not None and row.seconds >= limit:
            ending = Reason.TIME, f"{row.seconds:.3g} s"
        if ending is None or ending[0].converged:
            return ending
        return self._explained(*ending, row.iteration, workspace)

    def _by_norm(self, row: Row, workspace: Any, *, last: bool) -> Ending | None:
        iteration, norm = row.iteration, row.norm
        if not math.isfinite(norm):
            return Reason.NOT_FINITE, f"the {self._norm.value} norm is {norm} at iteration {iteration}"
        if norm <= self.confirm_below and last:
            return self._confirm(row)
        if math.isnan(row.curvature):
            return Reason.NOT_FINITE, f"(p, A p) is NaN at iteration {iteration}"
        if not row.curvature > 0:
            return self._breakdown(f"(p, A p) = {row.curvature:.6g} at iteration {iteration}", workspace)
        if row.gamma <= 0:
            return self._breakdown(f"(r, M^-1 r) = {row.gamma:.6g} at iteration {iteration}", workspace)
        if norm > self.divergence:
            unscaled = self._setting.unscaled_norm(norm)
            return Reason.DIVERGED, f"the {self._norm.value} norm is {unscaled:.3g} at iteration {iteration}"
        if norm < self.best[0]:
            self.best = (norm, iteration)
        elif iteration - self.best[1] > self._stopping.stagnation:
            smallest = self._setting.unscaled_norm(self.best[0])
            return Reason.STAGNATED, f"the smallest norm, {smallest:.3g}, was at iteration {self.best[1]}"
        return None

    def _confirm(self, row: Row) -> Ending | None:
        """The recurrence says converged: ask the true residual before saying so."""
        true_residual = self._measures.verified_residual()
        self._history.confirm(row.iteration, self._setting.unscaled_norm(true_residual))
        # Other norms than the residual's cannot be had from the true residual without another product with M; there the
        # two residuals must agree.
        allowed = self.tolerance if self._norm is Norm.RESIDUAL else AGREEMENT * row.residual
        solver = self._setting.solver
        if true_residual <= allowed or (self._norm is Norm.ERROR and math.isfinite(true_residual)):
            return self._converged(true_residual, allowed, f"at iteration {row.iteration}")
        if row.norm > RESIDUAL_GAP * self.tolerance:
            self.confirm_below = RECHECK * row.norm
        elif self._restarts == solver.max_restarts:
            after = f" after {solver.max_restarts} restarts" if solver.max_restarts else ""
            reason = Reason.OWN_APART if solver.has_user_lines else Reason.INACCURATE
            return reason, f"true residual {self.relative(true_residual):.3g} of ||b||{after}"
        else:
            self._restarts += 1
            self.confirm_below = self.tolerance
            self.restart_is_due = True
        return None

    def _converged(self, true_residual: float, allowed: float, at: str) -> Ending:
        """CONVERGED, or CONSISTENT where b was changed so that a solution exists."""
        of_given = math.hypot(true_residual, self._setting.removed)
        if not self._setting.removed or of_given <= allowed:
            return Reason.CONVERGED, at
        given = f"for the b that was given, ||b - A x|| is {self.relative(of_given):.3g} of ||b||"
        return Reason.CONSISTENT, f"{at}; {given}"

    def _breakdown(self, detail: str, workspace: Any) -> Ending:
        """A dot product that A and M, being positive definite, would make positive is not.

        Rounding alone can do that, so both dot products are recomputed before the matrix is blamed.
        """
        solver = self._setting.solver
        if solver.has_user_lines:
            return Reason.OWN_LINES, detail
        found = diagnose(self._setting, workspace)
        if str(found) and not (solver.curvature_is_recomputed and found.reason is Reason.INDEFINITE):
            detail += f" by the recurrence; recomputed, {found}"
        if found.reason is Reason.ROUNDING:
            detail += f"; true residual {self.relative(self._measures.true_residual()):.3g} of ||b||"
        return found.reason, detail

    def _explained(self, reason: Reason, detail: str, iteration: int, workspace: Any) -> Ending:
        """What to look at first, and the best x where the method has deteriorated since."""

        def drifted() -> float:
            return self._measures.drift(workspace) / float(self._history["residual"][-1] or math.nan)

        detail += suspects(reason, self._setting, drifted, self._advice)
        reason, detail = self._with_best(reason, detail, iteration)
        if self._setting.exponent and not np.isfinite(self._measures.returned_x()).all():
            detail += f"; x overflows {self._setting.b.dtype}, so scale A or b"
        return reason, detail

    def _with_best(self, reason: Reason, detail: str, iteration: int) -> Ending:
        """Return to the best iterate where the method has deteriorated since, and say so."""
        kept = self._kept
        if kept.iteration == iteration:
            return reason, detail
        present, best = self._measures.true_residual(), self._measures.true_residual(kept.x)
        deteriorated = best * DETERIORATED < present or not math.isfinite(present)
        if not (deteriorated and math.isfinite(best)):
            return reason, detail
        self._setting.x = kept.x
        if self._norm is Norm.RESIDUAL and self._measures.verified_residual() <= self.tolerance:
            at = f"with the x of iteration {kept.iteration}; rounding made later ones worse"
            return self._converged(best, self.tolerance, at)
        of_b = self.relative(best)
        return reason, f"{detail}; x is that of iteration {kept.iteration}, whose true residual is {of_b:.3g} of ||b||"
