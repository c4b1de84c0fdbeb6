"""The judge decides, row by row, whether a run ends and why; convergence is verified by the true residual."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from workbench.devices.lines.workspace import Workspace
from workbench.recording import History
from workbench.run.best import BestIterate
from workbench.run.breakdown import diagnose, suspects
from workbench.run.configuration import Configuration
from workbench.run.measures import Measures
from workbench.run.setup import SolveSetup
from workbench.run.stopping import Norm, Reason

DIVERGENCE = 1e12
"""A run has diverged at a norm this many times max(||b||, initial norm): in CG it may grow by sqrt(cond) first."""
DETERIORATED = 10.0
"""A run without convergence returns its best iterate if the true residual of that one is smaller by this factor."""
RECHECK = 0.9
"""If a true residual does not confirm convergence, the next one is computed once the norm has fallen by this factor."""
RESIDUAL_GAP = 0.1
"""With a recurrence this factor below the tolerance and a true residual above it, the residual gap is final."""
AGREEMENT = 1.01
"""The largest accepted ratio of true and recurrence residual, where another norm decides."""


class Row(NamedTuple):
    """An iteration: number, the chosen norm, ||r||, (p, A p), (r, M^-1 r), and the iteration time so far, in s."""

    iteration: int
    norm: float
    residual: float
    curvature: float
    gamma: float
    seconds: float


class Ending(NamedTuple):
    """Why a run ended, and at which iteration and value."""

    reason: Reason
    detail: str


class Judge:
    """The stopping criteria of one run. Norms are those of the scaled system that the run solves.

    limit: iterations at most. Cost: nothing for a row, one application of A for a confirmation, three for a breakdown.
    Memory: one vector, the best iterate.
    """

    def __init__(
        self, configuration: Configuration, setup: SolveSetup, measures: Measures, history: History, limit: int
    ) -> None:
        self._stopping = configuration.stopping
        self._advice = setup.projection.advice if setup.projection else ""
        self._setup, self._history, self._limit = setup, history, limit
        self._measures = measures
        self._norm = Norm(self._stopping.norm)
        self._scale, self.norm_of_b = measures.references(self._norm)
        self.tolerance = max(self._stopping.rtol * self._scale, setup.scaled_norm(self._stopping.atol))
        """The norm at which the run ends."""
        self.confirm_below = self.tolerance
        """The norm at which the true residual is measured next."""
        self.best = (math.inf, 0)
        """The smallest norm so far, and its iteration."""
        self.restart_is_due = False
        """Whether the recurrence is to be restarted from the present x because of a residual gap."""
        self._restarts = 0
        self._first = 0.0
        self._best_x = BestIterate(setup.device, setup.x)

    @property
    def divergence(self) -> float:
        """The norm above which the run has diverged."""
        return DIVERGENCE * max(self._scale, self._first)

    def relative(self, norm: float) -> float:
        """A norm over ||b||, or the norm itself where b = 0."""
        return norm / self.norm_of_b if self.norm_of_b > 0 else norm

    def release(self) -> None:
        """Drop all references to memory of the device."""
        self._best_x.release()

    def note(self, row: Row, *, last: bool) -> None:
        """Keep the initial norm and the best iterate. last: the vectors are those of this row."""
        if row.iteration == 0:
            self._first = row.norm
        if last:
            self._best_x.update(row.norm, row.iteration, self._setup.x)

    def verdict(self, row: Row, workspace: Workspace, *, last: bool) -> Ending | None:
        """Why the run ends with this row, None if it does not. Only the last row of an interval can confirm it."""
        ending = self._by_norm(row, workspace, last=last)
        if ending is None and row.iteration >= self._limit:
            ending = Ending(Reason.MAXITER, f"{row.iteration} iterations")
        if ending is None and (taken := self._stopping.out_of_time(row.seconds)):
            ending = Ending(Reason.TIME, taken)
        if ending is None or ending.reason.converged:
            return ending
        return self._explained(ending, row.iteration, workspace)

    def _by_norm(self, row: Row, workspace: Workspace, *, last: bool) -> Ending | None:
        iteration, norm = row.iteration, row.norm
        if not math.isfinite(norm):
            return Ending(Reason.NOT_FINITE, f"the {self._norm.value} norm is {norm} at iteration {iteration}")
        if norm <= self.confirm_below and last:
            return self._confirm(row)
        if math.isnan(row.curvature):
            return Ending(Reason.NOT_FINITE, f"(p, A p) is NaN at iteration {iteration}")
        if not row.curvature > 0:
            return self._breakdown(f"(p, A p) = {row.curvature:.6g} at iteration {iteration}", workspace)
        if row.gamma <= 0:
            return self._breakdown(f"(r, M^-1 r) = {row.gamma:.6g} at iteration {iteration}", workspace)
        if norm > self.divergence:
            unscaled = self._setup.unscaled_norm(norm)
            return Ending(Reason.DIVERGED, f"the {self._norm.value} norm is {unscaled:.3g} at iteration {iteration}")
        if norm < self.best[0]:
            self.best = (norm, iteration)
        elif iteration - self.best[1] > self._stopping.stagnation:
            smallest = self._setup.unscaled_norm(self.best[0])
            return Ending(Reason.STAGNATED, f"the smallest norm, {smallest:.3g}, was at iteration {self.best[1]}")
        return None

    def _confirm(self, row: Row) -> Ending | None:
        """Confirm convergence of the recurrence by the true residual."""
        true_residual = self._measures.verified_residual()
        self._history.confirm(row.iteration, self._setup.unscaled_norm(true_residual))
        # In other norms the true residual would need another product with M; there the two residuals must agree.
        allowed = self.tolerance if self._norm is Norm.RESIDUAL else AGREEMENT * row.residual
        solver = self._setup.solver
        if true_residual <= allowed or (self._norm is Norm.ERROR and math.isfinite(true_residual)):
            return self._converged(true_residual, allowed, f"at iteration {row.iteration}")
        if row.norm > RESIDUAL_GAP * self.tolerance:
            self.confirm_below = RECHECK * row.norm
        elif self._restarts == solver.max_restarts:
            after = f" after {solver.max_restarts} restarts" if solver.max_restarts else ""
            reason = Reason.OWN_APART if solver.has_user_lines else Reason.INACCURATE
            gap = f"{self.relative(true_residual):.3g} of ||b||, the recurrence says {self.relative(row.residual):.3g}"
            return Ending(reason, f"residual gap: the true residual is {gap}{after}")
        else:
            self._restarts += 1
            self.confirm_below = self.tolerance
            self.restart_is_due = True
        return None

    def _converged(self, true_residual: float, allowed: float, at: str) -> Ending:
        """CONVERGED, or CONSISTENT where b was changed so that a solution exists."""
        of_original = math.hypot(true_residual, self._setup.removed)
        if not self._setup.removed or of_original <= allowed:
            return Ending(Reason.CONVERGED, at)
        original = f"for the b that was given, ||b - A x|| is {self.relative(of_original):.3g} of ||b||"
        return Ending(Reason.CONSISTENT, f"{at}; {original}")

    def _breakdown(self, detail: str, workspace: Workspace) -> Ending:
        """A dot product that is positive for definite A and M is not: recompute both to find the cause.

        Rounding alone can do that, see `diagnose`.
        """
        solver = self._setup.solver
        if solver.has_user_lines:
            return Ending(Reason.OWN_LINES, detail)
        found = diagnose(self._setup, workspace)
        if str(found) and not (solver.curvature_is_recomputed and found.reason is Reason.INDEFINITE):
            detail += f" by the recurrence; recomputed, {found}"
        if found.reason is Reason.ROUNDING:
            detail += f"; true residual {self.relative(self._measures.true_residual()):.3g} of ||b||"
        return Ending(found.reason, detail)

    def _explained(self, ending: Ending, iteration: int, workspace: Workspace) -> Ending:
        """Add possible causes of a failure, and return to the best iterate if later ones are worse."""
        reason, detail = ending

        def drift() -> float:
            return self._measures.drift(workspace) / float(self._history["residual"][-1] or math.nan)

        detail += suspects(reason, self._setup, self._best_x.x, drift, self._advice)
        reason, detail = self._with_best(reason, detail, iteration)
        if self._setup.exponent and not np.isfinite(self._measures.returned_x()).all():
            detail += f"; x overflows {self._setup.b.dtype}, so scale A or b"
        return Ending(reason, detail)

    def _with_best(self, reason: Reason, detail: str, iteration: int) -> Ending:
        """Return to the best iterate if later ones are worse, and report that."""
        kept = self._best_x
        if kept.iteration == iteration:
            return Ending(reason, detail)
        present, best = self._measures.true_residual(), self._measures.true_residual(kept.x)
        deteriorated = best * DETERIORATED < present or not math.isfinite(present)
        if not (deteriorated and math.isfinite(best)):
            return Ending(reason, detail)
        self._setup.x = kept.x
        if self._norm is Norm.RESIDUAL and self._measures.verified_residual() <= self.tolerance:
            at = f"with the x of iteration {kept.iteration}; rounding made later ones worse"
            return self._converged(best, self.tolerance, at)
        of_b = self.relative(best)
        detail = f"{detail}; x is that of iteration {kept.iteration}, whose true residual is {of_b:.3g} of ||b||"
        return Ending(reason, detail)
