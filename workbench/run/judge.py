"""The judge decides, row by row, whether a run ends and why; convergence is verified by the true residual."""

from __future__ import annotations

import contextlib
import math
from typing import NamedTuple

import numpy as np

from workbench.devices.lines.workspace import Workspace
from workbench.devices.operator_protocols import DeviceVector
from workbench.errors import InputError
from workbench.recording import History
from workbench.run.best import BestIterate
from workbench.run.breakdown import diagnose, suspects
from workbench.run.configuration import Configuration
from workbench.run.inconsistency import null_component
from workbench.run.measures import Measures
from workbench.run.setup import SolveSetup
from workbench.run.stopping import Norm, Reason

DIVERGENCE = 1e12
"""A run has diverged at a norm this many times max(||b||, initial norm): in CG it may grow by sqrt(cond) first."""
RECHECK = 0.9
"""If a true residual does not confirm convergence, the next one is computed once the norm has fallen by this factor."""
RESIDUAL_GAP = 0.1
"""With a recurrence this factor below the tolerance and a true residual above it, the residual gap is final."""
STALLED = 50
"""Iterations without a new smallest norm, and as many as led to that one, after which a method that may restart does
so, where the norm is that near to its limit by rounding."""
NEAR_ROUNDING = 5e5
"""The smallest norm over that of the start, as a multiple of the roundoff of the stored vectors, below which rounding
may be why it stalls."""
PROGRESS = 0.1
"""A restart from the best iterate has to begin at a true residual this factor below the start of the last one."""
FAR = 10
"""A start is far off if its residual is that many times ||b||, that of zero, at least."""
RESTARTED = {Reason.ROUNDING, Reason.STAGNATED, Reason.DIVERGED}
"""Ends that rounding alone may be the cause of, after which a method that may restart does so."""


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


def far_start(first: float, tolerance: float, norm_of_b: float, eps: float) -> str:
    """A clause for a failure from a start so far off that rounding of its residual, `first`, exceeds the tolerance."""
    if not eps * first > tolerance or not first > FAR * norm_of_b > 0:
        return ""
    return (
        f"; x0 is too far off: ||b - A x0|| is {first / norm_of_b:.3g} of ||b||, and rounding keeps about {eps:.1g} of "
        "that; start from x0 = 0"
    )


