"""The stopping test: row by row, whether a run ends and why; convergence is verified by the true residual."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from workbench.devices.operator_protocols import DeviceVector
from workbench.errors import InputError
from workbench.operators.matrix_checks import OF_MINUS_A
from workbench.run.choices.stopping import Norm, Reason, Stopping
from workbench.run.loop.best import BestIterates
from workbench.run.loop.breakdown import diagnose, suspects
from workbench.run.loop.column_state import ColumnState
from workbench.run.loop.diagnostics import Diagnostics
from workbench.run.loop.inconsistency import null_component
from workbench.run.loop.iteration_state import IterationState, Termination
from workbench.run.loop.result import Column
from workbench.run.setup.solve_setup import SolveSetup
from workbench.words.numbers import duration, relative

if TYPE_CHECKING:
    from workbench.devices.programs.block_workspace import BlockWorkspace
    from workbench.devices.programs.workspace import Workspace


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
RESTARTED = {Reason.ROUNDING, Reason.STAGNATED, Reason.DIVERGED}
"""Ends that rounding alone may be the cause of, after which a method that may restart does so."""
MOST_NAMED = 4
"""Columns whose origin a sentence names."""


class StoppingTest:
    """The stopping criteria of one right-hand side, or of several that are iterated together.

    place: of these among all right-hand sides. Cost: nothing for a row, one application of A for a confirmation, three
    for a breakdown. Memory: the best iterates.
    """

    def __init__(
        self, stopping: Stopping, setup: SolveSetup, measures: Diagnostics, place: slice = slice(0, 1)
    ) -> None:
        self._stopping, self._setup, self._measures, self.place = stopping, setup, measures, place
        self._limit = stopping.limit(setup.unknowns)
        self.time_limit = stopping.time_limit
        """As in `Stopping`, read once."""
        self._norm = Norm(stopping.norm)
        roundoff, rtol = float(np.finfo(setup.b.dtype).eps) / 2, stopping.rtol
        self.columns = [
            ColumnState(place, scale, norm, roundoff * norm, tolerance := max(rtol * scale, atol), removed, tolerance)
            for place, (scale, norm, atol, removed) in enumerate(measures.references(self._norm, stopping.atol))
        ]
        self.single = self.columns[0] if len(self.columns) == 1 else None
        """The only right-hand side; None for several."""
        self._active = list(self.columns)
        """The columns that have not ended."""
        self.frozen = np.zeros(len(self.columns), bool)
        """Columns that have ended, whose x stays."""
        self.best = (math.inf, 0)
        """The smallest norm so far, and its iteration; of several columns the smallest sum of ||r_j||/||b_j||."""
        self.restart_from: DeviceVector = None
        """The iterate from which the recurrence is to be restarted because of rounding; None for no restart."""
        self.without_restart = Reason.INACCURATE
        """The reason of a run whose restart fails."""
        self.true_residuals: Sequence[float] | None = None
        """By column, where the latest row was verified by them."""
        self._restarts = 0
        self._restarted_at = (0, math.inf)
        """The iteration and the true residual."""
        self._restarts_help = True
        self.best_x = BestIterates(setup.device, measures.x)

    @property
    def _unconverged(self) -> list[ColumnState]:
        return [column for column in self.columns if not column.has_converged]

    @property
    def relative(self) -> np.ndarray:
        """||r_j||/||b_j||; ||r_j|| where b_j = 0."""
        return self.relative_to_b([column.norm for column in self.columns])

    def relative_to_b(self, norms: Sequence[float] | np.ndarray) -> np.ndarray:
        """Norms by column over ||b_j||; the norm itself where b_j = 0."""
        return np.array(list(map(ColumnState.relative, self.columns, norms)))

    def results(self, iteration: int, ending: Termination | None, true_residuals: np.ndarray) -> tuple[Column, ...]:
        """The end of every column. true_residuals: ||b_j - A x_j|| of the X that is returned."""
        reason = ending.reason if ending else Reason.CANCELLED
        return tuple(
            Column(
                column.reason or reason,
                iteration if column.reason is None else column.iteration,
                column.relative(column.norm),
                column.relative_to_given(float(true)),
            )
            for column, true in zip(self.columns, true_residuals, strict=True)
        )

    def release(self) -> None:
        """Drop all references to memory of the device."""
        self.best_x.release()
        self.restart_from = None

    def note(self, row: IterationState, *, last: bool) -> None:
        """Keep the initial norms and the best iterates. last: the vectors are those of this row."""
        if row.iteration == 0:
            for column, norm, residual in zip(self.columns, row.norms, row.residuals, strict=True):
                column.begin(norm, residual)
        if last:
            self.best_x.update(row.norms, row.iteration, self._measures.x, self.frozen)

    def verdict(self, row: IterationState, workspace: Workspace | BlockWorkspace, *, last: bool) -> Termination | None:
        """Why the run ends with this row, None if it does not. Only the last row of an interval can confirm it."""
        self.true_residuals = None
        ending = self._by_norm(row, workspace, last=last)
        if ending is None and row.iteration >= self._limit:
            ending = Termination(Reason.MAXITER, f"{row.iteration} iterations")
        most, reason, clause = self.time_limit
        if ending is None and row.seconds >= most:
            ending = Termination(reason, f"{duration(row.seconds)}{clause}")
        if ending is None or ending.reason.converged:
            return ending
        if ending.reason in RESTARTED and not row.breakdown and self._restarts_from_best(row.iteration):
            self.without_restart = ending.reason
            return None
        return self._explained(ending, row, workspace)

    def _by_norm(self, row: IterationState, workspace: Workspace | BlockWorkspace, *, last: bool) -> Termination | None:
        usual = row.curvature > 0 and not row.breakdown
        for column in self._active:
            column.norm = norm = row.norms[column.place]
            usual = usual and column.confirm_below < norm <= column.divergence and row.gamma[column.place] > 0
        return self._stagnation(row.iteration) if usual else self._unusual(row, workspace, last=last)

    def _unusual(self, row: IterationState, workspace: Workspace | BlockWorkspace, *, last: bool) -> Termination | None:
        """Why the run ends with a row that may end a column, or the run; None if it does not."""
        at = f"at iteration {row.iteration}"
        for column in self._active:
            if not math.isfinite(column.norm):
                return Termination(
                    Reason.NOT_FINITE, f"the {self._norm.value} norm{self._of(column)} is {column.norm} {at}"
                )
        due = [column for column in self._active if column.norm <= column.confirm_below and last]
        if due:
            ending = self._confirm(row, due)
            if ending or self.restart_from is not None:
                return ending
        active = [column for column in self._active if column not in due]
        if not active:
            return None
        if math.isnan(row.curvature):
            return Termination(Reason.NOT_FINITE, f"(p, A p) is NaN {at}")
        if row.breakdown or not row.curvature > 0:
            said = "(p, A p) =" if self.single else "P^H A P, scaled, has the eigenvalue"
            return self._breakdown(row, f"{said} {relative(row.curvature)} {at}", workspace)
        for column in active:
            gamma, of = row.gamma[column.place], self._of(column)
            if gamma < 0 or (gamma == 0 and column.norm > 0):
                return self._breakdown(row, f"(r, M^-1 r) = {relative(gamma)}{of} {at}", workspace)
            if column.norm > column.divergence:
                unscaled = self._setup.unscaled_norm(column.norm)
                return Termination(Reason.DIVERGED, f"the {self._norm.value} norm{of} is {relative(unscaled)} {at}")
        return self._stagnation(row.iteration)

    def _stagnation(self, iteration: int) -> Termination | None:
        """The end of a run without a new smallest norm for long; or a restart, if rounding seems to be the cause."""
        score = self.single.norm if self.single else self._score([column.norm for column in self.columns])
        if score < self.best[0]:
            self.best = (score, iteration)
        elif iteration - self.best[1] > self._stopping.stagnation:
            smallest = (
                f"norm, {relative(self._setup.unscaled_norm(self.best[0]))}, was" if self.single else "norms were"
            )
            return Termination(Reason.STAGNATED, f"the smallest {smallest} at iteration {self.best[1]}")
        elif self._stalls(iteration):
            self._restarts_from_best(iteration)
        return None

    def _score(self, norms: Sequence[float] | np.ndarray) -> float:
        """The value to make small: the norm, or the sum of the relative norms of several columns."""
        if self.single:
            return float(norms[0])
        return sum(column.relative(norm) for column, norm in zip(self.columns, norms, strict=True))

    def _of(self, column: ColumnState) -> str:
        """A phrase for one of several columns; empty for a single one."""
        return "" if self.single else f" of column {self.place.start + column.place + 1}"

    def _stalls(self, iteration: int) -> bool:
        """True if the norm seems to have met its limit by rounding, in a method that may restart."""
        if not self._may_restart:
            return False
        begun, at = self._restarted_at[0], self.best[1]
        first = self._score([column.first for column in self.columns])
        near = self.best[0] < NEAR_ROUNDING * float(np.finfo(self._setup.stored).eps) * first
        return near and iteration - at > max(STALLED, at - begun)

    @property
    def _may_restart(self) -> bool:
        return self._restarts_help and self._restarts < self._setup.solver.max_restarts

    def _restarts_from_best(self, iteration: int) -> bool:
        """Restart from the best iterates, if the method may and they are closer than its last start was."""
        if not self._may_restart or self._norm is Norm.ERROR:
            return False
        best = self._score(self._measures.true_residuals(self.best_x.x))
        first = self._score([column.first_residual for column in self.columns])
        self._restarts_help = best <= PROGRESS * min(self._restarted_at[1], first)
        if self._restarts_help:
            self._restart(self.best_x.x, iteration, best)
        return self._restarts_help

    def _restart(self, x: DeviceVector, iteration: int, true_residual: float) -> None:
        self.without_restart = Reason.INACCURATE
        self._restarts += 1
        self._restarted_at = iteration, true_residual
        self.best = (math.inf, iteration)
        for column in self.columns:
            column.confirm_below = column.tolerance
        self.restart_from = x

    def _confirm(self, row: IterationState, due: Sequence[ColumnState]) -> Termination | None:
        """Confirm the convergence of columns by their true residuals, in the norm that decides; the end of all."""
        self.true_residuals = true = list(self._measures.verified_residuals())
        bounds = [column.bound(measured) for column, measured in zip(self.columns, true, strict=True)]
        deciding = self._measures.norms_of_residuals(self._norm, bounds)
        gap = ""
        for column in due:
            if deciding[column.place] <= column.tolerance:
                self._end(column, self._converged(column, bounds[column.place]), row.iteration)
            elif column.norm > RESIDUAL_GAP * column.tolerance:
                column.confirm_below = RECHECK * column.norm
            elif not self._restarts_at_gap(column, row.iteration, true):
                reason = Reason.OWN_APART if self._setup.solver.has_user_lines else Reason.INACCURATE
                self._end(column, reason, row.iteration)
                gap = self._gap(column, true[column.place], row.residuals[column.place])
        return self._end_of_all(row.iteration, true, gap) if self.frozen.all() else None

    def _restarts_at_gap(self, column: ColumnState, iteration: int, true: Sequence[float]) -> bool:
        """Restart because of the residual gap of a column, if the method may; False if the column ends instead."""
        if self.restart_from is not None:
            return True
        if not self.single:
            return self._restarts_from_best(iteration)
        if self._restarts == self._setup.solver.max_restarts:
            return False
        self._restart(self._measures.x, iteration, float(true[column.place]))
        return True

    def _gap(self, column: ColumnState, true: float, residual: float) -> str:
        after = f" after {self._restarts} restarts" if self._restarts else ""
        gap = f"{column.in_words(true)}, the recurrence says {relative(column.relative(residual))}"
        return f"residual gap: the true residual is {gap}{after}"

    def _end(self, column: ColumnState, reason: Reason, iteration: int) -> None:
        column.reason, column.iteration = reason, iteration
        self._active = [other for other in self._active if other is not column]
        self.frozen[column.place] = True

    def _converged(self, column: ColumnState, true_residual: float) -> Reason:
        """CONVERGED, or CONSISTENT where b was changed so that a solution exists."""
        of_original = math.hypot(true_residual, column.removed)
        meets = self._norm is Norm.RESIDUAL and of_original <= column.tolerance
        return Reason.CONVERGED if not column.removed or meets else Reason.CONSISTENT

    def _end_of_all(self, iteration: int, true: Sequence[float], gap: str, at: str = "") -> Termination:
        """The end of a run whose columns have all ended: the worst of theirs."""
        at = at or f"at iteration {iteration}"
        if failed := self._unconverged:
            which = ", ".join(str(self.place.start + column.place + 1) for column in failed)
            reason = failed[0].reason or Reason.INACCURATE
            return Termination(reason, gap if self.single else f"columns {which}, {at}")
        if all(column.reason is Reason.CONVERGED for column in self.columns):
            return Termination(Reason.CONVERGED, at)
        column = self.single
        part = f", where ||b - A x|| is {column.in_words(true[0], 'that part')}" if column else ""
        return Termination(Reason.CONSISTENT, f"{at}{part}")

    def _breakdown(self, row: IterationState, detail: str, workspace: Workspace | BlockWorkspace) -> Termination:
        """A dot product that is positive for definite A and M is not: recompute both to find the cause.

        Rounding alone can do that, see `diagnose`.
        """
        solver = self._setup.solver
        stuck = f"{row.breakdown}; at iteration {row.iteration}" if row.breakdown else ""
        if solver.has_user_lines:
            return Termination(Reason.OWN_LINES, detail)
        if solver.complex_symmetric:
            return Termination(Reason.VANISHED, stuck or detail)
        found = diagnose(self._setup, workspace)
        if stuck and found.reason is Reason.ROUNDING:
            detail = stuck
        elif str(found) and not (solver.curvature_is_recomputed and found.reason is Reason.INDEFINITE):
            detail += f" by the recurrence; recomputed, {found}"
        if found.reason is Reason.INDEFINITE and row.iteration <= 1:
            # The first direction is that of b, which proves nothing about the others.
            detail += f"; if A is negative definite, {OF_MINUS_A}"
        if found.reason is Reason.ROUNDING:
            largest = max(map(ColumnState.relative, self.columns, self._measures.true_residuals()))
            detail += f"; true residual {relative(largest)} of ||b||"
        return Termination(found.reason, detail)

    def _explained(
        self, ending: Termination, row: IterationState, workspace: Workspace | BlockWorkspace
    ) -> Termination:
        """Add possible causes of a failure, and return to the best iterates where later ones are worse."""
        (reason, detail), measures = ending, self._measures
        true = list(map(ColumnState.relative, self.columns, measures.true_residuals()))
        worst = max(self._unconverged, key=lambda column: np.nan_to_num(true[column.place], nan=math.inf))
        j, b = worst.place, measures.b(worst.place)

        def drift() -> float:
            return measures.drift(workspace)[j] / (row.residuals[j] or math.nan)

        if found := null_component(self._setup, reason, b, true[j], row.iteration):
            reason, of = Reason.INCONSISTENT, "" if self.single else f"for column {self.place.start + j + 1}, "
            detail = f"{detail}; {of}{found}"
        else:
            # There may be no room for its vectors.
            with contextlib.suppress(InputError):
                system = functools.partial(measures.solver_system, j)
                detail += suspects(reason, self._setup, b, self.best_x.column(j), system, drift)
        if reason not in (Reason.INDEFINITE, Reason.INCONSISTENT):
            detail += self._far_start()
        reason, detail = self._with_best(reason, detail, row.iteration)
        overflows = self._setup.exponent and not np.isfinite(measures.returned_x()).all()
        if self._setup.device.largest(float(overflows)):
            detail += f"; x overflows {self._setup.b.dtype}, so scale A or b"
        return Termination(reason, detail)

    def _far_start(self) -> str:
        """A clause for a failure from a start so far off that rounding of its residual exceeds the tolerance."""
        eps, tiny = float(np.finfo(self._setup.b.dtype).eps), float(np.finfo(float).tiny)
        column = max(self._unconverged, key=lambda column: column.first_residual / max(column.tolerance, tiny))
        tolerance = column.tolerance if self._norm is Norm.RESIDUAL else self._stopping.rtol * column.norm_of_b
        return column.far_start(tolerance, eps)

    def _with_best(self, reason: Reason, detail: str, iteration: int) -> Termination:
        """Return the x with the smallest true residual among the present one, the best so far, x0 and zero, by column,
        and say so."""
        done = [column.has_converged for column in self.columns]
        taken = self._measures.take_best(self.best_x, iteration, done)
        if not taken:
            return Termination(reason, detail)
        if self._norm is Norm.RESIDUAL:
            verified = self._measures.verified_residuals()
            for place, _, _ in taken:
                column = self.columns[place]
                bound = column.bound(verified[place])
                if not column.has_converged and bound <= column.tolerance:
                    self._end(column, self._converged(column, bound), iteration)
        if self.single:
            _, said, true = taken[0]
            if self.single.has_converged:
                at = f"with x = {said}; rounding made later ones worse"
                return self._end_of_all(iteration, [true], "", at)
            of_b = self.single.relative(true)
            return Termination(reason, f"{detail}; x is {said}, whose true residual is {relative(of_b)} of ||b||")
        kept = [f"column {self.place.start + place + 1} of X is {said}" for place, said, _ in taken[:MOST_NAMED]]
        others = ", and others" if len(taken) > MOST_NAMED else ""
        return Termination(reason, f"{detail}; {', '.join(kept)}{others}")