class Judge:
    """The stopping criteria of one run. Norms are those of the scaled system that the run solves.

    limit: iterations at most. Cost: nothing for a row, one application of A for a confirmation, three for a breakdown.
    Memory: one vector, the best iterate.
    """

    def __init__(
        self, configuration: Configuration, setup: SolveSetup, measures: Measures, history: History, limit: int
    ) -> None:
        self._stopping = configuration.stopping
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
        self.restart_from: DeviceVector = None
        """The iterate from which the recurrence is to be restarted because of rounding; None for no restart."""
        self.without_restart = Reason.INACCURATE
        """The reason of a run whose restart fails."""
        self._restarts = 0
        self._restarted_at = (0, math.inf)
        """The iteration and the true residual."""
        self._restarts_help = True
        self._first = self._first_residual = 0.0
        self._best_x = BestIterate(setup.device, setup.x)

    @property
    def divergence(self) -> float:
        """The norm above which the run has diverged."""
        return DIVERGENCE * max(self._scale, self._first)

    def relative(self, norm: float) -> float:
        """A norm over ||b||, or the norm itself where b = 0."""
        return norm / self.norm_of_b if self.norm_of_b > 0 else norm

    def relative_to_given(self, true_residual: float) -> float:
        """||b - A x||/||b|| for the b that was given, of whose changed component x takes no part."""
        removed = self._setup.removed
        given = math.hypot(self.norm_of_b, removed)
        return math.hypot(true_residual, removed) / given if given > 0 else true_residual

    def release(self) -> None:
        """Drop all references to memory of the device."""
        self._best_x.release()

    def note(self, row: Row, *, last: bool) -> None:
        """Keep the initial norm and the best iterate. last: the vectors are those of this row."""
        if row.iteration == 0:
            self._first, self._first_residual = row.norm, row.residual
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
        if ending.reason in RESTARTED and self._restarts_from_best(row.iteration):
            self.without_restart = ending.reason
            return None
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
        elif self._stalls(iteration):
            self._restarts_from_best(iteration)
        return None

    def _stalls(self, iteration: int) -> bool:
        """Whether the norm seems to have met its limit by rounding, in a method that may restart."""
        begun, at = self._restarted_at[0], self.best[1]
        near = self.best[0] < NEAR_ROUNDING * float(np.finfo(self._setup.stored).eps) * self._first
        return near and self._may_restart and iteration - at > max(STALLED, at - begun)

    @property
    def _may_restart(self) -> bool:
        return self._restarts_help and self._restarts < self._setup.solver.max_restarts

    def _restarts_from_best(self, iteration: int) -> bool:
        """Restart from the best iterate, if the method may and has come closer since its last start."""
        if not self._may_restart or self._norm is Norm.ERROR:
            return False
        best = self._measures.true_residual(self._best_x.x)
        self._restarts_help = best <= PROGRESS * min(self._restarted_at[1], self._first_residual)
        if self._restarts_help:
            self._restart(self._best_x.x, iteration, best)
        return self._restarts_help

    def _restart(self, x: DeviceVector, iteration: int, true_residual: float) -> None:
        self.without_restart = Reason.INACCURATE
        self._restarts += 1
        self._restarted_at = iteration, true_residual
        self.best = (math.inf, iteration)
        self.confirm_below = self.tolerance
        self.restart_from = x

    def _confirm(self, row: Row) -> Ending | None:
        """Confirm convergence of the recurrence by the true residual, in the norm that decides."""
        true_residual = self._measures.verified_residual()
        self._history.confirm(row.iteration, self._setup.unscaled_norm(true_residual))
        true = self._measures.norm_of_residual(self._norm, true_residual)
        solver = self._setup.solver
        if true <= self.tolerance:
            return self._converged(true_residual, f"at iteration {row.iteration}")
        if row.norm > RESIDUAL_GAP * self.tolerance:
            self.confirm_below = RECHECK * row.norm
        elif self._restarts == solver.max_restarts:
            after = f" after {solver.max_restarts} restarts" if solver.max_restarts else ""
            reason = Reason.OWN_APART if solver.has_user_lines else Reason.INACCURATE
            gap = f"{self.relative(true_residual):.3g} of ||b||, the recurrence says {self.relative(row.residual):.3g}"
            return Ending(reason, f"residual gap: the true residual is {gap}{after}")
        else:
            self._restart(self._setup.x, row.iteration, true_residual)
        return None

    def _converged(self, true_residual: float, at: str) -> Ending:
        """CONVERGED, or CONSISTENT where b was changed so that a solution exists."""
        of_original = math.hypot(true_residual, self._setup.removed)
        if not self._setup.removed or (self._norm is Norm.RESIDUAL and of_original <= self.tolerance):
            return Ending(Reason.CONVERGED, at)
        return Ending(Reason.CONSISTENT, f"{at}, where ||b - A x|| is {self.relative(true_residual):.3g} of that part")

    def _breakdown(self, detail: str, workspace: Workspace) -> Ending:
        """A dot product that is positive for definite A and M is not: recompute both to find the cause.

        Rounding alone can do that, see `diagnose`.
        """
        solver = self._setup.solver
        if solver.has_user_lines:
            return Ending(Reason.OWN_LINES, detail)
        if solver.complex_symmetric:
            return Ending(Reason.VANISHED, detail)
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

        true_residual = self.relative(self._measures.true_residual())
        if found := null_component(self._setup, reason, self._setup.b, true_residual, iteration):
            reason, detail = Reason.INCONSISTENT, f"{detail}; {found}"
        else:
            # There may be no room for its vectors.
            with contextlib.suppress(InputError):
                detail += suspects(reason, self._setup, self._best_x.x, drift)
        if reason not in (Reason.INDEFINITE, Reason.INCONSISTENT):
            eps = float(np.finfo(self._setup.b.dtype).eps)
            of_residual = self._norm is Norm.RESIDUAL
            tolerance = self.tolerance if of_residual else self._stopping.rtol * self.norm_of_b
            detail += far_start(self._first_residual, tolerance, self.norm_of_b, eps)
        reason, detail = self._with_best(reason, detail, iteration)
        if self._setup.exponent and not np.isfinite(self._measures.returned_x()).all():
            detail += f"; x overflows {self._setup.b.dtype}, so scale A or b"
        return Ending(reason, detail)

    def _with_best(self, reason: Reason, detail: str, iteration: int) -> Ending:
        """Return x with the smallest true residual among the present one, the best so far, x0 and zero, and say so."""
        setup, kept = self._setup, self._best_x
        present = self._measures.true_residual()
        found = [(present if math.isfinite(present) else math.inf, "", setup.x)]
        if kept.iteration != iteration:
            found.append((self._measures.true_residual(kept.x), f"x is that of iteration {kept.iteration}", kept.x))
        best, said, x = min((one for one in found if not math.isnan(one[0])), key=lambda one: one[0])
        start = None if setup.start is None else setup.device.placed(setup.start)
        if start is not None and (residual := self._measures.residual_of(start)) < best:
            best, said, x = residual, "x is x0", start
            setup.recovered = True
        if self.norm_of_b < best:
            best, said, x = self.norm_of_b, "x is 0", setup.device.zeros(setup.b.size, setup.b.dtype)
            setup.recovered = True
        if not said:
            return Ending(reason, detail)
        setup.x = x
        if self._norm is Norm.RESIDUAL and self._measures.verified_residual() <= self.tolerance:
            return self._converged(best, f"{said.replace('x is', 'with x =', 1)}; rounding made later ones worse")
        return Ending(reason, f"{detail}; {said}, whose true residual is {self.relative(best):.3g} of ||b||")
